//! A command that is the name of a key is that key while something runs, however it is called.

use super::super::step::{BASH_ZSH, EVERY, Scenario, input, key, run, scenario, typed};

/// What the terminal tool's own documentation names, and what a program reads of it, in hexadecimal.
const KEYS: [(&str, &str); 38] = [
    ("C-a", "01"),
    ("C-e", "05"),
    ("C-k", "0b"),
    ("C-l", "0c"),
    ("C-u", "15"),
    ("C-w", "17"),
    ("Up", "1b 5b 41"),
    ("Down", "1b 5b 42"),
    ("Right", "1b 5b 43"),
    ("Left", "1b 5b 44"),
    ("Home", "1b 5b 48"),
    ("End", "1b 5b 46"),
    ("PageUp", "1b 5b 35 7e"),
    ("PageDown", "1b 5b 36 7e"),
    ("PgUp", "1b 5b 35 7e"),
    ("PgDn", "1b 5b 36 7e"),
    ("F1", "1b 4f 50"),
    ("F2", "1b 4f 51"),
    ("F3", "1b 4f 52"),
    ("F4", "1b 4f 53"),
    ("F5", "1b 5b 31 35 7e"),
    ("F6", "1b 5b 31 37 7e"),
    ("F11", "1b 5b 32 33 7e"),
    ("F12", "1b 5b 32 34 7e"),
    ("Enter", "0d"),
    ("Escape", "1b"),
    ("Space", "20"),
    ("Tab", "09"),
    ("BTab", "1b 5b 5a"),
    ("BSpace", "7f"),
    ("DC", "1b 5b 33 7e"),
    ("IC", "1b 5b 32 7e"),
    ("M-f", "1b 66"),
    ("M-b", "1b 62"),
    ("S-F6", "1b 5b 31 37 3b 32 7e"),
    ("S-Tab", "1b 5b 5a"),
    ("S-Up", "1b 5b 31 3b 32 41"),
    ("M-Enter", "1b 0d"),
];

/// Prints all that it reads up to a `q`. An Enter that nobody pressed would be among it.
const READER: &str = "/usr/bin/python3 -c '
import os, tty
tty.setraw(0)
all = b\"\"
while not all.endswith(b\"q\"): all += os.read(0, 99)
print(all[:-1].hex(\" \"))'; stty sane";

pub(crate) fn table() -> Vec<Scenario> {
    let mut all = pressed();
    all.extend(words());
    all
}

fn pressed() -> Vec<Scenario> {
    let ways: [(&str, &[&str]); 4] = [
        ("alone", &[]),
        ("as input", &["is_input"]),
        ("without Enter", &["no_enter"]),
        ("as input without Enter", &["is_input", "no_enter"]),
    ];
    let hex = KEYS.map(|(_, hex)| hex).join(" ");
    let row = |(way, flags): (&str, &[&str])| {
        let press = |name| flags.iter().fold(key(name), |step, flag| step.with(flag, true));
        let keys = KEYS.map(|(name, _)| press(name).with("timeout", 0).goes_on().whatever());
        let mut steps = vec![run(READER).goes_on().whatever()];
        steps.extend(keys);
        steps.push(typed("q").holds(&hex));
        scenario(format!("every key, {way}"), EVERY, steps)
    };
    ways.into_iter().map(row).collect()
}

fn words() -> Vec<Scenario> {
    vec![
        scenario(
            "the name of a key as a word",
            EVERY,
            [
                run("cat >f").awaits("text"),
                input("End").with("literal", true).awaits("text").holds("End"),
                key("Home").with("literal", true).awaits("text").holds("Home"),
                typed("Esc").goes_on().whatever(),
                typed("Escape").with("literal", true).goes_on().whatever(),
                input("").goes_on().whatever(),
                key("C-d").whatever().leaves("f", "End\nHome\nEscEscape\n"),
            ],
        ),
        scenario(
            "a key that could have been meant as a word says how to type it",
            BASH_ZSH,
            [
                run("cat >f").awaits("text"),
                input("Tab")
                    .goes_on()
                    .whatever()
                    .notice("the key Tab was pressed; to type the word instead: terminal_execute"),
                key("Tab").goes_on().whatever().that("no word", |answer, _| answer.get("notice").is_none()),
                input("C-u").goes_on().whatever().that("no word", |answer, _| answer.get("notice").is_none()),
                key("C-d").whatever().leaves("f", ""),
            ],
        ),
        scenario(
            "a text that was probably meant as a key says how to press it",
            BASH_ZSH,
            [
                run("cat >f").awaits("text"),
                input("Esc")
                    .goes_on()
                    .whatever()
                    .notice("typed as text; to press the key Escape: terminal_execute"),
                input("hello")
                    .goes_on()
                    .whatever()
                    .that("no word", |answer, _| answer.get("notice").is_none()),
                key("C-d").whatever().leaves("f", "Esc\nhello\n"),
            ],
        ),
        scenario(
            "what only looks like a key is text",
            EVERY,
            [
                run("cat >f").awaits("text"),
                input("up").goes_on().whatever(),
                input("Up Down").goes_on().whatever(),
                input("C-compile").goes_on().whatever(),
                key("C-d").whatever().leaves("f", "up\nUp Down\nC-compile\n"),
            ],
        ),
    ]
}
