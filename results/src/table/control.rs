//! What a control showed, in a word: whether it did what it must, and whether there were tasks enough to tell.

use bench_protocol::{
    plan::{Assumptions, plan},
    spec::Protocol,
    verdict::FamilyKind,
};

use crate::certificate::{Certificate, ControlReport, Demand};

/// Fewest tasks at which an outcome of a control means something, by the protocol's own plan. Below them an arm that does
/// no harm is not reliably certified, so that "not certified" tells neither noise nor harm from a short run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Planned {
    /// Of the tool suite: those that give one endpoint the planned power, frames allowed for. None where no number does.
    tools: Option<u64>,
    /// The same of the result suite.
    results: Option<u64>,
    /// Those that the protocol gives a control which must show damage.
    damage: u64,
    /// Two-sided level at which two passes differ.
    noise_alpha: f64,
}

impl Planned {
    /// What a protocol plans.
    pub fn of(protocol: &Protocol) -> Self {
        let needed = |assumed: Result<Assumptions, _>| plan(&Assumptions { n: None, ..assumed.ok()? }).ok()?.sizes;
        Self {
            tools: needed(Assumptions::of(protocol)).map(|sizes| sizes.nested),
            results: needed(Assumptions::of_results(protocol)).map(|sizes| sizes.nested),
            damage: protocol.arms.names_only_live_tasks,
            noise_alpha: protocol.guards.noise_alpha.value(),
        }
    }

    fn of_family(self, family: FamilyKind) -> Option<u64> {
        if family.has_tools() { self.tools } else { self.results }
    }
}

/// What a control showed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Showing {
    /// It did what it must.
    Behaved,
    /// It did not.
    Misbehaved,
    /// Neither is shown: the run has fewer tasks than the protocol plans, and the control's own interval shows no harm.
    TooFewTasks,
}

impl Showing {
    /// What this control showed.
    pub fn of(control: &ControlReport, planned: Planned) -> Self {
        let tasks = match &control.damage {
            Some(damage) => damage.n,
            None => control.endpoints.values().map(|seen| seen.n).max().unwrap_or(0),
        };
        let few = match control.demand {
            Demand::Agrees | Demand::NotCertified => {
                planned.of_family(control.family).is_none_or(|needed| tasks < needed)
            }
            Demand::Damage => tasks < planned.damage,
        };
        // Whatever stands on an interval or a test of its own is shown at any size.
        let shown = match (control.demand, control.behaved) {
            (Demand::Agrees | Demand::Damage, true) | (Demand::NotCertified, false) => true,
            (Demand::NotCertified, true) => control.endpoints.values().any(|seen| seen.damage),
            (Demand::Agrees, false) => control
                .p_differ
                .values()
                .any(|p| p.trim_start_matches('<').parse::<f64>().is_ok_and(|p| p < planned.noise_alpha)),
            (Demand::Damage, false) => false,
        };
        match (shown || !few, control.behaved) {
            (false, _) => Self::TooFewTasks,
            (true, true) => Self::Behaved,
            (true, false) => Self::Misbehaved,
        }
    }
}

/// What a control showed, in a word; capitals where it did not do what it must.
pub fn control_word(control: &ControlReport, planned: Planned) -> &'static str {
    let words = match control.demand {
        Demand::Agrees => ["agrees", "TOO NOISY"],
        Demand::NotCertified => ["caught", "NOT CAUGHT"],
        Demand::Damage => ["damage seen", "NO DAMAGE SEEN"],
    };
    match Showing::of(control, planned) {
        Showing::Behaved => words[0],
        Showing::Misbehaved => words[1],
        Showing::TooFewTasks => "too few tasks",
    }
}

