//! Words that nobody here reads: a command behind the name of a program that runs it in a way of its own, shell text in an operand or
//! behind a `!` of what comes in.
//!
//! Whether such a program runs them is not known, so that only what nobody could live with is told: the loss of a home, of the system, of
//! what proves who somebody is. What programs are read through, and what handlers follow, is theirs to say.

use checkrein_catalogue::Program;

use super::call::{Call, Input};
use super::lookup::Lookup;
use super::machine::Machine;
use super::statements::Done;
use super::value::Value;
use crate::effect::{Certainty, Effect, EffectKind, Target};
use crate::path::AbsolutePath;
use crate::places;
use crate::world::{Entry, PathPattern, VersionState};

/// Programs that take something away, or overwrite it, by operands that are words of their own.
const TAKING: &[&str] = &["rm", "rmdir", "unlink", "shred", "srm", "wipe", "truncate", "find", "dd"];
/// Programs with which a command begins that fetches something and runs it, or carries something out.
const REACHING: &[&str] = &[
    "curl", "wget", "fetch", "aria2c", "xh", "nc", "ncat", "socat", "openssl", "base64", "cat", "tar", "env",
    "sudo", "doas", "eval", "source",
];
/// How programs of all kinds call the taking away of what follows, as a word or as an option.
const VERBS: &[&str] = &["remove", "rm", "delete", "del", "erase", "purge", "destroy", "nuke", "obliterate"];
/// Shells, of which the text is an operand.
const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "ksh"];
/// How the names of interpreters begin whose code is followed: what is opaque of it says so itself.
const FOLLOWED: &[&str] =
    &["python", "pypy", "node", "deno", "bun", "tsx", "ts-node", "perl", "ruby", "php", "lua"];
/// The interpreters of files of code, by their endings.
const CODE: &[(&[&str], &str)] = &[
    (&["py"], "python3"),
    (&["js", "cjs", "mjs", "ts", "mts", "cts"], "node"),
    (&["rb"], "ruby"),
    (&["php"], "php"),
    (&["lua"], "lua"),
    (&["pl"], "perl"),
    (&["sh", "bash"], "bash"),
];
/// The greatest number of texts of one call that are tried (ours).
const TEXTS: usize = 6;
/// The greatest number of lines of an input that are looked at (ours).
const LINES: usize = 64;

/// Behind what a language of its own hands a text to a shell.
const ESCAPES: &[&str] = &["!", "syscmd(", "system(", "exec(", "shell(", "spawn("];

/// Of which losses something is told that may not be run at all.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Losses {
    /// Those that nobody could live with.
    Ruinous,
    /// What lies in the home directory outside the workspace too.
    AtHome,
    /// What is fetched and run, too, and credentials that go out.
    ToOthers,
}

/// What may be run.
enum Carried {
    Text(String),
    Words(Vec<Value>),
    /// A command in the quotes of code, which fetches something or carries it out.
    Reaching(String),
    /// An interpreter and a file.
    Code(Vec<Value>),
}

