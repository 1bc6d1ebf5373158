//! Shells that remember, with real shells: what a command gives back, and what nothing that a user has or does can break.

mod broken;
mod desk;
mod end;
mod human;
mod input;
mod join;
mod output;
mod rc;
mod syntax;
mod table;
mod trouble;
