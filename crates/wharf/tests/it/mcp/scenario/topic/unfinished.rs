//! What the shell could not take as a whole is refused at once, nothing of it is run, and the shell is as before.

use super::super::step::{BASH, BASH_SH, BASH_ZSH, EVERY, Scenario, Shell, run, scenario};

/// It would leave a file if any of it were run; the last exit code is still there afterwards.
fn refused(name: &'static str, shells: &'static [Shell], command: &str) -> Scenario {
    let steps = [
        run("sh -c 'exit 42'").exits(42),
        run(format!("touch made; {command}")).refused(&[]).leaves_no("made"),
        run("echo \"ok $?\"").says("ok 42").leaves_no("made"),
    ];
    scenario(name, shells, steps)
}

pub(crate) fn table() -> Vec<Scenario> {
    let mut all = unfinished();
    all.extend(wrong());
    all.extend(right());
    all
}

fn unfinished() -> Vec<Scenario> {
    vec![
        refused("an open single quote", EVERY, "echo 'abc"),
        refused("an open double quote", EVERY, "echo \"abc"),
        refused("a quote that is open over lines", EVERY, "echo 'a\nb\nc"),
        refused("`if` without `fi`", EVERY, "if true; then echo x"),
        refused("`if` without `then`", EVERY, "if true"),
        refused("`for` without `done`", EVERY, "for i in 1 2; do echo $i"),
        refused("`while` without `done`", EVERY, "while true; do"),
        refused("`case` without `esac`", EVERY, "case x in x) echo a;;"),
        refused("an open brace", EVERY, "{ echo x;"),
        refused("an open parenthesis", EVERY, "(echo x"),
        refused("an open substitution", EVERY, "echo $(echo x"),
        refused("an open substitution in quotes", EVERY, "echo \"a $(echo 'x'"),
        refused("an open backquote", EVERY, "echo `echo x"),
        refused("an open arithmetic", EVERY, "echo $((1 + "),
        refused("an open parameter", EVERY, "echo ${x:-"),
        refused("a function without its end", EVERY, "f() {\n echo x"),
        refused("`&&` without more", EVERY, "true &&"),
        refused("`||` without more", EVERY, "true ||"),
        refused("a pipe without more", EVERY, "echo x |"),
        refused("a document without its end", EVERY, "cat <<EOF\nabc"),
        refused("a quoted document without its end", EVERY, "cat <<'EOF'\nabc\n EOF"),
        refused("a document without a line", EVERY, "cat <<EOF"),
        refused("a second document without its end", EVERY, "cat <<A <<B\n1\nA\n2"),
        refused("an open test", BASH_ZSH, "[[ a == a"),
        refused("an open list", BASH_ZSH, "a=(1 2"),
        refused("an open quote that names characters", BASH_ZSH, "echo $'a\\'"),
    ]
}

fn wrong() -> Vec<Scenario> {
    vec![
        refused("`fi` without `if`", EVERY, "echo x; fi"),
        refused("`done` without `do`", EVERY, "done"),
        refused("a parenthesis too many", EVERY, "echo x)"),
        refused("a brace too many", EVERY, "echo x; }"),
        refused("two semicolons", EVERY, "echo x;; echo y"),
        refused("an empty command between semicolons", BASH_SH, "echo a; ; echo b"),
        refused("words in parentheses", BASH_SH, "echo (a b"),
        refused("`&&` twice", EVERY, "true && && true"),
        refused("an error on a later line", EVERY, "echo a\necho b\nif then\necho c"),
        scenario(
            "many unfinished commands in a row",
            EVERY,
            (0..5)
                .flat_map(|n| [run("echo 'a").refused(&[]), run(format!("echo {n}")).says(n.to_string())])
                .collect::<Vec<_>>(),
        ),
    ]
}

/// What only looks unfinished.
fn right() -> Vec<Scenario> {
    vec![
        scenario(
            "quotes and brackets that are not what they look like",
            EVERY,
            [
                run("echo \\' \\\" \\( \"(\" ')' # ' \" ( {").says("' \" ( ( )"),
                run("echo if then fi do esac").says("if then fi do esac"),
                run("cat <<'E'\n' \" ( { $( `\nE").says("' \" ( { $( `"),
            ],
        ),
        scenario(
            "grammar that an option has switched on",
            BASH,
            [
                run("shopt -s extglob"),
                run("case ab in @(ab|cd)) echo matches;; esac").says("matches"),
                run("touch x y; echo !(x)").says("y"),
            ],
        ),
        scenario(
            "grammar that the command itself switches on",
            BASH,
            [run("shopt -s extglob\ncase ab in @(ab|cd)) echo matches;; esac").says("matches")],
        ),
        scenario(
            "a command whose meaning depends on an alias",
            EVERY,
            [run("alias begin='echo begun;'"), run("begin echo and more").says("begun\nand more")],
        ),
    ]
}
