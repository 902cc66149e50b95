//! The harness of `bench`: arms, wire formats, episodes, schedule, runner and command line.

pub mod arms;
pub mod episode;
pub mod surface;
pub mod wire;
