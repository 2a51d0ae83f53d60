//! Carrying out the search of `find` in the file tree.

use crate::interpreter::expression::fits_whole;
use crate::interpreter::{Machine, Value};
use crate::path::AbsolutePath;
use crate::world::{Entry, Listing};
use checkrein_glob::{Glob, Style};

use super::expression::{Action, Expression, Links, Parsed, Truth};

/// Something that was found.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Found {
    /// Where it is.
    pub(super) path: AbsolutePath,
    /// As `find` prints it.
    pub(super) text: String,
    pub(super) is_directory: bool,
    /// The number of the action that it was found for.
    pub(super) action: usize,
    pub(super) truth: Truth,
}

/// A search under way.
pub(super) struct Search<'a, 'w> {
    machine: &'a Machine<'w>,
    expression: &'a Expression,
    links: Links,
    left: usize,
    maximum: usize,
    minimum: usize,
    /// Whether `-prune` keeps from going on: not where directories come after what is in them.
    prunes: bool,
    /// The directories that the search is in, from its start down.
    inside: Vec<AbsolutePath>,
    found: Vec<Found>,
}

/// What is looked at.
struct Candidate<'a> {
    path: &'a AbsolutePath,
    text: &'a str,
    entry: &'a Entry,
}

/// How deep a tree is followed (ours).
const DEEPEST: usize = 128;

impl<'a, 'w> Search<'a, 'w> {
    /// A search that looks at no more than `limit` entries.
    pub(super) fn new(machine: &'a Machine<'w>, parsed: &'a Parsed, limit: usize) -> Self {
        let expression = &parsed.expression;
        Self {
            machine,
            expression,
            links: parsed.links,
            left: limit,
            maximum: expression.maximum_depth().unwrap_or(usize::MAX),
            minimum: expression.minimum_depth().unwrap_or(0),
            prunes: !parsed.goes_deep_first,
            inside: Vec::new(),
            found: Vec::new(),
        }
    }

    /// Searches below a start; `None` when something could not be listed or there is too much.
    pub(super) fn from(&mut self, start: &str) -> Option<()> {
        let aims = self.machine.paths(&Value::exact(start));
        let [aim] = aims.as_slice() else { return None };
        let path = aim.target.path()?.clone();
        self.visit(&path, start, 0)
    }

    /// Searches below a directory that the search would come by right below a start. What it finds before there is too much stays.
    pub(super) fn right_below(&mut self, start: &str, name: &str) {
        let Some(path) = self.machine.one_path_through(&Value::exact(start)) else { return };
        let text = format!("{}/{name}", start.trim_end_matches('/'));
        self.visit(&path.join(name), &text, 1);
    }

    /// What was found, directories before what is in them.
    pub(super) fn into_found(self) -> Vec<Found> {
        self.found
    }

    fn visit(&mut self, path: &AbsolutePath, text: &str, depth: usize) -> Option<()> {
        self.left = self.left.checked_sub(1)?;
        let mut entry = self.machine.entry(path);
        let mut inside = path.clone();
        let follows = match self.links {
            Links::Kept => false,
            Links::KeptBelowStarts => depth == 0,
            Links::Followed => true,
        };
        if follows
            && matches!(entry, Entry::Symlink(_))
            && let Some(place) = self.machine.one_path_through(&Value::exact(path.as_str()))
            && self.machine.entry(&place) != Entry::Missing
        {
            entry = self.machine.entry(&place);
            inside = place;
        }
        // `find` goes round no circle. A link that leads above its start is none.
        if self.inside.contains(&inside) {
            return Some(());
        }
        match entry {
            Entry::Missing => return Some(()),
            Entry::Unknown => return None,
            Entry::File(_) | Entry::Directory | Entry::Symlink(_) | Entry::Special => {}
        }
        let mut pruned = Truth::No;
        if depth >= self.minimum {
            let candidate = Candidate { path, text, entry: &entry };
            self.judge(self.expression, &candidate, Truth::Yes, &mut pruned);
        }
        if entry != Entry::Directory || depth >= self.maximum || pruned == Truth::Yes {
            return Some(());
        }
        if depth >= DEEPEST {
            return None;
        }
        let Listing::Names(names) = self.machine.children(&inside) else { return None };
        self.inside.push(inside.clone());
        for name in names {
            let below = if text.ends_with('/') { format!("{text}{name}") } else { format!("{text}/{name}") };
            self.visit(&inside.join(&name), &below, depth + 1)?;
        }
        self.inside.pop();
        Some(())
    }

