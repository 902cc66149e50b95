//! Prices: a table as data, exact ids, integer money.
//!
//! Prices are no part of the protocol: they change while it stands. The digest of the table in force goes into ledger and
//! manifest, the table itself into the record.

mod cost;
mod day;
mod error;
mod parse;
mod rate;
mod row;

use std::collections::BTreeMap;

use serde::Serialize;

pub use cost::{Bound, CacheWrites, Geo, Tokens, reserve, settle};
pub use day::Day;
pub use error::{CostError, PriceError, Unpriced};
pub use rate::Rate;
pub use row::{LongContext, Price, Rates, Status};

use crate::digest::Digest;

/// The price table compiled into the binary.
pub const BUILT_IN: &str = include_str!("../../prices.toml");

/// Version of the file's format.
const SCHEMA: u32 = 1;

/// A price table: one row per exact model id.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PriceTable {
    rows: BTreeMap<String, Price>,
}

/// The table as it is written and hashed: rows in order of model ids, whatever file they came from.
#[derive(Serialize)]
struct Written<'a> {
    schema: u32,
    price: Vec<&'a Price>,
}

impl PriceTable {
    /// The table compiled into the binary.
    pub fn built_in() -> Result<Self, PriceError> {
        Self::parse(BUILT_IN, "prices.toml")
    }

    /// Reads a table; `file` stands in messages.
    pub fn parse(text: &str, file: &str) -> Result<Self, PriceError> {
        Ok(Self { rows: parse::rows(text, file)? })
    }

    /// This table with the rows of another added, and put in place of its own where both have a model.
    #[must_use]
    pub fn overlaid_with(mut self, other: Self) -> Self {
        self.rows.extend(other.rows);
        self
    }

    /// The row of exactly this id.
    pub fn row(&self, model: &str) -> Option<&Price> {
        self.rows.get(model)
    }

    /// All rows, in order of model ids.
    pub fn rows(&self) -> impl Iterator<Item = &Price> {
        self.rows.values()
    }

    /// The row that a run started today may use: exact id, served, in force.
    pub fn quote(&self, model: &str, today: &Day) -> Result<&Price, Unpriced> {
        let price = self.row(model).ok_or_else(|| Unpriced::Unknown {
            model: model.to_owned(),
            nearest: self.nearest(model).map(str::to_owned),
        })?;
        if price.status == Status::Retired {
            return Err(Unpriced::Retired {
                model: price.model.clone(),
                status: price.status,
                source_note: price.source.clone(),
                as_of: price.as_of.clone(),
            });
        }
        if price.valid_from > *today {
            return Err(Unpriced::NotYet {
                model: price.model.clone(),
                valid_from: price.valid_from.clone(),
                today: today.clone(),
            });
        }
        Ok(price)
    }

    /// The table as TOML, which parses to the same table.
    pub fn to_toml(&self) -> Result<String, PriceError> {
        toml::to_string(&self.written()).map_err(|source| PriceError::Write(source.to_string()))
    }

    /// SHA-256 of the table's canonical JSON (RFC 8785): independent of layout, comments and order.
    pub fn digest(&self) -> Result<Digest, PriceError> {
        let bytes = serde_json_canonicalizer::to_vec(&self.written())
            .map_err(|source| PriceError::Write(source.to_string()))?;
        Ok(Digest::of(&bytes))
    }

    fn written(&self) -> Written<'_> {
        Written { schema: SCHEMA, price: self.rows.values().collect() }
    }

    /// The served model whose id begins most like this one: what people leave out is mostly the date at the end.
    fn nearest(&self, model: &str) -> Option<&str> {
        let common = |id: &str| id.bytes().zip(model.bytes()).take_while(|(a, b)| a == b).count();
        self.rows()
            .filter(|price| price.status != Status::Retired)
            .map(|price| (common(&price.model), price.model.as_str()))
            .filter(|(shared, _)| *shared >= 5)
            // Of two that share as much, the one nearer in length.
            .max_by_key(|(shared, id)| (*shared, std::cmp::Reverse(id.len().abs_diff(model.len()))))
            .map(|(_, id)| id)
    }
}

