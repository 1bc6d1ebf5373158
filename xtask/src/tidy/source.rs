//! Rules for Rust files.

use super::{Complaint, File};

/// A file that is longer is worth a thought.
const LONG: usize = 500;
/// A file that is longer has to be split.
const TOO_LONG: usize = 800;

/// Names that say nothing about what is inside.
const EMPTY_NAMES: [&str; 8] = ["util", "utils", "helper", "helpers", "common", "misc", "manager", "types"];

/// Every module opens with what it is for.
pub(super) fn says_its_purpose(file: &File) -> Vec<Complaint> {
    if file.text.starts_with("//!") {
        return Vec::new();
    }
    vec![Complaint::wrong(
        file,
        "does not begin with `//!`; say what the file is for and what it must not know",
    )]
}

pub(super) fn is_short(file: &File) -> Vec<Complaint> {
    match file.text.lines().count() {
        lines if lines > TOO_LONG => {
            vec![Complaint::wrong(
                file,
                &format!("has {lines} lines, more than {TOO_LONG}; split it by concept"),
            )]
        }
        lines if lines > LONG => {
            vec![Complaint::Soon(format!(
                "{}: has {lines} lines; split it before it has {TOO_LONG}",
                file.path
            ))]
        }
        _ => Vec::new(),
    }
}

/// Only the crate that knows the operating system may step outside the language.
pub(super) fn is_safe(file: &File) -> Vec<Complaint> {
    // Its tests make the calls that a sandbox must refuse.
    if file.path.starts_with("crates/shim/") {
        return Vec::new();
    }
    let what = "`unsafe` is only for crates/shim; put what needs it there, behind a safe function";
    lines_with(file, |code| words(code).any(|word| word == "unsafe"), what)
}

/// What libraries must leave to the program that uses them.
const LOUD: [&str; 9] = [
    "print!",
    "println!",
    "eprint!",
    "eprintln!",
    "env::var",
    "env::var_os",
    "env::vars",
    "env::args",
    "env::home_dir",
];

/// How far above a line its exception may be stated: an attribute of several lines and a function's head.
const EXCEPTION_ABOVE: usize = 6;

/// The libraries never print and never read the environment.
pub(super) fn is_quiet(file: &File) -> Vec<Complaint> {
    if !["crates/shim/src/", "crates/core/src/"].iter().any(|dir| file.path.starts_with(dir)) {
        return Vec::new();
    }
    let lines: Vec<&str> = file.text.lines().collect();
    let is_excused = |line: usize| {
        let above = &lines[line.saturating_sub(EXCEPTION_ABOVE)..line];
        let marks = ["expect(clippy::disallowed_methods", "expect(clippy::print_"];
        above.iter().any(|text| marks.iter().any(|mark| text.contains(mark)))
    };
    let what = "a library neither prints nor reads the environment; leave it to crates/wharf";
    code_before_tests(file)
        .filter(|(line, code)| LOUD.iter().any(|loud| says(code, loud)) && !is_excused(*line))
        .map(|(line, _)| Complaint::at(file, line, what))
        .collect()
}

pub(super) fn has_a_telling_name(file: &File) -> Vec<Complaint> {
    let stem = |part: &str| part.strip_suffix(".rs").unwrap_or(part).to_owned();
    let empty = file.path.split('/').map(stem).find(|part| EMPTY_NAMES.contains(&part.as_str()));
    let complain =
        |name| Complaint::wrong(file, &format!("`{name}` says nothing; name it after what is inside"));
    empty.map(complain).into_iter().collect()
}

pub(super) fn ignores_no_test(file: &File) -> Vec<Complaint> {
    let what = "a test that is not run proves nothing; mend it, or remove it and say so";
    lines_with(file, |code| code.contains("#[ignore"), what)
}

pub(super) fn leaves_nothing_to_do(file: &File) -> Vec<Complaint> {
    lines_with(file, |code| says(code, "todo!"), "do it now, or open an issue for it")
}

fn lines_with(file: &File, is_wrong: impl Fn(&str) -> bool, what: &str) -> Vec<Complaint> {
    code(file).filter(|(_, code)| is_wrong(code)).map(|(line, _)| Complaint::at(file, line, what)).collect()
}

/// The lines without comments and without what stands in quotes.
fn code(file: &File) -> impl Iterator<Item = (usize, String)> {
    file.text.lines().map(bare).enumerate()
}

