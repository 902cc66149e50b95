//! From files to frames: names resolved, templates parsed, pools shared out.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;
use toml::Table;

use super::{
    Frame, GoldTemplate, IntentFile, MatchersTemplate, Slot,
    matchers::{self, slots_of},
    pools::{self, Pools},
    raw::{self, RawAbstain, RawFile, RawFrame, RawIntent, json},
};
use crate::{
    check::{Finding, FindingKind, nearest},
    slots::{Place, Pool, Share, Template, ValueTemplate, share_out},
    task::Stratum,
};

pub(super) struct Built {
    pub frames: Vec<Frame>,
    pub problems: Vec<Finding>,
}

pub(super) fn build(files: &[IntentFile]) -> Built {
    let mut built = Built { frames: Vec::new(), problems: Vec::new() };
    // Where each frame id was met first.
    let mut ids: BTreeMap<Arc<str>, (Arc<str>, usize)> = BTreeMap::new();
    for file in files {
        match raw::parse(&file.text) {
            Ok(parsed) => {
                FileBuilder { file, problems: &mut built.problems, ids: &mut ids }.file(&parsed, &mut built.frames);
            }
            Err(error) => {
                built.problems.push(Finding::error(FindingKind::Syntax, &file.name, error.line, None, error.message));
            }
        }
    }
    built
}

/// The tool (none: abstain) and the pool whose slots share it.
type Sharers = (Option<Arc<str>>, Arc<str>);

struct FileBuilder<'a> {
    file: &'a IntentFile,
    problems: &'a mut Vec<Finding>,
    ids: &'a mut BTreeMap<Arc<str>, (Arc<str>, usize)>,
}

/// What all frames have.
struct Common<'a> {
    id: Arc<str>,
    line: usize,
    text: &'a str,
    slots: &'a Table,
}

