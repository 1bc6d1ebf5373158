//! No escape sequence reaches the text, whole, broken or unknown, and those that ask get an answer.

use super::super::step::{BASH, EVERY, Scenario, input, run, scenario};

fn shown(name: &'static str, format: &str, seen: &str) -> Scenario {
    scenario(name, EVERY, [run(format!("printf '{format}'")).says(seen), run("echo next").says("next")])
}

/// Cut off in its middle: the command's end is still known, and the next command is whole.
fn broken(name: &'static str, format: &str) -> Scenario {
    let steps = [
        run(format!("printf '{format}'")),
        run("echo next").says("next"),
        run(format!("echo a; printf '{format}'; sh -c 'exit 3'")).says("a").exits(3),
        run("echo next").says("next"),
    ];
    scenario(name, EVERY, steps)
}

pub(crate) fn table() -> Vec<Scenario> {
    let mut all = vec![
        shown(
            "colours",
            "\\033[31mred\\033[0m \\033[1;4;38;5;208mo\\033[m \\033[38;2;1;2;3;48;2;4;5;6mt\\033[0m\\n",
            "red o t",
        ),
        shown("colours with colons", "\\033[38:2::1:2:3mx\\033[4:3my\\033[0m\\n", "xy"),
        shown("a title", "\\033]0;secret title\\007text\\033]2;more\\033\\\\!\\n", "text!"),
        shown(
            "a link",
            "\\033]8;id=1;http://example.invalid/?q=secret\\033\\\\link\\033]8;;\\033\\\\ end\\n",
            "link end",
        ),
        shown("a write to the clipboard", "\\033]52;c;c2VjcmV0\\007pasted\\n", "pasted"),
        shown("a notification", "\\033]9;secret\\007a\\033]777;notify;t;secret\\007b\\n", "ab"),
        shown(
            "a picture",
            "\\033Pq#0;2;0;0;0~~\\033\\\\a\\033_Gf=100;secret\\033\\\\b\\033^secret\\033\\\\c\\n",
            "abc",
        ),
        shown("a picture in a title", "\\033]1337;File=inline=1:c2VjcmV0\\007a\\n", "a"),
        shown(
            "modes",
            "\\033[?25la\\033[?25h\\033[?1000h\\033[?1006hb\\033[?1000l\\033[?2004hc\\033[?2004l\\n",
            "abc",
        ),
        shown(
            "sequences that nobody knows",
            "\\033[>4;2ma\\033[?9999hb\\033[1;2;3zc\\033#8d\\033%%Ge\\n",
            "abcde",
        ),
        // Some terminals take these for escape sequences; to the others they are characters without a picture.
        scenario(
            "eight-bit controls",
            EVERY,
            [run("printf 'a\\302\\2331mb\\302\\235s\\302\\234c\\n'")
                .like("abc|a\u{fffd}?1mb\u{fffd}?s\u{fffd}?c")],
        ),
    ];
    all.extend([
        broken("an escape character and no more", "\\033"),
        broken("a sequence that does not end", "\\033[31"),
        broken("a title that does not end", "\\033]0;never ended"),
        broken("a link that does not end", "\\033]8;;http://example.invalid"),
        broken("a picture that does not end", "\\033Pq#0"),
        broken("a private string that does not end", "\\033_private"),
        broken("half a letter", "\\033[0m"),
    ]);
    all.extend(questions());
    all
}

/// What reads an answer ends only if one comes.
fn questions() -> Vec<Scenario> {
    let asks = |ask: &str, until: &str| {
        run(format!(
            "stty -echo; printf '{ask}'; IFS= read -rt 5 -d '{until}' x; r=$?; stty echo; printf '%q %s\\n' \"$x\" $r"
        ))
    };
    vec![
        scenario(
            "where the cursor is",
            BASH,
            [
                asks("\\033[6n", "R").like(r"\$'\\E\[\d+;1' 0"),
                asks("ab\\033[6n", "R").like(r"ab\$'\\E\[\d+;3' 0"),
            ],
        ),
        scenario(
            "what kind of terminal it is",
            BASH,
            [
                asks("\\033[c", "c").like(r"\$'\\E\[\?[0-9;]+' 0"),
                asks("\\033[>c", "c").like(r"\$'\\E\[>[0-9;]+' 0"),
            ],
        ),
        scenario("whether it is well", BASH, [asks("\\033[5n", "n").like(r"\$'\\E\[0' 0")]),
        scenario(
            "which colours it has",
            BASH,
            [
                asks("\\033]10;?\\033\\\\", "\\").like(r"\$'\\E\]10;rgb:[0-9a-f/]+\\E' 0"),
                asks("\\033]11;?\\033\\\\", "\\").like(r"\$'\\E\]11;rgb:[0-9a-f/]+\\E' 0"),
            ],
        ),
        scenario(
            "whether it has a mode",
            BASH,
            [asks("\\033[?2004$p", "y").like(r"\$'\\E\[\?2004;[0-4]\$' 0")],
        ),
        scenario("its size in characters", BASH, [asks("\\033[18t", "t").like(r"\$'\\E\[8;24;80' 0")]),
        scenario(
            "answers that nobody reads are not typed into the shell",
            EVERY,
            [
                run("printf '\\033[c\\033[6n\\033[>c\\033]11;?\\007\\033[5n'"),
                run("echo next").says("next"),
                run("printf '\\033[c'; sleep 0.2; printf '\\033[6n'").whatever(),
                run("echo again").says("again"),
                run("read x; echo \"[$x]\"").awaits("text"),
                input("mine").holds("[mine]"),
            ],
        ),
    ]
}
