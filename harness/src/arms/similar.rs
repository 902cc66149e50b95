//! Close matches of a misspelt name.

/// Matches given at most.
const MAX_MATCHES: usize = 3;

/// The names closest to `wanted`, closest first and ties in list order, at most three.
///
/// Closeness is the Dice coefficient over letter pairs (Dice 1945), case ignored; below two fifths it is none.
pub(super) fn closest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let pairs_wanted = pairs(wanted);
    let mut close: Vec<(usize, usize, &str)> = names
        .filter_map(|name| {
            let pairs_name = pairs(name);
            let common = common(&pairs_wanted, &pairs_name);
            let total = pairs_wanted.len() + pairs_name.len();
            (5 * 2 * common >= 2 * total && common > 0).then_some((common, total, name))
        })
        .collect();
    // a/b > c/d as a·d > c·b: no floats.
    close.sort_by(|a, b| (b.0 * a.1).cmp(&(a.0 * b.1)));
    close.into_iter().take(MAX_MATCHES).map(|(_, _, name)| name).collect()
}

/// Letter pairs, sorted; ends are marked so that names of one letter have some too.
fn pairs(name: &str) -> Vec<(char, char)> {
    let letters: Vec<char> = ['^'].into_iter().chain(name.chars().flat_map(char::to_lowercase)).chain(['$']).collect();
    let mut pairs: Vec<(char, char)> = letters.windows(2).map(|pair| (pair[0], pair[1])).collect();
    pairs.sort_unstable();
    pairs
}

/// Size of the common part of two sorted multisets.
fn common(a: &[(char, char)], b: &[(char, char)]) -> usize {
    let (mut i, mut j, mut count) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => {
                (i, j, count) = (i + 1, j + 1, count + 1);
            }
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIT: [&str; 6] = ["git_status", "git_diff_unstaged", "git_diff_staged", "git_diff", "git_commit", "git_log"];

    #[test]
    fn the_closest_come_first_and_no_more_than_three() {
        assert_eq!(closest("git_dif", GIT.into_iter())[0], "git_diff");
        assert_eq!(closest("git_diff_stage", GIT.into_iter()), ["git_diff_staged", "git_diff_unstaged", "git_diff"]);
        assert_eq!(closest("GitLog", GIT.into_iter())[0], "git_log");
    }

    #[test]
    fn what_is_not_alike_is_not_offered() {
        assert!(closest("send_mail", GIT.into_iter()).is_empty());
        assert!(closest("", GIT.into_iter()).is_empty());
    }
}
