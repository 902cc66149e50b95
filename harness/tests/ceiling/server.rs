//! The mock server, in a thread of its own, with the ledger that it keeps.

use std::{fs, sync::Arc, thread, time::Duration};

use bench_harness::{
    inputs::{Inputs, Overrides},
    run::{
        mock,
        prepare::{Prepared, RunSpec},
    },
};
use bench_mock_model::{
    AnswerKey, Behaviour, Noise, ScriptedModel,
    server::{Ledger, MockServer as Server, Options, Script},
};
use serde::Deserialize;
use tempfile::TempPath;
use tokio::net::TcpListener;

use crate::run::{ARMS, Api};

/// A server that serves until the tests end.
pub(crate) struct MockServer {
    port: u16,
    ledger: TempPath,
    api: Api,
    tasks: u64,
    server: Server,
}

/// What is looked at of a line of its ledger.
#[derive(Debug, Deserialize)]
pub(crate) struct Line {
    pub(crate) request_id: String,
    pub(crate) client: String,
    pub(crate) stated: Option<u64>,
    pub(crate) billed: u64,
}

impl MockServer {
    /// Starts it with these faults, for runs of so many tool tasks over this interface. It thinks this long before each answer.
    pub(crate) fn start(faults: &str, api: Api, tasks: u64, delay: Duration) -> Self {
        let inputs = Inputs::load(&Overrides::default()).unwrap();
        let arms: Vec<String> = ARMS.iter().map(|&arm| arm.to_owned()).collect();
        let seeds = &inputs.protocol.seeds;
        let seed = if api == Api::Chat { &seeds.replication } else { &seeds.primary };
        let spec = RunSpec::of(&inputs, seed, &arms, Some(tasks)).unwrap();
        let prepared = Prepared::new(&inputs, &spec).unwrap();
        let keys = prepared.families.iter().map(|family| mock::answer_key(&family.tasks));
        let key = keys.fold(AnswerKey::default(), AnswerKey::merge);
        let noise = Noise::new(mock::rates(&inputs.protocol.mock), prepared.seeds.mock);
        let ledger = tempfile::NamedTempFile::new().unwrap().into_temp_path();
        let server = Server::new(Options {
            model: ScriptedModel::new(Behaviour::Noisy, Arc::new(key), noise),
            script: Script::parse(&format!("schema = 1\n{faults}")).unwrap(),
            ledger: Ledger::open(&ledger).unwrap(),
            delay,
            keyless: true,
        })
        .unwrap();
        let (tell, told) = std::sync::mpsc::channel();
        let serving = server.clone();
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                tell.send(listener.local_addr().unwrap().port()).unwrap();
                serving.serve(listener).await.unwrap();
            });
        });
        Self { port: told.recv().unwrap(), ledger, api, tasks, server }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The interface that its runs speak.
    pub(crate) fn api(&self) -> Api {
        self.api
    }

    /// Tool tasks that it knows the answers to.
    pub(crate) fn tasks(&self) -> u64 {
        self.tasks
    }

    /// Most requests that it had in hand at a time.
    pub(crate) fn peak(&self) -> u32 {
        self.server.peak()
    }

    /// The lines of its ledger so far.
    pub(crate) fn ledger(&self) -> Vec<Line> {
        let text = fs::read_to_string(&self.ledger).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Their number.
    pub(crate) fn requests(&self) -> usize {
        fs::read(&self.ledger).unwrap().split_inclusive(|&byte| byte == b'\n').count()
    }
}
