//! Base URLs as people write them, and the endpoints made from them.

use std::net::IpAddr;

use reqwest::Url;

use super::ModelError;

/// Where an API lives: the part of its endpoints up to and including the version segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseUrl(Url);

impl BaseUrl {
    /// Reads a base URL with or without a version segment (`/v1` is added where there is none) and with or without
    /// slashes at the end.
    pub fn parse(text: &str) -> Result<Self, ModelError> {
        let refuse = |shown: &str, why: &str| Err(ModelError::BaseUrl { url: shown.to_owned(), why: why.to_owned() });
        let text = text.trim();
        // What stands before an `@` may be a password, and so may a query.
        let shown = if text.contains(['@', '?']) { "…" } else { text };
        let mut url = match Url::parse(text) {
            Ok(url) => url,
            Err(error) => return refuse(shown, &format!("{error}; write it like https://api.example.com/v1")),
        };
        if !url.username().is_empty() || url.password().is_some() {
            return refuse(shown, "it holds a user name or password; give the key with --api-key-env");
        }
        if url.query().is_some() || url.fragment().is_some() {
            return refuse(shown, "it has a query or fragment; give scheme, host and path alone");
        }
        if !matches!(url.scheme(), "http" | "https") {
            return refuse(shown, "its scheme is neither http nor https; write it like https://api.example.com/v1");
        }
        let mut segments: Vec<String> =
            url.path_segments().into_iter().flatten().filter(|part| !part.is_empty()).map(str::to_owned).collect();
        if matches!(segments.last().map(String::as_str), Some("messages" | "completions" | "models" | "chat")) {
            return refuse(
                text,
                "it names an endpoint; leave out what follows the version, as in https://api.example.com/v1",
            );
        }
        if !segments.iter().any(|segment| is_version(segment)) {
            segments.push("v1".to_owned());
        }
        url.set_path(&segments.join("/"));
        Ok(Self(url))
    }

    /// An endpoint below the base; each part is one path segment and is escaped where it needs to be.
    pub fn endpoint(&self, parts: &[&str]) -> Url {
        let mut url = self.0.clone();
        // Every http or https URL has path segments.
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.extend(parts);
        }
        url
    }

    /// Its host.
    pub fn host(&self) -> Option<&str> {
        self.0.host_str()
    }

    /// True where bytes travel in the clear.
    pub fn is_plain(&self) -> bool {
        self.0.scheme() == "http"
    }

    /// True where the host is this machine.
    pub fn is_loopback(&self) -> bool {
        let host = self.0.host_str().unwrap_or_default();
        let address = host.trim_start_matches('[').trim_end_matches(']');
        host == "localhost" || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    }

    /// As text; it holds no secret.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

/// `v1`, `v4`, `v1beta`.
fn is_version(segment: &str) -> bool {
    segment.strip_prefix('v').is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_is_the_same_however_it_is_written() {
        for text in ["https://api.x.com", "https://api.x.com/", "https://api.x.com/v1", " https://api.x.com//v1// "] {
            assert_eq!(
                BaseUrl::parse(text).unwrap().endpoint(&["chat", "completions"]).as_str(),
                "https://api.x.com/v1/chat/completions"
            );
        }
        for (text, endpoint) in [
            ("https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1/models/a%2Fb"),
            ("https://g.com/v1beta/openai/", "https://g.com/v1beta/openai/models/a%2Fb"),
            ("http://127.0.0.1:11434", "http://127.0.0.1:11434/v1/models/a%2Fb"),
        ] {
            assert_eq!(BaseUrl::parse(text).unwrap().endpoint(&["models", "a/b"]).as_str(), endpoint);
        }
    }

    #[test]
    fn a_bad_base_is_refused_in_one_sentence_without_its_secrets() {
        for text in [
            "",
            "api.x.com",
            "ftp://x.com",
            "https://",
            "https://u:hunter2@x.com",
            "u:hunter2@x.com:1:2",
            "https://x.com?key=hunter2",
            "https://x.com/v1/chat/completions",
            "https://x.com/v1/messages",
            "localhost:8080",
        ] {
            let message = BaseUrl::parse(text).unwrap_err().to_string();
            assert!(!message.contains("hunter2") && !message.contains('\n') && message.len() < 200, "{message}");
        }
    }

    #[test]
    fn loopback_is_told_from_other_hosts() {
        let loopback = |text| BaseUrl::parse(text).unwrap().is_loopback();
        assert!(loopback("http://localhost:1") && loopback("http://127.9.9.9") && loopback("http://[::1]:8080/v1"));
        assert!(!loopback("http://localhost.evil.com") && !loopback("http://10.0.0.1") && !loopback("https://x.com"));
    }
}
