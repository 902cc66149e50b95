//! Whether the answer came from what was asked and priced: model, service tier, place.

use bench_protocol::prices::Price;
use bench_results::report::text::line;
use thiserror::Error;

use super::BaseUrl;
use crate::wire::Reply;

/// Something that makes the price, or the model, another one than the run was started for: the run stops.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Surprise {
    /// Another model answered.
    #[error("asked model `{asked}`, and `{returned}` answered; name the exact id with --model")]
    Model {
        /// The id asked for.
        asked: String,
        /// The id in the response.
        returned: String,
    },
    /// Another tier was billed.
    #[error("service tier `{0}` was billed, and prices are those of the standard tier; change the workspace's default")]
    Tier(String),
    /// The request ran at a place with a surcharge.
    #[error(
        "the request ran in `{0}`, which costs more than the price table says; set the workspace's default to global"
    )]
    Geo(String),
}

/// True where a reply of another model ends the run. A server on this machine whose answers are free may call its model
/// what it likes: the names that answered are on record.
pub fn is_strict(price: &Price, base: &BaseUrl) -> bool {
    !(price.is_free() && base.is_loopback())
}

/// Checks a reply against the id that was asked for. A model that the server does not name is not checked.
pub fn check(asked: &str, reply: &Reply) -> Result<(), Surprise> {
    if !reply.model.is_empty() && !same_model(asked, &reply.model) {
        return Err(Surprise::Model { asked: asked.to_owned(), returned: line(&reply.model).into_owned() });
    }
    if let Some(tier) = &reply.service_tier
        && !matches!(tier.as_str(), "standard" | "default")
    {
        return Err(Surprise::Tier(line(tier).into_owned()));
    }
    if let Some(geo) = &reply.geo
        && !matches!(geo.as_str(), "global" | "not_available")
    {
        return Err(Surprise::Geo(line(geo).into_owned()));
    }
    Ok(())
}

/// True where `returned` is the id asked for, or that id with a date: an alias answers under its dated id.
pub fn same_model(asked: &str, returned: &str) -> bool {
    let Some(rest) = returned.strip_prefix(asked) else { return false };
    let date = rest.strip_prefix('-').unwrap_or(rest);
    let digits = date.bytes().filter(u8::is_ascii_digit).count();
    rest.is_empty() || (rest.starts_with('-') && digits == 8 && date.bytes().all(|b| b.is_ascii_digit() || b == b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Wire as _, openai::OpenAi};

    #[test]
    fn an_alias_may_answer_under_its_dated_id_and_under_no_other() {
        for (asked, returned) in
            [("claude-haiku-4-5", "claude-haiku-4-5-20251001"), ("gpt-5-mini", "gpt-5-mini-2025-08-07"), ("a", "a")]
        {
            assert!(same_model(asked, returned), "{returned}");
        }
        for (asked, returned) in [
            ("claude-opus-5", "claude-opus-5-5"),
            ("claude-fable-5", "claude-fable-5-1"),
            ("gpt-5", "gpt-5-mini"),
            ("claude-haiku-4-5-20251001", "claude-haiku-4-5"),
            ("a", "a20251001"),
            ("a", "a-2025100"),
            ("a", "b"),
        ] {
            assert!(!same_model(asked, returned), "{returned}");
        }
    }

    #[test]
    fn another_tier_or_place_is_a_surprise() {
        let reply = |tier: &str| {
            let body =
                format!(r#"{{"model":"m","service_tier":{tier},"choices":[{{"message":{{"role":"assistant"}}}}]}}"#);
            OpenAi.decode(body.as_bytes()).unwrap()
        };
        assert_eq!(check("m", &reply("null")), Ok(()));
        assert_eq!(check("m", &reply("\"default\"")), Ok(()));
        assert_eq!(check("m", &reply("\"priority\"")), Err(Surprise::Tier("priority".into())));
        let us = Reply { geo: Some("us".into()), ..reply("null") };
        assert_eq!(check("m", &us), Err(Surprise::Geo("us".into())));
        assert!(matches!(check("n", &reply("null")), Err(Surprise::Model { .. })));
    }
}
