//! The controls that a protocol can list, by the names of their arms. What a control is there for hangs on its name, so the
//! names stand here alone.

/// Raw a second time: the model's own flip rate.
pub const RAW_AGAIN: &str = "raw-again";
/// Raw that loses a known share of its sessions: must not be certified.
pub const PLANTED_LOSS: &str = "planted-loss";
/// No descriptions and no schemas: must show damage.
pub const NAMES_ONLY: &str = "names-only";
/// R a second time.
pub const R_AGAIN: &str = "R-again";
/// R without its way back: must not be certified.
pub const R_NO_EXPAND: &str = "R-no-expand";
