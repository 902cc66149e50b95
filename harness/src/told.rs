//! An error in one line.

/// An error and its causes, outermost first, each said once: many errors name their cause in their own words already.
pub(crate) fn told(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bundle::BundleError;

    #[test]
    fn a_cause_that_its_error_names_is_not_said_again() {
        let source = std::io::Error::other("no such thing");
        let error = anyhow::Error::new(BundleError::Io { path: "a.tar.gz".into(), source });
        assert_eq!(told(&error.context("reading the bundle")), "reading the bundle: a.tar.gz: no such thing");
    }
}
