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
    pub(crate) fn read(
        &self,
        raw: &RawValue,
        read: fn(&RawValue) -> Result<ToolList, WireError>,
    ) -> Result<Arc<ToolList>, WireError> {
        let list = Arc::new(read(raw)?);
        let mut lists = self.lists.write().unwrap_or_else(PoisonError::into_inner);
        if !lists.iter().any(|known| known.raw == list.raw) {
            if lists.len() == CAPACITY {
                lists.pop_front();
            }
            lists.push_back(Arc::clone(&list));
        }
        Ok(list)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(n: usize) -> Box<RawValue> {
        RawValue::from_string(format!(r#"[{{"name":"t{n}","input_schema":{{"type":"object"}}}}]"#)).unwrap()
    }

    #[test]
    fn a_list_is_found_by_its_bytes_and_only_as_a_whole_value() {
        let cache = ToolCache::default();
        let read = cache.read(&list(1), ToolList::read).unwrap();
        let found = |rest: String| cache.find(rest.as_bytes()).is_some_and(|found| Arc::ptr_eq(&found, &read));
        assert!(found(format!("{},\"system\":1}}", list(1))) && found(format!("{}}}", list(1))));
        assert!(!found(list(1).to_string()) && !found(format!("{} }}", list(1))) && !found(format!("{}}}", list(2))));
    }

    #[test]
    fn the_oldest_list_makes_room() {
        let cache = ToolCache::default();
        for n in 0..=CAPACITY {
            cache.read(&list(n), ToolList::read).unwrap();
            cache.read(&list(n), ToolList::read).unwrap();
        }
        assert!(cache.find(format!("{}}}", list(0)).as_bytes()).is_none());
        assert!(cache.find(format!("{}}}", list(1)).as_bytes()).is_some());
    }
}
