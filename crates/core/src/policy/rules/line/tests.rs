//! Lines and the simple commands in them.

use super::*;

/// The commands of a line, one string each; a gap is a star, a word that is cut has `+` behind it.
fn commands(line: &str) -> Vec<String> {
    let parsed = parse(line.as_bytes(), Dialect::Bash);
    assert_eq!(parsed.trouble, None, "{line}");
    let show = |word: &Word| {
        let text: String = word.shape.iter().map(|byte| byte.map_or('*', char::from)).collect();
        if word.count == crate::policy::rules::shape::Count::One { text } else { text + "+" }
    };
    let whole = parsed.commands.iter().filter(|command| !command.words.is_empty());
    whole.map(|command| command.words.iter().map(show).collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn a_line_is_its_simple_commands() {
    for (line, expect) in [
        ("a b c", &["a b c"][..]),
        ("a;b&c", &["a", "b", "c"]),
        ("a 'b c' \"d e\" f\\ g", &["a b c d e f g"]),
        ("a # b; c", &["a"]),
        ("a#b", &["a#b"]),
        ("A=1 a B=2", &["a B=2"]),
        ("a $(b; c) d", &["b", "c", "a *+ d"]),
        ("a \"$(b)\"", &["b", "a *"]),
        ("a \"x${y}z\"", &["a x*z"]),
        ("a *.c", &["a *.c+"]),
        ("a '*.c'", &["a *.c"]),
        ("a [", &["a ["]),
        ("[ x ]", &["[ x ]"]),
        ("a x[0-9]y", &["a x*+"]),
        ("a x{1,2}y {} {x}", &["a x*+ {} {x}"]),
        ("a ~/x ~u/y z~", &["a */x */y z~"]),
        ("a $'x\\ty\\'' $'\\x41\\101\\u00e9'", &["a x\ty' AA\u{c3}\u{a9}"]),
        ("a <<X b\nbody\nX\nc", &["a b", "c"]),
        ("a >b 2>&1 <c d", &["a d"]),
        ("a &>b c", &["a c"]),
        ("case a in (b|c) d;; e) f;& *) g;; esac; h", &["d", "f", "g", "h"]),
        ("x=$(case a in b) c;; esac)", &["c"]),
        ("if a; then b; elif c; then d; else e; fi > f", &["a", "b", "c", "d", "e"]),
        ("a() { b; }\nc", &["b", "c"]),
        ("function a() ( b )", &["b"]),
        ("while a; do b; done < c | d", &["a", "b", "d"]),
        ("for i; do a; done", &["a"]),
        ("for i in x y\ndo a; done", &["a"]),
        ("((i++)); a", &["a"]),
        ("a $((1+(2*3))) $[1+2]", &["a *+ *+"]),
        ("a=(x y\n z) b", &["b"]),
        ("{ a; } 2>&1; b", &["a", "b"]),
        ("a \\\n b", &["a b"]),
        ("echo \"a\\\"b\\$c\\d\"", &["echo a\"b$c\\d"]),
        ("a $ b$", &["a $ b$"]),
    ] {
        assert_eq!(commands(line), expect, "{line}");
    }
}

#[test]
fn redirections_and_bodies_are_kept() {
    let parsed = parse(b"a >b <<X <<<'c d'\n$(e)f\nX\n", Dialect::Bash);
    assert_eq!(parsed.trouble, None);
    let command = parsed.commands.iter().find(|command| !command.redirects.is_empty()).unwrap();
    assert_eq!(command.redirects, [Redirect::File(Word::known(b"b")), Redirect::Here(0), Redirect::Here(1)]);
    assert_eq!(parsed.bodies[0].shape, [None, Some(b'f'), Some(b'\n')]);
    assert_eq!(parsed.bodies[1], Word::known(b"c d"));
}

#[test]
fn what_is_not_closed_or_out_of_place_is_trouble_and_the_rest_is_kept() {
    for (line, expect) in [
        ("a; b '", LineError::Unfinished("a quotation")),
        ("a; b $(", LineError::Unfinished("a group, loop or substitution")),
        ("a; b; )", LineError::Unexpected { byte: b')', at: 6 }),
        ("a; b; fi", LineError::Unexpected { byte: b'f', at: 6 }),
        ("a; b; c >", LineError::Unfinished("a command")),
        ("a; b; c `d", LineError::Unfinished("a backtick")),
    ] {
        let parsed = parse(line.as_bytes(), Dialect::Bash);
        assert_eq!(parsed.trouble, Some(expect), "{line}");
        assert!(!parsed.commands.is_empty());
    }
}
