//! What a command may print to make a terminal answer, report, take something into its clipboard, or be controlled: none
//! of it has any effect, however it is written.

use super::{however_cut, passed};

/// Control sequences without their introducer: questions for an answer.
const QUESTIONS: &str = "\
    c 0c 1c >c >0c =c =0c 5n 6n ?6n ?15n ?25n ?26n ?53n ?55n ?56n ?62n ?63n ?75n ?85n ?996n x 0x 1x 11t 13t \
    14t 15t 16t 18t 19t 20t 21t 13;2t 14;2t 15;2t 4$p 20$p ?2026$p ?1004$p >q >0q ?u ?4m ?1;1;0S \
    1;1;1;1;1;1*y 1$w 2$w 1$u 2;1$u &u 1&u \"v 1\"v #R #S 1#S #| 1;2#| 1'| 0'| ?1g 1+w 1,u ?1$w >1y ?6c";

/// The same: control of the terminal itself, of its printer, its keyboard, its window and what it reports unasked.
const CONTROLS: &str = "\
    i 0i 4i 5i ?1i ?4i ?5i 1t 2t 3;10;10t 4;600;800t 5t 6t 7t 8;50;200t 9;1t 10;1t 24t 50t 2h 12l 20h ?3h \
    ?40h ?67h ?1001h ?2031h ?2048h ?5522h ?9001h ?66540h ?99999999999h ?1;1s ?1049r >2t >1T >3p >1s \
    1;2;3;4;5T 62;1\"p 1\"q 1$} 1$~ 'z 1;2'z 1;3'{ 1;2'w 4;2y 1v 1w 1q 3p 1+p 1)p 1*p 1*| 80$| 1;1;1;1$z \
    88;1;1;2;2$x 1;1;2;2;1;3;3;1$v 1'} 1'~ #p #q #{ #} 1} 1| 1~ 65554t 4294967314t 4294967302n";

/// Commands without their introducer and their end: clipboards, colours and fonts asked for or set, files, notifications,
/// remote control.
const COMMANDS: &str = "\
    52;c;ZXZpbA== 52;c;? 52;;? 52;p;ZXZpbA== 52 5522;type=read 5522;type=write 4;1;? 4;1;?;2;? 4;1;#ff0000 \
    5;1;? 10;? 11;? 12;? 13;? 14;? 17;? 19;? 10;#ff0000 11;rgb:ff/00/00 104 110 21;foreground=? \
    22;?__current__ 22;pointer 50;? 50;?+0 50;#1 60 61 60;x 3;PROP=x 9;7;cmd 9;1;500 9;4;1;50 9;note \
    99;i=1:a=report;x 777;notify;a;b 777;precmd 1337;Copy=:ZXZpbA== 1337;CopyToClipboard= 1337;EndCopy \
    1337;ReportCellSize 1337;ReportVariable=eA== 1337;File=inline=1:QUFB 1337;RequestUpload=format=tgz \
    1337;SetProfile=x 1337;OpenURL=:eA== 1337;StealFocus 1337;ClearScrollback 1337;Custom=id=x:y \
    6973;nonce;A;1;2 6973;nonce 633;P;Cwd=/ 697;x 440;1 555;x 666;x 77119;x Ititle ; ? -2;x +2;x 2:x 0x2;x \
    4294967298;x 65538;x 18446744073709551618;x";

/// Some with blanks in them, or nothing at all.
const BLANK: &[&str] = &["", "l title", "L icon", "2 ;x", " 2;x"];

/// Of those that pass, such as are not what they should be.
const MALFORMED: &[&str] = &[
    "7",
    "7;",
    "7;http://host/",
    "7;javascript:x",
    "7;file://h/a b",
    "7;file://h/\u{202e}",
    "8",
    "8;x",
    "8;;http://a b",
    "8;;http://x/\n",
    "8;id=\u{e0041};x",
    "8;\x05;x",
    "133",
    "133;",
    "133;Z;x",
    "133;?",
    "133;A\n",
    "133;AB",
];

/// Strings of other kinds, with the letter that begins them: settings and capabilities asked for, keys defined, what a
/// multiplexer hands on, pictures, remote control.
const STRINGS: &str = "\
    P$qm P0$qm P1;2$qm P$q\"p P+q544e P0+q544e P+Q544e P+p544e P0;1|17/6576696c P1;1|17/00 Ptmux;x \
    P@kitty-cmd{\"cmd\":\"ls\"} P>|x Pq#0;2;0;0;0~- P0;1;0q~ P1$tx P2$tx P0;0;0{x P1$r0m P=1s P!zx P1!|x \
    P1000p _Gi=1,a=q;AAAA _Gf=24,t=f;L2V0Yw== _pane _ ^pm ^ Xsos X ktitle";

