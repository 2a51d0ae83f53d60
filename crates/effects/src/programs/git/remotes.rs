//! Subcommands that talk to other repositories.

use super::data_change;
use crate::effect::{Certainty, EffectKind, NetworkReach, Severity, Target};
use crate::interpreter::Inspection;
use crate::interpreter::known_hosts;
use crate::interpreter::{Draft, Exit, Input, Upload, Value};
use crate::nature::Nature;
use crate::path::AbsolutePath;
use crate::programs::network;
use crate::world::{Entry, Listing};

use super::Git;
use super::options::Words;
use super::pushing;

/// Runs one of these subcommands; `None` for others.
pub(super) fn run(git: &mut Git<'_, '_>, name: &str, words: &Words) -> Option<Exit> {
    git.run_programs_of_other_side(words);
    Some(match name {
        "push" => pushing::push(git, words),
        "fetch" | "fetch-pack" | "mr" | "pr" => {
            if words.has("--dry-run") {
                return Some(Exit::unknown());
            }
            git.ask_remote(words.operands().first());
            git.fetch_into(words);
            git.keep_fetched(words.operands().first());
            git.move_fetched(words);
            git.hide_by_fetch(words);
            if words.any(&["-f", "--force"]) {
                git.forget("where tags and branches of the remote were")
            } else if words.any(&["-p", "--prune", "-P", "--prune-tags"]) {
                git.forget("branches that the remote no longer has")
            } else {
                git.touch("")
            }
        }
        "pull" => {
            git.ask_remote(words.operands().first());
            git.fetch_into(words);
            let before = git.machine.effect_count();
            let files = git.pulling(words);
            git.change_files(files, "tracked files become what the remote branch holds; git refuses where uncommitted changes would be lost");
            git.keep_fetched(words.operands().first());
            git.pull_guard(words);
            git.note_commit();
            let exit = git.keep_for_a_while("what the branch was before stays in the reflog");
            if git.is_interrupted() {
                git.machine.amend(before, |effect| effect.certainty = Certainty::Possible);
            }
            exit
        }
        "ls-remote" => {
            git.ask_remote(words.operands().first());
            Exit::unknown()
        }
        "remote" => remote(git, words),
        "clone" => clone(git, words),
        "submodule" => submodule(git, words),
        "subtree" if words.operand(0) == Some("push") => pushing::subtree_push(git, words),
        "subtree" => {
            git.change_tree("");
            git.touch("")
        }
        "svn" | "p4" | "cvsexportcommit" | "cvsimport" | "cvsserver" => foreign(git, name, words),
        "send-email" | "imap-send" => send_email(git, words),
        "send-pack" | "http-push" if !words.any(&["-n", "--dry-run"]) => pushing::send_pack(git, words),
        "credential"
        | "credential-store"
        | "credential-cache"
        | "credential-osxkeychain"
        | "credential-libsecret"
        | "credential-manager" => credential(git, name, words),
        "remote-ext" => {
            if let Some(command) = words.operands().get(1).cloned() {
                git.machine.possibly(|machine| machine.run_text(&command, Input::Inherited));
            }
            Exit::unknown()
        }
        "daemon" | "http-backend" | "upload-pack" | "receive-pack" | "upload-archive" | "shell" => {
            for hook in words.arguments.values(&["--access-hook"]).cloned().collect::<Vec<_>>() {
                git.run_with(&hook, &[Value::Unknown]);
            }
            // git-daemon(1): it asks nobody for a name, so with this service whoever reaches it pushes.
            let is_open = words.any(&["--export-all"]);
            if is_open
                && words
                    .arguments
                    .values(&["--enable"])
                    .any(|service| service.as_exact() == Some("receive-pack"))
            {
                let tunnel = Draft::new(EffectKind::DataUpload, Target::Host("tunnel".to_owned()));
                let tunnel = tunnel.reach(NetworkReach::External).severity(Severity::High);
                git.machine.add(tunnel.note("whoever connects can push to these repositories"));
            }
            let draft = Draft::new(EffectKind::ProcessSpawn, Target::Process(format!("git {name}")))
                .note("serves repositories to others");
            git.machine.add(draft);
            Exit::silent()
        }
        _ => return None,
    })
}