impl FileBuilder<'_> {
    fn file(&mut self, parsed: &RawFile, frames: &mut Vec<Frame>) {
        let pools = pools::build(&parsed.pools);
        for (at, message) in &pools.problems {
            let line = raw::line_of(&self.file.text, *at);
            self.problems.push(Finding::error(FindingKind::Pool, &self.file.name, Some(line), None, message.clone()));
        }
        let writer: Arc<str> = parsed.writer.as_str().into();
        let first = frames.len();
        match (&parsed.server, parsed.suite.as_ref().map(|suite| suite.get_ref().as_str())) {
            (Some(server), None) => {
                if !parsed.frame.is_empty() {
                    self.header("[[frame]] is for abstain files; here frames go below their tool as [[intent.frame]]");
                }
                let server: Arc<str> = server.as_str().into();
                for intent in &parsed.intent {
                    for frame in &intent.frame {
                        frames.extend(self.frame(&server, &writer, intent, frame, &pools));
                    }
                }
            }
            (None, Some("abstain")) => {
                if !parsed.intent.is_empty() {
                    self.header("[[intent]] needs a server; an abstain file holds [[frame]] only");
                }
                for frame in &parsed.frame {
                    frames.extend(self.abstain(&writer, frame, &pools));
                }
            }
            _ => self.header("the file needs either server = \"…\" or suite = \"abstain\""),
        }
        self.share(&mut frames[first..]);
    }

    fn header(&mut self, message: &str) {
        self.problems.push(Finding::error(FindingKind::Syntax, &self.file.name, None, None, message.to_owned()));
    }

    fn frame(
        &mut self,
        server: &Arc<str>,
        writer: &Arc<str>,
        intent: &RawIntent,
        frame: &RawFrame,
        pools: &Pools,
    ) -> Option<Frame> {
        let tool: Arc<str> = intent.tool.get_ref().as_str().into();
        let common = Common {
            id: format!("{server}/{tool}/{}", frame.id.get_ref()).into(),
            line: raw::line_of(&self.file.text, frame.id.span().start),
            text: &frame.text,
            slots: &frame.slots,
        };
        let before = self.problems.len();
        if frame.stratum == Stratum::Abstain {
            self.problem(
                &common,
                FindingKind::Syntax,
                "stratum abstain belongs into a file with suite = \"abstain\"".into(),
            );
        }
        let (slots, text) = self.slots_and_text(&common, pools);
        let text = text?;
        let used = slots_of(&text);
        let mut gold = vec![self.gold(
            &common,
            &slots,
            &used,
            (server, &tool),
            &frame.gold,
            (&[&intent.matchers, &frame.matchers], &allowed(intent, frame)),
        )];
        for also in &frame.also {
            let server = also.server.as_deref().map_or_else(|| Arc::clone(server), Arc::from);
            // Arguments of the same name are compared in the same way; what may be added is each tool's own affair.
            let tables = [&intent.matchers, &frame.matchers, &also.matchers];
            gold.push(self.gold(
                &common,
                &slots,
                &used,
                (&server, &also.tool.as_str().into()),
                &also.arguments,
                (&tables, &also.allow),
            ));
        }
        self.finish(
            before,
            Frame {
                id: common.id,
                server: Some(Arc::clone(server)),
                tool: Some(tool),
                stratum: frame.stratum,
                voice: frame.voice,
                reason: None,
                writer: Arc::clone(writer),
                dev: frame.dev,
                text,
                slots,
                gold,
                file: Arc::clone(&self.file.name),
                line: common.line,
            },
        )
    }

    fn abstain(&mut self, writer: &Arc<str>, frame: &RawAbstain, pools: &Pools) -> Option<Frame> {
        let common = Common {
            id: format!("abstain/{}", frame.id.get_ref()).into(),
            line: raw::line_of(&self.file.text, frame.id.span().start),
            text: &frame.text,
            slots: &frame.slots,
        };
        let before = self.problems.len();
        let (slots, text) = self.slots_and_text(&common, pools);
        self.finish(
            before,
            Frame {
                id: common.id,
                server: None,
                tool: None,
                stratum: Stratum::Abstain,
                voice: frame.voice,
                reason: Some(frame.reason),
                writer: Arc::clone(writer),
                dev: frame.dev,
                text: text?,
                slots,
                gold: Vec::new(),
                file: Arc::clone(&self.file.name),
                line: common.line,
            },
        )
    }

    /// The frame, if it added no problem and its id is new.
    fn finish(&mut self, problems_before: usize, frame: Frame) -> Option<Frame> {
        if let Some((file, line)) = self.ids.get(&frame.id) {
            let message = format!(
                "the id is already used in {file}, line {line}; ids are unique within tool and server over all files"
            );
            self.problems.push(Finding::error(
                FindingKind::DuplicateFrame,
                &frame.file,
                Some(frame.line),
                Some(&frame.id),
                message,
            ));
            return None;
        }
        self.ids.insert(Arc::clone(&frame.id), (Arc::clone(&frame.file), frame.line));
        (self.problems.len() == problems_before).then_some(frame)
    }

    fn problem(&mut self, common: &Common<'_>, kind: FindingKind, message: String) {
        self.problems.push(Finding::error(kind, &self.file.name, Some(common.line), Some(&common.id), message));
    }

    fn slots_and_text(&mut self, common: &Common<'_>, pools: &Pools) -> (Vec<Slot>, Option<Template>) {
        let mut slots = Vec::new();
        for (name, pool) in common.slots {
            match pool.as_str().map(|pool| (pool, pools.by_name.get(pool))) {
                Some((_, Some(pool))) => slots.push(unshared(name, pool)),
                // A pool that is defined but broken was reported where it is defined.
                Some((pool, None))
                    if pools.problems.iter().any(|(_, message)| message.starts_with(&format!("pool {pool}:"))) =>
                {
                    self.problem(
                        common,
                        FindingKind::Pool,
                        format!("slot {name} draws from pool {pool}, which has an error"),
                    );
                }
                Some((pool, None)) => {
                    let hint = nearest(pool, pools.by_name.keys().map(String::as_str))
                        .map(|known| format!("; did you mean {known}?"));
                    self.problem(
                        common,
                        FindingKind::UnknownPool,
                        format!(
                            "slot {name} draws from pool {pool}, which is not in this file{}",
                            hint.unwrap_or_default()
                        ),
                    );
                }
                None => self.problem(
                    common,
                    FindingKind::UnknownPool,
                    format!("slot {name} must be a pool's name in quotes"),
                ),
            }
        }
        let text = match Template::parse(common.text, &resolver(&slots)) {
            Ok(text) => Some(text),
            Err(cause) => {
                self.problem(common, FindingKind::UnknownSlot, format!("text: {cause}"));
                None
            }
        };
        if let Some(text) = &text {
            let used = slots_of(text);
            let unused: Vec<&str> =
                (0..slots.len()).filter(|slot| !used.contains(slot)).map(|slot| &*slots[slot].name).collect();
            if !unused.is_empty() {
                self.problem(
                    common,
                    FindingKind::UnusedSlot,
                    format!("text does not use {{{}}}; use it or drop it from slots", unused.join("}, {")),
                );
            }
        }
        (slots, text)
    }

    fn gold(
        &mut self,
        common: &Common<'_>,
        slots: &[Slot],
        used: &[usize],
        (server, tool): (&Arc<str>, &Arc<str>),
        arguments: &Table,
        (tables, allow): (&[&Table], &Table),
    ) -> GoldTemplate {
        let resolve = resolver(slots);
        let mut filled = Vec::new();
        let mut places: Vec<Place> = Vec::new();
        for (key, value) in arguments {
            match json(value).and_then(|value: Value| ValueTemplate::parse(&value, &resolve)) {
                Ok(template) => {
                    places.extend(template.places());
                    filled.push((key.clone(), template));
                }
                Err(cause) => self.problem(common, FindingKind::UnknownSlot, format!("gold, {key}: {cause}")),
            }
        }
        let mut causes = Vec::new();
        let entries = matchers::read(tables, allow, &resolve, &mut |cause| causes.push(cause));
        places.extend(entries.iter().flat_map(|(_, _, matcher)| matcher.places()));
        for cause in causes {
            self.problem(common, FindingKind::Matcher, cause);
        }
        let mut hidden: Vec<&str> =
            places.iter().filter(|place| !used.contains(&place.slot)).map(|place| &*slots[place.slot].name).collect();
        hidden.dedup();
        if !hidden.is_empty() {
            self.problem(
                common,
                FindingKind::HiddenSlot,
                format!(
                    "gold uses {{{}}}, which the text does not say; the utterance must determine the gold",
                    hidden.join("}, {")
                ),
            );
        }
        GoldTemplate {
            server: Arc::clone(server),
            tool: Arc::clone(tool),
            arguments: filled,
            matchers: MatchersTemplate::new(entries),
        }
    }

    /// Gives every slot its own part of its pool, among the slots of the same tool (or of the abstain frames).
    fn share(&mut self, frames: &mut [Frame]) {
        let mut users: BTreeMap<Sharers, Vec<(usize, usize)>> = BTreeMap::new();
        for (at, frame) in frames.iter().enumerate() {
            for (slot_at, slot) in frame.slots.iter().enumerate() {
                users.entry((frame.tool.clone(), Arc::clone(&slot.pool.name))).or_default().push((at, slot_at));
            }
        }
        for ((_, pool), users) in users {
            let Some(&(first, slot)) = users.first() else {
                continue;
            };
            let frame_of_slot: Vec<usize> = users.iter().map(|(frame, _)| *frame).collect();
            let len = frames[first].slots[slot].pool.len();
            let Some(shares) = share_out(len, &frame_of_slot) else {
                let frame = &frames[first];
                let message = format!("pool {pool} has {len} values, fewer than one frame has slots that draw from it");
                self.problems.push(Finding::error(
                    FindingKind::Pool,
                    &frame.file,
                    Some(frame.line),
                    Some(&frame.id),
                    message,
                ));
                continue;
            };
            for ((frame, slot), share) in users.into_iter().zip(shares) {
                frames[frame].slots[slot].share = share;
            }
        }
    }
}

/// What may be added in a frame: its own list, then the intent's for what the gold leaves out.
fn allowed(intent: &RawIntent, frame: &RawFrame) -> Table {
    let mut allowed = frame.allow.clone();
    for (argument, values) in &intent.allow {
        if !frame.gold.contains_key(argument) && !allowed.contains_key(argument) {
            allowed.insert(argument.clone(), values.clone());
        }
    }
    allowed
}

fn unshared(name: &str, pool: &Arc<Pool>) -> Slot {
    Slot { name: name.into(), pool: Arc::clone(pool), share: Share { offset: 0, stride: 1, len: pool.len() } }
}

fn resolver(slots: &[Slot]) -> impl Fn(&str, Option<&str>) -> Result<Place, String> {
    move |name, column| {
        if let Some(at) = slots.iter().position(|slot| &*slot.name == name) {
            return slots[at].pool.place(at, name, column);
        }
        let known = slots.iter().map(|slot| &*slot.name);
        let hint = nearest(name, known).map(|known| format!("; did you mean {{{known}}}?"));
        Err(format!("there is no slot {{{name}}}{}", hint.unwrap_or_default()))
    }
}
