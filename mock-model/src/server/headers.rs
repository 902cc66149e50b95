//! Headers: what requests must carry, and what responses say beside their body.

use std::time::{SystemTime, UNIX_EPOCH};

use axum::http::{HeaderMap, HeaderName, HeaderValue};

use super::{draw, models::Format, refusal::Refusal};

/// API versions of the Messages format.
const VERSIONS: [&str; 2] = ["2023-06-01", NO_SAMPLING];

/// The version under which sampling fields are refused.
pub(super) const NO_SAMPLING: &str = "2026-10-21";

/// Limits that responses state per minute; the server itself limits nothing, so the buckets are full unless a fault says
/// otherwise.
const REQUESTS: u64 = 100_000;
const TOKENS: u64 = 1_000_000_000;

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// The key, from either header that carries one.
fn key(headers: &HeaderMap) -> Option<&str> {
    let bearer = text(headers, "authorization").and_then(|value| value.strip_prefix("Bearer "));
    text(headers, "x-api-key").or(bearer).map(str::trim).filter(|key| !key.is_empty())
}

/// Checks that there is a key. SDKs of the Messages format send it as a bearer token.
pub(super) fn check_key(format: Format, headers: &HeaderMap) -> Result<(), Refusal> {
    if key(headers).is_some() {
        return Ok(());
    }
    Err(match format {
        Format::Messages => Refusal::of_status(format, 401, "x-api-key header is required"),
        Format::Chat => Refusal::of_status(
            format,
            401,
            "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer \
             auth (i.e. Authorization: Bearer YOUR_KEY).",
        ),
    })
}

/// Checks the version, and the betas that are asked for; the version.
pub(super) fn check_version(headers: &HeaderMap) -> Result<&str, Refusal> {
    let version =
        text(headers, "anthropic-version").ok_or_else(|| Refusal::invalid("anthropic-version: header is required"))?;
    if !VERSIONS.contains(&version) {
        return Err(Refusal::invalid(format!("anthropic-version: \"{version}\" is not a valid version")));
    }
    if let Some(beta) = text(headers, "anthropic-beta").filter(|beta| !beta.trim().is_empty()) {
        return Err(Refusal::invalid(format!("Unexpected value(s) `{beta}` for the `anthropic-beta` header")));
    }
    Ok(version)
}

/// Checks that a body is said to be JSON.
pub(super) fn check_content_type(headers: &HeaderMap) -> Result<(), Refusal> {
    let kind = text(headers, "content-type").unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    Err(Refusal::invalid(format!("content-type: expected `application/json`, found `{kind}`")))
}

/// The draw that a request names; none where it names none.
pub(super) fn draw(headers: &HeaderMap) -> Result<Option<draw::OwnedDraw>, Refusal> {
    let Some(value) = headers.get(draw::HEADER) else { return Ok(None) };
    let named = value.to_str().ok().and_then(draw::OwnedDraw::parse);
    named.map(Some).ok_or_else(|| Refusal::invalid(format!("{}: reads `TASK/ARM/TURN`", draw::HEADER)))
}

/// True where the request comes from a client of the Messages format; paths that both formats have are told apart by it.
pub(super) fn speaks_messages(headers: &HeaderMap) -> bool {
    headers.contains_key("anthropic-version") || headers.contains_key("x-api-key")
}

/// When to come back, in milliseconds; `None` where a response does not say.
pub(super) type RetryAfter = Option<u64>;

/// What every response says. `empty`: the request bucket is used up.
pub(super) fn write(format: Format, request_id: &str, retry: RetryAfter, empty: bool, to: &mut HeaderMap) {
    let mut put = |name: &'static str, value: String| {
        if let Ok(value) = HeaderValue::from_str(&value) {
            to.insert(HeaderName::from_static(name), value);
        }
    };
    let requests = if empty { 0 } else { REQUESTS };
    match format {
        Format::Messages => {
            let reset = rfc3339(SystemTime::now());
            put("request-id", request_id.to_owned());
            put("anthropic-organization-id", "00000000-0000-0000-0000-000000000000".to_owned());
            put("anthropic-ratelimit-requests-limit", REQUESTS.to_string());
            put("anthropic-ratelimit-requests-remaining", requests.to_string());
            put("anthropic-ratelimit-requests-reset", reset.clone());
            for [limit, remaining, until] in [
                [
                    "anthropic-ratelimit-tokens-limit",
                    "anthropic-ratelimit-tokens-remaining",
                    "anthropic-ratelimit-tokens-reset",
                ],
                [
                    "anthropic-ratelimit-input-tokens-limit",
                    "anthropic-ratelimit-input-tokens-remaining",
                    "anthropic-ratelimit-input-tokens-reset",
                ],
                [
                    "anthropic-ratelimit-output-tokens-limit",
                    "anthropic-ratelimit-output-tokens-remaining",
                    "anthropic-ratelimit-output-tokens-reset",
                ],
            ] {
                put(limit, TOKENS.to_string());
                put(remaining, TOKENS.to_string());
                put(until, reset.clone());
            }
        }
        Format::Chat => {
            put("x-request-id", request_id.to_owned());
            put("openai-version", "2020-10-01".to_owned());
            put("openai-processing-ms", "1".to_owned());
            put("x-ratelimit-limit-requests", REQUESTS.to_string());
            put("x-ratelimit-remaining-requests", requests.to_string());
            put("x-ratelimit-reset-requests", if empty { "1s" } else { "0s" }.to_owned());
            put("x-ratelimit-limit-tokens", TOKENS.to_string());
            put("x-ratelimit-remaining-tokens", TOKENS.to_string());
            put("x-ratelimit-reset-tokens", "0s".to_owned());
        }
    }
    if let Some(wait) = retry {
        put("retry-after", wait.div_ceil(1_000).to_string());
        // Both clients read this one first; it is what makes short waits possible.
        put("retry-after-ms", wait.to_string());
    }
}

/// A time as `2026-11-29T12:00:00Z` (days to date: Hinnant, 2013, `civil_from_days`).
pub(super) fn rfc3339(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let moon = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * moon + 2) / 5 + 1;
    let month = if moon < 10 { moon + 3 } else { moon - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", rest / 3_600, rest / 60 % 60, rest % 60)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn times_are_read_as_days_and_hours() {
        // Reference: `date -u -d @N +%FT%TZ`.
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_827_696, "2000-02-29T12:34:56Z"),
            (1_795_993_261, "2026-11-29T23:01:01Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(rfc3339(UNIX_EPOCH + Duration::from_secs(seconds)), text);
        }
    }
}
