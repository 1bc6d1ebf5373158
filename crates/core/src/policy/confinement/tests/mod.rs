//! What a sandbox is made of for a house with a project in it: real files and links, and the mounts that follow from them.

mod cache;

use super::*;
use crate::grant::Grant;
use crate::policy::{Judgement, Policy, Seen, Situation, Whose};
use crate::spec::Spec;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use wharf_shim::confine::{Entry, Hidden, Mount};

/// A home with a project in it.
struct House {
    _dir: tempfile::TempDir,
    base: PathBuf,
    places: Places,
    text: &'static str,
}

impl House {
    fn new() -> Self {
        Self::at(tempfile::tempdir().unwrap())
    }

    fn at(dir: tempfile::TempDir) -> Self {
        let base = dir.path().canonicalize().unwrap();
        for name in ["home/project", "state/tmp"] {
            fs::create_dir_all(base.join(name)).unwrap();
        }
        let places = Places {
            home: Some(base.join("home")),
            state: base.join("state"),
            config: base.join("home/.config/wharf"),
            ..Places::default()
        };
        Self { _dir: dir, base, places, text: "" }
    }

    fn path(&self, below: &str) -> PathBuf {
        self.base.join(below)
    }

    fn write(&self, below: &str) -> PathBuf {
        let path = self.path(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "").unwrap();
        path
    }

    /// What a command in the project gets, or why it does not.
    fn judge(&self, sandbox: &str) -> Result<Confine, String> {
        self.grant_for(Spec::argv("/bin/true", [""; 0]), sandbox)
            .map(|mut grant| grant.confine.take().unwrap())
    }

    fn grant_for(&self, spec: Spec, sandbox: &str) -> Result<Grant, String> {
        let policy = format!("version = 1\n{}", self.text);
        let policy = Policy::parse(&policy, Path::new("test.toml"), &self.path("home")).unwrap();
        let (directory, temp, seen) = (self.path("home/project"), self.path("state/tmp"), Seen::default());
        let at = Situation {
            whose: Whose::Agent,
            places: &self.places,
            directory: &directory,
            more: &[],
            temp: &temp,
            sandbox: Some(sandbox),
            seen: &seen,
        };
        match policy.judge(spec.cwd(&directory), &at).unwrap() {
            Judgement::Allow(grant) => Ok(grant),
            Judgement::Deny(denial) => Err(denial.reason),
            Judgement::Ask(..) => Err("asked".to_owned()),
        }
    }

    fn mounts(&self) -> Vec<Mount> {
        self.judge("workspace").unwrap().mounts
    }

    /// Whether the directory around it is shown without it.
    fn leaves_out(&self, below: &str) -> bool {
        let path = self.path(below);
        let (dir, name) = (c_path(path.parent().unwrap()).unwrap(), path.file_name().unwrap());
        let is_in = |entry: &Entry| match entry {
            Entry::Directory(it) | Entry::File(it) | Entry::Link { name: it, .. } => {
                it.to_bytes() == name.as_bytes()
            }
            _ => false,
        };
        self.mounts().iter().any(|mount| match mount {
            Mount::View { path, entries, .. } => *path == dir && !entries.iter().any(is_in),
            _ => false,
        })
    }

    fn hides(&self, below: &str) -> Option<Hidden> {
        let path = c_path(&self.path(below)).unwrap();
        self.mounts().into_iter().find_map(|mount| match mount {
            Mount::Hide { path: hidden, is } if hidden == path => Some(is),
            _ => None,
        })
    }

    fn writes(&self, below: &str) -> bool {
        let path = c_path(&self.path(below)).unwrap();
        self.mounts().iter().any(|mount| matches!(mount, Mount::Writable { path: it, .. } if *it == path))
    }

    /// Whether it is written for the session alone.
    fn layers(&self, below: &str) -> bool {
        let path = c_path(&self.path(below)).unwrap();
        self.mounts().iter().any(|mount| matches!(mount, Mount::Layer { path: it, .. } if *it == path))
    }

    /// How each thing in the project stays as it is, without those that always do and are not there.
    fn kept(&self) -> Vec<(String, &'static str)> {
        let project = self.path("home/project");
        let kept = self.mounts().into_iter().filter_map(|mount| {
            let (path, how) = match mount {
                Mount::Link { path, .. } => (path, "link"),
                Mount::Fixed { path, .. } => (path, "fixed"),
                Mount::ReadOnly { path, .. } => (path, "file"),
                Mount::Placeholder { path } => (path, "directory"),
                _ => return None,
            };
            let path = PathBuf::from(OsStr::from_bytes(path.as_bytes()));
            Some((path.strip_prefix(&project).ok()?.to_str()?.to_owned(), how))
        });
        let usual = |name: &str| super::super::protected::protected().iter().any(|usual| usual.name == name);
        kept.filter(|(name, _)| project.join(name).symlink_metadata().is_ok() || !usual(name)).collect()
    }
}

