//! `checkrein plugin test`: a plugin is asked what is recorded here and what its own tests ask, in the sandbox and without a network.

use std::fs;
use std::path::{Path, PathBuf};

use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_engine::plugins::{PluginFiles, read_files};
use checkrein_engine::text::one_line;
use checkrein_protocol::PluginQuestion;
use serde_json::Value as Json;

use super::answer::{kind_of, outcome};
use super::fault::{FaultKind, PluginFault};
use super::process::{PluginNetwork, PluginProcess, PluginStart};
use super::program;
use crate::api;
use crate::api::plugins::{PluginTrial, PluginTrialResult};
use crate::commands::{ExitStatus, OutputForm};
use crate::terminal::{plain, print, print_exact};

/// The folder of the tests of a plugin.
const TESTS: &str = "tests";
/// Sessions that were recorded, as questions: one a line.
const RECORDED: &str = include_str!("recorded.jsonl");
/// The most tests of a plugin (ours).
const MOST: usize = 1_000;

/// A question, and what is expected.
struct Case {
    /// Where it stands.
    place: String,
    name: String,
    request: Json,
    /// What the answer must hold; `None` where any answer of the right form will do.
    expected: Option<Json>,
}

/// Tries the plugin in a folder.
///
/// # Errors
///
/// It is none, or its tests cannot be read.
pub(super) fn try_plugin(
    environment: &HostEnvironment,
    folder: &Path,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    let plugin = read_files(folder)?;
    let program = program(environment, &plugin)?;
    let mut cases = recorded(&plugin)?;
    cases.extend(own(&plugin)?);
    let mut exit = ExitStatus::Done;
    for case in cases {
        let (result, fault) = judge(environment, &plugin, &program, &case);
        if result == PluginTrialResult::Failed {
            exit = ExitStatus::Failed;
        }
        let trial = PluginTrial {
            plugin: plugin.manifest.name.clone(),
            test: case.name,
            place: case.place,
            result,
            fault,
        };
        match output {
            OutputForm::Json => print_exact(&api::line(&trial)?),
            OutputForm::Text => tell(&trial),
        }
    }
    Ok(exit)
}

fn tell(trial: &PluginTrial) {
    let word = match trial.result {
        PluginTrialResult::Passed => "ok",
        PluginTrialResult::Failed => "FAILED",
        PluginTrialResult::NotRun => "not run",
    };
    let fault = trial.fault.as_deref().map(|fault| format!("\n  {fault}")).unwrap_or_default();
    print(&plain(&format!("{word} {}: {}{fault}", trial.place, trial.test)));
}

/// Each test has a process of its own, so that none leaves anything to the next.
fn judge(
    environment: &HostEnvironment,
    plugin: &PluginFiles,
    program: &Path,
    case: &Case,
) -> (PluginTrialResult, Option<String>) {
    let start = PluginStart {
        folder: Path::new(plugin.folder.as_str()),
        manifest: &plugin.manifest,
        program,
        network: PluginNetwork::Off,
    };
    let mut process = match PluginProcess::start(environment, &start) {
        Ok(process) => process,
        Err(fault) => return (PluginTrialResult::Failed, Some(fault.to_string())),
    };
    let answered = process.ask_as_written(case.request.clone());
    let fault = match answered {
        Ok(answer) => match fault_of(&plugin.manifest.name, case, &answer) {
            None => {
                process.end();
                return (PluginTrialResult::Passed, None);
            }
            Some(why) => process.wrong(FaultKind::WrongAnswer, why),
        },
        Err(fault) if is_expected(case, &fault) => {
            process.end();
            return (PluginTrialResult::Passed, None);
        }
        Err(fault) => fault,
    };
    let fault = process.fail(fault);
    if is_for_want_of_network(plugin, case, &fault) {
        let why = format!("{fault}\n  its network is off here: `checkrein plugin enable` lets it connect");
        return (PluginTrialResult::NotRun, Some(why));
    }
    (PluginTrialResult::Failed, Some(fault.to_string()))
}

/// Whether a test wants the plugin to say that it failed, in such words.
fn is_expected(case: &Case, fault: &PluginFault) -> bool {
    let wanted = case.expected.as_ref().and_then(|expected| expected.get("error")).and_then(Json::as_str);
    fault.kind == FaultKind::OwnError && wanted.is_some_and(|wanted| fault.detail.contains(wanted))
}

/// Whether a plugin that needs a network says that it failed, where nothing else is expected.
fn is_for_want_of_network(plugin: &PluginFiles, case: &Case, fault: &PluginFault) -> bool {
    fault.kind == FaultKind::OwnError && case.expected.is_none() && !plugin.manifest.network.is_empty()
}