fn remote(git: &mut Git<'_, '_>, words: &Words) -> Exit {
    match words.operand(0) {
        None | Some("get-url") => {
            let url = words.operand(1).and_then(|name| git.settings.exact(&format!("remote.{name}.url")));
            url.map_or_else(Exit::unknown, |url| Exit::printing(Value::exact(url)))
        }
        Some("show") => {
            if words.operands().len() > 1 {
                git.ask_remote(words.operands().get(1));
            }
            Exit::unknown()
        }
        Some("update") => {
            git.ask_remote(words.operands().get(1));
            git.keep_fetched(words.operands().get(1));
            if words.any(&["-p", "--prune"]) {
                git.forget("branches that the remote no longer has")
            } else {
                git.touch("")
            }
        }
        Some("prune") if words.any(&["-n", "--dry-run"]) => Exit::unknown(),
        Some("add") => {
            note_address(git, words);
            git.keep_address(words);
            if words.any(&["-f", "--fetch"]) {
                git.ask_remote(words.operands().get(2));
                git.keep_fetched(words.operands().get(2));
            }
            git.touch("")
        }
        Some("set-url") => {
            note_address(git, words);
            git.keep_address(words);
            git.forget("what was known of the remote")
        }
        Some(_) => git.forget("what was known of the remote"),
    }
}

/// Adds that whoever is at the address of a remote is sent the secret that stands in it, with the next push or fetch.
fn note_address(git: &mut Git<'_, '_>, words: &Words) {
    for word in words.operands_from(2) {
        let address = with_user(word);
        let text = address.known_start();
        if is_address(&text) {
            network::sends_strange_secret(git.machine, &address, known_hosts::host_of(&text));
        }
    }
}

/// An address of which nothing but the user and their password is not known, with any in their place.
fn with_user(address: &Value) -> Value {
    match address {
        Value::Between { prefix, suffix } if prefix.contains("://") && suffix.contains('@') => {
            Value::Exact(format!("{prefix}user{suffix}"))
        }
        other => other.clone(),
    }
}

fn clone(git: &mut Git<'_, '_>, words: &Words) -> Exit {
    for setting in words.arguments.values(&["-c", "--config"]).cloned().collect::<Vec<_>>() {
        git.settings.give_assignment(&setting);
    }
    let Some(source) = words.operands().first().cloned() else {
        return Exit::failure();
    };
    git.ask_remote(Some(&source));
    let place = match words.operands().get(1) {
        Some(place) => git.absolute(place),
        None => match source.as_exact().and_then(humanish_name) {
            Some(name) if words.any(&["--bare", "--mirror"]) => {
                git.absolute(&Value::exact(format!("{name}.git")))
            }
            Some(name) => git.absolute(&Value::exact(name)),
            None => git.absolute(&Value::Unknown),
        },
    };
    let near = source.known_start().starts_with(['/', '.']) || !source.known_start().contains(':');
    let repository = git.located(&source).filter(|_| near);
    let revision = words.arguments.value(&["-b", "--branch"]).and_then(Value::as_exact).unwrap_or("HEAD");
    for aim in git.machine.paths(&place) {
        let inspection = match &aim.target {
            Target::Path(path) => git.arrive_below(path, repository.as_ref(), revision),
            Target::Glob(_)
            | Target::Host(_)
            | Target::Process(_)
            | Target::Service(_)
            | Target::Reference(_)
            | Target::Unknown => Inspection::Open,
        };
        // It fails where something is; an empty directory it fills.
        let is_there = aim.target.path().is_some_and(|path| git.machine.entry(path) != Entry::Missing);
        let draft = Draft::at(EffectKind::FileCreate, aim).recursive().brought(inspection);
        git.machine.add(if is_there { draft.possible() } else { draft });
    }
    if let Some(path) = place.as_exact().and_then(crate::path::AbsolutePath::new) {
        git.machine.remember_directory(&path);
        git.machine.overlay().fill(&path);
        if near {
            // The clone of one that was cloned here.
            if let Some(from) = git.located(&source) {
                git.machine.carry_marks(&from, &path);
            }
        } else if source.as_exact().is_none() || git.strange_address(Some(&source)).is_some() {
            git.machine.remember_tree(&path, &source.known_start());
        }
    }
    if words.arguments.value(&["--template"]).is_some_and(|value| value.as_exact() != Some("")) {
        git.machine.add(
            Draft::new(EffectKind::Persistence, git.inside()).possible().note("hooks come from the template"),
        );
    }
    Exit::silent()
}

