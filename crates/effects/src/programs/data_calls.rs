//! What code on a command line tells libraries for stores and clouds to destroy, found by the names of their methods.
//!
//! Sources: the method references of SQLAlchemy, Django, ActiveRecord, Ecto, Eloquent, Sequelize, TypeORM, Prisma, Mongoose, PyMongo, redis-py,
//! elasticsearch-py; of boto3 and the AWS SDK for JavaScript, google-cloud-python, azure-sdk-for-python, the Kubernetes and Docker clients.

use crate::effect::{EffectKind, Severity, Target};
use crate::interpreter::{Call, Draft, Input, Machine, Value};
use checkrein_catalogue::DefaultStore;

use super::cloud_words::destroys_beyond_lists;
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

/// Libraries whose objects are all of them things at a service or in the engine of containers: a verb says enough.
const SERVICES: &[&str] = &[
    "stripe",
    "firebase-admin",
    "firebase_admin",
    "libnpmpublish",
    "pulumi",
    "octokit",
    "PyGithub",
    "from github",
    "twilio",
    "shopify",
    "cloudflare",
    "heroku",
    "hcloud",
    "contentful",
    "airtable",
    "import docker",
    "dockerode",
    "algolia",
    "pinecone",
    "sendgrid",
    "auth0",
    "okta",
    "zendesk",
    "hubspot",
    "atlassian",
    "jira",
    "gitlab",
];
/// Verbs of these libraries.
const DESTROYS: &[&str] = &[
    "del",
    "delete",
    "destroy",
    "unpublish",
    "purge",
    "terminate",
    "recursiveDelete",
    "deleteAll",
    "delete_all",
    "removeAll",
    "remove",
    "prune",
    "cancel_all",
    "deprovision",
];
/// What gives a container the machine (Docker SDK for Python 7, dockerode 4).
const GIVES_HOST: &[&str] = &[
    "privileged=True",
    "Privileged: true",
    "Privileged:true",
    "'/': {",
    "\"/\": {",
    "['/:/",
    "[\"/:/",
    "pid_mode='host'",
    "pid_mode=\"host\"",
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
];

/// How words in the paths of a project begin at which code that empties a store belongs to the work on it.
const BELONGS: &[&str] = &["test", "spec", "seed", "migrat", "fixture"];

/// Adds what code that stands on the command line, comes in, or was written by the session, does to stores and clouds.
pub(super) fn look_over(machine: &mut Machine<'_>, call: &Call, text: &str) {
    let is_inline = call.words.iter().any(|word| word.as_exact() == Some(text))
        || matches!(&call.input, Input::Text(Value::Exact(input)) if input == text);
    if !is_inline && !is_written_for_it(machine, call) {
        return;
    }
    let before = machine.effect_count();
    machine.possibly(|machine| find(machine, text));
    if machine.effect_count() > before {
        store_place::locate(machine, before, &call.program, &call.words, DefaultStore::Project);
    }
}

/// Whether the file that runs was written by the session, for this once.
fn is_written_for_it(machine: &Machine<'_>, call: &Call) -> bool {
    let path = call.arguments.operands.first().and_then(|file| machine.one_path_through(file));
    path.is_some_and(|path| {
        let own = path.relative_to(&machine.world().place().workspace).unwrap_or_default().to_lowercase();
        let mut words = own.split(|letter: char| !letter.is_alphanumeric());
        let belongs = words.any(|word| BELONGS.iter().any(|start| word.starts_with(start)));
        machine.is_of_session(&path) && !belongs
    })
}

