//! What is drawn over itself is told in its final state, and what was drawn once is not lost.

use super::super::step::{BASH, EVERY, Scenario, Shell, read, run, scenario};
use serde_json::json;

/// What a `printf` of this format comes to.
fn drawn(name: &'static str, format: &str, seen: &str) -> Scenario {
    scenario(name, EVERY, [run(format!("printf '{format}'")).says(seen), run("echo next").says("next")])
}

pub(crate) fn table() -> Vec<Scenario> {
    let mut all = lines();
    all.extend(screens());
    all.extend(widths());
    all
}

fn lines() -> Vec<Scenario> {
    vec![
        scenario(
            "progress in a line",
            EVERY,
            [run("for i in 1 2 3 99 100; do printf '\\rprogress %s%%' $i; done; echo; echo end")
                .says("progress 100%\nend")],
        ),
        drawn("a shorter text over a longer", "abcdef\\rXY\\n", "XYcdef"),
        drawn("a shorter text and the rest erased", "abcdef\\rXY\\033[K\\n", "XY"),
        drawn("a line erased and written again", "gone\\033[2K\\rhere\\n", "here"),
        drawn("backspaces", "abc\\b\\bX\\n", "aXc"),
        drawn("a word erased by backspaces", "abc\\b \\b\\b \\bZ\\n", "aZ"),
        drawn("a spinner", "|\\b/\\b-\\b\\\\\\b|\\bdone\\n", "done"),
        drawn(
            "lines that go up and are drawn again",
            "a: 1\\nb: 1\\n\\033[2Aa: 2\\nb: 2\\n\\033[2Aa: 3\\nb: 3\\n",
            "a: 3\\nb: 3".replace("\\n", "\n").leak(),
        ),
        drawn("lines that are erased and drawn again", "one\\ntwo\\nthree\\n\\033[3A\\033[Jnew\\n", "new"),
        drawn("a character said again", "a\\033[5b\\n", "aaaaaa"),
        drawn("a column that is gone to", "\\033[5Gx\\033[1Gy\\n", "y   x"),
        drawn("characters put in and taken out", "abc\\r\\033[2@XY\\033[4G\\033[1P\\n", "XYac"),
        drawn("a bell", "a\\ab\\n", "ab"),
        drawn("empty lines", "a\\n\\n\\nb\\n", "a\n\n\nb"),
        drawn("spaces before text", "   a\\n", "   a"),
        drawn("text without a line end", "abc", "abc"),
        drawn("line ends of another kind", "a\\r\\nb\\r\\n", "a\nb"),
        scenario(
            "tabs between words",
            EVERY,
            [run("printf 'a\\tb\\n'").like("a(\t| {7})b"), run("printf '\\tx\\n'").like("(\t| {8})x")],
        ),
    ]
}

fn screens() -> Vec<Scenario> {
    vec![
        scenario(
            "`clear` loses nothing",
            EVERY,
            [
                run("echo before; clear; echo after").holds("before").holds("after"),
                run("echo next").says("next"),
            ],
        ),
        scenario(
            "a screen that is erased with its history",
            EVERY,
            [run("seq 1 40; printf '\\033[H\\033[2J\\033[3J'; echo after")
                .holds("1\n2\n3")
                .holds("40")
                .holds("after")],
        ),
        scenario(
            "a terminal that is reset",
            EVERY,
            [
                run("seq 1 40; printf '\\033c'; echo after").holds("1\n2\n").holds("after"),
                run("echo next").says("next"),
            ],
        ),
        scenario(
            "more lines than the screen has",
            EVERY,
            [run("seq 1 100")
                .says((1..=100).map(|n| n.to_string()).collect::<Vec<_>>().join("\n"))
                .field("/total_lines", 100)],
        ),
        scenario(
            "a cursor that is sent far away",
            EVERY,
            [run("printf '\\033[999999;999999Hx\\n'; echo end").holds("end"), run("echo next").says("next")],
        ),
        scenario(
            "a region that stays set",
            EVERY,
            [
                run("printf '\\033[5;10r'"),
                run("seq 1 30").says((1..=30).map(|n| n.to_string()).collect::<Vec<_>>().join("\n")),
            ],
        ),
        scenario(
            "letters that stay switched",
            EVERY,
            [
                run("printf '\\033(0'"),
                run("echo qabc").says("qabc"),
                run("printf '\\016'"),
                run("echo qabc").says("qabc"),
            ],
        ),
        scenario("lines as a box", EVERY, [run("printf '\\033(0lqqk\\033(B ok\\n'").says("┌──┐ ok")]),
        scenario(
            "wrapping that stays off",
            EVERY,
            [run("printf '\\033[?7l'"), run("printf '%0200d\\n' 7").says(format!("{}7", "0".repeat(199)))],
        ),
        scenario(
            "colours that stay on",
            EVERY,
            [run("printf '\\033[31;7m'"), run("echo plain").says("plain")],
        ),
    ]
}

fn widths() -> Vec<Scenario> {
    let long = |length: usize| {
        run(format!("printf '%0{length}d\\n' 7"))
            .says(format!("{}7", "0".repeat(length - 1)))
            .field("/total_lines", 1)
    };
    vec![
        scenario("lines of about the width", EVERY, [79, 80, 81, 159, 160, 161].map(long)),
        scenario("lines far longer than the width", EVERY, [long(5000), long(12_000)]),
        scenario(
            "two long lines",
            EVERY,
            [run("printf '%0100d\\n%0100d\\n' 1 2")
                .says(format!("{0}1\n{0}2", "0".repeat(99)))
                .field("/total_lines", 2)],
        ),
        scenario("a long line that is drawn over", BASH, [run("printf '%0100d\\rX' 7; echo").whatever()]),
        scenario(
            "wide letters",
            EVERY,
            [
                run("echo 日本語テキスト").says("日本語テキスト"),
                run(format!("echo {}", "語".repeat(100))).says("語".repeat(100)),
            ],
        ),
        scenario(
            "a wide letter that does not fit the line",
            EVERY,
            [run("printf '%079d日本\\n' 7").says(format!("{}7日本", "0".repeat(78)))],
        ),
        scenario(
            "letters that are put together",
            EVERY,
            [run("printf '%s\\n' 'e\u{301} 👩\u{200d}👧 🇨🇿 ✌\u{1f3fd}'")
                .says("e\u{301} 👩\u{200d}👧 🇨🇿 ✌\u{1f3fd}")],
        ),
        scenario(
            "a narrow terminal",
            EVERY,
            [
                run("stty size").says("10 20"),
                run("printf '%050d\\n' 7; echo 日本語テキスト日本語テキスト")
                    .says(format!("{}7\n日本語テキスト日本語テキスト", "0".repeat(49))),
                read(json!({"from_line": 2, "to_line": 2})).field("/content", "日本語テキスト日本語テキスト"),
            ],
        )
        .opened(json!({"rows": 10, "cols": 20})),
        scenario(
            "a terminal that the shell makes wider",
            EVERY,
            [run("stty cols 200; printf '%0150d\\n' 7").says(format!("{}7", "0".repeat(149)))],
        ),
        scenario(
            "pictures in a shell's own language",
            &[Shell::Bash, Shell::Zsh],
            [run("echo $'\\u2500\\u2502 \\U1f389 \\u00e9'").says("─│ 🎉 é")],
        ),
    ]
}
