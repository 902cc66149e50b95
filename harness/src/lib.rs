//! The harness of `bench`: arms, wire formats, episodes, schedule, runner and command line.

pub mod arms;
pub mod build;
pub mod capture;
pub mod cli;
pub mod conclude;
pub mod episode;
pub mod exit;
pub mod inputs;
pub mod journal;
pub mod ledger;
pub mod locking;
pub mod meter;
pub mod models;
pub mod plan;
pub mod plot;
pub mod run;
pub mod separation;
pub mod sizes;
pub mod surface;
pub mod tokens;
pub mod verify;
pub mod wire;
