//! That what comes out is what one reader of the logs, line by line, would say, and does not depend on threads.

use std::{fs, path::Path, sync::atomic::AtomicBool};

use bench_mock_model::Behaviour;
use bench_results::record::{ATTEMPTS, EPISODES, FormatVersion, Manifest, ModelIds, RunKind};
use serde_json::{Value, json};

use super::*;
use crate::{
    arms::{Arm, ArmError, ArmInfo, ArmSession, CallOutcome, Scope, SessionFault, ToolCall},
    build,
    conclude::Facts,
    inputs::Overrides,
    run::{mock::Mock, offline, prepare::RunSpec, recorder::Recorder},
    surface::Surface,
    wire::Settings,
};

/// A small offline run and its record.
struct Ran {
    folder: tempfile::TempDir,
    inputs: Inputs,
    prepared: Prepared,
    manifest: Manifest,
    attempts: Vec<Value>,
    episodes: Vec<Value>,
}

/// What a replay came to.
#[derive(Debug, PartialEq, Eq)]
struct Came {
    schedule: Result<String, String>,
    surfaces: Result<String, String>,
    episodes: Result<String, String>,
    books: Result<String, String>,
    attempts: u64,
    models: BTreeSet<String>,
    certificate: Option<Vec<u8>>,
}

fn threads(threads: usize) -> NonZeroUsize {
    NonZeroUsize::new(threads).unwrap()
}

