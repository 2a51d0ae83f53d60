//! References that moved.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::WayBack;

/// A reference that is not what it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MovedReference {
    /// The whole name.
    pub(super) name: String,
    pub(super) then: Option<String>,
    pub(super) now: Option<String>,
    /// Whether it stood in a file of its own.
    pub(super) was_loose: bool,
}

/// References that differ, whether they stand in files of their own or in the list of all.
pub(super) fn references(
    common: &Path,
    loose: &BTreeMap<String, (Option<String>, Option<String>)>,
    packed: Option<&(String, String)>,
) -> Vec<MovedReference> {
    let unchanged = || fs::read_to_string(common.join("packed-refs")).unwrap_or_default();
    let (then, now) = if let Some((then, now)) = packed {
        (listed(then), listed(now))
    } else {
        let list = listed(&unchanged());
        (list.clone(), list)
    };
    let names: BTreeSet<&String> = loose.keys().chain(then.keys()).chain(now.keys()).collect();
    let mut differing = Vec::new();
    for name in names {
        let (own_then, own_now) = loose.get(name).cloned().unwrap_or_else(|| {
            let own = fs::read_to_string(common.join(name)).ok();
            (own.clone(), own)
        });
        let value = |own: Option<String>, list: &BTreeMap<String, String>| {
            own.map(|text| text.trim().to_owned()).or_else(|| list.get(name).cloned())
        };
        let was_loose = own_then.is_some();
        let (was, is) = (value(own_then, &then), value(own_now, &now));
        if was != is {
            differing.push(MovedReference { name: name.clone(), then: was, now: is, was_loose });
        }
    }
    differing
}

/// The references in `packed-refs`.
fn listed(text: &str) -> BTreeMap<String, String> {
    let rows = text.lines().filter(|line| !line.starts_with(['#', '^']));
    rows.filter_map(|line| line.split_once(' ')).map(|(id, name)| (name.to_owned(), id.to_owned())).collect()
}

impl MovedReference {
    pub(super) fn in_words(&self) -> String {
        let short =
            |id: &str| id.chars().take(if id.starts_with("ref:") { 80 } else { 10 }).collect::<String>();
        let name = named(&self.name);
        match (self.then.as_deref(), self.now.as_deref()) {
            (Some(then), None) => format!("{name} is gone; it was at {}", short(then)),
            (None, Some(now)) => format!("{name} is new, at {}", short(now)),
            (then, now) => {
                let (then, now) = (then.unwrap_or_default(), now.unwrap_or_default());
                format!("{name} moved from {} to {}", short(then), short(now))
            }
        }
    }

    /// How it is taken back. What only grew lost nothing, and may be the work of a user while the agent worked elsewhere.
    pub(super) fn way_back(&self, grows: bool) -> WayBack {
        let log = format!("logs/{}", self.name);
        match (&self.then, &self.now) {
            (None, _) => WayBack::Stays,
            (Some(_), Some(_)) if grows => WayBack::Stays,
            (Some(then), Some(now)) if !self.was_loose && !now.starts_with("ref:") => {
                WayBack::Reference { name: self.name.clone(), then: then.clone(), now: now.clone() }
            }
            (Some(_), _) if self.was_loose => WayBack::Files(vec![self.name.clone(), log]),
            (Some(_), _) => WayBack::Files(vec!["packed-refs".to_owned(), log]),
        }
    }
}

pub(super) fn named(reference: &str) -> String {
    if let Some(name) = reference.strip_prefix("refs/heads/") {
        return format!("branch `{name}`");
    }
    match reference.strip_prefix("refs/tags/") {
        Some(name) => format!("tag `{name}`"),
        None if reference == "refs/stash" => "the stash".to_owned(),
        None => format!("`{reference}`"),
    }
}

/// The message of the last entry of a reflog, shortened to 60 characters.
pub(super) fn last_message(log: &str) -> Option<String> {
    let (_, message) = log.lines().last()?.split_once('\t')?;
    Some(message.chars().take(60).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_the_same_whether_packed_or_not() {
        let place = tempfile::tempdir().unwrap();
        let loose = |rows: &[(&str, Option<&str>, Option<&str>)]| {
            rows.iter()
                .map(|(name, then, now)| {
                    let text = |id: Option<&str>| id.map(|id| format!("{id}\n"));
                    ((*name).to_owned(), (text(*then), text(*now)))
                })
                .collect::<BTreeMap<_, _>>()
        };
        let packed =
            ("# pack-refs\na refs/tags/v1\n^b\n".to_owned(), "a refs/tags/v1\nc refs/heads/x\n".to_owned());
        let packing = loose(&[("refs/heads/x", Some("c"), None)]);
        assert_eq!(references(place.path(), &packing, Some(&packed)), []);
        let gone = loose(&[("refs/heads/y", Some("d"), None)]);
        assert_eq!(
            references(place.path(), &gone, None),
            [MovedReference {
                name: "refs/heads/y".to_owned(),
                then: Some("d".to_owned()),
                now: None,
                was_loose: true
            }]
        );
        assert_eq!(references(place.path(), &gone, None)[0].in_words(), "branch `y` is gone; it was at d");
    }
}
