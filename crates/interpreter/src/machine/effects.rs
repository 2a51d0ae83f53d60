//! Adding effects to an interpretation.

use crate::Input;
use checkrein_protocol::Typing;

use super::{Draft, EFFECTS, Machine, TOLD, Upload};
use crate::effect::{Aim, Certainty, Depth, Effect, EffectKind, FileChange, NetworkReach, Severity, Target};
use crate::known_hosts;
use crate::nature::Nature;
use crate::path::AbsolutePath;
use crate::prediction::LeftOpen;
use crate::remote::{Appending, Lifetime, OTHER_HOME, PlaceSort};
use crate::value::Value;
use crate::world::Entry;
use checkrein_facts::{is_made_again_in_container, is_temporary_elsewhere};

impl Machine<'_> {
    /// Adds an effect on what a word means: a path for file kinds, persistence and permissions, a host for network kinds, a
    /// process, a reference for version control, else a service. File kinds look at the tree as [`Machine::read`],
    /// [`Machine::write`] and [`Machine::delete`] do.
    pub fn effect(&mut self, kind: EffectKind, value: &Value) {
        match kind {
            EffectKind::FileRead => {
                self.skim(value);
            }
            EffectKind::FileCreate => self.write(value),
            EffectKind::FileDelete => self.delete(value, Depth::Single),
            EffectKind::FileModify => {
                for aim in self.paths_through(value) {
                    let draft = match aim.target.path().map(|path| self.entry(path)) {
                        Some(Entry::Missing) => Draft::at(kind, aim).possible(),
                        Some(_) | None => Draft::at(kind, aim),
                    };
                    self.remember_written(&draft.target, Value::Unknown);
                    self.add(draft);
                }
            }
            EffectKind::PermissionChange
            | EffectKind::SecretRead
            | EffectKind::Persistence
            | EffectKind::GuardTampering => {
                for aim in self.paths_through(value) {
                    self.add(Draft::at(kind, aim));
                }
            }
            EffectKind::NetworkRequest => self.host(value, Upload::No),
            EffectKind::DataUpload => self.host(value, Upload::Yes),
            EffectKind::PackageInstall => {
                // A file that was fetched before is a package from where it came.
                let fetched = self.address_of(value);
                let package = fetched.map_or_else(|| named(value, Target::Service), Target::Service);
                self.add(Draft::new(kind, package));
            }
            EffectKind::RemoteCodeExecution => {
                let reach = value.as_exact().map_or(NetworkReach::External, known_hosts::reach);
                self.add(Draft::new(kind, named(value, Target::Host)).reach(reach));
            }
            EffectKind::ProcessSpawn
            | EffectKind::ProcessKill
            | EffectKind::VcsLocalLoss
            | EffectKind::VcsHistoryRewrite
            | EffectKind::VcsRemoteUpdate
            | EffectKind::SystemModification
            | EffectKind::PrivilegeEscalation
            | EffectKind::InfrastructureChange
            | EffectKind::InfrastructureDestroy
            | EffectKind::DatastoreChange
            | EffectKind::DatastoreDestroy
            | EffectKind::Publish
            | EffectKind::Opaque => {
                let target = match kind.aim() {
                    Aim::Host => Target::Host,
                    Aim::Process => Target::Process,
                    Aim::Reference => Target::Reference,
                    Aim::Files | Aim::Service => Target::Service,
                };
                self.add(Draft::new(kind, named(value, target)));
            }
        }
    }

    /// Adds an effect as described, less certain where the control flow is. What it takes away of what the same command moved is lost too.
    pub fn add(&mut self, draft: Draft) {
        let lost = self.lost_after_move(&draft);
        self.add_alone(draft);
        for draft in lost {
            self.add_alone(draft);
        }
    }

    fn add_alone(&mut self, draft: Draft) {
        let Some(draft) = self.moved_away(draft) else { return };
        if draft.kind == EffectKind::Opaque && self.call.bounds.is_some() {
            return self.add_bounded(&draft);
        }
        // Who reads, makes or adds to what an output names takes nothing from it.
        let takes = match draft.kind.file_change() {
            Some(FileChange::Modify) => !self.call.appending,
            Some(FileChange::Delete | FileChange::Permissions) => true,
            Some(FileChange::Create) | None => false,
        };
        let nature = match draft.nature {
            Nature::NamedByOutput if !takes => Nature::Ordinary,
            nature => nature,
        };
        let doubtful = self.position.doubt > 0 || self.shell.doubts.any();
        let effect = Effect {
            certainty: if doubtful { Certainty::Possible } else { draft.certainty },
            depth: draft.depth,
            severity: draft.severity.unwrap_or(Severity::Low),
            reversible: draft.reversible,
            reach: draft.reach,
            nature,
            cause: self.call.cause.clone(),
            note: draft.note,
            ..Effect::new(draft.kind, draft.target)
        };
        if effect.kind == EffectKind::Opaque {
            self.tree.disturb();
        }
        let key = key_of(&effect);
        let known = self.findings.known.get(&key).copied();
        let same = known.filter(|index| *index >= self.findings.apart_from);
        if let Some(known) = same.and_then(|index| self.findings.effects.get_mut(index)) {
            known.certainty = known.certainty.max(effect.certainty);
            return;
        }
        let length = effect.target.text().map_or(0, str::len);
        self.budget.told = self.budget.told.saturating_add(length + effect.note.len());
        if self.findings.effects.len() >= EFFECTS || self.budget.told > TOLD {
            self.give_up();
            return;
        }
        let (kind, target) = (effect.kind, effect.target.clone());
        if let Some(index) = known {
            self.findings.shadowed.push((key.clone(), index));
        }
        self.findings.known.insert(key, self.findings.effects.len());
        self.findings.effects.push(effect.clone());
        self.note_erased(kind, &target);
        self.note_change_of_guard(&effect);
    }

    /// How many effects there are so far.
    pub fn effect_count(&self) -> usize {
        self.findings.effects.len()
    }

    /// The effects that were added since there were `before` of them.
    pub fn effects_since(&self, before: usize) -> impl Iterator<Item = &Effect> {
        self.findings.effects.iter().skip(before)
    }

    /// Whether an effect so far changes something below a directory.
    pub fn has_changed_within(&self, directory: &AbsolutePath) -> bool {
        self.findings.effects.iter().any(|effect| {
            effect.kind.file_change().is_some()
                && effect.target.path().is_some_and(|path| path.is_within(directory))
        })
    }

    /// Runs `work`, of which it is not sure whether it succeeds: what it changes is possible.
    pub fn if_it_succeeds<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.effect_count();
        let answer = work(self);
        self.amend(before, |effect| effect.certainty = Certainty::Possible);
        answer
    }

    /// Changes the effects that were added since there were `before` of them. What may be any file is missed wherever it goes, and in
    /// whatever form.
    pub fn amend(&mut self, before: usize, mut change: impl FnMut(&mut Effect)) {
        for effect in self.findings.effects.iter_mut().skip(before) {
            let is_named = effect.nature == Nature::NamedByOutput;
            change(effect);
            if is_named && matches!(effect.nature, Nature::Ordinary | Nature::Moved) {
                effect.nature = Nature::NamedByOutput;
            }
        }
    }

    /// Lets `work` happen, and then `amend` say of what it added, which is what stands behind the number that it gets, where it happens. Until
    /// then none of it is taken for something that was there before: the same words may mean another cluster, account or database.
    pub fn apart<T>(&mut self, work: impl FnOnce(&mut Self) -> T, amend: impl FnOnce(&mut Self, usize)) -> T {
        let set_apart = self.set_apart();
        let answer = work(self);
        amend(self, set_apart.before);
        self.take_up(set_apart);
        answer
    }

    /// The same in two steps: what is added from here on is told apart until it is taken up.
    pub fn set_apart(&mut self) -> SetApart {
        let before = self.findings.effects.len();
        let outer = std::mem::replace(&mut self.findings.apart_from, before);
        SetApart { before, outer, shadowed: std::mem::take(&mut self.findings.shadowed) }
    }

    /// Takes up what was set apart, and makes one of equal effects.
    pub fn take_up(&mut self, set_apart: SetApart) {
        let SetApart { before, outer, shadowed } = set_apart;
        self.findings.apart_from = outer;
        let shadowed = std::mem::replace(&mut self.findings.shadowed, shadowed);
        if self.findings.effects.len() <= before {
            return;
        }
        let findings = &mut self.findings;
        findings.known.retain(|_, index| *index < before);
        findings.known.extend(shadowed.into_iter().rev().filter(|(_, index)| *index < before));
        for effect in findings.effects.split_off(before) {
            let key = key_of(&effect);
            let known = findings.known.get(&key).copied();
            let same = known.filter(|index| *index >= findings.apart_from);
            if let Some(known) = same.and_then(|index| findings.effects.get_mut(index)) {
                known.certainty = known.certainty.max(effect.certainty);
                continue;
            }
            if let Some(index) = known {
                findings.shadowed.push((key.clone(), index));
            }
            findings.known.insert(key, findings.effects.len());
            findings.effects.push(effect);
        }
    }

    /// What an effect is seen from here when it happens elsewhere; `None` when nothing of it is seen.
    fn moved_away(&self, draft: Draft) -> Option<Draft> {
        let Some(away) = &self.away else { return Some(draft) };
        if let Some(here) = self.on_mounted_file(away, &draft) {
            return Some(here);
        }
        let place = &away.place;
        let kind = match draft.kind {
            EffectKind::SecretRead if away.stay == Lifetime::Lasting => {
                let path = draft.target.text().unwrap_or("a secret").replace(OTHER_HOME, "~");
                let target = Target::Service(format!("{path} in {place}"));
                return Some(Draft { target, ..draft });
            }
            EffectKind::FileRead
            | EffectKind::SecretRead
            | EffectKind::ProcessSpawn
            | EffectKind::NetworkRequest => return None,
            EffectKind::FileDelete | EffectKind::Opaque | EffectKind::RemoteCodeExecution
                if away.stay == Lifetime::Passing =>
            {
                return None;
            }
            EffectKind::FileDelete if is_made_again(&draft.target, away.sort) => {
                EffectKind::InfrastructureChange
            }
            EffectKind::FileDelete if draft.depth == Depth::Recursive => EffectKind::InfrastructureDestroy,
            EffectKind::FileCreate
            | EffectKind::FileModify
            | EffectKind::FileDelete
            | EffectKind::PermissionChange
            | EffectKind::PackageInstall
            | EffectKind::ProcessKill
            | EffectKind::SystemModification
            | EffectKind::PrivilegeEscalation
            | EffectKind::Persistence
            | EffectKind::VcsLocalLoss
            | EffectKind::InfrastructureChange => EffectKind::InfrastructureChange,
            EffectKind::InfrastructureDestroy
            | EffectKind::DataUpload
            | EffectKind::RemoteCodeExecution
            | EffectKind::VcsHistoryRewrite
            | EffectKind::VcsRemoteUpdate
            | EffectKind::DatastoreChange
            | EffectKind::DatastoreDestroy
            | EffectKind::Publish
            | EffectKind::GuardTampering
            | EffectKind::Opaque => return Some(draft.note(format!("inside {place}"))),
        };
        if away.stay == Lifetime::Passing && kind == EffectKind::InfrastructureChange {
            return None;
        }
        let inner = match draft.target.text() {
            Some(text) => format!("{} `{}` inside {place}", verb(draft.kind), text.replace(OTHER_HOME, "~")),
            None => format!("{} something inside {place}", verb(draft.kind)),
        };
        let appending = if self.call.appending { Appending::Yes } else { Appending::No };
        let grave = away.gravity(&draft, appending);
        let draft =
            Draft { kind, target: Target::Service(place.clone()), depth: Depth::Single, ..draft }.note(inner);
        Some(match grave {
            Some(severity) => draft.severity(severity),
            None => draft,
        })
    }

    /// Adds that a host is talked to, with how far away it is.
    pub fn host(&mut self, url: &Value, upload: Upload) {
        let kind = match upload {
            Upload::No => EffectKind::NetworkRequest,
            Upload::Yes => EffectKind::DataUpload,
        };
        let texts = url.alternatives().map(<[String]>::to_vec);
        if let Some(texts) = texts {
            let several = texts.len() > 1;
            for text in texts {
                let known = known_hosts::reach(&text);
                let reach = if upload == Upload::Yes && known == NetworkReach::Known {
                    NetworkReach::External
                } else {
                    known
                };
                let draft = Draft::new(kind, Target::Host(text)).reach(reach);
                self.add(if several { draft.possible() } else { draft });
            }
        } else {
            let start = url.known_start();
            let scheme = start.find("://").map_or(0, |at| at + 3);
            let has_host = start.get(scheme..).is_some_and(|rest| rest.contains('/'));
            let reach = if has_host { known_hosts::reach(&start) } else { NetworkReach::External };
            let reach = if upload == Upload::Yes && reach == NetworkReach::Known {
                NetworkReach::External
            } else {
                reach
            };
            let target = if has_host { Target::Host(start) } else { Target::Unknown };
            self.add(Draft::new(kind, target).reach(reach));
        }
    }

    /// Adds that something runs of which it is not known what it does.
    pub fn opaque(&mut self, note: impl Into<String>) {
        let target = if self.call.cause.is_empty() {
            Target::Unknown
        } else {
            Target::Process(self.call.cause.clone())
        };
        self.add(Draft::new(EffectKind::Opaque, target).note(note));
    }

    /// Adds that something runs which was made to be run unread: text for a shell from nowhere, a script outside the workspace.
    pub fn unread(&mut self, note: impl Into<String>) {
        let target = if self.call.cause.is_empty() {
            Target::Unknown
        } else {
            Target::Process(self.call.cause.clone())
        };
        self.add(Draft::new(EffectKind::Opaque, target).severity(Severity::High).note(note));
    }

    /// Remembers that a variable may hold what is typed later, where nobody reviews that.
    pub(crate) fn note_typed(&mut self, input: &Input) {
        if *input == Input::Inherited && self.world.typing() == Typing::Unseen {
            self.reads_typed = true;
        }
    }

    /// Adds that what was typed decides on what a command works: which file, host or program it is, no review sees.
    pub(crate) fn note_typed_targets(&mut self) {
        let is_unknown = |effect: &Effect| {
            effect.kind == EffectKind::Opaque
                || effect.target == Target::Unknown
                    && (effect.kind.is_mutating() || effect.kind == EffectKind::FileRead)
        };
        if self.reads_typed && self.findings.effects.iter().any(is_unknown) {
            self.left_open("what reads it");
        }
    }

    /// Adds that a program stays open which runs what is typed into it later, where the client lets the agent type without a review.
    pub fn left_open(&mut self, program: &str) {
        self.findings.left_open = LeftOpen::Program;
        if self.world.typing() == Typing::Unseen {
            self.unread(format!(
                "`{program}` stays open, and what is typed into it later is not reviewed; give it its commands in the call itself: as an \
                 option, through a pipe or a here-document"
            ));
        }
    }

    /// Adds that a script or program runs that is not there to be read. In the workspace a build makes such things, and among the
    /// files of the system nobody does without being seen; where everybody may write, somebody else may have. In the home directory
    /// what is not there when it is looked for does not run.
    pub(crate) fn not_there(&mut self, name: &str, path: &AbsolutePath) {
        let note = format!("`{name}` is not there to be read");
        let target = if self.call.cause.is_empty() {
            Target::Unknown
        } else {
            Target::Process(self.call.cause.clone())
        };
        let draft = Draft::new(EffectKind::Opaque, target).nature(Nature::NotThere).note(note);
        let place = self.world.place();
        let stays_away = path.is_within(&place.home) && !self.is_temporary(path) && self.nothing_is_at(path);
        let is_of_a_build = path.is_within(&place.workspace) || !self.is_within_reach(path) || stays_away;
        self.add(if is_of_a_build { draft } else { draft.severity(Severity::High) });
    }

    /// Whether nothing is at a place, and nothing that this command did before can have put something there.
    pub fn nothing_is_at(&self, path: &AbsolutePath) -> bool {
        !self.tree.is_disturbed()
            && !self.flow.ends.contains_key(path.as_str())
            && self.entry(path) == Entry::Missing
    }

    /// Adds that an interpreter is given a script that is not there to be read: it weighs as code that is not known, and more where everybody
    /// may write.
    pub fn script_not_there(&mut self, name: &str, path: &AbsolutePath) {
        let target = if self.call.cause.is_empty() {
            Target::Unknown
        } else {
            Target::Process(self.call.cause.clone())
        };
        let note = format!("`{name}` is not there to be read");
        let draft = Draft::new(EffectKind::Opaque, target).nature(Nature::NotThere).note(note);
        self.add(if self.is_temporary(path) { draft.severity(Severity::High) } else { draft });
    }
}

