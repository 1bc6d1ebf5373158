//! A name of a variable, or many names: a pattern with one `*` at its end or at its beginning.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// Names of variables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Pattern {
    /// This one.
    Exactly(String),
    /// Those that begin so.
    Begins(String),
    /// Those that end so.
    Ends(String),
}

/// A pattern that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no name of an environment variable: {why}")]
pub(crate) struct BadPattern {
    pub(crate) text: String,
    pub(crate) why: &'static str,
}

impl Pattern {
    /// `NAME`, `NAME*` or `*NAME`.
    pub(crate) fn parse(text: &str) -> Result<Self, BadPattern> {
        let bad = |why| Err(BadPattern { text: text.to_owned(), why });
        let stem = text.trim_matches('*');
        if text.is_empty() {
            return bad("it is empty");
        }
        if stem.is_empty() {
            return bad("it would be every name; write the names, or what they begin with");
        }
        if stem.contains(['=', '\0']) {
            return bad("a name has no `=` and no NUL in it; only names are listed, never values");
        }
        if stem.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return bad("there is a space in it; write each name as a string of its own");
        }
        if text.len() - stem.len() > 1 || stem.contains('*') {
            return bad("it may have one `*`, at its beginning or at its end");
        }
        if stem.starts_with("WHARF_") {
            return bad("names that begin with WHARF_ are wharf's own and reach no command");
        }
        Ok(match (text.starts_with('*'), text.ends_with('*')) {
            (true, _) => Self::Ends(stem.to_owned()),
            (_, true) => Self::Begins(stem.to_owned()),
            _ => Self::Exactly(stem.to_owned()),
        })
    }

    /// Whether it means that name.
    pub(crate) fn matches(&self, name: &OsStr) -> bool {
        let name = name.as_bytes();
        match self {
            Self::Exactly(text) => name == text.as_bytes(),
            Self::Begins(text) => name.starts_with(text.as_bytes()),
            Self::Ends(text) => name.ends_with(text.as_bytes()),
        }
    }

    /// Whether it means that name and no other.
    pub(crate) fn is_exactly(&self, name: &OsStr) -> bool {
        matches!(self, Self::Exactly(_)) && self.matches(name)
    }
}

/// Whether one of the built-in patterns means that name. They are written as in a policy, many in one text.
pub(super) fn any(lists: &[&str], name: &[u8]) -> bool {
    let mut patterns = lists.iter().flat_map(|list| list.split_ascii_whitespace());
    patterns.any(|pattern| {
        if let Some(end) = pattern.strip_prefix('*') {
            name.ends_with(end.as_bytes())
        } else if let Some(start) = pattern.strip_suffix('*') {
            name.starts_with(start.as_bytes())
        } else {
            name == pattern.as_bytes()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_has_one_star_at_one_end() {
        let matches = |pattern: &str, name: &str| Pattern::parse(pattern).unwrap().matches(OsStr::new(name));
        assert!(matches("A_B", "A_B"));
        assert!(!matches("A_B", "A_BC"));
        assert!(!matches("A_B", "a_b"));
        assert!(matches("A_*", "A_"));
        assert!(matches("A_*", "A_B"));
        assert!(!matches("A_*", "XA_B"));
        assert!(matches("*_URL", "MY_URL"));
        assert!(!matches("*_URL", "MY_URLS"));
        assert!(!matches("ä*", "a"));
    }

    #[test]
    fn what_is_no_pattern_is_refused_with_a_reason() {
        let cases = [
            ("", "empty"),
            ("*", "every name"),
            ("**", "every name"),
            ("A**", "one `*`"),
            ("*A*", "one `*`"),
            ("A*B", "one `*`"),
            ("A=B", "never values"),
            ("A B", "space"),
            ("A\n", "space"),
            ("A\0", "NUL"),
            ("WHARF_STATE_DIR", "wharf's own"),
            ("WHARF_*", "wharf's own"),
        ];
        for (text, why) in cases {
            let error = Pattern::parse(text).unwrap_err();
            assert!(error.why.contains(why), "{text:?}: {}", error.why);
            assert!(!error.to_string().contains('\n'), "{error}");
        }
    }
}