fn submodule(git: &mut Git<'_, '_>, words: &Words) -> Exit {
    match words.operand(0) {
        Some("status" | "summary") | None => Exit::unknown(),
        Some("foreach") => {
            git.foreach_submodule(words.operands_from(1));
            Exit::silent()
        }
        Some("update") => {
            git.ask_remote(None);
            if words.any(&["-f", "--force"]) {
                git.possibly_lose_changes("uncommitted changes of submodules are thrown away");
            }
            let listed = git.root().and_then(|root| Some((git.submodules(&root)?, root)));
            match listed {
                Some((paths, root)) => {
                    for path in paths {
                        let place = Target::Path(root.join(&path));
                        let draft = Draft::new(EffectKind::FileModify, place).recursive().possible();
                        git.machine.add(
                            draft
                                .severity(Severity::Low)
                                .nature(Nature::KeptByVersionControl)
                                .note("submodules become what is recorded for them"),
                        );
                    }
                }
                None => git.change_tree("submodules become what is recorded for them"),
            }
            git.touch_submodules();
            git.touch("")
        }
        Some("add") => {
            git.ask_remote(words.operands().get(1));
            let place = match (words.operands().get(2), words.operand(1).and_then(humanish_name)) {
                (Some(place), _) => git.absolute(place),
                (None, Some(name)) => git.absolute(&Value::exact(name)),
                (None, None) => Value::Unknown,
            };
            let repository = words.operands().get(1).and_then(|source| git.located(source));
            for aim in git.machine.paths(&place) {
                let inspection = match aim.target.path().cloned() {
                    Some(path) => git.arrive_below(&path, repository.as_ref(), "HEAD"),
                    None => Inspection::Open,
                };
                git.machine.add(Draft::at(EffectKind::FileCreate, aim).recursive().brought(inspection));
            }
            if let Some(path) = place.as_exact().and_then(crate::path::AbsolutePath::new) {
                git.machine.remember_directory(&path);
                if let Some(address) = git.strange_address(words.operands().get(1)) {
                    git.machine.remember_tree(&path, &address);
                }
            }
            if let Some(root) = git.root() {
                git.machine.write(&Value::exact(root.join(".gitmodules").as_str()));
            }
            git.make_module(words, &place);
            git.touch("")
        }
        Some("deinit") if words.any(&["-f", "--force"]) => {
            for operand in words.operands_from(1) {
                for aim in git.machine.paths(&git.absolute(operand)) {
                    let draft = Draft::at(EffectKind::VcsLocalLoss, aim)
                        .recursive()
                        .note("uncommitted changes in the submodule are thrown away");
                    git.machine.add(draft);
                }
            }
            if words.has("--all") {
                git.possibly_lose_changes("uncommitted changes in the submodules are thrown away");
            }
            git.touch_submodules();
            git.forget("what was set for the submodule")
        }
        Some(name) => {
            if let ("set-url" | "set-branch", Some(root)) = (name, git.root()) {
                git.machine.write(&Value::exact(root.join(".gitmodules").as_str()));
            }
            git.touch_submodules();
            git.touch("")
        }
    }
}

