//! Variables of the environment that name what a program writes.

use serde::{Deserialize, Serialize};

use super::text::{NameList, Text};

/// A variable whose value names what a program writes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound(deserialize = "'de: 'static"))]
pub struct WrittenVariable {
    /// Its names; at least one.
    pub names: NameList,
    /// The words that the call must hold, in this order, of which one such text is enough; none is always.
    pub when: Vec<Text>,
    /// Whether that is only so where something comes in on the standard input.
    pub needs_input: bool,
    /// How the place is written.
    pub writes: WrittenPlace,
    /// The files below the directory that the variable names; none when it names the file itself.
    pub files: NameList,
}

/// How a program writes the place that a variable names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WrittenPlace {
    /// The file is written anew.
    Over,
    /// Something is added at the end of the file.
    Behind,
    /// Files whose names are not known are made in the directory.
    Below,
}

impl WrittenVariable {
    /// Whether a call with these words writes what the variable names.
    pub fn holds<'a>(&self, words: &(impl Iterator<Item = &'a str> + Clone)) -> bool {
        let is_there = |wanted: &Text| {
            let mut words = words.clone();
            wanted.split(' ').all(|wanted| words.any(|word| word == wanted))
        };
        self.when.is_empty() || self.when.iter().any(is_there)
    }

    /// Whether it is the variable of this name. Those of npm mean the same in capitals and small letters (npm, "config").
    pub fn is_named(&self, name: &str) -> bool {
        let is_of_npm = |known: &str| known.starts_with("npm_config_") && known.eq_ignore_ascii_case(name);
        self.names.iter().any(|known| known == name || is_of_npm(known))
    }
}
