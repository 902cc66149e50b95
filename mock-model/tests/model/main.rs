//! The scripted model from outside: bytes in, bytes out.

mod behaviours;
mod catalogs;
mod noise;
mod results;
mod support;
mod wire;
