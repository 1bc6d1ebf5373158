//! The plain answer: whether the commands of agents will run here, what holds them, what does not, and what would.

use crate::cli::Choice;
use crate::json::Capability;
use crate::law;
use crate::place::Place;
use crate::report::Failure;
use std::fmt::Write as _;
use std::process::{Command, Stdio};
use wharf_core::policy::{Extra, LANDLOCK_NEEDED, LANDLOCK_SCOPES, Machine, Means, Outlook, Remedy, cause};

/// What agents' commands can expect.
pub(super) struct Prospect {
    /// By the policy that is in force.
    outlook: Outlook,
    /// By one that was run; what was said if it could not be.
    tried: Result<(), String>,
}

impl Prospect {
    pub(super) fn find(place: &Place) -> Result<Self, Failure> {
        let (policy, places) = law::policy(&Choice::default(), place)?;
        Ok(Self { outlook: policy.outlook(None, &places), tried: Ok(()) })
    }

    /// Runs one.
    pub(super) fn tried(mut self) -> Self {
        if self.outlook.runs() {
            self.tried = try_command(&self.outlook.sandbox);
        }
        self
    }

    /// Whether they run.
    pub(super) fn is_good(&self) -> bool {
        self.outlook.runs() && self.tried.is_ok()
    }
}

/// Runs a command as a shell of an agent is run, on a PTY and in that sandbox, by this program itself: whatever would keep it
/// from running keeps this one.
fn try_command(sandbox: &str) -> Result<(), String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    #[expect(
        clippy::disallowed_methods,
        reason = "it is this program, which starts the command in a terminal"
    )]
    let mut wharf = Command::new(program);
    wharf.args(["run", "--rm", "--pty", "--sandbox", sandbox, "--", "/bin/true"]).current_dir("/");
    let done = wharf.stdin(Stdio::null()).output().map_err(|error| error.to_string())?;
    if done.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    let error = said.lines().find_map(|line| line.strip_prefix("error: "));
    Err(error.map_or_else(|| format!("it {}", done.status), str::to_owned))
}

/// The same among all others.
pub(super) fn capability(prospect: &Prospect, place: &Place) -> Capability {
    let Prospect { outlook, tried } = prospect;
    let detail = match &outlook.held {
        _ if tried.is_err() => tried.clone().err().unwrap_or_default(),
        Ok(None) => "without a sandbox".to_owned(),
        Ok(Some(means)) => match missing(outlook) {
            missing if missing.is_empty() => format!("{}, by {means}", outlook.sandbox),
            missing => format!("{}, by {means}; not held: {missing}", outlook.sandbox),
        },
        Err(unable) => unable.to_string(),
    };
    Capability {
        name: "agents' commands",
        have: prospect.is_good(),
        required: false,
        detail,
        used_for: "wharf mcp and wharf acp, in the sandbox of the policy",
        without_it: match tried {
            Ok(()) => "every command is refused, but with --sandbox open",
            Err(_) => "every command is refused",
        },
        advice: match tried {
            Ok(()) => remedy(outlook, place).into(),
            Err(_) => TRIED.into(),
        },
    }
}

/// What helps where a command was tried and did not run.
const TRIED: &str = "what is missing in the list, and then `wharf doctor` again";

/// The last words of the page.
pub(super) fn answer(prospect: &Prospect, place: &Place) -> String {
    let Prospect { outlook, tried } = prospect;
    let Outlook { sandbox, .. } = outlook;
    if let Err(why) = tried {
        return format!(
            "\nwharf mcp, wharf acp: agents' commands will NOT run here: one was tried in the sandbox `{sandbox}`, and {why}.\n\
             to get it: {TRIED}\n"
        );
    }
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
