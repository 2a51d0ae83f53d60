//! What is said about allowances.

use super::granted::{Allowance, AllowedFor};
use super::matching::Difference;

/// What a review says of a call that was let pass.
pub(super) const LIFTED: &str = "the user allowed this call with `checkrein allow`";

/// Why a call that was allowed once is stopped all the same, as a sentence behind its reason.
pub(super) fn difference(difference: &Difference) -> String {
    format!("This call was allowed with `checkrein allow`, but {}", what(difference))
}

/// The difference as a clause.
pub(super) fn what(difference: &Difference) -> String {
    match difference {
        Difference::Code(path) => format!("`{path}`, which it runs or reads, changed since"),
        Difference::Effects => "it would do something else now".to_owned(),
        Difference::Unliftable(reason) => reason.why().to_owned(),
    }
}

/// The span of an allowance in one word: `once`, `session`, `always`.
pub fn span_word(span: &AllowedFor) -> &'static str {
    match span {
        AllowedFor::Once => "once",
        AllowedFor::Session(_) => "session",
        AllowedFor::Always => "always",
    }
}

/// The scope of an allowance in words: for how long, and where.
pub fn in_words(allowance: &Allowance) -> String {
    let span = match &allowance.span {
        AllowedFor::Once => "once, within an hour".to_owned(),
        AllowedFor::Session(session) => format!("in the session {session}"),
        AllowedFor::Always => "always".to_owned(),
    };
    let below = if allowance.is_below { " and below" } else { "" };
    format!("{span}, in `{}`{below}", allowance.directory)
}
