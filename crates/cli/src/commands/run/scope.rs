//! What the kernel keeps a whole agent within: the scope of `checkrein exec`, around it and all that it starts.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use checkrein_clients::CLIENTS;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_protocol::AbsolutePath;
use serde::{Deserialize, Serialize};

use super::super::OutputForm;
use super::super::exec::state;

/// Places in a home directory where agents keep what they know of a session beside the folder of their client (seen with the clients that the
/// tests install); only those that are there count.
const FURTHER_PLACES: [&str; 9] = [
    ".claude.json",
    ".cache/opencode",
    ".cache/claude-cli-nodejs",
    ".config/github-copilot",
    ".local/share/opencode",
    ".local/share/kilo",
    ".local/state/opencode",
    ".local/state/kilo",
    ".npm/_logs",
];

/// What an agent may change, read and talk to.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct AgentBounds {
    /// What it may change beside its own state, temporary files and ours; the directory in which it works when empty.
    write: Vec<PathBuf>,
    /// What it may read; everything when empty.
    read: Vec<PathBuf>,
    /// Whom it may talk to; everybody when empty.
    network: Vec<String>,
    /// What it may change beside what is named: the data of the repository of its worktree.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    beside: Vec<PathBuf>,
}

impl AgentBounds {
    /// The scope that was asked for; `None` where none was.
    pub fn of(write: Vec<PathBuf>, read: Vec<PathBuf>, network: Vec<String>) -> Option<Self> {
        let scope = Self { write, read, network, beside: Vec::new() };
        (scope != Self::default()).then_some(scope)
    }

    /// The bounds of an agent of which nothing may be taken on trust: what was not named is as narrow as it can work with. It may change the
    /// directory in which it works, and talk to its model. With them comes what to tell the user.
    pub(super) fn strictest(
        asked: Option<Self>,
        model: Option<String>,
        repository: Option<&AbsolutePath>,
    ) -> (Self, String) {
        let mut bounds = asked.unwrap_or_default();
        let talks = match (bounds.network.as_slice(), model) {
            ([], Some(host)) => {
                bounds.network = vec![host.clone()];
                format!("talk to `{host}` alone")
            }
            ([], None) => "talk to everybody, since the host of its model is not known".to_owned(),
            (named, _) => format!("talk to `{}`", named.join("`, `")),
        };
        bounds.beside.extend(repository.map(|data| PathBuf::from(data.as_str())));
        let writes = match bounds.write.as_slice() {
            [] => "its directory".to_owned(),
            named => named.iter().map(|path| format!("`{}`", path.display())).collect::<Vec<_>>().join(", "),
        };
        let told = format!(
            "the agent runs in a sandbox: it may change {writes}, temporary files and its own folder, and {talks}; `--write` and `--net` \
             name more"
        );
        (bounds, told)
    }

    /// The same with real places, which mean the same wherever the agent works.
    pub(super) fn settle(&mut self) -> Result<(), CommandError> {
        for path in self.write.iter_mut().chain(&mut self.read) {
            *path = fs::canonicalize(&*path).map_err(|error| {
                let mut failure = CommandError::file("find", path.display(), &error);
                failure.hint.get_or_insert_with(|| {
                    "what is not there yet needs the folder that it will stand in".to_owned()
                });
                failure
            })?;
        }
        Ok(())
    }

