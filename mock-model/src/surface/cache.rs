//! Tool lists that were read before, found again by their bytes.

use std::{
    collections::VecDeque,
    sync::{Arc, PoisonError, RwLock},
};

use serde_json::value::RawValue;

use super::ToolList;
use crate::wire::error::WireError;

/// Lists kept. A run shows some hundred: arms, and lazy arms by what they unlocked.
const CAPACITY: usize = 512;

/// A first-in first-out cache of tool lists.
#[derive(Debug, Default)]
pub(crate) struct ToolCache {
    lists: RwLock<VecDeque<Arc<ToolList>>>,
}

impl ToolCache {
    /// The list that `rest` starts with. An array ends at its own bracket, so equal bytes are the whole value.
    pub(crate) fn find(&self, rest: &[u8]) -> Option<Arc<ToolList>> {
        let lists = self.lists.read().unwrap_or_else(PoisonError::into_inner);
        let starts = |list: &ToolList| {
            let raw = list.raw.as_bytes();
            // Lists of one arm share long heads, so their lengths are told apart first.
            rest.len() > raw.len()
                && rest[raw.len() - 1] == b']'
                && matches!(rest[raw.len()], b',' | b'}')
                && rest[..raw.len()] == *raw
        };
        lists.iter().find(|list| starts(list)).cloned()
    }

    /// Reads and checks a list, and keeps it. What the API would refuse is not kept.
    pub(crate) fn read(&self, raw: &RawValue) -> Result<Arc<ToolList>, WireError> {
        let list = Arc::new(ToolList::read(raw)?);
        let mut lists = self.lists.write().unwrap_or_else(PoisonError::into_inner);
        if !lists.iter().any(|known| known.raw == list.raw) {
            if lists.len() == CAPACITY {
                lists.pop_front();
            }
            lists.push_back(Arc::clone(&list));
        }
        Ok(list)
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.lists.read().unwrap().len()
    }
}