impl Machine<'_> {
    /// Adds, as possible, the grave losses that the words of a call name and that nothing has followed since there were `count` effects
    /// and `commands` commands.
    pub(super) fn note_unread_words(
        &mut self,
        call: &Call,
        program: Option<&Program>,
        count: usize,
        commands: usize,
    ) {
        if self.budget.guessing || self.away.is_some() || self.table.is_read_through(&call.program) {
            return;
        }
        let is_opaque = self.effects_since(count).any(|effect| effect.kind == EffectKind::Opaque);
        let ran = self.findings.commands.len() > commands;
        let is_followed = program.is_some_and(|program| {
            // What its options were to run can be found, and where nothing was the words may be what is run.
            let is_code = is_opaque
                && program.semantics.as_deref() == Some("interpreter")
                && !FOLLOWED.iter().any(|name| call.program.starts_with(name));
            program.semantics.is_some() && !is_code || !program.runs.is_empty() && ran && !is_opaque
        });
        let is_sorted = program.is_some_and(|program| !program.subcommands.is_empty());
        let is_known = program.is_some_and(|program| {
            let is_name = |word: &Value| {
                word.as_exact().is_some_and(|word| {
                    program.subcommands.iter().any(|known| known.names.iter().any(|name| name == word))
                })
            };
            call.words.iter().any(is_name)
        });
        if is_followed || is_known && !is_opaque {
            return;
        }
        let mut all = carried(call);
        if program.is_none() || is_opaque {
            all.extend(
                call.words
                    .iter()
                    .filter_map(Value::as_exact)
                    .filter_map(reaching_command)
                    .map(Carried::Reaching),
            );
        }
        if program.is_none() {
            // Of a program that is known it is known what it calls so.
            let is_taking = |word: &Value| word.as_exact().is_some_and(|word| TAKING.contains(&word));
            if !call.words.iter().any(is_taking) {
                all.extend(removals(&call.words).map(Carried::Words));
            }
            // Whatever a program does with code that the session wrote, it may run it.
            all.extend(self.code_of_session(call));
        }
        for carried in all {
            // The texts of a subcommand that is known are names and messages.
            if is_sorted && !is_opaque && matches!(carried, Carried::Text(_)) {
                continue;
            }
            self.try_carried(call, &carried);
        }
    }

    /// Adds, as possible, the grave losses that words name which go to a program that nobody here reads, or of which not even the name is
    /// known.
    pub fn note_words_for_others(&mut self, words: &[Value]) {
        if self.budget.guessing || self.away.is_some() {
            return;
        }
        for words in [forced_removal(words), taken_by_verb(words)].into_iter().flatten() {
            self.keep_grave_losses(Losses::Ruinous, |machine| {
                machine.call_words(&words, Lookup::NoFunctions)
            });
        }
        let call = self.call_of("", "", words);
        let texts = carried(&call).into_iter().filter(|carried| matches!(carried, Carried::Text(_)));
        for carried in texts.collect::<Vec<_>>() {
            self.try_carried(&call, &carried);
        }
    }

    /// Runs as possible what a call seems to carry.
    fn try_carried(&mut self, call: &Call, carried: &Carried) {
        let losses = match carried {
            Carried::Text(text) if is_given_to_run(call, text) => Losses::AtHome,
            Carried::Code(_) => Losses::AtHome,
            Carried::Reaching(_) => Losses::ToOthers,
            Carried::Text(_) | Carried::Words(_) => Losses::Ruinous,
        };
        self.keep_grave_losses(losses, |machine| match carried {
            Carried::Text(text) | Carried::Reaching(text) => machine.run_here(&Value::exact(text)),
            Carried::Code(words) | Carried::Words(words) => machine.call_words(words, Lookup::NoFunctions),
        });
    }

    /// The commands that would run the files of code that a call names, as far as the session may have written them.
    fn code_of_session(&self, call: &Call) -> Vec<Carried> {
        let mut found = Vec::new();
        for word in call.words.iter().filter(|word| !word.known_start().starts_with('-')) {
            let Some((_, ending)) = word.as_exact().and_then(|text| text.rsplit_once('.')) else { continue };
            let Some((_, interpreter)) = CODE.iter().find(|(endings, _)| endings.contains(&ending)) else {
                continue;
            };
            let Some(path) = self.one_path_through(word) else { continue };
            let is_new = self.is_of_session(&path)
                || self.came_in_session(&path)
                || self.world().version(&path) != VersionState::TrackedClean;
            if is_new && found.len() < TEXTS && matches!(self.entry(&path), Entry::File(_)) {
                found.push(Carried::Code(vec![Value::exact(*interpreter), word.clone()]));
            }
        }
        found
    }

    /// Runs `work` as something that may happen; of what it does only grave losses stay, and that it was too much to follow.
    fn keep_grave_losses(&mut self, losses: Losses, work: impl FnOnce(&mut Self) -> Done) {
        let (before, tree, absent) = (self.findings.effects.len(), self.tree.clone(), self.absent.clone());
        let (programs, commands) = (self.findings.programs.len(), self.findings.commands.len());
        let was_exhausted = self.budget.exhausted;
        self.budget.guessing = true;
        self.possibly(|machine| machine.in_subshell(work));
        self.budget.guessing = false;
        (self.tree, self.absent) = (tree, absent);
        self.findings.programs.truncate(programs);
        self.findings.commands.truncate(commands);
        let found = self.findings.effects.split_off(before);
        let home = self.world.place().home.clone();
        let reads_credential = losses == Losses::ToOthers
            && found.iter().any(|effect| {
                let credential = effect.target.path().and_then(|path| places::credential(path, &home));
                matches!(effect.kind, EffectKind::FileRead | EffectKind::SecretRead) && credential.is_some()
            });
        let goes_out = found.iter().any(|effect| effect.kind == EffectKind::DataUpload);
        self.findings.known.retain(|_, index| *index < before);
        for effect in found
            .into_iter()
            .filter(|effect| {
                let is_carried_out = reads_credential
                    && goes_out
                    && matches!(
                        effect.kind,
                        EffectKind::FileRead | EffectKind::SecretRead | EffectKind::DataUpload
                    );
                is_carried_out || self.is_grave_loss(effect, losses)
            })
            .collect::<Vec<_>>()
        {
            let effect = Effect { certainty: Certainty::Possible, cause: self.call.cause.clone(), ..effect };
            if self.findings.known.insert(effect.clone(), self.findings.effects.len()).is_none() {
                self.findings.effects.push(effect);
            }
        }
        if self.budget.exhausted && !was_exhausted {
            self.budget.exhausted = false;
            self.give_up();
        }
    }

    /// Whether an effect takes a home, the system or a credential away.
    fn is_grave_loss(&self, effect: &Effect, losses: Losses) -> bool {
        if losses == Losses::ToOthers
            && matches!(effect.kind, EffectKind::RemoteCodeExecution | EffectKind::GuardTampering)
        {
            return true;
        }
        if effect.kind != EffectKind::FileDelete && effect.kind != EffectKind::FileModify {
            return false;
        }
        let place = self.world.place();
        let is_grave = |path: &AbsolutePath| {
            place.home.is_within(path)
                || losses == Losses::AtHome
                    && path.is_within(&place.home)
                    && effect.kind == EffectKind::FileDelete
                    && !path.is_within(&place.workspace)
                    && !self.is_temporary(path)
                || place.workspace.is_within(path) && *path != place.workspace
                || places::system_place(path).is_some()
                || places::credential(path, &place.home).is_some()
        };
        match &effect.target {
            Target::Path(path) => is_grave(path),
            Target::Glob(text) => PathPattern::new(text)
                .is_some_and(|pattern| pattern.names_everything() && is_grave(&pattern.base)),
            _ => false,
        }
    }
}

