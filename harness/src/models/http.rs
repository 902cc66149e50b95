//! The one HTTP client: what leaves, how long it may take, how much may come back.
//!
//! HTTP/1.1 only (one request per connection at a time, so a lost connection concerns one attempt), no redirects (the key
//! would follow), no compression, and none of the library's retries: an attempt is one request on the wire.

use std::{
    error::Error,
    sync::Once,
    time::{Duration, Instant},
};

use bench_results::record::DrawId;
use reqwest::{
    Client, Method, Response, Url,
    header::{ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue},
};

use super::{
    BaseUrl, Key, ModelError,
    facts::{ErrorBody, Facts, clean},
    outcome::{Answered, Cause, Dialect, Outcome, Unclear},
};
use crate::wire::Wire;

/// A reply of 1,024 tokens is some kilobytes; anything beyond this is no model's.
pub const BODY_BYTES_AT_MOST: usize = 32 << 20;

/// Idle connections are closed before common servers close them (five seconds is the shortest in use): a request that
/// meets a closing connection could not be told from one that was processed.
const IDLE: Duration = Duration::from_secs(4);

/// Time limits of one attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// Name look-up, connection and TLS.
    pub connect: Duration,
    /// Until the status comes, and between two pieces of the body.
    pub read: Duration,
    /// From start to end.
    pub total: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { connect: Duration::from_secs(10), read: Duration::from_secs(300), total: Duration::from_secs(600) }
    }
}

/// The client, bound to one base URL and one key.
pub(super) struct Http {
    client: Client,
    base: BaseUrl,
    key: Option<Key>,
    headers: HeaderMap,
    timeouts: Timeouts,
    mock: bool,
}

/// A response before it is judged.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) facts: Facts,
    /// The body, or why there is none.
    pub(super) body: Result<Vec<u8>, Cause>,
    elapsed: Duration,
}

/// What came of sending a request.
pub(super) enum Exchange {
    /// Nothing left this machine.
    NotSent(String),
    /// It left, and no status came.
    Broken(Cause),
    /// A status came.
    Answer(Answer),
}

impl Http {
    /// A client for one provider; `headers` are sent with every request, `mock` adds the header that only our own mock
    /// server reads.
    pub(super) fn new(
        base: BaseUrl,
        key: Option<Key>,
        mut headers: HeaderMap,
        timeouts: Timeouts,
        mock: bool,
    ) -> Result<Self, ModelError> {
        install_tls();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        let mut builder = Client::builder()
            .http1_only()
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .referer(false)
            .connect_timeout(timeouts.connect)
            .read_timeout(timeouts.read)
            .timeout(timeouts.total)
            .pool_idle_timeout(IDLE)
            .tcp_nodelay(true)
            .user_agent(concat!("bench/", env!("CARGO_PKG_VERSION")));
        if base.is_plain() {
            // No certificate is needed: local servers must work on machines that have none installed.
            builder = builder.tls_certs_only([]);
        }
        if base.is_plain() || base.is_loopback() {
            // A proxy would read the conversation, and does not know this machine's own servers.
            builder = builder.no_proxy();
        }
        let client = builder.build().map_err(|error| ModelError::Client { why: causes(&error) })?;
        Ok(Self { client, base, key, headers, timeouts, mock })
    }

    /// The endpoint as text for messages; it holds no secret.
    pub(super) fn base(&self) -> &BaseUrl {
        &self.base
    }

    /// Asks for something that is free.
    pub(super) async fn get(&self, parts: &[&str]) -> Exchange {
        self.exchange(Method::GET, self.base.endpoint(parts), None, None).await
    }

    /// Sends a JSON body.
    pub(super) async fn post(&self, parts: &[&str], body: &[u8], draw: Option<&DrawId>) -> Exchange {
        self.exchange(Method::POST, self.base.endpoint(parts), Some(body), draw).await
    }

