//! Tasks in frames in tools, all of equal size, as the protocol plans them.

use serde::{Deserialize, Serialize};

use super::SimulateError;
use crate::spec::Protocol;

/// Sizes of a suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layout {
    /// Tools.
    pub tools: u32,
    /// Frames of each tool.
    pub frames_per_tool: u32,
    /// Tasks of each frame.
    pub tasks_per_frame: u32,
    /// Abstain tasks, on top of the tool tasks.
    pub abstain_tasks: u32,
    /// Tasks of the control that must show damage.
    pub damage_tasks: u32,
}

impl Layout {
    /// The protocol's.
    ///
    /// # Errors
    /// [`SimulateError::Layout`] where its number of tool tasks is not tools × frames × tasks per frame.
    pub fn of(protocol: &Protocol) -> Result<Self, SimulateError> {
        let suite = &protocol.suites.tools;
        let per_tool = u64::from(suite.frames_per_tool) * u64::from(suite.tasks_per_frame);
        let refuse = || SimulateError::Layout {
            what: format!(
                "{} tool tasks are not a whole number of tools with {} frames of {} tasks",
                suite.tool_tasks, suite.frames_per_tool, suite.tasks_per_frame
            ),
        };
        if per_tool == 0 || !suite.tool_tasks.is_multiple_of(per_tool) {
            return Err(refuse());
        }
        let layout = Self {
            tools: u32::try_from(suite.tool_tasks / per_tool).map_err(|_| refuse())?,
            frames_per_tool: suite.frames_per_tool,
            tasks_per_frame: suite.tasks_per_frame,
            abstain_tasks: u32::try_from(suite.abstain_tasks).map_err(|_| refuse())?,
            damage_tasks: protocol.arms.names_only_live_tasks.min(suite.tool_tasks).try_into().map_err(|_| refuse())?,
        };
        layout.check()?;
        Ok(layout)
    }

    /// Whether there is anything to simulate.
    pub(super) fn check(&self) -> Result<(), SimulateError> {
        let sides = [self.tools, self.frames_per_tool, self.tasks_per_frame];
        if sides.contains(&0) || self.frames() < 2 || self.n() > 1_000_000 {
            return Err(SimulateError::Layout { what: format!("{} × {} × {} tasks", sides[0], sides[1], sides[2]) });
        }
        Ok(())
    }

    /// Tasks in n.
    pub fn n(&self) -> u64 {
        self.frames() * u64::from(self.tasks_per_frame)
    }

    /// Frames.
    pub fn frames(&self) -> u64 {
        u64::from(self.tools) * u64::from(self.frames_per_tool)
    }

    /// Tasks of each tool.
    pub fn tasks_per_tool(&self) -> u64 {
        u64::from(self.frames_per_tool) * u64::from(self.tasks_per_frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_protocol_has_the_layout_it_states() {
        let protocol = Protocol::built_in().unwrap();
        let layout = Layout::of(&protocol).unwrap();
        assert_eq!(layout.n(), protocol.suites.tools.tool_tasks);
        assert_eq!(layout.tools, 78);
    }

    #[test]
    fn sizes_that_do_not_nest_are_refused() {
        let mut protocol = Protocol::built_in().unwrap();
        protocol.suites.tools.tool_tasks += 1;
        assert!(Layout::of(&protocol).unwrap_err().to_string().contains("whole number of tools"));
    }
}
