//! Strings that are written differently and mean the same.

/// The same path: `.` components, doubled and trailing slashes do not matter. `..`, `~` and case do; nothing is resolved.
pub fn path_equal(a: &str, b: &str) -> bool {
    fn parts(path: &str) -> (bool, bool, Vec<&str>) {
        (
            path.is_empty(),
            path.starts_with('/'),
            path.split('/').filter(|part| !part.is_empty() && *part != ".").collect(),
        )
    }
    parts(a) == parts(b)
}

/// The same glob pattern: leading `./`, doubled slashes and repeated `**/` do not matter. A trailing slash does: it
/// restricts the pattern to folders.
pub fn glob_equal(a: &str, b: &str) -> bool {
    fn parts(pattern: &str) -> (bool, bool, Vec<&str>) {
        let mut rest = pattern;
        while let Some(tail) = rest.strip_prefix("./") {
            rest = tail.trim_start_matches('/');
        }
        let mut parts: Vec<&str> = rest.split('/').filter(|part| !part.is_empty()).collect();
        parts.dedup_by(|later, earlier| later == earlier && *later == "**");
        (rest.starts_with('/'), rest.ends_with('/'), parts)
    }
    parts(a) == parts(b)
}

/// The same text but for line ends (`\r\n`, `\r`, `\n`) and blanks at the ends.
pub fn text_equal(a: &str, b: &str) -> bool {
    fn lines(text: &str) -> impl Iterator<Item = char> + '_ {
        let text = text.trim();
        let mut previous = '\0';
        text.chars().filter_map(move |c| {
            let after_return = previous == '\r';
            previous = c;
            match c {
                '\n' if after_return => None,
                '\r' => Some('\n'),
                other => Some(other),
            }
        })
    }
    lines(a).eq(lines(b))
}

/// The same search query: terms and qualifiers in any order, any number of blanks between them. A quoted phrase is one
/// term. Where `AND`, `OR`, `NOT` or parentheses make order meaningful, the order must be the same.
pub fn query_equal(a: &str, b: &str) -> bool {
    let (mut a, mut b) = (terms(a), terms(b));
    if !a.iter().chain(&b).any(|term| is_operator(term)) {
        a.sort_unstable();
        b.sort_unstable();
    }
    a == b
}

fn is_operator(term: &str) -> bool {
    matches!(term, "AND" | "OR" | "NOT") || (!term.contains('"') && (term.starts_with('(') || term.ends_with(')')))
}

/// Splits at blanks outside double quotes.
fn terms(query: &str) -> Vec<&str> {
    let mut quoted = false;
    query
        .split(move |c: char| {
            quoted ^= c == '"';
            c.is_whitespace() && !quoted
        })
        .filter(|term| !term.is_empty())
        .collect()
}

/// The same text but for case, by Unicode's lower-case mapping.
pub fn nocase_equal(a: &str, b: &str) -> bool {
    a.chars().flat_map(char::to_lowercase).eq(b.chars().flat_map(char::to_lowercase))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(equal: fn(&str, &str) -> bool, accepted: &[(&str, &str)], rejected: &[(&str, &str)]) {
        for (a, b) in accepted {
            assert!(equal(a, b) && equal(b, a), "{a:?} should equal {b:?}");
        }
        for (a, b) in rejected {
            assert!(!equal(a, b) && !equal(b, a), "{a:?} should differ from {b:?}");
        }
    }

    #[test]
    fn path_table() {
        table(
            path_equal,
            &[
                ("/srv/app", "/srv/app/"),
                ("/srv/app", "//srv///app"),
                ("src/lib.rs", "./src/lib.rs"),
                ("/srv/./app", "/srv/app"),
                ("/", "//"),
                (".", "./"),
                ("a/../b", "a//../b"),
                ("", ""),
                ("/data/Übung 1", "/data/Übung 1/"),
                ("-rf", "./-rf"),
            ],
            &[
                ("/srv/app", "srv/app"),
                ("/srv/app", "/srv/App"),
                ("a/../b", "b"),
                ("~/x", "/home/me/x"),
                ("/srv/app", "/srv/app/x"),
                (".", ""),
                ("/", ""),
                ("a", ".a"),
                ("a\\b", "a/b"),
                ("file:///srv", "/srv"),
                ("/srv/app ", "/srv/app"),
            ],
        );
    }

    #[test]
    fn glob_table() {
        table(
            glob_equal,
            &[
                ("*.rs", "./*.rs"),
                ("**/*.py", "**/**/*.py"),
                ("a//b", "a/b"),
                ("././**/x", "**/x"),
                (".//x", "x"),
                ("**", "**/**"),
            ],
            &[
                ("*.py", "**/*.py"),
                ("node_modules", "node_modules/"),
                ("node_modules", "node_modules/**"),
                ("/x", "x"),
                ("*/*/a", "*/a"),
                ("*.{ts,tsx}", "*.{tsx,ts}"),
                ("*.RS", "*.rs"),
                ("**", "*"),
            ],
        );
    }

    #[test]
    fn text_table() {
        table(
            text_equal,
            &[("a\r\nb", "a\nb"), ("a\rb", "a\nb"), ("  a\n", "a"), ("", " \n"), ("a\r\n\r\nb", "a\n\nb")],
            &[("a b", "a  b"), ("a\nb", "a b"), ("a\n\nb", "a\nb"), ("A", "a"), ("a\r\rb", "a\nb")],
        );
    }

    #[test]
    fn query_table() {
        table(
            query_equal,
            &[
                ("repo:a/b is:open crash", "crash  is:open repo:a/b"),
                (" x ", "x"),
                ("\"out of memory\" lang:c", "lang:c \"out of memory\""),
                ("label:\"help wanted\" x", "x label:\"help wanted\""),
                ("a OR b", "a  OR b"),
            ],
            &[
                ("a b", "a"),
                ("a b", "a b b"),
                ("\"a b\"", "a b"),
                ("is:open", "is:Open"),
                ("a OR b", "b OR a"),
                ("a NOT b", "b NOT a"),
                ("(a b) c", "c (a b)"),
                ("\"a b\"", "\"b a\""),
                ("\"a  b\"", "\"a b\""),
            ],
        );
    }

    #[test]
    fn nocase_table() {
        table(nocase_equal, &[("UTC", "utc"), ("ÉCOLE", "école")], &[("a", "b"), ("a", "a ")]);
    }
}
