//! The functions of makefiles.

use checkrein_shell::quoted;

use super::lines::{matched, split_arguments};
use super::reading::is_unknown;
use super::variables::Flavor;
use super::{Automatic, BEYOND, Makefile};

/// The greatest number of commands that are kept until they are taken (ours).
const COMMANDS: usize = 128;

impl Makefile {
    /// The value of a function, whose name and arguments are given; `None` for one that is not understood. What it runs is kept.
    pub(super) fn function(
        &self,
        name: &str,
        rest: &str,
        automatic: Option<&Automatic>,
        depth: usize,
    ) -> Option<String> {
        let expand = |text: &str| self.expand(text, automatic, depth);
        let arguments = split_arguments(rest);
        let argument = |index: usize| arguments.get(index).map(|text| expand(text)).unwrap_or_default();
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let each = |index: usize, change: &dyn Fn(&str) -> String| {
            words(&argument(index)).iter().map(|word| change(word)).collect::<Vec<_>>().join(" ")
        };
        Some(match name {
            "shell" => self.run(expand(rest)),
            "guile" => self.run(format!("guile -c {}", quoted(&expand(rest)))),
            "file" => self.file(&argument(0), arguments.get(1).map(|text| expand(text))),
            "call" => {
                let name = argument(0).trim().to_owned();
                let given: Vec<String> = (1..arguments.len()).map(argument).collect();
                self.called(&name, &given, automatic, depth)
            }
            "eval" => {
                self.evaluated.borrow_mut().push(expand(rest));
                String::new()
            }
            "value" => self.held(argument(0).trim()).unwrap_or_default(),
            "origin" => {
                let name = argument(0);
                let is_automatic =
                    automatic.is_some() && matches!(name.trim(), "@" | "<" | "^" | "*" | "?" | "+");
                match self.variables.get(name.trim()) {
                    _ if is_automatic => "automatic",
                    Some(variable) => variable.origin.word(),
                    None => "undefined",
                }
                .to_owned()
            }
            "flavor" => match self.variables.get(argument(0).trim()).map(|variable| variable.flavor) {
                Some(Flavor::Simple) => "simple",
                Some(Flavor::Recursive) => "recursive",
                None => "undefined",
            }
            .to_owned(),
            "wildcard" => {
                let patterns = words(&expand(rest));
                patterns.iter().map(|pattern| self.names_of(pattern)).collect::<Vec<_>>().join(" ")
            }
            "findstring" => {
                let (wanted, text) = (argument(0), argument(1));
                match text.contains(&wanted) {
                    true => wanted,
                    // The text is one that only the shell can tell.
                    false if is_unknown(&text) => format!("$(echo {})", quoted(&wanted)),
                    false => String::new(),
                }
            }
            "wordlist" => {
                let place = |index: usize| argument(index).trim().parse::<usize>().ok();
                let (start, end) = (place(0)?.checked_sub(1)?, place(1)?);
                let all = words(&argument(2));
                all.get(start..end.min(all.len())).unwrap_or_default().join(" ")
            }
            "join" => {
                let (left, right) = (words(&argument(0)), words(&argument(1)));
                let one = |words: &[String], index: usize| words.get(index).cloned().unwrap_or_default();
                let count = left.len().max(right.len());
                (0..count).map(|index| one(&left, index) + &one(&right, index)).collect::<Vec<_>>().join(" ")
            }
            "strip" => words(&argument(0)).join(" "),
            "subst" => argument(2).replace(&argument(0), &argument(1)),
            "patsubst" => {
                let (from, to) = (argument(0), argument(1));
                each(2, &|word| {
                    matched(&from, word).map_or_else(|| word.to_owned(), |stem| to.replacen('%', &stem, 1))
                })
            }
            "filter" | "filter-out" => {
                let patterns = words(&argument(0));
                let text = argument(1);
                if is_unknown(&text) {
                    return Some(text); // It may be any of these words.
                }
                let keeps = |word: &String| {
                    patterns.iter().any(|pattern| matched(pattern, word).is_some()) == (name == "filter")
                };
                words(&text).into_iter().filter(keeps).collect::<Vec<_>>().join(" ")
            }
            "sort" => {
                let mut all = words(&argument(0));
                all.sort();
                all.dedup();
                all.join(" ")
            }
            "addprefix" => {
                let start = argument(0);
                each(1, &|word| format!("{start}{word}"))
            }
            "addsuffix" => {
                let end = argument(0);
                each(1, &|word| format!("{word}{end}"))
            }
            "notdir" => each(0, &|word| word.rsplit('/').next().unwrap_or(word).to_owned()),
            "dir" => {
                each(0, &|word| word.rfind('/').map_or("./", |at| word.get(..=at).unwrap_or(word)).to_owned())
            }
            "basename" => each(0, &|word| word.rsplit_once('.').map_or(word, |(start, _)| start).to_owned()),
            "suffix" => {
                each(0, &|word| word.rsplit_once('.').map_or(String::new(), |(_, end)| format!(".{end}")))
            }
            "firstword" => words(&argument(0)).first().cloned().unwrap_or_default(),
            "lastword" => words(&argument(0)).last().cloned().unwrap_or_default(),
            "word" => words(&argument(1))
                .get(argument(0).trim().parse::<usize>().ok()?.checked_sub(1)?)
                .cloned()
                .unwrap_or_default(),
            "words" => words(&argument(0)).len().to_string(),
            "abspath" | "realpath" => each(0, &|word| {
                if word.starts_with('/') { word.to_owned() } else { format!("{}/{word}", self.directory) }
            }),
            "if" => {
                let holds = self.says_something(&argument(0));
                if holds { argument(1) } else { self.rest_of(&arguments, 2, automatic, depth) }
            }
            "or" => (0..arguments.len())
                .map(argument)
                .find(|text| self.says_something(text))
                .map(|text| text.trim().to_owned())
                .unwrap_or_default(),
            "and" => {
                let mut last = String::new();
                for index in 0..arguments.len() {
                    argument(index).trim().clone_into(&mut last);
                    if !self.says_something(&last) {
                        return Some(String::new());
                    }
                }
                last
            }
            "foreach" => {
                let variable = argument(0).trim().to_owned();
                let body = arguments.get(2..).unwrap_or_default().join(",");
                each(1, &|word| self.binding(vec![(variable.clone(), word.to_owned())], || expand(&body)))
            }
            "let" => {
                let names = words(&argument(0));
                let mut values = words(&argument(1));
                // The last name takes what is left.
                let left = values.split_off(names.len().saturating_sub(1).min(values.len())).join(" ");
                let values = values.into_iter().chain([left]).chain(std::iter::repeat(String::new()));
                let body = arguments.get(2..).unwrap_or_default().join(",");
                self.binding(names.into_iter().zip(values).collect(), || expand(&body))
            }
            "info" | "warning" | "error" => {
                expand(rest);
                String::new()
            }
            _ => {
                // What stands in its arguments runs all the same.
                expand(rest);
                return None;
            }
        })
    }

