//! The program as people and scripts use it: the real binary, real processes, one promise a test.

mod harness;
mod pty;

mod attach;
mod control;
mod detached;
mod doctor;
mod ending;
mod help;
mod interrupt;
mod listing;
mod logs;
mod place;
mod run;
mod shim;
