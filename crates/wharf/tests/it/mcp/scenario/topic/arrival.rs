//! A command arrives as it was written: every quote, control character and letter of it.

use super::super::step::{BASH_ZSH, EVERY, Scenario, Step, ZSH, run, scenario};
use serde_json::json;

/// What is between the quotes, byte by byte.
fn bytes(quoted: &str, hex: &str) -> Step {
    run(format!("printf %s {quoted} | od -An -v -tx1")).says(hex)
}

pub(crate) fn table() -> Vec<Scenario> {
    let mut all = quotes();
    all.extend(characters());
    all.extend(separators());
    all.extend(words());
    all
}

fn quotes() -> Vec<Scenario> {
    vec![
        scenario(
            "single quotes keep what is in them",
            EVERY,
            [run(r#"printf '%s\n' 'a "b" $c `d` \e'"#).says(r#"a "b" $c `d` \e"#)],
        ),
        scenario(
            "a quote in single quotes",
            EVERY,
            [run(r"printf '%s\n' 'it'\''s'").says("it's"), run(r#"printf '%s\n' "it's""#).says("it's")],
        ),
        scenario(
            "double quotes with everything escaped in them",
            EVERY,
            [run(r#"x=v; printf '%s\n' "a $x \"q\" \\ \$x \`""#).says(r#"a v "q" \ $x `"#)],
        ),
        scenario(
            "exclamation marks are no history",
            EVERY,
            [
                run(r#"printf '%s\n' "A!B !! !$ !x" hi!there"#).says("A!B !! !$ !x\nhi!there"),
                run("! false").exits(0),
                run("! true").exits(1),
            ],
        ),
        scenario(
            "quotes inside substitutions inside quotes",
            EVERY,
            [
                run(r#"echo "$(echo "a $(echo 'b "c"')")""#).says(r#"a b "c""#),
                run(r"echo `echo \`echo deep\``").says("deep"),
            ],
        ),
        scenario(
            "the quoting that names characters",
            BASH_ZSH,
            [bytes(r"$'a\tb\n\x01\u00e9\''", " 61 09 62 0a 01 c3 a9 27")],
        ),
        scenario(
            "backslashes and percent signs are not read on the way",
            EVERY,
            [
                run(r"printf '%s\n' 'a\b\\c\n\0101\x41\c stop %d %% %b'")
                    .says(r"a\b\\c\n\0101\x41\c stop %d %% %b"),
                run(r"printf '%s|' \\ \\\\ a\ b \'").says(r"\|\\|a b|'|"),
            ],
        ),
        scenario(
            "JSON as an argument",
            EVERY,
            [run(r#"printf '%s\n' '{"a":[1,"x\n\u00e9"],"b":null,"c":"\\"}'"#)
                .says(r#"{"a":[1,"x\n\u00e9"],"b":null,"c":"\\"}"#)],
        ),
        scenario(
            "patterns in quotes are not matched",
            EVERY,
            [run("printf '%s ' '*' '?' '[a]' '~' '{a,b}' '#' '=ls'").like(r"\* \? \[a\] ~ \{a,b\} # =ls ?")],
        ),
    ]
}

fn characters() -> Vec<Scenario> {
    vec![
        scenario(
            "tabs stay tabs in quotes and separate words outside",
            EVERY,
            [bytes("'a\tb\t'", " 61 09 62 09"), run("printf '<%s>'\ta\t\tb\t").says("<a><b>")],
        ),
        scenario(
            "control characters arrive and do nothing on the way",
            EVERY,
            [
                bytes("'\u{1}\u{2}\u{3}\u{4}\u{5}\u{6}\u{7}\u{8}'", " 01 02 03 04 05 06 07 08"),
                bytes("'\u{b}\u{c}\u{e}\u{f}\u{10}\u{11}\u{12}\u{13}'", " 0b 0c 0e 0f 10 11 12 13"),
                bytes("'\u{14}\u{15}\u{16}\u{17}\u{18}\u{19}\u{1a}\u{1b}'", " 14 15 16 17 18 19 1a 1b"),
                bytes("'\u{1c}\u{1d}\u{1e}\u{1f}\u{7f}'", " 1c 1d 1e 1f 7f"),
            ],
        ),
        scenario("a carriage return is a character", EVERY, [bytes("'a\rb\r\n'", " 61 0d 62 0d 0a")]),
        scenario(
            "a paste's own marks are characters",
            EVERY,
            [bytes("'\u{1b}[200~x\u{1b}[201~'", " 1b 5b 32 30 30 7e 78 1b 5b 32 30 31 7e")],
        ),
        scenario(
            "a NUL cannot be in a command, which is said",
            EVERY,
            [run("echo a\u{0}b").refused(&["NUL"]), run("echo $?").says("0")],
        ),
        scenario(
            "letters of every alphabet",
            EVERY,
            [
                run("printf '%s\\n' 'žluťoučký 日本語 Ελλάδα עברית 🎉'")
                    .says("žluťoučký 日本語 Ελλάδα עברית 🎉"),
                bytes("'é日🎉'", " c3 a9 e6 97 a5 f0 9f 8e 89"),
            ],
        ),
        scenario(
            "letters of every alphabet where the locale knows none",
            EVERY,
            [bytes("'é日🎉'", " c3 a9 e6 97 a5 f0 9f 8e 89"), run("printf '%s\\n' é").says("é")],
        )
        .opened(json!({"env": {"LC_ALL": "C", "LANG": "C"}})),
        scenario(
            "characters that cannot be seen",
            EVERY,
            [bytes("'\u{feff}\u{200d}\u{2028}\u{a0}'", " ef bb bf e2 80 8d e2 80 a8 c2 a0")],
        ),
    ]
}

fn separators() -> Vec<Scenario> {
    vec![
        scenario("a comment at the end", EVERY, [run("echo hi # and 'more").says("hi")]),
        scenario("nothing but a comment", EVERY, [run("# nothing"), run("echo ok").says("ok")]),
        scenario(
            "a backslash at the end is what it is for `sh -c`",
            EVERY,
            [run(r"printf '%s\n' a\").says("a\\"), run("echo ok").says("ok")],
        ),
        scenario(
            "separators at the end",
            EVERY,
            [
                run("echo a;").says("a"),
                run("echo a ; ").says("a"),
                run("echo b\n").says("b"),
                run("\n\n  echo c\n\n").says("c"),
            ],
        ),
        scenario(
            "`find -exec` with its escaped semicolon",
            EVERY,
            [
                run(r"find . -maxdepth 0 -exec echo found {} \;").says("found ."),
                run(r"echo a \; b").says("a ; b"),
            ],
        ),
        scenario("operators that are escaped", EVERY, [run(r"echo a\&b\|c\<d\>e\(f\)").says("a&b|c<d>e(f)")]),
        scenario(
            "lines are run one after the other",
            EVERY,
            [run("a=1\nb=2\n\n# sum\necho $((a + b))").says("3")],
        ),
        scenario("lines that go on", EVERY, [run("echo a \\\n  b \\\n  c").says("a b c")]),
        scenario(
            "a line break in quotes",
            EVERY,
            [run("printf '%s\\n' 'first\n  second\n\nlast'").says("first\n  second\n\nlast")],
        ),
        scenario("spaces before a command", EVERY, [run("   echo spaced").says("spaced")]),
    ]
}

fn words() -> Vec<Scenario> {
    vec![
        scenario(
            "a command that is named like a key",
            EVERY,
            [
                run("Home").exits(127).holds("Home"),
                run("F1() { echo \"F1 with $# words\"; }"),
                run("F1").says("F1 with 0 words"),
                run("F1 a b").says("F1 with 2 words"),
                run("Enter").exits(127).holds("Enter"),
                run("Up && echo no").exits(127).lacks("no\n"),
            ],
        ),
        scenario(
            "a command that begins like a key",
            EVERY,
            [run("C-compile --help").exits(127).holds("C-compile"), run("M-x.sh").exits(127).holds("M-x.sh")],
        ),
        scenario(
            "a command that begins with a dash",
            EVERY,
            [run("-n").exits(127).holds("-n"), run("--help").exits(127).holds("--help")],
        ),
        scenario("arguments that begin with a dash", EVERY, [run("printf -- '-n %s\\n' -e").says("-n -e")]),
        scenario(
            "words of the shell's own grammar",
            EVERY,
            [
                run("case x in (x) echo in;; esac").says("in"),
                run("for i in 1 2 3; do printf %s $i; done; echo").says("123"),
                run("if false; then echo a; elif true; then echo b; else echo c; fi").says("b"),
                run("i=0; while [ $i -lt 3 ]; do i=$((i + 1)); done; echo $i").says("3"),
                run("{ echo a; echo b; } | wc -l | tr -d ' '").says("2"),
                run("(echo sub)").says("sub"),
            ],
        ),
        scenario(
            "words of the larger shells' grammar",
            BASH_ZSH,
            [
                run("[[ abc == a* && 5 -gt 3 ]] && echo yes").says("yes"),
                run("((x = 5 * 3)); echo $x").says("15"),
                run("for ((i = 0; i < 3; i++)); do echo -n $i; done").says("012"),
                run("cat <(echo one) <(echo two)").says("one\ntwo"),
                run("echo {a,b}{1..3}").says("a1 a2 a3 b1 b2 b3"),
            ],
        ),
        scenario(
            "words of zsh's own grammar",
            ZSH,
            [
                run("print -l ${(s:,:)${:-a,b}}").says("a\nb"),
                run("repeat 3 echo -n x").says("xxx"),
                run("for x (1 2) echo $x").says("1\n2"),
            ],
        ),
        scenario(
            "standard output and error in the order in which they were written",
            EVERY,
            [run("echo a; echo b >&2; echo c").says("a\nb\nc")],
        ),
    ]
}
