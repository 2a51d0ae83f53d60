//! git's configuration: reading it, what in it makes git run code, and `git config`.

mod of_variables;

use crate::effect::{EffectKind, NetworkReach, Severity, Target};
use crate::interpreter::known_hosts;
use crate::interpreter::{Draft, Exit, Machine, Value};
use crate::nature::Nature;
use crate::path::AbsolutePath;
use crate::world::Entry;

use super::Git;
use super::options::Words;
use super::written_settings::SettingChange;

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
        "config" => config(git, words),
        "lfs" => lfs(git, words),
        "lfs-install" => git.touch(""),
        _ => return None,
    })
}

/// Whether a setting names code that git runs.
pub(super) fn runs_code(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let fixed = [
        "core.pager",
        "core.editor",
        "sequence.editor",
        "core.sshcommand",
        "core.fsmonitor",
        "core.hookspath",
        "core.gitproxy",
        "core.askpass",
        "core.alternaterefscommand",
        "diff.external",
        "interactive.difffilter",
        "gpg.program",
        "uploadpack.packobjectshook",
        "credential.helper",
        "include.path",
        "init.templatedir",
        "ssh.command",
        "sendemail.smtpserver",
        "imap.tunnel",
        "instaweb.httpd",
        "instaweb.browser",
        "web.browser",
        "receive.procreceiverefs",
        "trailer.command",
    ];
    let grouped = [
        ("alias.", ""),
        ("pager.", ""),
        ("filter.", ".clean"),
        ("filter.", ".smudge"),
        ("filter.", ".process"),
        ("diff.", ".textconv"),
        ("diff.", ".command"),
        ("merge.", ".driver"),
        ("difftool.", ".cmd"),
        ("difftool.", ".path"),
        ("mergetool.", ".cmd"),
        ("mergetool.", ".path"),
        ("gpg.", ".program"),
        ("gpg.", ".defaultkeycommand"),
        ("sendemail.", "cmd"),
        ("sendemail.", ".smtpserver"),
        ("man.", ".path"),
        ("url.ext::", ".insteadof"),
        ("url.ext::", ".pushinsteadof"),
        ("lfs.customtransfer.", ".path"),
        ("lfs.extension.", ".clean"),
        ("lfs.extension.", ".smudge"),
        ("credential.", ".helper"),
        ("includeif.", ".path"),
        ("browser.", ".cmd"),
        ("remote.", ".uploadpack"),
        ("remote.", ".receivepack"),
        ("remote.", ".vcs"),
        ("hook.", ".command"),
        ("trailer.", ".cmd"),
        ("trailer.", ".command"),
        ("submodule.", ".update"),
        ("protocol.ext", ".allow"),
        ("tar.", ".command"),
        ("man.", ".cmd"),
        ("guitool.", ".cmd"),
    ];
    fixed.contains(&key.as_str())
        || grouped.iter().any(|(start, end)| key.starts_with(start) && key.ends_with(end))
}

/// The address that a setting puts in the place of others, where it is one of a host that is not known (`url.BASE.insteadOf`).
fn foreign_base(key: &str) -> Option<&str> {
    let base = key.strip_prefix("url.")?;
    let (base, name) = base.rsplit_once('.')?;
    let is_rewrite = ["insteadof", "pushinsteadof"].iter().any(|known| name.eq_ignore_ascii_case(known));
    let is_address = base.contains("://") || base.contains('@');
    (is_rewrite && is_address && known_hosts::reach(base) == NetworkReach::External).then_some(base)
}

/// Whether a setting names a file to which git adds what it does.
fn names_trace(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    key.strip_prefix("trace2.")
        .is_some_and(|key| matches!(key, "normaltarget" | "perftarget" | "eventtarget"))
}

