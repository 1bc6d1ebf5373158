//! The same inside the `workspace` sandbox, where the terminal has another name and other PTYs its number.

use super::{PYTHON, SIZE, Watched, assert_waits};
use std::fs;
use std::path::Path;
use wharf_core::foreground::Kind;
use wharf_core::policy::{Judgement, Places, Policy, Seen, Situation, Whose};
use wharf_core::{Grant, Spec};
use wharf_testing::{Place, guarded};

/// Grants a spec in the sandbox, in a project below `base`.
pub(crate) fn confined(base: &Path, spec: Spec) -> Grant {
    let (home, project, temp) = (base.join("home"), base.join("home/project"), base.join("state/tmp"));
    for dir in [&project, &temp] {
        fs::create_dir_all(dir).unwrap();
    }
    let places = Places {
        home: Some(home.clone()),
        state: base.join("state"),
        config: home.join(".config/wharf"),
        ..Places::default()
    };
    let policy = Policy::built_in(&home).unwrap();
    let at = Situation {
        whose: Whose::Agent,
        places: &places,
        directory: &project,
        more: &[],
        temp: &temp,
        sandbox: Some("workspace"),
        seen: &Seen::default(),
    };
    match policy.judge(spec.cwd(&project), &at).unwrap() {
        Judgement::Allow(grant) => grant,
        other => panic!("{other:?}"),
    }
}

async fn start(place: &Place, base: &Path, spec: Spec) -> Watched {
    let spec = place.marked(spec).env("TERM", "xterm-256color").env("LC_ALL", "C.UTF-8").pty(SIZE);
    Watched::of(guarded(place.store.create(confined(base, spec))).await.unwrap())
}

#[tokio::test]
async fn in_the_sandbox_who_waits_is_seen_and_who_does_not_is_not() {
    let base = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let base = base.path().canonicalize().unwrap();
    let place = Place::process();
    let bash = |line: &str| Spec::shell_line("/bin/bash", line);
    let python = |script: &str| Spec::argv(PYTHON, ["-u", "-c", script]);
    let table = [
        (bash("read -p 'Name: ' x"), Kind::Text, "bash", "Name:"),
        (bash("read -s -p 'Token: ' x"), Kind::Secret, "bash", "Token:"),
        (bash("seq 10000 | less"), Kind::Pager, "less", ":"),
        (bash("exec vim -u NONE -n new"), Kind::Editor, "vim", ""),
        (python("input('Name: ')"), Kind::Text, "python3", "Name:"),
        (python("import getpass; getpass.getpass()"), Kind::Secret, "python3", "Password:"),
        (python("import select; select.select([0], [], [])"), Kind::Text, "python3", ""),
        (python("import os; os.read(os.open('/dev/tty', os.O_RDWR), 8)"), Kind::Text, "python3", ""),
        (python("import os; os.read(os.open(os.ttyname(0), os.O_RDWR), 8)"), Kind::Text, "python3", ""),
        (Spec::argv("node", [""; 0]), Kind::Repl, "node", ">"),
    ];
    for (spec, kind, program, prompt) in table {
        let mut watched = start(&place, &base, spec).await;
        assert_waits(&watched.awaiting().await, kind, program, prompt);
    }
    // The sandbox's own PTYs are counted from zero, so one of them gets the number that the terminal has outside.
    let twin = "import os, pty
pairs = [pty.openpty()]
while os.fstat(pairs[-1][1]).st_rdev != os.fstat(0).st_rdev: pairs.append(pty.openpty())
print('opened')
os.read(pairs[-1][1], 1)";
    let table = [
        (bash("printf 'Password: '; sleep 60"), "Password:"),
        (bash("printf 'Name: '; sleep 60 | cat"), "Name:"),
        (python(twin), "opened"),
    ];
    for (spec, said) in table {
        start(&place, &base, spec).await.nobody_after(said).await;
    }
    place.check().await;
}
