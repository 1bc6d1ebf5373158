//! What `wharf mcp` promises, as a table: what an agent does, and exactly what it is told.
//!
//! Written from the promise, not from the code, and played with the real binary in real shells. A row that holds for
//! bash, zsh and sh alike is written once; where one of them differs, the row says so. What holds of every answer is in
//! `claim`. A topic is a file of `topic/`, and a test for each shell.

mod claim;
mod run;
mod step;
mod topic;

pub(crate) use claim::hints;

/// A test for each topic and shell.
macro_rules! topics {
    ($($name:ident),* $(,)?) => {
    $(
        mod $name {
            use super::{run::play, step::Shell, topic::$name::table};

            #[test]
            fn holds_in_bash() {
                play(table, Shell::Bash);
            }

            #[test]
            fn holds_in_zsh() {
                play(table, Shell::Zsh);
            }

            #[test]
            fn holds_in_sh() {
                play(table, Shell::Sh);
            }
        }
    )*

        /// By their names.
        const TOPICS: &[(&str, fn() -> Vec<step::Scenario>)] = &[$((stringify!($name), topic::$name::table)),*];
    };
}

topics! {
    answer, arrival, awaiting, binary, budget, damage, document, escape, forgery, full_screen, job, key, mission, nesting,
    option,
    patience, place, prompt, rc_file, reading, redraw, refusal, signal, state, terminal, unfinished, until,
}

/// A failure is told by the row's name.
#[test]
fn every_row_has_a_name_of_its_own() {
    for (topic, table) in TOPICS {
        let mut seen = std::collections::BTreeSet::new();
        for row in table() {
            for shell in row.shells {
                assert!(seen.insert((row.name.clone(), *shell)), "{topic}: {} twice in {shell:?}", row.name);
            }
        }
    }
}

#[test]
fn the_table_has_the_size_that_was_promised() {
    let rows: usize = TOPICS.iter().map(|(_, table)| table().len()).sum();
    assert!(rows >= 150, "{rows} rows");
}