/// Whether the value of a setting that could run anything is one of the programs that people set it to.
pub(super) fn is_harmless_program(key: &str, value: &str) -> bool {
    const PROGRAMS: &[&str] = &[
        "",
        "true",
        "false",
        "cat",
        "less",
        "more",
        "most",
        "vim",
        "vi",
        "nvim",
        "nano",
        "emacs",
        "emacsclient",
        "micro",
        "hx",
        "helix",
        "code",
        "cursor",
        "subl",
        "zed",
        "delta",
        "bat",
        "diff-so-fancy",
        "gpg",
        "gpg2",
        "ssh",
        "ssh-keygen",
        "op-ssh-sign",
        "cache",
        "osxkeychain",
        "manager",
        "manager-core",
        "libsecret",
        "wincred",
        "gh",
        "difft",
        "ed",
        "kak",
        "notepad",
        "input",
        "simple",
        "rebase",
        "checkout",
        "merge",
        "none",
        "git-lfs",
        "msmtp",
        "sendmail",
    ];
    let key = key.to_ascii_lowercase();
    if key.starts_with("alias.") {
        return !value.starts_with('!');
    }
    if key == "core.hookspath" {
        return value == "/dev/null"
            || value.is_empty()
            || [".githooks", ".husky", ".husky/_", ".hooks", ".git/hooks", ".git-hooks"].contains(&value);
    }
    if key.starts_with("sendemail.") && key.ends_with("smtpserver") && !value.starts_with('/') {
        return true;
    }
    if key == "submodule.update" || key.ends_with(".path") && key.starts_with("include") {
        return false;
    }
    if key.starts_with("filter.lfs.") && value.starts_with("git-lfs ") || value == "!gh auth git-credential" {
        return true;
    }
    let plain = !value.contains(['`', '$', ';', '|', '&', '<', '>', '(', '!', '\n', ':'])
        && !value.to_ascii_lowercase().contains("command");
    let program = value.split_whitespace().next().unwrap_or_default();
    plain
        && PROGRAMS.contains(&program.rsplit('/').next().unwrap_or_default())
        && !value.split_whitespace().any(|word| word == "-c" || word == "-S")
}

/// What `git config` does to the file, where its words say all of it.
fn setting_change<'a>(
    words: &Words,
    verb: Option<&str>,
    name: &'a str,
    value: &'a Value,
) -> Option<SettingChange<'a>> {
    if words.any(&["--type", "--bool", "--int", "--path", "--value", "--fixed-value", "--comment"]) {
        return None;
    }
    // Which values are meant, a further word may say.
    let has_pattern = words.operands_from(usize::from(verb.is_some())).len() > 2;
    let is = |verbs: &str, options: &[&str]| verb == Some(verbs) || verb.is_none() && words.any(options);
    let is_all = words.any(&["--all", "--unset-all"]);
    if is("remove-section", &["--remove-section"]) {
        return Some(SettingChange::RemoveSection { name });
    }
    if is("rename-section", &["--rename-section"]) {
        return Some(SettingChange::RenameSection { name, to: value });
    }
    if has_pattern {
        return None;
    }
    if is("unset", &["--unset", "--unset-all"]) {
        return Some(if is_all { SettingChange::UnsetAll { name } } else { SettingChange::Unset { name } });
    }
    match verb {
        None | Some("set") if words.any(&["--add", "--append"]) => Some(SettingChange::Add { name, value }),
        None | Some("set") => Some(SettingChange::Set { name, value }),
        Some(_) => None,
    }
}

