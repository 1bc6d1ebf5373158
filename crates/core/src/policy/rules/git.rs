//! Where git's subcommand stands: behind the options that git has of its own.
//!
//! A rule that asks about `git push` means `git -C dir push` too. git takes these options only as they are written here:
//! none is cut short, and `-C` and `-c` have their value in the next argument (git 2.47, `handle_options` in git.c).

/// What an argument before the subcommand is.
enum Global {
    Flag,
    /// Its value is the next argument.
    Takes,
    /// Of an option that is not known here: nobody knows what follows.
    Unknown,
    Operand,
}

const TAKES: [&[u8]; 9] = [
    b"-C",
    b"-c",
    b"--config-env",
    b"--git-dir",
    b"--work-tree",
    b"--namespace",
    b"--super-prefix",
    b"--attr-source",
    b"--shallow-file",
];

const FLAGS: [&[u8]; 21] = [
    b"-p",
    b"--paginate",
    b"-P",
    b"--no-pager",
    b"--bare",
    b"--no-replace-objects",
    b"--no-lazy-fetch",
    b"--no-optional-locks",
    b"--no-advice",
    b"--literal-pathspecs",
    b"--no-literal-pathspecs",
    b"--glob-pathspecs",
    b"--noglob-pathspecs",
    b"--icase-pathspecs",
    b"--exec-path",
    b"--html-path",
    b"--man-path",
    b"--info-path",
    b"-v",
    b"--version",
    b"-h",
];

fn global(text: &[u8]) -> Global {
    if TAKES.contains(&text) {
        Global::Takes
    } else if FLAGS.contains(&text) || text.starts_with(b"--") && text.contains(&b'=') {
        Global::Flag
    } else if text.starts_with(b"-") {
        Global::Unknown
    } else {
        Global::Operand
    }
}

/// Where the subcommand may stand among these arguments, and at the end if there may be none. `None` is an argument that
/// may be anything.
pub(super) fn starts(args: &[Option<Vec<u8>>]) -> Vec<bool> {
    let (mut reached, mut starts) = (vec![false; args.len() + 2], vec![false; args.len() + 1]);
    reached[0] = true;
    for (at, arg) in args.iter().enumerate() {
        if !reached[at] {
            continue;
        }
        let (here, next, after) = match arg.as_deref().map(global) {
            Some(Global::Operand) => (true, false, false),
            Some(Global::Flag) => (false, true, false),
            Some(Global::Takes) => (false, false, true),
            Some(Global::Unknown) => (false, true, true),
            None => (true, true, true),
        };
        starts[at] = here;
        reached[at + 1] |= next;
        reached[at + 2] |= after;
    }
    starts[args.len()] = reached[args.len()];
    starts
}
