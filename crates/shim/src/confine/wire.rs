//! A confinement as bytes, as a part of the plan.

use super::{
    Absent, Access, Confine, Entry, Hidden, Identity, Look, Metadata, Mount, Namespaces, OwnNet, OwnUser,
    Rule, Sockets,
};
use crate::plan::c_string;
use crate::wire::value::{DecodeError, Reader, Writer};

impl Confine {
    pub(crate) fn write(&self, w: &mut Writer) {
        self.namespaces.write(w.text(&self.name)).u32(self.landlock);
        w.u32(count(self.mounts.len()));
        for mount in &self.mounts {
            mount.write(w);
        }
        w.u32(count(self.rules.len()));
        for rule in &self.rules {
            rule.write(w);
        }
        w.u8(match self.sockets {
            Sockets::None => 1,
            Sockets::Unix => 2,
            Sockets::Network => 3,
            Sockets::UnixAndNetwork => 4,
        });
        w.u8(match self.metadata {
            Metadata::Usual => 1,
            Metadata::Refused => 2,
        });
    }

    pub(crate) fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            name: r.text()?,
            namespaces: Namespaces::read(r)?,
            landlock: r.u32()?,
            mounts: many(r, Mount::read)?,
            rules: many(r, Rule::read)?,
            sockets: match r.u8()? {
                1 => Sockets::None,
                2 => Sockets::Unix,
                3 => Sockets::Network,
                4 => Sockets::UnixAndNetwork,
                _ => return Err(DecodeError::Unknown),
            },
            metadata: match r.u8()? {
                1 => Metadata::Usual,
                2 => Metadata::Refused,
                _ => return Err(DecodeError::Unknown),
            },
        })
    }
}

fn count(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

/// Grows as it reads: a count that lies ends with the bytes.
fn many<T>(
    r: &mut Reader<'_>,
    one: impl Fn(&mut Reader<'_>) -> Result<T, DecodeError>,
) -> Result<Vec<T>, DecodeError> {
    let count = r.u32()?;
    let mut items = Vec::new();
    for _ in 0..count {
        items.push(one(r)?);
    }
    Ok(items)
}

impl Namespaces {
    fn write(self, w: &mut Writer) -> &mut Writer {
        let Self::Mount { net, user } = self else { return w.u8(0) };
        let net = match net {
            OwnNet::No => 1,
            OwnNet::Down => 2,
            OwnNet::Loopback => 3,
        };
        let user = match user {
            OwnUser::IfNeeded => 1,
            OwnUser::Always => 2,
        };
        w.u8(net).u8(user)
    }

    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let net = match r.u8()? {
            0 => return Ok(Self::None),
            1 => OwnNet::No,
            2 => OwnNet::Down,
            3 => OwnNet::Loopback,
            _ => return Err(DecodeError::Unknown),
        };
        let user = match r.u8()? {
            1 => OwnUser::IfNeeded,
            2 => OwnUser::Always,
            _ => return Err(DecodeError::Unknown),
        };
        Ok(Self::Mount { net, user })
    }
}

impl Mount {
    fn write(&self, w: &mut Writer) {
        match self {
            Self::Hide { path, is: Hidden::Exactly(is) } => is.write(w.u8(1).bytes(path.as_bytes())),
            Self::Hide { path, is: Hidden::In(is) } => is.write(w.u8(11).bytes(path.as_bytes())),
            Self::ReadOnly { path, is } => is.write(w.u8(2).bytes(path.as_bytes())),
            Self::Placeholder { path } => w.u8(3).bytes(path.as_bytes()),
            Self::Fixed { path, is } => is.write(w.u8(4).bytes(path.as_bytes())),
            Self::Over { from, is, onto } => is.write(w.u8(5).bytes(from.as_bytes()).bytes(onto.as_bytes())),
            Self::Again { path, is } => is.write(w.u8(6).bytes(path.as_bytes())),
            Self::Fresh { path, bytes } => w.u8(7).bytes(path.as_bytes()).u64(*bytes),
            Self::Terminals => w.u8(8),
            Self::Everything => w.u8(9),
            Self::Writable { path, is } => is.write(w.u8(10).bytes(path.as_bytes())),
            Self::Link { path, is } => is.write(w.u8(12).bytes(path.as_bytes())),
            Self::View { path, is, look, entries } => {
                look.write(is.write(w.u8(13).bytes(path.as_bytes())));
                w.u32(count(entries.len()));
                entries.iter().fold(w, |w, entry| entry.write(w))
            }
            Self::Layer { path, is, upper, fresh } => {
                is.write(w.u8(14).bytes(path.as_bytes())).bytes(upper.as_bytes()).u32(count(fresh.len()));
                fresh.iter().fold(w, |w, name| w.bytes(name.as_bytes()))
            }
        };
    }

    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(match r.u8()? {
            1 => Self::Hide { path: c_string(r.bytes()?)?, is: Hidden::Exactly(Identity::read(r)?) },
            2 => Self::ReadOnly { path: c_string(r.bytes()?)?, is: Identity::read(r)? },
            3 => Self::Placeholder { path: c_string(r.bytes()?)? },
            4 => Self::Fixed { path: c_string(r.bytes()?)?, is: Identity::read(r)? },
            5 => {
                let (from, onto) = (c_string(r.bytes()?)?, c_string(r.bytes()?)?);
                Self::Over { from, is: Identity::read(r)?, onto }
            }
            6 => Self::Again { path: c_string(r.bytes()?)?, is: Identity::read(r)? },
            7 => Self::Fresh { path: c_string(r.bytes()?)?, bytes: r.u64()? },
            8 => Self::Terminals,
            9 => Self::Everything,
            10 => Self::Writable { path: c_string(r.bytes()?)?, is: Identity::read(r)? },
            11 => Self::Hide { path: c_string(r.bytes()?)?, is: Hidden::In(Identity::read(r)?) },
            12 => Self::Link { path: c_string(r.bytes()?)?, is: Identity::read(r)? },
            13 => Self::View {
                path: c_string(r.bytes()?)?,
                is: Identity::read(r)?,
                look: Look::read(r)?,
                entries: many(r, Entry::read)?.into(),
            },
            14 => Self::Layer {
                path: c_string(r.bytes()?)?,
                is: Identity::read(r)?,
                upper: c_string(r.bytes()?)?,
                fresh: many(r, |r| c_string(r.bytes()?))?,
            },
            _ => return Err(DecodeError::Unknown),
        })
    }
}