/// Short ones: identification, 8-bit answers, other encodings, locks.
const SHORT: &[&[u8]] = &[
    b"\x05",
    b"\x1bZ",
    b"\x1b G",
    b"\x1b F",
    b"\x1b%@",
    b"\x1b%G",
    b"\x1b%/I",
    b"\x1bl",
    b"\x1bm",
    b"\x1b`",
    b"\x1ba",
    b"\x1bb",
    b"\x1bd",
    b"\x1b\\",
    b"\x1bn",
    b"\x1bo",
    b"\x1b|",
    b"\x1b}",
    b"\x1b~",
    b"\x1bN",
    b"\x1bO",
    b"\x1bV",
    b"\x1bW",
    b"\x1b#1",
    b"\x1b(\"?",
    b"\x1b$(C",
    b"\x1b&x",
    b"\x1b!x",
    b"\x1b<",
    b"\x11",
    b"\x13",
    b"\x00",
    b"\x7f",
];

/// All control sequences, with those that have a blank in them.
fn controls() -> impl Iterator<Item = &'static str> {
    QUESTIONS.split_whitespace().chain(CONTROLS.split_whitespace()).chain(["1 @", "1 A", "1 t", "7 q"])
}

/// Every number once with zeros before it.
fn with_zeros(text: &str, zeros: &str) -> String {
    let mut padded = String::new();
    let mut in_number = false;
    for c in text.chars() {
        if c.is_ascii_digit() && !in_number {
            padded.push_str(zeros);
        }
        in_number = c.is_ascii_digit();
        padded.push(c);
    }
    padded
}

/// Other ways to write a control sequence that some terminal or other takes for the same.
fn ways_of(body: &str) -> Vec<String> {
    let (rest, last) = body.split_at(body.len() - 1);
    let numbers = rest.find(|c: char| !c.is_ascii_digit() && !"?>=;:".contains(c)).unwrap_or(rest.len());
    let (numbers, between) = rest.split_at(numbers);
    let mut ways = vec![body.to_owned(), with_zeros(body, "0"), with_zeros(body, &"0".repeat(200))];
    ways.extend([":0", ":", ";", ";;", ";0"].map(|more| format!("{numbers}{more}{between}{last}")));
    // What a terminal ignores or obeys in the middle.
    ways.extend(["\x00", "\x7f", "\x05"].map(|inside| format!("{numbers}{inside}{between}{last}")));
    ways
}

fn osc_ways(body: &str) -> Vec<String> {
    vec![
        body.to_owned(),
        with_zeros(body, "0"),
        with_zeros(body, "0000000000"),
        format!("{body};"),
        format!("{body};;?"),
    ]
}

fn joined(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}

/// What begins with an escape, whole; nothing of any is to be seen.
fn whole() -> Vec<Vec<u8>> {
    let mut table: Vec<Vec<u8>> = SHORT.iter().map(|short| short.to_vec()).collect();
    for body in controls() {
        table.extend(ways_of(body).iter().map(|way| joined(&[b"\x1b[", way.as_bytes()])));
    }
    let ends: [&[u8]; 3] = [b"\x1b\\", b"\x07", b"\xc2\x9c"];
    for body in COMMANDS.split_whitespace().chain(BLANK.iter().copied()) {
        for way in osc_ways(body) {
            table.extend(ends.map(|end| joined(&[b"\x1b]", way.as_bytes(), end])));
        }
    }
    table.extend(MALFORMED.iter().map(|body| joined(&[b"\x1b]", body.as_bytes(), b"\x07"])));
    for body in STRINGS.split_whitespace() {
        table.extend([ends[0], ends[2]].map(|end| joined(&[b"\x1b", body.as_bytes(), end])));
        // A bell ends none of these.
        table.push(joined(&[b"\x1b", body.as_bytes(), b"\x07\n\x1b\\"]));
    }
    table
}

/// The same with 8-bit introducers, as bytes and as characters. What follows may be seen as text.
fn eight_bit() -> Vec<Vec<u8>> {
    let mut table = Vec::new();
    let mut add = |introducer: u8, body: &str, end: &[u8]| {
        table.push(joined(&[&[introducer], body.as_bytes(), end]));
        table.push(joined(&[&[0xc2, introducer], body.as_bytes(), end]));
    };
    controls().for_each(|body| add(0x9b, body, b""));
    COMMANDS.split_whitespace().for_each(|body| add(0x9d, body, b"\x9c"));
    for body in STRINGS.split_whitespace().filter(|body| !body.starts_with('k')) {
        add(body.as_bytes()[0] + 0x40, &body[1..], b"\x9c");
    }
    add(0x9a, "", b"");
    table
}

/// No byte that a terminal would do anything for: text alone.
fn is_text(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| !text.chars().any(char::is_control))
}

#[test]
fn nothing_of_a_hostile_sequence_is_left_however_it_is_written_and_cut() {
    let table = whole();
    assert!(table.len() >= 400, "only {} sequences", table.len());
    let escaped: Vec<String> = table
        .iter()
        .map(|sequence| joined(&[b"a", sequence, b"b"]))
        .filter(|bytes| however_cut(bytes) != b"ab")
        .map(|bytes| format!("{} as {}", bytes.escape_ascii(), passed(&bytes).escape_ascii()))
        .collect();
    assert_eq!(escaped, [""; 0], "{} of {}", escaped.len(), table.len());
}

