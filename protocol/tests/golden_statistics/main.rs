//! Every value of the published golden file, at the tolerance stated in its `meta` block.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test helper outside of a test function may panic too")]

mod clusters;
mod continuous;
mod multiplicity;
mod planning;
mod streams;
mod support;
mod tables;
