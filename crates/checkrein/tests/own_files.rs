//! What a user has of their own where a client looks for hooks: settings in any form, scripts, plugins, links. `init` loses nothing of it, and
//! `uninstall` gives every file back byte for byte.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use checkrein_clients::{CLIENTS, ClientAdapter, ClientPath, HookForm, SettingsScope};
use support::TestEnvironment;

/// Everything below a folder by its path: what it holds, its mode, where it leads.
type Tree = BTreeMap<PathBuf, (Vec<u8>, u32)>;

fn tree(environment: &TestEnvironment) -> Tree {
    let mut found = Tree::new();
    let mut waiting = vec![environment.home()];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(&folder).unwrap().flatten() {
            let (path, facts) = (entry.path(), entry.metadata().unwrap());
            let is_own = path == environment.home().join(".local") || path.ends_with("project/.git");
            if is_own || path == environment.home().join(".config/checkrein") {
                continue;
            }
            let held = if facts.is_dir() {
                waiting.push(path.clone());
                Vec::new()
            } else if facts.is_symlink() {
                fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
            } else {
                fs::read(&path).unwrap()
            };
            found.insert(path, (held, facts.permissions().mode() & 0o7777));
        }
    }
    found
}

/// What differs between two pictures, in words.
fn difference(before: &Tree, after: &Tree) -> String {
    let mut told = String::new();
    for path in before.keys().chain(after.keys()).collect::<std::collections::BTreeSet<_>>() {
        let (then, now) = (before.get(path), after.get(path));
        if then != now {
            let text = |held: Option<&(Vec<u8>, u32)>| {
                held.map(|(bytes, mode)| (String::from_utf8_lossy(bytes).into_owned(), format!("{mode:o}")))
            };
            writeln!(told, "{}: {:?} became {:?}", path.display(), text(then), text(now)).unwrap();
        }
    }
    told
}

/// Settings with a hook of the user on the event before a tool, in the form of the client.
fn settings_with_a_hook(client: &ClientAdapter) -> String {
    let event = client.hooks.reviewing;
    match client.hooks.form {
        HookForm::Groups => format!(
            "{{\n  \"theme\": \"dark\",\n  \"hooks\": {{\n    \"{event}\": [\n      {{ \"matcher\": \"x\", \"hooks\": [{{ \"type\": \"command\", \"command\": \"say mine\" }}] }}\n    ],\n    \"Own\": []\n  }}\n}}\n"
        ),
        HookForm::Entries(form) => format!(
            "{{\n  \"version\": 1,\n  \"hooks\": {{\n    \"{event}\": [{{ \"{}\": \"say mine\" }}]\n  }},\n  \"last\": true\n}}\n",
            form.command
        ),
        HookForm::Triggers => format!(
            "{{\n  \"version\": \"v1\",\n  \"hooks\": [\n    {{ \"name\": \"mine\", \"trigger\": \"{event}\", \"action\": {{ \"type\": \"command\", \"command\": \"say mine\" }} }}\n  ]\n}}\n"
        ),
        HookForm::Whole(_) => "#!/bin/sh\nsay mine\n".to_owned(),
    }
}

/// Ways in which users write such a file.
fn texts(client: &ClientAdapter) -> Vec<(&'static str, String)> {
    let own = settings_with_a_hook(client);
    let tabs = own.replace("  ", "\t");
    let compact: String = own.lines().map(str::trim).collect();
    let mut texts = vec![
        ("own hooks", own.clone()),
        ("one line without an end", compact),
        ("tabs and ends of lines of Windows", tabs.replace('\n', "\r\n")),
        ("a byte order mark", format!("\u{feff}{own}")),
        ("comments", format!("// mine\n{}/* last */\n", own.replacen('\n', " // why\n", 1))),
        ("a comma too many", own.replacen("\n}\n", ",\n}\n", 1)),
        ("blanks at the end", format!("{}  \n\n\t\n", own.replace(",\n", ",  \n"))),
        ("nothing", String::new()),
        ("blank lines", "\n \n".to_owned()),
        ("an empty object", "{ }".to_owned()),
        ("names that stand twice", own.replacen('{', "{ \"a\": 1, \"a\": 2,", 1)),
        ("no JSON", "mine: true\n".to_owned()),
    ];
    if matches!(client.hooks.form, HookForm::Whole(_)) {
        texts.push((
            "a mention of the hook program",
            "#!/bin/sh\n# asks checkrein-hook\nsay mine\n".to_owned(),
        ));
    }
    texts
}

