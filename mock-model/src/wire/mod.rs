//! The Messages format as this crate reads it, and the checks that the real API makes.

pub(crate) mod body;
pub(crate) mod conversation;
pub(crate) mod error;
pub(crate) mod reply;
pub(crate) mod request;
