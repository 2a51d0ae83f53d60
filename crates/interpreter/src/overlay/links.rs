//! Links of which it is not known for sure where they lead.

use std::collections::BTreeMap;

use super::{Made, Overlay};
use crate::path::AbsolutePath;
use crate::value::Value;
use crate::world::Last;

impl Overlay {
    /// Remembers that a link stands at a path of which it is not known for sure where it leads.
    pub(crate) fn link_somewhere(&mut self, path: &AbsolutePath, text: &Value) {
        self.leading.insert(path.as_str().to_owned(), text.clone());
    }

    /// Where a path may lead on from a link of which it is not known for sure where it leads: what is known of the text of that link, taken
    /// from its own directory, with what stands behind it. A path that is such a link leads on where links are followed. One link may lie behind
    /// another.
    pub(crate) fn leads_on(&self, path: &str, last: Last) -> Vec<Value> {
        let led = self.leading.iter().filter_map(|(link, text)| {
            let rest = path.strip_prefix(link.as_str())?;
            let is_behind = rest.starts_with('/') || rest.is_empty() && last == Last::Follow;
            if !is_behind || !matches!(self.made.get(link), Some(Made::Doubtful(_))) {
                return None;
            }
            let is_relative = !matches!(text, Value::Unknown)
                && !text.known_start().is_empty()
                && !text.known_start().starts_with('/');
            let directory = link.rsplit_once('/').map_or("", |(directory, _)| directory);
            let base = if is_relative {
                Value::exact(format!("{directory}/")).followed_by(text)
            } else {
                text.clone()
            };
            Some(base.followed_by(&Value::exact(rest)))
        });
        led.collect()
    }
}

/// Adds links of another way, and where they may lead there.
pub(super) fn add_links(links: &mut BTreeMap<String, Value>, others: &BTreeMap<String, Value>) {
    for (link, other) in others {
        let joined = links.get(link).map_or_else(|| other.clone(), |known| known.join(other));
        links.insert(link.clone(), joined);
    }
}
