//! git: everything it can lose, send or run.
//!
//! | module | holds |
//! |---|---|
//! | `applied` | what a patch does to files of the work tree |
//! | `compared` | which tracked files a subcommand writes or takes away |
//! | `fetched` | what a fetch of the same command, or a repository that it made, may hold |
//! | `hidden` | what makes git show something else than what is there |
//! | `hooks` | which subcommand fires which hooks |
//! | `guard_files` | files of the guard that git would bring, change or take away |
//! | `index` | which files are tracked, and submodules, as the command changed that so far |
//! | `known` | what version control knows about files by now |
//! | `known_remotes` | hosts to which remotes led when the session began |
//! | `listing` | names of files that git prints |
//! | `logged` | what git writes into its logs when a reference moves |
//! | `moved` | names of revisions that the command moves |
//! | `contents` | what git prints of files that hold secrets |
//! | `filters` | rewriting every commit: `filter-branch`, `filter-repo` |
//! | `grammar` | which options of a subcommand take values |
//! | `handed` | programs that git hands names of files to |
//! | `options` | words of a subcommand sorted into options and operands, with git's abbreviations |
//! | `origins` | what git fetches from elsewhere, and where it writes that |
//! | `own_patches` | files and patches that come out of the repository itself |
//! | `owners` | to whom the repository behind an address belongs |
//! | `own_settings` | what git writes into the configuration of the repository by the way |
//! | `pathspec` | the words with which git is told files: patterns and signs |
//! | `pushing` | what a push does to the repository at the other end, and where that one lies |
//! | `settings` | configuration: reading it, what in it runs code, `git config` |
//! | `settings_text` | the text of a configuration after git changed it |
//! | `sparse` | work trees that hold a part of the files |
//! | `stashing` | `git stash`, and which entries there are by now |
//! | `stored` | secrets that the command itself gives to git, and that are printed without their names |
//! | `tree` | the files of the work tree by what version control knows about them |
//! | `restoring` | subcommands that bring files back or throw them away: reset, checkout, restore, switch, clean |
//! | `removing` | `git rm` |
//! | `rebase_list` | what the editor of an interactive rebase writes, and git runs |
//! | `references` | subcommands about branches, tags and objects: branch, tag, reflog, gc, ... |
//! | `written_settings` | what files of settings, references and files out of revisions are after git wrote them |
//! | `working` | subcommands that record or rearrange work: add, commit, merge, rm, mv, apply, worktree, ... |
//! | `remotes` | subcommands that talk to other repositories: fetch, clone, submodule, ... |

mod applied;
mod compared;
mod contents;
mod fetched;
mod filters;
mod grammar;
mod guard_files;
mod handed;
mod hidden;
mod hooks;
mod index;
mod known;
mod known_remotes;
mod listing;
mod logged;
mod moved;
mod options;
mod origins;
mod own_patches;
mod own_settings;
mod owners;
mod pathspec;
mod pushing;
mod rebase_list;
mod references;
mod remotes;
mod removing;
mod restoring;
mod settings;
mod settings_text;
mod sparse;
mod stashing;
mod stored;
mod tree;
mod working;
mod written_settings;

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::effect::{EffectKind, Severity, Target};
use crate::interpreter::{Call, Draft, Exit, Input, Machine, Output, Value};
use crate::nature::Nature;
use crate::path::AbsolutePath;
use checkrein_shell::quoted;
pub(crate) use fetched::decoded as decoded_address;
pub use known_remotes::remote_hosts;
use options::Words;
use settings::Settings;

