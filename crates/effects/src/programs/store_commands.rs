//! Clients of stores with commands of their own, which stand in an option, in the operands or in what comes in: HBase, ZooKeeper, ArangoDB,
//! Geode, Aerospike, SurrealDB.
//!
//! Sources: "The Apache HBase Shell"; ZooKeeper, "Command Line Interface"; ArangoDB, "Database Methods" and AQL; Apache Geode, "gfsh Command
//! Help"; SurrealQL, `REMOVE`.

use crate::effect::{EffectKind, Severity, Target};
use crate::interpreter::{Call, Draft, Exit, Input, Machine, Value};

use super::cloud_words::{Verb, kind_of};

/// Options whose value is such commands.
const TEXTS: &[&str] = &[
    "-e",
    "--execute",
    "-c",
    "--command",
    "--eval",
    "-q",
    "--query",
    "--javascript.execute-string",
    "--run",
];
/// The greatest number of commands of one call that are looked at (ours).
const COMMANDS: usize = 256;

/// A client that is given commands.
pub(crate) fn store_commands(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let place = call.program.split(' ').next().unwrap_or("store").to_owned();
    let operands: Vec<String> = call.arguments.operands.iter().map(Value::known_start).collect();
    let mut texts = vec![operands.join(" ")];
    texts.extend(call.arguments.values(TEXTS).map(Value::known_start));
    match &call.input {
        Input::Text(text) => texts.push(text.known_start()),
        Input::Local(_) | Input::Network(_) | Input::Unknown | Input::Secret(_) => machine.add(
            Draft::new(EffectKind::DatastoreChange, Target::Service(place.clone()))
                .possible()
                .note("what comes in is not known"),
        ),
        Input::Inherited => {}
    }
    texts.extend(machine.handed_texts(call).iter().map(Value::known_start));
    let found: Vec<Verb> = texts
        .iter()
        .flat_map(|text| text.split(['\n', ';', '|']))
        .take(COMMANDS)
        .filter_map(|command| verb(command.trim()))
        .collect();
    let target = || Target::Service(place.clone());
    if found.contains(&Verb::Destroys) {
        machine.add(Draft::new(EffectKind::DatastoreDestroy, target()).irreversible());
    } else if found.contains(&Verb::Changes) {
        machine.add(Draft::new(EffectKind::DatastoreChange, target()).severity(Severity::Low));
    }
    Exit::unknown()
}

/// What a command does: by its first word, by the methods that it calls, or by a statement within it.
fn verb(command: &str) -> Option<Verb> {
    let is_destroying = |word: &str| kind_of(word) == Some(Verb::Destroys);
    let calls =
        command.split('(').rev().skip(1).filter_map(|before| before.rsplit(['.', ' ', '=', ')']).next());
    let mut methods = calls.map(|method| method.trim_start_matches('_')).filter(|method| !method.is_empty());
    let mut words = command.split_whitespace();
    let states = |word: &str| matches!(word, "REMOVE" | "TRUNCATE" | "DROP" | "DELETE");
    if methods.any(is_destroying) || words.clone().any(states) {
        return Some(Verb::Destroys);
    }
    kind_of(&words.next()?.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_told_by_their_verbs() {
        let destroying = [
            "drop 't'",
            "deleteall /kafka",
            "db._dropDatabase(\"app\")",
            "db.users.drop()",
            "REMOVE DATABASE app",
        ];
        for command in destroying {
            assert_eq!(verb(command), Some(Verb::Destroys), "{command}");
        }
        for command in ["scan 't'", "ls /", "db._collections()", "SELECT * FROM person", "get /a"] {
            assert_ne!(verb(command), Some(Verb::Destroys), "{command}");
        }
    }
}
