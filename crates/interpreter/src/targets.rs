//! From words to targets.

use crate::effect::{Certainty, Target};
use crate::nature::Nature;
use crate::path::AbsolutePath;
use crate::world::{Entry, Last, resolve};

use super::descriptors::{OWN, number_of};
use super::draft::AimedTarget;
use super::machine::Machine;
use super::resolve::secret_behind_links;
use super::shell::ShellDirectory;
use super::value::Value;

impl Machine<'_> {
    /// What a word means as a path: relative to the working directory, through the symbolic links above the last part.
    /// Nothing for the empty word.
    pub fn paths(&self, value: &Value) -> Vec<AimedTarget> {
        self.aims(value, Last::Keep)
    }

    /// As [`Machine::paths`], through a symbolic link in the last part too.
    pub fn paths_through(&self, value: &Value) -> Vec<AimedTarget> {
        self.aims(value, Last::Follow)
    }

    /// The names of secrets by which a value leads through symbolic links to places that are not known as such.
    pub(crate) fn secrets_behind_links(&self, value: &Value) -> Vec<AimedTarget> {
        let ShellDirectory::Here(cwd) = &self.shell.cwd else { return Vec::new() };
        let entry = |path: &AbsolutePath| self.entry(path);
        let home = &self.world.place().home;
        let texts = value.alternatives().unwrap_or_default();
        let names = texts.iter().filter_map(|text| secret_behind_links(&entry, cwd, text, home));
        let certainty = if texts.len() == 1 { Certainty::Certain } else { Certainty::Possible };
        names
            .map(|path| AimedTarget {
                target: Target::Path(path),
                certainty,
                nature: Nature::Ordinary,
                note: String::new(),
            })
            .collect()
    }

    /// What a value aims at. What may be any file, after an output of which nothing is known, is named by that output.
    fn aims(&self, value: &Value, last: Last) -> Vec<AimedTarget> {
        let mut all = self.aims_as_written(value, last);
        self.add_what_links_lead_to(&mut all, last);
        if self.is_named_by_output() {
            for aim in &mut all {
                if aim.target == Target::Unknown && aim.nature == Nature::Ordinary {
                    aim.nature = Nature::NamedByOutput;
                }
            }
        }
        all
    }

    /// Adds where targets may lie behind links of this command of which it is not known where they lead.
    fn add_what_links_lead_to(&self, all: &mut Vec<AimedTarget>, last: Last) {
        let mut further = Vec::new();
        for aim in all.iter_mut() {
            let text = match &aim.target {
                Target::Path(path) => path.as_str(),
                Target::Glob(pattern) => pattern.as_str(),
                Target::Host(_)
                | Target::Process(_)
                | Target::Service(_)
                | Target::Reference(_)
                | Target::Unknown => continue,
            };
            for beyond in self.tree.leads_on(text, last) {
                aim.certainty = Certainty::Possible;
                further.extend(self.aims_as_written(&beyond, last));
            }
        }
        for mut aim in further {
            aim.certainty = Certainty::Possible;
            if !all.contains(&aim) {
                all.push(aim);
            }
        }
    }

    fn aims_as_written(&self, value: &Value, last: Last) -> Vec<AimedTarget> {
        let (mut nature, mut note) = (Nature::Ordinary, String::new());
        let mut certainty = Certainty::Certain;
        if let Some((_, name)) = self.call.hollow.iter().find(|(hollow, _)| hollow == value) {
            nature = Nature::Hollow;
            note.clone_from(name);
            certainty = Certainty::Possible;
        }
        let aim = |target: Target, certainty: Certainty| AimedTarget {
            target,
            certainty,
            nature,
            note: note.clone(),
        };
        match value {
            Value::Exact(text) if text.is_empty() => {
                let hollow = last == Last::Keep && certainty == Certainty::Possible;
                if hollow { vec![aim(Target::Unknown, certainty)] } else { Vec::new() }
            }
            Value::Exact(text) => match self.locate(text, last) {
                // The sign for bytes that are no text: a file may have a name of such bytes.
                Ok(paths)
                    if text.contains(char::REPLACEMENT_CHARACTER)
                        && paths.iter().all(|path| self.entry(path) == Entry::Missing) =>
                {
                    let pattern = text.replace(char::REPLACEMENT_CHARACTER, "?");
                    self.aims_of_patterns(self.pattern_targets(&pattern), last, certainty, &aim)
                }
                Ok(paths) => {
                    let certainty = if paths.len() == 1 { certainty } else { Certainty::Possible };
                    paths.into_iter().map(|path| aim(Target::Path(path), certainty)).collect()
                }
                Err(target) => vec![aim(target, certainty)],
            },
            Value::AnyOf(texts) => {
                let mut all: Vec<AimedTarget> = Vec::new();
                for text in texts.iter().filter(|text| !text.is_empty()) {
                    match self.locate(text, last) {
                        Ok(paths) => {
                            all.extend(
                                paths.into_iter().map(|path| aim(Target::Path(path), Certainty::Possible)),
                            );
                        }
                        Err(target) => all.push(aim(target, Certainty::Possible)),
                    }
                }
                all.dedup();
                all
            }
            Value::Glob(pattern) => {
                let ends = if pattern.ends_with('/') { Last::Follow } else { last };
                self.aims_of_patterns(self.pattern_targets(pattern), ends, certainty, &aim)
            }
            Value::Between { prefix, suffix } if !prefix.is_empty() || !self.may_name_elsewhere() => {
                self.aims_of_patterns(self.between_targets(prefix, suffix), last, certainty, &aim)
            }
            Value::Unknown | Value::Between { .. } => {
                let mut all = Vec::new();
                for pattern in self.names_elsewhere() {
                    let targets = self.pattern_targets(pattern);
                    all.extend(self.aims_of_patterns(targets, last, Certainty::Possible, &aim));
                }
                all.push(aim(Target::Unknown, certainty));
                all
            }
        }
    }

    /// The paths that an exact text may name, or what is known of them when the directory is not known.
    fn locate(&self, text: &str, last: Last) -> Result<Vec<AbsolutePath>, Target> {
        let opens = |start: &&str| text.starts_with(*start);
        let own = ["/dev/std", "/dev/tcp/", "/dev/udp/"].iter().any(opens) || OWN.iter().any(opens);
        let leads_on = |path: &AbsolutePath| {
            number_of(path).is_none() && OWN.iter().any(opens)
                || (last == Last::Follow || text != path.as_str())
                    && matches!(self.own_entry(path), Some(Entry::Symlink(_)))
        };
        if let Some(path) = AbsolutePath::new(text).filter(|path| own && !leads_on(path)) {
            // The shell opens these itself; where they lead on this machine says nothing.
            return Ok(vec![path]);
        }
        if text.starts_with('/') {
            return Ok(self.places_of(&AbsolutePath::root(), text, last));
        }
        match &self.shell.cwd {
            ShellDirectory::Here(cwd) => Ok(self.places_of(cwd, text, last)),
            ShellDirectory::OneOf(all) => {
                let mut paths: Vec<AbsolutePath> =
                    all.iter().flat_map(|cwd| self.places_of(cwd, text, last)).collect();
                paths.dedup();
                Ok(paths)
            }
            ShellDirectory::Below(directory) => {
                let below = text.trim_start_matches("./");
                Err(Target::Glob(format!("{}/**/{below}", directory.as_str().trim_end_matches('/'))))
            }
            ShellDirectory::Unknown => Err(Target::Unknown),
        }
    }

    /// Where a text leads from a directory: one place, and those beyond links of which it is not known whether they are there.
    fn places_of(&self, start: &AbsolutePath, text: &str, last: Last) -> Vec<AbsolutePath> {
        let mut all = vec![resolve(&|path| self.entry(path), start, text, last)];
        for way in 0..self.ways_of_links() {
            let beyond = resolve(&|path| self.entry_in_way(path, way), start, text, last);
            if !all.contains(&beyond) {
                all.push(beyond);
            }
        }
        all
    }

    /// How many ways the shell itself has to take links of which it is not known whether they are there. Programs are run in each.
    fn ways_of_links(&self) -> usize {
        if self.call.cause.is_empty() { self.tree.ways_of_links() } else { 0 }
    }

    /// What stands at a path where a link that may be there is there, in one of the ways in which they may lead.
    fn entry_in_way(&self, path: &AbsolutePath, way: usize) -> Entry {
        match self.tree.link_in_way(path, way) {
            Some(text) if self.away.is_none() => Entry::Symlink(text.to_owned()),
            Some(_) | None => self.entry(path),
        }
    }

    /// What patterns name, and what lies behind links there; of several only one may be meant.
    fn aims_of_patterns(
        &self,
        targets: Vec<Target>,
        last: Last,
        certainty: Certainty,
        aim: &impl Fn(Target, Certainty) -> AimedTarget,
    ) -> Vec<AimedTarget> {
        let certainty = if targets.len() == 1 { certainty } else { Certainty::Possible };
        let all = targets.into_iter().flat_map(|target| self.with_places_behind_links(target, last));
        all.map(|target| aim(target, certainty)).collect()
    }

    /// What a pattern names: in each of the directories in which the shell may be.
    fn pattern_targets(&self, pattern: &str) -> Vec<Target> {
        if pattern.starts_with('/') {
            return self.real_patterns(pattern);
        }
        let within = |cwd: &AbsolutePath| {
            self.real_patterns(&format!("{}/{pattern}", cwd.as_str().trim_end_matches('/')))
        };
        match &self.shell.cwd {
            ShellDirectory::Here(cwd) | ShellDirectory::Below(cwd) => within(cwd),
            ShellDirectory::OneOf(all) => all.iter().flat_map(within).collect(),
            ShellDirectory::Unknown => vec![Target::Unknown],
        }
    }

    /// A pattern where its links lead, and where those lead that may be there.
    fn real_patterns(&self, pattern: &str) -> Vec<Target> {
        let real = |entry: &dyn Fn(&AbsolutePath) -> Entry| {
            Target::Glob(through_links(entry, led_back(entry, pattern)))
        };
        let mut all = vec![real(&|path| self.entry(path))];
        for way in 0..self.ways_of_links() {
            let beyond = real(&|path| self.entry_in_way(path, way));
            if !all.contains(&beyond) {
                all.push(beyond);
            }
        }
        all
    }

    fn between_targets(&self, prefix: &str, suffix: &str) -> Vec<Target> {
        if prefix.is_empty() {
            return vec![Target::Unknown];
        }
        let suffix = suffix.trim_end_matches('/');
        // One name is the rule for what a program prints into a path; the end of a directory may be followed by more.
        let middle =
            if prefix.ends_with('/') || suffix.contains('/') || suffix.is_empty() { "**" } else { "*" };
        self.pattern_targets(&format!("{prefix}{middle}{suffix}"))
    }

    /// Where a shell is after `cd` to a word.
    pub fn directory(&self, value: &Value) -> ShellDirectory {
        let mut found: Option<ShellDirectory> = None;
        for aim in self.paths_through(value) {
            let here = match aim.target {
                Target::Path(path) => ShellDirectory::Here(path),
                Target::Glob(pattern) => {
                    let fixed = pattern.split(['*', '?', '[']).next().unwrap_or_default();
                    let directory = fixed.rfind('/').and_then(|at| fixed.get(..at)).unwrap_or_default();
                    match AbsolutePath::new(&format!("{directory}/")) {
                        Some(path) if path.parent().is_some() => ShellDirectory::Below(path),
                        Some(_) | None => ShellDirectory::Unknown,
                    }
                }
                Target::Host(_)
                | Target::Process(_)
                | Target::Service(_)
                | Target::Reference(_)
                | Target::Unknown => ShellDirectory::Unknown,
            };
            found = Some(found.map_or(here.clone(), |known| known.join(&here)));
        }
        found.unwrap_or_else(|| self.shell.cwd.clone())
    }
}

