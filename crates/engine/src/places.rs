//! Where home, configuration and state of the user really are.
//!
//! A client passes its environment on to its hooks, and the settings of a project may set variables in it. So a variable that leads us
//! elsewhere counts only when it comes from the user. It does not count when the settings of the workspace name it, when it leads into the
//! workspace in any way, or when the session is on record in the user's own place.
//!
//! Which place is the user's own says the system's list of users. Not each has an entry there: a container may run as any number. Then it
//! is the home directory that the client was started with. The kernel keeps the environment that a program was given at its start, so
//! nothing that the client sets for its hooks later is in it.

use std::fs;
use std::sync::Arc;

use checkrein_ledger::FolderName;
use checkrein_protocol::{AbsolutePath, SessionId};

use checkrein_world::changes::real_path;

use crate::environment::{HostEnvironment, home_from_system};
use crate::processes::homes_above;

/// The variables that move our places, in the order in which they are looked at.
const MOVING: [&str; 4] = ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "CHECKREIN_HOME"];

/// Surroundings in which nothing of the workspace says where our places are, and what was wrong with them.
#[derive(Debug)]
pub(crate) struct Settled {
    /// The host environment.
    pub(crate) environment: HostEnvironment,
    /// What is not as it should be, in words; empty where all is well.
    pub(crate) complaints: Vec<String>,
    /// Whether a place was found.
    pub(crate) ground: Ground,
}

/// Whether there is a home directory to go by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ground {
    /// There is one.
    Found,
    /// The one that is named is none, and nothing names another: no configuration and no state can be trusted.
    Missing,
}

/// A home directory that nobody has: it stands where none can be trusted, so that nothing is read from one.
const NOWHERE: &str = "/nonexistent";

/// Takes our places from the user where something else moved them. `session` is that of the call, when there is one.
pub(crate) fn settle(
    environment: HostEnvironment,
    workspace: &AbsolutePath,
    session: Option<&SessionId>,
) -> Settled {
    let own_home = home_from_system().or_else(|| home_of_start(&environment, workspace));
    settle_at(environment, workspace, session, own_home.as_ref())
}

/// The home directory of a user of whom the system's list says nothing: the nearest other one that a process above this one was started
/// with, and can be one, else the one of now, where those processes know no other.
fn home_of_start(environment: &HostEnvironment, workspace: &AbsolutePath) -> Option<AbsolutePath> {
    own_among(&homes_above(environment.process), environment, workspace)
}

/// The same among these home directories, nearest process first. The nearest is the shell in which the client calls its hook, which has
/// whatever the client set.
fn own_among(
    above: &[Option<String>],
    environment: &HostEnvironment,
    workspace: &AbsolutePath,
) -> Option<AbsolutePath> {
    let now = environment.variables.get("HOME");
    let others = above.iter().flatten().filter(|home| Some(*home) != now);
    let mut fit = others.filter(|home| misplaced("HOME", home, environment, workspace, None).is_none());
    if let Some(home) = fit.next() {
        return AbsolutePath::new(home);
    }
    let agrees = above.len() > 1 && above.iter().all(|home| home.as_ref() == now);
    now.filter(|_| agrees).and_then(|home| AbsolutePath::new(home)).filter(|home| !is_of_kernel(home))
}

