//! git's configuration.
//!
//! | module | holds |
//! |---|---|
//! | `command` | `git config` |
//! | `file` | the text of a file of settings, with what it includes |
//! | `meaning` | which settings name code that git runs, or say where things come from and go |
//! | `of_variables` | settings that the environment gives |

mod command;
mod file;
mod meaning;
mod of_variables;

pub(super) use crate::interpreter::git_settings::runs_code;
pub(super) use file::{parse, split_words};
pub(super) use meaning::is_harmless_program;

use crate::interpreter::{Exit, Machine, Value};
use crate::path::AbsolutePath;
use crate::world::Entry;

use super::Git;
use super::options::Words;
use file::{included, with_included};

/// Settings by their names in lower case (`alias.wipe`, `remote.origin.url`); later ones win.
#[derive(Debug, Default)]
pub(super) struct Settings {
    /// From files.
    kept: Vec<(String, String)>,
    /// From this call: `-c` and the environment.
    given: Vec<(String, Value)>,
    /// Files that this call includes and that were read, as they are named.
    included: Vec<String>,
    /// Whether a file of settings is there that cannot be read.
    unread: bool,
}

impl Settings {
    /// The greatest number of aliases that lead to one another (ours).
    pub(super) const ALIAS_DEPTH: usize = 8;

    /// Adds a setting for this call.
    pub(super) fn give(&mut self, key: &str, value: Value) {
        self.given.push((key.to_ascii_lowercase(), value));
    }

    /// Adds what stands behind `-c`.
    pub(super) fn give_assignment(&mut self, word: &Value) {
        let Some(text) = word.as_exact() else {
            // The name may be known although the value is not: `-c core.pager="$X"`.
            let start = word.known_start();
            let key = start.split_once('=').map_or("core.sshcommand", |(key, _)| key);
            self.give(key, Value::Unknown);
            return;
        };
        let (key, value) = text.split_once('=').unwrap_or((text, "true"));
        self.give(key, Value::exact(value));
    }

    /// The work tree that the configuration of a repository names; git looks for it in these two files alone.
    pub(super) fn work_tree(machine: &Machine<'_>, repository: &AbsolutePath) -> Option<String> {
        let read = |name: &str| {
            let text = machine.text(&repository.join(name));
            text.as_exact().map(parse).unwrap_or_default()
        };
        let last = |settings: &[(String, String)], key: &str| {
            settings.iter().rev().find(|(name, _)| name == key).map(|(_, value)| value.clone())
        };
        let own = read("config");
        let apart = last(&own, "extensions.worktreeconfig")
            .filter(|value| !matches!(value.as_str(), "false" | "no" | "off" | "0"))
            .map(|_| read("config.worktree"))
            .unwrap_or_default();
        last(&apart, "core.worktree").or_else(|| last(&own, "core.worktree"))
    }

