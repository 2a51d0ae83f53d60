//! Servers and hooks that an agent is given by its command line: it starts them before anything of it is reviewed.

use serde_json::Value as Json;

use crate::interpreter::{Call, Input, Machine, Value};

use super::unwatched;

/// Options behind which settings stand, or the file that holds them (the help of Claude Code, Copilot and Visual Studio Code).
const SETTINGS: &[&str] = &["--settings", "--mcp-config", "--additional-mcp-config", "--add-mcp", "--agents"];
/// Keys of settings whose values are commands (Claude Code, "Settings").
const COMMANDS: &[&str] = &[
    "command",
    "apiKeyHelper",
    "awsAuthRefresh",
    "awsCredentialExport",
    "gcpAuthRefresh",
    "otelHeadersHelper",
];
/// How many commands of one text are followed (ours).
const FOLLOWED: usize = 20;

/// The options of `mcp add` that take a value (`claude`, `codex`, `gemini`).
const OF_SERVERS: &[&str] = &[
    "-e",
    "--env",
    "-t",
    "--transport",
    "-s",
    "--scope",
    "-H",
    "--header",
    "--url",
    "--timeout",
    "--description",
    "--bearer-token-env-var",
    "--include-tools",
    "--exclude-tools",
    "--client-id",
    "--callback-port",
    "--name",
    "--command",
    "--args",
];

/// What `mcp add NAME -- COMMAND` has every later session of the agent start.
pub(super) fn added(machine: &mut Machine<'_>, call: &Call) {
    let text = |value: &Value| value.as_exact().map(str::to_owned);
    let Some(verb) = call.words.iter().position(|word| matches!(word.as_exact(), Some("add"))) else {
        return;
    };
    let given = call.words.get(verb + 1..).unwrap_or_default();
    let end = given.iter().position(|word| word.as_exact() == Some("--"));
    let before = given.get(..end.unwrap_or(given.len())).unwrap_or_default();
    let mut words = before.iter().enumerate();
    let mut operands = Vec::new();
    while let Some((place, word)) = words.next() {
        match text(word) {
            Some(option) if OF_SERVERS.contains(&option.as_str()) => drop(words.next()),
            Some(option) if option.starts_with('-') => {}
            Some(_) | None => operands.push(place),
        }
        // Behind the name stands the command with options of its own.
        if operands.len() == 2 {
            break;
        }
    }
    // With some the program stands before `--`, and its arguments behind.
    let named = operands.get(1).and_then(|place| before.get(*place..)).unwrap_or_default();
    let behind = end.and_then(|end| given.get(end + 1..)).unwrap_or_default();
    let command =
        if named.is_empty() && behind.is_empty() { by_options(before) } else { [named, behind].concat() };
    let first = command.first().and_then(Value::as_exact);
    let is_address = first.is_some_and(|word| word.contains("://"));
    if command.is_empty() || is_address {
        return;
    }
    machine.add(unwatched("adds a program that starts with every later session of the agent"));
    // Droid takes the whole command as one text.
    let is_text = command.len() == 1 && first.is_some_and(|word| word.contains(char::is_whitespace));
    machine.possibly(|machine| match command.as_slice() {
        [text] if is_text => machine.run_text(text, Input::Inherited),
        words => machine.run_words(words, Input::Inherited),
    });
}

/// The command that stands in options: `kiro-cli mcp add --name NAME --command COMMAND --args A,B` (its help).
fn by_options(words: &[Value]) -> Vec<Value> {
    let value = |option: &'static str| {
        words.iter().enumerate().filter_map(move |(at, word)| {
            let text = word.as_exact()?;
            match text.strip_prefix(option)? {
                "" => words.get(at + 1)?.as_exact().map(str::to_owned),
                attached => attached.strip_prefix('=').map(str::to_owned),
            }
        })
    };
    let arguments = value("--args").flat_map(|all| all.split(',').map(str::to_owned).collect::<Vec<_>>());
    value("--command").take(1).chain(arguments).map(Value::Exact).collect()
}

/// What `mcp add-json`, and settings on the command line, have the agent start.
pub(super) fn given(machine: &mut Machine<'_>, words: &[&str]) {
    let mut texts: Vec<String> = Vec::new();
    let mut is_settings = false;
    for word in words {
        let (name, attached) =
            word.split_once('=').map_or((*word, None), |(name, value)| (name, Some(value)));
        let value = if is_settings { Some(*word) } else { attached.filter(|_| SETTINGS.contains(&name)) };
        is_settings = SETTINGS.contains(word);
        match value.filter(|value| !value.trim_start().starts_with('{')) {
            Some(file) => {
                let path = machine.one_path_through(&Value::exact(file));
                let text = path.map(|path| machine.announced_text(&path));
                texts.extend(text.as_ref().and_then(Value::as_exact).map(str::to_owned));
            }
            None => texts.push(value.unwrap_or(word).to_owned()),
        }
    }
    let mut found = Vec::new();
    for text in texts.iter().filter(|text| text.trim_start().starts_with('{')) {
        if let Ok(json) = serde_json::from_str::<Json>(text) {
            commands_in(&json, &mut found);
        }
    }
    for (command, arguments) in found.into_iter().take(FOLLOWED) {
        machine.possibly(|machine| match arguments {
            Some(arguments) => {
                let words: Vec<Value> = std::iter::once(command).chain(arguments).map(Value::Exact).collect();
                machine.run_words(&words, Input::Inherited)
            }
            None => machine.run_text(&Value::Exact(command), Input::Inherited),
        });
    }
}

/// The commands in settings, with the words that stand beside them; without such words a shell reads them.
fn commands_in(json: &Json, found: &mut Vec<(String, Option<Vec<String>>)>) {
    match json {
        Json::Object(members) => {
            let words = members
                .get("args")
                .and_then(Json::as_array)
                .map(|words| words.iter().filter_map(Json::as_str).map(str::to_owned).collect::<Vec<_>>());
            for (key, value) in members {
                match value {
                    Json::String(text) if COMMANDS.contains(&key.as_str()) => {
                        found.push((text.clone(), words.clone().filter(|_| key == "command")));
                    }
                    _ => commands_in(value, found),
                }
            }
        }
        Json::Array(all) => all.iter().for_each(|one| commands_in(one, found)),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_found_wherever_they_stand() {
        let text = r#"{"mcpServers":{"e":{"command":"rm","args":["-r","x"]}},
            "hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"ls -l"}]}]},"apiKeyHelper":"./key"}"#;
        let mut found = Vec::new();
        commands_in(&serde_json::from_str(text).unwrap(), &mut found);
        found.sort();
        let words = vec!["-r".to_owned(), "x".to_owned()];
        assert_eq!(
            found,
            [("./key".to_owned(), None), ("ls -l".to_owned(), None), ("rm".to_owned(), Some(words))]
        );
    }
}
