//! Compressors that misbehave: each ends in bounded time and memory, as a finding by name.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::{
    fs,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use bench_harness::{
    arms::{Arm as _, ArmSession, CallOutcome, Scope, SessionFault, ToolCall},
    external::{Entry, ExternalArm, Limits, Upstream},
};
use bench_results::record::End;
use bench_tasks::catalog::Catalogs;
use serde_json::{Value, json};

/// What a test waits for that comes in the background.
const PATIENCE: Duration = Duration::from_secs(60);
/// Memory that no habit may make this program take, in kB.
const MEMORY_KB: u64 = 400_000;

/// The git catalog behind a compressor of this habit.
fn arm(mode: &str, change: impl FnOnce(&mut Entry, &mut Limits)) -> ExternalArm {
    let bench = Path::new(env!("CARGO_BIN_EXE_bench"));
    let hostile = bench.parent().unwrap().join("examples/hostile");
    let mut entry = Entry::proxy(&format!("{} {mode} -- {{upstream}}", hostile.display()), Path::new("/")).unwrap();
    let mut limits = limits(mode);
    change(&mut entry, &mut limits);
    let git = Catalogs::vendored().unwrap().catalogs.into_iter().filter(|catalog| &*catalog.server == "git");
    let catalogs = Arc::new(Catalogs { catalogs: git.collect() });
    let upstream = Arc::new(Upstream { program: bench.to_owned(), catalogs: None });
    ExternalArm::start(entry, &catalogs, &upstream, &limits).unwrap()
}

/// Who never answers makes a test wait for a bound, which is short then; the others may be slow on a busy machine.
fn limits(mode: &str) -> Limits {
    let [short, long] = [2, 20].map(Duration::from_secs);
    let standard = Limits { start: long, call: long, pages: 20, ..Limits::default() };
    match mode {
        "silent" => Limits { start: short, end: short, ..standard },
        "silent-call" => Limits { call: short, end: short, ..standard },
        "ignores-close" => Limits { end: short, ..standard },
        _ => standard,
    }
}

/// How long a habit may hold up one call of a session: a process is waited for twice as long as it may take to start, and
/// its answer as long as it may take to call. How it is ended holds nobody up.
fn bound(limits: &Limits) -> Duration {
    2 * limits.start + limits.call
}

fn call(session: &mut dyn ArmSession, name: &str, arguments: Value) -> CallOutcome {
    let Value::Object(arguments) = arguments else { return CallOutcome::Rejected { reply: String::new() } };
    session.call(&ToolCall { name: name.to_owned(), arguments })
}

/// The words of a fault that is the arm's.
fn arms_own(fault: &SessionFault) -> String {
    let SessionFault::Arm(why) = fault else { panic!("{fault:?}") };
    why.clone()
}

/// One call of `git_log` under this name; what came of it, the session's fault, and the findings.
fn habit(mode: &str, name: &str) -> (CallOutcome, Option<String>, Vec<String>) {
    let begun = Instant::now();
    let arm = arm(mode, |_, _| {});
    let mut session = arm.open(Scope::Catalogs).unwrap();
    let outcome = call(session.as_mut(), name, json!({ "repo_path": "/srv/app", "max_count": 3 }));
    let fault = session.fault().map(arms_own);
    drop(session);
    let findings = arm.findings().keys().map(|kind| (*kind).to_owned()).collect();
    let (took, bound) = (begun.elapsed(), bound(&limits(mode)));
    assert!(took < bound, "{mode}: {took:?} of {bound:?}");
    let peak = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = peak.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse().ok());
    assert!(peak.is_none_or(|peak: u64| peak < MEMORY_KB), "{mode}: {peak:?} kB");
    (outcome, fault, findings)
}

/// A habit that ends the episode as the arm's fault, under this name.
#[track_caller]
fn faults(mode: &str, kind: &str) -> String {
    let (outcome, fault, findings) = habit(mode, "git__git_log");
    assert!(matches!(outcome, CallOutcome::Rejected { .. }), "{mode}: {outcome:?}");
    assert!(findings.iter().any(|found| found == kind), "{mode}: {findings:?}, {fault:?}");
    fault.unwrap()
}

/// A habit that is noted, and the call that reached the server.
#[track_caller]
fn reaches(mode: &str, name: &str, kinds: &[&str]) -> (String, Value) {
    let (outcome, fault, findings) = habit(mode, name);
    assert_eq!((fault, findings), (None, kinds.iter().map(|kind| (*kind).to_owned()).collect()), "{mode}");
    let CallOutcome::Upstream { tool, arguments, .. } = outcome else { panic!("{mode}: {outcome:?}") };
    (tool.to_string(), Value::Object(arguments))
}

#[test]
fn who_never_answers_is_given_up_in_time() {
    let fault = faults("silent", "no-answer");
    assert!(fault.contains("no answer to initialize within 2 s"), "{fault}");
    let fault = faults("silent-call", "no-answer");
    assert!(fault.contains("no answer to tools/call within 2 s"), "{fault}");
    faults("chatter", "chatter");
}