/// The same with the home directory that the system knows.
fn settle_at(
    environment: HostEnvironment,
    workspace: &AbsolutePath,
    session: Option<&SessionId>,
    own_home: Option<&AbsolutePath>,
) -> Settled {
    let moved: Vec<&str> = MOVING.into_iter().filter(|name| moves(name, &environment, own_home)).collect();
    let is_set = |name: &&str| environment.variables.get(*name).is_some_and(|value| !value.is_empty());
    let interposing: Vec<&str> =
        environment.client.places.interposing.iter().copied().filter(is_set).collect();
    if moved.is_empty() && interposing.is_empty() {
        return Settled { environment, complaints: Vec::new(), ground: Ground::Found };
    }
    let brought = brought_by(&environment, workspace);
    let mut complaints = Vec::new();
    for name in interposing {
        if let Some((file, ..)) = brought.iter().find(|(_, named, _)| named == name) {
            complaints.push(format!("`{file}` sets `{name}`, which a project must not"));
        }
    }
    let before = complaints.len();
    let mut kept = Vec::clone(&moved);
    for name in &moved {
        let value = environment.variables.get(*name).map(String::as_str).unwrap_or_default();
        let file = brought.iter().find(|(_, named, text)| named == name && text == value);
        if let Some((file, ..)) = file {
            complaints.push(format!("`{file}` sets `{name}`, which a project must not"));
            kept.retain(|other| other != name);
        } else if let Some(why) = misplaced(name, value, &environment, workspace, own_home) {
            complaints.push(format!("`{name}` is `{value}`, {why}"));
            kept.retain(|other| other != name);
        }
    }
    // A session that is on record where the user's own places are began there.
    if complaints.len() == before
        && let Some(session) = session
        && let Some(own) = without(&environment, &moved, own_home)
        && own.state_path != environment.state_path
        && fs::symlink_metadata(own.state.session(&FolderName::of(session))).is_ok()
        && fs::symlink_metadata(environment.state.session(&FolderName::of(session))).is_err()
    {
        complaints.push(format!("{} moved while the session was going on", moved.join(", ")));
        kept.clear();
    }
    if complaints.len() == before {
        return Settled { environment, complaints, ground: Ground::Found };
    }
    let dropped: Vec<&str> = moved.into_iter().filter(|name| !kept.contains(name)).collect();
    if let Some(environment) = without(&environment, &dropped, own_home) {
        return Settled { environment, complaints, ground: Ground::Found };
    }
    let nowhere = AbsolutePath::new(NOWHERE).and_then(|home| without(&environment, &MOVING, Some(&home)));
    Settled { environment: nowhere.unwrap_or(environment), complaints, ground: Ground::Missing }
}

/// Whether a variable puts our places elsewhere than they would be without it.
fn moves(name: &str, environment: &HostEnvironment, own_home: Option<&AbsolutePath>) -> bool {
    match (name, environment.variables.get(name)) {
        (_, None) => false,
        ("HOME", Some(home)) => own_home.is_none_or(|own| AbsolutePath::new(home).as_ref() != Some(own)),
        (_, Some(path)) => !path.is_empty(),
    }
}

/// The variables that the settings of the workspace set: by which file, name, value.
fn brought_by(
    environment: &HostEnvironment,
    workspace: &AbsolutePath,
) -> Vec<(AbsolutePath, String, String)> {
    let client = environment.client;
    let mut folders = vec![workspace.clone(), environment.cwd.clone()];
    folders.extend(environment.started_in());
    folders.sort();
    folders.dedup();
    let mut found = Vec::new();
    for folder in folders {
        for name in client.places.environment {
            let file = folder.join(name);
            let text = checkrein_files::read_text(file.as_str(), checkrein_files::SMALL).unwrap_or_default();
            let set = (client.hooks.variables)(&text);
            found.extend(set.into_iter().map(|(name, value)| (file.clone(), name, value)));
        }
    }
    found
}

/// Whether the kernel makes up a place as it likes.
fn is_of_kernel(path: &AbsolutePath) -> bool {
    ["proc", "sys", "dev"].iter().any(|folder| path.is_within(&AbsolutePath::root().join(folder)))
}

/// Why a place is none for configuration and state; `None` when it is one. Where the home directory is itself temporary, or is the
/// workspace, everything is.
fn misplaced(
    name: &str,
    value: &str,
    environment: &HostEnvironment,
    workspace: &AbsolutePath,
    own_home: Option<&AbsolutePath>,
) -> Option<&'static str> {
    let Some(given) = AbsolutePath::new(value) else { return Some("which is not an absolute path") };
    if is_of_kernel(&given) {
        return Some("which is a place of the kernel");
    }
    let real = real_place(&given);
    // Where nothing else says where home is, the place that is asked about cannot speak for itself.
    let speaks = name != "HOME" || own_home.is_some();
    if (speaks && real_place(&environment.home) == *workspace)
        || own_home.is_some_and(|home| home.is_within(workspace))
    {
        return None;
    }
    if real.is_within(workspace) {
        return Some("which lies inside the workspace, where the agent can write");
    }
    let home = real_place(&environment.home);
    let is_open = |folder: &AbsolutePath| real.is_within(folder) && !home.is_within(folder);
    (name != "HOME" && environment.temporary().iter().any(is_open))
        .then_some("which lies among temporary files, where the agent can write")
}