    /// What a symbolic link points to; the link itself when it is broken.
    fn followed(&self, candidate: &Candidate<'_>) -> Entry {
        let aims = self.machine.paths_through(&Value::exact(candidate.path.as_str()));
        match aims.first().and_then(|aim| aim.target.path()).map(|path| self.machine.entry(path)) {
            Some(Entry::Missing) | None => candidate.entry.clone(),
            Some(entry) => entry,
        }
    }

    /// Whether the expression holds for a candidate, noting down the actions that are reached; `so_far` is what had to
    /// hold to come here.
    fn judge(
        &mut self,
        part: &Expression,
        candidate: &Candidate<'_>,
        so_far: Truth,
        pruned: &mut Truth,
    ) -> Truth {
        match part {
            Expression::All(parts) => {
                let mut truth = Truth::Yes;
                for part in parts {
                    if so_far.and(truth) == Truth::No {
                        break;
                    }
                    truth = truth.and(self.judge(part, candidate, so_far.and(truth), pruned));
                }
                truth
            }
            Expression::Any(parts) => {
                let mut failed = Truth::Yes;
                for part in parts {
                    let reached = so_far.and(failed);
                    if reached == Truth::No {
                        break;
                    }
                    failed = failed.and(part.failed(self.judge(part, candidate, reached, pruned)));
                }
                failed.not()
            }
            // What stands behind a comma is reached whatever came before it.
            Expression::Both(parts) => {
                let mut last = Truth::Yes;
                for part in parts {
                    last = self.judge(part, candidate, so_far, pruned);
                }
                last
            }
            Expression::Not(part) => part.failed(self.judge(part, candidate, so_far, pruned)),
            Expression::Name { pattern, fold } => {
                let name = candidate.path.name().unwrap_or("/");
                // The start is named as it was given: `find .` names it `.`.
                let name = if candidate.text == "." { "." } else { name };
                Truth::of(fits(name, pattern, *fold))
            }
            Expression::Path { pattern, fold } => Truth::of(fits(candidate.text, pattern, *fold)),
            Expression::Whole { pattern, letters } => {
                fits_whole(pattern, candidate.text, *letters).map_or(Truth::Maybe, Truth::of)
            }
            Expression::Type { letters, through } => {
                let followed = match candidate.entry {
                    Entry::Symlink(_) if *through => self.followed(candidate),
                    entry => entry.clone(),
                };
                let letter = match followed {
                    Entry::File(_) => 'f',
                    Entry::Directory => 'd',
                    Entry::Symlink(_) => 'l',
                    Entry::Special | Entry::Missing | Entry::Unknown => return Truth::Maybe,
                };
                Truth::of(letters.contains(&letter))
            }
            Expression::Empty => match candidate.entry {
                Entry::File(facts) => Truth::of(facts.bytes == 0),
                Entry::Directory => match self.machine.children(candidate.path) {
                    Listing::Names(names) => Truth::of(names.is_empty()),
                    Listing::Unknown => Truth::Maybe,
                },
                Entry::Symlink(_) | Entry::Special | Entry::Missing | Entry::Unknown => Truth::No,
            },
            Expression::Prune => {
                if self.prunes {
                    *pruned = so_far;
                }
                Truth::Yes
            }
            Expression::Always | Expression::MaximumDepth(_) | Expression::MinimumDepth(_) => Truth::Yes,
            Expression::Never => Truth::No,
            Expression::Facts(test) => test.judge(self.machine, candidate.path, candidate.entry),
            Expression::Unknown | Expression::Wide => Truth::Maybe,
            Expression::Do(number, action) => {
                if so_far != Truth::No {
                    self.found.push(Found {
                        path: candidate.path.clone(),
                        text: candidate.text.to_owned(),
                        is_directory: *candidate.entry == Entry::Directory,
                        action: *number,
                        truth: so_far,
                    });
                }
                answer_of(action)
            }
        }
    }
}

