//! The functions of makefiles.

use checkrein_shell::quoted;

use super::lines::{matched, split_arguments};
use super::{Automatic, Makefile};

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
            "wildcard" => expand(rest),
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
                let keeps = |word: &String| {
                    patterns.iter().any(|pattern| matched(pattern, word).is_some()) == (name == "filter")
                };
                words(&argument(1)).into_iter().filter(keeps).collect::<Vec<_>>().join(" ")
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
                let holds = !argument(0).trim().is_empty();
                argument(if holds { 1 } else { 2 })
            }
            "or" => (0..arguments.len()).map(argument).find(|text| !text.is_empty()).unwrap_or_default(),
            "and" => {
                let all: Vec<String> = (0..arguments.len()).map(argument).collect();
                if all.iter().any(String::is_empty) {
                    String::new()
                } else {
                    all.last().cloned().unwrap_or_default()
                }
            }
            "foreach" => {
                let variable = argument(0);
                let body = arguments.get(2..).unwrap_or_default().join(",");
                let one = |word: &str| {
                    let bound = body
                        .replace(&format!("$({variable})"), word)
                        .replace(&format!("${{{variable}}}"), word);
                    expand(&bound)
                };
                each(1, &one)
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
        if ran.len() < COMMANDS && !ran.contains(&command) && !command.trim().is_empty() {
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

    /// `$(call name,...)`: the value of a variable with `$(1)`, `$(2)` and so on put in.
    fn called(&self, name: &str, given: &[String], automatic: Option<&Automatic>, depth: usize) -> String {
        let Some(mut body) = self.held(name) else { return String::new() };
        for number in (0..10_usize).rev() {
            let value = match number.checked_sub(1) {
                None => name,
                Some(place) => given.get(place).map_or("", String::as_str),
            };
            // What is put in was expanded already.
            let value = value.replace('$', "$$");
            for written in [format!("$({number})"), format!("${{{number}}}"), format!("${number}")] {
                body = body.replace(&written, &value);
            }
        }
        self.expand(&body, automatic, depth)
    }
}