/// True where a response's model id is the one asked for, or that id with a date behind it (`-20251001`, `-2025-08-07`).
pub fn same_model(asked: &str, answered: &str) -> bool {
    match answered.strip_prefix(asked) {
        Some("") => true,
        Some(rest) => {
            let digits = rest.bytes().filter(u8::is_ascii_digit).count();
            let shape: String = rest.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
            digits == 8 && (shape == "-00000000" || shape == "-0000-00-00")
        }
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn today() -> Day {
        Day::parse("2026-11-29").unwrap()
    }

    #[test]
    fn the_models_of_the_protocol_are_priced() {
        let protocol = crate::spec::Protocol::built_in().unwrap();
        let table = PriceTable::built_in().unwrap();
        for (provider, id) in [
            (&protocol.model.provider, &protocol.model.id),
            (&protocol.model.replication_provider, &protocol.model.replication_id),
        ] {
            assert_eq!(&table.quote(id, &today()).unwrap().provider, provider);
        }
    }

    #[test]
    fn only_the_exact_id_has_a_price() {
        let table = PriceTable::built_in().unwrap();
        assert!(table.row("claude-opus-5").is_some() && table.row("claude-opus-5-5").is_some());
        for id in ["claude-opus", "claude-opus-5-", "claude-opus-5-20260724", "Claude-Opus-5", "", "claude-haiku-4-5"] {
            assert!(table.row(id).is_none(), "{id}");
        }
    }

    #[test]
    fn an_alias_is_refused_with_the_dated_id_and_a_stranger_without_a_guess() {
        let table = PriceTable::built_in().unwrap();
        insta::assert_snapshot!(table.quote("claude-haiku-4-5", &today()).unwrap_err(), @"model `claude-haiku-4-5` has no price row (did you mean `claude-haiku-4-5-20251001`?); name it exactly, or add a row with `--prices FILE`");
        insta::assert_snapshot!(table.quote("mistral-7b", &today()).unwrap_err(), @"model `mistral-7b` has no price row; name it exactly, or add a row with `--prices FILE`");
    }

    #[test]
    fn retired_and_future_rows_are_refused() {
        let table = PriceTable::built_in().unwrap();
        insta::assert_snapshot!(table.quote("claude-opus-4-20250514", &today()).unwrap_err(), @"model `claude-opus-4-20250514` is retired (Anthropic model overview and pricing pages (retired 2026-06-15), as of 2026-10-08); choose a model that is served");
        let early = Day::parse("2026-01-01").unwrap();
        insta::assert_snapshot!(table.quote("claude-opus-5", &early).unwrap_err(), @"the price row of model `claude-opus-5` holds from 2026-07-24 on, after 2026-01-01; bring a current one with `--prices FILE`");
    }

    #[test]
    fn the_digest_ignores_layout_and_sees_every_price() {
        let table = PriceTable::built_in().unwrap();
        let digest = table.digest().unwrap();
        let relaid = PriceTable::parse(&table.to_toml().unwrap(), "written").unwrap();
        assert_eq!(relaid, table);
        assert_eq!(relaid.digest().unwrap(), digest);
        let dearer =
            PriceTable::parse(&BUILT_IN.replacen("output = \"5\"", "output = \"5.000001\"", 1), "dearer").unwrap();
        assert_ne!(dearer.digest().unwrap(), digest);
    }

    #[test]
    fn an_overlay_adds_rows_and_replaces_its_own() {
        let table = PriceTable::built_in().unwrap();
        let count = table.rows().count();
        let row = |model: &str, input: &str| {
            format!(
                "schema = 1\n[[price]]\nprovider = \"local\"\nmodel = \"{model}\"\nstatus = \"active\"\nvalid_from = \"2026-01-01\"\nas_of = \"2026-11-29\"\nsource = \"own\"\ninput = \"{input}\"\ncache_write_5m = \"0\"\ncache_write_1h = \"0\"\ncache_read = \"0\"\noutput = \"0\"\n"
            )
        };
        let own = PriceTable::parse(&row("qwen3-4b", "0"), "own.toml").unwrap();
        let table = table.overlaid_with(own);
        assert_eq!(table.rows().count(), count + 1);
        assert!(table.row("qwen3-4b").unwrap().is_free());
        let table = table.overlaid_with(PriceTable::parse(&row("gpt-5-mini", "7"), "own.toml").unwrap());
        assert_eq!(table.rows().count(), count + 1);
        assert_eq!(table.row("gpt-5-mini").unwrap().input, Rate::parse("7").unwrap());
    }

    #[test]
    fn every_built_in_row_writes_and_tiers_no_cheaper_than_it_reads() {
        for price in PriceTable::built_in().unwrap().rows() {
            let tiers = std::iter::once(price.base()).chain(price.long_context.as_ref().map(LongContext::rates));
            for rates in tiers {
                assert!(rates.cache_read <= rates.input, "{}", price.model);
                assert!(rates.input <= rates.cache_write_5m, "{}", price.model);
                assert!(rates.cache_write_5m <= rates.cache_write_1h, "{}", price.model);
                assert!(rates.input >= price.input && rates.output >= price.output, "{}", price.model);
            }
            assert_eq!(price.is_free(), price.provider == "local", "{}", price.model);
        }
    }

    #[test]
    fn a_dated_answer_is_the_model_asked_for_and_a_longer_name_is_not() {
        assert!(same_model("gpt-5-mini", "gpt-5-mini-2025-08-07"));
        assert!(same_model("claude-haiku-4-5", "claude-haiku-4-5-20251001"));
        assert!(same_model("local", "local"));
        for other in ["claude-opus-5-5", "claude-opus-5-1-20260724", "claude-opus", "claude-opus-5-2026-0724"] {
            assert!(!same_model("claude-opus-5", other), "{other}");
        }
    }
}
