//! A loopback server around the scripted model, in this process: what it answers depends on the draw alone, so that a run
//! over HTTP can be held against one in process. Faults are a function of a draw and of how often it was asked.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use bench_harness::{
    inputs::{Inputs, Overrides},
    run::{
        mock::Mock,
        offline::InProcessModel as _,
        prepare::{Prepared, RunSpec},
    },
};
use bench_mock_model::Behaviour;
use bench_results::record::DrawId;
use bench_tasks::task::TaskId;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

/// What is done instead of answering.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A status and an error body; 429 comes with a wait of nothing.
    Status(u16),
    /// Half of the answer, then the end of the connection.
    Cut,
    /// The answer, spread over lines.
    Pretty,
    /// The answer, with usage that leaves the output out.
    NoOutput,
    /// The answer, with usage that states more output than anything can have.
    Endless,
    /// The answer, with usage that states a little more output than was asked for.
    More,
    /// A status and an error body that quotes the key.
    Echo(u16),
}

/// Decides on a fault for the n-th time (from 1) that a draw is asked.
pub(crate) type Faults = fn(&DrawId, u32) -> Option<Fault>;

/// The server.
pub(crate) struct MockServer {
    port: u16,
    shared: Arc<Shared>,
}

struct Shared {
    model: Mock,
    faults: Faults,
    pause: Duration,
    requests: AtomicU64,
    billed: AtomicU64,
    asked: Mutex<BTreeMap<DrawId, u32>>,
    canary_seen: AtomicBool,
    /// A text in a tool list that the free count refuses.
    refused: Mutex<Option<&'static str>>,
}

/// Inputs, and families as `bench --live` prepares them for these arms and tasks.
pub(crate) fn prepared(arms: &[&str], tasks: u64) -> (Inputs, Prepared) {
    let inputs = Inputs::load(&Overrides::default()).unwrap();
    let arms: Vec<String> = arms.iter().map(|&arm| arm.to_owned()).collect();
    let spec = RunSpec::of(&inputs, &inputs.protocol.seeds.primary.clone(), &arms, Some(tasks)).unwrap();
    let prepared = Prepared::new(&inputs, &spec).unwrap();
    (inputs, prepared)
}

impl MockServer {
    /// Starts it on a free port, for as long as the process lives.
    pub(crate) fn start(arms: &[&str], tasks: u64, faults: Faults, pause: Duration) -> Self {
        let (inputs, prepared) = prepared(arms, tasks);
        Self::over(&inputs, &prepared, faults, pause)
    }

    /// Starts it for whatever tasks these are.
    pub(crate) fn over(inputs: &Inputs, prepared: &Prepared, faults: Faults, pause: Duration) -> Self {
        let model = Mock::new(Behaviour::Noisy, &inputs.protocol.mock, prepared);
        let shared = Arc::new(Shared {
            model,
            faults,
            pause,
            requests: AtomicU64::new(0),
            billed: AtomicU64::new(0),
            asked: Mutex::default(),
            canary_seen: AtomicBool::new(false),
            refused: Mutex::new(None),
        });
        let (tell, told) = std::sync::mpsc::channel();
        let serving = Arc::clone(&shared);
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                tell.send(listener.local_addr().unwrap().port()).unwrap();
                while let Ok((stream, _)) = listener.accept().await {
                    tokio::spawn(serve(stream, Arc::clone(&serving)));
                }
            });
        });
        Self { port: told.recv().unwrap(), shared }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Refuses, when asked to count, every request that holds this text.
    pub(crate) fn refuse(&self, text: &'static str) {
        *self.shared.refused.lock().unwrap() = Some(text);
    }

    /// Paid requests so far.
    pub(crate) fn requests(&self) -> u64 {
        self.shared.requests.load(Ordering::SeqCst)
    }

    /// Pico-dollars that it bills: for every answer it began, whether it arrived or not.
    pub(crate) fn billed(&self) -> u64 {
        self.shared.billed.load(Ordering::SeqCst)
    }

    /// How often each draw was asked.
    pub(crate) fn asked(&self) -> BTreeMap<DrawId, u32> {
        self.shared.asked.lock().unwrap().clone()
    }

    /// Whether a request carried this key.
    pub(crate) fn saw_key(&self) -> bool {
        self.shared.canary_seen.load(Ordering::SeqCst)
    }
}