/// Whether what a deletion elsewhere takes is made again there. Of a pattern the directory counts in which its names lie.
fn is_made_again(target: &Target, sort: PlaceSort) -> bool {
    let path = match target {
        Target::Path(path) => Some(path.clone()),
        Target::Glob(pattern) => {
            let base = pattern.split(['*', '?', '[', '{']).next().unwrap_or(pattern);
            let (directory, start) = base.rsplit_once('/').unwrap_or((base, ""));
            // Some of the temporary files: all of them lie below the directory.
            AbsolutePath::new(&if start.is_empty() { format!("{directory}/x") } else { base.to_owned() })
        }
        Target::Host(_)
        | Target::Process(_)
        | Target::Service(_)
        | Target::Reference(_)
        | Target::Unknown => None,
    };
    path.is_some_and(|path| match sort {
        PlaceSort::Container => is_made_again_in_container(&path),
        PlaceSort::Machine => is_temporary_elsewhere(&path),
    })
}

/// A target with a name of its own, when the name is known.
fn named(value: &Value, make: fn(String) -> Target) -> Target {
    value.as_exact().map_or(Target::Unknown, |text| make(text.to_owned()))
}

/// Effects that are told apart from what was there before.
#[derive(Debug)]
pub struct SetApart {
    before: usize,
    outer: usize,
    shadowed: Vec<(Effect, usize)>,
}

