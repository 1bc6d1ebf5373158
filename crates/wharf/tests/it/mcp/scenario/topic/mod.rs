//! The topics. Each is a table of scenarios, and knows nothing of how they are played.

pub(crate) mod answer;
pub(crate) mod arrival;
pub(crate) mod awaiting;
pub(crate) mod binary;
pub(crate) mod budget;
pub(crate) mod document;
pub(crate) mod escape;
pub(crate) mod forgery;
pub(crate) mod full_screen;
pub(crate) mod job;
pub(crate) mod key;
pub(crate) mod mission;
pub(crate) mod nesting;
pub(crate) mod option;
pub(crate) mod patience;
pub(crate) mod place;
pub(crate) mod prompt;
pub(crate) mod rc_file;
pub(crate) mod reading;
pub(crate) mod redraw;
pub(crate) mod refusal;
pub(crate) mod signal;
pub(crate) mod state;
pub(crate) mod terminal;
pub(crate) mod unfinished;
pub(crate) mod until;