fn foreign(git: &mut Git<'_, '_>, name: &str, words: &Words) -> Exit {
    // `git svn` has a program say who the authors are.
    let options = words.operands().iter().filter_map(Value::as_exact);
    for program in
        options.filter_map(|word| word.strip_prefix("--authors-prog=")).map(str::to_owned).collect::<Vec<_>>()
    {
        git.run_with(&Value::Exact(program), &[Value::Unknown]);
    }
    match words.operand(0) {
        Some("dcommit" | "submit" | "commit-diff" | "branch" | "tag")
            if !words.operands().iter().any(|word| matches!(word.as_exact(), Some("-n" | "--dry-run"))) =>
        {
            git.remote_update(&[name], "");
            Exit::silent()
        }
        Some("clone" | "init") => {
            git.ask_remote(None);
            let place = match (words.arguments.value(&["--destination"]), words.operands().get(2)) {
                (Some(place), _) => place.clone(),
                (None, Some(place)) if !place.known_start().starts_with('-') => place.clone(),
                // The last part of the address, or the directory itself for `init`.
                (None, _) if words.operand(0) == Some("init") => Value::exact("."),
                (None, _) => {
                    words.operand(1).and_then(humanish_name).map_or_else(|| Value::exact("."), Value::exact)
                }
            };
            let place = git.absolute(&place);
            for aim in git.machine.paths(&place) {
                let inspection = match aim.target.path().cloned() {
                    Some(path) => git.arrive_below(&path, None, "HEAD"),
                    None => Inspection::Open,
                };
                let draft = Draft::at(EffectKind::FileCreate, aim).recursive().possible();
                git.machine.add(
                    draft.brought(inspection).note("what is downloaded; under which names is not known"),
                );
            }
            Exit::silent()
        }
        Some("log" | "info" | "find-rev" | "blame" | "help" | "show-ignore" | "branches") | None => {
            Exit::unknown()
        }
        Some(_) => {
            git.ask_remote(None);
            git.change_tree("");
            git.touch("")
        }
    }
}

fn send_email(git: &mut Git<'_, '_>, words: &Words) -> Exit {
    if words.has("--dry-run") || words.operands().iter().any(|word| word.as_exact() == Some("--dry-run")) {
        return Exit::unknown();
    }
    git.run_mail_commands(words);
    for operand in words.operands() {
        if operand.as_exact().is_none_or(|text| !text.starts_with('-')) {
            let path = git.absolute(operand);
            git.machine.read(&path);
        }
    }
    let to = words.arguments.value(&["--to"]).and_then(Value::as_exact).unwrap_or("mail");
    git.machine.host(&Value::exact(to), Upload::Yes);
    Exit::silent()
}

fn credential(git: &mut Git<'_, '_>, name: &str, words: &Words) -> Exit {
    let home = git.machine.world().place().home.join(".git-credentials");
    let home = match words.arguments.value(&["--file"]) {
        Some(value) => match git.located(value) {
            Some(path) => path,
            None => home,
        },
        None => home,
    };
    match words.operand(0) {
        Some("fill" | "get") => {
            let draft = Draft::new(EffectKind::SecretRead, Target::Path(home))
                .note(format!("`git {name}` prints passwords"));
            git.machine.add(draft);
            Exit::with(crate::interpreter::Output::Secret(format!("git {name}")))
        }
        Some("approve" | "store" | "reject" | "erase") => {
            git.machine.write(&Value::exact(home.as_str()));
            Exit::silent()
        }
        Some(_) | None => Exit::silent(),
    }
}

