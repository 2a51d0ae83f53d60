//! Runners whose files are code or data that nobody reads as the runner does: texts in them that look like commands may run.
//!
//! Which of them run is not known, so only what would reach out of the workspace counts, or run code from the network, and only as possible. What
//! such a runner does otherwise inside it is what code of the project does.

use crate::effect::{Effect, EffectKind, NetworkReach, Severity, Target};
use crate::interpreter::{Call, Input, Machine, Value};
use crate::path::AbsolutePath;
use crate::world::PathPattern;
use checkrein_facts::places::persistence;

use super::super::nearest;

/// The greatest number of texts in one file that are followed (ours).
const TEXTS: usize = 256;
/// The greatest number of words of a call that stand one by one in a file (ours).
const WORDS: usize = 64;

/// The greatest number of elements of XML that are taken for one call (ours).
const ELEMENTS: usize = 6;

/// A runner.
struct Runner {
    names: &'static [&'static str],
    /// The files in which it looks.
    files: &'static [&'static str],
    /// The interpreter that reads these files, with the option behind which code stands.
    interpreter: Option<[&'static str; 2]>,
}

/// Sources: the manuals of ninja 1.12, nox, Invoke, Fabric, doit, SCons, Waf, gulp, Grunt, Gradle, Ant, mise, Turborepo, Nx, Lerna, Foreman,
/// honcho, Earthly, Thor, Jake, Mage, cargo-make, CMake.
const RUNNERS: &[Runner] = &[
    Runner { names: &["ninja", "samu"], files: &["build.ninja"], interpreter: None },
    Runner { names: &["nox"], files: &["noxfile.py"], interpreter: Some(["python3", "-c"]) },
    Runner {
        names: &["invoke", "inv"],
        files: &["tasks.py", "tasks/__init__.py"],
        interpreter: Some(["python3", "-c"]),
    },
    Runner { names: &["fab"], files: &["fabfile.py"], interpreter: Some(["python3", "-c"]) },
    Runner { names: &["doit"], files: &["dodo.py"], interpreter: Some(["python3", "-c"]) },
    Runner {
        names: &["scons"],
        files: &["SConstruct", "Sconstruct", "sconstruct"],
        interpreter: Some(["python3", "-c"]),
    },
    Runner { names: &["waf"], files: &["wscript"], interpreter: Some(["python3", "-c"]) },
    Runner {
        names: &["gulp"],
        files: &["gulpfile.js", "gulpfile.mjs", "gulpfile.cjs", "gulpfile.ts", "gulpfile.babel.js"],
        interpreter: Some(["node", "-e"]),
    },
    Runner {
        names: &["grunt"],
        files: &["Gruntfile.js", "gruntfile.js", "Gruntfile.cjs"],
        interpreter: Some(["node", "-e"]),
    },
    Runner {
        names: &["jake"],
        files: &["Jakefile", "Jakefile.js", "jakefile.js"],
        interpreter: Some(["node", "-e"]),
    },
    Runner { names: &["thor"], files: &["Thorfile"], interpreter: Some(["ruby", "-e"]) },
    Runner {
        names: &["gradle", "gradlew"],
        files: &["build.gradle", "build.gradle.kts", "settings.gradle"],
        interpreter: None,
    },
    Runner { names: &["ant", "phing"], files: &["build.xml"], interpreter: None },
    Runner { names: &["mise"], files: &["mise.toml", ".mise.toml"], interpreter: None },
    Runner { names: &["turbo", "nx", "lerna"], files: &["package.json"], interpreter: None },
    Runner { names: &["foreman", "honcho", "overmind", "hivemind"], files: &["Procfile"], interpreter: None },
    Runner { names: &["earthly"], files: &["Earthfile"], interpreter: None },
    Runner { names: &["mage"], files: &["magefile.go"], interpreter: None },
    Runner { names: &["cargo-make", "makers", "cargo make"], files: &["Makefile.toml"], interpreter: None },
    Runner { names: &["cmake -P"], files: &[], interpreter: None },
];
/// Options that name the file.
const FILE: &[&str] = &[
    "-f",
    "--file",
    "-b",
    "--build-file",
    "--buildfile",
    "-buildfile",
    "--noxfile",
    "--gulpfile",
    "--gruntfile",
    "--makefile",
    "--procfile",
    "--jakefile",
    "-P",
];
/// Options that name the directory.
const DIRECTORY: &[&str] = &["-C", "--dir", "--directory", "--cwd", "--build"];
/// Options with which nothing runs, whatever the runner.
const QUIET: &[&str] = &["--list", "--dry-run", "--version", "--tasks", "-h", "--help"];
/// Short options of runners with which nothing runs; of others the same letters say something else (`invoke -T 5`, `foreman -m web=1`).
const QUIET_OF: &[(&[&str], &str)] = &[
    (&["nox", "invoke", "inv", "fab", "mage"], "-l"),
    (&["ninja", "samu", "scons"], "-n"),
    (&["gulp", "jake"], "-T"),
    (&["gradle", "gradlew"], "-m"),
];
/// Runners whose `-f` names no file, but forces.
const FORCING: &[&str] = &["grunt", "mage"];
/// Words of the shell itself with which a command begins.
const OF_SHELL: &[&str] = &[
    "cd", "exec", "eval", "set", "export", "[", "test", "if", "for", "while", "(", "{", "echo", "source", ".",
];
/// What a text holds that may reach out of the workspace.
const REACHING: &[&str] = &["~", "HOME", "home", " /", "\"/", "'/", "..", "=/", "://"];

