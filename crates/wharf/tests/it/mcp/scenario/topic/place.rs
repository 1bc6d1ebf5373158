//! Where the shell is, whatever the place is called, and also when it is gone.

use super::super::step::{BASH, BASH_ZSH, EVERY, Scenario, ZSH, run, scenario};

/// A directory of this name, as `printf` makes it.
fn named(name: &'static str, format: &str, path: &str) -> Scenario {
    let path = format!("@DIR@/{path}");
    let steps = [
        run(format!("d=$(printf -- '{format}.'); d=${{d%.}}; mkdir -- \"$d\"; cd -- \"$d\"")).in_dir(&path),
        run("echo hi").says("hi").in_dir(&path),
        run("sh -c 'exit 3'").exits(3).in_dir(&path),
        run("cd ..").in_dir("@DIR@"),
    ];
    scenario(name, EVERY, steps)
}

pub(crate) fn table() -> Vec<Scenario> {
    let deep = ["d".repeat(200).as_str(); 8].join("/");
    vec![
        named("a directory with spaces", " a  b ", " a  b "),
        named("a directory with quotes", "a\"b\\047c`d", "a\"b'c`d"),
        named("a directory with a line end", "a\\nb\\n", "a\nb\n"),
        named("a directory with a tab and a backslash", "a\\tb\\\\c\\\\n", "a\tb\\c\\n"),
        named("a directory with letters of every alphabet", "žluť 日本 🎉", "žluť 日本 🎉"),
        named("a directory like an option", "-rf", "-rf"),
        named(
            "a directory with what a shell would replace",
            "$HOME $(id) * ~ %%n %%s",
            "$HOME $(id) * ~ %n %s",
        ),
        named("a directory with what a mark is made of", "a;b]c%%41;d", "a;b]c%41;d"),
        named("a directory with an escape character", "a\\033[31mb\\007c", "a\u{1b}[31mb\u{7}c"),
        scenario(
            "a very deep directory",
            EVERY,
            [
                run(format!("mkdir -p {deep}; cd {deep}")).in_dir(&format!("@DIR@/{deep}")),
                run("echo ok").says("ok"),
            ],
        ),
        scenario(
            "a directory that is deleted",
            EVERY,
            [
                run("mkdir gone; cd gone; rmdir ../gone").that("where it was", |answer, _| {
                    answer["working_dir"].as_str().is_some_and(|path| path.contains("gone"))
                }),
                run("echo still works").says("still works"),
                run("sh -c 'exit 3' 2>/dev/null").exits(3),
                run("cd @DIR@").in_dir("@DIR@"),
            ],
        ),
        scenario(
            "a fresh shell where its directory is gone",
            EVERY,
            [
                run("mkdir gone; cd gone"),
                run("rmdir @DIR@/gone; exit 2").ends_shell(2).whatever(),
                run("echo works").says("works").that("a notice", |answer, _| answer["notice"].is_array()),
                run("cd @DIR@").in_dir("@DIR@"),
            ],
        ),
        scenario(
            "a directory by a link",
            EVERY,
            [
                run("mkdir real; ln -s real link; cd link").that("one of its names", |answer, dir| {
                    let path = answer["working_dir"].as_str().unwrap_or_default();
                    [dir.join("link"), dir.join("real")].iter().any(|one| one.to_str() == Some(path))
                }),
                run("cd ..").in_dir("@DIR@"),
            ],
        ),
        scenario(
            "a directory that is searched for",
            EVERY,
            [
                run("mkdir -p base/leaf; CDPATH=@DIR@/base"),
                run("cd leaf").like(".*/base/leaf").in_dir("@DIR@/base/leaf"),
                run("echo next").says("next"),
            ],
        ),
        scenario(
            "a variable of the directory that lies",
            EVERY,
            [run("PWD=/evil; true").whatever(), run("cd @DIR@; echo ok").says("ok").in_dir("@DIR@")],
        ),
        scenario(
            "a directory that is changed by a function",
            EVERY,
            [run("go() { cd /; }; go").in_dir("/"), run("cd @DIR@").in_dir("@DIR@")],
        ),
        scenario(
            "a directory that is changed by its name alone",
            ZSH,
            [run("setopt autocd; mkdir sub"), run("sub").in_dir("@DIR@/sub")],
        ),
        scenario(
            "a directory that is changed by its name alone",
            BASH,
            [run("shopt -s autocd; mkdir sub"), run("./sub").whatever().in_dir("@DIR@/sub")],
        ),
        scenario(
            "a directory that may not be entered",
            BASH_ZSH,
            [run("cd /no/such/place").exits(1).whatever().in_dir("@DIR@")],
        ),
    ]
}
