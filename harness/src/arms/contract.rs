//! The contract that every arm is held to, built-in or not: one check, run over any catalogs.

mod explore;

use std::{
    cell::RefCell,
    collections::{HashMap, HashSet},
    fmt,
    sync::Arc,
};

use bench_tasks::result::ToolResult;
use serde::Serialize;
use serde_json::{Map, Value, json};

use explore::Explorer;

use super::{
    Arm, ArmContext, ArmError, ArmId, ArmSession, CallOutcome, Scope, ToolCall, Waiver,
    definitions::Definitions,
    names::{self, Named, Place},
};
use crate::{
    sizes::ArmSizes,
    surface::{ShownTool, Surface},
};

/// Hidden tools that are brought out within one session to see where they land.
const MAX_UNLOCKS: usize = 100;
/// Lines of an error that no arm may shorten: some 400 tokens, twice what digests leave alone.
const ERROR_LINES: usize = 40;
/// A name that no catalog has.
const NO_SUCH_TOOL: &str = "no-such-server__no-such-tool";

/// A clause of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Clause {
    /// Same input, same bytes; a fresh session holds nothing of an earlier one.
    SameBytes,
    /// Names are legal for every provider and unique.
    Names,
    /// Upstream order is kept at the start of a session.
    Order,
    /// Shown schemas are valid JSON Schema documents where the originals are.
    Schemas,
    /// Every upstream tool can be called, and the call arrives as it was made.
    Reachable,
    /// A name that nobody serves reaches no server.
    Unknown,
    /// A changed surface has tools more at the end of a server's list, and nothing else; changes are announced.
    AppendOnly,
    /// No server's list is larger than at L0.
    NeverLarger,
    /// Results that report an error are passed on unchanged.
    ErrorsUntouched,
}

impl Clause {
    /// The waiver that frees an arm from this clause.
    fn waiver(self) -> Option<Waiver> {
        match self {
            Self::Order => Some(Waiver::Order),
            Self::Reachable => Some(Waiver::Unreachable),
            Self::AppendOnly => Some(Waiver::Removes),
            Self::NeverLarger => Some(Waiver::LargerThanL0),
            Self::SameBytes | Self::Names | Self::Schemas | Self::Unknown | Self::ErrorsUntouched => None,
        }
    }
}

/// A clause that an arm breaks without having waived it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The arm.
    pub arm: ArmId,
    /// The clause.
    pub clause: Clause,
    /// Server, tool or shown name.
    pub place: String,
    /// What was found.
    pub what: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "arm `{}` at {}: {}", self.arm, self.place, self.what)
    }
}

/// Builds the arm that is to be checked.
pub type BuildArm<'a> = dyn Fn(&ArmContext) -> Result<Arc<dyn Arm>, ArmError> + 'a;

/// The contract over some catalogs; what arms share is built and judged once.
pub struct Contract<'a> {
    context: &'a ArmContext,
    definitions: Definitions,
    /// Why schemas that were met before are none; by their text.
    schemas: RefCell<HashMap<Box<str>, Option<String>>>,
}

impl<'a> Contract<'a> {
    /// The contract over the catalogs of this context.
    ///
    /// # Errors
    /// Where a definition cannot be written.
    pub fn new(context: &'a ArmContext) -> Result<Self, ArmError> {
        Ok(Self { context, definitions: Definitions::new(&context.catalogs)?, schemas: RefCell::default() })
    }

    /// Holds an arm to the contract; `build` is called twice, and `tried` is told of every tool that was called. No finding
    /// means that every clause holds that the arm has not waived.
    ///
    /// # Errors
    /// Where an arm cannot be built or opened at all.
    pub fn check(&self, build: &BuildArm<'_>, tried: &dyn Fn()) -> Result<Vec<Finding>, ArmError> {
        let arm = build(self.context)?;
        let again = build(self.context)?;
        let mut check =
            Check { arm: arm.as_ref(), definitions: &self.definitions, schemas: &self.schemas, findings: Vec::new() };
        let initial = Arc::clone(arm.open(Scope::Catalogs)?.surface());
        check.names(&initial);
        check.order(&initial);
        check.schemas(&initial);
        let mut explorer = Explorer::new(arm.as_ref(), &self.definitions, Arc::clone(&initial));
        check.reachable(&mut explorer, tried)?;
        check.unknown()?;
        check.append_only(&mut explorer)?;
        check.never_larger()?;
        check.errors_untouched(self.context)?;
        // Last, so that a session's leftovers would show.
        check.same_bytes(&initial, again.as_ref())?;
        let waivers = arm.info().waivers;
        let waived = |finding: &Finding| finding.clause.waiver().is_some_and(|waiver| waivers.contains(&waiver));
        check.findings.retain(|finding| !waived(finding));
        Ok(check.findings)
    }
}

struct Check<'a> {
    arm: &'a dyn Arm,
    definitions: &'a Definitions,
    schemas: &'a RefCell<HashMap<Box<str>, Option<String>>>,
    findings: Vec<Finding>,
}

