//! A server on a free port, and a client that sees every byte.

use std::{io, sync::Arc, time::Duration};

use bench_mock_model::{
    AnswerKey, Behaviour, Noise, Rates, ScriptedModel,
    server::{Ledger, MockServer, Options, Script},
};
use bench_tasks::task::Task;
use serde_json::{Value, json};
use tempfile::TempPath;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

/// What the user says, and what the model knows the answer to.
pub(crate) const TEXT: &str = "Show the last 3 commits of /srv/app.";

pub(crate) const HAIKU: &str = "claude-haiku-4-5-20251001";

/// A server, serving for as long as the test lives.
pub(crate) struct Server {
    address: String,
    ledger: TempPath,
    task: tokio::task::JoinHandle<io::Result<()>>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A response as it came.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: Vec<u8>,
    /// The connection ended before the body had its stated length.
    pub(crate) cut: bool,
}

impl Response {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&self.body)))
    }

    /// Status and message of an error of either format.
    pub(crate) fn error(&self) -> String {
        let error = &self.json()["error"];
        let narrow = [&error["type"], &error["code"], &error["param"]].map(|part| part.as_str().unwrap_or_default());
        let narrow: Vec<&str> = narrow.into_iter().filter(|part| !part.is_empty()).collect();
        let message = error["message"].as_str().unwrap();
        format!("{} {}: {}", self.status, narrow.join(" "), message.split(", expected").next().unwrap())
    }
}

impl Server {
    pub(crate) async fn start() -> Self {
        Self::with("").await
    }

    /// With these faults, as tables of a script.
    pub(crate) async fn with(faults: &str) -> Self {
        let ledger = tempfile::NamedTempFile::new().unwrap().into_temp_path();
        let task: Task = serde_json::from_value(json!({
            "id": "t1", "suite": "tools", "server": "git", "tool": "git_log", "frame": "git/git_log/f",
            "stratum": "plain", "utterance": TEXT,
            "gold": [{"server": "git", "tool": "git_log",
                "arguments": {"repo_path": "/srv/app", "max_count": 3}, "match": {}}],
        }))
        .unwrap();
        let noise = Noise::new(Rates::default(), [7; 32]);
        let server = MockServer::new(Options {
            model: ScriptedModel::new(Behaviour::Oracle, Arc::new(AnswerKey::of_tasks(&[task])), noise),
            script: Script::parse(&format!("schema = 1\n{faults}")).unwrap(),
            ledger: Ledger::open(&ledger).unwrap(),
            delay: Duration::ZERO,
            keyless: false,
        })
        .unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let task = tokio::spawn(async move { server.serve(listener).await });
        Self { address, ledger, task }
    }

    /// Sends a request on a connection of its own. An error is what the client sees of a broken connection.
    pub(crate) async fn send(&self, method: &str, path: &str, headers: &str, body: &[u8]) -> io::Result<Response> {
        let mut stream = TcpStream::connect(&self.address).await?;
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{headers}content-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).await?;
        stream.write_all(body).await?;
        let mut bytes = Vec::new();
        let mut piece = vec![0; 1 << 16];
        loop {
            match stream.read(&mut piece).await {
                Ok(0) => break,
                Ok(count) => bytes.extend_from_slice(&piece[..count]),
                Err(error) if bytes.is_empty() => return Err(error),
                Err(_) => break,
            }
        }
        let at = bytes.windows(4).position(|window| window == b"\r\n\r\n");
        let at = at.ok_or_else(|| io::Error::from(io::ErrorKind::UnexpectedEof))?;
        let head = String::from_utf8_lossy(&bytes[..at]).into_owned();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let body = bytes[at + 4..].to_vec();
        let mut response = Response { status, head, body, cut: false };
        let length = response.header("content-length").and_then(|length| length.parse().ok());
        response.cut = length.is_some_and(|length: usize| length > response.body.len());
        Ok(response)
    }

    /// A Messages request in order but for its body.
    pub(crate) async fn message(&self, body: &Value) -> Response {
        self.try_message(body, "").await.unwrap()
    }

    /// A Messages request with more headers.
    pub(crate) async fn try_message(&self, body: &Value, headers: &str) -> io::Result<Response> {
        let headers = format!("{MESSAGES}{headers}");
        self.send("POST", "/v1/messages", &headers, body.to_string().as_bytes()).await
    }

    /// A count of tokens.
    pub(crate) async fn count(&self, body: &Value) -> Response {
        self.send("POST", "/v1/messages/count_tokens", MESSAGES, body.to_string().as_bytes()).await.unwrap()
    }

    /// A chat request in order but for its body.
    pub(crate) async fn chat(&self, body: &Value) -> Response {
        self.send("POST", "/v1/chat/completions", CHAT, body.to_string().as_bytes()).await.unwrap()
    }

    /// The ledger's lines.
    pub(crate) fn ledger(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(&self.ledger).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// Headers of a Messages request.
pub(crate) const MESSAGES: &str = "x-api-key: k\r\nanthropic-version: 2023-06-01\r\ncontent-type: application/json\r\n";

/// Headers of a chat request.
pub(crate) const CHAT: &str = "authorization: Bearer k\r\ncontent-type: application/json\r\n";

/// A tool, as the Messages format shows it.
pub(crate) fn tool(name: &str, description: &str) -> Value {
    json!({"name": name, "description": description, "input_schema": schema()})
}

fn schema() -> Value {
    json!({"type": "object", "properties": {"repo_path": {"type": "string"}, "max_count": {"type": "integer"}},
        "required": ["repo_path"]})
}

/// A request that the model answers with a call.
pub(crate) fn request() -> Value {
    json!({"model": HAIKU, "max_tokens": 1024, "tools": [tool("git__git_log", "Shows commits.")],
        "messages": [{"role": "user", "content": TEXT}]})
}

/// The same as a chat request.
pub(crate) fn chat_request() -> Value {
    json!({"model": "gpt-5-mini", "max_completion_tokens": 1024,
        "tools": [{"type": "function", "function":
            {"name": "git__git_log", "description": "Shows commits.", "parameters": schema()}}],
        "messages": [{"role": "system", "content": "Call tools."}, {"role": "user", "content": TEXT}]})
}

/// The body with a field of another value.
pub(crate) fn with(mut body: Value, field: &str, value: Value) -> Value {
    body[field] = value;
    body
}

/// The body without a field.
pub(crate) fn without(mut body: Value, field: &str) -> Value {
    body.as_object_mut().unwrap().shift_remove(field);
    body
}