/// A pattern without `.` and `..`. What stands in front of its first wildcard is walked as the kernel does it: `..` behind a link is
/// the directory above the place that the link leads to.
fn led_back(entry: &dyn Fn(&AbsolutePath) -> Entry, pattern: &str) -> String {
    let fixed = pattern.split(['*', '?', '[']).next().unwrap_or_default();
    let directory = fixed.rfind('/').and_then(|at| fixed.get(..at)).unwrap_or_default();
    if !directory.split('/').any(|part| part == "..") {
        return clean_pattern(pattern);
    }
    let real = resolve(entry, &AbsolutePath::root(), directory, Last::Follow);
    let rest = pattern.get(directory.len()..).unwrap_or_default();
    clean_pattern(&format!("{}{rest}", real.as_str().trim_end_matches('/')))
}

/// A pattern whose first directories are links, where they lead.
fn through_links(entry: &dyn Fn(&AbsolutePath) -> Entry, pattern: String) -> String {
    let fixed = pattern.split(['*', '?', '[']).next().unwrap_or_default();
    let Some((directory, _)) = fixed.rsplit_once('/').filter(|(directory, _)| !directory.is_empty()) else {
        return pattern;
    };
    let mut above = AbsolutePath::new(directory);
    let mut leads_on = false;
    while let Some(path) = above {
        leads_on |= matches!(entry(&path), Entry::Symlink(_));
        above = path.parent();
    }
    if !leads_on {
        return pattern;
    }
    let real = resolve(entry, &AbsolutePath::root(), directory, Last::Follow);
    let rest = pattern.get(directory.len()..).unwrap_or_default();
    format!("{}{rest}", real.as_str().trim_end_matches('/'))
}

/// A pattern of absolute paths without `.`, `..`, doubled or trailing slashes.
pub(super) fn clean_pattern(pattern: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in pattern.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    format!("/{}", parts.join("/"))
}
