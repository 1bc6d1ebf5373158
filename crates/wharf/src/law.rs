//! What may run here: the policy file, the sandbox that was chosen, and where things are. How it is applied is core's.

use crate::cli::Choice;
use crate::place::Place;
use crate::report::Failure;
use std::path::PathBuf;
pub(crate) use wharf_core::policy::Law;
use wharf_core::policy::{Homes, Known, Places, Policy, PolicyError};

/// Reads it and puts it in force.
pub(crate) fn read(choice: &Choice, place: &Place) -> Result<Law, Failure> {
    let (policy, places) = policy(choice, place)?;
    let law = Law::open(policy, places)?;
    match &choice.sandbox {
        Some(name) => law.in_sandbox(name).map_err(Failure::usage),
        None => Ok(law),
    }
}

/// Reads it. Nothing runs under a policy that was half understood.
pub(crate) fn policy(choice: &Choice, place: &Place) -> Result<(Policy, Places), Failure> {
    let named = choice.policy.as_deref().map(std::path::absolute).transpose()?;
    let places = Places {
        home: place.home(),
        homes: Homes::find(),
        state: place.dirs.state.clone(),
        config: place.config()?,
        policy: named.clone(),
        environment: place.environment(),
        programs: place.programs(),
        known: Known::default(),
    };
    let policy = match &named {
        Some(file) => Policy::read(file, &place.home().unwrap_or_else(|| PathBuf::from("/nonexistent"))),
        None => Policy::usual(&places),
    };
    Ok((policy.map_err(refused)?, places))
}

/// In words, with what to write instead.
pub(crate) fn refused(error: PolicyError) -> Failure {
    let fix = error.fix.clone();
    Failure::new(error.to_string()).hint(fix)
}