#[test]
fn who_crashes_is_told_from_who_hangs() {
    for (mode, method) in [("crash-start", "initialize"), ("crash-list", "tools/list"), ("crash-call", "tools/call")] {
        let fault = faults(mode, "ended");
        assert!(fault.contains("exit status: 3") && fault.contains(method), "{mode}: {fault}");
    }
}

#[test]
fn garbage_is_named_with_what_is_wrong_about_it() {
    assert!(faults("not-json", "not-json").contains("Listing tools now!"));
    faults("not-utf8", "not-utf8");
    assert!(faults("illegal", "illegal-tool").contains("git_status"));
}

#[test]
fn lists_without_end_or_measure_are_cut_off() {
    faults("endless-pages", "endless-pages");
    assert!(faults("many-tools", "too-many-tools").contains("more than 10000 tools"));
    faults("huge", "message-too-large");
    faults("restless", "restless");
}

#[test]
fn one_call_that_becomes_two_is_the_arms_fault() {
    assert!(faults("twice", "forwarded-several").contains("one call of git_log reached the server 2 times"));
}

#[test]
fn what_is_changed_on_the_way_is_scored_as_it_arrived_and_noted() {
    let given = json!({ "repo_path": "/srv/app", "max_count": 3 });
    assert_eq!(reaches("honest", "git__git_log", &[]), ("git_log".to_owned(), given.clone()));
    assert_eq!(reaches("stderr-flood", "git__git_log", &[]).0, "git_log");
    assert_eq!(reaches("renames", "git__new_git_log", &[]), ("git_log".to_owned(), given.clone()));
    assert_eq!(reaches("swaps", "git__git_log", &["other-tool"]), ("git_status".to_owned(), given));
    assert_eq!(reaches("rewrites", "git__git_log", &["other-arguments"]).1["repo_path"], "/elsewhere");
    assert_eq!(reaches("drops", "git__git_log", &["dropped-tools"]).0, "git_log");
    assert_eq!(reaches("injects", "git__git_log", &["instructs"]).0, "git_log");
}

#[test]
fn who_answers_for_the_server_is_found_out() {
    let (outcome, fault, findings) = habit("answers-itself", "git__git_log");
    assert_eq!((fault, findings), (None, vec!["answered-itself".to_owned()]));
    assert_eq!(outcome, CallOutcome::Meta { reply: "done".to_owned(), is_error: false, surface_changed: false });
}

#[test]
fn what_outlives_its_process_is_ended_and_noted() {
    for (mode, kind) in [("outlives", "left-children"), ("ignores-close", "ignored-close")] {
        let arm = arm(mode, |_, _| {});
        let mut session = arm.open(Scope::Catalogs).unwrap();
        let outcome = call(session.as_mut(), "git__git_log", json!({ "repo_path": "/a" }));
        assert!(matches!(outcome, CallOutcome::Upstream { .. }), "{outcome:?}");
        drop(session);
        let until = Instant::now() + PATIENCE;
        while !arm.findings().contains_key(kind) {
            assert!(Instant::now() < until, "{mode}: {:?}", arm.findings());
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn an_arm_that_fails_again_and_again_is_not_tried_for_ever() {
    let arm = arm("crash-call", |_, limits| limits.faults = 2);
    let fault = |n: u32| {
        let mut session = arm.open(Scope::Catalogs).unwrap();
        let before = session.fault().map(arms_own);
        call(session.as_mut(), "git__git_log", json!({ "n": n }));
        before
    };
    assert_eq!((fault(1), fault(2)), (None, None));
    assert!(fault(3).unwrap().starts_with("given up after 2 faults in a row; the last: it ended (exit status: 3)"));
    assert_eq!(arm.findings()["ended"].times, 2);
}

#[test]
fn what_the_harness_cannot_do_is_not_held_against_the_arm() {
    let arm = arm("honest", |_, limits| limits.faults = 1);
    arm.close();
    for _ in 0..2 {
        let mut session = arm.open(Scope::Catalogs).unwrap();
        assert_eq!(session.fault(), None, "an arm that did nothing wrong is not given up");
        call(session.as_mut(), "git__git_log", json!({ "repo_path": "/a" }));
        let fault = session.fault().unwrap();
        assert_eq!(*fault, SessionFault::Harness("the harness failed: the arm was closed".to_owned()));
        assert_eq!(fault.end(), End::Missing);
    }
    assert_eq!((arm.findings()["harness"].times, arm.given_up()), (2, None));
}

#[test]
fn a_warm_process_serves_many_sessions_and_a_called_one_only_its_own() {
    let log = |stateless: bool| {
        let arm = arm("honest", |entry, _| entry.stateless = stateless);
        for n in 0..3 {
            let mut session = arm.open(Scope::Catalogs).unwrap();
            let outcome = call(session.as_mut(), "git__git_log", json!({ "repo_path": "/a", "max_count": n }));
            assert!(matches!(outcome, CallOutcome::Upstream { .. }), "{outcome:?}");
        }
        arm.timing().start.n
    };
    assert_eq!((log(true), log(false)), (1, 4));
}
