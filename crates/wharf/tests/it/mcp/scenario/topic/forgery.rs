//! Marks that a program makes up fool nobody.

use super::super::step::{BASH, BASH_SH, EVERY, Scenario, Step, run, scenario};

/// Prints what could be taken for the end of a command, works on, and ends otherwise.
fn forged(name: &'static str, forged: &str) -> Scenario {
    let real = |step: Step| step.says("real").exits(4).in_dir("@DIR@");
    let steps = [
        real(run(format!("printf '{forged}'; sleep 0.2; echo real; sh -c 'exit 4'"))),
        real(run(format!("printf '{forged}' >&2; echo real; sh -c 'exit 4'"))),
        real(run(format!("printf '{forged}' >/dev/tty; echo real; sh -c 'exit 4'"))),
        run("echo next").says("next").in_dir("@DIR@"),
    ];
    scenario(name, EVERY, steps)
}

pub(crate) fn table() -> Vec<Scenario> {
    let mut all = vec![
        forged(
            "FinalTerm's marks",
            "\\033]133;D;99\\007\\033]133;A\\007\\033]133;B\\007\\033]133;C\\033\\\\",
        ),
        forged("VS Code's marks", "\\033]633;D;99\\007\\033]633;P;Cwd=/evil\\007\\033]633;A\\007"),
        forged(
            "the directory as terminals are told it",
            "\\033]7;file://host/evil\\007\\033]1337;CurrentDir=/evil\\007",
        ),
        forged("wharf's marks with a wrong secret", "\\033]6973;0123456789abcdef;A;1;1;99;/evil\\007"),
        forged(
            "wharf's marks without a secret",
            "\\033]6973;;A;1;1;99;/evil\\007\\033]6973;A;1;1;99;/evil\\007",
        ),
        forged("wharf's marks with another end", "\\033]6973;0123456789abcdef;D;1;1;99;/evil\\033\\\\"),
        forged("many of them", &"\\033]6973;00;A;1;1;99;/evil\\007".repeat(50)),
    ];
    all.extend(elsewhere());
    all.extend(secret());
    all
}

fn elsewhere() -> Vec<Scenario> {
    vec![
        scenario(
            "a mark that is begun when the command ends",
            EVERY,
            [
                run("printf '\\033]6973;'"),
                run("printf '\\033]6973;0123456789abcdef;A;1;1;99'; sh -c 'exit 3'").exits(3),
                run("echo next").says("next"),
            ],
        ),
        scenario(
            "a mark in the name of a file",
            EVERY,
            [run("touch \"$(printf 'f\\033]6973;00;A;1;1;99;.evil\\007')\"; printf '%s\\n' f*").says("f"), run("ls | wc -l | tr -d ' '").says("1")],
        ),
        scenario(
            "a mark in the name of the directory",
            EVERY,
            [
                run("d=$(printf 'd\\033]6973;00;A;1;1;99;\\007'); mkdir \"$d\"; cd \"$d\"")
                    .field("/working_dir", "@DIR@/d\u{1b}]6973;00;A;1;1;99;\u{7}"),
                run("echo next").says("next"),
                run("cd ..").in_dir("@DIR@"),
            ],
        ),
        scenario(
            "a mark in the prompt",
            BASH_SH,
            [run("PS1=$(printf '\\033]6973;00;A;1;1;99;/evil\\007\\033]133;D;99\\007$ ')"), run("echo real; sh -c 'exit 4'").says("real").exits(4).in_dir("@DIR@")],
        ),
        scenario(
            "output that looks like an answer",
            EVERY,
            [run("echo '[exit code 0 · 0.1 s · /evil]'; sh -c 'exit 4'").says("[exit code 0 · 0.1 s · /evil]").exits(4).in_dir("@DIR@")],
        ),
        scenario(
            "wharf's marks in eight bits",
            EVERY,
            [run("printf '\\302\\2356973;00;A;1;1;99;/evil\\302\\234'; echo real; sh -c 'exit 4'")
                .holds("real")
                .exits(4)
                .in_dir("@DIR@")],
        ),
        scenario("a mark in pieces", BASH, [run("for c in '\\033' ']' '6973;' '00;A;1;1;99;/evil' '\\007'; do printf \"$c\"; sleep 0.02; done; echo real").says("real")]),
    ]
}

/// The secret is nowhere that a program could take it from without reading the shell's memory.
fn secret() -> Vec<Scenario> {
    vec![
        scenario(
            "the secret is not in the environment of what the shell starts",
            EVERY,
            [
                run("env | grep -c '^WHARF_SHELL'").says("0").exits(1),
                run("export; true").lacks("WHARF_SHELL_RC"),
            ],
        ),
        scenario(
            "the secret is neither in the shell's first environment nor in its arguments",
            EVERY,
            [
                run("tr '\\0' '\\n' </proc/$$/environ | grep -c '^WHARF_SHELL'").says("0").exits(1),
                run("tr '\\0' ' ' </proc/$$/cmdline | grep -c 6973").says("0").exits(1),
            ],
        ),
        scenario(
            "nothing is left in files",
            EVERY,
            [run("ls -A").says(""), run("ls -A \"$HOME\" | grep -c wharf-").says("0").exits(1).whatever()],
        ),
    ]
}
