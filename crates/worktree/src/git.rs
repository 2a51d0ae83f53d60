//! The one place that runs `git`.
//!
//! An agent can write to the configuration, the attributes and the references of a repository. So nothing that those name is run: no hooks,
//! no watcher of files, no pager, and no filters and drivers of the repository's own configuration (those of the user's own configuration
//! are). Nothing is fetched, and no other repository inside is looked into.

use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use checkrein_supervise::runs::{RunError, RunErrorKind};

use crate::remembered::RememberedContents;

/// The few variables of the environment that `git` is given.
#[derive(Debug, Clone, Default)]
pub struct GitEnvironment(pub Vec<(OsString, OsString)>);

/// A repository, as seen from one of its work trees.
#[derive(Debug, Clone)]
pub struct GitRepository {
    /// What all work trees share.
    common: PathBuf,
    /// What belongs to this work tree.
    own: PathBuf,
    work_tree: PathBuf,
    environment: GitEnvironment,
    settings: Vec<(OsString, OsString)>,
    disabled: Vec<String>,
    remembered: Arc<Mutex<RememberedContents>>,
}

/// How one call of `git` differs from others.
#[derive(Debug, Default, Clone)]
pub(crate) struct Call<'a> {
    /// The work tree, when it is another than that of the repository.
    pub(crate) work_tree: Option<&'a Path>,
    /// The index, when it is another.
    pub(crate) index: Option<&'a Path>,
    /// Where new objects are written, when not into the repository.
    pub(crate) objects: Option<&'a Path>,
    /// What is given on standard input.
    pub(crate) input: &'a [u8],
}

