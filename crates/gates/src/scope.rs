//! The gate of scope: files that changed and stand on no list.

use crate::finding::{FindingKind, FindingWeight, GateFinding};

/// The finding about a changed file that no pattern means.
pub fn out_of_scope(path: &str, list: &str) -> GateFinding {
    GateFinding::of_file(FindingKind::OutOfScope, FindingWeight::Error, &format!("{path} is not in {list}"))
}
