//! The plain answer: whether the commands of agents will run here, what holds them, what does not, and what would.

use crate::cli::Choice;
use crate::json::Capability;
use crate::law;
use crate::place::Place;
use crate::report::Failure;
use std::fmt::Write as _;
use wharf_core::policy::{Extra, LANDLOCK_NEEDED, LANDLOCK_SCOPES, Machine, Means, Outlook, Remedy, cause};

/// What agents' commands can expect, by the policy that is in force.
pub(super) fn outlook(place: &Place) -> Result<Outlook, Failure> {
    let (policy, places) = law::policy(&Choice::default(), place)?;
    Ok(policy.outlook(None, &places))
}

/// The same among all others.
pub(super) fn capability(outlook: &Outlook, place: &Place) -> Capability {
    let detail = match &outlook.held {
        Ok(None) => "without a sandbox".to_owned(),
        Ok(Some(means)) => match missing(outlook) {
            missing if missing.is_empty() => format!("{}, by {means}", outlook.sandbox),
            missing => format!("{}, by {means}; not held: {missing}", outlook.sandbox),
        },
        Err(unable) => unable.to_string(),
    };
    Capability {
        name: "agents' commands",
        have: outlook.runs(),
        required: false,
        detail,
        used_for: "wharf mcp and wharf acp, in the sandbox of the policy",
        without_it: "every command is refused, but with --sandbox open",
        advice: remedy(outlook, place).into(),
    }
}

/// The last words of the page.
pub(super) fn answer(outlook: &Outlook, place: &Place) -> String {
    let Outlook { sandbox, .. } = outlook;
    let mut text = "\nwharf run: works; it uses no sandbox unless you say --sandbox.\n".to_owned();
    match &outlook.held {
        Ok(None) => {
            text += "wharf mcp, wharf acp: agents' commands will run here, without a sandbox, as the policy says.\n"
        }
        Ok(Some(_)) if !outlook.runs() => {
            text += "wharf mcp, wharf acp: agents' commands will NOT run here: `strict` is set in the policy, and the sandbox \
                lacks something.\n";
        }
        Ok(Some(means)) => {
            let _ = writeln!(
                text,
                "wharf mcp, wharf acp: agents' commands will run here, in the sandbox `{sandbox}`, confined by {means}."
            );
        }
        Err(unable) => {
            let _ = writeln!(text, "wharf mcp, wharf acp: agents' commands will NOT run here: {unable}.");
            text += "Without a sandbox they do: wharf mcp --sandbox open, wharf acp --sandbox open.\n";
        }
    }
    if !outlook.missing.is_empty() {
        let _ = writeln!(text, "not held here: {}.", missing(outlook));
    }
    if outlook.held.is_err() || !outlook.missing.is_empty() {
        let _ = writeln!(text, "to get it: {}", remedy(outlook, place));
    }
    text
}

fn missing(outlook: &Outlook) -> String {
    outlook.missing.iter().map(|extra| extra.missing()).collect::<Vec<_>>().join("; ")
}

/// What to do, exactly, for what is missing.
fn remedy(outlook: &Outlook, place: &Place) -> String {
    let machine = Machine::probe(&place.dirs.state);
    let mut all = Vec::new();
    if let (Err(_), Err(_) | Ok(Some(Means::Rules { .. }))) = (&machine.mounts, &outlook.held) {
        let cause = cause();
        all.push(format!("mounts ({}):\n{}", cause.words, for_mounts(cause.remedy, place)));
    }
    if machine.mounts.is_ok() && matches!(outlook.held, Ok(Some(Means::Rules { .. }))) {
        all.push(format!("the profile `{}` does without namespaces", outlook.sandbox));
    }
    if outlook.held.is_err() && machine.landlock < LANDLOCK_NEEDED.0 {
        let (version, linux) = LANDLOCK_NEEDED;
        all.push(format!("or Landlock of version {version}: Linux {linux} or later"));
    }
    if outlook.missing.contains(&Extra::Signals) {
        let (version, linux) = LANDLOCK_SCOPES;
        all.push(format!("Landlock of version {version}, which keeps signals in: Linux {linux} or later"));
    }
    if outlook.missing == [Extra::Watches] {
        all.push("run wharf as an ordinary user".to_owned());
    }
    if all.is_empty() { "nothing is missing".to_owned() } else { all.join("\n") }
}

fn for_mounts(remedy: Remedy, place: &Place) -> String {
    match remedy {
        Remedy::Sysctl(setting) => format!("  sudo sysctl -w {setting}"),
        Remedy::Container => {
            "  docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined …\n  \
             (podman: the same; Kubernetes: seccompProfile and appArmorProfile of type Unconfined)"
                .to_owned()
        }
        Remedy::AppArmor => apparmor(place),
        _ => "  user namespaces for this user, or the right to mount (CAP_SYS_ADMIN)".to_owned(),
    }
}

/// A profile that gives these programs user namespaces and takes nothing from them.
fn apparmor(place: &Place) -> String {
    let mut programs: Vec<String> = place.programs().iter().map(|path| path.display().to_string()).collect();
    programs.sort();
    programs.dedup();
    let programs = match programs.as_slice() {
        [one] => format!("\"{one}\""),
        several => format!("\"{{{}}}\"", several.join(",")),
    };
    format!(
        "  sudo tee /etc/apparmor.d/wharf >/dev/null <<'END'\n  \
         abi <abi/4.0>,\n  \
         include <tunables/global>\n  \
         profile wharf {programs} flags=(unconfined) {{\n  \
         userns,\n  \
         }}\n  \
         END\n  \
         sudo apparmor_parser -r /etc/apparmor.d/wharf"
    )
}
