//! `writes-in-pieces HEX…`: writes one byte string after the other, each after a byte of input.

use std::io::{Read, Write};
use std::process::ExitCode;

pub(super) fn run(pieces: &[String]) -> ExitCode {
    let (mut input, mut out) = (std::io::stdin(), std::io::stdout());
    for piece in pieces {
        let digits = piece.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).unwrap());
        let bytes: Vec<u8> = digits.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect();
        input.read_exact(&mut [0]).unwrap();
        out.write_all(&bytes).unwrap();
        out.flush().unwrap();
    }
    ExitCode::SUCCESS
}
