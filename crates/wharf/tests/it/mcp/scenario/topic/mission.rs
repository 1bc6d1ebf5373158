//! The examples of the tool's own documentation, in its order and with exactly its arguments.

use super::super::step::{BASH, BASH_ZSH, EVERY, Scenario, call, run, scenario};
use serde_json::{Value, json};

const TOOL: &str = "terminal_execute";

/// The arguments of an example, and nothing else that could matter: its answer is anything that is not an error.
fn example(arguments: Value) -> super::super::step::Step {
    call(TOOL, arguments)
}

pub(crate) fn table() -> Vec<Scenario> {
    let mut all = commands();
    all.extend(interactive());
    all
}

fn commands() -> Vec<Scenario> {
    vec![
        scenario(
            "basic commands",
            EVERY,
            [
                example(json!({"command": "ls -la"})).exits(0).holds("notes"),
                example(json!({"command": "cd /workspace\npwd\nls -la"})).exits(0).holds("notes"),
            ],
        )
        .file("notes", ""),
        scenario(
            "a custom timeout",
            BASH,
            [
                run("npm() { echo \"npm $*\"; }"),
                example(json!({"command": "npm install", "timeout": 60})).exits(0).says("npm install"),
            ],
        ),
        scenario(
            "long-running commands",
            BASH_ZSH,
            [
                run("python() { /usr/bin/python3 \"$@\"; }"),
                example(json!({"command": "python app.py > server.log 2>&1 &"})).exits(0).whatever(),
                run("until [ -s server.log ]; do sleep 0.05; done; cat server.log").says("serving"),
                run("echo first; sleep 100").says("first").times_out(0.3),
                example(json!({"command": "", "timeout": 5})).field("/status", "running"),
                example(json!({"command": "C-c"})).field("/status", "completed").exits(130),
                run("kill %1; wait").whatever().any("/exit_code"),
            ],
        )
        .file("app.py", "import time\nprint('serving', flush=True)\ntime.sleep(1000)\n"),
    ]
}

fn interactive() -> Vec<Scenario> {
    let hello = json!({"command": "print('Hello World')", "is_input": true});
    vec![
        scenario(
            "interactive processes",
            EVERY,
            [
                example(json!({"command": "python3"})).awaits("repl"),
                example(hello.clone()).holds("Hello World").awaits("repl"),
                example(json!({"command": "Escape", "is_input": true})).goes_on().lacks("Escape"),
                run("C-c").goes_on().whatever(),
                run("C-d").whatever(),
            ],
        ),
        scenario(
            "multiple terminal sessions",
            BASH,
            [
                example(json!({"command": "python3"})).at("python_session").awaits("repl"),
                example(hello).at("python_session").holds("Hello World").awaits("repl"),
                example(json!({"command": "ls -la"})).exits(0).holds("notes"),
                run("C-d").at("python_session").whatever(),
            ],
        )
        .file("notes", ""),
        scenario(
            "vim navigation",
            EVERY,
            [
                run("export VIMINIT='set nocompatible noswapfile viminfo='"),
                example(json!({"command": "vim file.txt"})).awaits("editor"),
                example(json!({"command": "gg", "is_input": true, "no_enter": true}))
                    .goes_on()
                    .field("/screen/cursor/row", 1),
                example(json!({"command": "5j", "is_input": true, "no_enter": true}))
                    .goes_on()
                    .field("/screen/cursor/row", 6),
                example(json!({"command": "i", "is_input": true, "no_enter": true})).goes_on(),
                example(json!({"command": "new ", "is_input": true, "no_enter": true}))
                    .goes_on()
                    .holds("new line 6"),
                example(json!({"command": "Escape", "is_input": true})).goes_on(),
                example(json!({"command": ":wq", "is_input": true})).exits(0).leaves("file.txt", written()),
            ],
        )
        .file("file.txt", lines()),
    ]
}

fn lines() -> String {
    (1..=20).map(|n| format!("line {n}\n")).collect()
}

fn written() -> String {
    lines().replace("line 6\n", "new line 6\n")
}
