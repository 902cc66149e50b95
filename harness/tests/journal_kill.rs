//! The journal under `kill -9`: a writer is killed again and again at arbitrary moments, and the books still hold.
//!
//! The test runs itself as the writer. A provider of its own kind keeps a list of what it billed, which the kills do not
//! touch: the truth that the books are held against.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test helper outside of a test function may panic too")]

use std::{
    collections::BTreeMap,
    env, fs,
    fs::{File, OpenOptions},
    io::Write as _,
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    thread,
    time::Duration,
};

use bench_harness::{
    journal::{ATTEMPTS, Asked, Durability, EpisodeKey, Journal, JournalError, Recovered, is_reply},
    meter::{Booking, Limits, Refusal},
};
use bench_protocol::{
    digest::Digest,
    rng::{self, stream_id},
};
use bench_results::record::{AttemptLine, DrawId, EpisodeRecord, Settled, Usage};
use bench_tasks::task::TaskId;
use serde_json::{json, value::RawValue};

/// Says to the test that it is the writer, and in which folder.
const FOLDER: &str = "BENCH_TEST_JOURNAL_FOLDER";
/// The writer's budget.
const BUDGET: &str = "BENCH_TEST_JOURNAL_BUDGET";

const TASKS: u32 = 120;
const ARMS: [&str; 2] = ["raw", "L2"];
const TURNS: u32 = 2;
const WORKERS: usize = 8;
const RESERVE: u64 = 1_000;

/// The writer ended because its budget did.
const OUT_OF_BUDGET: i32 = 3;

#[test]
fn after_any_number_of_kills_nothing_is_lost_or_counted_twice() {
    if let Ok(folder) = env::var(FOLDER) {
        return write_until_done(Path::new(&folder));
    }
    let folder = tempfile::tempdir().unwrap();
    let (status, kills) =
        run_with_kills(folder.path(), u64::MAX, "after_any_number_of_kills_nothing_is_lost_or_counted_twice");
    assert!(status.success(), "the writer failed: {status}");
    assert!(kills >= 10, "only {kills} kills hit the writer");

    let (journal, recovered) = open(folder.path(), u64::MAX).unwrap();
    assert!(recovered.interrupted.is_empty());
    assert_eq!(recovered.episodes.len(), usize::try_from(TASKS).unwrap() * ARMS.len());
    assert!((0..TASKS).all(|task| ARMS.iter().all(|arm| recovered.episodes.contains(&task_id(task), arm))));
    let seen = Seen::read(folder.path());
    for task in 0..TASKS {
        for (arm, turn) in ARMS.iter().flat_map(|arm| (1..=TURNS).map(move |turn| (arm, turn))) {
            let draw = DrawId { task: task_id(task), arm: (*arm).into(), turn };
            assert_eq!(seen.replies.get(&draw), Some(&1), "{draw:?}");
        }
    }
    assert_eq!(journal.books().unwrap().spent, seen.spent);
}

#[test]
fn the_ceiling_holds_through_kills() {
    if let Ok(folder) = env::var(FOLDER) {
        return write_until_done(Path::new(&folder));
    }
    let folder = tempfile::tempdir().unwrap();
    let budget = 150 * RESERVE;
    let (status, kills) = run_with_kills(folder.path(), budget, "the_ceiling_holds_through_kills");
    assert_eq!(status.code(), Some(OUT_OF_BUDGET));
    assert!(kills >= 3, "only {kills} kills hit the writer");
    let seen = Seen::read(folder.path());
    assert!(seen.spent <= budget && seen.spent > budget - RESERVE, "{} of {budget}", seen.spent);
}