impl Check<'_> {
    fn find(&mut self, clause: Clause, place: impl Into<String>, what: impl Into<String>) {
        self.findings.push(Finding { arm: self.arm.info().id.clone(), clause, place: place.into(), what: what.into() });
    }

    fn open(&self) -> Result<Box<dyn ArmSession>, ArmError> {
        self.arm.open(Scope::Catalogs)
    }

    fn places(&self) -> Vec<Place> {
        let servers = self.definitions.servers.iter().enumerate();
        servers.flat_map(|(server, own)| (0..own.tools.len()).map(move |tool| Place { server, tool })).collect()
    }

    fn label(&self, place: Place) -> String {
        let server = &self.definitions.servers[place.server];
        format!("{}/{}", server.name, server.tools[place.tool].upstream.name)
    }

    fn same_bytes(&mut self, initial: &Surface, again: &dyn Arm) -> Result<(), ArmError> {
        let bytes = initial.bytes();
        if again.open(Scope::Catalogs)?.surface().bytes() != bytes {
            self.find(Clause::SameBytes, "surface", "built twice from the same input, it differs");
        }
        if self.open()?.surface().bytes() != bytes {
            self.find(Clause::SameBytes, "surface", "differs after other sessions of the same arm");
        }
        Ok(())
    }

    fn names(&mut self, surface: &Surface) {
        let mut seen = HashSet::new();
        for tool in surface.tools() {
            if !names::is_legal(tool.name()) {
                self.find(Clause::Names, tool.name(), "is not ^[a-zA-Z0-9_-]{1,64}$");
            }
            if !seen.insert(tool.name()) {
                self.find(Clause::Names, tool.name(), "is shown twice");
            }
        }
    }

    fn order(&mut self, surface: &Surface) {
        let place = |tool: &Arc<ShownTool>| match self.definitions.names.get(tool.name()) {
            Some(Named::Tool(place)) => Some(place),
            _ => None,
        };
        let places: Vec<Place> = surface.tools().iter().filter_map(place).collect();
        if let Some(pair) = places.windows(2).find(|pair| pair[0] >= pair[1]) {
            let (before, after) = (self.label(pair[0]), self.label(pair[1]));
            self.find(Clause::Order, after, format!("is shown after {before}, upstream it stands before"));
        }
    }

    fn schemas(&mut self, surface: &Surface) {
        for tool in surface.tools() {
            let original = match self.definitions.names.get(tool.name()) {
                Some(Named::Tool(place)) => Some(self.definitions.tool(place).raw.schema().get()),
                _ => None,
            };
            if original.is_some_and(|schema| self.why_no_schema(schema).is_some()) {
                continue;
            }
            let why = self.why_no_schema(tool.schema().get());
            if let Some(why) = why {
                self.find(Clause::Schemas, tool.name(), format!("its schema is not valid JSON Schema: {why}"));
            }
        }
    }

    /// Why a text is no JSON Schema document; texts that arms share are judged once.
    fn why_no_schema(&self, text: &str) -> Option<String> {
        if let Some(known) = self.schemas.borrow().get(text) {
            return known.clone();
        }
        let why = match serde_json::from_str(text) {
            Ok(schema) => why_no_schema(&schema),
            Err(error) => Some(error.to_string()),
        };
        self.schemas.borrow_mut().insert(text.into(), why.clone());
        why
    }

    fn reachable(&mut self, explorer: &mut Explorer<'_>, tried: &dyn Fn()) -> Result<(), ArmError> {
        for place in self.places() {
            let arguments = probe(self.definitions, place);
            let outcome = explorer.reach(place, &arguments)?;
            tried();
            let upstream = &self.definitions.tool(place).upstream.name;
            let what = match outcome {
                Some(CallOutcome::Upstream { server, tool, arguments: sent, .. }) => {
                    let arrived = server == self.definitions.servers[place.server].name && tool == *upstream;
                    (!arrived || sent != arguments)
                        .then(|| format!("the call arrived at {server}/{tool} with {}", Value::Object(sent)))
                }
                Some(CallOutcome::Rejected { .. }) if self.arm.info().waivers.contains(&Waiver::Rejects) => None,
                Some(CallOutcome::Rejected { reply } | CallOutcome::Meta { reply, .. }) => {
                    Some(format!("the call was answered: {reply}"))
                }
                None => Some("neither shown nor brought out by a meta tool".to_owned()),
            };
            if let Some(what) = what {
                self.find(Clause::Reachable, self.label(place), what);
            }
        }
        Ok(())
    }

    fn unknown(&mut self) -> Result<(), ArmError> {
        let mut session = self.open()?;
        let before = Arc::clone(session.surface());
        let outcome = session.call(&ToolCall { name: NO_SUCH_TOOL.to_owned(), arguments: Map::new() });
        if let CallOutcome::Upstream { server, tool, .. } = outcome {
            self.find(Clause::Unknown, NO_SUCH_TOOL, format!("reached {server}/{tool}"));
        }
        if session.surface().digest() != before.digest() {
            self.find(Clause::Unknown, NO_SUCH_TOOL, "changed the surface");
        }
        Ok(())
    }

    fn append_only(&mut self, explorer: &mut Explorer<'_>) -> Result<(), ArmError> {
        let mut session = self.open()?;
        let mut before = Arc::clone(session.surface());
        let shown: HashSet<&str> = before.tools().iter().map(|tool| tool.name()).collect();
        let hidden = |place: &Place| !shown.contains(self.definitions.names.tool(*place));
        let places: Vec<Place> = self.places().into_iter().filter(hidden).collect();
        // Evenly over all servers, last ones first, so that order of unlocking and upstream order differ.
        let step = places.len().div_ceil(MAX_UNLOCKS).max(1);
        for &place in places.iter().rev().step_by(step) {
            let changed = explorer.bring_out(session.as_mut(), place);
            let now = Arc::clone(session.surface());
            if changed == Arc::ptr_eq(&now, &before) {
                self.find(
                    Clause::AppendOnly,
                    self.label(place),
                    "a change was announced that is none, or not announced",
                );
            }
            if let Some(what) = self.what_moved(&before, &now) {
                self.find(Clause::AppendOnly, self.label(place), what);
            }
            before = now;
        }
        Ok(())
    }

    /// What of `now` is not `before` with tools appended to servers' lists.
    fn what_moved(&self, before: &Arc<Surface>, now: &Arc<Surface>) -> Option<String> {
        if Arc::ptr_eq(before, now) {
            return None;
        }
        let mut old = before.tools().iter().peekable();
        // Server of the last tool that was there before, and of the last that is new.
        let mut appended_to = None;
        for tool in now.tools() {
            let server = self.server_of(tool);
            if old.peek().is_some_and(|known| Arc::ptr_eq(known, tool) || known.json() == tool.json()) {
                if appended_to.is_some_and(|appended| appended == server) {
                    return Some(format!(
                        "`{}` follows a tool that was not appended to its server's list",
                        tool.name()
                    ));
                }
                appended_to = None;
                old.next();
            } else {
                appended_to = Some(server);
            }
        }
        old.next().map(|tool| format!("`{}` was removed, moved or rewritten", tool.name()))
    }

    fn server_of(&self, tool: &ShownTool) -> Option<usize> {
        match self.definitions.names.get(tool.name())? {
            Named::Tool(place) => Some(place.server),
            Named::Meta(server, _) => Some(server),
        }
    }

    fn never_larger(&mut self) -> Result<(), ArmError> {
        if self.arm.info().waivers.contains(&Waiver::LargerThanL0) {
            return Ok(());
        }
        let sizes = ArmSizes::of(self.arm, self.definitions)?;
        let lossless: Vec<usize> = self
            .definitions
            .servers
            .iter()
            .map(|server| server.tools.iter().map(|tool| tool.lossless.tokens()).sum())
            .collect();
        for ((server, size), lossless) in sizes.servers.iter().zip(&lossless) {
            if size.tokens > *lossless {
                self.find(Clause::NeverLarger, server, format!("{} o200k tokens, at L0 {lossless}", size.tokens));
            }
        }
        let all: usize = lossless.iter().sum();
        if sizes.total.tokens > all {
            let what = format!("{} o200k tokens, at L0 {all}", sizes.total.tokens);
            self.find(Clause::NeverLarger, "all servers", what);
        }
        Ok(())
    }

    fn errors_untouched(&mut self, context: &ArmContext) -> Result<(), ArmError> {
        let line = "error: the disk is full and nothing was written\n";
        let error = ToolResult { is_error: true, ..ToolResult::text(line.repeat(ERROR_LINES)) };
        let mut session = self.open()?;
        for (catalog, tool) in context.catalogs.tools() {
            if session.digest(&catalog.server, &tool.name, &error) != error {
                let place = format!("{}/{}", catalog.server, tool.name);
                self.find(Clause::ErrorsUntouched, place, "a result that reports an error was changed");
            }
        }
        Ok(())
    }
}

/// Arguments that tell one tool's call from another's; those that the tool requires are among them.
fn probe(definitions: &Definitions, place: Place) -> Map<String, Value> {
    let required = definitions.tool(place).upstream.input_schema.get("required").and_then(Value::as_array);
    let required = required.into_iter().flatten().filter_map(Value::as_str).map(|key| (key.to_owned(), Value::Null));
    let mut probe: Map<String, Value> = required.collect();
    probe.insert("probe".to_owned(), json!([place.server, { "tool": place.tool }]));
    probe
}

/// Why a value is not a JSON Schema document; `None` where it is one.
fn why_no_schema(schema: &Value) -> Option<String> {
    if !(schema.is_object() || schema.is_boolean()) {
        return Some("neither an object nor a boolean".to_owned());
    }
    // A dialect that the validator does not know cannot be held against anybody.
    let known = jsonschema::meta::validator_for(schema).ok()?;
    known.validate(schema).err().map(|error| error.to_string())
}

#[cfg(test)]
mod tests;
