//! Whatever is held: the head, the gap and the tail are all of the output, to the byte.

use super::*;
use proptest::prelude::*;

const SIZE: Size = Size { cols: 80, rows: 4 };

/// What a look at it gives: the lines that are held by number, and the gaps.
#[derive(Debug, Default, PartialEq, Eq)]
struct Seen {
    lines: Vec<(u64, String)>,
    gaps: Vec<(u64, u64, u64)>,
    /// The place after all of it.
    end: Place,
}

fn look(render: &Render, from: Place) -> Seen {
    let mut seen = Seen { end: from, ..Seen::default() };
    let all = render.each(from, End::Over, &mut |part| {
        match part {
            Part::Lines(line, times) => {
                assert_eq!(line.number, seen.end.line, "in order");
                seen.lines.extend((0..times).map(|n| (line.number + n, line.text.to_owned())));
                seen.end.pass(line.text, times);
            }
            Part::Gap { lines, bytes } => {
                seen.gaps.push((seen.end.line, lines, bytes));
                seen.end.line += lines;
                seen.end.bytes += bytes;
            }
        }
        ControlFlow::Continue(())
    });
    assert_eq!(all, ControlFlow::Continue(()));
    seen
}

/// The place before that line of these.
fn place(lines: &[String], line: u64) -> Place {
    let mut place = Place::START;
    lines[..line as usize - 1].iter().for_each(|line| place.pass(line, 1));
    place
}

fn feed(render: &mut Render, lines: &[String]) {
    lines.iter().for_each(|line| render.feed(format!("{line}\r\n").as_bytes()));
}

fn lines() -> impl Strategy<Value = Vec<String>> {
    let run = ("[a-c]{1,70}", prop_oneof![3 => Just(1usize), 1 => 1usize..30]);
    proptest::collection::vec(run, 0..150)
        .prop_map(|runs| runs.into_iter().flat_map(|(line, times)| vec![line; times]).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn what_is_held_and_the_gap_are_all_lines_and_bytes(
        lines in lines(), told in 0.0..1.0f64, from in 0.0..1.0f64, head in 0usize..4000, tail in 0usize..4000,
    ) {
        let mut render = Render::within(SIZE, head, tail);
        let told = (lines.len() as f64 * told) as usize;
        feed(&mut render, &lines[..told]);
        render.keep_from(told as u64 + 1);
        feed(&mut render, &lines[told..]);
        let from = (lines.len() as f64 * from) as u64 + 1;
        let seen = look(&render, place(&lines, from));
        prop_assert_eq!(seen.end, place(&lines, lines.len() as u64 + 1));
        prop_assert_eq!(render.lines(), lines.len() as u64);
        prop_assert!(seen.gaps.len() <= 1);
        for (number, text) in &seen.lines {
            prop_assert_eq!(text, &lines[*number as usize - 1]);
        }
    }
}

fn numbered(lines: std::ops::RangeInclusive<u64>) -> Vec<String> {
    lines.map(|number| format!("line {number}")).collect()
}

#[test]
fn the_beginning_is_kept_from_where_the_last_answer_ended() {
    let all = numbered(1..=1000);
    let mut render = Render::within(SIZE, 500, 1000);
    feed(&mut render, &all[..300]);
    assert_eq!(look(&render, Place::START).lines[0].1, "line 1");
    render.keep_from(301);
    feed(&mut render, &all[300..]);
    let seen = look(&render, place(&all, 301));
    assert_eq!(seen.lines[0], (301, "line 301".to_owned()));
    let [(from, lines, _)] = seen.gaps[..] else { panic!("{:?}", seen.gaps) };
    assert!(from > 304 && from + lines < 1000, "{from} {lines}");
    // Who asks for what was told gets its size.
    let before = look(&render, Place::START);
    assert_eq!((before.gaps[0].0, before.end), (1, place(&all, 1001)));
}

#[test]
fn repetitions_take_no_room() {
    let mut render = Render::within(SIZE, 500, 1000);
    feed(&mut render, &vec!["y".to_owned(); 100_000]);
    let seen = look(&render, Place::START);
    assert_eq!((seen.lines.len(), seen.gaps), (100_000, vec![]));
}

#[test]
fn one_line_longer_than_everything_is_held_until_the_next() {
    let mut render = Render::within(SIZE, 500, 1000);
    let long = "x".repeat(5000);
    feed(&mut render, std::slice::from_ref(&long));
    // So that it leaves the screen.
    feed(&mut render, &numbered(2..=4));
    assert!(look(&render, Place::START).lines[0] == (1, long));
    feed(&mut render, &numbered(5..=8));
    assert_eq!(look(&render, Place::START).gaps, [(1, 1, 5001)]);
}
