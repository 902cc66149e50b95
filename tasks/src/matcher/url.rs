//! URLs that are written differently and are the same.

use url::Url;

/// The same URL where both parse (WHATWG URL standard): case of scheme and host, a default port, an empty path and
/// characters that must be percent-encoded do not matter; query and fragment do. Else the same text.
pub fn url_equal(a: &str, b: &str) -> bool {
    match (Url::parse(a), Url::parse(b)) {
        (Ok(a), Ok(b)) => a == b,
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn url_table() {
        for (a, b) in [
            ("https://a.example", "https://a.example/"),
            ("HTTPS://A.example/x", "https://a.example/x"),
            ("https://a.example:443/x", "https://a.example/x"),
            ("https://a.example/m%C3%BCnchen", "https://a.example/münchen"),
            ("https://bücher.example/", "https://xn--bcher-kva.example/"),
            ("not a url", "not a url"),
        ] {
            assert!(url_equal(a, b) && url_equal(b, a), "{a} {b}");
        }
        for (a, b) in [
            ("https://a.example/x", "http://a.example/x"),
            ("https://a.example/x", "https://a.example/x/"),
            ("https://a.example/x", "https://a.example/X"),
            ("https://a.example/x?p=1", "https://a.example/x"),
            ("https://a.example/x#top", "https://a.example/x"),
            ("https://a.example:8443/x", "https://a.example/x"),
            ("data:text/plain,a", "data:text/plain,A"),
            ("a.example/x", "https://a.example/x"),
        ] {
            assert!(!url_equal(a, b) && !url_equal(b, a), "{a} {b}");
        }
    }
}