/// Starts writers and kills them after a random number of further acknowledgements, until one ends by itself. The books
/// are checked after each.
fn run_with_kills(folder: &Path, budget: u64, test: &str) -> (ExitStatus, u32) {
    let mut rng = rng::stream([7; 32], stream_id(test));
    let mut kills = 0;
    loop {
        let goal = acknowledged(folder).len() as u64 + rng::index(&mut rng, 40);
        let pause = Duration::from_micros(rng::index(&mut rng, 3_000));
        let mut writer = Command::new(env::current_exe().unwrap())
            .args(["--exact", test])
            .env(FOLDER, folder)
            .env(BUDGET, budget.to_string())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let ended = wait_for(&mut writer, folder, goal);
        thread::sleep(pause);
        if ended.is_none() {
            writer.kill().unwrap();
        }
        let status = writer.wait().unwrap();
        check_books(folder, budget);
        // A writer that ended before its kill has a code; one that was killed has none.
        if status.code().is_some() {
            return (status, kills);
        }
        kills += 1;
        assert!(kills < 2_000, "the writer makes no progress");
    }
}

fn wait_for(writer: &mut Child, folder: &Path, goal: u64) -> Option<ExitStatus> {
    loop {
        if let Some(status) = writer.try_wait().unwrap() {
            return Some(status);
        }
        if acknowledged(folder).len() as u64 >= goal {
            return None;
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// What was acknowledged is on disk, once; what the provider billed is within the books; the books are within the budget.
fn check_books(folder: &Path, budget: u64) {
    let seen = Seen::read(folder);
    for n in acknowledged(folder) {
        assert!(seen.reserved.contains_key(&n), "attempt {n} was acknowledged and is lost");
    }
    let billed: u64 = lines(&folder.join("billed")).iter().map(|line| line.parse::<u64>().unwrap()).sum();
    let bound = seen.spent + seen.open;
    assert!(billed <= bound, "the provider billed {billed}, the books say {bound}");
    assert!(bound <= budget, "the books say {bound}, the budget is {budget}");
}

/// The attempts as a reader who knows nothing of the journal finds them.
#[derive(Default)]
struct Seen {
    reserved: BTreeMap<u64, u64>,
    spent: u64,
    open: u64,
    replies: BTreeMap<DrawId, u32>,
}

impl Seen {
    fn read(folder: &Path) -> Self {
        let mut seen = Self::default();
        let mut draws = BTreeMap::new();
        for line in lines(&folder.join(ATTEMPTS)) {
            match AttemptLine::parse(&line).unwrap() {
                AttemptLine::Opened(opened) => {
                    assert_eq!(
                        seen.reserved.insert(opened.n, opened.reserve),
                        None,
                        "attempt {} is there twice",
                        opened.n
                    );
                    seen.open += opened.reserve;
                    draws.insert(opened.n, opened.draw);
                }
                AttemptLine::Settled(settled) => {
                    let draw = draws.remove(&settled.n).expect("an outcome without its attempt, or a second one");
                    seen.open -= seen.reserved[&settled.n];
                    seen.spent += settled.billed;
                    *seen.replies.entry(draw).or_default() += u32::from(is_reply(&settled));
                }
            }
        }
        seen
    }
}

fn acknowledged(folder: &Path) -> Vec<u64> {
    lines(&folder.join("acknowledged")).iter().map(|line| line.parse().unwrap()).collect()
}

/// The whole lines of a file; a torn last one is not one.
fn lines(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')).map(str::to_owned).collect()
}

fn task_id(task: u32) -> TaskId {
    TaskId(format!("t{task:04}"))
}

fn open(folder: &Path, budget: u64) -> Result<(Journal, Recovered), JournalError> {
    Journal::open(folder, Limits { budget, per_attempt: None, attempts: None }, Durability::Synced)
}

/// What every worker of the writer shares.
struct Shared {
    journal: Journal,
    recovered: Recovered,
    next: AtomicU32,
    acknowledged: File,
    billed: File,
}

/// The writer: all episodes that are not done, by eight workers.
fn write_until_done(folder: &Path) {
    let budget = env::var(BUDGET).unwrap().parse().unwrap();
    let (journal, recovered) = open(folder, budget).unwrap();
    let log = |name: &str| OpenOptions::new().create(true).append(true).open(folder.join(name)).unwrap();
    let (acknowledged, billed) = (log("acknowledged"), log("billed"));
    let shared = Arc::new(Shared { journal, recovered, next: AtomicU32::new(0), acknowledged, billed });
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    let outcomes = runtime.block_on(async {
        let mut workers = tokio::task::JoinSet::new();
        for _ in 0..WORKERS {
            workers.spawn(work(Arc::clone(&shared)));
        }
        workers.join_all().await
    });
    Arc::into_inner(shared).unwrap().journal.finish().unwrap();
    for outcome in outcomes {
        match outcome {
            Ok(()) => {}
            Err(JournalError::Refused(Refusal::Budget { .. })) => std::process::exit(OUT_OF_BUDGET),
            Err(error) => panic!("{error}"),
        }
    }
}

async fn work(shared: Arc<Shared>) -> Result<(), JournalError> {
    loop {
        let index = shared.next.fetch_add(1, Ordering::Relaxed);
        let arms = u32::try_from(ARMS.len()).unwrap();
        let (task, arm) = (index / arms, ARMS[usize::try_from(index % arms).unwrap()]);
        if task >= TASKS {
            return Ok(());
        }
        let key = EpisodeKey { task: task_id(task), arm: arm.into() };
        if !shared.recovered.episodes.contains(&key.task, &key.arm) {
            run_episode(&shared, key).await?;
        }
    }
}

async fn run_episode(shared: &Shared, key: EpisodeKey) -> Result<(), JournalError> {
    for turn in 1..=TURNS {
        let draw = DrawId { task: key.task.clone(), arm: Arc::clone(&key.arm), turn };
        if shared.recovered.reply(&draw)?.is_some() {
            continue;
        }
        let tries = shared.recovered.draws.get(&draw).map_or(0, |state| state.tries.len());
        for attempt in u32::try_from(tries).unwrap() + 1.. {
            if ask(shared, &draw, attempt).await? {
                break;
            }
        }
    }
    let episode: EpisodeRecord = serde_json::from_value(json!({
        "task": key.task, "arm": key.arm, "turns": TURNS, "calls": [], "meta_calls": 0, "rejected_calls": 0,
        "end": "talked", "surface": Digest::of(b""), "billed": 0,
        "usage": {"input": 0, "cache_write": 0, "cache_read": 0, "output": 0},
    }))?;
    shared.journal.episode(&episode)
}

/// One attempt; says whether it was answered. One in seven is billed and never answered.
async fn ask(shared: &Shared, draw: &DrawId, attempt: u32) -> Result<bool, JournalError> {
    let digest = Digest::of(b"");
    let asked = Asked { draw: draw.clone(), attempt, reserve: RESERVE, request: digest.clone(), surface: digest };
    let n = shared.journal.admit(asked).await?;
    // One write each, so that no kill can tear a line.
    (&shared.acknowledged).write_all(format!("{n}\n").as_bytes()).unwrap();
    let billed = 1 + stream_id(&format!("cost {n}")) % RESERVE;
    (&shared.billed).write_all(format!("{billed}\n").as_bytes()).unwrap();
    tokio::task::yield_now().await;
    let nothing = Settled {
        n,
        status: None,
        request_id: None,
        model: None,
        usage: None,
        billed: 0,
        ms: None,
        error: Some("connection reset".to_owned()),
        response: None,
    };
    if stream_id(&format!("fate {n}")).is_multiple_of(7) {
        shared.journal.close(nothing, Booking::Kept)?;
        return Ok(false);
    }
    let response = RawValue::from_string(json!({"padding": "x".repeat(500)}).to_string())?;
    let usage = Some(Usage { input: billed, ..Usage::default() });
    let reply = Settled { status: Some(200), usage, error: None, response: Some(response), ..nothing };
    shared.journal.close(reply, Booking::Settled(billed))?;
    Ok(true)
}
