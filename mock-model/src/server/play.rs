//! Playing an answer on the wire, with the faults of the transport.

use std::{convert::Infallible, io, time::Duration};

use axum::{
    body::{Body, Bytes},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::Response,
};
use futures_util::stream;

use super::{
    connection::Connection,
    fault::{Fault, FaultKind},
    headers,
    models::Format,
    plan::{Answer, Planned},
    refusal::Refusal,
    state::State,
};

/// Pieces of a slow body.
const PIECES: usize = 8;

/// Time in which the first half of a cut body reaches the client.
const BEFORE_CUT: Duration = Duration::from_millis(20);

/// What a gateway says when it cannot reach what is behind it.
const PAGE: &[u8] =
    b"<html><head><title>Please wait</title></head><body><h1>Checking your browser</h1></body></html>\n";

/// Plays a planned answer.
pub(super) async fn planned(
    state: &State,
    planned: Planned,
    format: Format,
    request_id: &str,
    connection: &Connection,
) -> Response {
    let Planned { answer, fault, kept } = planned;
    if !state.delay.is_zero() {
        tokio::time::sleep(state.delay).await;
    }
    let kind = fault.map(|fault| fault.kind);
    let wait = fault.and_then(|fault| fault.wait).unwrap_or_default();
    if matches!(kind, Some(FaultKind::SlowHeaders | FaultKind::Hang)) {
        tokio::time::sleep(wait).await;
    }
    if let Some((rule, prompt, started)) = kept {
        state.cache().keep(rule, &prompt, started);
    }
    if matches!(kind, Some(FaultKind::Reset | FaultKind::Hang)) {
        connection.break_off();
    }
    let bytes = match answer {
        Answer::Reply(bytes) => bytes,
        Answer::Refusal(refused, retry) => {
            let mut response = refusal(format, &refused, request_id, retry);
            if kind == Some(FaultKind::TooLarge) {
                *response.body_mut() = Body::from(PAGE);
                response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html"));
            }
            return response;
        }
        Answer::Unbooked(why) => {
            connection.break_off();
            let refused = Refusal::of_status(format, 500, format!("the mock's ledger cannot be written: {why}"));
            return refusal(format, &refused, request_id, None);
        }
    };
    reply(format, bytes, fault, request_id)
}

fn reply(format: Format, bytes: Vec<u8>, fault: Option<Fault>, request_id: &str) -> Response {
    let kind = fault.map(|fault| fault.kind);
    let length = bytes.len();
    let mut json = HeaderValue::from_static("application/json");
    let mut body = match kind {
        Some(FaultKind::WrongJson) => Body::from(bytes[..length / 2].to_vec()),
        Some(FaultKind::WrongContentType) => {
            json = HeaderValue::from_static("text/html");
            Body::from(PAGE)
        }
        Some(FaultKind::CutBody) => cut(bytes),
        Some(FaultKind::SlowBody) => slow(bytes, fault.and_then(|fault| fault.wait).unwrap_or_default()),
        _ => Body::from(bytes),
    };
    let mut response = Response::new(std::mem::take(&mut body));
    let to = response.headers_mut();
    to.insert(header::CONTENT_TYPE, json);
    match kind {
        // A stream has no length of its own; with a stated one, its early end is a cut and not an end.
        Some(FaultKind::CutBody | FaultKind::SlowBody) => {
            to.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
        }
        Some(FaultKind::WrongEncoding) => {
            to.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        _ => {}
    }
    headers::write(format, request_id, None, false, to);
    response
}

/// Half of the bytes, then the end of the connection.
fn cut(mut bytes: Vec<u8>) -> Body {
    bytes.truncate(bytes.len() / 2);
    Body::from_stream(stream::unfold(Some(bytes), |left| async move {
        match left {
            Some(half) if !half.is_empty() => Some((Ok(Bytes::from(half)), Some(Vec::new()))),
            Some(_) => {
                tokio::time::sleep(BEFORE_CUT).await;
                Some((Err(io::Error::from(io::ErrorKind::BrokenPipe)), None))
            }
            None => None,
        }
    }))
}

/// The bytes in pieces, with a wait before each.
fn slow(bytes: Vec<u8>, wait: Duration) -> Body {
    let size = bytes.len().div_ceil(PIECES).max(1);
    Body::from_stream(stream::unfold(Bytes::from(bytes), move |mut left| async move {
        if left.is_empty() {
            return None;
        }
        tokio::time::sleep(wait).await;
        let piece = left.split_to(size.min(left.len()));
        Some((Ok::<_, Infallible>(piece), left))
    }))
}

/// A refusal as a response.
pub(super) fn refusal(format: Format, refusal: &Refusal, request_id: &str, retry: Option<u64>) -> Response {
    let mut response = json(format, request_id, refusal.body(format, request_id));
    *response.status_mut() = StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    headers::write(format, request_id, retry, refusal.status == 429, response.headers_mut());
    response
}

/// A JSON body as a response.
pub(super) fn json(format: Format, request_id: &str, body: Vec<u8>) -> Response {
    let mut response = Response::new(Body::from(body));
    let to: &mut HeaderMap = response.headers_mut();
    to.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers::write(format, request_id, None, false, to);
    response
}
