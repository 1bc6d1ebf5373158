//! Crates depend on each other in one direction, and protocols stay out of the lower ones.

use super::{Complaint, File};

/// What a crate may know of the others, and what it may not know at all.
struct Bounds {
    manifest: &'static str,
    own: &'static [&'static str],
    never: &'static [&'static str],
}

/// Protocols, servers and command lines belong to front ends.
const FRONT_END: [&str; 6] = ["agent-client-protocol", "rmcp", "axum", "hyper", "clap", "anyhow"];
/// A holder of one terminal waits with one system call; a runtime would be most of its memory.
const RUNTIME: [&str; 9] =
    ["tokio", "async-std", "smol", "agent-client-protocol", "rmcp", "axum", "hyper", "clap", "anyhow"];

const BOUNDS: [Bounds; 4] = [
    Bounds { manifest: "crates/shim/Cargo.toml", own: &[], never: &RUNTIME },
    Bounds { manifest: "crates/core/Cargo.toml", own: &["wharf-shim"], never: &FRONT_END },
    Bounds {
        manifest: "crates/acp/Cargo.toml",
        own: &["wharf-core"],
        never: &["rmcp", "axum", "clap", "anyhow"],
    },
    Bounds {
        manifest: "crates/wharf/Cargo.toml",
        own: &["wharf-shim", "wharf-core", "wharf-acp"],
        never: &[],
    },
];

pub(super) fn of_crates(file: &File) -> Vec<Complaint> {
    let Some(bounds) = BOUNDS.iter().find(|bounds| bounds.manifest == file.path) else {
        return Vec::new();
    };
    let is_stranger = |name: &str| name.starts_with("wharf") && !bounds.own.contains(&name);
    dependencies(&file.text)
        .into_iter()
        .filter_map(|(line, name)| {
            if is_stranger(&name) {
                let what = format!("must not depend on {name}; crates go shim → core → acp → wharf");
                Some(Complaint::at(file, line, &what))
            } else if bounds.never.contains(&name.as_str()) {
                let what = format!("must not depend on {name}; that belongs to a crate above");
                Some(Complaint::at(file, line, &what))
            } else {
                None
            }
        })
        .collect()
}

/// The names under `[dependencies]` and `[target.….dependencies]`; what only tests need may come from anywhere.
fn dependencies(manifest: &str) -> Vec<(usize, String)> {
    let mut inside = false;
    let mut names = Vec::new();
    for (at, line) in manifest.lines().map(str::trim).enumerate() {
        if let Some(section) = line.strip_prefix('[') {
            let section = section.trim_end_matches(']');
            inside = section == "dependencies" || section.ends_with(".dependencies");
            if let Some((_, name)) =
                section.rsplit_once("dependencies.").filter(|(kind, _)| !kind.ends_with('-'))
            {
                names.push((at, name.to_owned()));
            }
        } else if inside && line.starts_with(|c: char| c.is_alphanumeric()) {
            let name = line.split(['.', '=', ' ']).next().unwrap_or_default();
            names.push((at, name.to_owned()));
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::super::tests::file;
    use super::*;

    #[test]
    fn dependencies_are_read_in_all_their_spellings() {
        let text = "[dependencies]\na.workspace = true\nb = \"1\"\n# c\n[target.'cfg(unix)'.dependencies]\nd = { }\n\
                    [dependencies.e]\nversion = \"1\"\n[dev-dependencies]\nf = \"1\"\n[dev-dependencies.g]\n";
        let names: Vec<String> = dependencies(text).into_iter().map(|(_, name)| name).collect();
        assert_eq!(names, ["a", "b", "d", "e"]);
    }

    #[test]
    fn a_crate_must_not_look_up() {
        let up = "[dependencies]\nwharf-core.workspace = true\n";
        assert_eq!(of_crates(&file("crates/shim/Cargo.toml", up)).len(), 1);
        assert_eq!(of_crates(&file("crates/wharf/Cargo.toml", up)), []);
        let runtime = "[dependencies]\ntokio.workspace = true\n";
        assert_eq!(of_crates(&file("crates/shim/Cargo.toml", runtime)).len(), 1);
        assert_eq!(of_crates(&file("crates/core/Cargo.toml", runtime)), []);
    }
}
