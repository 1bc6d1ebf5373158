//! Sandboxes that stand: made by one command, entered by others.

use super::layer;
use super::place::{Place, Who, c_path, everybody, hide, identity};
use std::fs;
use wharf_shim::confine::{Answer, Confine, Mount, Namespaces, Offered, OwnNet, OwnUser, Provision, Sockets};
use wharf_shim::launch::LaunchError;

/// Runs a line in that sandbox.
#[track_caller]
fn run(place: &Place, line: &str, confine: &Confine, provision: &Provision) -> String {
    let plan = place.line(line, Some(confine.clone()));
    place.launch_with(&plan, &place.path("root"), provision.clone()).unwrap().end().succeeded()
}

fn with(place: &Place, mounts: Vec<Mount>) -> Confine {
    Confine { mounts, ..place.confine() }
}

#[test]
fn the_next_command_enters_the_namespaces_of_the_one_before_and_has_shared_memory_of_its_own() {
    for who in everybody() {
        let place = Place::new(who);
        let net = Namespaces::Mount { net: OwnNet::Loopback, user: OwnUser::IfNeeded };
        let confine = Confine { namespaces: net, ..place.confine() };
        let standing = place.standing(&confine);
        let names = |file: &str| format!("(cd /proc/self/ns && readlink mnt user net ipc) > {file}");
        // At the same time: the name of one that is gone is given to the next.
        let line = format!("{}; touch done; exec sleep 30", names("one"));
        let plan = place.line(&line, Some(confine.clone()));
        let held = place.launch_with(&plan, &place.path("root"), standing.clone()).unwrap();
        let line = format!("while ! test -e done; do sleep 0.01; done; {}", names("other"));
        run(&place, &line, &confine, &standing);
        held.close();
        let said = |file| fs::read_to_string(place.path("root").join(file)).unwrap();
        let names = |file| said(file).lines().map(str::to_owned).collect::<Vec<_>>();
        let (one, other) = (names("one"), names("other"));
        assert_eq!((one.len(), &one[..3]), (4, &other[..3]), "{who:?}");
        assert_ne!(one[3], other[3], "{who:?}");
        let outside = |kind: &str| fs::read_link(format!("/proc/self/ns/{kind}")).unwrap();
        for (name, kind) in [(&one[0], "mnt"), (&one[2], "net"), (&one[3], "ipc")] {
            assert_ne!(outside(kind).to_str(), Some(name.as_str()), "{who:?}");
        }
    }
}

#[test]
fn what_is_hidden_and_what_is_kept_is_so_for_all_who_enter() {
    for who in everybody() {
        let place = Place::new(who);
        let secret = place.make_file("secret", "SECRET\n");
        place.make_dir("root/kept");
        let kept = place.path("root/kept");
        let keep = Mount::ReadOnly { path: c_path(&kept), is: identity(&kept) };
        let confine = with(&place, vec![hide(&secret), keep]);
        let standing = place.standing(&confine);
        let line = "cat ../secret; touch kept/new && echo written; touch ../outside && echo written; \
                    touch here && mv here there && echo moved; pwd";
        for round in 0..3 {
            let said = run(&place, line, &confine, &standing);
            assert!(!said.contains("SECRET") && !said.contains("written"), "{who:?} {round}: {said}");
            let end = format!("moved\n{}\n", place.path("root").display());
            assert!(said.ends_with(&end), "{who:?} {round}: {said}");
        }
    }
}

#[test]
fn commands_in_one_sandbox_leave_each_other_alone() {
    for who in everybody() {
        let place = Place::new(who);
        let confine = place.confine();
        let standing = place.standing(&confine);
        let plan = place.line("echo $$ > pid; exec sleep 30", Some(confine.clone()));
        let other = place.launch_with(&plan, &place.path("root"), standing.clone()).unwrap();
        let line = format!("kill -TERM {0} && echo signalled; cat /proc/{0}/environ && echo read", other.pid);
        let said = run(&place, &format!("{line}; true"), &confine, &standing);
        assert!(!said.contains("signalled") && !said.contains("read\n"), "{who:?}: {said}");
        other.close();
    }
}

#[test]
fn a_layer_is_one_for_all_who_enter_and_in_use_until_the_last_has_left() {
    for who in everybody() {
        let place = layer::place(who);
        let confine = layer::confine(&place, &[]);
        let standing = place.standing(&confine);
        let plan =
            place.line("echo one > ../cache/kept; touch written; exec sleep 30", Some(confine.clone()));
        let one = place.launch_with(&plan, &place.path("root"), standing.clone()).unwrap();
        let line = "while ! test -e written; do sleep 0.01; done; cat ../cache/kept";
        assert_eq!(run(&place, line, &confine, &standing), "one\n", "{who:?}");
        // With nobody but that command left who has the lock, another sandbox writes elsewhere.
        drop(standing);
        assert_eq!(place.run("cat ../cache/kept", confine.clone()).succeeded(), "kept\n", "{who:?}");
        one.close();
        assert_eq!(place.run("cat ../cache/kept", confine).succeeded(), "one\n", "{who:?}");
        layer::untouched(&place);
    }
}

#[test]
fn a_command_enters_nothing_that_is_less_than_it_should_have() {
    let place = Place::new(Who::Ordinary);
    let less = place.standing(&Confine { sockets: Sockets::None, ..place.plain_confine() });
    let plan = place.line("true", Some(place.confine()));
    let error = place.launch_with(&plan, &place.path("root"), less).err().unwrap();
    assert!(matches!(&error, LaunchError::Sandbox { doing, .. } if doing.contains("entering")), "{error}");

    let none = Confine { landlock: 0, ..place.confine() };
    let none = Confine { rules: Vec::new(), ..none };
    let less = place.standing(&none);
    let error = place.launch_with(&plan, &place.path("root"), less).err().unwrap();
    assert!(matches!(&error, LaunchError::Sandbox { doing, .. } if doing.contains("ruleset")), "{error}");
}

#[test]
fn nothing_is_offered_by_a_command_that_cannot_start() {
    let place = Place::new(Who::Ordinary);
    let missing = place.make_dir("missing");
    let confine = with(&place, vec![hide(&missing)]);
    fs::remove_dir(&missing).unwrap();
    let (offered, provision) = Offered::ask().unwrap();
    let plan = place.line("true", Some(confine));
    assert!(place.launch_with(&plan, &place.path("root"), provision).is_err());
    assert!(matches!(offered.look(), Answer::None), "{offered:?}");
}
