//! Words of a git subcommand, sorted into options and operands.

use crate::interpreter::{Arguments, Value};

use super::grammar::{Grammar, grammar};

/// The words behind a subcommand.
pub(super) struct Words {
    /// Options and operands.
    pub(super) arguments: Arguments,
    /// How many operands stand before `--`; `None` without `--`.
    pub(super) before_dashes: Option<usize>,
}

impl Words {
    /// Sorts the words behind the subcommand `name`.
    pub(super) fn of(name: &str, words: &[Value]) -> Self {
        let grammar = grammar(name);
        let mut sorted = Self { arguments: Arguments::default(), before_dashes: None };
        let mut rest = words.iter();
        while let Some(word) = rest.next() {
            let text = match word.as_exact() {
                Some(text) if sorted.before_dashes.is_none() => text,
                Some(_) => {
                    sorted.arguments.operands.push(word.clone());
                    continue;
                }
                None => {
                    let start = word.known_start();
                    sorted.arguments.uncertain |=
                        sorted.before_dashes.is_none() && (start.is_empty() || start.starts_with('-'));
                    sorted.arguments.operands.push(word.clone());
                    continue;
                }
            };
            if text == "--" {
                sorted.before_dashes = Some(sorted.arguments.operands.len());
            } else if text.starts_with("--") {
                sorted.long(text, &grammar, &mut rest);
            } else if text.starts_with('-') && text.len() > 1 {
                sorted.short(text, &grammar, &mut rest);
            } else {
                sorted.arguments.operands.push(word.clone());
                if grammar.first_operand_ends || sorted.starts_command(name) {
                    sorted.arguments.operands.extend(rest.cloned());
                    break;
                }
            }
        }
        sorted
    }

    /// Whether what follows the operands so far is a command of its own: `bisect run make`, `submodule foreach rm -r x`.
    fn starts_command(&self, name: &str) -> bool {
        match name {
            "bisect" => self.operand(0) == Some("run"),
            "submodule" => self.operand(0) == Some("foreach") && self.operands().len() == 2,
            _ => false,
        }
    }

    /// Whether the option was given.
    pub(super) fn has(&self, name: &str) -> bool {
        self.arguments.has(&[name])
    }

    /// Whether any of the options was given.
    pub(super) fn any(&self, names: &[&str]) -> bool {
        self.arguments.has(names)
    }

    /// How often any of the options was given.
    pub(super) fn count(&self, names: &[&str]) -> usize {
        self.arguments.options.iter().filter(|(option, _)| names.contains(&option.as_str())).count()
    }

    /// The operands.
    pub(super) fn operands(&self) -> &[Value] {
        &self.arguments.operands
    }

    /// The operands from `index` on.
    pub(super) fn operands_from(&self, index: usize) -> &[Value] {
        self.arguments.operands.get(index..).unwrap_or_default()
    }

    /// An operand as exact text.
    pub(super) fn operand(&self, index: usize) -> Option<&str> {
        self.arguments.operand(index)
    }

    fn long<'w>(&mut self, text: &str, grammar: &Grammar, rest: &mut impl Iterator<Item = &'w Value>) {
        let (given, attached) = match text.split_once('=') {
            Some((name, value)) => (name, Some(Value::exact(value))),
            None => (text, None),
        };
        let name = whole_name(given, grammar);
        let value = match attached {
            Some(value) => Some(value),
            None if grammar.values.contains(&name.as_str()) => rest.next().cloned(),
            None => None,
        };
        self.arguments.options.push((name, value));
    }

    fn short<'w>(&mut self, text: &str, grammar: &Grammar, rest: &mut impl Iterator<Item = &'w Value>) {
        for (index, letter) in text.char_indices().skip(1) {
            let name = format!("-{letter}");
            let behind = text.get(index + letter.len_utf8()..).filter(|behind| !behind.is_empty());
            if grammar.values.contains(&name.as_str()) {
                let value = behind.map(Value::exact).or_else(|| rest.next().cloned());
                self.arguments.options.push((name, value));
                return;
            }
            if grammar.attached.contains(&name.as_str()) {
                self.arguments.options.push((name, behind.map(Value::exact)));
                return;
            }
            self.arguments.options.push((name, None));
        }
    }
}

/// The whole name of a long option that may be abbreviated: exact names first, then the first that begins so.
fn whole_name(given: &str, grammar: &Grammar) -> String {
    let names = || grammar.long.iter().chain(grammar.values.iter());
    if given.len() < 3 || names().any(|name| *name == given) {
        return given.to_owned();
    }
    names().find(|name| name.starts_with(given)).map_or_else(|| given.to_owned(), |name| (*name).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(name: &str, text: &str) -> Words {
        let values: Vec<Value> = text.split_whitespace().map(Value::exact).collect();
        Words::of(name, &values)
    }

    #[test]
    fn values_bundles_and_abbreviations() {
        let push = words("push", "--force-w=other origin +main");
        assert!(push.has("--force-with-lease") && !push.has("--force"));
        assert!(words("push", "--force --repo --help origin").has("--force"));
        assert!(!words("push", "--force --repo --help origin").has("--help"));
        assert!(words("gc", "--p=now").arguments.has(&["--prune=now"]));
        let clean = words("clean", "-fdx -e *.keep .");
        assert!(clean.has("-f") && clean.has("-d") && clean.has("-x"));
        assert_eq!(clean.operands().len(), 1);
        let reset = words("reset", "-- --hard");
        assert!(!reset.has("--hard"));
        assert_eq!(reset.before_dashes, Some(0));
        assert!(words("commit", "-sam text").any(&["-a"]));
    }
}