impl Git<'_, '_> {
    /// What `fetch` and `pull` do to references here: `+from:to` and `--force` set them whatever they held.
    fn fetch_into(&mut self, words: &Words) {
        let forced = words.any(&["-f", "--force"]);
        for word in words.operands_from(1).to_vec() {
            let Some(text) = word.as_exact() else { continue };
            let Some((_, to)) = text.split_once(':').filter(|(_, to)| !to.is_empty()) else { continue };
            let is_of_remote = to.starts_with("refs/remotes/");
            if (forced || text.starts_with('+')) && !is_of_remote {
                self.move_branch(&Value::exact(to));
            }
        }
    }

    /// The repository of a new submodule lies below that of the project, under its name.
    fn make_module(&mut self, words: &Words, place: &Value) {
        let below = || {
            let root = self.root()?;
            let place = crate::path::AbsolutePath::new(place.as_exact()?)?;
            place.relative_to(&root).map(str::to_owned)
        };
        let given = words.arguments.value(&["--name"]);
        let name = given.map_or_else(below, |name| name.as_exact().map(str::to_owned));
        let modules = self.repository_directory().map(|directory| directory.join("modules"));
        let (Some(name), Some(modules)) = (name, modules) else { return };
        let module = modules.join(&name);
        if self.machine.entry(&module) != Entry::Missing {
            return;
        }
        // With the first one comes the directory of all.
        let made = if self.machine.entry(&modules) == Entry::Missing { modules } else { module };
        self.machine.add(
            Draft::new(EffectKind::FileCreate, Target::Path(made))
                .recursive()
                .severity(Severity::Low)
                .nature(Nature::KeptByVersionControl)
                .note("the repository of the submodule"),
        );
    }

    /// The repositories of submodules change, in which the branches are of these.
    pub(super) fn touch_submodules(&mut self) {
        let Some(modules) = self.repository_directory().map(|directory| directory.join("modules")) else {
            return;
        };
        let mut waiting = vec![modules];
        let mut found = Vec::new();
        // A submodule may have a name with slashes, and submodules of its own.
        while let Some(directory) = waiting.pop().filter(|_| found.len() < SUBMODULES) {
            let Listing::Names(names) = self.machine.children(&directory) else { continue };
            if is_repository(&names) {
                waiting.push(directory.join("modules"));
                found.push(directory);
            } else {
                waiting.extend(names.iter().take(SUBMODULES).map(|name| directory.join(name)));
            }
        }
        for directory in found {
            let note = "what was checked out stays in the reflog";
            self.machine.add(data_change(Target::Path(directory), Nature::KeptForAWhile, note));
        }
    }

    /// The program that git runs at the other end is run here when the other end is a path or `git` decides so.
    fn run_programs_of_other_side(&mut self, words: &Words) {
        let options = ["--upload-pack", "--receive-pack", "--exec", "-u"];
        for command in words.arguments.values(&options).cloned().collect::<Vec<_>>() {
            let plain = command.as_exact().is_some_and(|text| {
                let program = text.rsplit('/').next().unwrap_or_default();
                matches!(program, "git-upload-pack" | "git-receive-pack" | "git-upload-archive" | "git")
            });
            if !plain {
                self.machine.unread("git starts a program of another name at the other end");
                self.machine.run_text(&command, Input::Inherited);
            }
        }
    }

    /// Talks to a remote, to read from it: by name, URL or path; without one to the remote of the branch.
    pub(super) fn ask_remote(&mut self, remote: Option<&Value>) {
        let word = remote.map_or_else(|| Value::exact("origin"), with_user);
        let Some(text) = word.as_exact() else {
            self.machine.host(&word, Upload::No);
            return;
        };
        let address = self.settings.exact(&format!("remote.{text}.url")).unwrap_or_else(|| text.to_owned());
        if let Some(command) = address.strip_prefix("ext::") {
            self.machine.run_text(&Value::exact(command), Input::Inherited);
        } else if is_address(&address) {
            let host = known_hosts::host_of(&address);
            if !network::sends_strange_secret(self.machine, &Value::exact(address), host.clone()) {
                self.machine.host(&Value::exact(host), Upload::No);
            }
        } else if address == text && !text.contains('/') && !text.starts_with('.') {
            // A remote of which the URL is not known was set up before, by whoever set up the repository.
            let draft = Draft::new(EffectKind::NetworkRequest, Target::Host(text.to_owned()))
                .reach(NetworkReach::Known);
            self.machine.add(draft.severity(Severity::Low));
        }
    }

