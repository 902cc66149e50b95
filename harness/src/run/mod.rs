//! Running episodes: what is to be run, in which order, and by which driver.

pub mod events;
pub mod family;
pub mod live;
pub mod mock;
pub mod offline;
pub mod pilot;
pub mod planted;
pub mod prepare;
pub mod recorder;
pub mod sessions;
pub mod trace;
