//! What a live run will cost, before anything is spent: a sample of its tasks is played with the scripted model, and the
//! conversations are priced.
//!
//! Three figures per arm. *Expected*: every prefix is warm but the first time and where an arm has changed it. *Upper*, which
//! a confirmatory run's ceiling must hold: what is expected, and on top the [`Doubt`]s about it, each priced as if it alone
//! came true, combined as independent ones are (root of the sum of squares). *All turns*: every episode takes all its
//! turns, and each costs the whole reservation of the first. How a history grows is the model's doing, so this is no bound;
//! what bounds the cost of a run is its ceiling.

use bench_mock_model::Behaviour;
use bench_protocol::{
    prices::CostError,
    spec::{CacheTtl, Protocol},
};
use bench_results::record::{DrawId, Usage};
use serde::Serialize;

use crate::{
    arms::Arm,
    inputs::Inputs,
    models::capabilities::{CacheMode, Row},
    run::{
        family::{AnyTask, Family},
        live::{
            money::{Money, bound},
            schedule::Planned,
        },
        mock::Mock,
        offline::InProcessModel as _,
        prepare::Prepared,
    },
    surface::Surface,
    tokens::tokens,
    wire::{Entry, Request, Settings, Wire, anthropic::Anthropic},
};

/// Tasks that are played per arm, spread evenly over the suite.
const SAMPLE: u64 = 40;

/// Tokens that a server adds for the tools it is shown: 496 where published (Anthropic, tool use overview, 2026).
const TOOL_PROMPT: u64 = 500;

/// Shortest cached prefix where a model's is not known.
const CACHE_MINIMUM: u64 = 1_024;

/// What a run is priced by.
#[derive(Clone, Copy)]
pub struct Pricing<'a> {
    /// Prices.
    pub money: &'a Money,
    /// Fields of the requests.
    pub settings: &'a Settings,
    /// Wire format.
    pub wire: &'a dyn Wire,
    /// What the model takes.
    pub row: &'a Row,
}

impl Pricing<'_> {
    /// Whether a prefix of this many of the model's tokens is cached.
    fn is_cached(&self, prefix: u64) -> bool {
        let asked = match self.row.cache {
            CacheMode::Markers => !self.settings.cache.breakpoints.is_empty(),
            CacheMode::Implicit => true,
            CacheMode::ImplicitBilled => !self.settings.implicit_cache_off,
            CacheMode::None => false,
        };
        asked && prefix >= self.row.cache_minimum_tokens.map_or(CACHE_MINIMUM, u64::from)
    }
}

/// What may be otherwise than estimated. Each is a guess of ours, far on the dear side; none is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Doubt {
    /// A seventh more tokens, or, where a prefix is only just long enough for a cache, a seventh fewer and so no cache.
    Tokens,
    /// A quarter more requests.
    Requests,
    /// Every tenth warm prefix is cold.
    Cold,
    /// Twice the output.
    Output,
}

/// All doubts, in the order of their variants.
const DOUBTS: [Doubt; 4] = [Doubt::Tokens, Doubt::Requests, Doubt::Cold, Doubt::Output];

/// The estimate of one arm. Money in pico-dollars.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ArmEstimate {
    /// The arm.
    pub arm: String,
    /// Episodes.
    pub episodes: u64,
    /// Requests.
    pub requests: u64,
    /// Tokens of tools and system prompt at the start of a session, in the model's own tokens, estimated.
    pub prefix: u64,
    /// Whether that prefix is long enough to be cached.
    pub cached: bool,
    /// Prompt tokens over all requests.
    pub prompt: u64,
    /// Output tokens over all requests.
    pub output: u64,
    /// What is expected.
    pub expected: u64,
    /// What it should not exceed.
    pub upper: u64,
    /// What it would reserve if every episode took all its turns, each reserved like the first.
    pub all_turns: u64,
}

/// Estimates every arm of the family.
pub fn estimate(
    inputs: &Inputs,
    prepared: &Prepared,
    planned: &Planned,
    pricing: Pricing<'_>,
) -> anyhow::Result<Vec<ArmEstimate>> {
    let family = &prepared.families[0];
    let model = Mock::new(Behaviour::Oracle, &inputs.protocol.mock, prepared);
    family.arms.iter().map(|arm| of_arm(inputs, family, planned, pricing, &model, arm.as_ref())).collect()
}

fn of_arm(
    inputs: &Inputs,
    family: &Family,
    planned: &Planned,
    pricing: Pricing<'_>,
    model: &Mock,
    arm: &dyn Arm,
) -> anyhow::Result<ArmEstimate> {
    let id = &arm.info().id.0;
    let run: Vec<u64> = (0..family.tasks.len()).filter(|&task| planned.runs(id, task)).collect();
    let step = run.len().div_ceil(usize::try_from(SAMPLE)?).max(1);
    let mut tally = Tally::new(pricing, &inputs.protocol);
    for &index in run.iter().step_by(step) {
        if let Some(task) = family.tasks.task(index) {
            tally.episode(inputs, family, model, arm, &task)?;
        }
    }
    Ok(tally.scaled(id, run.len() as u64))
}

