//! What is refused says why and how to go on, and changes nothing.

use super::super::step::{EVERY, Scenario, call, collect, input, key, release, run, scenario, typed};
use serde_json::json;

pub(crate) fn table() -> Vec<Scenario> {
    let mut all = busy();
    all.extend(keys());
    all.extend(arguments());
    all
}

fn busy() -> Vec<Scenario> {
    vec![
        scenario(
            "a command while another runs says what runs and how to go on",
            EVERY,
            [
                run("sleep 100").times_out(0.2),
                run("touch made").refused(&["sleep 100", "running", "is_input", "C-c"]).leaves_no("made"),
                key("C-c").exits(130).whatever().leaves_no("made"),
                run("echo ok").says("ok"),
            ],
        ),
        scenario(
            "a refusal takes no output away",
            EVERY,
            [
                run("mkfifo gate"),
                run("read x <gate; echo seen").times_out(0.1),
                run("echo no").refused(&["read x <gate; echo seen"]),
                release("gate"),
                collect().says("seen"),
            ],
        ),
        scenario(
            "a command while a program waits for input is refused and not typed into it",
            EVERY,
            [
                run("cat >f").awaits("text"),
                run("touch made").refused(&["cat >f"]),
                key("C-d").whatever().leaves("f", "").leaves_no("made"),
            ],
        ),
        scenario(
            "many refusals in a row",
            EVERY,
            [
                run("sleep 100").times_out(0.1),
                run("a").refused(&["sleep 100"]),
                run("b").refused(&["sleep 100"]),
                run("c; d").refused(&["sleep 100"]),
                key("C-c").exits(130).whatever(),
            ],
        ),
        scenario(
            "input with nothing running names the next call",
            EVERY,
            [
                input("y").refused(&["othing is running", "terminal_execute"]),
                typed("y").refused(&["othing is running"]),
                run("echo $?").says("0"),
            ],
        ),
    ]
}

fn keys() -> Vec<Scenario> {
    let wrong = |name: &str, right: &str| run(name).refused(&[right]);
    vec![
        scenario(
            "a wrong name of a key is answered with the right one",
            EVERY,
            [
                run("cat >f").awaits("text"),
                wrong("Ctrl-C", "C-c"),
                wrong("Ctrl+C", "C-c"),
                wrong("ctrl-d", "C-d"),
                wrong("^C", "C-c"),
                wrong("Esc", "Escape"),
                wrong("Return", "Enter"),
                wrong("Backspace", "BSpace"),
                wrong("Delete", "DC"),
                key("C-d").whatever().leaves("f", ""),
            ],
        ),
        scenario(
            "a wrong name of a key is text if it is meant as input",
            EVERY,
            [
                run("cat >f").awaits("text"),
                input("Ctrl-C").awaits("text").whatever(),
                input("Return").awaits("text").whatever(),
                key("C-d").whatever().leaves("f", "Ctrl-C\nReturn\n"),
            ],
        ),
        scenario(
            "a wrong name of a key is a command if nothing runs",
            EVERY,
            [run("Backspace").exits(127).holds("Backspace"), run("Delete").exits(127).holds("Delete")],
        ),
        scenario(
            "each key by its name",
            EVERY,
            [
                ("Up", "1b 5b 41"),
                ("Down", "1b 5b 42"),
                ("Right", "1b 5b 43"),
                ("Left", "1b 5b 44"),
                ("PageUp", "1b 5b 35 7e"),
                ("PgDn", "1b 5b 36 7e"),
                ("F5", "1b 5b 31 35 7e"),
                ("DC", "1b 5b 33 7e"),
                ("BTab", "1b 5b 5a"),
                ("S-Up", "1b 5b 31 3b 32 41"),
                ("C-Right", "1b 5b 31 3b 35 43"),
                ("M-x", "1b 78"),
                ("Tab", "09"),
                ("BSpace", "7f"),
                ("C-x", "18"),
                ("C-Space", "00"),
            ]
            .into_iter()
            .flat_map(|(name, hex)| {
                // As many bytes as the key has.
                let count = hex.split(' ').count();
                let program =
                    format!("stty raw -echo; dd bs=1 count={count} 2>/dev/null | od -An -tx1; stty sane");
                [run(program).goes_on().whatever(), key(name).holds(hex)]
            })
            .collect::<Vec<_>>(),
        ),
    ]
}

fn arguments() -> Vec<Scenario> {
    vec![
        scenario(
            "arguments that do not fit are refused and nothing is run",
            EVERY,
            [
                run("touch made").with("timeout", "soon").refused(&["timeout must be"]).leaves_no("made"),
                run("touch made").with("is_input", "soon").refused(&["is_input must be"]).leaves_no("made"),
                call("terminal_execute", json!({"command": ["touch", "made"]})).refused(&["command must be"]),
                call("terminal_execute", json!({})).refused(&["command is missing"]),
                call("terminal_execute", json!({"command": "touch made", "terminal_id": {}}))
                    .refused(&["terminal_id must be"])
                    .leaves_no("made"),
                call("terminal_kill", json!({})).refused(&[]),
                run("echo ok").says("ok"),
            ],
        ),
        scenario(
            "what can only have been meant one way is taken that way",
            EVERY,
            [
                run("echo ok")
                    .with("is_imput", true)
                    .says("ok")
                    .notice("ignored: is_imput; terminal_execute has"),
                run("echo ok").with("timeout", "30").with("no_enter", "false").says("ok"),
                run("seq 1 9000").with("max_bytes", 5).whatever().notice("max_bytes was taken as 1024"),
                call("terminal_execute", json!({"command": true})).exits(0),
            ],
        ),
        scenario("a command of spaces", EVERY, [run("   ").any("/exit_code"), run("echo ok").says("ok")]),
    ]
}
