//! What tools are told by variables, so that they work with caches as a sandbox has them.

use super::table;
use crate::policy::places::Places;
use std::ffi::OsString;
use std::fs::DirBuilder;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// The variables.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Tools {
    told: Vec<(&'static str, Told)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Told {
    /// This, whatever is inherited.
    This(OsString),
    /// This, unless the person has chosen.
    Unless(OsString),
    /// Also this, among other flags.
    Also(OsString),
}

/// The session's temporary directory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Where<'a> {
    /// As it is outside.
    pub(crate) real: &'a Path,
    /// As commands find it.
    pub(crate) inside: &'a Path,
}

impl Tools {
    /// For these caches, by their names: those that have layers, and those that should have and do not.
    pub(crate) fn new(places: &Places, layered: &[PathBuf], lost: &[PathBuf], temp: Where<'_>) -> Self {
        let mut tools = Self::default();
        let of = |caches: &[PathBuf], place: &Path| caches.iter().any(|cache| cache.starts_with(place));
        for (variable, name) in table::OWN {
            tools.tell(variable, Told::Unless(temp.inside.join(name).into()));
        }
        for (variable, usual, told, value) in table::COPIED {
            let is_ours = |place: PathBuf| of(layered, &place) || of(lost, &place);
            if places.moved(variable, usual).is_some_and(is_ours) {
                tools.tell(told, Told::Unless(value.into()));
            }
        }
        for (variable, usual, told, parts) in table::MOVED {
            let Some(place) = places.moved(variable, usual).filter(|place| of(lost, place)) else { continue };
            let own = Path::new("caches").join(told[0]);
            link(&place, parts, &temp.real.join(&own));
            told.iter().for_each(|name| tools.tell(name, Told::This(temp.inside.join(&own).into())));
        }
        tools.tell_java(places, lost, temp);
        tools
    }

    /// What is told by flags. A daemon of Gradle that was started outside must not be asked to build, nor one that was
    /// started in a sandbox be asked from outside: so each session has its own.
    fn tell_java(&mut self, places: &Places, lost: &[PathBuf], temp: Where<'_>) {
        if places.moved("GRADLE_USER_HOME", ".gradle").is_some_and(|home| home.exists()) {
            let own = temp.inside.join("gradle-daemon");
            self.tell_flag("GRADLE_OPTS", "-Dorg.gradle.daemon.registry.base=", &own);
        }
        let repository = places.moved("", ".m2/repository");
        if let Some(repository) = repository.filter(|repository| lost.contains(repository)) {
            let own = temp.inside.join("caches/maven");
            self.tell_flag("MAVEN_ARGS", "-Dmaven.repo.local=", &own);
            // What is there already is found all the same, from Maven 3.9 on.
            self.tell_flag("MAVEN_ARGS", "-Dmaven.repo.local.tail=", &repository);
        }
    }

    /// Flags are divided at spaces, and a quoted one is not taken everywhere.
    fn tell_flag(&mut self, name: &'static str, flag: &str, path: &Path) {
        if !path.as_os_str().as_bytes().iter().any(u8::is_ascii_whitespace) {
            let mut flag = OsString::from(flag);
            flag.push(path);
            self.tell(name, Told::Also(flag));
        }
    }

    fn tell(&mut self, name: &'static str, told: Told) {
        self.told.push((name, told));
    }

    /// Adds them to a command's environment. What the request itself says is stronger.
    pub(crate) fn add_to(&self, env: &mut Vec<(OsString, OsString)>, asked: &[(OsString, OsString)]) {
        for (name, told) in &self.told {
            let is_asked = asked.iter().any(|(known, _)| known == name);
            let known = env.iter_mut().find(|(known, _)| known == name);
            match (told, known) {
                (Told::This(_), Some(_)) if is_asked => {}
                (Told::This(value), Some((_, known))) => known.clone_from(value),
                (Told::Unless(_), Some(_)) => {}
                (Told::Also(flag), Some((_, known))) => {
                    known.push(" ");
                    known.push(flag);
                }
                (Told::This(value) | Told::Unless(value) | Told::Also(value), None) => {
                    env.push(((*name).into(), value.clone()));
                }
            }
        }
    }
}

/// A place of the session's in which parts of another are found. What cannot be made there the tool makes for itself.
fn link(place: &Path, parts: &[&str], own: &Path) {
    for part in parts.iter().filter(|part| place.join(part).exists()) {
        let at = own.join(part);
        let around = at.parent().unwrap_or(own);
        if DirBuilder::new().recursive(true).mode(0o700).create(around).is_ok() {
            let _ = std::os::unix::fs::symlink(place.join(part), &at);
        }
    }
}
