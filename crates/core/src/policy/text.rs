//! A policy file as it is written. What its values mean is decided elsewhere; here they only have to have the right form.

use super::error::{PolicyError, Source};
use super::limits::Limits;
use super::rules::{Decision, RuleText};
use crate::amount;
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Spanned;

/// The version of the layout that this wharf reads.
const VERSION: u32 = 1;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Text {
    pub(super) version: Option<Spanned<u32>>,
    pub(super) default: Option<Spanned<Decision>>,
    pub(super) unreadable: Option<Spanned<Decision>>,
    pub(super) sandbox: Option<Spanned<String>>,
    pub(super) strict: bool,
    pub(super) roots: RootsText,
    pub(super) env: EnvText,
    pub(super) limits: LimitsText,
    pub(super) profile: BTreeMap<Spanned<String>, ProfileText>,
    pub(super) rule: Vec<Spanned<RuleText>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RootsText {
    pub(super) add: Vec<Spanned<String>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct EnvText {
    pub(super) pass: Vec<Spanned<String>>,
    pub(super) allow: Vec<Spanned<String>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct LimitsText {
    time: Option<Spanned<Amount>>,
    idle: Option<Spanned<Amount>>,
    output: Option<Spanned<Amount>>,
    processes: Option<u32>,
    memory: Option<Spanned<Amount>>,
    cpu: Option<Spanned<Amount>>,
    file_size: Option<Spanned<Amount>>,
    open_files: Option<u64>,
    terminals: Option<usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ProfileText {
    pub(super) base: Option<Spanned<String>>,
    pub(super) read: Vec<Spanned<String>>,
    pub(super) write: Vec<Spanned<String>>,
    pub(super) hide: Vec<Spanned<String>>,
    pub(super) show: Vec<Spanned<String>>,
    pub(super) protect: Option<Vec<Spanned<String>>>,
    pub(super) protection: Option<Spanned<String>>,
    pub(super) unix_sockets: Option<Spanned<String>>,
    pub(super) network: Option<Spanned<String>>,
    pub(super) namespaces: Option<Spanned<String>>,
}

/// `"10M"`, `"2h"` or a plain number.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Amount {
    Number(u64),
    Words(String),
}

/// The file's text, if it has the form of a policy.
pub(super) fn read(source: Source<'_>) -> Result<Text, PolicyError> {
    let text: Text = toml::from_str(source.text).map_err(|error| {
        let what = error.message().trim_end_matches('.').to_owned();
        source.error(error.span(), what, "`wharf policy init` prints a file with every key explained")
    })?;
    match &text.version {
        Some(version) if *version.get_ref() == VERSION => Ok(text),
        Some(version) => Err(source.error(
            Some(version.span()),
            format!("the version is {}, and this wharf reads version {VERSION}", version.get_ref()),
            format!("write `version = {VERSION}`, or use a newer wharf"),
        )),
        None => Err(source.error(
            None,
            "the version is missing",
            format!("begin the file with `version = {VERSION}`"),
        )),
    }
}

impl LimitsText {
    pub(super) fn read(&self, source: Source<'_>) -> Result<Limits, PolicyError> {
        let time = |amount: &Option<Spanned<Amount>>| {
            amount.as_ref().map(|amount| read_amount(source, amount, amount::duration)).transpose()
        };
        let size = |amount: &Option<Spanned<Amount>>| {
            amount.as_ref().map(|amount| read_amount(source, amount, amount::size)).transpose()
        };
        Ok(Limits {
            time: time(&self.time)?,
            idle: time(&self.idle)?,
            output: size(&self.output)?,
            processes: self.processes,
            memory: size(&self.memory)?,
            cpu: time(&self.cpu)?,
            file_size: size(&self.file_size)?,
            open_files: self.open_files,
            terminals: self.terminals,
        })
    }
}

fn read_amount<T>(
    source: Source<'_>,
    amount: &Spanned<Amount>,
    parse: impl Fn(&str) -> Result<T, &'static str>,
) -> Result<T, PolicyError> {
    let parsed = match amount.get_ref() {
        Amount::Number(number) => parse(&number.to_string()),
        Amount::Words(words) => parse(words),
    };
    parsed.map_err(|fix| source.error(Some(amount.span()), "this is not an amount", fix))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use std::time::Duration;

    fn read_text(text: &str) -> Result<Text, PolicyError> {
        read(Source { file: Path::new("p.toml"), text })
    }

    #[test]
    fn an_error_names_the_line() {
        for (text, line, what) in [
            ("version = 1\nsandbix = 'x'\n", Some(2), "sandbix"),
            ("version = 1\n\n[limits]\ntime = true\n", Some(4), ""),
            ("version = 2\n", Some(1), "version is 2"),
            ("default = 'allow'\n", None, "version is missing"),
            ("version = 1\ndefault = 'maybe'\n", Some(2), "maybe"),
            ("version = 1\n[[rule]]\ndecision = 'deny'\ncommand = ['x']\nwhy = 'y'\n", Some(5), "why"),
        ] {
            let error = read_text(text).unwrap_err();
            assert_eq!(error.line, line, "{error}");
            assert!(error.what.contains(what), "{error}");
            assert!(!error.fix.is_empty());
        }
    }

    #[test]
    fn amounts_are_numbers_or_words() {
        let text = "version = 1\n[limits]\ntime = '2h'\nidle = 30\noutput = '1G'\nmemory = 1024\n";
        let limits = read_text(text).unwrap().limits;
        let limits = limits.read(Source { file: Path::new("p.toml"), text }).unwrap();
        assert_eq!(limits.time, Some(Duration::from_secs(7200)));
        assert_eq!(limits.idle, Some(Duration::from_secs(30)));
        assert_eq!((limits.output, limits.memory), (Some(1 << 30), Some(1024)));
    }
}
