//! Every value of the published golden file, at the tolerance stated in its `meta` block.

mod clusters;
mod continuous;
mod multiplicity;
mod planning;
mod streams;
mod support;
mod tables;