    /// The words that start an agent within the scope.
    pub(super) fn around(
        &self,
        agent: Vec<OsString>,
        environment: &HostEnvironment,
        output: OutputForm,
    ) -> Result<Vec<OsString>, CommandError> {
        let mut words: Vec<OsString> = vec![env::current_exe()?.into()];
        if output == OutputForm::Json {
            words.push("--json".into());
        }
        words.extend(["exec", "--around-agent"].map(OsString::from));
        let mut give = |option: &str, value: OsString| words.extend([option.into(), value]);
        let own = vec![PathBuf::from(environment.cwd.as_str())];
        let given = if self.write.is_empty() { &own } else { &self.write };
        let beside = beside(environment);
        for path in given.iter().chain(&self.beside).chain(&beside) {
            give("--write", path.into());
        }
        if !self.read.is_empty() {
            // What its hooks need is ours.
            let ours = [environment.configuration.as_str().into()].into_iter();
            let ours = ours.chain(env::current_exe()?.parent().map(PathBuf::from));
            let ours: Vec<PathBuf> = ours.filter(|place: &PathBuf| place.exists()).collect();
            for path in self.read.iter().chain(given).chain(&ours) {
                give("--read", path.into());
            }
        }
        match self.network.as_slice() {
            [] => give("--net", "open".into()),
            named => named.iter().for_each(|who| give("--net", who.into())),
        }
        words.push("--".into());
        words.extend(agent);
        Ok(words)
    }
}

/// What an agent and its hooks write wherever they work: temporary files, what agents know of their sessions, and what we keep.
fn beside(environment: &HostEnvironment) -> Vec<PathBuf> {
    let home = &environment.home;
    let kept = [home.join(".local/share/checkrein")];
    let places = agent_places(home, |name| environment.variables.get(name)).chain(kept);
    let places = places.map(|place| PathBuf::from(place.as_str())).chain(state()).chain([env::temp_dir()]);
    places.filter_map(|place| fs::canonicalize(place).ok()).collect()
}

/// Where agents keep what they know of a session, by the home directory and the variables of the process.
fn agent_places<'a>(
    home: &AbsolutePath,
    variable: impl Fn(&str) -> Option<&'a String>,
) -> impl Iterator<Item = AbsolutePath> {
    let folders = CLIENTS.iter().map(move |client| client.places.folder(home, &variable));
    folders.chain(FURTHER_PLACES.iter().map(|place| home.join(place)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_named_is_as_narrow_as_an_agent_can_work_with() {
        let host = || Some("api.anthropic.com:443".to_owned());
        let (bounds, told) = AgentBounds::strictest(None, host(), None);
        assert_eq!(bounds.network, ["api.anthropic.com:443"]);
        assert!(told.contains("its directory") && told.contains("`api.anthropic.com:443` alone"), "{told}");
        // What was named stays, and the rest is narrow.
        let named = AgentBounds::of(vec!["src".into()], vec![], vec![]);
        let (bounds, told) = AgentBounds::strictest(named, host(), None);
        assert_eq!((bounds.write.as_slice(), bounds.network.len()), ([PathBuf::from("src")].as_slice(), 1));
        assert!(told.contains("may change `src`"), "{told}");
        let open = AgentBounds::of(vec![], vec![], vec!["open".to_owned()]);
        let data = AbsolutePath::new("/home/dev/proj/.git").unwrap();
        let (bounds, told) = AgentBounds::strictest(open, host(), Some(&data));
        assert_eq!((bounds.network.as_slice(), bounds.beside.len()), (["open".to_owned()].as_slice(), 1));
        assert!(told.contains("talk to `open`"), "{told}");
        let (bounds, told) = AgentBounds::strictest(None, None, None);
        assert!(bounds.network.is_empty() && told.contains("not known"), "{told}");
    }

    #[test]
    fn each_client_may_write_in_its_folder_wherever_that_is() {
        let home = AbsolutePath::new("/home/dev").unwrap();
        let elsewhere = "/srv/codex".to_owned();
        let there = |name: &str| (name == "CODEX_HOME").then_some(&elsewhere);
        let places: Vec<AbsolutePath> = agent_places(&home, there).collect();
        for client in CLIENTS {
            let folder = client.places.folder(&home, there);
            assert!(folder != home && places.contains(&folder), "{}: {places:?}", client.title);
        }
        assert!(places.iter().any(|place| place.as_str() == elsewhere), "{places:?}");
    }
}
