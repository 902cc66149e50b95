//! Questions about results: answers come from what is seen.

use bench_mock_model::Behaviour::{AlwaysInvokes, NeverFetches, Noisy, Oracle};
use bench_tasks::results_suite::answer::is_right;
use serde_json::{Value, json};

use crate::support::{and_call, ask, draw, expander, git_log, model, request, said, user};

const WHO: &str = "Who wrote it?";
const COUNT: &str = "How many commits?";
const WHOLE: &str = "commit 1\nAuthor: Ada Lovelace\ncommit 2\nAuthor: Grace Hopper\ncommit 3\ncommit 4";
const DIGEST: &str = "commit 1\nAuthor: Ada Lovelace\n[3 lines left out, handle=0a1b2c3d]\ncommit 4";
const TABLE: &str = "[table of 4 rows, 2 columns, handle=0a1b2c3d]\nid|author\n1|Ada Lovelace\n2|Grace Hopper";

fn seen(question: &str, result: &str) -> Value {
    and_call(&user(question), "call_source", "git__git_log", &json!({"repo_path": "/srv/app"}), result, false)
}

fn say(messages: &Value) -> String {
    said(&ask(&model(Oracle), &request(&[git_log(), expander()], messages), &draw("t3", "R")))
}

#[test]
fn a_whole_result_is_read_and_so_is_a_table_of_all_rows() {
    assert_eq!(say(&seen(WHO, WHOLE)), "The result gives it.\nAnswer: Grace Hopper");
    assert!(is_right(&say(&seen(COUNT, WHOLE)), "4"));
    assert!(is_right(&say(&seen(WHO, TABLE)), "Grace Hopper"));
    assert!(is_right(&say(&seen(COUNT, TABLE)), "4"));
}

#[test]
fn a_gap_that_hides_the_answer_is_expanded_once_and_then_read() {
    let expand = r#"git__expand {"handle":"0a1b2c3d"}"#;
    assert_eq!(say(&seen(WHO, DIGEST)), expand);
    // The number stands in the digest, but it is no count of what was left out.
    assert_eq!(say(&seen(COUNT, DIGEST)), expand);
    let input = json!({"handle": "0a1b2c3d"});
    let expanded = and_call(&seen(WHO, DIGEST), "b", "git__expand", &input, WHOLE, false);
    assert!(is_right(&say(&expanded), "Grace Hopper"));
    let refused = and_call(&seen(WHO, DIGEST), "b", "git__expand", &input, "no such handle", true);
    let answer = say(&refused);
    assert!(answer.contains("Answer: ") && !is_right(&answer, "Grace Hopper"), "{answer}");
}

#[test]
fn an_answer_outside_the_gap_needs_no_expansion() {
    let digest = "commit 1\nAuthor: Grace Hopper\n[3 lines left out, handle=0a1b2c3d]\ncommit 4";
    assert!(is_right(&say(&seen(WHO, digest)), "Grace Hopper"));
}

#[test]
fn without_a_way_back_the_answer_is_wrong() {
    for (behaviour, tools) in [
        (Oracle, vec![git_log()]),
        (NeverFetches, vec![git_log(), expander()]),
        (AlwaysInvokes, vec![git_log(), expander()]),
    ] {
        for (question, right) in [(WHO, "Grace Hopper"), (COUNT, "4")] {
            let body = request(&tools, &seen(question, DIGEST));
            let answer = said(&ask(&model(behaviour), &body, &draw("t3", "R-no-expand")));
            assert!(answer.contains("Answer: ") && !is_right(&answer, right), "{behaviour}: {answer}");
        }
    }
}

#[test]
fn noisy_misreads_and_skips_at_its_rates() {
    let model = model(Noisy);
    let draws = 4_000;
    let wrong = |text: &str, right: &str| {
        let body = request(&[git_log(), expander()], &seen(WHO, text));
        (0..draws).filter(|n| !is_right(&said(&ask(&model, &body, &draw(&format!("t{n}"), "R"))), right)).count()
    };
    // Four standard deviations about 1 % of 4,000.
    let misread = wrong(WHOLE, "Grace Hopper");
    assert!((15..=65).contains(&misread), "{misread}");
    let body = request(&[git_log(), expander()], &seen(WHO, DIGEST));
    let skipped =
        (0..draws).filter(|n| said(&ask(&model, &body, &draw(&format!("t{n}"), "R"))).contains("Answer: ")).count();
    // Four standard deviations about 2 % of 4,000.
    assert!((45..=115).contains(&skipped), "{skipped}");
}