/// Sums over the sample of one arm.
struct Tally<'a> {
    pricing: Pricing<'a>,
    max_turns: u64,
    episodes: u64,
    requests: u64,
    prefix: u64,
    prompt: u64,
    output: u64,
    expected: u128,
    /// What each of [`DOUBTS`] adds where it alone comes true.
    doubts: [u128; DOUBTS.len()],
    all_turns: u128,
}

impl<'a> Tally<'a> {
    fn new(pricing: Pricing<'a>, protocol: &Protocol) -> Self {
        Self {
            pricing,
            max_turns: protocol.episode.max_turns.into(),
            episodes: 0,
            requests: 0,
            prefix: 0,
            prompt: 0,
            output: 0,
            expected: 0,
            doubts: [0; DOUBTS.len()],
            all_turns: 0,
        }
    }

    /// Plays one task with the scripted model, which makes no mistake.
    fn episode(
        &mut self,
        inputs: &Inputs,
        family: &Family,
        model: &Mock,
        arm: &dyn Arm,
        task: &AnyTask,
    ) -> anyhow::Result<()> {
        let protocol = &inputs.protocol;
        let played = Settings::of(protocol);
        let system = family.system(protocol);
        let mut episode = task.episode(arm, &inputs.catalogs, &protocol.episode)?;
        let initial = episode.surface().digest().clone();
        let mut body = Vec::new();
        while !episode.ended() {
            let surface = episode.surface().clone();
            let request = Request { settings: &played, system, surface: &surface, entries: episode.entries() };
            Anthropic.encode(&request, &mut body);
            let draw = DrawId { task: task.id().clone(), arm: arm.info().id.0.as_str().into(), turn: episode.turn() };
            let reply = Anthropic.decode(&model.respond(&body, &draw)?)?;
            let asked = Request { settings: self.pricing.settings, ..request };
            if episode.turn() == 1 {
                self.first(&asked, &mut body)?;
            }
            self.request(&asked, *surface.digest() == initial, tokens(reply.content.get()) as u64)?;
            episode.accept(reply);
        }
        self.episodes += 1;
        Ok(())
    }

    /// The prefix that an episode begins with, and what its first request reserves.
    fn first(&mut self, request: &Request<'_>, body: &mut Vec<u8>) -> Result<(), CostError> {
        self.pricing.wire.encode(request, body);
        let reserve = self.pricing.money.reserve(bound(request, body))?;
        self.all_turns += u128::from(reserve) * u128::from(self.max_turns);
        self.prefix = self.prefix_of(request);
        Ok(())
    }

    fn prefix_of(&self, request: &Request<'_>) -> u64 {
        self.own_tokens(prefix_tokens(request.surface, request.system)) + TOOL_PROMPT
    }

    fn request(&mut self, request: &Request<'_>, initial: bool, output: u64) -> Result<(), CostError> {
        let prefix = self.prefix_of(request);
        let rest = self.own_tokens(request.entries.iter().map(entry_tokens).sum());
        let output = self.own_tokens(output);
        let money = self.pricing.money;
        let usage = |prefix: u64, rest: u64, output: u64, cached: bool, warm: bool| -> Result<u128, CostError> {
            let mut usage = Usage { input: rest, output, ..Usage::default() };
            match (cached, warm, self.pricing.settings.cache.ttl) {
                (false, _, _) => usage.input += prefix,
                (true, true, _) => usage.cache_read = prefix,
                (true, false, CacheTtl::FiveMinutes) => usage.cache_write = prefix,
                (true, false, CacheTtl::OneHour) => usage.cache_write_1h = prefix,
            }
            Ok(u128::from(money.settle(&usage)?))
        };
        let cached = self.pricing.is_cached(prefix);
        let expected = usage(prefix, rest, output, cached, initial)?;
        let more = |count: u64| count * 8 / 7;
        let doubled = (output * 2).min(self.pricing.settings.max_tokens.into());
        for (sum, doubt) in self.doubts.iter_mut().zip(DOUBTS) {
            let alone = match doubt {
                Doubt::Tokens => {
                    let fewer = usage(prefix, rest, output, false, initial)?;
                    let uncached = if cached && !self.pricing.is_cached(prefix * 7 / 8) { fewer } else { 0 };
                    usage(more(prefix), more(rest), more(output), cached, initial)?.max(uncached)
                }
                Doubt::Requests => expected * 5 / 4,
                Doubt::Cold => (9 * expected + usage(prefix, rest, output, cached, false)?) / 10,
                Doubt::Output => usage(prefix, rest, doubled, cached, initial)?,
            };
            *sum += alone.saturating_sub(expected);
        }
        self.expected += expected;
        self.requests += 1;
        self.prompt += prefix + rest;
        self.output += output;
        Ok(())
    }

