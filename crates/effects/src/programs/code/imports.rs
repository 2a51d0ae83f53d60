//! Imports.

use super::follower::Follower;
use super::thing::Thing;
use super::token::Token;

impl Follower<'_, '_, '_> {
    pub(super) fn python_import(&mut self, at: usize, to: usize) -> usize {
        let end = self.end_of_statement(at, to);
        let mut at = at + 1;
        while at < end {
            let until = self.find_mark(at, end, &[","]).unwrap_or(end);
            let (module, behind) = self.dotted(at, until);
            if self.tokens.is_word(behind, "as") {
                if let Some(name) = self.tokens.word(behind + 1).map(str::to_owned) {
                    self.variables.insert(name, Thing::Name(module));
                }
            } else if let Some(root) = module.split('.').next() {
                self.variables.insert(root.to_owned(), Thing::Name(root.to_owned()));
            }
            at = until + 1;
        }
        end
    }

    pub(super) fn python_from(&mut self, at: usize, to: usize) -> usize {
        let end = self.end_of_statement(at, to);
        let Some(import) = self.find_word(at, end, &["import"]) else { return end };
        let (module, _) = self.dotted(at + 1, import);
        let mut place = import + 1;
        let mut until = end;
        if self.tokens.is(place, "(") {
            until = self.tokens.partner(place).min(end);
            place += 1;
        }
        while place < until {
            if self.tokens.is(place, "*") {
                self.stars.push(module.clone());
            }
            if let Some(name) = self.tokens.word(place).map(str::to_owned) {
                let full = format!("{module}.{name}");
                if self.tokens.is_word(place + 1, "as") {
                    if let Some(own) = self.tokens.word(place + 2).map(str::to_owned) {
                        self.variables.insert(own, Thing::Name(full));
                    }
                    place += 2;
                } else {
                    self.variables.insert(name, Thing::Name(full));
                }
            }
            place += 1;
        }
        end
    }

    /// A name with dots, and the place behind it.
    pub(super) fn dotted(&self, at: usize, to: usize) -> (String, usize) {
        let mut name = String::new();
        let mut at = at;
        while at < to {
            match self.tokens.list.get(at) {
                Some(Token::Word(word)) if word != "as" && (name.is_empty() || name.ends_with('.')) => {
                    name.push_str(word);
                }
                Some(Token::Mark("." | "...")) => name.push('.'),
                _ => break,
            }
            at += 1;
        }
        (name, at)
    }

    /// `import fs from "fs"`, `import {a as b} from "fs"`, `import * as fs from "fs"`
    pub(super) fn javascript_import(&mut self, at: usize, to: usize) -> usize {
        let end = self.end_of_statement(at, to);
        let module = (at..end).rev().find_map(|place| match self.tokens.list.get(place) {
            Some(Token::Text(pieces)) => Some(pieces.clone()),
            _ => None,
        });
        let Some(module) = module else { return end };
        let module = self.text_of(&module);
        let module = self.import(&module);
        let mut place = at + 1;
        while place < end {
            match self.tokens.list.get(place).cloned() {
                Some(Token::Mark("{")) => {
                    let close = self.tokens.partner(place).min(end);
                    let mut inner = place + 1;
                    while inner < close {
                        if let Some(name) = self.tokens.word(inner).map(str::to_owned) {
                            let member = self.member(&module, &name);
                            let own = if self.tokens.is_word(inner + 1, "as") {
                                self.tokens.word(inner + 2).map(str::to_owned)
                            } else {
                                None
                            };
                            self.variables.insert(own.unwrap_or(name), member);
                        }
                        inner = self.find_mark(inner, close, &[","]).map_or(close, |comma| comma + 1);
                    }
                    place = close + 1;
                }
                Some(Token::Word(word)) => {
                    if !matches!(word.as_str(), "from" | "as" | "type") {
                        self.variables.insert(word, module.clone());
                    }
                    place += 1;
                }
                _ => place += 1,
            }
        }
        end
    }

    /// `use File::Path qw(rmtree)`, `use lib "x"`
    pub(super) fn perl_use(&mut self, at: usize, end: usize) {
        if self.tokens.word(at).is_some_and(|word| word.starts_with(|c: char| c.is_ascii_uppercase())) {
            return;
        }
        self.given(at, end);
    }
}