    async fn exchange(&self, method: Method, url: Url, body: Option<&[u8]>, draw: Option<&DrawId>) -> Exchange {
        let mut request = self.client.request(method, url).headers(self.headers.clone());
        if let Some(body) = body {
            request = request.header(CONTENT_TYPE, "application/json").body(body.to_vec());
        }
        if let Some(draw) = draw.filter(|_| self.mock) {
            request = request.header(DRAW, format!("{}/{}/{}", draw.task, draw.arm, draw.turn));
        }
        let start = Instant::now();
        let response = match request.send().await {
            Ok(response) => response,
            Err(error) => return self.failed(error),
        };
        let status = response.status().as_u16();
        let facts = self.hide_in_facts(Facts::read(response.headers()));
        let body = self.body(response).await.map(|body| self.hide(body));
        Exchange::Answer(Answer { status, facts, body, elapsed: start.elapsed() })
    }

    async fn body(&self, mut response: Response) -> Result<Vec<u8>, Cause> {
        let header = |name| response.headers().get(&name).map(|value| self.text(value));
        if let Some(encoding) = header(CONTENT_ENCODING).filter(|encoding| encoding != "identity") {
            return Err(Cause::Encoding(encoding));
        }
        let kind = header(CONTENT_TYPE);
        let announced = response.content_length().and_then(|length| usize::try_from(length).ok());
        if announced.is_some_and(|length| length > BODY_BYTES_AT_MOST) {
            return Err(Cause::TooLarge(BODY_BYTES_AT_MOST));
        }
        let mut body = Vec::with_capacity(announced.unwrap_or(8 << 10));
        loop {
            match response.chunk().await {
                Ok(Some(chunk)) if body.len() + chunk.len() > BODY_BYTES_AT_MOST => {
                    return Err(Cause::TooLarge(BODY_BYTES_AT_MOST));
                }
                Ok(Some(chunk)) => body.extend_from_slice(&chunk),
                Ok(None) => break,
                Err(error) if error.is_timeout() => return Err(self.timed_out()),
                Err(error) => return Err(Cause::Cut(causes(&error))),
            }
        }
        // The content type of an error page does not matter: there the status decides.
        if response.status().is_success() && !kind.as_deref().is_some_and(is_json) {
            return Err(Cause::ContentType(kind.unwrap_or_else(|| "none".to_owned())));
        }
        Ok(body)
    }

    fn failed(&self, error: reqwest::Error) -> Exchange {
        let error = error.without_url();
        // Connecting covers name look-up, the connection, a proxy's tunnel and TLS: the request comes after them.
        if error.is_connect() || error.is_builder() {
            Exchange::NotSent(with_hint(causes(&error)))
        } else if error.is_timeout() {
            Exchange::Broken(self.timed_out())
        } else {
            Exchange::Broken(Cause::Lost(causes(&error)))
        }
    }

    /// The library does not say which of its limits was reached; the shorter one is named.
    fn timed_out(&self) -> Cause {
        Cause::TimedOut(self.timeouts.read.min(self.timeouts.total))
    }

    fn hide(&self, bytes: Vec<u8>) -> Vec<u8> {
        match &self.key {
            Some(key) => key.hide_in(bytes),
            None => bytes,
        }
    }

    /// A foreign header value as text without control characters and without the key.
    fn text(&self, value: &HeaderValue) -> String {
        clean(&String::from_utf8_lossy(&self.hide(value.as_bytes().to_vec())))
    }

    fn hide_in_facts(&self, mut facts: Facts) -> Facts {
        for text in [&mut facts.request_id, &mut facts.location].into_iter().flatten() {
            *text = String::from_utf8_lossy(&self.hide(std::mem::take(text).into_bytes())).into_owned();
        }
        facts
    }
}

/// Names the draw to our own mock server, whose noise is a function of it. Sent to nobody else.
const DRAW: HeaderName = HeaderName::from_static("x-bench-draw");

