//! Profiles: what a sandbox allows, in terms of roots and places and not yet of any one command.

use super::error::{PolicyError, Source};
use super::text::ProfileText;
use std::path::{Path, PathBuf};
use toml::Spanned;

/// No sandbox.
pub const OPEN: &str = "open";
/// Reads anything but secrets, writes the roots, its temporary directory and tool caches.
pub const WORKSPACE: &str = "workspace";
/// Reads the roots and the system, writes nothing but its temporary directory, no network.
pub const LOCKED: &str = "locked";

/// A sandbox by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Profile {
    pub(super) name: String,
    pub(super) terms: Option<Terms>,
}

/// What a sandbox allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Terms {
    pub(super) reads: Reads,
    pub(super) roots: Use,
    /// May be read besides.
    pub(super) read: Vec<PathBuf>,
    /// May be written besides.
    pub(super) write: Vec<PathBuf>,
    /// Hidden besides the usual secrets.
    pub(super) hide: Vec<PathBuf>,
    /// Usual secrets that are not hidden.
    pub(super) show: Vec<PathBuf>,
    /// Names in a root that stay as they are; `None` for the usual ones.
    pub(super) protect: Option<Vec<PathBuf>>,
    pub(super) protection: Protection,
    pub(super) unix_sockets: UnixSockets,
    pub(super) network: Network,
    pub(super) namespaces: Namespaces,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reads {
    /// All but what is hidden.
    Everything,
    /// What comes with the system, but nobody's home.
    System,
}

/// What may be done in the roots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// Reading and writing, with tool caches that may be written too.
    Write,
    /// Reading.
    Read,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Network {
    On,
    Off,
    /// A loopback of its own and nothing else.
    Loopback,
}

/// How names in a root are protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Protection {
    /// What exists, unless git may want to change it. Of what is made anew a person is told.
    Usual,
    /// Also what git may want to change, and what does not exist: an empty directory stands there while a terminal runs.
    Strict,
}

/// Sockets with a path, where no mount hides those of other programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UnixSockets {
    /// None.
    Auto,
    /// All.
    On,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Namespaces {
    /// Where the profile needs them.
    Auto,
    /// Do without; what needs them is refused.
    Never,
}

impl Profile {
    /// One that comes with wharf.
    pub(super) fn built_in(name: &str) -> Option<Self> {
        let workspace = Terms {
            reads: Reads::Everything,
            roots: Use::Write,
            read: Vec::new(),
            write: Vec::new(),
            hide: Vec::new(),
            show: Vec::new(),
            protect: None,
            protection: Protection::Usual,
            unix_sockets: UnixSockets::Auto,
            network: Network::On,
            namespaces: Namespaces::Auto,
        };
        let terms = match name {
            OPEN => None,
            WORKSPACE => Some(workspace),
            LOCKED => Some(Terms {
                reads: Reads::System,
                roots: Use::Read,
                protect: Some(Vec::new()),
                network: Network::Off,
                namespaces: Namespaces::Never,
                ..workspace
            }),
            _ => return None,
        };
        Some(Self { name: name.to_owned(), terms })
    }

    /// One from a policy file.
    pub(super) fn custom(
        name: &Spanned<String>,
        text: &ProfileText,
        source: Source<'_>,
        home: &Path,
    ) -> Result<Self, PolicyError> {
        let (at, name) = (Some(name.span()), name.get_ref());
        if Self::built_in(name).is_some() || name.is_empty() || !name.bytes().all(is_name_byte) {
            return Err(source.error(
                at,
                format!("`{name}` cannot be the name of a profile of your own"),
                "use letters, digits and dashes, and none of open, workspace, locked",
            ));
        }
        let base = text.base.as_ref().map_or(WORKSPACE, |base| base.get_ref());
        let base_at = text.base.as_ref().map(Spanned::span);
        let Some(mut terms) = Self::built_in(base).and_then(|base| base.terms) else {
            let what = format!("there is no profile `{base}` to begin with");
            return Err(source.error(base_at, what, "base = \"workspace\" or base = \"locked\""));
        };
        let paths = |texts: &[Spanned<String>]| {
            texts.iter().map(|text| absolute(text, source, home)).collect::<Result<Vec<_>, _>>()
        };
        terms.read = paths(&text.read)?;
        terms.write = paths(&text.write)?;
        terms.hide = paths(&text.hide)?;
        terms.show = paths(&text.show)?;
        if let Some(protect) = &text.protect {
            terms.protect = Some(protect.iter().map(|text| inside(text, source)).collect::<Result<_, _>>()?);
        }
        let networks = [("on", Network::On), ("off", Network::Off), ("loopback", Network::Loopback)];
        choose(&mut terms.network, text.network.as_ref(), &networks, source)?;
        let namespaces = [("auto", Namespaces::Auto), ("never", Namespaces::Never)];
        choose(&mut terms.namespaces, text.namespaces.as_ref(), &namespaces, source)?;
        let protections = [("usual", Protection::Usual), ("strict", Protection::Strict)];
        choose(&mut terms.protection, text.protection.as_ref(), &protections, source)?;
        let sockets = [("auto", UnixSockets::Auto), ("on", UnixSockets::On)];
        choose(&mut terms.unix_sockets, text.unix_sockets.as_ref(), &sockets, source)?;
        terms.check(text, source)?;
        Ok(Self { name: name.clone(), terms: Some(terms) })
    }
}

