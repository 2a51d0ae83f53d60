//! What a worktree may be called.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use checkrein_supervise::runs::RunError;

/// The name of a worktree: one part of a path and of a branch, nothing more.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct WorktreeName(String);

impl WorktreeName {
    /// The longest name, in bytes (ours): file systems take 255, and more is put around it.
    pub const LONGEST: usize = 100;

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The branch of the run.
    pub fn branch(&self) -> String {
        format!("checkrein/{}", self.0)
    }
}

impl FromStr for WorktreeName {
    type Err = RunError;

    fn from_str(text: &str) -> Result<Self, RunError> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        let begins = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
        // What git refuses in a branch: two dots, `.lock` and a dot at the end.
        let is_branch = !text.contains("..") && !text.ends_with('.') && !text.ends_with(".lock");
        if begins && text.len() <= Self::LONGEST && text.bytes().all(is_plain) && is_branch {
            return Ok(Self(text.to_owned()));
        }
        Err(RunError::asked(
            format!("`{}` is not a name of a worktree", text.escape_debug()),
            "letters, digits, `-`, `_` and `.`, beginning with a letter or digit; no path",
        ))
    }
}

impl TryFrom<String> for WorktreeName {
    type Error = RunError;

    fn try_from(text: String) -> Result<Self, RunError> {
        text.parse()
    }
}

impl From<WorktreeName> for String {
    fn from(name: WorktreeName) -> Self {
        name.0
    }
}

impl fmt::Display for WorktreeName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_part_of_a_path_and_of_a_branch() {
        for good in ["fix-12", "a", "v1.2_x"] {
            assert_eq!(good.parse::<WorktreeName>().unwrap().branch(), format!("checkrein/{good}"));
        }
        let long = "x".repeat(101);
        let bad = [
            "", ".", "..", "../x", "a/b", "/etc", "-f", ".hidden", "a b", "a\nb", "a..b", "a.", "a.lock",
            "a~1", "é", &long,
        ];
        for bad in bad {
            assert!(bad.parse::<WorktreeName>().is_err(), "{bad:?}");
        }
    }
}
