//! What a response says beside its content: request id, rate limits, when to come back, what went wrong.

use std::{
    fmt,
    time::{Duration, SystemTime},
};

use reqwest::header::{DATE, HeaderMap, LOCATION, RETRY_AFTER};
use serde_json::Value;

/// The longest wait that is believed; far beyond it lies what a clock cannot count.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Characters of foreign text that are kept in a message.
const TEXT_CHARS: usize = 300;

/// Facts from a response's headers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Facts {
    /// The provider's name for the request.
    pub request_id: Option<String>,
    /// How long to wait before the next request; a day at most.
    pub retry_after: Option<Duration>,
    /// `x-should-retry`, where the provider says.
    pub should_retry: Option<bool>,
    /// The bucket that is nearest to empty, in parts per thousand of its size.
    pub headroom: Option<u16>,
    /// Where a redirect points.
    pub location: Option<String>,
}

impl Facts {
    /// Reads the headers of either provider.
    pub fn read(headers: &HeaderMap) -> Self {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        Self {
            request_id: text("request-id").or_else(|| text("x-request-id")).map(clean),
            retry_after: retry_after(headers),
            should_retry: text("x-should-retry").and_then(|value| value.parse().ok()),
            headroom: headroom(headers),
            location: text(LOCATION.as_str()).map(clean),
        }
    }
}

/// `retry-after-ms`, else `retry-after` in seconds or as a date, which is read against the response's own date: the
/// clocks of the two machines need not agree.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let seconds = |text: &str, unit: f64| {
        let value = text.parse::<f64>().ok().filter(|value| !value.is_nan())? * unit;
        Duration::try_from_secs_f64(value.min(DAY.as_secs_f64())).ok()
    };
    if let Some(wait) = text("retry-after-ms").and_then(|value| seconds(value, 0.001)) {
        return Some(wait);
    }
    let value = text(RETRY_AFTER.as_str())?;
    seconds(value, 1.0).or_else(|| {
        let until = httpdate::parse_http_date(value).ok()?;
        let now = text(DATE.as_str()).and_then(|date| httpdate::parse_http_date(date).ok());
        Some(until.duration_since(now.unwrap_or_else(SystemTime::now)).unwrap_or_default().min(DAY))
    })
}

/// Least of remaining / limit over the buckets of both providers.
fn headroom(headers: &HeaderMap) -> Option<u16> {
    let number = |name: String| headers.get(name)?.to_str().ok()?.trim().parse::<u64>().ok();
    let anthropic = ["requests", "tokens", "input-tokens", "output-tokens"].map(|bucket| {
        let name = |what| format!("anthropic-ratelimit-{bucket}-{what}");
        (number(name("limit")), number(name("remaining")))
    });
    let openai = ["requests", "tokens"].map(|bucket| {
        let name = |what| format!("x-ratelimit-{what}-{bucket}");
        (number(name("limit")), number(name("remaining")))
    });
    anthropic
        .into_iter()
        .chain(openai)
        .filter_map(|(limit, remaining)| {
            let (limit, remaining) = (limit?, remaining?);
            let share = u128::from(remaining.min(limit)) * 1000 / u128::from(limit.max(1));
            u16::try_from(share).ok()
        })
        .min()
}

/// An error as a provider words it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ErrorBody {
    /// Its code or type.
    pub kind: Option<String>,
    /// Its words, shortened.
    pub message: String,
}

impl ErrorBody {
    /// Reads an error body of either provider, or of a compatible server, or any text.
    pub fn read(body: &[u8]) -> Self {
        let Ok(value) = serde_json::from_slice::<Value>(body) else {
            return Self { kind: None, message: clean(&String::from_utf8_lossy(body)) };
        };
        let error = value.get("error").unwrap_or(&value);
        let field = |name: &str| error.get(name).and_then(Value::as_str);
        let words = field("message").or_else(|| error.as_str()).or_else(|| field("detail"));
        Self {
            // OpenAI's code is the narrower of its two; Anthropic has only a type.
            kind: field("code").or_else(|| field("type")).map(clean),
            message: words.map_or_else(|| clean(&value.to_string()), clean),
        }
    }
}

impl fmt::Display for ErrorBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Some(kind) => write!(f, "{kind}: {}", self.message),
            None if self.message.is_empty() => f.write_str("no message"),
            None => f.write_str(&self.message),
        }
    }
}

