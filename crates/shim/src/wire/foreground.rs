//! Who has a PTY's foreground and what they do, as it travels.
//!
//! What it means, whether somebody waits for input for instance, is decided by those who ask.

use super::value::{DecodeError, Reader, Writer};

/// What the kernel says of a PTY at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Foreground {
    /// The foreground process group; 0 if there is none.
    pub group: i32,
    /// How the driver treats what is typed.
    pub typing: Typing,
    /// Bytes typed and not read yet by anybody.
    pub unread: u32,
    /// The living of the group.
    pub members: Vec<Member>,
}

/// How the terminal driver treats what is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Typing {
    /// It is shown.
    pub echo: bool,
    /// Programs get whole lines.
    pub canonical: bool,
    /// C-c and its like are signals.
    pub signals: bool,
    /// Enter arrives as a newline, as programs get it that have no line editor.
    pub newline: bool,
    /// And a newline as Enter, as zsh's line editor has it.
    pub exchanged: bool,
}

/// A process of the foreground group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Its number.
    pub pid: i32,
    /// The name of its program, as the kernel has it.
    pub name: String,
    /// What it does.
    pub doing: Doing,
    /// Processor time that it and the children it waited for have used, in clock ticks.
    pub ticks: u64,
}

/// What a process does at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doing {
    /// Blocked in a read of the terminal, or until the terminal can be read.
    Reading,
    /// Blocked until one of several things happens (poll, select, epoll), of which the terminal is one and the network
    /// another; or it cannot be seen what they are.
    Polling,
    /// Runs, or is about to.
    Running,
    /// Waits for something else.
    Sleeping,
    /// Stopped.
    Stopped,
    /// The kernel does not tell us: another user's, or setuid.
    Unknown,
}

impl Foreground {
    pub(super) fn write<'w>(&self, w: &'w mut Writer) -> &'w mut Writer {
        w.i32(self.group).u8(self.typing.bits()).u32(self.unread);
        w.u32(u32::try_from(self.members.len()).unwrap_or(u32::MAX));
        for member in &self.members {
            w.i32(member.pid).text(&member.name).u8(member.doing.code()).u64(member.ticks);
        }
        w
    }

    pub(super) fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let (group, typing, unread) = (r.i32()?, Typing::from_bits(r.u8()?), r.u32()?);
        // The count is not believed: the list grows only with members that are really there.
        let members = (0..r.u32()?).map(|_| {
            Ok(Member { pid: r.i32()?, name: r.text()?, doing: Doing::from_code(r.u8()?)?, ticks: r.u64()? })
        });
        Ok(Self { group, typing, unread, members: members.collect::<Result<_, _>>()? })
    }
}

impl Typing {
    fn bits(self) -> u8 {
        let flags = [self.echo, self.canonical, self.signals, self.newline, self.exchanged];
        flags.iter().enumerate().map(|(at, flag)| u8::from(*flag) << at).sum()
    }

    /// Bits that are not known yet are left out.
    fn from_bits(bits: u8) -> Self {
        let has = |at: u8| bits & 1 << at != 0;
        Self { echo: has(0), canonical: has(1), signals: has(2), newline: has(3), exchanged: has(4) }
    }
}

impl Doing {
    fn code(self) -> u8 {
        match self {
            Self::Reading => 1,
            Self::Polling => 2,
            Self::Running => 3,
            Self::Sleeping => 4,
            Self::Stopped => 5,
            Self::Unknown => 6,
        }
    }

    fn from_code(code: u8) -> Result<Self, DecodeError> {
        Ok(match code {
            1 => Self::Reading,
            2 => Self::Polling,
            3 => Self::Running,
            4 => Self::Sleeping,
            5 => Self::Stopped,
            6 => Self::Unknown,
            _ => return Err(DecodeError::Unknown),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn doing() -> impl Strategy<Value = Doing> {
        (1u8..=6).prop_map(|code| Doing::from_code(code).unwrap())
    }

    fn member() -> impl Strategy<Value = Member> {
        (any::<i32>(), ".{0,20}", doing(), any::<u64>()).prop_map(|(pid, name, doing, ticks)| Member {
            pid,
            name,
            doing,
            ticks,
        })
    }

    proptest! {
        #[test]
        fn whoever_is_in_the_foreground_comes_back_as_they_were(
            group in any::<i32>(), bits in 0u8..16, unread in any::<u32>(),
            members in proptest::collection::vec(member(), 0..20),
        ) {
            let sent = Foreground { group, typing: Typing::from_bits(bits), unread, members };
            let mut w = Writer::new();
            sent.write(&mut w);
            let bytes = w.into_bytes();
            let mut r = Reader::new(&bytes);
            prop_assert_eq!(Foreground::read(&mut r), Ok(sent));
            prop_assert_eq!(r.done(), Ok(()));
        }
    }

    #[test]
    fn a_count_of_members_that_are_not_there_costs_nothing() {
        let mut w = Writer::new();
        w.i32(1).u8(0).u32(0).u32(u32::MAX);
        assert_eq!(Foreground::read(&mut Reader::new(&w.into_bytes())), Err(DecodeError::Short));
    }
}