    /// The model's own tokens for o200k ones. The ratio for Claude is that of the reference catalogs: 13,155 by the provider's
    /// count, its tool prompt included, to 9,688. Later tokenizers take some 30 % more.
    fn own_tokens(&self, o200k: u64) -> u64 {
        let permille = match self.pricing.row.tokenizer.as_str() {
            "o200k" => 1_000,
            "claude-4" => 1_310,
            "claude-4.7" => 1_700,
            _ => 1_500,
        };
        o200k * permille / 1_000
    }

    fn scaled(&self, arm: &str, episodes: u64) -> ArmEstimate {
        let of = |sum: u128| {
            let all = sum * u128::from(episodes) / u128::from(self.episodes.max(1));
            u64::try_from(all).unwrap_or(u64::MAX)
        };
        // The first request of an arm writes its prefix; the sample took it for warm.
        let cached = self.pricing.is_cached(self.prefix);
        let once = Usage { cache_write: if cached { self.prefix } else { 0 }, ..Usage::default() };
        let written = if episodes == 0 { 0 } else { self.pricing.money.settle(&once).unwrap_or(0) };
        ArmEstimate {
            arm: arm.to_owned(),
            episodes,
            requests: of(self.requests.into()),
            prefix: self.prefix,
            cached,
            prompt: of(self.prompt.into()),
            output: of(self.output.into()),
            expected: of(self.expected).saturating_add(written),
            upper: of(self.expected + self.doubts.iter().map(|sum| sum * sum).sum::<u128>().isqrt())
                .saturating_add(written),
            all_turns: of(self.all_turns),
        }
    }
}

fn prefix_tokens(surface: &Surface, system: &str) -> u64 {
    let tools: usize = surface.tools().iter().map(|tool| tool.tokens()).sum();
    (tools + tokens(system) + tokens(surface.instructions())) as u64
}

fn entry_tokens(entry: &Entry) -> u64 {
    let count = match entry {
        Entry::User(text) => tokens(text),
        Entry::Assistant(content) => tokens(content.get()),
        Entry::Call { name, arguments, .. } => {
            tokens(name) + tokens(&serde_json::Value::Object(arguments.clone()).to_string())
        }
        Entry::Results(answers) => answers.iter().flat_map(|answer| &answer.text).map(|text| tokens(text)).sum(),
    };
    count as u64
}

#[cfg(test)]
mod tests {
    use bench_protocol::prices::PriceTable;

    use super::*;
    use crate::{
        inputs::Overrides,
        models::{BaseUrl, Provider, capabilities::Capabilities},
        run::prepare::RunSpec,
    };

    fn estimates(arms: &[&str], n: u64) -> Vec<ArmEstimate> {
        let inputs = Inputs::load(&Overrides::default()).unwrap();
        let arms: Vec<String> = arms.iter().map(|&arm| arm.to_owned()).collect();
        let spec = RunSpec::of(&inputs, "seed", &arms, Some(n)).unwrap();
        let prepared = Prepared::new(&inputs, &spec).unwrap();
        let base = BaseUrl::parse(Provider::Anthropic.official_url()).unwrap();
        let id = &inputs.protocol.model.id;
        let capability = Capabilities::built_in().unwrap().find(Provider::Anthropic, &base, id).unwrap();
        let settings = capability.settings(&inputs.protocol);
        let money =
            Money::new(PriceTable::built_in().unwrap().row(id).unwrap().clone(), Provider::Anthropic, &settings);
        let pricing = Pricing { money: &money, settings: &settings, wire: &Anthropic, row: &capability.row };
        estimate(&inputs, &prepared, &Planned::default(), pricing).unwrap()
    }

    #[test]
    fn the_published_run_is_about_what_is_estimated() {
        // 1,000 tasks on this very model were billed $2.17 under raw and $8.79 under L2 (September 2026), L2 because its list
        // is about as long as what is cached at the least.
        let all = estimates(&["L2"], 1_000);
        let [raw, lazy] = all.as_slice() else { panic!("{all:?}") };
        assert!(raw.cached && (12_500..14_500).contains(&raw.prefix), "{raw:?}");
        assert!((3_700..4_700).contains(&lazy.prefix), "{lazy:?}");
        for (arm, published) in [(raw, 2_170_000_000_000_u64), (lazy, 8_790_000_000_000)] {
            assert!(arm.expected > published / 2 && arm.expected < published * 2, "{arm:?}");
            assert!(arm.expected < arm.upper && arm.upper < arm.all_turns, "{arm:?}");
        }
    }

    #[test]
    fn figures_of_the_result_suite_are_in_order_too() {
        let all = estimates(&["R"], 40);
        assert!(!all.is_empty());
        for arm in &all {
            assert!(arm.expected < arm.upper && arm.upper < arm.all_turns, "{arm:?}");
        }
    }

    #[test]
    fn money_grows_with_the_number_of_tasks() {
        let (small, large) = (estimates(&["L0"], 100), estimates(&["L0"], 1_000));
        for (small, large) in small.iter().zip(&large) {
            let ratio = large.upper as f64 / small.upper as f64;
            assert!((8.0..12.0).contains(&ratio), "{ratio}");
        }
    }
}
