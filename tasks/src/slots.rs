//! Slots: typed pools of values, and texts with places for them.

mod pool;
mod share;
mod template;

pub(crate) use self::template::Resolve;
pub use self::{
    pool::{Pool, Row},
    share::{Share, share_out},
    template::{Place, Segment, Template, ValueTemplate},
};
