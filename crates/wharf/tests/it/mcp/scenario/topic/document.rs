//! Here-documents and commands that are longer than a terminal takes at once.

use super::super::step::{BASH_ZSH, EVERY, Scenario, run, scenario};

pub(crate) fn table() -> Vec<Scenario> {
    let mut all = documents();
    all.extend(long());
    all
}

fn documents() -> Vec<Scenario> {
    vec![
        scenario(
            "a document that is taken as it is",
            EVERY,
            [run("cat <<'EOF'\n$x `y` \\ \"q\" 'p' !! $(z)\n\ttab\nEOF")
                .like("\\$x `y` \\\\ \"q\" 'p' !! \\$\\(z\\)\n(\t| {8})tab")],
        ),
        scenario(
            "a document into a file",
            EVERY,
            [run("cat >f <<'EOF'\n\tall:\n\t\tcc $< -o $@ # \\\n\n  \\t !x\nEOF")
                .leaves("f", "\tall:\n\t\tcc $< -o $@ # \\\n\n  \\t !x\n")],
        ),
        scenario(
            "a document in which names are replaced",
            EVERY,
            [run("x=1; cat <<EOF\n$x ${x}2 $((x + 2)) $(echo 4) \\$x \"$x\"\nEOF").says("1 12 3 4 $x \"1\"")],
        ),
        scenario(
            "a document whose indentation goes",
            EVERY,
            [run("cat <<-EOF\n\t\tone\n\t two\n\tEOF").says("one\n two")],
        ),
        scenario("two documents of one line", EVERY, [run("cat <<A; cat <<'B'\n1\nA\n$2\nB").says("1\n$2")]),
        scenario(
            "a document in which something looks like its end",
            EVERY,
            [run("cat <<EOF\n EOF\nEOF \nxEOF\nEOF").like(" EOF\nEOF ?\nxEOF")],
        ),
        scenario(
            "a document and commands after it",
            EVERY,
            [run("cat <<EOF\nx\nEOF\necho after\nfalse").says("x\nafter").exits(1)],
        ),
        scenario(
            "a document in a loop in a function",
            EVERY,
            [
                run("f() {\n  for i in 1 2; do\n    cat <<EOF\nn $i\nEOF\n  done\n}"),
                run("f").says("n 1\nn 2"),
            ],
        ),
        scenario("a document of one string", BASH_ZSH, [run("cat <<< \"a  b\"").says("a  b")]),
        scenario(
            "a document for an interpreter",
            EVERY,
            [run("/usr/bin/python3 - <<'PY'\nfor i in range(2):\n    print(f'{i}: {\"x\" * i!r}')\nPY")
                .says("0: ''\n1: 'x'")],
        ),
        scenario(
            "an empty document",
            EVERY,
            [run("cat <<EOF\nEOF"), run("wc -c </dev/null | tr -d ' '").says("0")],
        ),
    ]
}

fn long() -> Vec<Scenario> {
    // Around the most that a terminal takes in one line.
    let lengths = [1000, 4000, 4090, 4094, 4095, 4096, 4097, 8192, 20_000];
    let word = |length: usize| "x".repeat(length);
    let every_character: String = (' '..='~').chain(['é', '日', '🎉', '\t']).collect();
    let lines: String = (0..10_200).map(|n| format!("{n} {every_character}\n")).collect();
    let tabbed: String = (0..3000).map(|n| format!("\tline {n}\t\n")).collect();
    let quoted = every_character.repeat(900).replace('\'', "");
    vec![
        scenario(
            "lines of any length",
            EVERY,
            lengths.map(|length| run(format!("x={}; echo ${{#x}}", word(length))).says(length.to_string())),
        ),
        scenario(
            "100 KB in one argument",
            EVERY,
            [run(format!("printf %s '{quoted}' >f")).leaves("f", quoted.clone()), run("echo ok").says("ok")],
        ),
        scenario(
            "1 MB in a document",
            EVERY,
            [
                run(format!("cat >f <<'END'\n{lines}END")).leaves("f", lines.clone()),
                run("echo ok").says("ok"),
            ],
        ),
        scenario(
            "1 MB in one word",
            EVERY,
            [run(format!("x={}; echo ${{#x}}", word(1_000_000))).says("1000000"), run("echo ok").says("ok")],
        ),
        scenario(
            "3,000 lines with tabs",
            EVERY,
            [run(format!("cat >f <<'END'\n{tabbed}END")).leaves("f", tabbed.clone())],
        ),
        scenario(
            "a script of 2,000 commands",
            EVERY,
            [run(format!("x=0\n{}echo $x", "x=$((x + 1))\n".repeat(2000))).says("2000")],
        ),
    ]
}