fn config(git: &mut Git<'_, '_>, words: &Words) -> Exit {
    const VERBS: &[&str] = &[
        "list",
        "get",
        "set",
        "unset",
        "rename-section",
        "remove-section",
        "edit",
        "get-color",
        "get-colorbool",
    ];
    let verb = words.operand(0).filter(|word| VERBS.contains(word));
    let operands = words.operands_from(usize::from(verb.is_some()));
    let looks = matches!(verb, Some("list" | "get" | "get-color" | "get-colorbool"))
        || words.any(&[
            "-l",
            "--list",
            "--get",
            "--get-all",
            "--get-regexp",
            "--get-urlmatch",
            "--get-color",
            "--get-colorbool",
        ]);
    let takes_away = matches!(verb, Some("unset" | "rename-section" | "remove-section"))
        || words.any(&["--unset", "--unset-all", "--rename-section", "--remove-section"]);
    let key = operands.first();
    if looks || operands.len() < 2 && !takes_away && verb != Some("set") {
        let known =
            key.and_then(Value::as_exact).and_then(|key| git.settings.exact(&key.to_ascii_lowercase()));
        return known.map_or_else(Exit::unknown, |value| Exit::printing(Value::exact(value)));
    }
    let Some(file) = git.settings_file(words) else {
        git.machine.add(
            Draft::new(EffectKind::FileModify, Target::Unknown)
                .note("which configuration file changes is not known"),
        );
        return Exit::silent();
    };
    let named = key.and_then(Value::as_exact).map(str::to_owned);
    let value = operands.get(1).cloned().unwrap_or(Value::Unknown);
    let path = Value::exact(file.as_str());
    let text = match (&named, takes_away) {
        (Some(name), false) => git.with_setting(&file, name, &value),
        (Some(_) | None, _) => Value::Unknown,
    };
    let before = git.machine.effect_count();
    if let Some(change) = named.as_deref().and_then(|name| setting_change(words, verb, name, &value)) {
        git.announce_setting(&file, change);
    }
    git.machine.write_text(&path, &text);
    let dangerous = match &named {
        Some(name) => {
            let is_harmless = value.as_exact().is_some_and(|value| {
                is_harmless_program(name, value)
                    && (!name.eq_ignore_ascii_case("core.hookspath") || git.has_committed_hooks(value, &file))
            });
            runs_code(name) && !is_harmless
        }
        None => true,
    };
    // An alias of the repository runs when it is called by name only, and then it is interpreted.
    let is_local_alias =
        named.as_deref().is_some_and(|name| name.starts_with("alias.")) && file.name() == Some("config");
    // With these git adds what it does to a file from then on (git-config(1), `trace2`).
    let traces = named.as_deref().is_some_and(names_trace);
    if traces && !takes_away && value.as_exact().is_none_or(|value| value.starts_with('/')) {
        git.machine.possibly(|machine| machine.write(&value));
    }
    // A file that is named, and lies elsewhere without the name of such a file, may hold anything.
    let is_named = words.any(&["-f", "--file"])
        || ["GIT_CONFIG", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"]
            .iter()
            .any(|name| git.machine.variable(name).is_some());
    let is_any_file = is_named
        && !file.is_within(&git.machine.world().place().workspace)
        && !file.name().is_some_and(|name| name.contains("config") || name == ".gitmodules");
    if is_any_file && !dangerous {
        return Exit::silent();
    }
    if !takes_away
        && named.as_deref().is_some_and(|name| stops_checking(name, &value))
        && !is_of_project(git, &file)
    {
        git.machine.add(
            Draft::new(EffectKind::SystemModification, Target::Service("checks of certificates".to_owned()))
                .severity(Severity::High)
                .note("git no longer checks whom it talks to, in every repository"),
        );
    }
    let moved_to = named.as_deref().filter(|_| !takes_away).and_then(foreign_base);
    if let Some(base) = moved_to {
        let draft = Draft::new(EffectKind::Persistence, Target::Path(file));
        git.machine.add(draft.note(format!("what git fetches comes from `{base}` from now on")));
    } else if !dangerous || takes_away || is_local_alias {
        git.machine.amend(before, |effect| {
            effect.nature = Nature::SettingThatRunsNothing;
            "a setting that runs nothing".clone_into(&mut effect.note);
        });
    } else {
        let name = named.as_deref().unwrap_or("a setting that is not known");
        let draft = Draft::new(EffectKind::Persistence, Target::Path(file))
            .note(format!("`{name}` names code that git runs later"));
        git.machine.add(draft);
    }
    Exit::silent()
}

/// Whether a setting has git take any certificate: `http.sslVerify`, `http.<url>.sslVerify` (git-config(1)).
fn stops_checking(name: &str, value: &Value) -> bool {
    let name = name.to_ascii_lowercase();
    let is_off = |text: &str| matches!(text.to_ascii_lowercase().as_str(), "false" | "0" | "no" | "off");
    name.starts_with("http.") && name.ends_with(".sslverify") && value.as_exact().is_some_and(is_off)
}

/// Whether a file of settings is that of one repository.
fn is_of_project(git: &Git<'_, '_>, file: &AbsolutePath) -> bool {
    file.is_within(&git.machine.world().place().workspace)
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
            git.rewrite(&Value::exact("all branches"), "rewrites the commits that hold the files");
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

impl Git<'_, '_> {
    /// The file that `git config` changes.
    fn settings_file(&self, words: &Words) -> Option<AbsolutePath> {
        let named = |name: &str| {
            let named = self.machine.variable(name)?;
            (named.as_exact() != Some("")).then_some(named)
        };
        // git-config(1), "ENVIRONMENT": `GIT_CONFIG` counts for this command alone, and not beside an option that says which file is meant.
        if words.has("--global") {
            return match named("GIT_CONFIG_GLOBAL") {
                Some(file) => self.located(&file),
                None => Some(self.machine.world().place().home.join(".gitconfig")),
            };
        }
        if words.has("--system") {
            return match named("GIT_CONFIG_SYSTEM") {
                Some(file) => self.located(&file),
                None => Some(AbsolutePath::root().join("etc/gitconfig")),
            };
        }
        let by_variable = named("GIT_CONFIG").filter(|_| !words.any(&["--local", "--worktree"]));
        match words.arguments.value(&["-f", "--file"]).or(by_variable.as_ref()) {
            Some(value) => self.located(value),
            None => self.repository_directory().map(|directory| {
                let apart = words.has("--worktree")
                    && self.settings.exact("extensions.worktreeconfig").is_some_and(|value| value == "true");
                directory.join(if apart { "config.worktree" } else { "config" })
            }),
        }
    }

    /// The text of a configuration file with one more setting.
    pub(super) fn with_setting(&self, file: &AbsolutePath, name: &str, value: &Value) -> Value {
        let before = match self.machine.entry(file) {
            Entry::Missing => Value::exact(""),
            Entry::File(_) => self.machine.text(file),
            Entry::Directory | Entry::Symlink(_) | Entry::Special | Entry::Unknown => return Value::Unknown,
        };
        let (Some(before), Some(value), Some((section, key))) =
            (before.as_exact(), value.as_exact(), name.rsplit_once('.'))
        else {
            return Value::Unknown;
        };
        let header = match section.split_once('.') {
            Some((section, part)) => format!("[{section} \"{}\"]", escaped(part)),
            None => format!("[{section}]"),
        };
        Value::exact(format!("{before}\n{header}\n\t{key} = \"{}\"\n", escaped(value)))
    }
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// The settings in the text of a configuration file.
pub(super) fn parse(text: &str) -> Vec<(String, String)> {
    let mut settings = Vec::new();
    let mut section = String::new();
    let joined = text.replace("\\\r\n", "").replace("\\\n", "");
    for line in joined.lines().map(str::trim) {
        if line.starts_with(['#', ';']) || line.is_empty() {
            continue;
        }
        if let Some(header) = line.strip_prefix('[') {
            let header = header.split(']').next().unwrap_or_default();
            section = match header.split_once('"') {
                Some((name, part)) => {
                    format!("{}.{}", name.trim().to_ascii_lowercase(), part.trim_end().trim_end_matches('"'))
                }
                None => header.trim().to_ascii_lowercase(),
            };
            continue;
        }
        let (key, value) = line.split_once('=').unwrap_or((line, "true"));
        settings.push((format!("{section}.{}", key.trim().to_ascii_lowercase()), unquoted(value.trim())));
    }
    settings
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

/// The greatest depth of files that include others, as git has it.
const INCLUDED: usize = 10;

/// The settings of a file and of those that it includes, whatever the condition; `None` when the file cannot be read.
fn with_included(
    machine: &Machine<'_>,
    home: &AbsolutePath,
    file: &AbsolutePath,
    depth: usize,
) -> Option<Vec<(String, String)>> {
    let text = machine.text(file);
    let mut all = Vec::new();
    for (key, value) in parse(text.as_exact()?) {
        let includes = key == "include.path" || key.starts_with("includeif.") && key.ends_with(".path");
        let next = file.parent().filter(|_| includes && depth < INCLUDED);
        let next = next.and_then(|directory| included(home, &directory, &value));
        all.push((key, value));
        if let Some(next) = next {
            all.extend(with_included(machine, home, &next, depth + 1).unwrap_or_default());
        }
    }
    Some(all)
}

/// The file that a setting names, from the directory of the file that it stands in.
fn included(home: &AbsolutePath, directory: &AbsolutePath, name: &str) -> Option<AbsolutePath> {
    match name.strip_prefix("~/") {
        Some(rest) => Some(home.join(rest)),
        None if name.is_empty() || name.starts_with('~') => None,
        None => Some(directory.join(name)),
    }
}

/// A value without its quotes, escapes and comment.
fn unquoted(text: &str) -> String {
    let mut plain = String::new();
    let mut letters = text.chars();
    let mut quoted = false;
    while let Some(letter) = letters.next() {
        match letter {
            '"' => quoted = !quoted,
            '\\' => match letters.next() {
                Some('n') => plain.push('\n'),
                Some('t') => plain.push('\t'),
                Some(other) => plain.push(other),
                None => {}
            },
            '#' | ';' if !quoted => break,
            other => plain.push(other),
        }
    }
    plain.trim_end().to_owned()
}

/// The words of an alias, split at blanks outside quotes.
pub(super) fn split_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    let mut open = false;
    for letter in text.chars() {
        match (quote, letter) {
            (Some(mark), letter) if mark == letter => quote = None,
            (None, '\'' | '"') => {
                quote = Some(letter);
                open = true;
            }
            (None, letter) if letter.is_whitespace() => {
                if open || !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                open = false;
            }
            (Some(_) | None, letter) => word.push(letter),
        }
    }
    if open || !word.is_empty() {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configuration_files_are_read() {
        let settings = parse(
            "[alias]\n\tst = status -sb\n wipe = \"!rm -rf build; echo \\\"x\\\"\" # gone\n[remote \"Origin\"]\nurl = git@h:o/r\n[core]\nbare\n",
        );
        assert_eq!(
            settings,
            [
                ("alias.st".to_owned(), "status -sb".to_owned()),
                ("alias.wipe".to_owned(), "!rm -rf build; echo \"x\"".to_owned()),
                ("remote.Origin.url".to_owned(), "git@h:o/r".to_owned()),
                ("core.bare".to_owned(), "true".to_owned()),
            ]
        );
        assert_eq!(split_words("log --format='%h %s' -1"), ["log", "--format=%h %s", "-1"]);
    }

    #[test]
    fn code_in_settings_is_told_from_taste() {
        assert!(runs_code("core.sshCommand") && runs_code("filter.x.smudge") && !runs_code("user.name"));
        assert!(is_harmless_program("core.editor", "code --wait"));
        assert!(!is_harmless_program("core.editor", "vim -c :!evil"));
        assert!(!is_harmless_program("core.sshCommand", "ssh -o ProxyCommand=evil"));
        assert!(!is_harmless_program("credential.helper", "store"));
        assert!(!is_harmless_program("core.hooksPath", "/tmp/evil"));
    }
}