/// Whether such a runner looks in a file of this name.
pub(super) fn are_in(name: &str) -> bool {
    RUNNERS.iter().any(|runner| runner.files.contains(&name))
}

/// Follows what the file of a runner may run, where that cannot be read as the runner reads it.
pub(super) fn follow(machine: &mut Machine<'_>, call: &Call) {
    let words: Vec<&str> = call.words.iter().filter_map(Value::as_exact).collect();
    let program = call.program.split(' ').next().unwrap_or_default();
    let name = match (program, words.first()) {
        ("cargo", Some(&"make")) => "cargo make",
        ("cmake", _) if words.contains(&"-P") => "cmake -P",
        ("cmake", _) if words.contains(&"--build") => "ninja",
        _ => program,
    };
    let Some(runner) = RUNNERS.iter().find(|runner| runner.names.contains(&name)) else { return };
    let is_quiet = |word: &&str| {
        QUIET.contains(word) || QUIET_OF.iter().any(|(names, short)| names.contains(&name) && word == short)
    };
    if words.iter().any(is_quiet) {
        return;
    }
    let behind = |names: &[&str]| {
        let at =
            words.iter().position(|word| names.contains(word) && !(*word == "-f" && FORCING.contains(&name)));
        let next = at.and_then(|at| words.get(at + 1)).copied();
        next.or_else(|| {
            words.iter().find_map(|word| {
                word.split_once('=').filter(|(name, _)| names.contains(name)).map(|(_, value)| value)
            })
        })
    };
    let work = |machine: &mut Machine<'_>| match behind(FILE) {
        Some(file) => {
            let text = machine.one_path_through(&Value::exact(file)).map(|path| machine.text(&path));
            if let Some(Value::Exact(text)) = text {
                follow_runner(machine, Some(runner), &text);
            }
        }
        None => {
            for file in runner.files {
                if let Some((directory, Value::Exact(text))) = nearest(machine, file) {
                    let place = Value::exact(directory.as_str());
                    machine.inside(&place, |machine| follow_runner(machine, Some(runner), &text));
                }
            }
        }
    };
    match behind(DIRECTORY).filter(|place| machine.is_directory(&Value::exact(*place)) == Some(true)) {
        Some(place) => machine.inside(&Value::exact(place), work),
        None => work(machine),
    }
}

/// Runs, as possible, what a text may hold of commands.
pub(crate) fn follow_text(machine: &mut Machine<'_>, text: &str) {
    follow_runner(machine, None, text);
}