fn find(machine: &mut Machine<'_>, text: &str) {
    let bare = stores::without_strings(text);
    // LocalStack, `MinIO` and others stand in for a cloud on this machine.
    let is_for_tests = [
        "mock_aws",
        "moto",
        "MongoMemoryServer",
        "mongodb-memory-server",
        "fakeredis",
        "mongomock",
        "testcontainers",
        "pg-mem",
        "ioredis-mock",
        ":memory:",
        "'sqlite://'",
        "\"sqlite://\"",
    ]
    .iter()
    .any(|name| text.contains(name));
    if is_for_tests {
        return;
    }
    let is_stand_in = ["endpoint_url", "endpointUrl", "endpoint:"].iter().any(|name| text.contains(name))
        && ["//localhost", "//127.0.0.1", "//localstack", "//[::1]", "//host.docker.internal"]
            .iter()
            .any(|host| text.contains(host));
    let speaks_of_cloud = !is_stand_in && LIBRARIES.iter().any(|library| text.contains(library));
    // A database in a file is a file.
    let is_server = !text.contains("sqlite") && !text.contains(":memory:");
    if is_stand_in {
        return;
    }
    let of_service = SERVICES.iter().any(|library| text.contains(library));
    if text.contains("docker") && GIVES_HOST.iter().any(|mark| text.contains(mark)) {
        machine.add(
            Draft::new(EffectKind::PrivilegeEscalation, Target::Service("docker".to_owned()))
                .severity(Severity::High)
                .note("gives a container all rights over this machine"),
        );
    }
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
        let is_verb_of_service = of_service
            && DESTROYS.contains(&name)
            && !["os.", "fs."].iter().any(|module| before.ends_with(module));
        if loses {
            machine.add(
                Draft::new(EffectKind::DatastoreDestroy, Target::Service("database".to_owned()))
                    .irreversible()
                    .note(format!("calls `{name}`")),
            );
        } else if is_call
            && (is_verb_of_service || speaks_of_cloud && destroys_in_cloud(name, before, is_unconditional))
        {
            machine.add(
                Draft::new(EffectKind::InfrastructureDestroy, Target::Service(name.to_owned()))
                    .irreversible()
                    .note(format!("calls `{name}`")),
            );
        }
        if is_call && is_server && RUNS_STATEMENTS.contains(&name) {
            for statement in statements_given(text, &bare, behind) {
                let found: Vec<Finding> = sql::findings(&statement, Language::Generic)
                    .into_iter()
                    .filter(|finding| matches!(finding, Finding::Destroys { .. }))
                    .collect();
                sql::apply(machine, &found, "database");
            }
        }
    }
}

/// Whether the name of a method says that something in a cloud goes: `terminate_instances`, `deleteNamespace`, `DeleteBucketCommand`. A verb
/// alone is one of lists, sets and files too, so it counts where it is given nothing, or is called on what another call gave.
fn destroys_in_cloud(name: &str, before: &str, is_given_nothing: bool) -> bool {
    let mut words = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !words.is_empty() {
            words.push('-');
        }
        words.push(if letter == '_' { '-' } else { letter.to_ascii_lowercase() });
    }
    let has_noun = words.contains('-') || is_given_nothing || before.ends_with(").");
    has_noun && destroys_beyond_lists(&words)
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

/// The texts in quotes that a call is given and that begin as a statement does. `behind` is what stands behind its name in `bare`, which has
/// as many letters as `text`.
fn statements_given(text: &str, bare: &str, behind: &str) -> Vec<String> {
    const FIRST: &[&str] = &["drop", "truncate", "delete", "update", "alter"];
    let start = bare.chars().count() - behind.chars().count();
    let mut depth = 0_usize;
    let length = behind
        .chars()
        .take_while(|letter| {
            match letter {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth > 0
        })
        .count();
    let (mut found, mut open): (Vec<String>, Option<(char, String)>) = (Vec::new(), None);
    for letter in text.chars().skip(start).take(length) {
        match &mut open {
            Some((quote, piece)) if letter == *quote => {
                found.push(std::mem::take(piece));
                open = None;
            }
            Some((_, piece)) => piece.push(letter),
            None if matches!(letter, '"' | '\'' | '`') => open = Some((letter, String::new())),
            None => {}
        }
    }
    found.retain(|piece| {
        let first = piece.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
        FIRST.contains(&first.as_str())
    });
    found
}