/// How a file is there.
#[derive(Clone, Copy, Debug)]
enum Way {
    Plain,
    ReadOnly,
    Linked,
}

fn put(file: &Path, text: &str, way: Way) {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    match way {
        Way::Plain => fs::write(file, text).unwrap(),
        Way::ReadOnly => {
            fs::write(file, text).unwrap();
            fs::set_permissions(file, fs::Permissions::from_mode(0o440)).unwrap();
        }
        Way::Linked => {
            let name = file.file_name().unwrap();
            let real = file.parent().unwrap().join("dotfiles").join(name);
            fs::create_dir_all(real.parent().unwrap()).unwrap();
            fs::write(&real, text).unwrap();
            symlink(Path::new("dotfiles").join(name), file).unwrap();
        }
    }
}

/// Where the hooks of a client are registered.
fn places(environment: &TestEnvironment, client: &ClientAdapter) -> Vec<(&'static str, PathBuf)> {
    let of = |(scope, place): &(SettingsScope, ClientPath)| {
        let path = match place {
            ClientPath::Folder(below) => environment.home().join(client.places.folder).join(below),
            ClientPath::Project(below) => environment.project().join(below),
            ClientPath::Machine(_) => return None,
        };
        Some(match scope {
            SettingsScope::User => ("--user", path),
            SettingsScope::Team => ("--team", path),
            SettingsScope::Local => ("--local", path),
        })
    };
    client.places.settings.iter().filter_map(of).collect()
}

/// A home in which the hook program is where a shared command line looks for it.
fn environment() -> TestEnvironment {
    let environment = TestEnvironment::new();
    let bin = environment.home().join(".local/bin");
    fs::create_dir_all(&bin).unwrap();
    for (program, name) in [
        (env!("CARGO_BIN_EXE_checkrein"), "checkrein"),
        (env!("CARGO_BIN_EXE_checkrein-hook"), "checkrein-hook"),
    ] {
        fs::hard_link(program, bin.join(name))
            .or_else(|_| fs::copy(program, bin.join(name)).map(drop))
            .unwrap();
    }
    environment
}

/// Runs `init` twice and `uninstall` over what is there; whether `init` took it.
fn comes_back(environment: &TestEnvironment, client: &ClientAdapter, scope: &str, what: &str) -> bool {
    let name = client.client.name();
    let program = environment.home().join(".local/bin/checkrein");
    let checkrein = |arguments: &[&str]| environment.command(&program).args(arguments).output().unwrap();
    let before = tree(environment);
    let init = ["init", "--client", name, scope, "--yes"];
    let first = checkrein(&init);
    let said = String::from_utf8_lossy(&[first.stdout, first.stderr].concat()).into_owned();
    if !first.status.success() {
        let changed = difference(&before, &tree(environment));
        assert!(changed.is_empty(), "{name} {scope}, {what}: refused, and yet\n{changed}");
        // Whoever reads it finds the file, and what to do.
        let (_, file) = places(environment, client).into_iter().find(|(known, _)| *known == scope).unwrap();
        let folder = file.parent().unwrap().file_name().unwrap().to_str().unwrap().to_owned();
        assert!(said.contains(&folder) && said.contains("hint: "), "{name} {scope}, {what}: {said}");
        return false;
    }
    let registered = tree(environment);
    let again = checkrein(&init);
    assert!(again.status.success(), "{name} {scope}, {what}");
    let changed = difference(&registered, &tree(environment));
    assert!(changed.is_empty(), "{name} {scope}, {what}: the second time\n{changed}");
    let gone = checkrein(&["uninstall", "--client", name, scope, "--yes"]);
    assert!(gone.status.success(), "{name} {scope}, {what}: {}", String::from_utf8_lossy(&gone.stderr));
    let changed = difference(&before, &tree(environment));
    assert!(changed.is_empty(), "{name} {scope}, {what}: after `uninstall`\n{changed}");
    true
}