impl Exchange {
    /// Judges the exchange: only a success whose body is a whole, readable reply is one.
    pub(super) fn outcome(self, dialect: Dialect, wire: &dyn Wire) -> Outcome {
        let answer = match self {
            Self::NotSent(cause) => return Outcome::NotSent { cause },
            Self::Broken(cause) => {
                return Outcome::Ambiguous(Unclear { status: None, cause, facts: Facts::default() });
            }
            Self::Answer(answer) => answer,
        };
        let Answer { status, facts, body, elapsed } = answer;
        if !(200..300).contains(&status) {
            let error = match &body {
                Ok(body) => ErrorBody::read(body),
                Err(cause) => ErrorBody { kind: None, message: cause.to_string() },
            };
            return Outcome::of_status(dialect, status, facts, error);
        }
        let read = body.and_then(|body| match wire.decode(&body) {
            Ok(reply) => Ok((reply, body)),
            Err(error) => {
                // An error object behind a success status: its words tell more than the missing field.
                let words = ErrorBody::read(&body);
                Err(Cause::Undecodable(match words.kind {
                    Some(_) if body.starts_with(b"{") => clean(&format!("{error} (it says: {words})")),
                    _ => clean(&error.to_string()),
                }))
            }
        });
        match read {
            Ok((reply, body)) => Outcome::Reply(Box::new(Answered { status, facts, reply, body, elapsed })),
            Err(cause) => Outcome::Ambiguous(Unclear { status: Some(status), cause, facts }),
        }
    }

    /// The body of a success on a free endpoint, or the status and the words of an error.
    pub(super) fn free(self, url: &BaseUrl) -> Result<Result<Vec<u8>, (u16, ErrorBody)>, ModelError> {
        let url = || url.as_str().to_owned();
        match self {
            Self::NotSent(why) => Err(ModelError::Unreachable { url: url(), why }),
            Self::Broken(cause) => Err(ModelError::Unreachable { url: url(), why: cause.to_string() }),
            Self::Answer(Answer { status, body: Ok(body), .. }) if (200..300).contains(&status) => Ok(Ok(body)),
            Self::Answer(Answer { status, body: Err(cause), .. }) if (200..300).contains(&status) => {
                Err(ModelError::Answer { url: url(), why: cause.to_string() })
            }
            Self::Answer(Answer { status, facts, .. }) if (300..400).contains(&status) => {
                let place = facts.location.unwrap_or_else(|| "nowhere".to_owned());
                Err(ModelError::Answer { url: url(), why: Cause::Redirect(place).to_string() })
            }
            Self::Answer(Answer { status, body, .. }) => {
                let error = body.map_or_else(
                    |cause| ErrorBody { kind: None, message: cause.to_string() },
                    |body| ErrorBody::read(&body),
                );
                if matches!(status, 401..=403) {
                    return Err(ModelError::Denied { url: url(), status, message: error.to_string() });
                }
                Ok(Err((status, error)))
            }
        }
    }
}

/// ring serves all TLS. Another provider that the process has already chosen is kept.
fn install_tls() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // An error says that a provider is installed, which is all that is wanted.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
}

fn is_json(content_type: &str) -> bool {
    let kind = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    kind == "application/json" || (kind.starts_with("application/") && kind.ends_with("+json"))
}

/// An error and its causes in one line; a cause that the text before it already holds is left out.
fn causes(error: &dyn Error) -> String {
    let mut out = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let text = cause.to_string();
        if !out.contains(&text) {
            out = format!("{out}: {text}");
        }
        next = cause.source();
    }
    clean(&out)
}

/// Adds the next step to causes that people meet.
fn with_hint(cause: String) -> String {
    let lower = cause.to_ascii_lowercase();
    let hint = [
        ("invalidcontenttype", "the port does not speak TLS: write http:// if it is a local server"),
        (
            "certificate",
            "the certificate is not trusted here: check the host name, or point SSL_CERT_FILE at your CA's bundle",
        ),
        ("dns", "the host name is not known: check the base URL and the network"),
        ("lookup address", "the host name is not known: check the base URL and the network"),
        ("refused", "nothing listens there: start the server or correct the port"),
    ];
    match hint.into_iter().find(|(sign, _)| lower.contains(sign)) {
        Some((_, hint)) => format!("{cause}; {hint}"),
        None => cause,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_content_types_are_told_from_others() {
        for kind in ["application/json", "Application/JSON; charset=utf-8", "application/problem+json"] {
            assert!(is_json(kind), "{kind}");
        }
        for kind in ["text/html", "text/plain", "application/jsonp", "", "text/json+json"] {
            assert!(!is_json(kind), "{kind}");
        }
    }

    #[test]
    fn known_causes_come_with_a_next_step() {
        assert!(with_hint("tcp connect error: Connection refused (os error 111)".into()).contains("start the server"));
        assert!(with_hint("received corrupt message of type InvalidContentType".into()).contains("http://"));
        assert_eq!(with_hint("odd".into()), "odd");
    }
}
