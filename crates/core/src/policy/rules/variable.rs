//! Variables by which a shell is made to run something later, or to read later lines otherwise.
//!
//! Only what the shell itself does with them counts. `PATH` and `LD_PRELOAD` also change what a name runs, as does a copy
//! of a program under another name: no rule can see that, and it is left to the sandbox.

use super::line::Dialect;
use super::walk::Walk;

/// What a shell does with a variable's value.
enum Use {
    /// It runs it.
    Code,
    /// It shows it, with what substitutions in it print.
    Prompt,
    /// It finds there what names mean, or which files to run.
    Meaning,
}

const CODE: [&str; 3] = ["PROMPT_COMMAND", "NULLCMD", "READNULLCMD"];

const PROMPTS: [&str; 19] = [
    "PS0", "PS1", "PS2", "PS3", "PS4", "PROMPT", "PROMPT2", "PROMPT3", "PROMPT4", "RPROMPT", "RPROMPT2",
    "RPS1", "RPS2", "SPROMPT", "prompt", "MAILPATH", "mailpath", "TIMEFMT", "POSTEDIT",
];

const MEANINGS: [&str; 34] = [
    "BASH_ALIASES",
    "BASH_CMDS",
    "BASH_ENV",
    "BASH_LOADABLES_PATH",
    "BASHOPTS",
    "SHELLOPTS",
    "ENV",
    "ZDOTDIR",
    "INPUTRC",
    "FCEDIT",
    "aliases",
    "galiases",
    "saliases",
    "dis_aliases",
    "dis_galiases",
    "dis_saliases",
    "functions",
    "dis_functions",
    "functions_source",
    "builtins",
    "commands",
    "options",
    "widgets",
    "precmd_functions",
    "preexec_functions",
    "chpwd_functions",
    "periodic_functions",
    "zshexit_functions",
    "zshaddhistory_functions",
    "fpath",
    "FPATH",
    "module_path",
    // In zsh the third of them is what begins a comment.
    "histchars",
    "HISTCHARS",
];

fn use_of(name: &[u8]) -> Option<Use> {
    let is_in = |list: &[&str]| list.iter().any(|known| known.as_bytes() == name);
    if is_in(&CODE) {
        Some(Use::Code)
    } else if is_in(&PROMPTS) {
        Some(Use::Prompt)
    } else if is_in(&MEANINGS) || name.starts_with(b"BASH_FUNC_") {
        Some(Use::Meaning)
    } else {
        None
    }
}

impl Walk<'_> {
    /// A variable gets this value; `None` if not all of it is known.
    pub(super) fn set(&mut self, name: &[u8], value: Option<&[u8]>, depth: usize) {
        self.assign(name);
        let Some(usage) = use_of(name) else { return };
        match (usage, value) {
            (Use::Code, Some(line)) => return self.line(line, Dialect::Posix, depth + 1),
            (Use::Prompt, Some(prompt)) if is_plain_prompt(prompt) => return,
            _ => {}
        }
        let name = String::from_utf8_lossy(name);
        self.unknown(format!(
            "setting `{name}` can make a shell run something, or read later lines otherwise"
        ));
    }
}

/// Whether nothing in it could be a substitution once escapes are taken out: a dollar stands alone or at the end.
fn is_plain_prompt(prompt: &[u8]) -> bool {
    let mut next = prompt.iter().skip(1).chain([&b' ']);
    prompt.iter().all(|byte| match (byte, next.next()) {
        (b'`', _) => false,
        (b'$', behind) => behind == Some(&b' '),
        // A character by its number, which may be a dollar.
        (b'\\', Some(digit)) => !digit.is_ascii_digit(),
        _ => true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_without_substitutions_is_plain() {
        for plain in ["", "$ ", "$", "\\u@\\h:\\w\\$ ", "%n %# ", "> "] {
            assert!(is_plain_prompt(plain.as_bytes()), "{plain}");
        }
        for live in ["$(x)", "`x`", "${x@P}", "$x", "\\044(x)", "$ $(x)", "\\$(x)"] {
            assert!(!is_plain_prompt(live.as_bytes()), "{live}");
        }
    }
}