    /// Pushing to an address that is not a remote of the repository sends the repository there.
    pub(super) fn note_strange_remote(&mut self, remote: Option<&Value>) {
        let Some(remote) = remote else { return };
        let remote = &with_user(remote);
        match remote.as_exact() {
            Some(text) if text.starts_with("ext::") => {
                self.machine.run_text(&Value::exact(text.trim_start_matches("ext::")), Input::Inherited);
            }
            Some(text) if is_address(text) => {
                let host = known_hosts::host_of(text);
                if !network::sends_strange_secret(self.machine, remote, host.clone())
                    && known_hosts::reach(&host) == NetworkReach::External
                {
                    self.machine.host(&Value::exact(host), Upload::Yes);
                    if let Some(root) = self.root() {
                        self.machine.add(Draft::new(EffectKind::FileRead, Target::Path(root)));
                    }
                } else {
                    self.note_stranger(text);
                    self.note_stranger_to_project(text);
                }
            }
            Some(_) | None => {}
        }
    }

    /// Keeps the address that `git remote add` or `set-url` gives for the calls behind it.
    fn keep_address(&mut self, words: &Words) {
        let (Some(name), Some(address)) = (words.operand(1), words.operands().get(2)) else { return };
        let key = if words.has("--push") { "pushurl" } else { "url" };
        let Some(file) = self.repository_directory().map(|directory| directory.join("config")) else {
            return;
        };
        let text = self.with_setting(&file, &format!("remote.{name}.{key}"), address);
        let before = self.machine.effect_count();
        self.machine.write_text(&Value::exact(file.as_str()), &text);
        self.machine.amend(before, |effect| effect.nature = Nature::SettingThatRunsNothing);
    }

    /// A remote of which this command itself says where it is, by `-c`, `remote set-url` or `config`, or an earlier one of the session, is like an
    /// address that is named.
    pub(super) fn note_changed_remote(&mut self, remote: Option<&Value>) {
        let name = remote.map_or(Some("origin"), Value::as_exact).unwrap_or_default();
        if is_address(name) {
            return;
        }
        let file = self.repository_directory().map(|directory| directory.join("config"));
        let is_kept_here = file.is_some_and(|file| self.machine.is_written_here(&file));
        let keys = [format!("remote.{name}.pushurl"), format!("remote.{name}.url")];
        let named = keys
            .iter()
            .find(|key| self.settings.value(key).is_some())
            .and_then(|key| Some((key, self.settings.value(key)?)))
            .filter(|(key, address)| {
                is_kept_here || self.settings.is_given(key) || self.leads_elsewhere_by_now(address)
            })
            .map(|(_, address)| address);
        let rewritten = self.settings.given_rewrites();
        // Whoever is given a name and a password there is a host of the user's own.
        let is_own = |address: &Value| {
            address.as_exact().is_none_or(|text| text.contains("://") && text.contains('@'))
        };
        for address in named.into_iter().chain(rewritten).filter(|address| !is_own(address)) {
            self.note_strange_remote(Some(&address));
        }
    }

    /// The places of submodules in the work tree; `None` when they are not known.
    pub(super) fn submodules(&self, root: &AbsolutePath) -> Option<Vec<String>> {
        let listed = self.machine.text(&root.join(".gitmodules"));
        let listed = listed.as_exact()?;
        let paths = listed
            .lines()
            .filter_map(|line| line.trim().strip_prefix("path"))
            .filter_map(|rest| rest.trim_start().strip_prefix('='))
            .map(|path| path.trim().to_owned());
        Some(paths.take(Value::CHOICES).collect())
    }