fn of(path: &Path) -> Identity {
    identity(path).unwrap()
}

#[test]
fn a_directory_is_shown_without_what_is_hidden_in_it_whether_that_exists_or_not() {
    let mut house = House::new();
    fs::create_dir(house.path("home/.ssh")).unwrap();
    for name in ["home/.netrc", "home/.gitconfig", "home/.docker/other", "home/.local/bin/tool"] {
        house.write(name);
    }
    let inside = house.write("home/project/keys/kube");
    house.places.environment.push(("KUBECONFIG".into(), inside.clone().into()));
    for name in ["home/.ssh", "home/.netrc", "home/.aws", "home/.docker/config.json"] {
        assert!(house.leaves_out(name), "{name}");
        assert_eq!(house.hides(name), None, "{name}");
    }
    for name in ["home/.gitconfig", "home/.docker", "home/.docker/other", "home/project", "home/.local/bin"] {
        assert!(!house.leaves_out(name), "{name}");
    }
    // Where commands write there is no view, and they can put another in its place.
    assert_eq!(house.hides("home/project/keys/kube"), Some(Hidden::Exactly(of(&inside))));
    assert!(house.kept().contains(&("keys".to_owned(), "fixed")));
}

#[test]
fn a_directory_with_more_than_can_be_shown_hides_what_is_there() {
    let house = House::new();
    fs::create_dir(house.path("home/.ssh")).unwrap();
    let netrc = house.write("home/.netrc");
    for number in 0..1100 {
        house.write(&format!("home/{number}"));
    }
    assert_eq!(house.hides("home/.ssh"), Some(Hidden::Exactly(of(&house.path("home/.ssh")))));
    assert_eq!(house.hides("home/.netrc"), Some(Hidden::In(of(netrc.parent().unwrap()))));
}

#[test]
fn what_appears_or_changes_between_two_commands_is_seen() {
    let house = House::new();
    fs::create_dir(house.path("home/.aws")).unwrap();
    fs::create_dir(house.path("home/other")).unwrap();
    assert!(house.leaves_out("home/.aws") && !house.leaves_out("home/other"));
    fs::rename(house.path("home/.aws"), house.path("home/other/aws")).unwrap();
    symlink("other/aws", house.path("home/.aws")).unwrap();
    assert!(house.leaves_out("home/other/aws"));
}

#[test]
fn sockets_that_somebody_listens_on_are_hidden_outside_the_roots() {
    let mut house = House::new();
    fs::create_dir(house.path("home/daemon")).unwrap();
    let listen = |below: &str| UnixListener::bind(house.path(below)).unwrap();
    let _listening = [listen("home/daemon/rpc"), listen("home/project/own"), listen("home/daemon/shown")];
    house.text = "[profile.own]\nshow = [\"~/daemon/shown\"]\n";
    assert!(house.leaves_out("home/daemon/rpc"));
    assert_eq!(house.hides("home/project/own"), None);
    let mounts = house.judge("own").unwrap().mounts;
    assert!(
        !mounts
            .iter()
            .any(|mount| matches!(mount, Mount::Hide { path, .. } if path.to_bytes().ends_with(b"shown")))
    );
}

#[test]
fn a_socket_among_temporary_files_is_covered_with_them_unless_they_come_back() {
    let dir = tempfile::Builder::new().tempdir_in("/tmp").unwrap();
    let agent = dir.path().join("agent");
    let _listening = UnixListener::bind(&agent).unwrap();
    let mut elsewhere = House::new();
    elsewhere.places.environment.push(("SSH_AUTH_SOCK".into(), agent.clone().into()));
    let path = c_path(&agent).unwrap();
    let is_there = |house: &House| {
        house.mounts().iter().any(|it| matches!(it, Mount::Hide { path: it, .. } if *it == path))
    };
    assert!(!is_there(&elsewhere));
    // A home in there is seen again, and what is in it.
    let mut below = House::at(dir);
    below.places.home = Some(below.base.clone());
    below.places.environment.push(("SSH_AUTH_SOCK".into(), agent.into()));
    assert!(below.leaves_out("agent"));
}