impl Terms {
    /// Whether files inside a writable root are to stay as they are.
    pub(super) fn protects(&self) -> bool {
        self.roots == Use::Write && self.protect.as_ref().is_none_or(|names| !names.is_empty())
    }

    /// One thing each, for people and to be compared.
    pub(super) fn describe(&self) -> Vec<String> {
        let mut all = vec![
            match self.reads {
                Reads::Everything => "reads everything",
                Reads::System => "reads the system",
            },
            match self.roots {
                Use::Write => "writes the roots",
                Use::Read => "reads the roots",
            },
            match self.network {
                Network::On => "network on",
                Network::Off => "network off",
                Network::Loopback => "network loopback",
            },
            match self.namespaces {
                Namespaces::Auto => "namespaces auto",
                Namespaces::Never => "namespaces never",
            },
        ]
        .into_iter()
        .map(str::to_owned)
        .collect::<Vec<_>>();
        let lists =
            [("read", &self.read), ("write", &self.write), ("hide", &self.hide), ("show", &self.show)];
        let lists = lists.into_iter().chain(self.protect.as_ref().map(|names| ("protect", names)));
        for (word, paths) in lists {
            all.extend(paths.iter().map(|path| format!("{word} {}", path.display())));
        }
        if self.protect.is_none() {
            all.push("protect the usual".to_owned());
        }
        if self.protection == Protection::Strict {
            all.push("protect strictly".to_owned());
        }
        if self.unix_sockets == UnixSockets::On {
            all.push("Unix sockets on".to_owned());
        }
        all
    }

    /// What only a mount or network namespace can do is not promised without one.
    fn check(&self, text: &ProfileText, source: Source<'_>) -> Result<(), PolicyError> {
        if self.namespaces == Namespaces::Auto {
            return Ok(());
        }
        let at = text.namespaces.as_ref().map(Spanned::span);
        if self.protect.as_ref().is_some_and(|names| !names.is_empty()) && self.protects() {
            return Err(source.error(
                at,
                "without namespaces nothing inside a writable root can be protected",
                "write `protect = []` if that is acceptable",
            ));
        }
        if self.network == Network::Loopback {
            let what = "without namespaces there is no loopback of its own";
            return Err(source.error(at, what, "network = \"on\" or \"off\""));
        }
        Ok(())
    }
}

/// One of several words, if there is one.
fn choose<T: Copy>(
    value: &mut T,
    text: Option<&Spanned<String>>,
    words: &[(&str, T)],
    source: Source<'_>,
) -> Result<(), PolicyError> {
    let Some(text) = text else { return Ok(()) };
    match words.iter().find(|(word, _)| word == text.get_ref()) {
        Some((_, meant)) => *value = *meant,
        None => {
            let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            let what = format!("`{}` is not one of the words that can stand here", text.get_ref());
            return Err(source.error(Some(text.span()), what, known.join(" or ")));
        }
    }
    Ok(())
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'
}

/// A path as it stands in a file: absolute, or from the home directory.
pub(super) fn absolute(
    text: &Spanned<String>,
    source: Source<'_>,
    home: &Path,
) -> Result<PathBuf, PolicyError> {
    let path = match text.get_ref().strip_prefix('~') {
        Some("") => home.to_owned(),
        Some(rest) if rest.starts_with('/') => home.join(rest.trim_start_matches('/')),
        _ => PathBuf::from(text.get_ref()),
    };
    if !path.is_absolute() || path.components().any(|part| part == std::path::Component::ParentDir) {
        return Err(source.error(
            Some(text.span()),
            format!("`{}` is not an absolute path", text.get_ref()),
            "begin it with / or ~/, and go nowhere with ..",
        ));
    }
    Ok(path)
}

/// A path below a root.
fn inside(text: &Spanned<String>, source: Source<'_>) -> Result<PathBuf, PolicyError> {
    let path = PathBuf::from(text.get_ref());
    let is_plain = |part| matches!(part, std::path::Component::Normal(_));
    if path.as_os_str().is_empty() || !path.components().all(is_plain) {
        return Err(source.error(
            Some(text.span()),
            format!("`{}` is not a path below a root", text.get_ref()),
            "write it from the root on, like .vscode",
        ));
    }
    Ok(path)
}
