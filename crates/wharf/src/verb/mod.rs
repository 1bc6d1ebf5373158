//! One file for each verb of the command line.

pub(crate) mod acp;
pub(crate) mod attach;
pub(crate) mod completions;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod kill;
pub(crate) mod logs;
pub(crate) mod ls;
pub(crate) mod mcp;
pub(crate) mod mcp_config;
pub(crate) mod policy;
pub(crate) mod rm;
pub(crate) mod run;
pub(crate) mod send;
pub(crate) mod sh;
pub(crate) mod wait;