/// Takes the effects since there were `before` for those of a task of the project, but for what reaches out of the workspace, and code
/// from the network.
pub(crate) fn keep_what_reaches_out(machine: &mut Machine<'_>, before: usize) {
    let place = machine.world().place().clone();
    let is_outside = |path: &AbsolutePath| !path.is_within(&place.workspace) && !place.is_temporary(path);
    // Whatever writes there runs again later, and no code of a project has to.
    let starts_later = |effect: &Effect| {
        effect.kind.file_change().is_some()
            && effect
                .target
                .path()
                .is_some_and(|path| path.is_within(&place.home) && persistence(path, &place.home).is_some())
    };
    // No project needs what lies outside of it and proves who somebody is, and strangers, to be built or tested.
    let is_credential = |effect: &Effect| {
        effect.kind == EffectKind::SecretRead && effect.target.path().is_some_and(is_outside)
    };
    let is_sent = |effect: &Effect| {
        effect.kind == EffectKind::DataUpload && effect.reach == Some(NetworkReach::External)
    };
    let hands_out =
        machine.effects_since(before).any(is_credential) && machine.effects_since(before).any(is_sent);
    let counts = |effect: &Effect| {
        let reaches_out = match &effect.target {
            Target::Path(path) => is_outside(path) || *path == place.workspace,
            Target::Glob(pattern) => {
                PathPattern::new(pattern).is_some_and(|pattern| is_outside(&pattern.base))
            }
            Target::Host(_)
            | Target::Process(_)
            | Target::Service(_)
            | Target::Reference(_)
            | Target::Unknown => false,
        };
        matches!(effect.kind, EffectKind::GuardTampering | EffectKind::RemoteCodeExecution)
            || hands_out && (is_credential(effect) || is_sent(effect))
            || reaches_out && starts_later(effect)
            || reaches_out && effect.kind.file_change().is_some() && effect.kind != EffectKind::FileCreate
    };
    machine.amend(before, |effect| {
        if !counts(effect) {
            effect.kind = EffectKind::ProcessSpawn;
            effect.severity = Severity::Low;
            effect.target = Target::Process("tasks of the project".to_owned());
        }
    });
}

fn follow_runner(machine: &mut Machine<'_>, runner: Option<&Runner>, text: &str) {
    let before = machine.effect_count();
    let commands: Vec<String> = texts_in(text).into_iter().filter(|text| is_command(machine, text)).collect();
    let all = commands.len();
    machine.possibly(|machine| {
        for command in commands.into_iter().take(TEXTS) {
            machine.run_words(
                &[Value::exact("bash"), Value::exact("-c"), Value::Exact(command)],
                Input::Inherited,
            );
        }
        if let Some([interpreter, option]) = runner.and_then(|runner| runner.interpreter) {
            let words = [interpreter, option, text].map(Value::exact);
            machine.run_words(&words, Input::Inherited);
        }
    });
    keep_what_reaches_out(machine, before);
    if all > TEXTS {
        machine.opaque("the file of a runner holds more commands than are followed");
    }
}

/// Whether a text begins as a command does, and may reach out of the workspace.
fn is_command(machine: &Machine<'_>, text: &str) -> bool {
    let is_assignment =
        |word: &&str| word.contains('=') || matches!(*word, "sudo" | "env" | "exec" | "command");
    let first = text
        .split_whitespace()
        .map(|word| word.trim_start_matches(['@', '-', '(']))
        .find(|word| !is_assignment(word));
    let Some(first) = first else { return false };
    let first = first.rsplit('/').next().unwrap_or(first);
    REACHING.iter().any(|sign| text.contains(sign)) && (OF_SHELL.contains(&first) || machine.knows(first))
}