/// As [`code`], up to the unit tests; a file can be nothing else.
fn code_before_tests(file: &File) -> impl Iterator<Item = (usize, String)> {
    code(file).take_while(|(_, code)| !["#[cfg(test)]", "#![cfg(test)]"].contains(&code.trim()))
}

/// Good enough for code that rustfmt has seen: strings of several lines are not understood.
fn bare(line: &str) -> String {
    let mut bare = String::new();
    let mut in_quotes = false;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if in_quotes => drop(chars.next()),
            // A quote as a character.
            '\'' if !in_quotes && chars.peek() == Some(&'"') => drop(chars.next()),
            '"' => in_quotes = !in_quotes,
            '/' if !in_quotes && chars.peek() == Some(&'/') => break,
            c if !in_quotes => bare.push(c),
            _ => {}
        }
    }
    bare
}

fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c: char| !c.is_alphanumeric() && c != '_')
}

/// Whether `what` stands in the code and is not the end of a longer word.
fn says(code: &str, what: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(what).any(|(at, _)| !code[..at].ends_with(is_part))
}

#[cfg(test)]
mod tests {
    use super::super::tests::file;
    use super::*;

    const SHIM: &str = "crates/shim/src/a.rs";
    const CORE: &str = "crates/core/src/a.rs";

    #[test]
    fn comments_and_quotes_are_not_code() {
        assert_eq!(bare(r#"let a = "un\"safe"; // unsafe"#), "let a = ; ");
        assert_eq!(bare(r#"split('"').next() // x"#), "split(').next() ");
    }

    #[test]
    fn unsafe_is_found_as_a_word_outside_the_shim() {
        let text = "//! x\n#![forbid(unsafe_code)]\n// unsafe\nfn f() { unsafe { g() } }\n";
        assert_eq!(is_safe(&file(SHIM, text)), []);
        let found = is_safe(&file(CORE, text));
        assert_eq!(found.len(), 1);
        assert!(matches!(&found[0], Complaint::Wrong(what) if what.starts_with("crates/core/src/a.rs:4: ")));
    }

    #[test]
    fn printing_is_found_unless_it_is_excused_or_a_test() {
        let loud = file(CORE, "fn f() {\n    println!(\"x\");\n}\n");
        assert_eq!(is_quiet(&loud).len(), 1);
        let excused = "#[expect(clippy::print_stderr, reason = \"…\")]\nfn f() {\n    eprintln!(\"x\");\n}\n";
        assert_eq!(is_quiet(&file(CORE, excused)), []);
        assert_eq!(is_quiet(&file(CORE, "#[cfg(test)]\nmod tests {\n println!();\n}\n")), []);
        assert_eq!(is_quiet(&file("crates/wharf/src/a.rs", &loud.text)), []);
    }

    #[test]
    fn reading_the_environment_is_found() {
        assert_eq!(is_quiet(&file(SHIM, "let a = std::env::var_os(\"HOME\");")).len(), 1);
        assert_eq!(is_quiet(&file(SHIM, "let a = std::env::current_exe();")), []);
    }

    #[test]
    fn empty_names_are_found_in_files_and_folders() {
        assert_eq!(has_a_telling_name(&file("crates/core/src/utils.rs", "")).len(), 1);
        assert_eq!(has_a_telling_name(&file("crates/core/tests/common/mod.rs", "")).len(), 1);
        assert_eq!(has_a_telling_name(&file("crates/core/src/text/tail.rs", "")), []);
    }

    #[test]
    fn length_warns_before_it_fails() {
        assert_eq!(is_short(&file(CORE, &"\n".repeat(LONG))), []);
        assert!(matches!(is_short(&file(CORE, &"\n".repeat(LONG + 1)))[..], [Complaint::Soon(_)]));
        assert!(matches!(is_short(&file(CORE, &"\n".repeat(TOO_LONG + 1)))[..], [Complaint::Wrong(_)]));
    }

    #[test]
    fn ignored_tests_and_things_to_do_are_found() {
        assert_eq!(ignores_no_test(&file(CORE, "#[ignore = \"slow\"]")).len(), 1);
        assert_eq!(leaves_nothing_to_do(&file(CORE, "fn f() { todo!() }")).len(), 1);
        assert_eq!(leaves_nothing_to_do(&file(CORE, "// todo!()")), []);
    }
}