#[test]
fn a_link_in_the_place_of_something_protected_is_kept_with_what_it_leads_to() {
    let house = House::new();
    let project = house.path("home/project");
    fs::create_dir_all(project.join("config/editor")).unwrap();
    symlink("config/editor", project.join(".vscode")).unwrap();
    symlink(house.path("home"), project.join(".fleet")).unwrap();
    symlink("nowhere/at/all", project.join(".idea")).unwrap();
    house.write("home/project/settings.json");
    symlink("../project/settings.json", project.join(".mcp.json")).unwrap();
    let expected = [
        (".vscode", "link"),
        ("config", "fixed"),
        ("config/editor", "file"),
        (".idea", "link"),
        (".fleet", "link"),
        (".mcp.json", "link"),
        ("settings.json", "file"),
    ];
    let expected: Vec<_> = expected.map(|(name, how)| (name.to_owned(), how)).into();
    assert_eq!(house.kept(), expected);
    symlink(".zed", project.join(".zed")).unwrap();
    let refused = house.judge("workspace").unwrap_err();
    assert!(refused.contains(".zed leads in circles"), "{refused}");
}

#[test]
fn what_a_profile_protects_may_be_missing_with_the_directory_around_it() {
    let mut house = House::new();
    house.text = "[profile.own]\nprotection = \"strict\"\nprotect = [\"a/b\", \"c/d\", \"file/x\"]\n";
    house.write("home/project/c/other");
    house.write("home/project/file");
    let mounts = house.judge("own").unwrap().mounts;
    let place = |below: &str| Mount::Placeholder { path: c_path(&house.path(below)).unwrap() };
    assert!(mounts.contains(&place("home/project/a")), "{mounts:?}");
    assert!(mounts.contains(&place("home/project/c/d")), "{mounts:?}");
    let file = house.path("home/project/file");
    assert!(mounts.contains(&Mount::ReadOnly { path: c_path(&file).unwrap(), is: of(&file) }), "{mounts:?}");
}

#[test]
fn hooks_are_kept_wherever_links_lead_to_them() {
    let house = House::new();
    let project = house.path("home/project");
    fs::create_dir_all(project.join("deep/store")).unwrap();
    fs::create_dir(project.join("githooks")).unwrap();
    symlink("deep/store", project.join(".git")).unwrap();
    symlink("../../githooks", project.join("deep/store/hooks")).unwrap();
    let expected = [
        (".git", "link"),
        ("deep", "fixed"),
        ("deep/store", "fixed"),
        ("deep/store/hooks", "link"),
        ("githooks", "file"),
    ];
    let expected: Vec<_> = expected.map(|(name, how)| (name.to_owned(), how)).into();
    assert_eq!(house.kept(), expected);
}

#[test]
fn a_cache_is_written_where_it_really_is_unless_a_link_in_a_root_leads_there() {
    let house = House::new();
    for name in ["home/.cache/pip", "home/.cache/other", "data/npm", "data/go"] {
        fs::create_dir_all(house.path(name)).unwrap();
    }
    symlink("../data/npm", house.path("home/.npm")).unwrap();
    symlink("../../data/go", house.path("home/project/step")).unwrap();
    symlink("../project/step", house.path("home/.cache/go-build")).unwrap();
    assert!(house.writes("home/.cache/pip") && house.layers("data/npm") && house.writes("home/project"));
    assert!(!house.writes("home/.cache") && !house.writes("home/.cache/other") && !house.writes("data/go"));
    fs::remove_file(house.path("home/.cache/go-build")).unwrap();
    symlink("../../data/go", house.path("home/.cache/go-build")).unwrap();
    assert!(house.writes("data/go"));
}

#[test]
fn in_a_working_tree_settings_are_gits_to_change_and_hooks_are_not() {
    let mut house = House::new();
    for name in ["home/project/.vscode/settings.json", "home/project/.mcp.json"] {
        house.write(name);
    }
    let names = |house: &House| house.kept().into_iter().map(|(name, _)| name).collect::<Vec<_>>();
    assert_eq!(names(&house), [".vscode", ".mcp.json"]);
    fs::create_dir_all(house.path("home/project/.git/hooks")).unwrap();
    assert_eq!(names(&house), [".git", ".git/hooks"]);
    house.text = "[profile.own]\nprotection = \"strict\"\n";
    let mounts = house.judge("own").unwrap().mounts;
    let missing = Mount::Placeholder { path: c_path(&house.path("home/project/.claude")).unwrap() };
    assert!(mounts.contains(&missing), "{mounts:?}");
}
