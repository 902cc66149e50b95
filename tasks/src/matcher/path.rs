//! Argument paths: `files`, `edits[].oldText`, `entities[].observations[]`.

/// One step into a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// A member of an object.
    Key(String),
    /// The elements of an array.
    Items,
}

/// Where in the arguments: keys joined by `.`, `[]` for the elements of an array. A dot or bracket inside a key is
/// written with a backslash before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArgumentPath {
    /// The steps from the arguments object down.
    pub steps: Vec<Step>,
}

impl ArgumentPath {
    /// Parses a path.
    ///
    /// # Errors
    /// Quotes the path and says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let fail = |what: &str| format!("argument path {text:?} {what}; write it like edits[].oldText");
        let mut steps = Vec::new();
        let mut key = String::new();
        // Whether a key may start here: at the start and after a dot, not after `[]`.
        let mut expect_key = true;
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            match c {
                '\\' if expect_key => key.push(chars.next().ok_or_else(|| fail("ends in a backslash"))?),
                '.' | '[' => {
                    if expect_key {
                        if key.is_empty() {
                            return Err(fail("has an empty key"));
                        }
                        steps.push(Step::Key(std::mem::take(&mut key)));
                    }
                    expect_key = c == '.';
                    if c == '[' {
                        if chars.next() != Some(']') {
                            return Err(fail("has a [ without ]"));
                        }
                        steps.push(Step::Items);
                    }
                }
                _ if expect_key => key.push(c),
                _ => return Err(fail("goes on after [] without a dot")),
            }
        }
        if expect_key {
            if key.is_empty() {
                return Err(fail("has an empty key"));
            }
            steps.push(Step::Key(key));
        }
        Ok(Self { steps })
    }

    /// The argument that the path starts in.
    pub fn argument(&self) -> &str {
        match self.steps.first() {
            Some(Step::Key(key)) => key,
            _ => "",
        }
    }

    /// All values of `arguments` that the path leads to.
    pub fn select<'a>(&self, arguments: &'a serde_json::Value) -> Vec<&'a serde_json::Value> {
        self.steps.iter().fold(vec![arguments], |at, step| match step {
            Step::Key(key) => at.into_iter().filter_map(|value| value.get(key)).collect(),
            Step::Items => at.into_iter().filter_map(|value| value.as_array()).flatten().collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_parse_into_steps() {
        let key = |text: &str| Step::Key(text.into());
        let cases = [
            ("files", vec![key("files")]),
            ("files[]", vec![key("files"), Step::Items]),
            ("edits[].oldText", vec![key("edits"), Step::Items, key("oldText")]),
            ("a.b[][].c", vec![key("a"), key("b"), Step::Items, Step::Items, key("c")]),
            (r"a\.b.c", vec![key("a.b"), key("c")]),
            ("$and", vec![key("$and")]),
        ];
        for (text, steps) in cases {
            assert_eq!(ArgumentPath::parse(text).unwrap().steps, steps, "{text}");
        }
    }

    #[test]
    fn malformed_paths_are_refused() {
        for text in ["", ".", "a.", "a..b", "[]", "a[", "a[0]", "a[]b", "a\\"] {
            assert!(ArgumentPath::parse(text).is_err(), "{text}");
        }
    }
}
