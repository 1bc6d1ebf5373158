//! The programs are there, and do what their names say.

use wharf_testing::front_end::misbehave;

#[test]
fn an_unknown_behaviour_is_refused() {
    let output = misbehave(&["behaves-well"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn numbered_lines_are_sixty_four_bytes_long() {
    let output = misbehave(&["prints-numbered-lines", "3", "7"]).output().unwrap();
    assert_eq!(output.status.code(), Some(7));
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 4);
    assert!(lines[..3].iter().all(|line| line.len() == 63), "{text}");
    assert_eq!(lines[3], "wrote 192 bytes");
}
