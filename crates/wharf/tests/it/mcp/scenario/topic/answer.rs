//! What is typed into a program that waits: text, lines and keys.

use super::super::step::{EVERY, Scenario, input, key, run, scenario, typed};

pub(crate) fn table() -> Vec<Scenario> {
    vec![
        scenario(
            "text without Enter, and Enter",
            EVERY,
            [
                run("read -r x").awaits("text"),
                typed("ab").awaits("text").whatever(),
                typed("cd").awaits("text").whatever(),
                key("Enter").whatever(),
                run("echo $x").says("abcd"),
            ],
        ),
        scenario(
            "keys edit a line",
            EVERY,
            [
                run("cat >f").awaits("text"),
                typed("abc").goes_on().whatever(),
                key("BSpace").goes_on().whatever(),
                key("Enter").goes_on().whatever(),
                typed("gone").goes_on().whatever(),
                key("C-u").goes_on().whatever(),
                input("x").goes_on().whatever(),
                key("C-d").whatever().leaves("f", "ab\nx\n"),
            ],
        ),
        scenario(
            "several lines at once",
            EVERY,
            [
                run("cat >f").awaits("text"),
                input("one\n\ttwo  \n'three'").awaits("text").whatever(),
                key("C-d").whatever().leaves("f", "one\n\ttwo  \n'three'\n"),
            ],
        ),
        scenario(
            "a name of a key as text",
            EVERY,
            [
                run("cat >f").awaits("text"),
                input("Enter the name").awaits("text").whatever(),
                input("echo F1").awaits("text").whatever(),
                key("C-d").whatever().leaves("f", "Enter the name\necho F1\n"),
            ],
        ),
        scenario(
            "an empty line",
            EVERY,
            [run("read -r x; echo \"[$x]\"").awaits("text"), key("Enter").holds("[]")],
        ),
        scenario(
            "letters of every alphabet as input",
            EVERY,
            [
                run("cat >f").awaits("text"),
                input("é日🎉").awaits("text").whatever(),
                key("C-d").whatever().leaves("f", "é日🎉\n"),
            ],
        ),
        scenario(
            "3 KB in one line of input",
            EVERY,
            [
                run("cat >f").awaits("text"),
                input(&"x".repeat(3000)).awaits("text").whatever(),
                key("C-d").whatever().leaves("f", format!("{}\n", "x".repeat(3000))),
            ],
        ),
        scenario(
            "100 KB of input in lines",
            EVERY,
            [
                run("cat >f").awaits("text"),
                input(&"0123456789abcdef\n".repeat(6000)).awaits("text").whatever(),
                key("C-d").whatever().that("every byte", |_, dir| {
                    // The last line is ended by the Enter, or was by itself.
                    std::fs::read(dir.join("f"))
                        .is_ok_and(|got| got.starts_with("0123456789abcdef\n".repeat(6000).as_bytes()))
                }),
            ],
        ),
    ]
}
