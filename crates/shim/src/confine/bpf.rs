//! A small assembler for filters on system calls: a search tree over their numbers, with a verdict in every leaf.
//!
//! A tree and not a list, because the kernel runs every filter once for each number it knows when it is loaded, and a
//! list of a hundred comparisons would be felt in the start of every command.

/// One instruction, as in `linux/filter.h`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Instruction {
    pub(super) code: u16,
    pub(super) if_true: u8,
    pub(super) if_false: u8,
    pub(super) value: u32,
}

/// Instructions that end with a verdict whatever happens.
pub(super) type Code = Vec<Instruction>;

pub(super) const LOAD: u16 = 0x20;
pub(super) const AND: u16 = 0x54;
pub(super) const JUMP: u16 = 0x05;
pub(super) const IF_EQUAL: u16 = 0x15;
pub(super) const IF_AT_LEAST: u16 = 0x35;
pub(super) const IF_ANY_BIT: u16 = 0x45;
pub(super) const RETURN: u16 = 0x06;

/// Where the kernel puts what is asked about, from `linux/seccomp.h`.
pub(super) const NUMBER: u32 = 0;
pub(super) const ARCHITECTURE: u32 = 4;

pub(super) const ALLOW: u32 = 0x7fff_0000;

/// The answer of a call that was not made.
pub(super) fn errno(number: i32) -> u32 {
    0x0005_0000 | (number.cast_unsigned() & 0xffff)
}

/// The lower half of an argument. The kernel itself looks at no more of an `int`.
pub(super) fn argument(number: u32) -> u32 {
    let little_endian = if cfg!(target_endian = "little") { 0 } else { 4 };
    16 + 8 * number + little_endian
}

/// The upper half of an argument.
pub(super) fn upper_half(number: u32) -> u32 {
    argument(number) ^ 4
}

pub(super) fn load(from: u32) -> Instruction {
    Instruction { code: LOAD, if_true: 0, if_false: 0, value: from }
}

pub(super) fn mask(bits: u32) -> Instruction {
    Instruction { code: AND, if_true: 0, if_false: 0, value: bits }
}

pub(super) fn verdict(value: u32) -> Instruction {
    Instruction { code: RETURN, if_true: 0, if_false: 0, value }
}

/// Passes over the given numbers of instructions.
pub(super) fn branch(code: u16, value: u32, if_true: u8, if_false: u8) -> Instruction {
    Instruction { code, if_true, if_false, value }
}

/// Runs the next instruction only if the loaded value is that.
pub(super) fn when_equal(value: u32) -> Instruction {
    branch(IF_EQUAL, value, 0, 1)
}

/// What to do with each number: leaves hold from their own number up to the next one's. The first begins at zero.
pub(super) fn tree(leaves: &[(u32, Code)]) -> Code {
    let [(_, only)] = leaves else {
        let (left, right) = leaves.split_at(leaves.len() / 2);
        let Some((first, _)) = right.first() else { return Code::new() };
        let (left, right) = (tree(left), tree(right));
        return [skip_if_at_least(*first, left.len()), left, right].concat();
    };
    only.clone()
}

/// Conditions jump over at most 255 instructions.
fn skip_if_at_least(value: u32, len: usize) -> Code {
    match u8::try_from(len) {
        Ok(len) => vec![branch(IF_AT_LEAST, value, len, 0)],
        Err(_) => {
            let far = u32::try_from(len).unwrap_or(u32::MAX);
            vec![
                branch(IF_AT_LEAST, value, 0, 1),
                Instruction { code: JUMP, if_true: 0, if_false: 0, value: far },
            ]
        }
    }
}
