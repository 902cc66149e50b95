//! Time zones by any of their names.

/// Other names of a zone, sorted, and the name that the zone database uses today.
///
/// From the file `backward` of the IANA time zone database: former spellings of one place, and names of countries and
/// regions for their zone. Links that only say "same clock since 1970" are left out: whoever is asked for Oslo and
/// answers for Berlin named another place.
#[rustfmt::skip]
const OTHER_NAMES: [(&str, &str); 102] = [
    ("Africa/Asmera", "Africa/Asmara"),
    ("America/Atka", "America/Adak"),
    ("America/Buenos_Aires", "America/Argentina/Buenos_Aires"),
    ("America/Catamarca", "America/Argentina/Catamarca"),
    ("America/Cordoba", "America/Argentina/Cordoba"),
    ("America/Fort_Wayne", "America/Indiana/Indianapolis"),
    ("America/Godthab", "America/Nuuk"),
    ("America/Indianapolis", "America/Indiana/Indianapolis"),
    ("America/Jujuy", "America/Argentina/Jujuy"),
    ("America/Knox_IN", "America/Indiana/Knox"),
    ("America/Louisville", "America/Kentucky/Louisville"),
    ("America/Mendoza", "America/Argentina/Mendoza"),
    ("America/Porto_Acre", "America/Rio_Branco"),
    ("Asia/Ashkhabad", "Asia/Ashgabat"),
    ("Asia/Calcutta", "Asia/Kolkata"),
    ("Asia/Chungking", "Asia/Chongqing"),
    ("Asia/Dacca", "Asia/Dhaka"),
    ("Asia/Istanbul", "Europe/Istanbul"),
    ("Asia/Katmandu", "Asia/Kathmandu"),
    ("Asia/Macao", "Asia/Macau"),
    ("Asia/Rangoon", "Asia/Yangon"),
    ("Asia/Saigon", "Asia/Ho_Chi_Minh"),
    ("Asia/Tel_Aviv", "Asia/Jerusalem"),
    ("Asia/Thimbu", "Asia/Thimphu"),
    ("Asia/Ujung_Pandang", "Asia/Makassar"),
    ("Asia/Ulan_Bator", "Asia/Ulaanbaatar"),
    ("Atlantic/Faeroe", "Atlantic/Faroe"),
    ("Australia/ACT", "Australia/Sydney"),
    ("Australia/Canberra", "Australia/Sydney"),
    ("Australia/LHI", "Australia/Lord_Howe"),
    ("Australia/NSW", "Australia/Sydney"),
    ("Australia/North", "Australia/Darwin"),
    ("Australia/Queensland", "Australia/Brisbane"),
    ("Australia/South", "Australia/Adelaide"),
    ("Australia/Tasmania", "Australia/Hobart"),
    ("Australia/Victoria", "Australia/Melbourne"),
    ("Australia/West", "Australia/Perth"),
    ("Australia/Yancowinna", "Australia/Broken_Hill"),
    ("Brazil/Acre", "America/Rio_Branco"),
    ("Brazil/DeNoronha", "America/Noronha"),
    ("Brazil/East", "America/Sao_Paulo"),
    ("Brazil/West", "America/Manaus"),
    ("Canada/Atlantic", "America/Halifax"),
    ("Canada/Central", "America/Winnipeg"),
    ("Canada/Eastern", "America/Toronto"),
    ("Canada/Mountain", "America/Edmonton"),
    ("Canada/Newfoundland", "America/St_Johns"),
    ("Canada/Pacific", "America/Vancouver"),
    ("Canada/Saskatchewan", "America/Regina"),
    ("Canada/Yukon", "America/Whitehorse"),
    ("Chile/Continental", "America/Santiago"),
    ("Chile/EasterIsland", "Pacific/Easter"),
    ("Cuba", "America/Havana"),
    ("Egypt", "Africa/Cairo"),
    ("Eire", "Europe/Dublin"),
    ("Etc/UCT", "Etc/UTC"),
    ("Etc/Universal", "Etc/UTC"),
    ("Etc/Zulu", "Etc/UTC"),
    ("Europe/Kiev", "Europe/Kyiv"),
    ("Europe/Nicosia", "Asia/Nicosia"),
    ("GB", "Europe/London"),
    ("Hongkong", "Asia/Hong_Kong"),
    ("Iran", "Asia/Tehran"),
    ("Israel", "Asia/Jerusalem"),
    ("Jamaica", "America/Jamaica"),
    ("Japan", "Asia/Tokyo"),
    ("Kwajalein", "Pacific/Kwajalein"),
    ("Libya", "Africa/Tripoli"),
    ("Mexico/BajaNorte", "America/Tijuana"),
    ("Mexico/BajaSur", "America/Mazatlan"),
    ("Mexico/General", "America/Mexico_City"),
    ("NZ", "Pacific/Auckland"),
    ("NZ-CHAT", "Pacific/Chatham"),
    ("Navajo", "America/Denver"),
    ("PRC", "Asia/Shanghai"),
    ("Pacific/Enderbury", "Pacific/Kanton"),
    ("Pacific/Ponape", "Pacific/Pohnpei"),
    ("Pacific/Samoa", "Pacific/Pago_Pago"),
    ("Pacific/Truk", "Pacific/Chuuk"),
    ("Poland", "Europe/Warsaw"),
    ("Portugal", "Europe/Lisbon"),
    ("ROC", "Asia/Taipei"),
    ("ROK", "Asia/Seoul"),
    ("Singapore", "Asia/Singapore"),
    ("Turkey", "Europe/Istanbul"),
    ("UCT", "Etc/UTC"),
    ("US/Alaska", "America/Anchorage"),
    ("US/Aleutian", "America/Adak"),
    ("US/Arizona", "America/Phoenix"),
    ("US/Central", "America/Chicago"),
    ("US/East-Indiana", "America/Indiana/Indianapolis"),
    ("US/Eastern", "America/New_York"),
    ("US/Hawaii", "Pacific/Honolulu"),
    ("US/Indiana-Starke", "America/Indiana/Knox"),
    ("US/Michigan", "America/Detroit"),
    ("US/Mountain", "America/Denver"),
    ("US/Pacific", "America/Los_Angeles"),
    ("US/Samoa", "Pacific/Pago_Pago"),
    ("UTC", "Etc/UTC"),
    ("Universal", "Etc/UTC"),
    ("W-SU", "Europe/Moscow"),
    ("Zulu", "Etc/UTC"),
];

