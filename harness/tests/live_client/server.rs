//! A server of raw bytes, and endpoints that point at it.

use std::{
    io::Write as _,
    os::unix::fs::PermissionsExt as _,
    sync::{Arc, Mutex},
    time::Duration,
};

use bench_harness::models::{Attempt, BaseUrl, Endpoint, Key, Outcome, Provider, Timeouts, connect};
use bench_results::record::DrawId;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

/// A key that must turn up nowhere.
pub(crate) const CANARY: &str = "sk-canary-0123456789abcdefghij";

/// What the server does next on a connection.
#[derive(Clone)]
pub(crate) enum Step {
    /// Reads a whole request, and remembers it.
    Read,
    /// Reads whatever comes first.
    ReadSome,
    /// Writes bytes.
    Send(Vec<u8>),
    /// Does nothing for a while.
    Wait(Duration),
    /// Writes this many blanks, or until the client has enough.
    Flood(u64),
    /// Closes so that the client sees a reset.
    Reset,
    /// Reads a request and writes bytes.
    Answer(Vec<u8>),
}

/// A server that plays one script to its first connection, and the last step of it to any further one.
pub(crate) struct Server {
    port: u16,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Starts it; an empty script closes the port at once.
    pub(crate) async fn start(steps: Vec<Step>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        if steps.is_empty() {
            return Self { port, requests };
        }
        let log = Arc::clone(&requests);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (steps, log) = (steps.clone(), Arc::clone(&log));
                tokio::spawn(async move { play(stream, steps, &log).await });
            }
        });
        Self { port, requests }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Requests read so far, heads and bodies.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

async fn play(mut stream: TcpStream, steps: Vec<Step>, log: &Mutex<Vec<String>>) {
    for step in steps {
        let fine = match step {
            Step::Read => read(&mut stream, log).await,
            Step::ReadSome => stream.read(&mut [0; 1024]).await.is_ok(),
            Step::Send(bytes) => stream.write_all(&bytes).await.is_ok(),
            Step::Answer(bytes) => read(&mut stream, log).await && stream.write_all(&bytes).await.is_ok(),
            Step::Wait(time) => {
                tokio::time::sleep(time).await;
                true
            }
            Step::Flood(bytes) => {
                let blanks = vec![b' '; 1 << 16];
                let mut left = bytes;
                while left > 0 && stream.write_all(&blanks).await.is_ok() {
                    left = left.saturating_sub(1 << 16);
                }
                true
            }
            Step::Reset => stream.set_zero_linger().is_ok(),
        };
        if !fine {
            break;
        }
    }
}

async fn read(stream: &mut TcpStream, log: &Mutex<Vec<String>>) -> bool {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    loop {
        match stream.read(&mut piece).await {
            Ok(0) | Err(_) => return false,
            Ok(count) => bytes.extend_from_slice(&piece[..count]),
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let lower = head.to_lowercase();
        let length =
            lower.lines().find_map(|line| line.strip_prefix("content-length: ")).map_or(0, |n| n.parse().unwrap());
        if body.len() >= length {
            log.lock().unwrap().push(text);
            return true;
        }
    }
}

/// A response of this status, with these header lines and a length.
pub(crate) fn answer(status: u16, headers: &str, body: &[u8]) -> Vec<u8> {
    let mut out = format!("HTTP/1.1 {status} X\r\n{headers}content-length: {}\r\n\r\n", body.len()).into_bytes();
    out.extend_from_slice(body);
    out
}

/// Reads a request and answers with JSON.
pub(crate) fn json_answer(status: u16, headers: &str, body: &str) -> Step {
    Step::Answer(answer(status, &format!("content-type: application/json\r\n{headers}"), body.as_bytes()))
}

/// A Messages response.
pub(crate) fn message() -> String {
    r#"{"id":"m","type":"message","role":"assistant","model":"claude-haiku-4-5-20251001","content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn","usage":{"input_tokens":12,"output_tokens":3}}"#.to_owned()
}

/// A Chat Completions response.
pub(crate) fn chat() -> String {
    r#"{"id":"c","model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"hi"}}],"usage":{"prompt_tokens":12,"completion_tokens":3}}"#.to_owned()
}

/// The canary, from a file closed to others.
pub(crate) fn canary() -> Key {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(CANARY.as_bytes()).unwrap();
    file.as_file().set_permissions(std::fs::Permissions::from_mode(0o600)).unwrap();
    Key::from_file(file.path()).ok().unwrap()
}

/// An endpoint with short time limits and the canary as its key.
pub(crate) fn endpoint_of(provider: Provider, url: &str) -> Endpoint {
    Endpoint {
        provider,
        base: BaseUrl::parse(url).unwrap(),
        key: Some(canary()),
        model: "claude-haiku-4-5-20251001".to_owned(),
        api_version: "2023-06-01".to_owned(),
        timeouts: Timeouts {
            connect: Duration::from_secs(2),
            read: Duration::from_secs(2),
            total: Duration::from_secs(4),
        },
        mock: false,
    }
}

/// Sends one attempt. Nothing about its outcome shows the key.
pub(crate) async fn outcome_of(endpoint: Endpoint) -> Outcome {
    let model = connect(endpoint).ok().unwrap();
    let draw: DrawId = serde_json::from_str(r#"{"task":"t1","arm":"L2","turn":3}"#).unwrap();
    let outcome = model.complete(Attempt { body: b"{\"model\":\"m\"}", draw: &draw }).await;
    let shown = format!("{outcome:?} {:?}", outcome.error());
    assert!(!shown.contains(CANARY), "{shown}");
    if let Outcome::Reply(answered) = &outcome {
        assert!(!String::from_utf8_lossy(&answered.body).contains(CANARY));
    }
    outcome
}
