//! The program as people and scripts use it: the real binary, real processes, one promise a test.

mod harness;
mod pty;
mod rig;

mod acp;
mod attach;
mod audit;
mod conductor;
mod confined_peer;
mod control;
mod damaged;
mod demo;
mod detached;
mod doctor;
mod ending;
mod full_disk;
mod help;
mod hostile;
mod interrupt;
mod limit;
mod listing;
mod logs;
mod mcp;
mod odd_file;
mod peers;
mod place;
mod policy;
mod robust;
mod run;
mod sandbox;
mod sh;
mod shim;
mod shown;
mod survive;