    /// Keeps a command that a function runs; its output, as a substitution of the shell.
    pub(super) fn run(&self, command: String) -> String {
        let output = format!("$({command})");
        let mut ran = self.ran.borrow_mut();
        // Those beyond the bound are said, once.
        let command = if ran.len() < COMMANDS { command } else { BEYOND.to_owned() };
        if !ran.contains(&command) && !command.trim().is_empty() {
            ran.push(command);
        }
        output
    }

    /// `$(file >name,text)` writes, `$(file <name)` reads.
    fn file(&self, place: &str, text: Option<String>) -> String {
        let place = place.trim();
        let (operator, name) = match (place.strip_prefix(">>"), place.strip_prefix('>')) {
            (Some(name), _) => (">>", name),
            (None, Some(name)) => (">", name),
            (None, None) => return self.run(format!("cat {}", place.trim_start_matches(['<', ' ']))),
        };
        let text = text.unwrap_or_default();
        self.run(format!("printf '%s\\n' {} {operator} {}", quoted(&text), name.trim()));
        String::new()
    }

    /// The arguments of a function from one on, with the commas between them, expanded.
    fn rest_of(
        &self,
        arguments: &[String],
        from: usize,
        automatic: Option<&Automatic>,
        depth: usize,
    ) -> String {
        self.expand(&arguments.get(from..).unwrap_or_default().join(","), automatic, depth)
    }

    /// The names that a pattern stands for, or the pattern where nobody looked.
    pub(super) fn names_of(&self, pattern: &str) -> String {
        self.found.get(pattern).cloned().unwrap_or_else(|| {
            self.asked.borrow_mut().insert(pattern.to_owned());
            pattern.to_owned()
        })
    }

    /// Does something while variables stand for what a function puts in.
    fn binding(&self, values: Vec<(String, String)>, work: impl FnOnce() -> String) -> String {
        let before = self.bound.borrow().len();
        self.bound.borrow_mut().extend(values);
        let text = work();
        self.bound.borrow_mut().truncate(before);
        text
    }

    /// `$(call name,...)`: the value of a variable with `$(1)`, `$(2)` and so on put in; of a function, what it answers.
    fn called(&self, name: &str, given: &[String], automatic: Option<&Automatic>, depth: usize) -> String {
        let Some(body) = self.held(name) else {
            let is_function = name.chars().all(|letter| letter.is_ascii_lowercase() || letter == '-');
            let given: Vec<String> = given.iter().map(|text| text.replace('$', "$$")).collect();
            return if is_function && depth < super::DEPTH {
                self.function(name, &given.join(","), automatic, depth + 1).unwrap_or_default()
            } else {
                String::new()
            };
        };
        let mut values = vec![("0".to_owned(), name.to_owned())];
        for number in 1..10_usize {
            let value = given.get(number - 1).cloned().unwrap_or_default();
            values.push((number.to_string(), value));
        }
        self.binding(values, || self.expand(&body, automatic, depth))
    }
}