    /// Reads the files of the user and of the repository.
    pub(super) fn read(&mut self, machine: &Machine<'_>, directory: Option<&AbsolutePath>) {
        let place = &machine.world().place().home;
        let named = |name: &str| {
            let text =
                machine.variable(name)?.as_exact().map(str::to_owned).filter(|text| !text.is_empty())?;
            machine.cwd().map(|cwd| cwd.join(&text))
        };
        let home = named("HOME").unwrap_or_else(|| place.clone());
        let kept = named("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
        let shared = directory.map(|directory| shared_by_work_trees(machine, directory));
        let files = [
            named("GIT_CONFIG_SYSTEM"),
            named("GIT_CONFIG_GLOBAL").or_else(|| Some(kept.join("git/config"))),
            Some(home.join(".gitconfig")).filter(|_| named("GIT_CONFIG_GLOBAL").is_none()),
            shared.map(|shared| shared.join("config")),
        ];
        for file in files.into_iter().flatten() {
            let settings = with_included(machine, &home, &file, 0);
            self.unread |= settings.is_none() && matches!(machine.entry(&file), Entry::File(_));
            self.kept.extend(settings.unwrap_or_default());
        }
        let named: Vec<String> = (self.given.iter().filter(|(key, _)| key == "include.path"))
            .filter_map(|(_, value)| value.as_exact().map(str::to_owned))
            .collect();
        for name in named {
            // Behind `-c` git takes no name that is relative.
            let Some(file) = included(&home, &AbsolutePath::root(), &name) else { continue };
            if let Some(settings) = with_included(machine, &home, &file, 0) {
                self.included.push(name);
                self.given.extend(settings.into_iter().map(|(key, value)| (key, Value::Exact(value))));
            }
        }
    }

    /// Whether settings stand in a file that cannot be read.
    pub(super) fn is_partly_unread(&self) -> bool {
        self.unread
    }

    /// Whether the file that `include.path` of this call names was read.
    pub(super) fn has_read(&self, name: &Value) -> bool {
        name.as_exact().is_some_and(|name| self.included.iter().any(|read| read == name))
    }

    /// The value of a setting.
    pub(super) fn value(&self, key: &str) -> Option<Value> {
        let given = self.given.iter().rev().find(|(name, _)| name == key).map(|(_, value)| value.clone());
        given.or_else(|| {
            self.kept.iter().rev().find(|(name, _)| name == key).map(|(_, value)| Value::exact(value.clone()))
        })
    }

    /// The value of a setting that this call was given.
    pub(super) fn given_value(&self, key: &str) -> Option<Value> {
        self.given.iter().rev().find(|(name, _)| name == key).map(|(_, value)| value.clone())
    }

    /// The value of a setting as exact text.
    pub(super) fn exact(&self, key: &str) -> Option<String> {
        self.value(key)?.as_exact().map(str::to_owned)
    }

    /// All values of a setting that may have several.
    pub(super) fn all(&self, key: &str) -> Vec<String> {
        let given =
            self.given.iter().filter(|(name, _)| name == key).filter_map(|(_, value)| value.as_exact());
        let kept = self.kept.iter().filter(|(name, _)| name == key).map(|(_, value)| value.as_str());
        kept.chain(given).map(str::to_owned).collect()
    }

    /// The addresses that a push to a remote goes to (git-push(1), "Git URLs", "Remotes"): those that are set for pushing, else all of it, as other
    /// settings rewrite them. What names no remote is an address itself.
    pub(super) fn push_addresses(&self, remote: &str) -> Vec<String> {
        let for_pushing = self.all(&format!("remote.{remote}.pushurl"));
        if !for_pushing.is_empty() {
            return for_pushing.iter().map(|address| self.rewritten(address, ".insteadof")).collect();
        }
        let mut addresses = self.all(&format!("remote.{remote}.url"));
        if addresses.is_empty() {
            addresses.push(remote.to_owned());
        }
        let for_push = |address: &String| {
            let rewritten = self.rewritten(address, ".pushinsteadof");
            if rewritten == *address { self.rewritten(address, ".insteadof") } else { rewritten }
        };
        addresses.iter().map(for_push).collect()
    }

    /// An address with its beginning replaced as `url.BASE.insteadOf` says: the longest that fits counts (git-config(1)).
    fn rewritten(&self, address: &str, ending: &str) -> String {
        let given = self.given.iter().filter_map(|(key, value)| Some((key.as_str(), value.as_exact()?)));
        let kept = self.kept.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        let fits = kept.chain(given).filter_map(|(key, beginning)| {
            let base = key.strip_prefix("url.")?.strip_suffix(ending)?;
            Some((base, beginning, address.strip_prefix(beginning)?))
        });
        let longest = fits.max_by_key(|(_, beginning, _)| beginning.len());
        longest.map_or_else(|| address.to_owned(), |(base, _, rest)| format!("{base}{rest}"))
    }

    /// The name of the remote, where there is one alone.
    pub(super) fn only_remote(&self) -> Option<String> {
        let remote_of = |key: &str| {
            let rest = key.strip_prefix("remote.")?;
            rest.strip_suffix(".url").or_else(|| rest.strip_suffix(".pushurl")).map(str::to_owned)
        };
        let mut names: Vec<String> = self.kept.iter().filter_map(|(key, _)| remote_of(key)).collect();
        names.sort();
        names.dedup();
        if names.len() == 1 { names.pop() } else { None }
    }

    /// The addresses of the remotes that files of settings name.
    pub(super) fn remote_addresses(&self) -> impl Iterator<Item = &str> {
        let is_address = |key: &str| {
            key.strip_prefix("remote.")
                .is_some_and(|rest| rest.ends_with(".url") || rest.ends_with(".pushurl"))
        };
        self.kept.iter().filter(move |(key, _)| is_address(key)).map(|(_, address)| address.as_str())
    }

    /// Whether the call itself gives the setting.
    pub(super) fn is_given(&self, key: &str) -> bool {
        self.given.iter().any(|(name, _)| name == key)
    }

    /// The addresses that the call itself puts in the place of others (`url.BASE.insteadOf`, `url.BASE.pushInsteadOf`).
    pub(super) fn given_rewrites(&self) -> Vec<Value> {
        let base = |key: &str| {
            let part = key.strip_prefix("url.")?;
            part.strip_suffix(".pushinsteadof").or_else(|| part.strip_suffix(".insteadof")).map(Value::exact)
        };
        self.given.iter().filter_map(|(key, _)| base(key)).collect()
    }

    /// Settings of this call that name code to run, with their values.
    pub(super) fn given_code(&self) -> Vec<(String, Value)> {
        self.given.iter().filter(|(key, _)| runs_code(key) && !key.starts_with("alias.")).cloned().collect()
    }
}

/// Runs `git config`, `git remote` and what else only changes settings; `None` for others.
pub(super) fn run(git: &mut Git<'_, '_>, name: &str, words: &Words) -> Option<Exit> {
    Some(match name {
        "config" => command::config(git, words),
        "lfs" => {
            if words.operand(0) == Some("push") {
                git.note_strange_remote(words.operands().get(1));
            }
            lfs(git, words)
        }
        "lfs-install" => git.touch(""),
        _ => return None,
    })
}

fn lfs(git: &mut Git<'_, '_>, words: &Words) -> Exit {
    match words.operand(0) {
        Some("push") => {
            git.remote_update(&["lfs objects"], "");
            Exit::silent()
        }
        Some("fetch") => {
            git.ask_remote(None);
            git.touch("")
        }
        Some("pull" | "checkout") => {
            git.change_tree("files of git lfs get their content");
            git.touch("")
        }
        Some("migrate") if words.operand(1) != Some("info") => {
            git.rewrite_all("rewrites the commits that hold the files");
            Exit::silent()
        }
        Some("track" | "untrack") => {
            if let Some(cwd) = git.cwd.clone() {
                git.machine.write(&Value::exact(cwd.join(".gitattributes").as_str()));
            }
            Exit::silent()
        }
        Some("prune") if words.has("--dry-run") || words.has("-d") => Exit::unknown(),
        Some("prune") => {
            // What the remote does not have stays, with `--force` as well (git-lfs-prune(1), "UNPUSHED LFS FILES").
            git.touch("")
        }
        Some("install" | "uninstall" | "update" | "lock" | "unlock" | "dedup") => git.touch(""),
        Some(_) | None => Exit::unknown(),
    }
}

/// The directory with what all work trees of a repository share (gitrepository-layout(5), "commondir").
pub(super) fn shared_by_work_trees(machine: &Machine<'_>, directory: &AbsolutePath) -> AbsolutePath {
    let place = directory.join("commondir");
    if machine.entry(&place) == Entry::Missing {
        return directory.clone();
    }
    let text = machine.text(&place);
    text.as_exact().map_or_else(|| directory.clone(), |shared| directory.join(shared.trim_end()))
}