/// The texts in a file that a shell may be given: what stands in quotes, what stands behind a name and a sign, and words in quotes that
/// follow each other, as the words of a call.
fn texts_in(text: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let quotes = quoted_in(text);
    for (place, (_, _, inner)) in quotes.iter().enumerate() {
        if inner.trim().contains(char::is_whitespace) {
            all.extend(inner.lines().map(|line| with_home(line.trim())));
        } else if !inner.is_empty() {
            all.push(call_at(text, &quotes, place));
        }
    }
    for line in
        text.lines().map(str::trim).filter(|line| !line.starts_with(['#', '<']) && !line.starts_with("//"))
    {
        // An entry of a list: `- rm x`, `[rm x]`.
        let line = line.strip_prefix("- ").unwrap_or(line).trim_start();
        all.push(with_home(&line.replace("$$", "$")));
        let behind = line.split_once(['=', ':']).map(|(_, behind)| behind.trim());
        all.extend(behind.map(|behind| with_home(&behind.replace("$$", "$"))));
        let listed = behind.and_then(|behind| behind.strip_prefix('[')?.strip_suffix(']'));
        all.extend(
            listed.into_iter().flat_map(|inner| inner.split(',')).map(|entry| with_home(entry.trim())),
        );
        // `RUN`, `CMD` and the like.
        let command =
            line.split_once(' ').filter(|(word, _)| word.chars().all(|letter| letter.is_ascii_uppercase()));
        all.extend(command.map(|(_, rest)| with_home(rest.trim())));
    }
    // Strings of Nix over several lines.
    let strings = text.split("''").skip(1).step_by(2);
    all.extend(strings.flat_map(str::lines).map(|line| with_home(line.trim())));
    all.extend(elements_in(text));
    // The commands of CMake, and what it removes itself.
    for (sign, program) in [("COMMAND ", ""), ("REMOVE_RECURSE ", "rm -rf "), ("file(REMOVE ", "rm -f ")] {
        let behind = text.split(sign).skip(1).filter_map(|behind| behind.split([')', '\n']).next());
        all.extend(behind.map(|behind| with_home(&format!("{program}{}", behind.trim()))));
    }
    all.retain(|text| text.contains(char::is_whitespace));
    all.sort();
    all.dedup();
    all
}

/// The texts of elements of XML that follow each other, as the words of a call: `<executable>rm</executable><argument>x</argument>`.
fn elements_in(text: &str) -> Vec<String> {
    if !text.trim_start().starts_with('<') {
        return Vec::new();
    }
    let texts = text.split('>').skip(1).filter_map(|piece| piece.split('<').next()).map(str::trim);
    let words: Vec<&str> = texts.filter(|word| !word.is_empty()).collect();
    (0..words.len())
        .map(|place| words.iter().skip(place).take(ELEMENTS).copied().collect::<Vec<_>>().join(" "))
        .map(|call| with_home(&call))
        .collect()
}

/// What stands in quotes: where each begins and ends, and its text with what is escaped as it is meant.
fn quoted_in(text: &str) -> Vec<(usize, usize, String)> {
    let mut found = Vec::new();
    let mut rest = text.char_indices().peekable();
    while let Some((start, sign)) = rest.next() {
        if !matches!(sign, '"' | '\'' | '`') {
            continue;
        }
        let triple: String = std::iter::repeat_n(sign, 3).collect();
        let is_triple = text.get(start..).is_some_and(|rest| rest.starts_with(&triple));
        let close = if is_triple { triple } else { sign.to_string() };
        let begin = start + close.len();
        let Some(body) = text.get(begin..) else { break };
        let mut inner = String::new();
        let mut end = None;
        let mut letters = body.char_indices();
        while let Some((at, letter)) = letters.next() {
            if body.get(at..).is_some_and(|rest| rest.starts_with(&close)) {
                end = Some(begin + at + close.len());
                break;
            }
            match letter {
                '\\' => match letters.next() {
                    Some((_, 'n')) => inner.push('\n'),
                    Some((_, 't')) => inner.push('\t'),
                    Some((_, other)) => inner.push(other),
                    None => {}
                },
                // An apostrophe in a text.
                '\n' if close.len() == 1 && sign != '`' => break,
                letter => inner.push(letter),
            }
        }
        let Some(end) = end else { continue };
        let inner = inner
            .replace("&quot;", "\"")
            .replace("&apos;", "'")
            .replace("&gt;", ">")
            .replace("&lt;", "<")
            .replace("&amp;", "&");
        found.push((start, end, inner));
        while rest.next_if(|(at, _)| *at < end).is_some() {}
    }
    found
}