fn lines(path: &Path) -> Vec<Value> {
    fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

impl Ran {
    fn new() -> Self {
        Self::with(|prepared| prepared)
    }

    /// Of families that something was done to.
    fn with(change: impl FnOnce(Prepared) -> Prepared) -> Self {
        let inputs = Inputs::load(&Overrides::default()).unwrap();
        let arms = ["L3", "R"].map(str::to_owned);
        let spec = RunSpec::of(&inputs, "offline", &arms, Some(40)).unwrap();
        let prepared = change(Prepared::new(&inputs, &spec).unwrap());
        let manifest = Manifest {
            schema: FormatVersion,
            id: "p0".to_owned(),
            kind: RunKind::Plumbing,
            confirmatory: false,
            lock: None,
            model: ModelIds {
                provider: "mock".to_owned(),
                asked: "noisy".to_owned(),
                returned: Vec::new(),
                host: None,
            },
            arms: spec.arms.clone(),
            suites: spec.suites.clone(),
            prices: None,
            budget: None,
            build: build::info(),
            started: None,
            finished: None,
            complete: true,
            deviations: Vec::new(),
        };
        let folder = tempfile::tempdir().unwrap();
        let mut recorder = Recorder::create(folder.path()).unwrap();
        recorder.writer().manifest(&manifest).unwrap();
        let settings = Settings::of(&inputs.protocol);
        let setting = offline::Setting::scripted(&inputs, &settings);
        let model = Mock::new(Behaviour::Noisy, &inputs.protocol.mock, &prepared);
        for family in &prepared.families {
            offline::run(family, setting, &model, threads(2), &AtomicBool::new(false), &mut recorder).unwrap();
        }
        recorder.writer().flush().unwrap();
        let [attempts, episodes] = [ATTEMPTS, EPISODES].map(|name| lines(&folder.path().join(name)));
        assert!(episodes.len() > 3 * BATCH, "{} episodes are too few for several batches", episodes.len());
        Self { folder, inputs, prepared, manifest, attempts, episodes }
    }

    fn write(&self) {
        let text = |lines: &[Value]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
        fs::write(self.folder.path().join(ATTEMPTS), text(&self.attempts)).unwrap();
        fs::write(self.folder.path().join(EPISODES), text(&self.episodes)).unwrap();
    }

    /// Replays the logs as they are now.
    fn replayed_on(&self, on: usize) -> Came {
        self.write();
        let reader = Record::open(self.folder.path()).unwrap();
        let mut judge = Judge::new(&self.inputs, &self.prepared).unwrap();
        let Replayed { schedule, surfaces, episodes, books, attempts, models, .. } =
            replay_on(threads(on), &reader, &self.inputs, &self.prepared, &mut judge);
        let facts = Facts { attempts, ..Facts::default() };
        let certificate = judge.conclude(&self.manifest, &facts).ok().map(|it| it.certificate.bytes().unwrap());
        Came { schedule, surfaces, episodes, books, attempts, models, certificate }
    }
}

/// The attempts of an episode, as places of their openings in the log.
fn places(ran: &Ran, episode: usize) -> Vec<usize> {
    let line = &ran.episodes[episode];
    let is_of = |opened: &Value| opened["draw"]["task"] == line["task"] && opened["draw"]["arm"] == line["arm"];
    (0..ran.attempts.len()).step_by(2).filter(|&place| is_of(&ran.attempts[place])).collect()
}

/// The first episode from here on that has more turns than one.
fn longer(ran: &Ran, from: usize) -> usize {
    (from..ran.episodes.len()).find(|&episode| ran.episodes[episode]["turns"].as_u64() > Some(1)).unwrap()
}

fn name(line: &Value) -> String {
    let text = |key: &str| line[key].as_str().unwrap().to_owned();
    format!("task {} under {}", text("task"), text("arm"))
}

/// Numbers all attempts anew, so that only what was done to them differs.
fn numbered(ran: &mut Ran) {
    for (place, line) in ran.attempts.iter_mut().enumerate() {
        line["n"] = json!(place / 2);
    }
}

/// Puts an attempt for a turn more behind the last of an episode.
fn one_turn_more(ran: &mut Ran, episode: usize) -> usize {
    let last = *places(ran, episode).last().unwrap();
    let mut more = ran.attempts[last..last + 2].to_vec();
    more[0]["draw"]["turn"] = json!(more[0]["draw"]["turn"].as_u64().unwrap() + 1);
    ran.attempts.splice(last + 2..last + 2, more);
    numbered(ran);
    last + 2
}

/// Replays on several numbers of threads, which must come to the same.
#[track_caller]
fn came(ran: &Ran) -> Came {
    let came = ran.replayed_on(1);
    for on in [2, 7] {
        assert_eq!(ran.replayed_on(on), came, "on {on} threads");
    }
    came
}

#[test]
fn a_sound_record_comes_to_the_same_on_any_number_of_threads() {
    let ran = Ran::new();
    let came = came(&ran);
    let (episodes, attempts) = (ran.episodes.len(), ran.attempts.len() / 2);
    assert_eq!(came.schedule, Ok(format!("{episodes} episodes, each in its place")));
    assert_eq!(came.episodes, Ok(format!("{episodes} episodes re-run from their responses and re-scored")));
    assert_eq!(came.books, Ok(format!("{attempts} attempts numbered without a gap, 0 pico-dollars")));
    assert!(came.surfaces.unwrap().starts_with(&format!("{attempts} requests rebuilt, ")));
    assert_eq!(came.attempts, attempts as u64);
    assert!(came.certificate.is_some());
}

#[test]
fn of_many_differences_the_first_three_are_told_in_the_order_of_the_log_and_all_are_counted() {
    let mut ran = Ran::new();
    let last = ran.attempts.len() - 2;
    let spoilt = [6, 90, 92, 180, last];
    for place in spoilt {
        ran.attempts[place]["n"] = json!(7_000 + place);
        ran.attempts[place + 1]["billed"] = json!(5);
    }
    ran.attempts[90]["surface"] = json!(format!("sha256:{}", "0".repeat(64)));
    let came = came(&ran);
    let told = |place: usize| {
        let n = 7_000 + place;
        format!("attempt {n} stands in the place of {}; attempt {n} is billed above its reservation", place / 2)
    };
    assert_eq!(came.books, Err(format!("10 differences; {}; attempt 7090 stands in the place of 45", told(6))));
    let surfaces = came.surfaces.unwrap_err();
    let mut parts = surfaces.split("; ");
    assert_eq!(parts.next(), Some("2 differences"));
    assert!(parts.next().unwrap().starts_with("attempt 7090: "), "{surfaces}");
    assert!(parts.next().unwrap().contains(&"0".repeat(64)), "the file that is not there comes after: {surfaces}");
    assert!(came.schedule.is_ok(), "{:?}", came.schedule);
}

#[test]
fn an_attempt_too_many_is_found_where_the_next_one_is_due() {
    let mut ran = Ran::new();
    let episode = longer(&ran, BATCH);
    let place = one_turn_more(&mut ran, episode);
    let came = came(&ran);
    let (n, line, next) = (place / 2, &ran.episodes[episode], &ran.episodes[episode + 1]);
    let turn = line["turns"].as_u64().unwrap() + 1;
    let why = format!("attempt {n}: expected {}, turn 1; found {}, turn {turn}", name(next), name(line));
    assert_eq!(came.schedule, Err(why));
    assert_eq!(came.attempts, n as u64 + 1, "it was taken from the log, and nothing behind it");
    assert_eq!(came.episodes, Ok(format!("{} episodes re-run from their responses and re-scored", episode + 1)));
}

#[test]
fn an_attempt_too_many_at_the_end_is_left_over() {
    let mut ran = Ran::new();
    let episode = ran.episodes.len() - 1;
    one_turn_more(&mut ran, episode);
    let left = Err("attempts are left over after the last episode".to_owned());
    assert_eq!(came(&ran).schedule, left);
    // Of none that is planned, it is not even handed over.
    let last = ran.attempts.len() - 2;
    ran.attempts[last]["draw"]["task"] = json!("t0");
    assert_eq!(came(&ran).schedule, left);
    // Half an attempt is one.
    ran.attempts.pop();
    assert_eq!(came(&ran).schedule, left);
    ran.attempts.pop();
    ran.episodes.push(ran.episodes[0].clone());
    assert_eq!(came(&ran).schedule, Err("episodes are left over after the last one planned".to_owned()));
}

#[test]
fn an_attempt_that_is_missing_is_told_by_what_stands_in_its_place() {
    let sound = Ran::new();
    let episode = longer(&sound, BATCH);
    let second = places(&sound, episode)[1];
    let mut ran = sound;
    let whole = ran.attempts.clone();
    ran.attempts.drain(second..second + 2);
    numbered(&mut ran);
    let next = &ran.attempts[second]["draw"];
    let why = format!(
        "attempt {}: expected {}, turn 2; found {}, turn {}",
        second / 2,
        name(&ran.episodes[episode]),
        name(next),
        next["turn"]
    );
    assert_eq!(came(&ran).schedule, Err(why));
    let missing = Err(format!("an attempt of {} is missing", name(&ran.episodes[episode])));
    for kept in [second, second + 1] {
        ran.attempts = whole[..kept].to_vec();
        assert_eq!(came(&ran).schedule, missing, "the log ends behind {kept} lines");
    }
    ran.attempts = whole.clone();
    ran.attempts.swap(second, second + 1);
    assert_eq!(came(&ran).schedule, missing, "no opening and its outcome");
    ran.attempts = whole;
    ran.attempts[second + 1] = json!({"n": 1});
    let came = came(&ran);
    let why = came.schedule.unwrap_err();
    assert!(why.contains(&format!("{ATTEMPTS}, line {}: missing field", second + 2)), "{why}");
    assert_eq!(came.attempts, second as u64 / 2);
}

/// An arm whose sessions fail before the first turn.
struct Faulted(Arc<dyn Arm>);

struct Fault(Box<dyn ArmSession>, SessionFault);

impl Arm for Faulted {
    fn info(&self) -> &ArmInfo {
        self.0.info()
    }

    fn open(&self, scope: Scope<'_>) -> Result<Box<dyn ArmSession>, ArmError> {
        Ok(Box::new(Fault(self.0.open(scope)?, SessionFault::Arm("it did not come up".to_owned()))))
    }
}

impl ArmSession for Fault {
    fn surface(&self) -> &Arc<Surface> {
        self.0.surface()
    }

    fn informs(&self, name: &str) -> bool {
        self.0.informs(name)
    }

    fn call(&mut self, call: &ToolCall) -> CallOutcome {
        self.0.call(call)
    }

    fn fault(&self) -> Option<&SessionFault> {
        Some(&self.1)
    }
}

/// The same run, were its reference arm never to come up.
fn faulted(mut prepared: Prepared) -> Prepared {
    let arm = &mut prepared.families[0].arms[0];
    *arm = Arc::new(Faulted(Arc::clone(arm)));
    prepared
}

#[test]
fn an_episode_that_asks_for_nothing_takes_nothing_from_the_log() {
    let ran = Ran::with(faulted);
    let silent = ran.episodes.iter().filter(|line| line["turns"] == 0).count();
    assert!(silent >= 40, "{silent}");
    let came = came(&ran);
    assert_eq!(came.schedule, Ok(format!("{} episodes, each in its place", ran.episodes.len())));
    assert_eq!(came.attempts, ran.attempts.len() as u64 / 2);
}

#[test]
fn attempts_of_an_episode_that_asks_for_nothing_are_found_by_the_next_one_that_asks() {
    let mut ran = Ran::with(faulted);
    // Where several such episodes follow one another, it is of the first.
    let silent = (BATCH..ran.episodes.len()).find(|&episode| ran.episodes[episode]["turns"] == 0).unwrap();
    let asks = (silent..ran.episodes.len()).find(|&episode| ran.episodes[episode]["turns"] != 0).unwrap();
    let place = places(&ran, asks)[0];
    let mut stray = ran.attempts[place..place + 2].to_vec();
    for key in ["task", "arm"] {
        stray[0]["draw"][key] = ran.episodes[silent][key].clone();
    }
    ran.attempts.splice(place..place, stray);
    numbered(&mut ran);
    let n = place / 2;
    let (due, found) = (name(&ran.episodes[asks]), name(&ran.episodes[silent]));
    let came = came(&ran);
    assert_eq!(came.schedule, Err(format!("attempt {n}: expected {due}, turn 1; found {found}, turn 1")));
    assert_eq!(came.episodes, Ok(format!("{asks} episodes re-run from their responses and re-scored")));
}

#[test]
fn no_more_is_handed_over_of_an_episode_than_it_can_have_and_of_large_ones_one_at_a_time() {
    let mut ran = Ran::new();
    let attempt = ran.attempts[..2].to_vec();
    let turns = (1..=50).flat_map(|turn| {
        let mut attempt = attempt.clone();
        attempt[0]["draw"]["turn"] = json!(turn);
        attempt[1]["response"] = json!("x".repeat(BATCH_BYTES / 5));
        attempt
    });
    ran.attempts.splice(..2, turns);
    ran.write();
    let reader = Record::open(ran.folder.path()).unwrap();
    let mut reading = Reading::open(&reader, 8).unwrap();
    let mut schedule = schedule(&ran.prepared.families);
    let first = reading.batch(&mut schedule).unwrap();
    assert_eq!(first.iter().map(|job| job.attempts.len()).collect::<Vec<_>>(), [8]);
    assert!(matches!(&reading.next, Next::Attempt(asked) if asked.opened.draw.turn == 9));
    let second = reading.batch(&mut schedule).unwrap();
    assert_eq!(second.len(), BATCH, "what stays in the log is in nobody's way");
    assert!(second.iter().all(|job| job.attempts.is_empty()));
}
