//! Whatever is put in: shown, folded and omitted are all of it, and the budget holds.

use super::{Budget, Folded, Omitted, Shaped, Shaper};
use proptest::prelude::*;

fn shape(lines: &[String], bytes: usize, first: u64) -> Shaped {
    fed(lines, bytes, first).finish()
}

fn fed(lines: &[String], bytes: usize, first: u64) -> Shaper {
    let mut shaper = Shaper::new(Budget { bytes, lines: usize::MAX }, first);
    lines.iter().for_each(|line| shaper.line(line));
    shaper
}

fn numbered(count: usize) -> Vec<String> {
    (1..=count).map(|number| number.to_string()).collect()
}

/// A call as it is told for something that was left out.
fn call(omitted: &Omitted) -> Option<String> {
    Some(match omitted {
        Omitted::Lines { from, to, .. } => format!("terminal_read {{\"from_line\":{from},\"to_line\":{to}}}"),
        Omitted::Part { line, column, .. } => {
            format!("terminal_read {{\"from_line\":{line},\"column\":{column}}}")
        }
    })
}

/// Goes through the text and the lines side by side; panics where the text does not say what the lines are.
fn check_account(lines: &[String], shaped: &Shaped, call: &dyn Fn(&Omitted) -> Option<String>) {
    assert_eq!(shaped.lines, lines.len() as u64);
    assert_eq!(shaped.bytes, lines.iter().map(|line| line.len() as u64 + 1).sum::<u64>());
    let mut rows = shaped.text.split('\n');
    let (mut omitted, mut folded) = (shaped.omitted.iter().peekable(), shaped.folded.iter().peekable());
    let mut at = 0;
    let told = |what: &Omitted| call(what).map(|call| format!(": {call}")).unwrap_or_default();
    while at < lines.len() {
        let (row, number) = (rows.next().expect("a row"), shaped.first_line + at as u64);
        match omitted.peek().copied() {
            Some(what @ &Omitted::Lines { from, to, bytes }) if from == number => {
                omitted.next();
                let count = (to - from + 1) as usize;
                let range = if count == 1 { format!("line {from}") } else { format!("lines {from}–{to}") };
                assert_eq!(row, format!("[… {range} omitted ({bytes} bytes){}]", told(what)));
                let missing = &lines[at..at + count];
                assert_eq!(bytes, missing.iter().map(|line| line.len() as u64 + 1).sum::<u64>());
                at += count;
                continue;
            }
            Some(what @ &Omitted::Part { line, column, chars }) if line == number => {
                omitted.next();
                let all: Vec<char> = lines[at].chars().collect();
                let (front, back) = (column as usize - 1, (column + chars) as usize - 1);
                let s = if chars == 1 { "" } else { "s" };
                let note = format!("[… {chars} character{s} from column {column} omitted{}]", told(what));
                let ends = |part: &[char]| part.iter().collect::<String>();
                assert_eq!(row, format!("{}{note}{}", ends(&all[..front]), ends(&all[back..])));
            }
            _ => assert_eq!(row, lines[at], "line {number}"),
        }
        let line = &lines[at];
        at += 1;
        if let Some(Folded { times, .. }) = folded.next_if(|fold| fold.line == number) {
            assert_eq!(rows.next(), Some(format!("[previous line repeated {times} times]").as_str()));
            assert!(lines[at..at + *times as usize].iter().all(|same| same == line));
            at += *times as usize;
        }
    }
    assert!(rows.next().is_none_or(|row| lines.is_empty() && row.is_empty()), "more rows than lines");
    assert_eq!((omitted.next(), folded.next()), (None, None));
}

/// What a reader can rely on, for any input.
fn check(lines: &[String], bytes: usize, first: u64) {
    let whole = lines.join("\n");
    for (shaped, call) in [
        (shape(lines, bytes, first), &(|_: &Omitted| None) as &dyn Fn(&Omitted) -> Option<String>),
        (fed(lines, bytes, first).finish_with(call), &call),
    ] {
        let budget = bytes.max(Budget::LEAST);
        assert!(shaped.text.len() <= budget, "{} of {budget}", shaped.text.len());
        check_account(lines, &shaped, call);
        if whole.len() <= budget {
            assert!(shaped.omitted.is_empty(), "nothing is left out of what fits");
        }
        assert!(shaped.omitted.iter().filter(|what| matches!(what, Omitted::Lines { .. })).count() <= 1);
    }
}

fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[a-z ]{0,60}",
        3 => Just(String::new()),
        2 => Just("again".to_owned()),
        1 => "\\PC{0,40}",
        1 => Just("[previous line repeated 4 times]".to_owned()),
        1 => (0usize..9000, "[xé漢😀]").prop_map(|(count, unit)| unit.repeat(count)),
    ]
}

/// Runs of lines.
fn lines() -> impl Strategy<Value = Vec<String>> {
    let run = (line(), prop_oneof![4 => Just(1usize), 1 => 1usize..200]);
    proptest::collection::vec(run, 0..120)
        .prop_map(|runs| runs.into_iter().flat_map(|(line, times)| vec![line; times]).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn shown_and_folded_and_omitted_are_all_lines_in_order(
        lines in lines(), bytes in prop_oneof![Just(0usize), 1000usize..1300, 1000usize..40_000], first in 1u64..1_000_000,
    ) {
        check(&lines, bytes, first);
    }

    #[test]
    fn a_limit_of_lines_holds_notes_included(
        lines in lines(), bytes in 1000usize..40_000, most in 0usize..400, first in 1u64..1_000_000,
    ) {
        let mut shaper = Shaper::new(Budget { bytes, lines: most }, first);
        lines.iter().for_each(|line| shaper.line(line));
        let shaped = shaper.finish_with(call);
        let most = most.max(Budget::FEWEST);
        let rows = shaped.text.split('\n').count();
        prop_assert!(rows <= most, "{} of {}", rows, most);
        check_account(&lines, &shaped, &call);
        let fits = lines.len() <= most && lines.join("\n").len() <= bytes.max(Budget::LEAST);
        prop_assert!(!fits || shaped.omitted.is_empty(), "nothing is left out of what fits");
    }

    #[test]
    fn calls_of_any_length_leave_the_budget_alone(
        lines in lines(), bytes in 1024usize..3000, length in 0usize..900,
    ) {
        let long = "c".repeat(length);
        let shaped = fed(&lines, bytes, 1).finish_with(|_| Some(long.clone()));
        prop_assert!(shaped.text.len() <= bytes);
        let told = |_: &Omitted| Some(long.clone()).filter(|call| !call.is_empty() && call.len() <= bytes / 4);
        check_account(&lines, &shaped, &told);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn lines_that_are_known_by_their_number_alone_are_omitted_and_accounted_for(
        lines in lines(), bytes in prop_oneof![1024usize..1300, 1024usize..40_000], first in 1u64..1_000_000,
        gaps in proptest::collection::vec((0.0..1.0f64, 0.0..1.0f64), 1..3),
    ) {
        let at = |share: f64| (lines.len() as f64 * share) as usize;
        let is_gap = |line: usize| gaps.iter().any(|(a, b)| (at(a.min(*b))..at(a.max(*b))).contains(&line));
        let mut shaper = Shaper::new(Budget { bytes, lines: usize::MAX }, first);
        for (number, line) in lines.iter().enumerate() {
            match is_gap(number) {
                true => shaper.skip(1, line.len() as u64 + 1),
                false => shaper.line(line),
            }
        }
        let shaped = shaper.finish_with(call);
        prop_assert!(shaped.text.len() <= bytes);
        check_account(&lines, &shaped, &call);
        let missing: Vec<_> = shaped.omitted.iter().filter_map(|what| match what {
            Omitted::Lines { from, to, .. } => Some(*from..=*to),
            Omitted::Part { .. } => None,
        }).collect();
        prop_assert!(missing.len() <= 1, "at one place");
        for line in (0..lines.len()).filter(|line| is_gap(*line)) {
            prop_assert!(missing[0].contains(&(first + line as u64)));
        }
    }

    #[test]
    fn a_run_is_the_same_whether_it_is_given_line_by_line_or_by_its_length(
        runs in proptest::collection::vec((line(), 0u64..200), 0..60), bytes in 1024usize..9000,
    ) {
        let budget = Budget { bytes, lines: 100 };
        let (mut one, mut other) = (Shaper::new(budget, 1), Shaper::new(budget, 1));
        for (line, times) in &runs {
            one.lines(line, *times);
            (0..*times).for_each(|_| other.line(line));
        }
        prop_assert_eq!(one.finish(), other.finish());
    }
}

#[test]
fn a_gap_between_two_ends_that_fit_is_all_that_is_omitted() {
    let mut shaper = Shaper::new(Budget::default(), 1);
    (1..=3).for_each(|number| shaper.line(&number.to_string()));
    shaper.skip(1000, 5000);
    shaper.skip(0, 0);
    (1004..=1006).for_each(|number| shaper.line(&number.to_string()));
    let shaped = shaper.finish();
    assert_eq!(shaped.text, "1\n2\n3\n[… lines 4–1003 omitted (5000 bytes)]\n1004\n1005\n1006");
    assert_eq!((shaped.lines, shaped.bytes), (1006, 5021));
    assert_eq!(shaped.omitted, [Omitted::Lines { from: 4, to: 1003, bytes: 5000 }]);
}

#[test]
fn what_fits_is_shown_as_it_is() {
    for lines in [
        vec![],
        vec![String::new()],
        numbered(100),
        vec!["x".repeat(16_384)],
        vec!["é".repeat(3000), "end".into()],
    ] {
        let shaped = shape(&lines, 16_384, 1);
        assert_eq!(
            (shaped.text.as_str(), shaped.omitted, shaped.folded),
            (lines.join("\n").as_str(), vec![], vec![])
        );
    }
}

#[test]
fn one_byte_too_many_is_enough_to_be_cut() {
    let lines: Vec<String> = (0..64).map(|n| format!("{n:063}")).collect();
    assert_eq!(lines.join("\n").len(), 4095);
    assert_eq!(shape(&lines, 4095, 1).omitted, vec![]);
    assert_ne!(shape(&lines, 4094, 1).omitted, vec![]);
    check(&lines, 4094, 1);
}

#[test]
fn the_end_gets_more_than_the_beginning_and_the_middle_is_said_exactly() {
    let lines: Vec<String> = (1..=20_000).map(|number| format!("line number {number}")).collect();
    let shaped = fed(&lines, 16_384, 1).finish_with(|_| Some("CALL".into()));
    let [Omitted::Lines { from, to, bytes }] = shaped.omitted[..] else { panic!("{:?}", shaped.omitted) };
    let note = format!("\n[… lines {from}–{to} omitted ({bytes} bytes): CALL]\n");
    let (head, tail) = shaped.text.split_once(&note).expect("the note");
    assert!(head.starts_with("line number 1\nline number 2\n"));
    assert!(tail.ends_with("\nline number 20000"));
    assert!((4700..=4915).contains(&head.len()), "{}", head.len());
    assert!((11_300..=11_700).contains(&tail.len()), "{}", tail.len());
    assert!(shaped.text.len() > 16_300, "the budget is used: {}", shaped.text.len());
    check(&lines, 16_384, 1);
}

#[test]
fn repetitions_are_folded_where_that_saves_room() {
    let same = |line: &str, count: usize| vec![line.to_owned(); count];
    assert_eq!(shape(&same("y", 4813), 1024, 1).text, "y\n[previous line repeated 4812 times]");
    assert_eq!(shape(&same("", 5000), 1024, 1).text, "\n[previous line repeated 4999 times]");
    // Ten short ones, or two long ones, are easier to read than a note.
    assert_eq!(shape(&same("y", 10), 1024, 1).text, same("y", 10).join("\n"));
    let long = same(&"x".repeat(200), 3);
    assert_eq!(shape(&long, 1024, 1).text, long.join("\n"));
    // What only fits because of it, fits.
    let runs = [same("a", 9000), same("b", 9000)].concat();
    let shaped = shape(&runs, 1024, 7);
    assert_eq!(shaped.text, "a\n[previous line repeated 8999 times]\nb\n[previous line repeated 8999 times]");
    assert_eq!(shaped.folded, [Folded { line: 7, times: 8999 }, Folded { line: 9007, times: 8999 }]);
    assert_eq!(shaped.omitted, vec![]);
}

#[test]
fn a_fold_is_never_parted_from_its_line() {
    // Runs throughout, so that both ends of the gap lie beside one.
    let lines: Vec<String> = (0..60).flat_map(|n| vec![format!("run {n}"); 20]).collect();
    for bytes in 1024..1200 {
        check(&lines, bytes, 1);
    }
}

#[test]
fn a_very_long_line_keeps_both_its_ends() {
    let line = format!("BEGIN{}END", "漢".repeat(1_000_000));
    let shaped = fed(&[line], 16_384, 12).finish_with(call);
    let [Omitted::Part { line: 12, column, chars }] = shaped.omitted[..] else {
        panic!("{:?}", shaped.omitted)
    };
    assert!(shaped.text.starts_with("BEGIN漢") && shaped.text.ends_with("漢END"));
    assert!(shaped.text.contains(&format!(
        "漢[… {chars} characters from column {column} omitted: terminal_read {{\"from_line\":12,\"column\":{column}}}]漢"
    )));
    check(&["a".into(), "b".repeat(50_000), "c".into(), "d".repeat(50_000)], 1024, 1);
}

#[test]
fn long_lines_are_cut_only_where_not_everything_fits() {
    let lines = vec!["x".repeat(5000); 2].into_iter().chain(numbered(10)).collect::<Vec<_>>();
    assert_eq!(shape(&lines, 16_384, 1).omitted, vec![]);
    let cut = shape(&lines, 8192, 1);
    assert_eq!(cut.omitted.len(), 2, "both, and no line as a whole: {:?}", cut.omitted);
    check(&lines, 8192, 1);
}

#[test]
fn a_line_with_newlines_in_it_is_several() {
    let mut shaper = Shaper::new(Budget::default(), 1);
    shaper.line("a\nb\n");
    assert_eq!(shaper.finish().lines, 3);
}

#[test]
fn memory_stays_within_twice_the_budget_for_millions_of_lines() {
    // Without optimisation that takes minutes, and a tenth tells the same.
    const LINES: u64 = if cfg!(debug_assertions) { 1_000_000 } else { 10_000_000 };
    let budget = Budget::default();
    let mut shaper = Shaper::new(budget, 1);
    let (mut line, mut most) = (String::new(), 0);
    for number in 1..=LINES {
        use std::fmt::Write;
        line.clear();
        write!(line, "{number}").unwrap();
        shaper.line(&line);
        most = most.max(if number % 1000 == 0 || number < 10_000 { shaper.held() } else { 0 });
    }
    assert!(most <= 2 * budget.bytes, "{most}");
    let shaped = shaper.finish();
    assert_eq!(shaped.lines, LINES);
    assert!(shaped.text.ends_with(&format!("\n{}\n{LINES}", LINES - 1)));
    let [Omitted::Lines { from, to, bytes }] = shaped.omitted[..] else { panic!("{:?}", shaped.omitted) };
    assert_eq!(bytes, (from..=to).map(|number| number.to_string().len() as u64 + 1).sum::<u64>());
}

#[test]
fn memory_stays_within_twice_the_budget_whatever_the_lines_are() {
    let budget = Budget::default();
    let half = "h".repeat(budget.bytes / 2);
    let kinds: [&dyn Fn(usize) -> String; 4] = [
        // Alternating short ones, short runs that are just worth folding, long ones, and everything.
        &|n| if n % 2 == 0 { String::new() } else { "a".into() },
        &|n| (n / 80 % 10).to_string(),
        &|n| format!("{}{n}", "x".repeat(3000)),
        &|n| if n % 500 == 0 { half.clone() } else { (n / 80 % 10).to_string() },
    ];
    for (kind, of) in kinds.into_iter().enumerate() {
        let mut shaper = Shaper::new(budget, 1);
        for n in 0..10_000 {
            shaper.line(&of(n));
            assert!(shaper.held() <= 2 * budget.bytes, "kind {kind} holds {} at {n}", shaper.held());
        }
    }
}