/// Subcommands that only look.
const LOOKING: &[&str] = &[
    "status",
    "shortlog",
    "blame",
    "annotate",
    "rev-parse",
    "rev-list",
    "cat-file",
    "describe",
    "ls-tree",
    "merge-base",
    "name-rev",
    "show-branch",
    "show-ref",
    "show-index",
    "for-each-ref",
    "check-attr",
    "check-ignore",
    "check-mailmap",
    "check-ref-format",
    "cherry",
    "count-objects",
    "diff-files",
    "diff-index",
    "diff-tree",
    "diff-pairs",
    "fsck",
    "fsck-objects",
    "get-tar-commit-id",
    "help",
    "version",
    "var",
    "stripspace",
    "column",
    "mailinfo",
    "mailsplit",
    "merge-tree",
    "patch-id",
    "range-diff",
    "verify-commit",
    "verify-pack",
    "verify-tag",
    "whatchanged",
    "request-pull",
    "unpack-file",
    "fmt-merge-msg",
    "fsmonitor--daemon",
    "gui",
    "citool",
    "gitk",
    "instaweb",
    "web--browse",
    "last-modified",
    "repo",
    "backfill",
    // Of git-extras.
    "alias",
    "authors",
    "brv",
    "commits-since",
    "count",
    "cp",
    "effort",
    "guilt",
    "info",
    "local-commits",
    "missing",
    "show-merged-branches",
    "show-tree",
    "show-unmerged-branches",
    "standup",
    "summary",
    "paste",
    "repl",
    "changelog",
    "get",
    "browse",
    "browse-ci",
    "stamp",
];

/// Options before the subcommand that change nothing of interest here.
const IGNORED: &[&str] = &[
    "-p",
    "--paginate",
    "-P",
    "--no-pager",
    "--no-replace-objects",
    "--literal-pathspecs",
    "--glob-pathspecs",
    "--noglob-pathspecs",
    "--icase-pathspecs",
    "--no-optional-locks",
    "--no-advice",
    "--no-lazy-fetch",
    "--namespace",
];

/// Variables that name a file which git writes: what it does (git(1), "Debugging"), and its index.
const TRACES: &[&str] = &[
    "GIT_TRACE",
    "GIT_TRACE_BARE",
    "GIT_TRACE_FSMONITOR",
    "GIT_TRACE_PACK_ACCESS",
    "GIT_TRACE_PACKET",
    "GIT_TRACE_PACKFILE",
    "GIT_TRACE_PERFORMANCE",
    "GIT_TRACE_REFS",
    "GIT_TRACE_SETUP",
    "GIT_TRACE_SHALLOW",
    "GIT_TRACE_CURL",
    "GIT_TRACE_WORKING_TREE_ENCODING",
    "GIT_TRANSFER_TRACE",
    "GIT_TRACE2",
    "GIT_TRACE2_EVENT",
    "GIT_TRACE2_PERF",
    "GIT_INDEX_FILE",
];

/// Interprets a call of git.
pub(crate) fn git(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let cwd = machine.cwd().cloned();
    let mut git = Git {
        machine,
        cwd,
        work_tree: None,
        directory: None,
        programs: None,
        settings: Settings::default(),
        sources: RefCell::default(),
    };
    git.machine_variables();
    let Some(rest) = git.general_options(&call.words) else {
        return Exit::silent();
    };
    let repository = git.repository_directory();
    git.settings.read(git.machine, repository.as_ref());
    git.configured_work_tree(repository.as_ref());
    git.enter_work_tree();
    git.forget_names_of_own_places();
    git.enter_index();
    git.bring_objects_of_variables();
    git.subcommand(rest, 0)
}

/// One call of git: the machine, and where git works.
struct Git<'m, 'w> {
    machine: &'m mut Machine<'w>,
    /// Where git runs (`-C`); `None` when not known.
    cwd: Option<AbsolutePath>,
    /// The work tree, when given.
    work_tree: Option<AbsolutePath>,
    /// The repository's own directory, when given.
    directory: Option<AbsolutePath>,
    /// Where programs of git are looked for first, when given.
    programs: Option<Value>,
    settings: Settings,
    /// Where files come from that comparisons found, by their paths below the root.
    sources: RefCell<BTreeMap<String, compared::Source>>,
}

/// What people are told of a change after which git can give everything back.
const KEPT_BY_GIT: &str = "git keeps what was there";

/// A change of a repository's own data, after which git can give back what was there, as its nature says.
fn data_change(target: Target, nature: Nature, note: &str) -> Draft {
    Draft::new(EffectKind::FileModify, target)
        .severity(Severity::Low)
        .nature(nature)
        .note(KEPT_BY_GIT)
        .note(note)
}

