//! What actions change as they run: how many file operations, which paths are the session's own, what tripwires count.

use checkrein_facts::{TERMINALS, Tally, TypedTerminal};
use checkrein_protocol::{
    AbsolutePath, Certainty, Depth, Effect, EffectKind, Nature, ReviewRecord, SecretMark, TallyIncrement,
    TerminalDeed, TerminalUse, Timestamp,
};
use serde::{Deserialize, Serialize};

use super::SessionState;
use super::bounds::{self, cut, push_bounded, short_path};
use super::flow::FlowReading;

/// What an action changes if it runs after all.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Awaited {
    file_operations: u64,
    processes: u64,
    bytes_written: u64,
    counted: Vec<TallyIncrement>,
    created: Vec<AbsolutePath>,
    deleted: Vec<Deleted>,
    #[serde(default)]
    secret_marks: Vec<SecretMark>,
    #[serde(default)]
    terminal_uses: Vec<TerminalUse>,
    #[serde(default)]
    pub(super) flow: Vec<FlowReading>,
    /// Up to which action a yes to it settles what was read.
    #[serde(default)]
    pub(super) settles: Option<u64>,
}

/// A path that an action deletes for certain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Deleted {
    path: AbsolutePath,
    depth: Depth,
}

impl SessionState {
    /// Counts what an action changes as it runs, and says which paths it added to the created ones.
    pub(super) fn take_effects(&mut self, awaited: Awaited, at: Timestamp) -> Vec<AbsolutePath> {
        awaited.counted.iter().for_each(|counted| self.count(counted, at));
        self.file_operations = self.file_operations.saturating_add(awaited.file_operations);
        self.spent.processes = self.spent.processes.saturating_add(awaited.processes);
        self.spent.bytes_written = self.spent.bytes_written.saturating_add(awaited.bytes_written);
        for deleted in &awaited.deleted {
            self.created.retain(|path| !deleted.covers(path));
            self.secret_marks.retain(|mark| !deleted.covers(&mark.place));
        }
        for mark in awaited.secret_marks {
            self.take_mark(mark);
        }
        awaited.terminal_uses.iter().for_each(|used| self.take_terminal_use(used));
        awaited.flow.into_iter().for_each(|reading| self.take_reading(reading));
        let mut added = Vec::new();
        for path in awaited.created {
            if !self.created.contains(&path) {
                push_bounded(&mut self.created, path.clone(), bounds::CREATED);
                added.push(path);
            }
        }
        added
    }

    fn take_mark(&mut self, mark: SecretMark) {
        let is_same = |known: &SecretMark| {
            known.place == mark.place && (mark.secret.is_none() || known.secret == mark.secret)
        };
        self.secret_marks.retain(|known| !is_same(known));
        if mark.secret.is_some() {
            push_bounded(&mut self.secret_marks, mark, bounds::SECRET_MARKS);
        }
    }

    /// The one that was used last stands at the end.
    fn take_terminal_use(&mut self, used: &TerminalUse) {
        let name = cut(&used.terminal, bounds::NAME_CHARACTERS);
        let known = self.terminals.iter().position(|terminal| terminal.name == name);
        // Programs that no call names are told apart by nothing.
        let known = known.filter(|_| !name.is_empty() || used.deed == TerminalDeed::Typed);
        let mut terminal = known
            .and_then(|place| self.terminals.remove(place))
            .unwrap_or_else(|| TypedTerminal { name: name.to_owned(), ..TypedTerminal::default() });
        terminal.take(used);
        push_bounded(&mut self.terminals, terminal, TERMINALS);
    }

    fn count(&mut self, counted: &TallyIncrement, at: Timestamp) {
        let known = self.tallies.iter().position(|tally| tally.key() == counted.key);
        let mut tally = known
            .and_then(|place| self.tallies.remove(place))
            .unwrap_or_else(|| Tally::new(counted.key, counted.window));
        tally.take(counted, at, self.actions);
        push_bounded(&mut self.tallies, tally, bounds::TALLIES);
    }
}

impl Awaited {
    /// What this action changes.
    pub(super) fn of(review: &ReviewRecord, action: u64) -> Self {
        let counted = review.governance.as_ref().map(|governance| governance.counted.clone());
        let mut awaited = Self {
            file_operations: file_operations(&review.effects).saturating_add(review.further_file_operations),
            processes: review.programs.len() as u64,
            bytes_written: checkrein_protocol::bytes_to_write(&review.input),
            counted: counted.unwrap_or_default(),
            created: Vec::new(),
            deleted: Vec::new(),
            secret_marks: review.secret_marks.clone(),
            terminal_uses: review.terminal_uses.clone(),
            flow: FlowReading::of(review, action),
            settles: review.flow.map(|_| action),
        };
        awaited.secret_marks.retain(|mark| mark.place.as_str().len() <= bounds::TEXT_BYTES);
        awaited.secret_marks.truncate(bounds::SECRET_MARKS);
        awaited.terminal_uses.truncate(TERMINALS);
        awaited.counted.truncate(bounds::TALLIES);
        for effect in &review.effects {
            if !effect.kind.is_file_operation() {
                continue;
            }
            let Some(path) = short_path(effect) else { continue };
            if effect.certainty != Certainty::Certain {
                continue;
            }
            // What is brought into a directory that is there does not make it the session's own.
            let merges = matches!(
                effect.nature,
                Nature::BroughtUnread
                    | Nature::BroughtWithoutGuard
                    | Nature::ArchiveUnread
                    | Nature::ArchiveWithoutGuard
            );
            if effect.kind == EffectKind::FileCreate && !merges && awaited.created.len() < bounds::CREATED {
                awaited.created.push(path.clone());
            } else if effect.kind == EffectKind::FileDelete && awaited.deleted.len() < bounds::CREATED {
                awaited.created.retain(|created| created != path);
                awaited.deleted.push(Deleted { path: path.clone(), depth: effect.depth });
            }
        }
        awaited
    }
}

impl Deleted {
    fn covers(&self, path: &AbsolutePath) -> bool {
        match self.depth {
            Depth::Single => *path == self.path,
            Depth::Recursive => path.is_within(&self.path),
        }
    }
}

/// How many of these effects make, change or delete a file or a tree: what `limits.file_operations` counts.
pub fn file_operations(effects: &[Effect]) -> u64 {
    effects.iter().filter(|effect| effect.kind.is_file_operation()).count() as u64
}