/// Whether a text stands behind an option by which programs are told what to run.
fn is_given_to_run(call: &Call, text: &str) -> bool {
    const OPTIONS: &[&str] =
        &["-c", "-e", "-x", "--command", "--commands", "--exec", "--execute", "--eval", "--run"];
    call.words.windows(2).any(|words| {
        let [option, value] = words else { return false };
        option.as_exact().is_some_and(|option| OPTIONS.contains(&option))
            && value.as_exact().is_some_and(|value| value.ends_with(text))
    })
}

/// The calls of `rm` that words may stand for: by its options, and by a verb among them.
fn removals(words: &[Value]) -> impl Iterator<Item = Vec<Value>> {
    forced_removal(words).into_iter().chain(taken_by_verb(words))
}

/// The call of `rm` that words would make which hold both options of `rm -rf`.
fn forced_removal(words: &[Value]) -> Option<Vec<Value>> {
    let has = |letters: &[char], long: &str| {
        words.iter().filter_map(Value::as_exact).any(|word| {
            let cluster = word.strip_prefix('-').filter(|rest| rest.chars().all(|c| c.is_ascii_alphabetic()));
            word == long || cluster.is_some_and(|cluster| cluster.contains(letters))
        })
    };
    let is_forced = has(&['r', 'R'], "--recursive") && has(&['f'], "--force");
    is_forced.then(|| std::iter::once(Value::exact("rm")).chain(words.iter().cloned()).collect())
}