impl Git<'_, '_> {
    /// Takes where git works from the environment.
    fn machine_variables(&mut self) {
        let exact = |value: Option<Value>| value.and_then(|value| value.as_exact().map(str::to_owned));
        if let Some(text) = exact(self.machine.variable("GIT_DIR")).filter(|text| !text.is_empty()) {
            self.directory = self.place(&text);
        }
        if let Some(text) = exact(self.machine.variable("GIT_WORK_TREE")).filter(|text| !text.is_empty()) {
            self.work_tree = self.place(&text);
        }
        // Branches and objects are those of this directory (gitrepository-layout(5), "commondir").
        if let (Some(text), None) = (exact(self.machine.variable("GIT_COMMON_DIR")), &self.directory)
            && !text.is_empty()
        {
            self.directory = self.place(&text);
        }
        for name in TRACES {
            let given = exact(self.machine.variable(name)).filter(|text| text.starts_with('/'));
            if given.is_some() && given != self.machine.world().variable(name) {
                self.machine.write(&given.map_or(Value::Unknown, Value::exact));
            }
        }
        self.settings.give_variables(self.machine);
        for (name, key) in [
            ("GIT_SSH_COMMAND", "core.sshcommand"),
            ("GIT_SSH", "core.sshcommand"),
            ("GIT_PAGER", "core.pager"),
            ("GIT_EDITOR", "core.editor"),
            ("GIT_SEQUENCE_EDITOR", "sequence.editor"),
            ("GIT_EXTERNAL_DIFF", "diff.external"),
            ("GIT_PROXY_COMMAND", "core.gitproxy"),
            ("GIT_ASKPASS", "core.askpass"),
        ] {
            // What the environment of the agent says was there before the command; only what the command sets is of interest.
            let before = self.machine.world().variable(name);
            if let Some(value) =
                self.machine.given_variable(name).filter(|value| value.as_exact() != before.as_deref())
            {
                self.settings.give(key, value);
            }
        }
    }

    /// Takes the work tree that the repository's own configuration names, where nothing else does. Git looks at `core.worktree` there only
    /// (git-config(1); tried with git 2.47): not in the files of the user, not behind `include`, not behind `-c`.
    fn configured_work_tree(&mut self, repository: Option<&AbsolutePath>) {
        let (None, Some(repository)) = (&self.work_tree, repository) else { return };
        let Some(named) = Settings::work_tree(self.machine, repository) else { return };
        let tree = repository.join(&named);
        let root = self.cwd.as_ref().and_then(|cwd| self.found(cwd)).map(|(root, _)| root);
        // That of a submodule says what is so anyway.
        if root.is_none_or(|root| root != tree) {
            self.work_tree = Some(tree);
        }
    }

    /// By another index than that of the repository nothing may be tracked.
    fn enter_index(&mut self) {
        let name = "GIT_INDEX_FILE";
        let given = self.machine.variable(name).map(|value| value.as_exact().map(str::to_owned));
        if given
            .is_some_and(|given| given != self.machine.world().variable(name) && given.as_deref() != Some(""))
        {
            self.untrack(&[], crate::interpreter::Untracked::All);
        }
    }

    /// Where a work tree is given that does not hold the working directory, git works in it.
    fn enter_work_tree(&mut self) {
        let Some(tree) = self.work_tree.clone() else { return };
        self.directory = self.directory.take().or_else(|| {
            let cwd = self.cwd.as_ref()?;
            Some(self.found(cwd).map_or_else(|| cwd.join(".git"), |(_, directory)| directory))
        });
        if self.cwd.as_ref().is_none_or(|cwd| !cwd.is_within(&tree)) {
            self.cwd = Some(tree);
        }
    }

    /// A repository and a work tree that are named, and that git would find from where it runs anyway, are as good as not named.
    fn forget_names_of_own_places(&mut self) {
        let (Some(root), Some(directory)) = (self.root(), self.repository_directory()) else { return };
        let found = self.cwd.as_ref().and_then(|cwd| self.found(cwd));
        if found.is_some_and(|found| found == (root, directory)) {
            self.work_tree = None;
            self.directory = None;
        }
    }

