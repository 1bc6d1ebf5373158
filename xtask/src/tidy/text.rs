//! Rules for every text file.

use super::{Complaint, File};

/// Directories that exist on one machine only. In pieces, so that this file does not break its own rule.
const MACHINE: [&str; 3] = [concat!("/ro", "ot/"), concat!("/wo", "rk/"), concat!("/ho", "me/")];

/// What works on one machine only does not belong here.
pub(super) fn names_no_machine(file: &File) -> Vec<Complaint> {
    let what = "names a directory of one machine; say it relative to the repository, or with a variable";
    let lines = file.text.lines().enumerate();
    lines.filter(|(_, line)| names_a_machine(line)).map(|(at, _)| Complaint::at(file, at, what)).collect()
}

fn names_a_machine(line: &str) -> bool {
    MACHINE.iter().any(|dir| {
        line.match_indices(dir).any(|(at, _)| {
            let begins = !line[..at].ends_with(|c: char| c.is_alphanumeric() || "~./-_>})*".contains(c));
            let goes_on = line[at + dir.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '.');
            begins && goes_on
        })
    })
}

/// Every dependency is named in the root manifest below the reason for it. The crates of the repository need none.
pub(super) fn gives_reasons(file: &File) -> Vec<Complaint> {
    if file.path != "Cargo.toml" {
        return Vec::new();
    }
    let mut complaints = Vec::new();
    let (mut inside, mut reason) = (false, false);
    for (at, line) in file.text.lines().map(str::trim).enumerate() {
        match line.chars().next() {
            Some('[') => (inside, reason) = (line == "[workspace.dependencies]", false),
            Some('#') => reason = true,
            None => reason = false,
            Some(_) if inside && !reason && !line.contains("path =") => {
                let what =
                    "a dependency without a reason; write above it what it does here that we should not";
                complaints.push(Complaint::at(file, at, what));
            }
            Some(_) => {}
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::super::tests::file;
    use super::*;

    #[test]
    fn directories_of_one_machine_are_found_and_likenesses_are_not() {
        let found = ["see ~ROOT~x", "`~WORK~main`", "cwd: \"~HOME~ada/p\"", "~ROOT~.cargo"];
        let passed = ["/proc/1~ROOT~etc", "~~WORK~main", "a~HOME~b", "$HOME", "~ROOT~"];
        let real = |text: &str| {
            let names = ["~ROOT~", "~WORK~", "~HOME~"];
            names.iter().zip(MACHINE).fold(text.to_owned(), |text, (name, dir)| text.replace(name, dir))
        };
        for line in found {
            assert!(names_a_machine(&real(line)), "{line}");
        }
        for line in passed {
            assert!(!names_a_machine(&real(line)), "{line}");
        }
    }

    #[test]
    fn a_reason_serves_its_group_and_no_further() {
        let text = "[workspace.dependencies]\nown = { path = \"x\" }\n# Why.\na = \"1\"\nb = \"1\"\n\nc = \"1\"\n[x]\nd = 1\n";
        let found = gives_reasons(&file("Cargo.toml", text));
        assert!(
            matches!(&found[..], [Complaint::Wrong(what)] if what.starts_with("Cargo.toml:7:")),
            "{found:?}"
        );
    }
}