/// The host environment without these variables; `HOME` is what the system says. `None` when it says nothing.
fn without(
    environment: &HostEnvironment,
    names: &[&str],
    own_home: Option<&AbsolutePath>,
) -> Option<HostEnvironment> {
    let mut variables = environment.variables.as_ref().clone();
    for name in names {
        variables.remove(*name);
    }
    if names.contains(&"HOME") {
        variables.insert("HOME".to_owned(), own_home?.to_string());
    }
    HostEnvironment::of(Arc::new(variables), environment.cwd.clone()).ok()
}

/// Where a path really is, as far as it exists; the rest of it is taken as it stands.
pub(crate) fn real_place(path: &AbsolutePath) -> AbsolutePath {
    let mut above = Some(path.clone());
    while let Some(folder) = above {
        if fs::symlink_metadata(folder.as_str()).is_ok() {
            let real = real_path(&folder);
            return match path.relative_to(&folder) {
                Some(rest) if !rest.is_empty() => real.join(rest),
                Some(_) | None => real,
            };
        }
        above = folder.parent();
    }
    path.clone()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    struct Scene {
        folder: tempfile::TempDir,
    }

    impl Scene {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            fs::create_dir_all(folder.path().join("home/project/.claude")).unwrap();
            fs::create_dir_all(folder.path().join("home/project/brought")).unwrap();
            Self { folder }
        }

        fn at(&self, path: &str) -> AbsolutePath {
            let real = fs::canonicalize(self.folder.path()).unwrap();
            AbsolutePath::new(real.to_str().unwrap()).unwrap().join(path)
        }

        fn environment(&self, variables: &[(&str, String)]) -> HostEnvironment {
            let mut all = BTreeMap::from([("HOME".to_owned(), self.at("home").to_string())]);
            all.extend(variables.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
            HostEnvironment::of(Arc::new(all), self.at("home/project")).unwrap()
        }

        fn settle(&self, variables: &[(&str, String)], session: Option<&str>) -> Settled {
            let session = session.map(|name| SessionId(name.to_owned()));
            let own = Some(self.at("home"));
            settle_at(self.environment(variables), &self.at("home/project"), session.as_ref(), own.as_ref())
        }

        fn is_at_home(&self, settled: &Settled) -> bool {
            let found = &settled.environment;
            found.home == self.at("home")
                && found.configuration == self.at("home/.config/checkrein")
                && found.state_path == self.at("home/.local/state/checkrein")
        }
    }

    #[test]
    fn nothing_of_the_workspace_says_where_our_places_are() {
        let scene = Scene::new();
        let link = scene.at("home/link");
        std::os::unix::fs::symlink(scene.at("home/project").as_str(), link.as_str()).unwrap();
        let brought = scene.at("home/project/brought").to_string();
        for place in [
            brought.clone(),
            format!("{link}/brought"),
            format!("{link}/not/there/yet"),
            "/proc/self/cwd/brought".to_owned(),
            format!("/proc/self/root{brought}"),
            "/proc/thread-self/cwd".to_owned(),
            "brought".to_owned(),
            "/dev/shm/x".to_owned(),
        ] {
            for name in ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "CHECKREIN_HOME", "HOME"] {
                if name == "HOME" && place == "/dev/shm/x" {
                    continue;
                }
                if name == "HOME" && AbsolutePath::new(&place).is_none() {
                    // The host environment itself takes no such home.
                    continue;
                }
                let settled = scene.settle(&[(name, place.clone())], None);
                assert_eq!(settled.complaints.len(), 1, "{name}={place}");
                assert!(scene.is_at_home(&settled), "{name}={place}: {settled:?}");
            }
        }
    }

    #[test]
    fn without_an_entry_in_the_list_of_users_home_is_where_the_client_was_started() {
        let scene = Scene::new();
        let (home, elsewhere) = (scene.at("home").to_string(), scene.at("elsewhere").to_string());
        let brought = scene.at("home/project/brought").to_string();
        let workspace = scene.at("home/project");
        let own = |now: &str, above: &[&str]| {
            let environment = scene.environment(&[("HOME", now.to_owned())]);
            let above: Vec<Option<String>> = above.iter().map(|home| Some((*home).to_owned())).collect();
            own_among(&above, &environment, &workspace).map(|home| home.to_string())
        };
        // The shell of the hook has what the client set; the client has what the user gave it.
        assert_eq!(own(&brought, &[&brought, &home, &home]), Some(home.clone()));
        assert_eq!(own("/proc/self/cwd/brought", &["/proc/self/cwd/brought", &home]), Some(home.clone()));
        assert_eq!(own(&home, &[&home, &home, "/"]), Some("/".to_owned()));
        assert_eq!(own(&home, &[&home, &home]), Some(home.clone()));
        // A client that an agent started with another home has that from its start; one above it has not.
        let nested = [&brought, &brought, "/proc/self/cwd", &elsewhere].map(|home: &str| home);
        assert_eq!(own(&brought, &nested), Some(elsewhere.clone()));
        // One process alone may be the shell of the hook.
        for above in [&[][..], &[home.as_str()][..]] {
            assert_eq!(own(&home, above), None);
        }
        assert_eq!(own("/proc/self/cwd/h", &["/proc/self/cwd/h"; 3]), None);
    }

    #[test]
    fn where_nothing_says_where_home_is_a_home_of_the_workspace_leaves_nothing_to_go_by() {
        let scene = Scene::new();
        let workspace = scene.at("home/project");
        let settled =
            |home: &str| settle_at(scene.environment(&[("HOME", home.to_owned())]), &workspace, None, None);
        for home in [
            workspace.to_string(),
            workspace.join("brought").to_string(),
            "/proc/self/cwd/brought".to_owned(),
            format!("/proc/self/root{workspace}/brought"),
        ] {
            let settled = settled(&home);
            assert_eq!((settled.complaints.len(), settled.ground), (1, Ground::Missing), "{home}");
            assert!(settled.environment.configuration.as_str().starts_with(NOWHERE), "{home}");
            assert!(settled.environment.state_path.as_str().starts_with(NOWHERE), "{home}");
        }
        let home = scene.at("elsewhere");
        assert_eq!(settled(home.as_str()).ground, Ground::Found);
        let path = scene.at("home/project/.claude/settings.json");
        fs::write(path.as_str(), serde_json::json!({ "env": { "HOME": home } }).to_string()).unwrap();
        assert_eq!(settled(home.as_str()).ground, Ground::Missing);
    }

    #[test]
    fn a_program_that_the_project_puts_before_the_hook_is_complained_of_and_one_of_the_person_is_not() {
        let scene = Scene::new();
        for name in ["CLAUDE_CODE_SHELL_PREFIX", "CLAUDE_CODE_SIMPLE"] {
            let set = [(name, "1".to_owned())];
            assert!(scene.settle(&set, None).complaints.is_empty(), "{name}");
            let path = scene.at("home/project/.claude/settings.json");
            fs::write(path.as_str(), serde_json::json!({ "env": { name: "1" } }).to_string()).unwrap();
            let settled = scene.settle(&set, None);
            assert_eq!(settled.complaints.len(), 1, "{name}");
            assert!(scene.is_at_home(&settled), "{name}");
            fs::remove_file(path.as_str()).unwrap();
        }
    }

    #[test]
    fn a_variable_of_the_settings_of_the_project_moves_nothing_and_one_of_the_person_does() {
        let scene = Scene::new();
        let elsewhere = scene.at("elsewhere").to_string();
        for name in ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "CHECKREIN_HOME"] {
            let moved = [(name, elsewhere.clone())];
            let own = scene.settle(&moved, Some("s"));
            assert!(own.complaints.is_empty(), "{name}: {:?}", own.complaints);
            assert!(!scene.is_at_home(&own), "{name}");
            for file in ["settings.json", "settings.local.json"] {
                let path = scene.at("home/project/.claude").join(file);
                let text = serde_json::json!({ "env": { name: elsewhere } }).to_string();
                fs::write(path.as_str(), text).unwrap();
                let settled = scene.settle(&moved, Some("s"));
                assert_eq!(settled.complaints.len(), 1, "{name} in {file}");
                assert!(scene.is_at_home(&settled), "{name} in {file}");
                fs::remove_file(path.as_str()).unwrap();
            }
            // The file is gone, but the session is on record where it began.
            let session = scene.at("home/.local/state/checkrein/sessions/s");
            fs::create_dir_all(session.as_str()).unwrap();
            let settled = scene.settle(&moved, Some("s"));
            assert_eq!(settled.complaints.is_empty(), name == "XDG_CONFIG_HOME", "{name}");
            fs::remove_dir_all(session.as_str()).unwrap();
        }
    }
}
