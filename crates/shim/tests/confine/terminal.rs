//! Devices and terminals inside a sandbox.

use super::place::{Place, everybody};
use wharf_shim::confine::{Confine, Mount};
use wharf_shim::journal::record::Status;

#[test]
fn the_usual_devices_work() {
    for who in everybody() {
        let place = Place::new(who);
        for confine in [place.confine(), place.plain_confine()] {
            let line = "echo x > /dev/null && head -c 2 /dev/zero | wc -c && head -c 3 /dev/urandom | wc -c";
            assert_eq!(place.run(line, confine).succeeded(), "2\n3\n", "{who:?}");
        }
    }
}

#[test]
fn a_pty_is_the_commands_terminal() {
    for who in everybody() {
        let place = Place::new(who);
        for confine in [place.confine(), place.plain_confine()] {
            let line = "test -t 0 && stty size && echo typed > /dev/tty && stty -echo < /dev/tty && tty";
            let plan = Place::on_pty(place.line(line, Some(confine)));
            let output = place.launch(&plan).unwrap().end().succeeded();
            assert!(output.starts_with("24 80\r\ntyped\r\n/dev/pts/"), "{who:?}: {output}");
        }
    }
}

#[test]
fn the_own_pty_needs_no_rule() {
    for who in everybody() {
        let place = Place::new(who);
        let mut confine = place.plain_confine();
        confine.rules.retain(|rule| rule.path.as_c_str() != c"/dev/pts");
        let line = "tty && echo again > $(tty) && stty size < $(tty)";
        let plan = Place::on_pty(place.line(line, Some(confine)));
        let output = place.launch(&plan).unwrap().end().succeeded();
        assert!(output.ends_with("again\r\n24 80\r\n"), "{who:?}: {output}");
    }
}

#[test]
fn with_terminals_of_its_own_it_makes_new_ones_and_finds_no_others() {
    for who in everybody() {
        let place = Place::new(who);
        let confine = Confine { mounts: vec![Mount::Terminals], ..place.confine() };
        let line = "ls /dev/pts; stty size; tty; script -qec 'tty; ls /dev/pts' /dev/null < /dev/null";
        let plan = Place::on_pty(place.line(line, Some(confine)));
        let outcome = place.launch(&plan).unwrap().end();
        assert_eq!(outcome.status, Status::Code(0), "{}", outcome.output);
        let words: Vec<&str> = outcome.output.split_whitespace().collect();
        assert_eq!(words[..4], ["ptmx", "24", "80", "/dev/console"], "{who:?}: {words:?}");
        assert!(words.contains(&"/dev/pts/0"), "{who:?}: {words:?}");
    }
}