/// What is set for every call.
const ALWAYS: [(&str, &str); 19] = [
    ("advice.graftFileDeprecated", "false"),
    ("core.checkStat", "default"),
    ("core.ignoreStat", "false"),
    ("core.trustctime", "true"),
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.untrackedCache", "false"),
    ("core.pager", "cat"),
    ("core.quotePath", "false"),
    ("core.splitIndex", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("protocol.allow", "never"),
    ("submodule.recurse", "false"),
    ("diff.ignoreSubmodules", "all"),
    ("diff.noprefix", "false"),
    ("diff.mnemonicPrefix", "false"),
    ("merge.default", "text"),
    ("apply.whitespace", "nowarn"),
];

impl GitRepository {
    /// The repository whose work tree has its root at a directory; `None` when there is none.
    pub fn at(root: &Path, environment: &GitEnvironment) -> Result<Option<Self>, RunError> {
        if std::fs::symlink_metadata(root.join(".git")).is_err() {
            return Ok(None);
        }
        let mut seed = Self {
            common: PathBuf::new(),
            own: PathBuf::new(),
            work_tree: root.to_owned(),
            environment: environment.clone(),
            settings: ALWAYS.iter().map(|(key, value)| (key.into(), value.into())).collect(),
            disabled: Vec::new(),
            remembered: Arc::default(),
        };
        let mut asking = seed.bare_command();
        asking.arg("-C").arg(root);
        let place = |option: &str| {
            let mut command = clone(&asking);
            command.args(["rev-parse", "--path-format=absolute", option]);
            let output = finished(run(command, b"")?, "find the repository")?;
            Ok::<_, RunError>(PathBuf::from(OsString::from_vec(without_line_end(output))))
        };
        let (common, own) = (place("--git-common-dir")?, place("--absolute-git-dir")?);
        seed.common = common;
        seed.own = own;
        seed.disable_programs()?;
        Ok(Some(seed))
    }

    /// What all work trees share.
    pub fn common(&self) -> &Path {
        &self.common
    }

    /// The root of the work tree.
    pub fn work_tree(&self) -> &Path {
        &self.work_tree
    }

    /// The same, which knows what its files held when they were last read.
    #[must_use]
    pub fn with_remembered(self, contents: RememberedContents) -> Self {
        Self { remembered: Arc::new(Mutex::new(contents)), ..self }
    }

    /// What its files held when they were last read.
    pub fn remembered(&self) -> MutexGuard<'_, RememberedContents> {
        self.remembered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The programs of the repository's own configuration that are not run here, by the name of their setting.
    pub fn disabled(&self) -> &[String] {
        &self.disabled
    }

    /// The commit that is checked out; `None` before the first one.
    pub(crate) fn head(&self) -> Result<Option<String>, RunError> {
        self.resolve("HEAD^{commit}")
    }

    /// The commit that a name stands for, such as a tag of it; `None` where it stands for nothing or for something else.
    ///
    /// # Errors
    ///
    /// When `git` cannot be run.
    pub fn commit_of(&self, name: &str) -> Result<Option<String>, RunError> {
        self.resolve(&format!("{name}^{{commit}}"))
    }

    /// The object that a name stands for; `None` when it stands for nothing.
    pub(crate) fn resolve(&self, name: &str) -> Result<Option<String>, RunError> {
        self.resolve_among(name, None)
    }

    /// The same with further objects.
    pub(crate) fn resolve_among(
        &self,
        name: &str,
        objects: Option<&Path>,
    ) -> Result<Option<String>, RunError> {
        let call = Call { objects, ..Call::default() };
        let output = self.output(&["rev-parse", "--verify", "--quiet", "--end-of-options", name], &call)?;
        if !output.status.success() {
            return Ok(None);
        }
        Ok(Some(text(&output.stdout)))
    }

    /// What `git` writes; an error when it fails, with its words.
    pub(crate) fn text(&self, arguments: &[&str], call: &Call<'_>) -> Result<String, RunError> {
        self.bytes(arguments, call).map(|bytes| text(&bytes))
    }

    /// The same as bytes.
    pub(crate) fn bytes(&self, arguments: &[&str], call: &Call<'_>) -> Result<Vec<u8>, RunError> {
        let what = format!("`git {}`", arguments.first().copied().unwrap_or_default());
        finished(self.output(arguments, call)?, &what)
    }

    /// How `git` ended, and what it wrote.
    pub(crate) fn output(&self, arguments: &[&str], call: &Call<'_>) -> Result<Output, RunError> {
        self.output_with(arguments.iter().map(OsStr::new), call)
    }

    /// The same for arguments of any bytes.
    pub(crate) fn output_with<'a>(
        &self,
        arguments: impl Iterator<Item = &'a OsStr>,
        call: &Call<'_>,
    ) -> Result<Output, RunError> {
        let mut command = self.bare_command();
        let work_tree = call.work_tree.unwrap_or(&self.work_tree);
        // Said, never found: what an agent wrote into a `.git` leads nowhere.
        command.env("GIT_DIR", &self.own).env("GIT_COMMON_DIR", &self.common).env("GIT_WORK_TREE", work_tree);
        command.current_dir(work_tree);
        if let Some(index) = call.index {
            command.env("GIT_INDEX_FILE", index);
        }
        if let Some(objects) = call.objects {
            command.env("GIT_OBJECT_DIRECTORY", objects);
            command.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", quoted(&self.common.join("objects")));
        }
        command.args(arguments);
        run(command, call.input)
    }

    fn bare_command(&self) -> Command {
        let mut command = Command::new("git");
        command
            .env_clear()
            .envs(self.environment.0.iter().map(|(name, value)| (name, value)))
            .env("LC_ALL", "C")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("GIT_GRAFT_FILE", "/dev/null")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_LITERAL_PATHSPECS", "1")
            .env("GIT_AUTHOR_NAME", "checkrein")
            .env("GIT_AUTHOR_EMAIL", "checkrein@localhost")
            .env("GIT_COMMITTER_NAME", "checkrein")
            .env("GIT_COMMITTER_EMAIL", "checkrein@localhost")
            .env("GIT_CONFIG_COUNT", self.settings.len().to_string());
        for (place, (key, value)) in self.settings.iter().enumerate() {
            command
                .env(format!("GIT_CONFIG_KEY_{place}"), key)
                .env(format!("GIT_CONFIG_VALUE_{place}"), value);
        }
        command
    }

    /// Finds the programs that the repository's own configuration names, and puts nothing in their place.
    fn disable_programs(&mut self) -> Result<(), RunError> {
        let listed =
            self.bytes(&["config", "--list", "--show-scope", "--name-only", "-z"], &Call::default())?;
        let mut fields = listed.split(|byte| *byte == 0);
        let mut drivers = std::collections::BTreeSet::new();
        while let (Some(scope), Some(key)) = (fields.next(), fields.next()) {
            if !matches!(scope, b"local" | b"worktree") {
                continue;
            }
            let Some((section, driver, name)) = parts(key) else { continue };
            let is_program = match section.as_slice() {
                b"filter" => matches!(name.as_slice(), b"clean" | b"smudge" | b"process"),
                b"merge" => name == b"driver",
                b"diff" => matches!(name.as_slice(), b"command" | b"textconv"),
                _ => false,
            };
            if is_program {
                drivers.insert((section, driver));
            }
        }
        for (section, driver) in drivers {
            let key = |name: &str| {
                let mut key = section.clone();
                key.push(b'.');
                key.extend_from_slice(&driver);
                key.extend_from_slice(format!(".{name}").as_bytes());
                OsString::from_vec(key)
            };
            let off: &[(&str, &str)] = match section.as_slice() {
                b"filter" => &[("clean", ""), ("smudge", ""), ("process", ""), ("required", "false")],
                // A driver that succeeds without doing anything would lose one side.
                b"merge" => &[("driver", "exit 1")],
                _ => &[("command", ""), ("textconv", "")],
            };
            self.settings.extend(off.iter().map(|(name, value)| (key(name), OsString::from(value))));
            let shown = [section.as_slice(), driver.as_slice()]
                .map(|part| String::from_utf8_lossy(part).into_owned());
            self.disabled.push(shown.join("."));
        }
        Ok(())
    }
}