/// What words take away by a verb among them: the operands behind it.
fn taken_by_verb(words: &[Value]) -> Option<Vec<Value>> {
    let is_verb = |word: &Value| {
        let word = word.as_exact().map(|word| word.trim_start_matches("--").to_ascii_lowercase());
        word.is_some_and(|word| VERBS.contains(&word.as_str()))
    };
    let at = words.iter().position(is_verb)?;
    let operands = words.get(at + 1..)?.iter().filter(|word| !word.known_start().starts_with('-'));
    let taking = ["rm", "-rf", "--"].map(Value::exact);
    let all: Vec<Value> = taking.into_iter().chain(operands.cloned()).collect();
    (all.len() > 3).then_some(all)
}

/// The commands that the words and the input of a call seem to hold.
fn carried(call: &Call) -> Vec<Carried> {
    let mut found = Vec::new();
    for (index, word) in call.words.iter().enumerate() {
        let Some(text) = word.as_exact() else { continue };
        let base = text.rsplit('/').next().unwrap_or(text);
        let rest = call.words.get(index..).unwrap_or_default();
        if TAKING.contains(&base) && rest.len() > 1
            || SHELLS.contains(&base) && rest.get(1).and_then(Value::as_exact) == Some("-c")
        {
            found.push(Carried::Words(rest.to_vec()));
            break;
        }
        found.extend(command_within(text).map(Carried::Text));
    }
    if let Input::Text(text) = &call.input
        && let Some(text) = text.as_exact()
    {
        let escaped = text.lines().take(LINES).filter_map(|line| {
            let starts = ESCAPES.iter().filter_map(|escape| Some(line.find(escape)? + escape.len()));
            line.get(starts.min()?..)
        });
        found.extend(escaped.filter_map(command_within).map(Carried::Text));
    }
    found.truncate(TEXTS);
    found
}

/// The command that stands in quotes of a text that is code by its look, and that reaches out.
fn reaching_command(text: &str) -> Option<String> {
    const MARKS: [char; 4] = ['(', '[', '{', '<'];
    // What holds no quotes is no code; what has no bracket is a sentence with a quotation.
    if !text.contains(['"', '\'', '`']) || !text.contains(MARKS) {
        return None;
    }
    let pieces = ['"', '\'', '`'].into_iter().flat_map(|quote| text.split(quote).skip(1));
    pieces
        .filter(|piece| piece.contains(['|', ';', '&', '$', '<', '@']))
        .find(|piece| {
            let first = piece.split_whitespace().next().unwrap_or_default();
            let name = first.rsplit('/').next().unwrap_or(first);
            piece.len() > first.len() && (REACHING.contains(&name) || SHELLS.contains(&name))
        })
        .map(str::to_owned)
}

/// The command in a text from the name of a program on that takes something away; `None` where there is none.
fn command_within(text: &str) -> Option<String> {
    if !text.contains(char::is_whitespace) {
        return None;
    }
    let is_bound = |c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '_' | '.' | '/');
    let mut from = 0;
    loop {
        let rest = text.get(from..)?;
        let start = from + rest.find(|c: char| !is_bound(c))?;
        let word = text.get(start..)?.split(is_bound).next()?;
        let end = start + word.len();
        let follows = text.get(end..)?.chars().next().is_some_and(char::is_whitespace);
        let base = word.rsplit('/').next().unwrap_or(word);
        // Behind a blank it is a word of a sentence.
        let before = text.get(..start).and_then(|before| before.chars().last());
        let begins = before.is_none_or(|before| !before.is_whitespace());
        if begins && follows && (TAKING.contains(&base) || SHELLS.contains(&base)) {
            let command = text.get(start..)?;
            return Some(
                match before {
                    // m4 quotes with a back-tick and an apostrophe.
                    Some('`') => command.split(['`', '\'']).next().unwrap_or(command),
                    Some(quote @ ('"' | '\'')) => command.split(quote).next().unwrap_or(command),
                    Some('(') => command.split(')').next().unwrap_or(command),
                    Some('{') => command.split('}').next().unwrap_or(command),
                    Some('[') => command.split(']').next().unwrap_or(command),
                    Some(_) | None => command,
                }
                .to_owned(),
            );
        }
        from = end;
    }
}
