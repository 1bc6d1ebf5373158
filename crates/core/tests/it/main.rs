//! Real processes, one promise a test.

mod smoke;
