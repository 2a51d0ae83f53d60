//! Rules of `.gitignore` files, as they stand on the machine.

use std::path::Path;

pub use checkrein_glob::ignore::{IgnoreDecision, PathKind, Rules};
use checkrein_protocol::AbsolutePath;

use crate::repository::{repository_at, small_text};
use crate::version::Versions;

/// The rules that stand in no directory of the repository with this root: its own and those of the user, the stronger first.
/// Without a repository nothing is ignored.
pub fn general_rules(root: &AbsolutePath, home: &AbsolutePath, configuration: Option<&str>) -> [Rules; 2] {
    let versions = Versions::new(home, configuration);
    repository_at(root).map(|repository| versions.general_rules(&repository)).unwrap_or_default()
}

/// The rules in a file; none when it cannot be read.
pub fn rules_in(file: &Path) -> Rules {
    small_text(file).map(|text| Rules::parse(&text)).unwrap_or_default()
}
