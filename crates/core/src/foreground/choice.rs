//! Whether a prompt reads like a choice between yes and no. Only a description: that somebody waits is known before.

/// What a question of one word or two is about when only yes and no are answers. In the languages of their programs
/// prompts differ; a choice that is not recognised is called text, which is answered the same way.
const ASKED: &[&str] = &[
    "continue",
    "proceed",
    "are you sure",
    "do you want",
    "do you wish",
    "would you like",
    "overwrite",
    "replace",
    "remove",
    "delete",
    "is this ok",
    "is this correct",
    "ok to",
    "really",
    "confirm",
];

const YES_OR_NO: &[&str] = &["y", "n", "yes", "no"];

pub(super) fn is_choice(prompt: &str) -> bool {
    let prompt = prompt.to_lowercase();
    let text = prompt.trim_end_matches([' ', ':', '>', '\t']);
    offers(text) || text.ends_with('?') && ASKED.iter().any(|words| text.contains(words))
}

/// `[y/N]`, `(yes/no/[fingerprint])`, `y/n`, `(y)` and their like at the end of a prompt, whether or not `?` follows.
fn offers(text: &str) -> bool {
    let text = text.trim_end_matches('?');
    let last = text.rsplit([' ', '\t']).next().unwrap_or_default();
    let bracketed = last.starts_with(['[', '(', '<']) && last.ends_with([']', ')', '>']);
    let mut words = last.split(['/', '|', ',']).map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    let first = words.next().unwrap_or_default();
    let more = words.next();
    YES_OR_NO.contains(&first) && (bracketed || more.is_some_and(|word| !word.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::is_choice;

    #[test]
    fn choices_are_told_from_other_questions() {
        let choices = [
            "Continue? [y/N]",
            "Do you want to continue? [Y/n] ",
            "Are you sure you want to continue connecting (yes/no/[fingerprint])? ",
            "Proceed (y/n)? ",
            "Proceed ([y]/n)? ",
            "Ok to proceed? (y) ",
            "rm: remove regular file 'x'? ",
            "cp: overwrite 'x'? ",
            "Overwrite? y/n: ",
            "Is this OK? (yes) ",
            "Really delete it?",
            "Apply this hunk to worktree [y,n,q,a,d,e,?]? ",
            "Replace existing file <yes|no>",
        ];
        for prompt in choices {
            assert!(is_choice(prompt), "{prompt:?}");
        }
        let texts = [
            "",
            "Name: ",
            "What is your name? ",
            "Password:",
            "> ",
            "(y",
            "why",
            "Which one [1/2/3]? ",
            "y",
            "no",
            "[main]",
        ];
        for prompt in texts {
            assert!(!is_choice(prompt), "{prompt:?}");
        }
    }
}
