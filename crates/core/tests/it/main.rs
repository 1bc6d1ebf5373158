//! Real processes, one promise a test: the table of contents.

#![cfg(test)]

mod again;
mod backlog;
mod campaign;
mod descent;
mod embedding;
mod end;
mod faults;
mod faults_creator;
mod faults_disk;
mod faults_disk_kill;
mod faults_holder;
mod foreground;
mod guard;
mod idle;
mod input;
mod kill;
mod limits;
mod output;
mod owner;
mod retention;
mod sandbox;
mod settling;
mod shell;
mod start;
mod view;