impl Look {
    fn write(self, w: &mut Writer) -> &mut Writer {
        match self.owner {
            None => w.u32(self.mode).u8(0),
            Some((user, group)) => w.u32(self.mode).u8(1).u32(user).u32(group),
        }
    }

    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let mode = r.u32()?;
        let owner = match r.u8()? {
            0 => None,
            1 => Some((r.u32()?, r.u32()?)),
            _ => return Err(DecodeError::Unknown),
        };
        Ok(Self { mode, owner })
    }
}

impl Entry {
    fn write<'a>(&self, w: &'a mut Writer) -> &'a mut Writer {
        match self {
            Self::Directory(name) => w.u8(1).bytes(name.as_bytes()),
            Self::File(name) => w.u8(2).bytes(name.as_bytes()),
            Self::Link { name, target } => w.u8(3).bytes(name.as_bytes()).bytes(target.as_bytes()),
            Self::Empty(name) => w.u8(4).bytes(name.as_bytes()),
            Self::Blank(name) => w.u8(5).bytes(name.as_bytes()),
        }
    }

    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(match r.u8()? {
            1 => Self::Directory(c_string(r.bytes()?)?),
            2 => Self::File(c_string(r.bytes()?)?),
            3 => Self::Link { name: c_string(r.bytes()?)?, target: c_string(r.bytes()?)? },
            4 => Self::Empty(c_string(r.bytes()?)?),
            5 => Self::Blank(c_string(r.bytes()?)?),
            _ => return Err(DecodeError::Unknown),
        })
    }
}

impl Rule {
    fn write(&self, w: &mut Writer) {
        w.bytes(self.path.as_bytes());
        w.u8(match self.access {
            Access::Read => 1,
            Access::Write => 2,
            Access::Device => 3,
            Access::List => 4,
        });
        match self.is {
            Some(is) => is.write(w.u8(1)),
            None => w.u8(0),
        };
        w.u8(match self.absent {
            Absent::Skip => 1,
            Absent::Fail => 2,
        });
    }

    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            path: c_string(r.bytes()?)?,
            access: match r.u8()? {
                1 => Access::Read,
                2 => Access::Write,
                3 => Access::Device,
                4 => Access::List,
                _ => return Err(DecodeError::Unknown),
            },
            is: match r.u8()? {
                0 => None,
                1 => Some(Identity::read(r)?),
                _ => return Err(DecodeError::Unknown),
            },
            absent: match r.u8()? {
                1 => Absent::Skip,
                2 => Absent::Fail,
                _ => return Err(DecodeError::Unknown),
            },
        })
    }
}