/// Where the links lead that a walk follows.
pub(super) struct Behind {
    /// The places, also those behind links that are found there.
    pub(super) places: Vec<AbsolutePath>,
    /// Whether these are all of them.
    pub(super) is_all: bool,
}

/// How many entries are looked at for links (ours).
const LOOKED_AT: usize = 4096;

/// Looks for links that lead out of where a walk starts.
pub(super) fn behind_links(machine: &Machine<'_>, starts: &[Value]) -> Behind {
    let mut behind = Behind { places: Vec::new(), is_all: true };
    let mut waiting = Vec::new();
    for start in starts {
        match machine.one_path_through(start) {
            Some(path) => waiting.push(path),
            None => behind.is_all = false,
        }
    }
    let roots = waiting.clone();
    let mut left = LOOKED_AT;
    while let Some(path) = waiting.pop() {
        let Some(less) = left.checked_sub(1) else {
            behind.is_all = false;
            return behind;
        };
        left = less;
        match machine.entry(&path) {
            Entry::Symlink(_) => match machine.one_path_through(&Value::exact(path.as_str())) {
                Some(place) => {
                    let is_known = roots.iter().chain(&behind.places).any(|root| place.is_within(root));
                    if !is_known && machine.entry(&place) != Entry::Missing {
                        behind.places.push(place.clone());
                        waiting.insert(0, place);
                    }
                }
                None => behind.is_all = false,
            },
            Entry::Directory => match machine.children(&path) {
                Listing::Names(names) => waiting.extend(names.iter().map(|name| path.join(name))),
                Listing::Unknown => behind.is_all = false,
            },
            Entry::Unknown => behind.is_all = false,
            Entry::Missing | Entry::File(_) | Entry::Special => {}
        }
    }
    behind
}

/// Whether what stands behind an action is reached.
fn answer_of(action: &Action) -> Truth {
    match action {
        Action::Print { .. }
        | Action::PrintOther
        | Action::Delete
        | Action::Write(_)
        | Action::ExecuteAll { .. } => Truth::Yes,
        Action::Execute { words, asks, .. } => {
            let program = words.first().and_then(Value::as_exact);
            let asks_something = matches!(
                program,
                Some(
                    "test"
                        | "["
                        | "grep"
                        | "egrep"
                        | "fgrep"
                        | "sh"
                        | "bash"
                        | "cmp"
                        | "diff"
                        | "false"
                        | "rg"
                        | "zgrep"
                ) | None
            );
            if *asks || asks_something { Truth::Maybe } else { Truth::Yes }
        }
    }
}

/// Whether a text fits a pattern as `find` has it.
pub(super) fn fits(text: &str, pattern: &str, fold: bool) -> bool {
    if fold {
        return Glob::new(&pattern.to_lowercase(), Style::Find).matches(&text.to_lowercase());
    }
    Glob::new(pattern, Style::Find).matches(text)
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn letters_are_folded_where_find_is_told_so() {
        assert!(fits("a.pyc", "*.pyc", false));
        assert!(fits("./src/x/y.py", "./src/*.py", false));
        assert!(!fits("A.PYC", "*.pyc", false));
        assert!(fits("A.PYC", "*.pyc", true));
    }
}
