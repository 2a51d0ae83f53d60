//! Code that an option has run before the script, and what a directory as script means.

use crate::interpreter::{Call, Machine, Value};
use crate::world::Entry;

use super::script;

/// The options that name a file or module that runs first, by program: those of `node --help`, `bun --help`, `ruby --help`, `lua -h`.
const OPTIONS: &[(&[&str], &[&str])] = &[
    (
        &["node", "nodejs", "bun", "tsx", "ts-node"],
        &["-r", "--require", "--import", "--loader", "--experimental-loader", "--preload"],
    ),
    (&["ruby"], &["-r"]),
    (&["lua", "luajit", "texlua"], &["-l"]),
];

/// Runs what options name to run first, as far as it is a file of the user or of the command. A module that is only named belongs to
/// what was installed, unless one of that name lies where it is looked for first.
pub(super) fn run(machine: &mut Machine<'_>, call: &Call) {
    let program = call.program.split(' ').next().unwrap_or_default();
    let options =
        OPTIONS.iter().find(|(programs, _)| programs.contains(&program)).map(|(_, options)| *options);
    for value in call.arguments.values(options.unwrap_or_default()).cloned().collect::<Vec<_>>() {
        let Some(text) = value.as_exact() else {
            machine.opaque(format!("what `{program}` runs before the script is not known"));
            continue;
        };
        if text.starts_with("data:") {
            machine.unread(format!("`{program}` runs code that stands in an address before the script"));
            continue;
        }
        let path = text.strip_prefix("file://").unwrap_or(text);
        let is_path = path.starts_with(['.', '/', '~']);
        let ending = match program {
            "ruby" => ".rb",
            "lua" | "luajit" | "texlua" => ".lua",
            _ => ".js",
        };
        // Ruby and Lua look for a name in directories that options add, Lua also here.
        let mut places = vec![String::new()];
        places.extend(
            call.arguments.values(&["-I"]).filter_map(Value::as_exact).map(|place| format!("{place}/")),
        );
        let found = places.iter().find_map(|place| {
            let names = [format!("{place}{path}"), format!("{place}{path}{ending}")];
            names.map(Value::Exact).into_iter().find(|name| is_file(machine, name))
        });
        match found {
            Some(file) => drop(script(machine, call, &entry_file(machine, call, &file))),
            None if is_path => {
                let file = entry_file(machine, call, &Value::exact(path));
                drop(script(machine, call, &file));
            }
            None => {}
        }
    }
    if program == "perl" || program == "perl5" {
        perl_modules(machine, call);
    }
}

/// Runs modules of Perl (`-MName`) that lie in a directory that `-I` adds.
fn perl_modules(machine: &mut Machine<'_>, call: &Call) {
    let places: Vec<String> =
        call.arguments.values(&["-I"]).filter_map(Value::as_exact).map(str::to_owned).collect();
    let modules: Vec<Value> = call.arguments.values(&["-M", "-m"]).cloned().collect();
    for module in modules {
        let Some(name) = module.as_exact().and_then(|text| text.trim_start_matches('-').split('=').next())
        else {
            continue;
        };
        let path = name.replace("::", "/");
        let file = places.iter().map(|place| Value::Exact(format!("{place}/{path}.pm")));
        let found = file.into_iter().find(|file| is_file(machine, file));
        if let Some(file) = found {
            script(machine, call, &file);
        }
    }
}

/// The file that runs when this one is named: of a directory, the one that stands for it.
pub(super) fn entry_file(machine: &Machine<'_>, call: &Call, file: &Value) -> Value {
    let program = call.program.split(' ').next().unwrap_or_default();
    let is_node = matches!(program, "node" | "nodejs" | "bun" | "tsx" | "ts-node");
    let is_python = program.starts_with("python") || program.starts_with("pypy");
    let within = |name: &str| file.followed_by(&Value::exact(format!("/{name}")));
    if machine.is_directory(file) == Some(true) {
        if is_python {
            return within("__main__.py");
        }
        if is_node {
            let main = machine
                .one_path_through(&within("package.json"))
                .and_then(|path| machine.text(&path).as_exact().map(str::to_owned))
                .and_then(|text| serde_json::from_str::<serde_json::Value>(&text).ok())
                .and_then(|package| package.get("main")?.as_str().map(str::to_owned));
            let main = main.map(|main| within(main.trim_start_matches("./")));
            let named = main.filter(|main| is_file(machine, main));
            return named.unwrap_or_else(|| within("index.js"));
        }
    } else if is_node && !is_file(machine, file) {
        let endings = [".js", ".cjs", ".mjs"].map(|ending| file.followed_by(&Value::exact(ending)));
        return endings.into_iter().find(|file| is_file(machine, file)).unwrap_or_else(|| file.clone());
    }
    file.clone()
}

/// Whether a file is there.
pub(super) fn is_file(machine: &Machine<'_>, value: &Value) -> bool {
    machine.one_path_through(value).is_some_and(|path| matches!(machine.entry(&path), Entry::File(_)))
}
