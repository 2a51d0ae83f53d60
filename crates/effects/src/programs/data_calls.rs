//! What code on a command line tells libraries for stores and clouds to destroy, found by the names of their methods.
//!
//! Sources: the method references of SQLAlchemy, Django, ActiveRecord, Ecto, Eloquent, Sequelize, TypeORM, Prisma, Mongoose, PyMongo, redis-py,
//! elasticsearch-py; of boto3 and the AWS SDK for JavaScript, google-cloud-python, azure-sdk-for-python, the Kubernetes and Docker clients.

use crate::effect::{EffectKind, Target};
use crate::interpreter::{Call, Draft, Input, Machine, Value};
use checkrein_catalogue::DefaultStore;

use super::cloud_words::{Verb, kind_of};
use super::sql::{self, Finding, Language};
use super::{store_place, stores};

/// Methods that take everything of a table, a collection or a database, whatever they are given.
const LOSES: &[&str] = &[
    "delete_all",
    "destroy_all",
    "drop_all",
    "drop_collection",
    "drop_database",
    "drop_schema",
    "drop_table",
    "dropCollection",
    "dropDatabase",
    "dropSchema",
    "dropTable",
    "dropTableIfExists",
    "dropAllSchemas",
    "delete_by_query",
    "deleteByQuery",
    "delete_collection",
    "flushall",
    "flushAll",
    "flushdb",
    "flushDb",
    "truncate_all",
    "truncate_tables",
];

/// Methods that take everything when they are told nothing else.
const LOSES_WITHOUT_CONDITION: &[&str] = &["deleteMany", "delete_many", "truncate", "destroy", "delete"];

/// What stands in front of a `delete()` that takes every row.
const ALL_ROWS: &[&str] = &[".all()", ".all", ".objects", "query()", "Query()"];

/// Libraries whose objects stand for things in a cloud, a cluster or a container engine.
const LIBRARIES: &[&str] = &[
    "boto3",
    "botocore",
    "aws-sdk",
    "Aws::",
    "google.cloud",
    "googleapiclient",
    "@google-cloud",
    "azure.",
    "@azure/",
    "kubernetes",
    "kubernetes-client",
    "openstack",
    "import docker",
    "dockerode",
    "digitalocean",
    "hcloud",
    "linode",
    "cloudflare",
    "octokit",
    "github3",
    "from github",
    "import gitlab",
    "heroku",
    "pyVmomi",
    "libvirt",
];

/// Methods to which statements are given.
const RUNS_STATEMENTS: &[&str] = &[
    "execute",
    "executescript",
    "exec",
    "exec_params",
    "query",
    "raw",
    "statement",
    "unprepared",
    "executeRawUnsafe",
    "queryRawUnsafe",
    "run",
    "do",
];

/// Adds what code that stands on the command line, or comes in, does to stores and clouds.
pub(super) fn look_over(machine: &mut Machine<'_>, call: &Call, text: &str) {
    let is_inline = call.words.iter().any(|word| word.as_exact() == Some(text))
        || matches!(&call.input, Input::Text(Value::Exact(input)) if input == text);
    if !is_inline {
        return;
    }
    let before = machine.effect_count();
    machine.possibly(|machine| find(machine, text));
    if machine.effect_count() > before {
        store_place::locate(machine, before, &call.words, DefaultStore::Project);
    }
}

fn find(machine: &mut Machine<'_>, text: &str) {
    let bare = stores::without_strings(text);
    let speaks_of_cloud = LIBRARIES.iter().any(|library| text.contains(library));
    let mut statements = false;
    for (name, before, behind) in methods(&bare) {
        let arguments: String = behind.chars().filter(|c| !c.is_whitespace()).take(3).collect();
        let is_call = arguments.starts_with('(');
        let is_unconditional = !is_call || arguments.starts_with("()") || arguments.starts_with("({}");
        let loses = LOSES.contains(&name)
            || LOSES_WITHOUT_CONDITION.contains(&name)
                && is_unconditional
                && (matches!(name, "deleteMany" | "delete_many")
                    || name == "truncate" && before.ends_with("::")
                    || ALL_ROWS.iter().any(|all| before.trim_end_matches('.').ends_with(all)));
        if loses {
            machine.add(
                Draft::new(EffectKind::DatastoreDestroy, Target::Service("database".to_owned()))
                    .irreversible()
                    .note(format!("calls `{name}`")),
            );
        } else if speaks_of_cloud && is_call && destroys_in_cloud(name) {
            machine.add(
                Draft::new(EffectKind::InfrastructureDestroy, Target::Service(name.to_owned()))
                    .irreversible()
                    .note(format!("calls `{name}`")),
            );
        }
        statements |= RUNS_STATEMENTS.contains(&name);
    }
    // A database in a file is a file.
    if statements && !text.contains("sqlite") && !text.contains(":memory:") {
        for statement in strings(text) {
            let found: Vec<Finding> = sql::findings(statement, Language::Generic)
                .into_iter()
                .filter(|finding| matches!(finding, Finding::Destroys { .. }))
                .collect();
            sql::apply(machine, &found, "database");
        }
    }
}

/// Whether the name of a method says that something in a cloud goes: `terminate_instances`, `deleteNamespace`, `DeleteBucketCommand`.
fn destroys_in_cloud(name: &str) -> bool {
    let mut words = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !words.is_empty() {
            words.push('-');
        }
        words.push(if letter == '_' { '-' } else { letter.to_ascii_lowercase() });
    }
    let is_of_lists =
        matches!(words.as_str(), "clear" | "empty" | "reset" | "flush" | "drop" | "down" | "del");
    !is_of_lists && kind_of(&words) == Some(Verb::Destroys)
}

/// The names behind `.`, `::` and `new `, with what stands in front of each and behind it.
fn methods(bare: &str) -> Vec<(&str, &str, &str)> {
    const MOST: usize = 512;
    let is_of_name = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let starts = [".", "::", "new "]
        .iter()
        .flat_map(|mark| bare.match_indices(mark).map(|(at, mark)| at + mark.len()));
    starts
        .take(MOST)
        .filter_map(|at| {
            let rest = bare.get(at..)?;
            let end = rest.find(|c| !is_of_name(c)).unwrap_or(rest.len());
            let name = rest.get(..end).filter(|name| !name.is_empty())?;
            Some((name, bare.get(..at)?, rest.get(end..)?))
        })
        .collect()
}

/// The texts in quotes that begin as a statement does.
fn strings(text: &str) -> Vec<&str> {
    const FIRST: &[&str] = &["drop", "truncate", "delete", "update", "alter"];
    const MOST: usize = 64;
    text.split(['"', '\'', '`'])
        .take(MOST * 8)
        .map(str::trim)
        .filter(|piece| {
            let first = piece.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
            piece.contains(' ') && FIRST.contains(&first.as_str())
        })
        .take(MOST)
        .collect()
}
