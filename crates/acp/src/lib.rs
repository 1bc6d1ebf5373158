//! ACP terminals on wharf's terminals.

#![forbid(unsafe_code)]
