//! What R never touches, and which lines of a text it takes for load-bearing.

use bench_tasks::catalog::ToolDef;

use super::summary::contains_word;

/// Words of a tool's name that say that its result is content to be quoted back exactly.
const CONTENT_NAMES: [&str; 11] =
    ["read", "view", "open", "cat", "show", "content", "contents", "head", "tail", "source", "blob"];
/// Words of a read-only tool's description that say that it returns file or source content.
const CONTENT_WORDS: [&str; 9] =
    ["file", "files", "content", "contents", "source code", "document", "documents", "blob", "raw text"];
/// Parts of a line that tell of an error or a failure.
const TROUBLE: [&str; 7] = ["error", "exception", "traceback", "fail", "warn", "panic", "fatal"];
/// What a count is followed by in the summary of a run.
const OUTCOMES: [&str; 9] =
    ["passed", "passing", "failed", "failing", "skipped", "pending", "errored", "error", "errors"];
/// How a line of a summary starts.
const SUMMARY_STARTS: [&str; 9] =
    ["ok", "pass", "fail", "test result:", "--- pass:", "--- fail:", "--- skip:", "summary:", "total:"];
/// Parts of a line that give the outcome of a build or command.
const VERDICTS: [&str; 5] = ["build success", "build fail", "exit code", "exit status", "decision:"];

/// True for tools whose results R passes on: they declare an output schema, are named like tools that return content,
/// or are read-only and described as returning file or source content.
pub(super) fn is_exempt(tool: &ToolDef) -> bool {
    let read_only = tool
        .annotations
        .as_ref()
        .is_some_and(|annotations| annotations.get("readOnlyHint").and_then(serde_json::Value::as_bool) == Some(true));
    let describes_content = || {
        let description = tool.description.as_deref().unwrap_or_default().to_lowercase();
        CONTENT_WORDS.iter().any(|word| contains_word(&description, word))
    };
    tool.output_schema.is_some()
        || name_words(&tool.name).iter().any(|word| CONTENT_NAMES.contains(&word.as_str()))
        || (read_only && describes_content())
}

/// The words of a name in snake, kebab or camel case, in lower case.
fn name_words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut after_lower = false;
    for c in name.chars() {
        let starts = !c.is_alphanumeric() || (c.is_uppercase() && after_lower);
        if starts {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
        after_lower = c.is_lowercase() || c.is_numeric();
    }
    words
}

/// True for a line that reports an error, a failure, a decision or a summary.
pub(super) fn is_load_bearing(line: &str) -> bool {
    let line = line.trim().to_lowercase();
    TROUBLE.iter().chain(&VERDICTS).any(|part| line.contains(part))
        || SUMMARY_STARTS.iter().any(|start| line.starts_with(start) && ends_word(&line[start.len()..], start))
        || counts_outcomes(&line)
}

fn ends_word(rest: &str, start: &str) -> bool {
    start.ends_with(':') || !rest.chars().next().is_some_and(|c| c.is_alphanumeric() || c == '_')
}

/// True where a number stands right before an outcome: `3 failed`.
fn counts_outcomes(line: &str) -> bool {
    let words: Vec<&str> = line.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    words.windows(2).any(|pair| pair[0].bytes().all(|byte| byte.is_ascii_digit()) && OUTCOMES.contains(&pair[1]))
}

/// What lines that differ only in numbers have in common: digits and hexadecimal literals become `#`, blanks one blank.
pub(super) fn shape(line: &str) -> String {
    let mut shape = String::with_capacity(line.len());
    for word in line.split_whitespace() {
        if !shape.is_empty() {
            shape.push(' ');
        }
        let mut rest = word;
        while let Some(first) = rest.chars().next() {
            let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
            let hex = rest.strip_prefix("0x").map_or(0, |tail| tail.bytes().take_while(u8::is_ascii_hexdigit).count());
            let number = if hex > 0 { hex + 2 } else { digits(rest) };
            if number > 0 {
                shape.push('#');
                rest = &rest[number..];
            } else {
                shape.extend(first.to_lowercase());
                rest = &rest[first.len_utf8()..];
            }
        }
    }
    shape
}

#[cfg(test)]
mod tests {
    use bench_tasks::catalog::Catalogs;

    use super::*;

    #[test]
    fn of_the_reference_servers_these_results_are_digested() {
        let catalogs = Catalogs::vendored().unwrap();
        let digested: Vec<String> = catalogs
            .tools()
            .filter(|(_, tool)| !is_exempt(tool))
            .map(|(catalog, tool)| format!("{}/{}", catalog.server, tool.name))
            .collect();
        insta::assert_snapshot!(digested.join("\n"));
    }

    #[test]
    fn a_name_is_read_word_by_word() {
        assert_eq!(name_words("getFileContents_v2"), ["get", "file", "contents", "v2"]);
        assert!(name_words("git-show").contains(&"show".to_owned()));
        assert!(!name_words("showcase_category").iter().any(|word| CONTENT_NAMES.contains(&word.as_str())));
    }

    #[test]
    fn errors_failures_decisions_and_summaries_are_load_bearing() {
        for line in [
            "2026-01-01 ERROR disk full",
            "  warning: unused",
            "thread panicked",
            "DECISION: roll back",
            "12 passed, 1 skipped in 3s",
            "test result: ok. 5 passed",
            "ok  \tpkg/a 0.1s",
            "--- SKIP: TestX",
            "BUILD SUCCESSFUL",
            "exit status 3",
            "Total: 17",
        ] {
            assert!(is_load_bearing(line), "{line}");
        }
        for line in ["okay then", "Passing by", "total commits", "3 commits", "Author: Wren", ""] {
            assert!(!is_load_bearing(line), "{line}");
        }
    }

    #[test]
    fn lines_that_differ_in_numbers_have_one_shape() {
        assert_eq!(shape("  Error 12 at  0xFFa1:7"), "error # at #:#");
        assert_eq!(shape("error 3456 at 0x0:99"), "error # at #:#");
        assert_ne!(shape("error a"), shape("error b"));
    }
}