#[test]
fn whatever_a_user_has_there_comes_back_byte_for_byte() {
    let of_one = |client: &'static ClientAdapter| {
        let mut taken = 0;
        for (number, (what, text)) in texts(client).into_iter().enumerate() {
            let way = [Way::Plain, Way::Linked, Way::ReadOnly][number % 3];
            let environment = environment();
            for (scope, file) in places(&environment, client) {
                put(&file, &text, way);
                // What lies beside it is none of ours.
                put(&file.with_file_name("zz-own.json"), "{ \"mine\": 1 }", Way::Plain);
                let is_taken = comes_back(&environment, client, scope, &format!("{what}, {way:?}"));
                taken += usize::from(is_taken);
            }
        }
        assert!(taken > 3, "{}: {taken}", client.title);
    };
    std::thread::scope(|scope| CLIENTS.iter().for_each(|client| drop(scope.spawn(move || of_one(client)))));
}

#[test]
fn a_script_of_the_user_beside_ours_stays() {
    for client in CLIENTS.iter().filter(|client| !client.places.companions.is_empty()) {
        for own in ["#!/bin/sh\nsay mine\n", "#!/bin/sh\n# beside checkrein-hook\nsay mine\n", ""] {
            for companion in client.places.companions {
                let environment = environment();
                for (scope, file) in places(&environment, client) {
                    put(&file.with_file_name(companion), own, Way::Plain);
                    // The same events in files of other names are run beside ours.
                    let other = companion.replace(".sh", ".py");
                    put(&file.with_file_name(other), "print('mine')\n", Way::Linked);
                    let is_taken = comes_back(&environment, client, scope, &format!("{companion}: {own:?}"));
                    assert!(!is_taken, "{}: {companion}: {own:?}", client.title);
                }
            }
        }
    }
}

#[test]
fn lines_that_a_user_wrote_into_a_file_of_ours_are_not_lost() {
    for client in CLIENTS.iter().filter(|client| matches!(client.hooks.form, HookForm::Whole(_))) {
        let name = client.client.name();
        let environment = environment();
        environment.succeed(&["init", "--client", name, "--user", "--yes"]);
        let (_, main) =
            places(&environment, client).into_iter().find(|(scope, _)| *scope == "--user").unwrap();
        let beside = client.places.companions.iter().map(|companion| main.with_file_name(companion));
        for file in std::iter::once(main.clone()).chain(beside) {
            let ours = fs::read_to_string(&file).unwrap();
            let both = format!("{ours}// mine, too\n");
            fs::write(&file, &both).unwrap();
            for command in ["init", "uninstall"] {
                let output = environment.checkrein(&[command, "--client", name, "--user", "--yes"]);
                let said = String::from_utf8_lossy(&output.stderr).into_owned();
                assert!(!output.status.success(), "{name}: {command} went over {}", file.display());
                assert!(said.contains(file.file_name().unwrap().to_str().unwrap()), "{command}: {said}");
                assert_eq!(fs::read_to_string(&file).unwrap(), both, "{name}: {command}: {said}");
            }
            fs::write(&file, &ours).unwrap();
        }
        environment.succeed(&["uninstall", "--client", name, "--user", "--yes"]);
        assert!(!main.exists());
    }
}
