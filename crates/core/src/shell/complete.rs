//! Whether a command is surely whole, so that no shell has to be asked. In doubt, it is not: asking takes milliseconds.
//!
//! The parser of the rules lists what could run in a line and is not strict about the rest, so it alone is not enough. What
//! is accepted here is line by line: each whole by itself, with nothing in it that reaches over several.

use crate::policy::rules::is_whole;

/// Words with which a command begins that ends elsewhere.
const WORDS: [&str; 20] = [
    "if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac", "select",
    "function", "time", "coproc", "repeat", "foreach", "end", "always",
];
/// What reaches further than it seems, or differs between shells.
const MARKS: [&str; 6] = ["<<", "{", "}", "[[", "()", "=("];
/// Operators that cannot follow each other, without the blanks between them.
const PAIRS: [&str; 21] = [
    ";;", ";&", "&;", ";|", "|;", "&&&", "|||", "&|", "|&", "(;", "(&", "(|", "|)", "&&)", ">;", "<;", "<|",
    ">)", "<)", ">&&", "<&&",
];

/// Whether each line of it is a whole command.
pub(super) fn is_complete(text: &str) -> bool {
    text.lines().all(|line| {
        let line = line.trim();
        line.is_empty() || line.starts_with('#') || is_plain(line)
    })
}

fn is_plain(line: &str) -> bool {
    let open = line.ends_with(['\\', '|', '(', '<', '>']) || line.ends_with("&&");
    let begins = line.starts_with(['|', '&', ';', ')']);
    let mut words = line.split(|c: char| c.is_whitespace() || ";|&()`".contains(c));
    let compound = words.any(|word| WORDS.contains(&word)) || MARKS.iter().any(|mark| line.contains(mark));
    let close: String = line.chars().filter(|c| !c.is_whitespace()).collect();
    let apart: Vec<&str> = line.split_whitespace().collect();
    let adjacent = PAIRS.iter().any(|pair| close.contains(pair))
        || apart
            .windows(2)
            .any(|two| two[0].ends_with(['|', '&', ';']) && two[1].starts_with(['|', '&', ';']));
    !open && !begins && !compound && !adjacent && is_whole(line)
}

/// The operator at the very end, if what should follow it is missing. zsh does not mind, and would take what comes next.
pub(super) fn dangling(text: &str) -> Option<&'static str> {
    let last = text.trim_end().lines().next_back()?;
    let operator = ["&&", "||", "|&", "|"].into_iter().find(|operator| last.ends_with(operator))?;
    // In a comment it is none, and behind a backslash a word.
    let before = last.strip_suffix(operator)?;
    (!last.contains('#') && !before.ends_with('\\')).then_some(operator)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_commands_are_complete() {
        for text in [
            "",
            "true",
            "cd /tmp && pwd",
            "git log --oneline | head -5",
            "a; b; c",
            "sleep 1 &",
            "x=1 y=\"a b\" z",
            "# c",
            "cd /x\nmake -j2\n\n# then\nls",
            "echo 'it''s'",
            "(cd x && ls)",
            "echo $(date) `id`",
            "ls >out 2>&1",
            "a || b &",
        ] {
            assert!(is_complete(text), "{text:?}");
        }
    }

    #[test]
    fn operators_with_nothing_behind_them_are_found() {
        let cases =
            [("a &&", Some("&&")), ("a\nb ||\n", Some("||")), ("a|", Some("|")), ("a |& ", Some("|&"))];
        let others = ["", "a", "a &", "a # &&", "echo \\|", "a && b"].map(|text| (text, None));
        for (text, operator) in cases.into_iter().chain(others) {
            assert_eq!(dangling(text), operator, "{text:?}");
        }
    }

    #[test]
    fn what_may_go_on_is_not() {
        for text in [
            "echo \"a",
            "echo 'a\nb'",
            "a &&",
            "a ||",
            "a |",
            "a &&\nb",
            "echo a\\",
            "if true; then x; fi",
            "cat <<X\nX",
            "f() { x; }",
            "{ x",
            "echo $(",
            "(a",
            "a)",
            "&& a",
            "| a",
            "case x in",
            "echo ${x",
            "x=(1\n2)",
            "a;;",
            "[[ a",
            "echo a; ; echo b",
            "true && && true",
            "a | | b",
            "echo >",
            "f()",
        ] {
            assert!(!is_complete(text), "{text:?}");
        }
    }
}