async fn serve(mut stream: TcpStream, shared: Arc<Shared>) {
    let mut bytes = Vec::new();
    while let Some((head, body)) = read(&mut stream, &mut bytes).await {
        if head.contains("x-api-key: sk-canary") {
            shared.canary_seen.store(true, Ordering::SeqCst);
        }
        let answer = if head.starts_with("get ") {
            let id =
                head.split_whitespace().nth(1).and_then(|path| path.rsplit('/').next()).unwrap_or_default().to_owned();
            reply(200, &serde_json::json!({"id": id, "type": "model"}).to_string())
        } else if head.starts_with("post /v1/messages/count_tokens") {
            let refused = *shared.refused.lock().unwrap();
            if refused.is_some_and(|text| String::from_utf8_lossy(&body).contains(text)) {
                reply(400, r#"{"error":{"type":"invalid_request_error","message":"no such schema"}}"#)
            } else {
                reply(200, r#"{"input_tokens":7}"#)
            }
        } else {
            tokio::time::sleep(shared.pause).await;
            let (answer, whole) = answer(&head, &body, &shared);
            if !whole {
                let _ = stream.write_all(&answer).await;
                return;
            }
            answer
        };
        if stream.write_all(&answer).await.is_err() {
            return;
        }
    }
}

/// The answer to a paid request, and whether the connection outlives it.
fn answer(head: &str, body: &[u8], shared: &Shared) -> (Vec<u8>, bool) {
    shared.requests.fetch_add(1, Ordering::SeqCst);
    let draw = head.lines().find_map(|line| line.strip_prefix("x-bench-draw: ")).unwrap();
    let mut parts = draw.split('/');
    let mut part = || parts.next().unwrap().to_owned();
    let (task, arm) = (TaskId(part()), part());
    // Heads are read in lower case; arms are the only names in them that have capitals.
    let arm = ["L0", "L1", "L2", "L3", "R"].into_iter().find(|id| id.to_lowercase() == arm).map_or(arm, str::to_owned);
    let draw = DrawId { task, arm: arm.into(), turn: part().parse().unwrap() };
    let times = {
        let mut asked = shared.asked.lock().unwrap();
        let times = asked.entry(draw.clone()).or_default();
        *times += 1;
        *times
    };
    let fault = (shared.faults)(&draw, times);
    if let Some(Fault::Echo(status)) = fault {
        let key = head.lines().find_map(|line| line.strip_prefix("x-api-key: ")).unwrap_or("no key");
        let error = serde_json::json!({"error": {"type": "some_error", "message": format!("the key {key} is odd")}});
        return (reply(status, &error.to_string()), true);
    }
    if let Some(Fault::Status(status)) = fault {
        let error = r#"{"type":"error","error":{"type":"some_error","message":"as scripted"}}"#;
        return (reply(status, error), true);
    }
    let text = String::from_utf8(shared.model.respond(body, &draw).unwrap()).unwrap();
    let usage: serde_json::Value = serde_json::from_str(&text).unwrap();
    shared.billed.fetch_add(price(&usage["usage"]), Ordering::SeqCst);
    match fault {
        Some(Fault::Cut) => {
            let mut whole = reply(200, &text);
            whole.truncate(whole.len() - text.len() / 2);
            (whole, false)
        }
        Some(Fault::Pretty) => {
            let value: serde_json::Value = serde_json::from_str(&text).unwrap();
            (reply(200, &serde_json::to_string_pretty(&value).unwrap()), true)
        }
        Some(Fault::NoOutput) => {
            let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
            value["usage"].as_object_mut().unwrap().remove("output_tokens").unwrap();
            (reply(200, &value.to_string()), true)
        }
        Some(Fault::More) => {
            let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
            value["usage"]["output_tokens"] = 1_500.into();
            (reply(200, &value.to_string()), true)
        }
        Some(Fault::Endless) => {
            let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
            value["usage"]["output_tokens"] = (1_u64 << 32).into();
            (reply(200, &value.to_string()), true)
        }
        Some(Fault::Status(_) | Fault::Echo(_)) | None => (reply(200, &text), true),
    }
}

/// What the protocol's model costs, in pico-dollars, written down here a second time.
fn price(usage: &serde_json::Value) -> u64 {
    [
        ("input_tokens", 1_000_000),
        ("cache_creation_input_tokens", 1_250_000),
        ("cache_read_input_tokens", 100_000),
        ("output_tokens", 5_000_000),
    ]
    .into_iter()
    .map(|(class, rate)| usage[class].as_u64().unwrap() * rate)
    .sum()
}

fn reply(status: u16, body: &str) -> Vec<u8> {
    let wait = if status == 429 { "retry-after: 0\r\n" } else { "" };
    format!(
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\n{wait}content-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// One request: its head in lower case, its body. What follows stays in `bytes`.
async fn read(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> Option<(String, Vec<u8>)> {
    let mut piece = vec![0; 1 << 16];
    loop {
        // A client that speaks TLS is told in the plain words of HTTP.
        if bytes.first() == Some(&0x16) {
            let _ = stream.write_all(&reply(400, "{}")).await;
            return None;
        }
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..at]).to_lowercase();
            let length: usize = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "))
                .map_or(0, |length| length.parse().unwrap());
            if bytes.len() >= at + 4 + length {
                let body = bytes[at + 4..at + 4 + length].to_vec();
                bytes.drain(..at + 4 + length);
                return Some((head, body));
            }
        }
        match stream.read(&mut piece).await {
            Ok(0) | Err(_) => return None,
            Ok(count) => bytes.extend_from_slice(&piece[..count]),
        }
    }
}
