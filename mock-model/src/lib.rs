//! The scripted model: a pure decision over the bytes of an Anthropic Messages request (API version 2023-06-01).
//!
//! It reads a request as a model would: it finds only the tools that the request shows, fetches schemas where it must,
//! and calls under the shown name. What is right it knows from an [`AnswerKey`]; how it errs follows from a
//! [`Behaviour`] and from [`Noise`], a function of the [`Draw`] alone, so that the order of requests does not matter.
//! The wire types are a reading of the API independent of the harness's: what one side gets wrong the other refuses.
//!
//! Nothing that this model answers is evidence about a compressor. It proves the plumbing.

mod behaviour;
mod key;
mod model;
mod noise;
mod policy;
pub mod server;
mod surface;
mod wire;

pub use crate::{
    behaviour::{Behaviour, UnknownBehaviour},
    key::AnswerKey,
    model::ScriptedModel,
    noise::{ClusterLoss, Draw, LossPlan, LossTarget, Noise, Rates},
    wire::error::WireError,
};