impl Identity {
    fn write(self, w: &mut Writer) -> &mut Writer {
        w.u64(self.dev).u64(self.ino).u64(self.born)
    }

    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self { dev: r.u64()?, ino: r.u64()?, born: r.u64()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::ffi::CString;

    fn path() -> impl Strategy<Value = CString> {
        proptest::collection::vec(1u8..=255, 0..40).prop_map(|bytes| CString::new(bytes).unwrap())
    }

    fn identity() -> impl Strategy<Value = Identity> {
        any::<(u64, u64, u64)>().prop_map(|(dev, ino, born)| Identity { dev, ino, born })
    }

    fn mount() -> impl Strategy<Value = Mount> {
        prop_oneof![
            (path(), identity()).prop_map(|(path, is)| Mount::Hide { path, is: Hidden::Exactly(is) }),
            (path(), identity()).prop_map(|(path, is)| Mount::Hide { path, is: Hidden::In(is) }),
            (path(), identity()).prop_map(|(path, is)| Mount::Link { path, is }),
            (path(), identity()).prop_map(|(path, is)| Mount::ReadOnly { path, is }),
            path().prop_map(|path| Mount::Placeholder { path }),
            (path(), identity()).prop_map(|(path, is)| Mount::Fixed { path, is }),
            (path(), identity(), path()).prop_map(|(from, is, onto)| Mount::Over { from, is, onto }),
            (path(), identity()).prop_map(|(path, is)| Mount::Again { path, is }),
            (path(), any::<u64>()).prop_map(|(path, bytes)| Mount::Fresh { path, bytes }),
            Just(Mount::Terminals),
            Just(Mount::Everything),
            (path(), identity()).prop_map(|(path, is)| Mount::Writable { path, is }),
            (path(), identity(), look(), proptest::collection::vec(entry(), 0..4)).prop_map(
                |(path, is, look, entries)| Mount::View { path, is, look, entries: entries.into() }
            ),
            (path(), identity(), path(), proptest::collection::vec(path(), 0..3))
                .prop_map(|(path, is, upper, fresh)| Mount::Layer { path, is, upper, fresh }),
        ]
    }

    fn look() -> impl Strategy<Value = Look> {
        any::<(u32, Option<(u32, u32)>)>().prop_map(|(mode, owner)| Look { mode, owner })
    }

    fn entry() -> impl Strategy<Value = Entry> {
        prop_oneof![
            path().prop_map(Entry::Directory),
            path().prop_map(Entry::File),
            (path(), path()).prop_map(|(name, target)| Entry::Link { name, target }),
            path().prop_map(Entry::Empty),
            path().prop_map(Entry::Blank),
        ]
    }

    fn namespaces() -> impl Strategy<Value = Namespaces> {
        let net = prop_oneof![Just(OwnNet::No), Just(OwnNet::Down), Just(OwnNet::Loopback)];
        let user = prop_oneof![Just(OwnUser::IfNeeded), Just(OwnUser::Always)];
        prop_oneof![
            Just(Namespaces::None),
            (net, user).prop_map(|(net, user)| Namespaces::Mount { net, user }),
        ]
    }

    fn rule() -> impl Strategy<Value = Rule> {
        let access =
            prop_oneof![Just(Access::Read), Just(Access::Write), Just(Access::Device), Just(Access::List)];
        let absent = prop_oneof![Just(Absent::Skip), Just(Absent::Fail)];
        (path(), access, proptest::option::of(identity()), absent)
            .prop_map(|(path, access, is, absent)| Rule { path, access, is, absent })
    }

    prop_compose! {
        fn confine()(
            name in ".{0,20}",
            namespaces in namespaces(),
            landlock in any::<u32>(),
            mounts in proptest::collection::vec(mount(), 0..8),
            rules in proptest::collection::vec(rule(), 0..8),
            sockets in prop_oneof![
                Just(Sockets::None),
                Just(Sockets::Unix),
                Just(Sockets::Network),
                Just(Sockets::UnixAndNetwork)
            ],
            metadata in prop_oneof![Just(Metadata::Usual), Just(Metadata::Refused)],
        ) -> Confine {
            Confine { name, namespaces, landlock, mounts, rules, sockets, metadata }
        }
    }

    proptest! {
        #[test]
        fn every_confinement_comes_back_as_it_was(confine in confine()) {
            let mut w = Writer::new();
            confine.write(&mut w);
            let bytes = w.into_bytes();
            let mut r = Reader::new(&bytes);
            prop_assert_eq!(Confine::read(&mut r), Ok(confine));
            prop_assert_eq!(r.done(), Ok(()));
        }

        #[test]
        fn no_bytes_make_the_decoder_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = Confine::read(&mut Reader::new(&bytes));
        }
    }
}
