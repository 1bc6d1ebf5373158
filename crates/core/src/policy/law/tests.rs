//! A law as an embedder uses it: from an environment and a directory to what may run there.

use super::*;
use crate::{Dirs, Holder};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;

struct House {
    _dir: tempfile::TempDir,
    base: PathBuf,
}

impl House {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        for part in ["home/.config/wharf", "home/project", "state"] {
            fs::create_dir_all(base.join(part)).unwrap();
        }
        Self { _dir: dir, base }
    }

    fn places(&self) -> Places {
        let environment: [(OsString, OsString); 2] =
            [("HOME".into(), self.base.join("home").into()), ("PATH".into(), "/usr/bin:/bin".into())];
        Places::of(&Dirs::under(self.base.join("state")), &Holder::Thread, environment)
    }

    fn law(&self) -> Law {
        Law::open(Policy::usual(&self.places()).unwrap(), self.places()).unwrap()
    }

    fn write(&self, file: &str, text: &str) -> PathBuf {
        let file = self.base.join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, PermissionsExt::from_mode(0o644)).unwrap();
        file
    }

    fn judge(&self, law: &Law, program: &str) -> String {
        let cwd = self.base.join("home/project");
        let spec = Spec::argv(program, [""; 0]).cwd(&cwd);
        match law.judge(spec, &SessionPlace { cwd, key: "s".to_owned() }).unwrap() {
            Judgement::Allow(grant) => format!("allowed in {}", grant.facts().sandbox),
            Judgement::Ask(..) => "asked".to_owned(),
            Judgement::Deny(denial) => denial.reason,
        }
    }
}

const NO_CAT: &str = r#"
version = 1
[[rule]]
decision = "deny"
command = ["cat", "…"]
reason = "no cats"
match = ["cat file"]
not_match = ["ls"]
"#;

#[test]
fn an_environment_says_where_everything_is() {
    let house = House::new();
    let places = house.places();
    assert_eq!(places.home.as_deref(), Some(house.base.join("home").as_path()));
    assert_eq!(places.config, house.base.join("home/.config/wharf"));
    assert_eq!(places.state, house.base.join("state"));
    assert!(!places.programs.is_empty(), "the program itself could be replaced");
}

#[test]
fn without_a_file_what_is_built_in_holds_and_a_file_of_ones_own_is_found() {
    let house = House::new();
    assert_eq!(house.judge(&house.law(), "/bin/cat"), "allowed in workspace");
    house.write("home/.config/wharf/policy.toml", NO_CAT);
    assert!(house.judge(&house.law(), "/bin/cat").contains("no cats"));
    assert_eq!(house.judge(&house.law(), "/bin/ls"), "allowed in workspace");
    assert_eq!(house.judge(&house.law().in_sandbox("open").unwrap(), "/bin/ls"), "allowed in open");
    assert!(house.law().in_sandbox("none").unwrap_err().contains("workspace"));
}

#[test]
fn a_projects_file_is_read_anew_for_every_request_and_only_tightens() {
    let house = House::new();
    let law = house.law();
    assert_eq!(house.judge(&law, "/bin/cat"), "allowed in workspace");
    let file = house.write("home/project/.wharf/policy.toml", NO_CAT);
    assert!(house.judge(&law, "/bin/cat").contains("no cats"));
    house.write("home/project/.wharf/policy.toml", "version = 1\nsandbox = \"open\"");
    assert!(house.judge(&law, "/bin/ls").contains("cannot choose"), "{}", house.judge(&law, "/bin/ls"));
    fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink(house.write("elsewhere", ""), &file).unwrap();
    assert!(house.judge(&law, "/bin/ls").contains("cannot be read"), "a link is not followed");
    fs::remove_file(&file).unwrap();
    assert_eq!(house.judge(&law, "/bin/cat"), "allowed in workspace");
}

#[test]
fn a_file_that_others_can_write_is_no_policy() {
    let house = House::new();
    let file = house.write("home/.config/wharf/policy.toml", NO_CAT);
    fs::set_permissions(&file, PermissionsExt::from_mode(0o666)).unwrap();
    let error = Policy::usual(&house.places()).unwrap_err();
    assert!(error.what.contains("somebody else") && error.fix.contains("chmod"), "{error}");
}

#[test]
fn what_stands_in_the_file_system_goes_with_the_law() {
    let house = House::new();
    let of_processes = || fs::read_dir(house.base.join("state/tmp")).unwrap().count();
    let law = house.law();
    house.judge(&law, "/bin/cat");
    assert_eq!(of_processes(), 1);
    law.leave();
    assert_eq!(of_processes(), 0);
    assert!(house.judge(&law, "/bin/cat").contains("temporary files"));
    drop(house.law());
    assert_eq!(of_processes(), 0);
}
