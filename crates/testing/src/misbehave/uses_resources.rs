//! `uses-resources MEBIBYTES MILLISECONDS`: touches that much memory and computes for that long.

use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

pub(super) fn run(args: &[String]) -> ExitCode {
    let memory = black_box(vec![1u8; super::number::<usize>(args, 0) << 20]);
    let until = Instant::now() + Duration::from_millis(super::number(args, 1));
    let mut sum = 0u64;
    while Instant::now() < until {
        sum = black_box(sum.wrapping_add(memory.iter().step_by(4096).map(|b| u64::from(*b)).sum()));
    }
    ExitCode::SUCCESS
}