/// The same zone of the IANA database, by any of its names.
pub fn zone_equal(a: &str, b: &str) -> bool {
    today(a) == today(b)
}

fn today(name: &str) -> &str {
    OTHER_NAMES.binary_search_by_key(&name, |(other, _)| other).map_or(name, |at| OTHER_NAMES[at].1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zone_table() {
        for (a, b) in [
            ("UTC", "Etc/UTC"),
            ("UTC", "Zulu"),
            ("Europe/Kiev", "Europe/Kyiv"),
            ("Asia/Calcutta", "Asia/Kolkata"),
            ("US/Pacific", "America/Los_Angeles"),
            ("America/Buenos_Aires", "America/Argentina/Buenos_Aires"),
            ("Europe/Oslo", "Europe/Oslo"),
        ] {
            assert!(zone_equal(a, b) && zone_equal(b, a), "{a} {b}");
        }
        for (a, b) in [
            ("Europe/Oslo", "Europe/Berlin"),
            ("Etc/UTC", "Etc/GMT"),
            ("utc", "UTC"),
            ("America/New_York", "EST"),
            ("Asia/Kolkata", "Asia/Kolkata "),
        ] {
            assert!(!zone_equal(a, b) && !zone_equal(b, a), "{a} {b}");
        }
    }

    #[test]
    fn the_names_are_sorted_and_lead_to_a_name_of_today_at_once() {
        assert!(OTHER_NAMES.is_sorted());
        assert!(OTHER_NAMES.iter().all(|(_, name)| today(name) == *name));
    }
}