/// Foreign text made fit for one line of a terminal or log: no control characters, no runs of blanks, not too long.
pub(super) fn clean(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let mut out = String::new();
    for (count, c) in words.flat_map(|word| std::iter::once(' ').chain(word.chars())).skip(1).enumerate() {
        if count == TEXT_CHARS {
            out.push('…');
            break;
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use reqwest::header::{HeaderName, HeaderValue};

    use super::*;

    fn facts(headers: &[(&str, &str)]) -> Facts {
        let header = |(name, value): &(&str, &str)| {
            (HeaderName::from_bytes(name.as_bytes()).unwrap(), HeaderValue::from_str(value).unwrap())
        };
        Facts::read(&headers.iter().map(header).collect())
    }

    #[test]
    fn retry_after_is_read_in_every_form_it_takes() {
        for (headers, expected) in [
            (vec![("retry-after", "7")], Some(7_000)),
            (vec![("retry-after", "0.5")], Some(500)),
            (vec![("retry-after", "7"), ("retry-after-ms", "20")], Some(20)),
            (vec![("retry-after", "-7")], None),
            (vec![("retry-after", "soon")], None),
            (vec![("retry-after", "NaN")], None),
            (vec![("retry-after", "10000000000000000000")], Some(86_400_000)),
            (vec![("retry-after", "1e300")], Some(86_400_000)),
            (vec![("retry-after-ms", "1e300")], Some(86_400_000)),
            (vec![("retry-after", "Fri, 31 Dec 9999 23:59:59 GMT")], Some(86_400_000)),
            (
                vec![("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"), ("date", "Sun, 06 Nov 1994 08:49:07 GMT")],
                Some(30_000),
            ),
            (vec![("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT")], Some(0)),
            (vec![], None),
        ] {
            assert_eq!(facts(&headers).retry_after, expected.map(Duration::from_millis), "{headers:?}");
        }
    }

    #[test]
    fn headroom_is_that_of_the_emptiest_bucket() {
        let anthropic = [
            ("anthropic-ratelimit-requests-limit", "50"),
            ("anthropic-ratelimit-requests-remaining", "49"),
            ("anthropic-ratelimit-input-tokens-limit", "50000"),
            ("anthropic-ratelimit-input-tokens-remaining", "1000"),
        ];
        assert_eq!(facts(&anthropic).headroom, Some(20));
        let openai = [("x-ratelimit-limit-tokens", "100"), ("x-ratelimit-remaining-tokens", "100")];
        assert_eq!(facts(&openai).headroom, Some(1000));
        assert_eq!(
            facts(&[("x-ratelimit-limit-tokens", "0"), ("x-ratelimit-remaining-tokens", "5")]).headroom,
            Some(0)
        );
        assert_eq!(facts(&[("x-ratelimit-limit-tokens", "100")]).headroom, None);
    }

    #[test]
    fn ids_and_hints_of_both_providers_are_found() {
        let read = facts(&[("request-id", "req_1"), ("x-should-retry", "false")]);
        assert_eq!((read.request_id.as_deref(), read.should_retry), (Some("req_1"), Some(false)));
        assert_eq!(facts(&[("x-request-id", "r2"), ("x-should-retry", "perhaps")]).should_retry, None);
    }

    #[test]
    fn error_bodies_of_all_kinds_become_one_clean_line() {
        for (body, expected) in [
            (r#"{"type":"error","error":{"type":"api_error","message":"a\nb"},"request_id":"r"}"#, "api_error: a b"),
            (
                r#"{"error":{"message":"m","type":"t","param":null,"code":"insufficient_quota"}}"#,
                "insufficient_quota: m",
            ),
            (r#"{"error":"model not found"}"#, "model not found"),
            (r#"{"object":"error","message":"m","type":"t","code":400}"#, "t: m"),
            (r#"{"detail":"Not Found"}"#, "Not Found"),
            ("<html>\u{1b}[31m 502 ", "<html> [31m 502"),
            ("", "no message"),
        ] {
            assert_eq!(ErrorBody::read(body.as_bytes()).to_string(), expected);
        }
        assert_eq!(clean(&"x".repeat(1000)).chars().count(), TEXT_CHARS + 1);
    }
}
