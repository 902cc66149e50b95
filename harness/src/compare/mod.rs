//! Head to head: k arms against raw, on the same tasks, the same model and the same turn rule.
//!
//! Products are a family of their own: Holm over the ranked arms, guards as for levels. An arm that is only shown, such as a
//! re-implementation whose real package runs here, is measured and not tested. Cost, tokens and trips are estimates with
//! intervals and without verdict words. Arm against arm is exploratory, and says so.

mod cost;
mod field;
mod observe;
mod rows;
mod run;
mod table;

pub use self::{
    cost::{Dollars, Estimated, Solved},
    field::{Absent, Choice, Field, FieldError, built_in},
    rows::{Against, ArmRow, Comparison, Down, ExternalRow, Pair, Point, Share, Test, ToolLoss},
    run::{CompareSpec, compare},
    table::{SCRIPTED, text},
};