    /// Reads the options before the subcommand; the words from the subcommand on, or `None` when there is none to run.
    fn general_options<'c>(&mut self, words: &'c [Value]) -> Option<&'c [Value]> {
        let mut index = 0;
        while let Some(word) = words.get(index) {
            let Some(text) = word.as_exact() else {
                self.machine.opaque("which git subcommand runs is not known");
                return None;
            };
            let (name, attached) = match text.split_once('=') {
                Some((name, value)) if name.starts_with("--") => (name, Some(Value::exact(value))),
                _ => (text, None),
            };
            let takes_value =
                matches!(name, "-C" | "-c" | "--git-dir" | "--work-tree" | "--namespace" | "--config-env");
            let value = match attached {
                Some(value) => Some(value),
                None if takes_value => {
                    index += 1;
                    words.get(index).cloned()
                }
                None => None,
            };
            match (name, value) {
                ("-C", Some(value)) => self.cwd = self.located(&value),
                ("--git-dir", Some(value)) => self.directory = self.located(&value),
                ("--work-tree", Some(value)) => self.work_tree = self.located(&value),
                ("-c", Some(value)) => self.settings.give_assignment(&value),
                ("--config-env", Some(value)) => {
                    if let Some((key, variable)) = value.as_exact().and_then(|text| text.rsplit_once('=')) {
                        let given = self.machine.variable(variable).unwrap_or(Value::Unknown);
                        self.settings.give(key, given);
                    }
                }
                ("--exec-path", Some(value)) => self.programs = Some(value),
                ("--bare", _) => self.directory = self.cwd.clone(),
                (name, _) if IGNORED.contains(&name) => {}
                ("--version" | "-v" | "--help" | "-h" | "--html-path" | "--man-path" | "--info-path", _)
                | ("--exec-path", None) => return None,
                ("--pager", Some(value)) => {
                    self.machine.possibly(|machine| machine.run_text(&value, Input::Inherited));
                }
                _ if name.starts_with('-') => {
                    self.machine.opaque(format!("git takes no option `{name}`"));
                    return None;
                }
                _ => return words.get(index..),
            }
            index += 1;
        }
        None
    }

    /// Runs a subcommand; `words` begin with its name, `depth` counts aliases.
    fn subcommand(&mut self, words: &[Value], depth: usize) -> Exit {
        let Some((first, rest)) = words.split_first() else {
            return Exit::silent();
        };
        let Some(name) = first.as_exact() else {
            self.machine.opaque("which git subcommand runs is not known");
            return Exit::silent();
        };
        if let Some(exit) = self.known_subcommand(name, rest) {
            self.code_of_settings();
            return exit;
        }
        match self.settings.value(&format!("alias.{name}")) {
            Some(alias) if depth < Settings::ALIAS_DEPTH => self.alias(&alias, rest, depth),
            Some(_) => {
                self.machine.opaque(format!("the git alias `{name}` goes in circles"));
                Exit::silent()
            }
            None => {
                if self.settings.is_partly_unread() {
                    self.machine.unread("the settings of git cannot be read, and an alias may be among them");
                }
                let name = format!("git-{name}");
                let place = self.programs.clone().or_else(|| self.machine.variable("GIT_EXEC_PATH"));
                let own = place.map(|place| place.followed_by(&Value::exact(format!("/{name}"))));
                let own = own.filter(|own| !self.machine.is_certainly_missing(own));
                let mut program = vec![own.unwrap_or_else(|| Value::exact(name))];
                program.extend(rest.iter().cloned());
                self.machine.run_words(&program, Input::Inherited)
            }
        }
    }

    /// What a subcommand of git itself does; `None` when git has none of that name.
    fn known_subcommand(&mut self, name: &str, rest: &[Value]) -> Option<Exit> {
        let mut words = Words::of(name, rest);
        self.take_pathspec_files(&mut words);
        let words = words;
        let asks_help = words.has("--help") || rest.len() == 1 && words.has("-h");
        if asks_help {
            return Some(self.looking(name, &words));
        }
        // Before it is remembered in a shorter way.
        self.announce_own_settings(name, &words);
        self.announce_restored(name, &words);
        self.announce_references(name, &words);
        let contents = self.note_contents(name, &words);
        let exit = if LOOKING.contains(&name) {
            self.looking(name, &words)
        } else {
            restoring::run(self, name, &words)
                .or_else(|| references::run(self, name, &words))
                .or_else(|| working::run(self, name, &words))
                .or_else(|| remotes::run(self, name, &words))
                .or_else(|| settings::run(self, name, &words))?
        };
        self.thin_by_patterns(name);
        self.write_output(name, &words);
        self.mark_origin(name, &words);
        self.note_own_settings(name, &words);
        self.note_logged(name, &words);
        self.note_branch(name, &words);
        self.fire_hooks(name);
        match contents {
            Some(output) if !matches!(exit.output, Output::Text(_)) => Some(Exit { output, ..exit }),
            Some(_) | None => Some(exit),
        }
    }

    /// A subcommand that only looks; its output is known for the few that scripts build on.
    fn looking(&mut self, name: &str, words: &Words) -> Exit {
        if name == "instaweb" {
            let programs = ["--httpd", "-d", "--browser", "-b"];
            for program in words.arguments.values(&programs).cloned().collect::<Vec<_>>() {
                self.run_with(&program, &[Value::Unknown]);
            }
        }
        let known = match name {
            "rev-parse" if words.has("--show-toplevel") => self.root().map(|root| root.as_str().to_owned()),
            "rev-parse" if words.has("--abbrev-ref") && words.arguments.operand(0) == Some("HEAD") => {
                self.present_branch()
            }
            "rev-parse" if words.has("--git-dir") || words.has("--absolute-git-dir") => {
                self.repository_directory().map(|directory| directory.as_str().to_owned())
            }
            _ => None,
        };
        let shown = match (name, words.operands()) {
            ("cat-file", [kind, file]) if matches!(kind.as_exact(), Some("blob")) => {
                self.shown_file(std::slice::from_ref(file))
            }
            ("cat-file", files) if words.has("-p") => self.shown_file(files),
            _ => None,
        };
        match known {
            _ if shown.is_some() => shown.map_or_else(Exit::unknown, Exit::printing),
            Some(text) => Exit::printing(Value::exact(format!("{text}\n"))),
            None => self.names_not_kept(name, words).map_or_else(Exit::unknown, Exit::printing),
        }
    }

    /// Runs an alias: text behind `!` by a shell in the work tree, other text as a subcommand.
    fn alias(&mut self, alias: &Value, rest: &[Value], depth: usize) -> Exit {
        let Some(text) = alias.as_exact() else {
            self.machine.opaque("what the git alias holds is not known");
            return Exit::silent();
        };
        if let Some(command) = text.strip_prefix('!') {
            let start = self.root().map_or(String::new(), |root| format!("cd {} && ", quoted(root.as_str())));
            let whole = rest.iter().fold(Value::exact(format!("{start}{command}")), |text, word| {
                let word = word.as_exact().map_or_else(|| word.clone(), |word| Value::exact(quoted(word)));
                text.followed_by(&Value::exact(" ")).followed_by(&word)
            });
            return self.machine.run_text(&whole, Input::Inherited);
        }
        let mut words: Vec<Value> = settings::split_words(text).into_iter().map(Value::exact).collect();
        words.extend(rest.iter().cloned());
        match self.general_options(&words).map(<[Value]>::to_vec) {
            Some(words) => self.subcommand(&words, depth + 1),
            None => Exit::silent(),
        }
    }

    /// Runs what settings given for this call alone make git run.
    fn code_of_settings(&mut self) {
        for (key, value) in self.settings.given_code() {
            if value.as_exact().is_some_and(|text| settings::is_harmless_program(&key, text)) {
                continue;
            }
            let text = match value.as_exact().and_then(|text| text.strip_prefix('!')) {
                Some(command) => Value::exact(command),
                None => value,
            };
            // `url.ext::COMMAND.insteadOf` makes an address of a command.
            let text = match key.strip_prefix("url.").and_then(|rest| rest.split_once("ext::")) {
                Some((_, rest)) => Value::exact(rest.rsplit_once('.').map_or(rest, |(command, _)| command)),
                None => text,
            };
            match key.as_str() {
                "core.hookspath" => {
                    self.machine.opaque(format!("git takes code from where `{key}` points"));
                }
                // What is in a file that can be read is among the settings.
                "include.path" if self.settings.has_read(&text) => {}
                "include.path" => self.machine.unread("git takes settings from a file that cannot be read"),
                "diff.external" => self.run_with_files(&text, &[]),
                key if key.ends_with(".textconv") => self.run_with_files(&text, &[]),
                key if key.starts_with("difftool.") => self.run_with_files(&text, &[]),
                _ => {
                    self.machine.possibly(|machine| machine.run_text(&text, Input::Inherited));
                }
            }
        }
    }

    // Places.

    /// The path that a word names from where git runs; `None` when not exactly known.
    fn located(&self, value: &Value) -> Option<AbsolutePath> {
        self.place(value.as_exact()?)
    }

    /// Where the kernel finds a directory from where git runs: `..` behind a link is above the place that it leads to.
    fn place(&self, text: &str) -> Option<AbsolutePath> {
        let whole = match (&self.cwd, text.starts_with('/')) {
            (_, true) => text.to_owned(),
            (Some(cwd), false) => format!("{}/{text}", cwd.as_str().trim_end_matches('/')),
            (None, false) => return None,
        };
        self.machine.one_path_through(&Value::exact(&whole)).or_else(|| AbsolutePath::new(&whole))
    }

    /// A word made absolute from where git runs, so that it means the same everywhere.
    fn absolute(&self, value: &Value) -> Value {
        let Some(cwd) = &self.cwd else {
            let is_whole = value.known_start().starts_with('/') || self.machine.cwd().is_none();
            return if is_whole { value.clone() } else { Value::Unknown };
        };
        match value {
            Value::Exact(text) => Value::exact(cwd.join(text).as_str()),
            Value::AnyOf(texts) => {
                Value::AnyOf(texts.iter().map(|text| cwd.join(text).as_str().to_owned()).collect())
            }
            Value::Glob(_) | Value::Between { .. } if value.known_start().starts_with('/') => value.clone(),
            Value::Glob(_) | Value::Between { .. } | Value::Unknown => {
                Value::exact(format!("{}/", cwd.as_str().trim_end_matches('/'))).followed_by(value)
            }
        }
    }

    /// The root of the work tree: as given, else the nearest repository upward, else where git runs; `None` when not known.
    fn root(&self) -> Option<AbsolutePath> {
        if let Some(given) = &self.work_tree {
            return Some(given.clone());
        }
        let cwd = self.cwd.as_ref()?;
        if self.directory.is_some() {
            return Some(cwd.clone());
        }
        Some(self.found(cwd).map_or_else(|| cwd.clone(), |(root, _)| root))
    }

    /// The repository's own directory; `None` when not known.
    fn repository_directory(&self) -> Option<AbsolutePath> {
        if let Some(given) = &self.directory {
            return Some(given.clone());
        }
        let cwd = self.cwd.as_ref()?;
        Some(self.found(cwd).map_or_else(|| cwd.join(".git"), |(_, directory)| directory))
    }

    /// The nearest repository upward, also one that this command made, or one without a work tree: its root and its directory.
    fn found(&self, cwd: &AbsolutePath) -> Option<(AbsolutePath, AbsolutePath)> {
        use crate::world::Entry;
        let is = |path: AbsolutePath| self.machine.entry(&path);
        let mut next = Some(cwd.clone());
        while let Some(directory) = next {
            let inside = directory.join(".git");
            match self.machine.entry(&inside) {
                Entry::Directory => return Some((directory, inside)),
                Entry::Missing
                    if matches!(is(directory.join("HEAD")), Entry::File(_) | Entry::Symlink(_))
                        && is(directory.join("objects")) == Entry::Directory
                        && is(directory.join("refs")) == Entry::Directory =>
                {
                    return Some((directory.clone(), directory));
                }
                Entry::Missing => next = directory.parent(),
                Entry::File(_) => {
                    // A file that says where the repository is; of one that this command made the world knows nothing.
                    let known = self.machine.world().repository(&directory);
                    if known.is_some_and(|known| known.root == directory) {
                        break;
                    }
                    let text = self.machine.text(&inside);
                    let named = text.as_exact().and_then(|text| text.trim().strip_prefix("gitdir:"));
                    let Some(named) = named else { break };
                    let repository = directory.join(named.trim());
                    return Some((directory, repository));
                }
                Entry::Symlink(_) | Entry::Special | Entry::Unknown => break,
            }
        }
        self.machine.world().repository(cwd).map(|found| (found.root, found.directory))
    }

    /// Whether the work tree and the repository are those that a file there belongs to, so that what is known of the version of a file is
    /// what this call will find.
    fn is_natural(&self) -> bool {
        if self.work_tree.is_none() && self.directory.is_none() {
            // A repository that the command made around files of another one tracks none of them.
            let found = self.cwd.as_ref().and_then(|cwd| self.found(cwd));
            return found.is_none_or(|(_, directory)| {
                self.machine.entry(&directory) == self.machine.world().entry(&directory)
            });
        }
        let Some(root) = self.root() else { return false };
        self.found(&root).is_some_and(|(found, directory)| {
            found == root && self.repository_directory().is_some_and(|given| given == directory)
        })
    }

    // Effects.

    /// The target that stands for the inside of the repository.
    fn inside(&self) -> Target {
        self.repository_directory().map_or(Target::Unknown, Target::Path)
    }

    /// Changes the repository's own data in a way that loses nothing.
    fn touch(&mut self, note: &str) -> Exit {
        self.touch_as(Nature::KeptByVersionControl, note)
    }

    /// The same, and what was there is under no name that lasts: it is in a reflog, or waits to be cleared away.
    fn keep_for_a_while(&mut self, note: &str) -> Exit {
        self.touch_as(Nature::KeptForAWhile, note)
    }

    fn touch_as(&mut self, nature: Nature, note: &str) -> Exit {
        let target = self.inside();
        self.machine.add(data_change(target, nature, note));
        Exit::silent()
    }

    /// The same, but a name, a setting or what was staged goes, and nothing of git's own says later what it was.
    fn forget(&mut self, what: &str) -> Exit {
        self.touch_as(Nature::KeptWithoutItsName, &format!("forgets {what}"))
    }

    /// Tracked files become what another commit holds; git refuses where that would lose uncommitted work.
    fn change_tree(&mut self, note: &str) {
        self.change_tree_as(Nature::KeptByVersionControl, note);
    }

    fn change_tree_as(&mut self, nature: Nature, note: &str) {
        let target = self.root().map_or(Target::Unknown, |root| {
            Target::Glob(format!("{}/**", root.as_str().trim_end_matches('/')))
        });
        self.machine.add(
            Draft::new(EffectKind::FileModify, target)
                .possible()
                .severity(Severity::Low)
                .nature(nature)
                .note(KEPT_BY_GIT)
                .note(note),
        );
    }

    /// Loses what a word names as a reference.
    fn lose_reference(&mut self, value: &Value, note: &str) {
        if self.is_no_reference(value) {
            // Git fails, and loses nothing.
            return;
        }
        // Whichever it is, it is one of this repository, and all of them can be saved.
        let name = value.as_exact().unwrap_or("whatever the list names");
        let target = Target::Reference(name.to_owned());
        self.machine.add(Draft::new(EffectKind::VcsLocalLoss, target).note(note));
        self.name_repository();
    }

    /// Says which repository is meant by what is said about references, where it is not the one around.
    fn name_repository(&mut self) {
        let around = self
            .machine
            .world()
            .repository(&self.machine.world().place().workspace.clone())
            .map(|found| found.directory);
        let meant = self.repository_directory();
        if meant.is_some() && meant != around {
            self.forget("what the references were");
        }
    }
}
