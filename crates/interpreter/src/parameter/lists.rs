//! How many elements a list of values has, and which.

use std::collections::BTreeMap;

use crate::value::Value;

/// How many words there are; `None` where one of them stands for several.
pub(crate) fn counted(values: &[Value]) -> Option<usize> {
    values.iter().all(|value| !matches!(value, Value::Glob(_))).then_some(values.len())
}

/// As [`counted`], where what is not known may be several words too.
pub(super) fn counted_exactly(values: &[Value]) -> Option<usize> {
    values.iter().all(|value| matches!(value, Value::Exact(_) | Value::AnyOf(_))).then_some(values.len())
}

/// The word at a place, which may be one of the several that a word in front of it stands for.
pub(super) fn one_at(values: &[Value], place: usize) -> Option<Value> {
    match values.iter().position(|value| matches!(value, Value::Glob(_))) {
        Some(several) if several <= place => {
            let rest = values.get(several..).unwrap_or_default();
            rest.iter().cloned().reduce(|left, right| left.join(&right))
        }
        Some(_) | None => values.get(place).cloned(),
    }
}

pub(super) fn list_item(items: &BTreeMap<i64, Value>, index: i64) -> Option<Value> {
    if items.values().any(|value| matches!(value, Value::Glob(_))) {
        let values: Vec<Value> = items.values().cloned().collect();
        return one_at(&values, usize::try_from(index).unwrap_or(usize::MAX));
    }
    if index >= 0 {
        return items.get(&index).cloned();
    }
    let last = items.keys().next_back()?;
    items.get(&last.checked_add(1)?.checked_add(index)?).cloned()
}