    /// The list of submodules changes with what is removed or renamed, when one may be among it.
    pub(super) fn possibly_change_submodules(&mut self, operands: &[Value]) {
        let Some(root) = self.root() else { return };
        let list = root.join(".gitmodules");
        if self.machine.entry(&list) == Entry::Missing {
            return;
        }
        let places: Vec<Value> = operands.iter().map(|operand| self.absolute(operand)).collect();
        let is_meant = |path: &String| {
            let submodule = root.join(path);
            places.iter().any(|place| match place.as_exact().and_then(AbsolutePath::new) {
                Some(place) => submodule.is_within(&place),
                None => true,
            })
        };
        if self.submodules(&root).is_none_or(|paths| paths.iter().any(is_meant)) {
            let list = Value::exact(list.as_str());
            self.machine.possibly(|machine| machine.write(&list));
        }
    }

    fn foreach_submodule(&mut self, words: &[Value]) {
        let Some(root) = self.root() else {
            self.machine.opaque("where the submodules are is not known");
            return;
        };
        let text = words.iter().filter(|word| word.as_exact() != Some("--recursive")).fold(
            Value::exact(""),
            |text, word| {
                if text.as_exact() == Some("") {
                    word.clone()
                } else {
                    text.followed_by(&Value::exact(" ")).followed_by(word)
                }
            },
        );
        let listed = self.submodules(&root);
        if listed.is_none() {
            self.machine.possibly(|machine| {
                machine.inside(&Value::Unknown, |machine| machine.run_text(&text, Input::Inherited))
            });
        }
        for path in listed.unwrap_or_default() {
            let place = Value::exact(root.join(&path).as_str());
            // git-submodule(1), "foreach": what the command finds in its variables.
            let variables = vec![
                ("toplevel".to_owned(), Value::exact(root.as_str())),
                ("name".to_owned(), Value::exact(path.as_str())),
                ("sm_path".to_owned(), Value::exact(path.as_str())),
                ("displaypath".to_owned(), Value::exact(path.as_str())),
                ("sha1".to_owned(), Value::something()),
            ];
            self.machine.inside(&place, |machine| {
                machine.with_variables(variables, |machine| machine.run_text(&text, Input::Inherited))
            });
        }
    }
}

/// How many submodules are looked at (ours).
const SUBMODULES: usize = 64;

/// Whether these are the names in a directory that git keeps a repository in.
pub(super) fn is_repository(names: &[String]) -> bool {
    ["HEAD", "objects", "refs"].iter().all(|wanted| names.iter().any(|name| name == wanted))
}

/// Whether a text is the address of a repository on another machine.
pub(super) fn is_address(text: &str) -> bool {
    if let Some((scheme, _)) = text.split_once("://") {
        return scheme != "file";
    }
    match text.split_once(':') {
        Some((host, _)) => !host.contains('/') && !host.is_empty(),
        None => false,
    }
}

/// The name of the directory that `git clone` makes for an address.
fn humanish_name(address: &str) -> Option<String> {
    let plain = address.trim_end_matches('/');
    let plain = plain.strip_suffix("/.git").unwrap_or(plain);
    let name = plain.rsplit(['/', ':']).next()?;
    let name = name.strip_suffix(".git").or_else(|| name.strip_suffix(".bundle")).unwrap_or(name);
    (!name.is_empty() && name != "." && name != "..").then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_are_named_after_their_address() {
        assert_eq!(humanish_name("git@github.com:owner/repo.git").as_deref(), Some("repo"));
        assert_eq!(humanish_name("https://h/o/repo/").as_deref(), Some("repo"));
        assert_eq!(humanish_name("../remotes/proj.git").as_deref(), Some("proj"));
        assert_eq!(humanish_name("."), None);
        assert!(
            is_address("git@h:o/r")
                && is_address("https://h/r")
                && !is_address("../x")
                && !is_address("file:///x")
        );
    }
}
