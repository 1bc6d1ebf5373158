//! Commands after which a shell cannot be used as before: it is mended, or the answer says what is wrong and what to do.

use super::super::step::{BASH, BASH_ZSH, EVERY, Scenario, close, run, scenario};

pub(crate) fn table() -> Vec<Scenario> {
    vec![
        scenario(
            "a shell that can open no files says so, and a fresh one takes its place",
            EVERY,
            [
                run("ulimit -n 5").any("/exit_code").whatever().text("exit code unknown"),
                run("echo no").refused(&[
                    "Not run",
                    "ulimit -n",
                    "terminal_close {\"terminal_id\":\"@ID@\"}",
                ]),
                close(),
                run("echo fresh").says("fresh"),
            ],
        ),
        scenario(
            "who rewrites the end of commands makes up no exit code",
            EVERY,
            [
                run("__wharf_end() { :; }").any("/exit_code").whatever(),
                run("false").exits(1),
                run("sh -c 'exit 42'").exits(42),
            ],
        ),
        scenario(
            "variables of one's own make up no exit code",
            BASH,
            [
                run("readonly status=7; false").exits(1),
                run("set -T; trap '__wharf_status=0' DEBUG; false").exits(1),
                run("sh -c 'exit 42'").exits(42),
            ],
        ),
        scenario(
            "variables of one's own that are read-only are in nobody's way",
            EVERY,
            [
                run("readonly check=1 length=1 last=1 text=1 and=1 i=1 c=1 first=1 other=1"),
                run("echo '  on'; sh -c 'exit 3'").says("  on").exits(3),
            ],
        ),
        scenario(
            "a line editor that was switched off is back",
            BASH,
            [
                run("set +o emacs; set +o vi").any("/exit_code"),
                run("echo on; sh -c 'exit 3'").says("on").exits(3),
            ],
        ),
        scenario(
            "functions in the place of builtins",
            BASH_ZSH,
            [
                run("builtin() { :; }; printf() { :; }; command() { :; }; eval() { :; }; trap() { :; }"),
                run("false").exits(1),
                run("echo on").says("on"),
            ],
        ),
    ]
}
