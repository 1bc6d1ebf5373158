//! `wharf policy`: what agents may run, and why.

use crate::asked;
use crate::cli::{Check, Choice, Policy, PolicyVerb};
use crate::exit_code::{self, Code};
use crate::law;
use crate::place::Place;
use crate::report::Failure;
use crate::show;
use std::fmt::Write;
use wharf_core::Spec;
use wharf_core::policy::{Decision, Explanation, INIT, SessionPlace, Whose};

pub(crate) fn run(args: &Policy, place: &Place) -> Result<Code, Failure> {
    match &args.verb {
        PolicyVerb::Init => {
            show::print(INIT)?;
            Ok(exit_code::DONE)
        }
        PolicyVerb::Show(show) => describe(&show.choice, place),
        PolicyVerb::Check(check) => explain(check, place),
    }
}

fn describe(choice: &Choice, place: &Place) -> Result<Code, Failure> {
    let law = law::read(choice, place)?;
    let policy = law.in_project(&place.directory(None)?).map_err(law::refused)?;
    show::print(&policy.describe())?;
    Ok(exit_code::DONE)
}

fn explain(check: &Check, place: &Place) -> Result<Code, Failure> {
    let law = law::read(&check.choice, place)?;
    let cwd = place.directory(check.cwd.as_deref())?;
    let environment = place.environment();
    let spec = match (&check.shell, check.command.split_first()) {
        (Some(line), _) => Spec::shell_line(asked::shell(&environment), line),
        (None, Some((program, rest))) => Spec::argv(program, rest),
        (None, None) => return Err(Failure::usage("there is no command")),
    };
    let spec = spec.cwd(&cwd).inherit(environment);
    let session = SessionPlace { cwd: place.directory(None)?, key: "check".to_owned() };
    let looked = law.look(Whose::Agent, &session, |policy, at| policy.explain(spec, at))?;
    let explanation = looked.map_err(Failure::new)?;
    show::print(&page(&explanation))?;
    Ok(match explanation.decision {
        Decision::Allow => exit_code::DONE,
        Decision::Ask | Decision::Deny => exit_code::REFUSED,
    })
}

fn page(explanation: &Explanation) -> String {
    let mut text = format!("{}\n", explanation.decision);
    for found in &explanation.found {
        let _ = writeln!(text, "  {found}");
    }
    for note in &explanation.notes {
        let _ = writeln!(text, "  note: {note}");
    }
    if let Some(program) = &explanation.program {
        let _ = writeln!(text, "program   {}", program.display());
    }
    let _ = writeln!(text, "sandbox   {}", explanation.sandbox);
    let limits: Vec<String> =
        explanation.limits.named().iter().map(|(name, value)| format!("{name} {value}")).collect();
    let limits = if limits.is_empty() { "none".to_owned() } else { limits.join(", ") };
    let _ = writeln!(text, "limits    {limits}");
    text
}
