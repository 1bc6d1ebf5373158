//! The journal's format is a contract: every kind of record is in its description.

use super::{Complaint, File};

const RECORDS: &str = "crates/shim/src/journal/record.rs";
const DESCRIPTION: &str = "docs/journal.md";

pub(super) fn is_documented(files: &[File]) -> Vec<Complaint> {
    let find = |path: &str| files.iter().find(|file| file.path == path);
    let Some(records) = find(RECORDS) else {
        return vec![Complaint::Wrong(format!(
            "{RECORDS} is gone; tell xtask/src/tidy/journal.rs where the records are"
        ))];
    };
    let Some(description) = find(DESCRIPTION) else {
        return vec![Complaint::Wrong(format!(
            "{DESCRIPTION} is missing; it is the contract of the journal's format"
        ))];
    };
    let kinds = variants(&records.text, "pub enum Record {");
    if kinds.is_empty() {
        return vec![Complaint::wrong(
            records,
            "`enum Record` is not found; tell xtask/src/tidy/journal.rs its name",
        )];
    }
    let known: Vec<String> = names(&description.text).collect();
    // What a later wharf wrote has no description here.
    let missing = kinds.into_iter().filter(|kind| kind != "Unknown" && !known.contains(&plain(kind)));
    missing
        .map(|kind| Complaint::wrong(description, &format!("does not describe the record `{kind}`")))
        .collect()
}

/// The variants of an enum that rustfmt has formatted.
fn variants(source: &str, head: &str) -> Vec<String> {
    let body = source.lines().skip_while(|line| *line != head).skip(1).take_while(|line| *line != "}");
    let names = body.filter_map(|line| line.strip_prefix("    "));
    let names = names.filter(|line| line.starts_with(|c: char| c.is_ascii_uppercase()));
    names
        .map(|line| line.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_owned())
        .collect()
}

/// `NotStarted`, `not_started` and `NOT_STARTED` are one name.
fn names(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').map(plain)
}

fn plain(name: &str) -> String {
    name.replace('_', "").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::super::tests::file;
    use super::*;

    const SOURCE: &str = "pub enum Record {\n    /// Doc.\n    Start(Start),\n    NotStarted {\n        /// Doc.\n        \
                          stage: u8,\n    },\n    Unknown(u8),\n}\nenum Other {\n    End,\n}\n";

    #[test]
    fn variants_are_read_and_their_fields_are_not() {
        assert_eq!(variants(SOURCE, "pub enum Record {"), ["Start", "NotStarted", "Unknown"]);
    }

    #[test]
    fn a_record_that_is_not_described_is_found() {
        let with = |text: &str| is_documented(&[file(RECORDS, SOURCE), file(DESCRIPTION, text)]);
        assert_eq!(with("| 1 | `start` |\n| 2 | `not_started` |"), []);
        assert_eq!(with("| 1 | `Start` |").len(), 1);
    }
}