/// Section, driver and name of a setting such as `filter.lfs.clean`.
fn parts(key: &[u8]) -> Option<(Vec<u8>, Vec<u8>, Vec<u8>)> {
    let first = key.iter().position(|byte| *byte == b'.')?;
    let last = key.iter().rposition(|byte| *byte == b'.')?;
    let section = key.get(..first)?.to_ascii_lowercase();
    Some((section, key.get(first + 1..last)?.to_vec(), key.get(last + 1..)?.to_ascii_lowercase()))
}

fn clone(command: &Command) -> Command {
    let mut other = Command::new(command.get_program());
    other.env_clear().args(command.get_args());
    other.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    other
}

fn run(mut command: Command, input: &[u8]) -> Result<Output, RunError> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| {
        RunError::new(
            RunErrorKind::Machine,
            format!("`git` cannot be run: {error}"),
            "install git and check `PATH`",
        )
    })?;
    let stdin = child.stdin.take();
    std::thread::scope(|scope| {
        // Beside the reading: either side may have more to say than a pipe holds. Who ends early has read enough.
        scope.spawn(move || stdin.map(|mut stdin| drop(stdin.write_all(input))));
        child.wait_with_output()
    })
    .map_err(|error| RunError::new(RunErrorKind::Machine, format!("`git` failed: {error}"), "try again"))
}

pub(super) fn finished(output: Output, what: &str) -> Result<Vec<u8>, RunError> {
    if output.status.success() {
        return Ok(output.stdout);
    }
    let words = String::from_utf8_lossy(&output.stderr);
    let is_error = |line: &&str| line.starts_with("fatal: ") || line.starts_with("error: ");
    let first = || words.lines().find(|line| !line.trim().is_empty());
    let said = words.lines().find(is_error).or_else(first).unwrap_or("it says nothing").trim();
    Err(RunError::new(
        RunErrorKind::Machine,
        format!("{what} failed: {}", said.trim_start_matches("fatal: ").escape_debug()),
        "nothing was changed; `git status` in the repository may say more",
    ))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end_matches('\n').to_owned()
}

fn without_line_end(mut bytes: Vec<u8>) -> Vec<u8> {
    if bytes.ends_with(b"\n") {
        bytes.pop();
    }
    bytes
}

/// A path in a list that is divided by colons.
fn quoted(path: &Path) -> OsString {
    let bytes = path.as_os_str().as_bytes();
    let mut text = vec![b'"'];
    for byte in bytes {
        match byte {
            b'"' | b'\\' => text.extend([b'\\', *byte]),
            b'\n' => text.extend(b"\\n"),
            byte => text.push(*byte),
        }
    }
    text.push(b'"');
    OsString::from_vec(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_have_three_parts_and_the_middle_may_hold_dots() {
        let of =
            |key: &[u8]| parts(key).map(|(a, b, c)| [a, b, c].map(|part| String::from_utf8(part).unwrap()));
        assert_eq!(of(b"Filter.a.b.Clean").unwrap(), ["filter", "a.b", "clean"]);
        assert_eq!(of(b"plain"), None);
    }
}
