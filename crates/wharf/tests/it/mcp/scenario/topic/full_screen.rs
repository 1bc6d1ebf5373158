//! Pagers, editors and other programs that paint a screen.

use super::super::step::{
    BASH, BASH_ZSH, Check, EVERY, Scenario, Step, input, key, read, run, scenario, typed,
};
use serde_json::json;

const VIM: &str = "vim -u NONE -i NONE -n f.txt";
const LESS: &str = "LESSHISTFILE=- less f.txt";

fn numbers(count: u32) -> String {
    (1..=count).map(|n| format!("line {n}\n")).collect()
}

/// On the alternate screen, `rows` and `cols` as the terminal has them.
fn on_screen(step: Step) -> Step {
    step.field("/view", "screen").field("/screen/rows", 24).field("/screen/cols", 80)
}

pub(crate) fn table() -> Vec<Scenario> {
    let mut all = pagers();
    all.extend(editors());
    all.extend(others());
    all
}

fn pagers() -> Vec<Scenario> {
    vec![
        scenario(
            "less: pages, the end, and out",
            EVERY,
            [
                on_screen(run(LESS).awaits("pager").holds("line 1\nline 2\n").lacks("line 24")),
                on_screen(typed(" ").awaits("pager").holds("line 24\n").lacks("line 1\n")),
                on_screen(key("PageUp").awaits("pager").holds("line 1\n")),
                on_screen(typed("G").awaits("pager").holds("line 200\n").lacks("line 150\n")),
                typed("q").whatever(),
                run("echo ok").says("ok").field("/view", "stream"),
            ],
        )
        .file("f.txt", numbers(200)),
        scenario(
            "less: searching",
            BASH,
            [
                on_screen(run(LESS).awaits("pager").whatever()),
                on_screen(input("/line 150").awaits("pager").holds("line 150\n")),
                on_screen(typed("g").awaits("pager").holds("line 1\n")),
                typed("q").whatever(),
            ],
        )
        .file("f.txt", numbers(200)),
        scenario(
            "less at the end of a pipe",
            EVERY,
            [
                on_screen(run("seq 1 500 | LESSHISTFILE=- less").awaits("pager").holds("1\n2\n3\n")),
                typed("q").whatever(),
                run("echo ok").says("ok"),
            ],
        ),
        scenario(
            "less of a short file that it does not page",
            EVERY,
            [run("LESSHISTFILE=- less -FX f.txt").says("line 1\nline 2\nline 3")],
        )
        .file("f.txt", numbers(3)),
        scenario(
            "a new command is refused while a pager is open, and says how to leave it",
            BASH,
            [
                run(LESS).awaits("pager").whatever(),
                run("echo no").refused(&["less"]),
                typed("q").whatever(),
                run("echo yes").says("yes"),
            ],
        )
        .file("f.txt", numbers(200)),
    ]
}

fn editors() -> Vec<Scenario> {
    vec![
        scenario(
            "vim: open, edit, save, quit",
            EVERY,
            [
                on_screen(run(VIM).awaits("editor").whatever()),
                on_screen(typed("ihello world").awaits("editor").holds("hello world")),
                on_screen(key("Enter").awaits("editor").whatever()),
                on_screen(typed("second").awaits("editor").holds("hello world\nsecond")),
                on_screen(key("Escape").awaits("editor").whatever()),
                input(":wq").whatever().leaves("f.txt", "hello world\nsecond\n"),
                run("cat f.txt").says("hello world\nsecond").field("/view", "stream"),
            ],
        ),
        scenario(
            "vim: moving about, and not saving",
            BASH_ZSH,
            [
                on_screen(run(VIM).awaits("editor").holds("line 1\nline 2")),
                on_screen(key("Down").awaits("editor").whatever().field("/screen/cursor/row", 2)),
                on_screen(key("End").awaits("editor").whatever().field("/screen/cursor/row", 2)),
                on_screen(typed("dd").awaits("editor").lacks("line 2\n")),
                on_screen(key("C-f").awaits("editor").holds("line 30")),
                input(":q!").whatever().leaves("f.txt", numbers(100)),
            ],
        )
        .file("f.txt", numbers(100)),
        scenario(
            "the screen is readable beside the stream",
            BASH,
            [
                run("echo before").says("before"),
                run(VIM).awaits("editor").whatever(),
                read(json!({"view": "screen"})).holds("line 1\nline 2").field("/screen/rows", 24),
                read(json!({"view": "auto"})).holds("line 1\nline 2"),
                input(":q").whatever(),
                read(json!({"command_id": 1})).field("/content", "before"),
            ],
        )
        .file("f.txt", numbers(5)),
    ]
}

fn others() -> Vec<Scenario> {
    vec![
        scenario(
            "top, and out",
            EVERY,
            [run("top -d 5").with("timeout", 3).goes_on().holds("PID"), typed("q").whatever(), run("echo ok").says("ok")],
        ),
        scenario(
            "an alternate screen with nothing in the stream",
            EVERY,
            [
                run("printf 'before\\n\\033[?1049h\\033[2;5HALT'; read x; printf '\\033[?1049lafter\\n'")
                    .goes_on()
                    .field("/view", "screen")
                    .holds("    ALT")
                    .lacks("before"),
                key("Enter").holds("after").lacks("ALT").field("/view", "stream"),
                read(json!({})).lacks("ALT").holds("before").holds("after"),
            ],
        ),
        scenario(
            "what is highlighted is said",
            BASH,
            [
                run("printf '\\033[?1049h\\033[3;1Hone \\033[7mtwo\\033[0m three'; read x; printf '\\033[?1049l'")
                    .goes_on()
                    .holds("one two three")
                    .field("/screen/highlights/0/text", "two")
                    .field("/screen/highlights/0/row", 3),
                key("Enter").whatever(),
            ],
        ),
        scenario(
            "a program that dies on the alternate screen leaves a shell that works",
            EVERY,
            [
                run("printf '\\033[?1049h\\033[?25l\\033[?1h\\033=ALT'; sh -c 'kill -KILL $$'").exits(137).whatever(),
                run("echo ok").holds("ok"),
                run("printf '\\033[?1049l\\033[?25h\\033[?1l\\033>'").whatever(),
                run("echo fine").says("fine"),
            ],
        ),
        scenario(
            "cursor keys as the program asked for them",
            BASH,
            [
                run("stty raw -echo; printf '\\033[?1h'; dd bs=1 count=3 2>/dev/null | od -An -c; printf '\\033[?1l'; stty sane")
                    .goes_on()
                    .whatever(),
                key("Up").holds("033   O   A"),
                run("stty raw -echo; dd bs=1 count=3 2>/dev/null | od -An -c; stty sane").goes_on().whatever(),
                key("Up").holds("033   [   A"),
            ],
        ),
        scenario(
            "pasted text is marked where the program asked for it",
            BASH,
            [
                run("stty raw -echo; printf '\\033[?2004h'; dd bs=1 count=14 2>/dev/null | od -An -v -tx1; printf '\\033[?2004l'; stty sane")
                    .goes_on()
                    .whatever(),
                typed("a\nb").with("no_enter", true).whatever().check(Check::Holds("1b 5b 32 30 30 7e 61".to_owned())),
            ],
        ),
    ]
}