fn fault_of(plugin: &str, case: &Case, answer: &Json) -> Option<String> {
    // What is written in a test need not be a whole question.
    if let Ok(question) = serde_json::from_value::<PluginQuestion>(case.request.clone())
        && let Err(why) = outcome(plugin, &question, answer)
    {
        return Some(why);
    }
    let expected = case.expected.as_ref()?;
    difference("answer", expected, answer)
}

/// The first place in which an answer does not hold what is expected.
fn difference(place: &str, expected: &Json, found: &Json) -> Option<String> {
    match (expected, found) {
        (Json::Object(expected), Json::Object(found)) => expected.iter().find_map(|(key, expected)| {
            let place = format!("{place}.{key}");
            match found.get(key) {
                Some(found) => difference(&place, expected, found),
                None => Some(format!("{place} is missing, and {} is expected", shown(expected))),
            }
        }),
        (Json::Array(expected), Json::Array(found)) if expected.len() == found.len() => {
            let mut pairs = expected.iter().zip(found).enumerate();
            pairs.find_map(|(at, (expected, found))| difference(&format!("{place}[{at}]"), expected, found))
        }
        (expected, found) if expected == found => None,
        (expected, found) => {
            Some(format!("{place} is {}, and {} is expected", shown(found), shown(expected)))
        }
    }
}

fn shown(value: &Json) -> String {
    one_line(&value.to_string(), 200)
}

/// What is recorded here for the kinds of a plugin.
fn recorded(plugin: &PluginFiles) -> Result<Vec<Case>, CommandError> {
    let mut cases = Vec::new();
    for (line, number) in RECORDED.lines().zip(1_u64..) {
        let request: Json = serde_json::from_str(line).map_err(|error| {
            CommandError::user(format!("recorded.jsonl:{number}: {error}"), "report this as a defect")
        })?;
        if let Some(kind) = kind_of(&request).filter(|kind| plugin.manifest.kinds.contains(kind)) {
            cases.push(Case {
                place: format!("recorded:{number}"),
                name: format!("a recorded session, {}", kind.name()),
                request,
                expected: None,
            });
        }
    }
    Ok(cases)
}

/// What the tests of a plugin ask: JSON Lines with `test`, `ask` and `answer`.
fn own(plugin: &PluginFiles) -> Result<Vec<Case>, CommandError> {
    let folder = Path::new(plugin.folder.as_str()).join(TESTS);
    let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
    files.sort();
    let mut cases = Vec::new();
    for path in files {
        let text = checkrein_files::read_text(&path, 16 * checkrein_files::SMALL)
            .map_err(|error| CommandError::file("read", path.display(), &error))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for (line, number) in text.lines().zip(1_u64..).filter(|(line, _)| !line.trim().is_empty()).take(MOST)
        {
            let place = format!("{TESTS}/{name}:{number}");
            let wrong = |why: String| {
                CommandError::user(
                    format!("`{place}` is not a test: {why}"),
                    r#"`{"test": "NAME", "ask": {"kind": "patterns", ...}, "answer": {...}}`"#,
                )
            };
            let mut written: Json = serde_json::from_str(line).map_err(|error| wrong(error.to_string()))?;
            let mut field = |key: &str| written.as_object_mut().and_then(|fields| fields.remove(key));
            let request =
                field("ask").filter(Json::is_object).ok_or_else(|| wrong("`ask` is missing".to_owned()))?;
            let expected = field("answer")
                .filter(Json::is_object)
                .ok_or_else(|| wrong("`answer` is missing".to_owned()))?;
            let name = field("test").and_then(|name| name.as_str().map(str::to_owned));
            cases.push(Case {
                place,
                name: name.unwrap_or_else(|| "without a name".to_owned()),
                request,
                expected: Some(expected),
            });
        }
    }
    Ok(cases)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_answer_must_hold_what_is_expected_and_may_hold_more() {
        let found = json!({ "issues": [{ "kind": "a", "severity": "low" }], "more": 1 });
        assert_eq!(difference("answer", &json!({ "issues": [{ "kind": "a" }] }), &found), None);
        for (expected, said) in [
            (json!({ "issues": [{ "kind": "b" }] }), "answer.issues[0].kind is \"a\", and \"b\" is expected"),
            (json!({ "issues": [] }), "answer.issues is [{"),
            (json!({ "taken": 1 }), "answer.taken is missing"),
        ] {
            let fault = difference("answer", &expected, &found).unwrap();
            assert!(fault.starts_with(said), "{fault}");
        }
    }

    #[test]
    fn what_is_recorded_are_questions_of_every_kind() {
        let mut kinds: Vec<&str> = RECORDED
            .lines()
            .map(|line| serde_json::from_str::<PluginQuestion>(line).unwrap().kind().name())
            .collect();
        kinds.dedup();
        assert_eq!(kinds, ["patterns", "interventions", "risk", "exporter", "approvals"]);
    }
}