/// What an effect is known by: how sure it is may be said twice.
fn key_of(effect: &Effect) -> Effect {
    Effect { certainty: Certainty::Possible, ..effect.clone() }
}

/// The host of `/dev/tcp/host/port`.
pub(crate) fn socket_host(path: &str) -> String {
    let mut parts = path.trim_start_matches("/dev/tcp/").trim_start_matches("/dev/udp/").split('/');
    let host = parts.next().unwrap_or_default();
    match parts.next() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

/// What an effect does to its target, as a verb for people.
fn verb(kind: EffectKind) -> &'static str {
    match kind {
        EffectKind::FileRead | EffectKind::SecretRead => "reads",
        EffectKind::FileCreate => "creates",
        EffectKind::FileModify
        | EffectKind::SystemModification
        | EffectKind::InfrastructureChange
        | EffectKind::DatastoreChange => "changes",
        EffectKind::FileDelete => "deletes",
        EffectKind::PermissionChange => "changes the permissions of",
        EffectKind::NetworkRequest => "connects to",
        EffectKind::DataUpload => "sends data to",
        EffectKind::RemoteCodeExecution => "runs code from",
        EffectKind::PackageInstall => "installs",
        EffectKind::ProcessSpawn => "starts",
        EffectKind::ProcessKill => "ends",
        EffectKind::PrivilegeEscalation => "runs with the permissions of",
        EffectKind::Persistence => "has run later",
        EffectKind::VcsLocalLoss => "discards",
        EffectKind::VcsHistoryRewrite => "rewrites",
        EffectKind::VcsRemoteUpdate => "updates",
        EffectKind::InfrastructureDestroy | EffectKind::DatastoreDestroy => "destroys",
        EffectKind::Publish => "publishes",
        EffectKind::GuardTampering => "weakens",
        EffectKind::Opaque => "does what cannot be determined to",
    }
}
