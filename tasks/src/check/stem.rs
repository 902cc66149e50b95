//! Inflections of one word, near enough to say that a text leaks a tool's name.

/// A crude English stem: `logs`, `logged` and `logging` become `log`; `entities` and `entity` become `entiti`.
pub(super) fn stem(word: &str) -> String {
    let mut stem = word.to_lowercase();
    for ending in ["ings", "ing", "ions", "ion", "edly", "ers", "ors", "ed", "er", "or", "es", "s"] {
        // Three letters must be left, or `red` would be an ending.
        if let Some(rest) = stem.strip_suffix(ending).filter(|rest| rest.chars().count() >= 3 && !rest.ends_with('s')) {
            stem.truncate(rest.len());
            break;
        }
    }
    let mut letters: Vec<char> = stem.chars().collect();
    if letters.len() > 3 && letters.last() == Some(&'e') {
        letters.pop();
    }
    if let [.., before, last] = letters[..]
        && before == last
        && letters.len() > 3
        && !"aeiou".contains(last)
    {
        letters.pop();
    }
    if let Some(last) = letters.last_mut()
        && *last == 'y'
    {
        *last = 'i';
    }
    letters.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inflections_share_a_stem_and_other_words_do_not() {
        let same = [
            "log logs logged logging",
            "file files filed",
            "create creates created creating creation creator",
            "entity entities",
            "directory directories",
            "add adds added adding",
            "get gets getting",
            "commit commits committed committing",
            "search searches searching",
            "issue issues",
            "relation relations related relate",
            "branch branches branching",
            "time times timed timing",
        ];
        for words in same {
            let stems: Vec<String> = words.split(' ').map(stem).collect();
            assert!(stems.iter().all(|stem| *stem == stems[0]), "{words}: {stems:?}");
        }
        for (a, b) in [
            ("log", "logic"),
            ("get", "gate"),
            ("sum", "summary"),
            ("read", "ready"),
            ("status", "state"),
            ("list", "listen"),
        ] {
            assert_ne!(stem(a), stem(b), "{a} {b}");
        }
    }
}