/// What "too few tasks" means, where a control says so.
pub(super) fn remark(certificate: &Certificate, planned: Planned) -> Option<String> {
    let few = certificate.controls.iter().filter(|control| Showing::of(control, planned) == Showing::TooFewTasks);
    let arms: Vec<&str> = few.map(|control| &*control.arm).collect();
    if arms.is_empty() {
        return None;
    }
    let number = |tasks: Option<u64>| tasks.map_or_else(|| "more than can be planned".to_owned(), super::group);
    Some(format!(
        "Too few tasks for {}: a run of this size cannot tell noise or harm from luck; the protocol's planned power takes {} \
         tool tasks and {} result tasks.",
        arms.join(", "),
        number(planned.tools),
        number(planned.results)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certificate::fixture::certificate;

    /// The plan of the built-in protocol.
    fn planned() -> Planned {
        Planned::of(&Protocol::built_in().unwrap())
    }

    /// A control of the fixture at another number of tasks, shown to be harmful or not.
    fn control(arm: &str, behaved: bool, tasks: u64, harmful: bool) -> ControlReport {
        let mut one = certificate().controls.into_iter().find(|control| &*control.arm == arm).unwrap();
        one.behaved = behaved;
        one.p_differ.values_mut().for_each(|p| "0.5".clone_into(p));
        for seen in one.endpoints.values_mut() {
            (seen.n, seen.damage) = (tasks, harmful);
        }
        if let Some(damage) = &mut one.damage {
            damage.n = tasks;
        }
        one
    }

    fn word(arm: &str, behaved: bool, tasks: u64, harmful: bool) -> &'static str {
        control_word(&control(arm, behaved, tasks, harmful), planned())
    }

    #[test]
    fn the_plan_is_that_of_the_protocol() {
        let found = planned();
        assert_eq!((found.tools, found.results, found.damage), (Some(1_832), Some(530), 400));
        let mut hopeless = Protocol::built_in().unwrap();
        hopeless.power.difference = "-0.02".parse().unwrap();
        assert_eq!(Planned::of(&hopeless).tools, None, "no number of tasks certifies a loss of the margin");
    }

    #[test]
    fn a_second_pass_is_noisy_only_where_the_planned_tasks_were_asked() {
        assert_eq!(word("raw-again", false, 1_831, false), "too few tasks");
        assert_eq!(word("raw-again", false, 1_832, false), "TOO NOISY");
        assert_eq!(word("raw-again", true, 10, false), "agrees", "what passes every gate passes it at any size");
        let mut differs = control("raw-again", false, 10, false);
        differs.p_differ.values_mut().for_each(|p| "0.0078".clone_into(p));
        assert_eq!(control_word(&differs, planned()), "TOO NOISY", "eight flips one way are no short run's luck");
    }

    #[test]
    fn a_harmful_control_is_caught_by_what_it_shows_or_by_a_run_that_would_have_certified_it() {
        assert_eq!(word("planted-loss", true, 1_831, false), "too few tasks");
        assert_eq!(word("planted-loss", true, 1_831, true), "caught");
        assert_eq!(word("planted-loss", true, 1_832, false), "caught");
        assert_eq!(word("planted-loss", false, 150, false), "NOT CAUGHT", "a certificate is never excused");
    }

    #[test]
    fn damage_is_missed_only_where_the_protocol_would_look_for_it() {
        assert_eq!(word("names-only", false, 399, false), "too few tasks");
        assert_eq!(word("names-only", false, 400, false), "NO DAMAGE SEEN");
        assert_eq!(word("names-only", true, 3, false), "damage seen");
    }

    #[test]
    fn the_remark_names_the_controls_and_what_the_plan_takes() {
        let mut short = certificate();
        short.controls = vec![control("raw-again", false, 10, false), control("planted-loss", true, 10, true)];
        let said = remark(&short, planned()).unwrap();
        assert!(said.starts_with("Too few tasks for raw-again: "), "{said}");
        assert!(said.contains("1,832 tool tasks and 530 result tasks"), "{said}");
        short.controls.remove(0);
        assert_eq!(remark(&short, planned()), None);
    }
}