#[test]
fn introducers_of_eight_bits_begin_nothing() {
    for sequence in eight_bit() {
        let shown = however_cut(&joined(&[b"a", &sequence, b"b"]));
        let ends = shown.starts_with(b"a") && shown.ends_with(b"b");
        assert!(ends && is_text(&shown), "{} as {}", sequence.escape_ascii(), shown.escape_ascii());
    }
}

#[test]
fn what_is_broken_off_anywhere_leaves_nothing_open_and_what_follows_is_judged_by_itself() {
    for sequence in whole().iter().filter(|sequence| sequence.starts_with(b"\x1b")).take(1500) {
        for at in 1..sequence.len().min(40) {
            let cut = &sequence[..at];
            // By another sequence that passes, by one that does not, by a cancellation, and by nothing more.
            for (next, left) in [
                (&b"\x1b[31mb"[..], &b"\x1b[31mb"[..]),
                (b"\x1b[6nb", b"b"),
                (b"\x1b]52;c;eA==\x07b", b"b"),
                (b"\x18b", b"b"),
                (b"\x1ab", b"b"),
                (b"", b""),
            ] {
                let shown = passed(&joined(&[b"a", cut, next]));
                let expected = joined(&[b"a", left]);
                let text = shown.strip_prefix(b"a").and_then(|rest| rest.strip_suffix(left));
                assert!(
                    text.is_some_and(|rest| rest.is_empty()),
                    "{} then {}: {} is not {}",
                    cut.escape_ascii(),
                    next.escape_ascii(),
                    shown.escape_ascii(),
                    expected.escape_ascii()
                );
            }
        }
    }
}

#[test]
fn what_is_too_long_is_dropped_with_its_end_and_what_stands_in_it() {
    let long = "A".repeat(100_000);
    for (begin, end) in [
        ("\x1b]0;", "\x07"),
        ("\x1b]2;", "\x1b\\"),
        ("\x1b]8;;http://", "\x07"),
        ("\x1b]52;c;", "\x07"),
        ("\x1b]4;1;", ";?\x07"),
        ("\x1b]1337;File=:", "\x07"),
        ("\x1bPtmux;", "\x1b\\"),
        ("\x1b_G", "\x1b\\"),
    ] {
        assert_eq!(passed(format!("a{begin}{long}{end}b").as_bytes()), b"ab", "{begin:?}");
        let broken = format!("a{begin}{long}\x1b[6n\x1b[31mb");
        assert_eq!(passed(broken.as_bytes()), b"a\x1b[31mb", "{begin:?}");
    }
    let digits = "1".repeat(100_000);
    assert_eq!(passed(format!("a\x1b[{digits}mb\x1b[31;{digits}mc").as_bytes()), b"abc");
}

#[test]
fn what_is_nested_is_taken_apart() {
    for (bytes, left) in [
        (&b"a\x1bPtmux;\x1b\x1b[6n\x1b\\b"[..], &b"ab"[..]),
        (b"a\x1bPtmux;\x1b\x1b]52;c;eA==\x07\x1b\\b", b"ab"),
        (b"a\x1bPt\x1bPm\x1bu\x1bx\x1b;b", b"ab"),
        (b"a\x1b]0;\x1b]52;c;eA==\x07b", b"ab"),
        (b"a\x1b]0;t\x1b[18tb", b"ab"),
        (b"a\x1b[1\x1b[6nb", b"ab"),
        (b"a\x1b[\x1b]10;?\x07b", b"ab"),
        (b"a\x1b\x1b\x1b[cb", b"ab"),
        (b"a\x1b[6\x18nb", b"anb"),
        (b"a\x1b]52;c;\xc2\x9c\x1b[6nb", b"ab"),
        (b"a\x1b]0;x\x9b6n\x07b", b"a\x1b]0;x\xef\xbf\xbd6n\x07b"),
        (b"a\x1b]0;x\xc2\x9b6n\x07b", "a\u{1b}]0;x⟨U+009B⟩6n\u{7}b".as_bytes()),
        (b"a\x1b]0;x\x05\n\x00y\x07b", b"a\x1b]0;xy\x07b"),
        // Halves that belong together only if what is between them goes.
        (b"a\xc2\x1b[6n\x9b6nb", "a\u{fffd}\u{fffd}6nb".as_bytes()),
        (b"a\xc2\x05\x9b6nb", "a\u{fffd}\u{fffd}6nb".as_bytes()),
        (b"a\x1b\x1b[6n[6nb", b"a[6nb"),
        (b"a\x1b%@\xc3\x9b6nb", "a\u{db}6nb".as_bytes()),
    ] {
        assert_eq!(however_cut(bytes).escape_ascii().to_string(), left.escape_ascii().to_string());
    }
}