/// The words in quotes from one on, as long as nothing but signs, and names of what holds arguments, stands between them.
fn call_at(text: &str, quotes: &[(usize, usize, String)], place: usize) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut last = None;
    for (start, end, inner) in quotes.iter().skip(place).take(WORDS) {
        if let Some(last) = last {
            let between = text.get(last..*start).unwrap_or_default();
            let names = between
                .split(|sign: char| !sign.is_alphanumeric() && sign != '_')
                .filter(|name| !name.is_empty());
            let joins = |name: &str| {
                matches!(
                    name,
                    "args"
                        | "arg"
                        | "value"
                        | "line"
                        | "path"
                        | "file"
                        | "os"
                        | "expanduser"
                        | "join"
                        | "resolve"
                        | "str"
                        | "Path"
                )
            };
            let mut goes_on = true;
            for name in names {
                if name.to_ascii_lowercase().contains("home") {
                    words.push("$HOME".to_owned());
                } else if !joins(name) {
                    goes_on = false;
                    break;
                }
            }
            if !goes_on || between.len() > 80 {
                break;
            }
        }
        words.push(with_home(inner));
        last = Some(*end);
    }
    // What stands behind the last of them may still be the home directory.
    if let Some(behind) = last.and_then(|last| text.get(last..)) {
        let behind: String = behind.chars().take(40).take_while(|letter| *letter != '\n').collect();
        if behind.starts_with([',', ' ']) && behind.to_ascii_lowercase().contains("home") {
            words.push("$HOME".to_owned());
        }
    }
    words.join(" ")
}

/// A text in which what is filled in is the home directory where it is called so, else something that is not known.
fn with_home(text: &str) -> String {
    let mut all = String::new();
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        let Some(close) = rest.get(open..).and_then(|inner| inner.find('}')).map(|at| open + at) else {
            break;
        };
        let inner = rest.get(open..=close).unwrap_or_default();
        let before = rest.get(..open).unwrap_or_default();
        let is_home = inner.to_ascii_lowercase().contains("home");
        // What is filled in has a name; a group of commands has blanks, and a list commas.
        let is_name =
            inner.len() > 2 && !inner.contains(',') && !inner.starts_with("{ ") || inner.starts_with("{{");
        if !is_home && !is_name {
            all.push_str(before);
            all.push_str(inner);
        } else {
            all.push_str(before.trim_end_matches("$ENV").trim_end_matches(['$', '#', '{']));
            all.push_str(if is_home { "$HOME" } else { "$(date)" });
        }
        rest = rest.get(close + 1..).unwrap_or_default().trim_start_matches('}');
    }
    all.push_str(rest);
    all
}

#[cfg(test)]
mod tests {
    use super::texts_in;

    #[test]
    fn texts_are_found_in_code_and_data() {
        for (text, found) in [
            ("session.run(\"rm\", \"-rf\", \"x y\")", "rm -rf x y"),
            ("session.run('rm', '-rf', os.path.expanduser('~'))", "rm -rf ~"),
            ("session.run('rm', '-rf', HOME)", "rm -rf $HOME"),
            ("c.run(f\"rm -rf {home}/x\")", "rm -rf $HOME/x"),
            ("  command = rm -rf $$HOME", "rm -rf $HOME"),
            ("web: rm -rf ~", "rm -rf ~"),
            ("<exec executable=\"rm\"><arg value=\"-rf\"/><arg value=\"/h\"/></exec>", "rm -rf /h"),
            ("<arg line=\"rm -rf &quot;/h&quot;\"/>", "rm -rf \"/h\""),
            ("command = \"rm\"\nargs = [\"-rf\", \"/h\"]", "rm -rf /h"),
            ("run = '''\nrm -rf ~\n'''", "rm -rf ~"),
            ("RUN rm -rf /h", "rm -rf /h"),
            (
                "<a><executable>rm</executable><argument>-rf</argument> <argument>/h</argument></a>",
                "rm -rf /h",
            ),
            ("script:\n  - rm -rf /h", "rm -rf /h"),
            ("cmds: [rm -rf /h, ls]", "rm -rf /h"),
            ("shellHook = ''\n  rm -rf /h\n'';", "rm -rf /h"),
            ("exec(`rm -rf ${process.env.HOME}`)", "rm -rf $HOME"),
            ("sh \"rm -rf #{ENV['HOME']}\"", "rm -rf $HOME"),
            ("execute_process(COMMAND rm -rf $ENV{HOME}/x)", "rm -rf $HOME/x"),
            ("file(REMOVE_RECURSE $ENV{HOME}/x)", "rm -rf $HOME/x"),
            ("it's fine\nrun(\"rm -rf ~\")", "rm -rf ~"),
        ] {
            assert!(texts_in(text).iter().any(|text| text == found), "{text}: {:?}", texts_in(text));
        }
    }
}
