//! An HTTP server around the scripted model: both wire formats, their checks, bills and faults.
//!
//! It is an independent reading of the providers' pages, so that what the harness reads wrong shows: it checks requests
//! as strictly as the pages say, bills tokens and caches by its own tables, and keeps its own books. What it cannot do is
//! refused in the API's form: streaming, server tools, forced tool calls. `docs/mock-server.md` describes it.

mod bill;
mod cache;
mod chat;
mod connection;
mod draw;
mod fault;
mod headers;
mod ledger;
mod messages;
mod models;
mod plan;
mod play;
mod prompt;
mod refusal;
mod route;
mod script;
mod state;

use std::{io, sync::Arc, time::Duration};

use axum::{
    Router,
    body::to_bytes,
    extract::{ConnectInfo, Request, State as Shared},
    response::Response,
};
use thiserror::Error;
use tokio::net::TcpListener;

use self::{
    connection::{Breakable, Connection},
    ledger::{Client, Line},
    models::Format,
    plan::Place,
    refusal::Refusal,
    route::Route,
    state::State,
};
pub use self::{
    fault::{Fault, FaultKind},
    ledger::{Ledger, LedgerError},
    script::{Script, ScriptError},
};
use crate::model::ScriptedModel;

/// Largest body that is read, as documented.
const BODY_LIMIT: usize = 32 << 20;

/// What a server is made of.
#[derive(Debug)]
pub struct Options {
    /// What answers.
    pub model: ScriptedModel,
    /// Which requests are struck by what.
    pub script: Script,
    /// The server's own books.
    pub ledger: Ledger,
    /// Wait before each reply: a provider's thinking time.
    pub delay: Duration,
    /// Requests without a key are served too.
    pub keyless: bool,
}

/// Why there is no server.
#[derive(Debug, Error)]
pub enum ServerError {
    /// The model table that is compiled in cannot be read.
    #[error("the built-in model table: {0}")]
    Models(#[from] toml::de::Error),
}

/// A server that is ready to serve.
#[derive(Debug, Clone)]
pub struct MockServer {
    state: Arc<State>,
}

impl MockServer {
    /// A server of these parts.
    ///
    /// # Errors
    /// A model table that cannot be read: a defect of this build.
    pub fn new(options: Options) -> Result<Self, ServerError> {
        Ok(Self { state: Arc::new(State::new(options)?) })
    }

    /// Serves until the future is dropped.
    ///
    /// # Errors
    /// What the listener reports.
    pub async fn serve(&self, listener: TcpListener) -> io::Result<()> {
        let app = Router::new().fallback(handle).with_state(Arc::clone(&self.state));
        axum::serve(Breakable(listener), app.into_make_service_with_connect_info::<Connection>()).await
    }

    /// Pico-dollars charged since the start.
    pub fn billed(&self) -> u64 {
        self.state.billed()
    }

    /// Most paid requests that were being answered at a time.
    pub fn peak(&self) -> u32 {
        self.state.peak()
    }
}

async fn handle(
    Shared(state): Shared<Arc<State>>,
    ConnectInfo(connection): ConnectInfo<Connection>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let route = Route::of(&parts.method, parts.uri.path(), &parts.headers);
    let format = route.format();
    let Ok(body) = to_bytes(body, BODY_LIMIT).await else {
        let refused = Refusal::of_status(format, 413, "Request exceeds the maximum size");
        return play::refusal(format, &refused, &state.free_id(), None);
    };
    let free = match route {
        Route::Paid(format) => {
            let _in_flight = state.enter();
            // From here to the planned answer nothing waits, so a client that leaves cannot undo half of a booking.
            let (n, id) = state.number();
            let place = Place { n, request_id: &id };
            let planned = match format {
                Format::Messages => messages::paid(&state, &parts.headers, &body, place),
                Format::Chat => chat::paid(&state, &parts.headers, &body, place),
            };
            return match planned {
                Ok(planned) => play::planned(&state, planned, format, &id, &connection).await,
                Err(refused) => play::refusal(format, &note(&state, place, format, refused), &id, None),
            };
        }
        Route::Count => messages::count(&state, &parts.headers, &body),
        Route::Models(format) => route::models(&state, format, &parts.headers),
        Route::Model(format, id) => route::model(&state, format, id, &parts.headers),
        Route::WrongMethod(format) => Err(Refusal::of_status(format, 405, "Method Not Allowed")),
        Route::Unknown(Format::Messages) => Err(Refusal::of_status(Format::Messages, 404, "Not Found")),
        Route::Unknown(Format::Chat) => {
            let message = format!("Invalid URL ({} {})", parts.method, parts.uri.path());
            Err(Refusal::of_status(Format::Chat, 404, message))
        }
    };
    let id = state.free_id();
    match free {
        Ok(body) => play::json(format, &id, body),
        Err(refused) => play::refusal(format, &refused, &id, None),
    }
}

/// Books a request that was refused for its own sake.
fn note(state: &State, place: Place<'_>, format: Format, refused: Refusal) -> Refusal {
    let line = Line {
        n: place.n,
        request_id: place.request_id,
        draw: None,
        model: None,
        status: Some(refused.status),
        fault: None,
        usage: None,
        client: Client::Free,
        stated: None,
        billed: 0,
    };
    match state.book(&line) {
        Ok(()) => refused,
        Err(error) => Refusal::of_status(format, 500, format!("the mock's ledger cannot be written: {error}")),
    }
}
