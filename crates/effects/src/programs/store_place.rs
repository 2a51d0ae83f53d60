//! Where a store lies that a program talks to: on this machine, or somewhere else.
//!
//! A database for tests or development on this machine is made again by the project; a shared one is not. One that is named for it weighs
//! less than one of this machine without such a name, of which only the user knows whether it is needed. Which of the two is meant is told
//! by names, hosts, connection strings and the variables that clients and frameworks read. Where nothing is told, the client's own default
//! counts. One word of production is enough to believe in production.

use crate::effect::{Certainty, Effect, EffectKind, EffectSite, NetworkReach, Severity, SiteKind};
use crate::interpreter::{Machine, Value};
use crate::nature::Nature;
use checkrein_catalogue::DefaultStore;

use super::sites;

/// Names of what users depend on.
const PRODUCTION: &[&str] = &["prod", "production", "prd", "live", "staging", "stage", "preprod", "uat"];

/// Names of what is made for trying things.
const TRIAL: &[&str] = &[
    "test",
    "tests",
    "testing",
    "dev",
    "devel",
    "develop",
    "development",
    "local",
    "localdev",
    "tmp",
    "temp",
    "scratch",
    "sandbox",
    "demo",
    "ci",
    "e2e",
    "fixture",
    "fixtures",
    "playground",
    "spec",
];

/// Options whose value is a host, or an address with one.
const HOST_OPTIONS: &[&str] = &[
    "-h",
    "--host",
    "-H",
    "--hostname",
    "-host",
    "-S",
    "--server",
    "--uri",
    "--url",
    "-u",
    "--database-url",
    "-database",
    "--dsn",
    "-a",
    "--address",
    "--bootstrap-server",
    "--broker-list",
    "--brokers",
    "--zookeeper",
    "-server",
    "--server.endpoint",
    "--endpoints",
    "--endpoint",
    "--endpoint-url",
    "--admin-url",
    "--conn",
    "--stargate",
];

/// Variables from which clients take the address of a store.
const ADDRESSES: &[&str] = &[
    "DATABASE_URL",
    "PGHOST",
    "PGHOSTADDR",
    "PGSERVICE",
    "MYSQL_HOST",
    "MYSQL_URL",
    "MONGODB_URI",
    "MONGO_URL",
    "REDIS_URL",
    "REDISCLI_HOST",
    "INFLUX_HOST",
    "CLICKHOUSE_HOST",
    "CQLSH_HOST",
];

/// Variables with which frameworks are told where they run.
const ENVIRONMENTS: &[&str] = &[
    "RAILS_ENV",
    "RACK_ENV",
    "NODE_ENV",
    "APP_ENV",
    "MIX_ENV",
    "FLASK_ENV",
    "DJANGO_ENV",
    "DJANGO_SETTINGS_MODULE",
    "ASPNETCORE_ENVIRONMENT",
    "DOTNET_ENVIRONMENT",
    "SPRING_PROFILES_ACTIVE",
    "HANAMI_ENV",
    "ENVIRONMENT",
];

/// Variables from which one framework alone takes the address of its store, its server, or its settings: airflow.apache.org, "Configuration
/// Reference"; mlflow.org and docs.prefect.io, "Environment variables"; docs.dagster.io, `DAGSTER_HOME`; superset.apache.org, "Configuring"; Flask-SQLAlchemy;
/// github.com/pressly/goose; metabase.com, `MB_DB_CONNECTION_URI`; docs.getdbt.com, "Environment variables"; Flyway and Liquibase, "Environment variables".
const OWN_ADDRESSES: &[(&[&str], &[&str])] = &[
    (
        &["airflow"],
        &[
            "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN",
            "AIRFLOW__CORE__SQL_ALCHEMY_CONN",
            "AIRFLOW_HOME",
            "AIRFLOW_CONFIG",
        ],
    ),
    (&["mlflow"], &["MLFLOW_TRACKING_URI", "MLFLOW_BACKEND_STORE_URI", "MLFLOW_REGISTRY_URI"]),
    (
        &["prefect"],
        &[
            "PREFECT_API_URL",
            "PREFECT_API_DATABASE_CONNECTION_URL",
            "PREFECT_SERVER_DATABASE_CONNECTION_URL",
            "PREFECT_PROFILE",
        ],
    ),
    (&["dagster"], &["DAGSTER_HOME", "DAGSTER_PG_HOST", "DAGSTER_PG_URL"]),
    (
        &["superset"],
        &["SUPERSET_CONFIG_PATH", "SUPERSET__SQLALCHEMY_DATABASE_URI", "SQLALCHEMY_DATABASE_URI"],
    ),
    (&["flask", "alembic"], &["SQLALCHEMY_DATABASE_URI", "SQLALCHEMY_DATABASE_URL"]),
    (&["goose"], &["GOOSE_DBSTRING"]),
    (&["dbt"], &["DBT_TARGET", "DBT_HOST", "DBT_PROFILE"]),
    (&["flyway"], &["FLYWAY_URL", "FLYWAY_ENVIRONMENT"]),
    (&["liquibase"], &["LIQUIBASE_COMMAND_URL"]),
    (&["hasura"], &["HASURA_GRAPHQL_ENDPOINT", "HASURA_GRAPHQL_DATABASE_URL"]),
];

/// The variables from which a program takes the address of its store.
fn told_by(program: &str, default: DefaultStore) -> Vec<&'static str> {
    let common = match default {
        DefaultStore::Machine => ADDRESSES,
        // A framework is told its address by the one variable that all of them read.
        DefaultStore::Project => ADDRESSES.get(..1).unwrap_or_default(),
    };
    let own = OWN_ADDRESSES.iter().find(|(programs, _)| programs.contains(&program)).map(|(_, names)| *names);
    common.iter().chain(own.unwrap_or_default()).copied().collect()
}

/// Where a store lies, as far as anything is decided by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StorePlace {
    /// On another machine, in production, or nobody knows.
    Elsewhere,
    /// On this machine, or named for trying things on another one.
    Here,
    /// On this machine, and named for trying things: its project makes it again.
    Trial,
}

/// Says of the store effects that were added since there were `before` of them where the store lies. `words` are those behind the program.
pub(crate) fn locate(
    machine: &mut Machine<'_>,
    before: usize,
    program: &str,
    words: &[Value],
    default: DefaultStore,
) {
    let targets = targets(machine.effects_since(before));
    if !targets.is_empty() {
        let told = told_by(program, default);
        let place = place(machine, before, words, default, &told, &targets);
        let named = stores_named(machine, words, default, &told, &targets);
        sites::add(machine, before, &named);
        let is_production = words.iter().any(|word| says(&word.known_start(), PRODUCTION));
        machine.amend(before, |effect| {
            mark(effect, place);
            // Statements that nobody has read, for what users depend on.
            if is_production
                && effect.kind == EffectKind::DatastoreChange
                && effect.certainty == Certainty::Possible
            {
                effect.severity = Severity::High;
            }
        });
    }
}

/// The same for what runs in a container of this machine: other containers are named by one word, and what the environment says there is not
/// known.
pub(crate) fn locate_in_container(
    machine: &mut Machine<'_>,
    before: usize,
    container: &Value,
    words: &[Value],
) {
    let place = place_in_container(machine, before, container, words);
    machine.amend(before, |effect| mark(effect, place));
}

fn place_in_container(
    machine: &Machine<'_>,
    before: usize,
    container: &Value,
    words: &[Value],
) -> StorePlace {
    let Some(texts) = exact(std::iter::once(container).chain(words)) else { return StorePlace::Elsewhere };
    let targets = targets(machine.effects_since(before));
    let is_of_another_machine = |host: &str| host.contains('.') && !is_loopback(host);
    if ENGINES_ELSEWHERE.iter().any(|name| machine.variable(name).is_some())
        || texts.iter().chain(&targets).any(|text| says(text, PRODUCTION))
        || hosts(&texts).any(is_of_another_machine)
    {
        return StorePlace::Elsewhere;
    }
    if is_named_for_trying(&texts) || drops_for_trying(machine, before) {
        StorePlace::Trial
    } else {
        StorePlace::Here
    }
}

/// Whether nothing but databases is destroyed, and all of them are named for trying things: `DROP DATABASE app_test`.
fn drops_for_trying(machine: &Machine<'_>, before: usize) -> bool {
    let mut destroyed =
        machine.effects_since(before).filter(|effect| effect.kind == EffectKind::DatastoreDestroy).peekable();
    let is_for_trying = |effect: &Effect| {
        effect.nature == Nature::WholeDatabase && effect.target.text().is_some_and(|name| says(name, TRIAL))
    };
    destroyed.peek().is_some() && destroyed.all(is_for_trying)
}

/// Variables that send `docker` and `podman` to an engine on another machine.
const ENGINES_ELSEWHERE: &[&str] = &["DOCKER_HOST", "DOCKER_CONTEXT", "CONTAINER_HOST"];

fn mark(effect: &mut Effect, place: StorePlace) {
    if !is_store(effect) || effect.reach.is_some() {
        return;
    }
    if place != StorePlace::Elsewhere {
        effect.reach = Some(NetworkReach::Local);
    }
    if effect.kind == EffectKind::DatastoreChange && place == StorePlace::Trial {
        effect.severity = effect.severity.min(Severity::Medium);
    }
    if effect.kind == EffectKind::DatastoreDestroy {
        effect.severity = match (place, effect.severity) {
            // What weighs less on this machine weighs as it always does elsewhere.
            (StorePlace::Elsewhere, Severity::Medium) => Severity::Low,
            // Said by nobody yet: as bad as the kind is.
            (StorePlace::Trial, Severity::Low) => Severity::Medium,
            (StorePlace::Elsewhere | StorePlace::Here | StorePlace::Trial, severity) => severity,
        };
    }
}

fn is_store(effect: &Effect) -> bool {
    matches!(effect.kind, EffectKind::DatastoreChange | EffectKind::DatastoreDestroy)
}

fn targets<'a>(effects: impl Iterator<Item = &'a Effect>) -> Vec<String> {
    let stores = effects.filter(|effect| is_store(effect));
    stores.filter_map(|effect| effect.target.text().map(str::to_owned)).collect()
}

/// Words whose text is known; `None` when one is not, since it may name anything.
fn exact<'a>(words: impl Iterator<Item = &'a Value>) -> Option<Vec<String>> {
    words.map(|word| word.as_exact().map(str::to_owned)).collect()
}

/// The words of a call that tell where its store lies; `None` when one that could is not known. What stands behind an order or the name of a
/// store (`DEL $key`), and the text of a statement, tells nothing of that.
fn telling(words: &[Value]) -> Option<Vec<String>> {
    let (mut texts, mut before, mut has_operand) = (Vec::new(), "", false);
    for word in words {
        match word.as_exact() {
            Some(text) => {
                has_operand |= !text.starts_with('-') && !before.starts_with('-');
                texts.push(text.to_owned());
                before = text;
            }
            None if STATEMENTS.contains(&before) || has_operand && !before.starts_with('-') => before = "",
            None => return None,
        }
    }
    Some(texts)
}

fn place(
    machine: &Machine<'_>,
    before: usize,
    words: &[Value],
    default: DefaultStore,
    told: &[&str],
    targets: &[String],
) -> StorePlace {
    let Some(texts) = telling(words) else { return StorePlace::Elsewhere };
    let variables = |names: &[&str]| -> Option<Vec<String>> {
        let set = names.iter().filter_map(|name| machine.variable(name));
        set.map(|value| value.as_exact().map(str::to_owned)).collect()
    };
    let (Some(addresses), Some(environments)) = (variables(told), variables(ENVIRONMENTS)) else {
        return StorePlace::Elsewhere;
    };
    let environments: Vec<String> = environments.into_iter().chain(told_by_option(&texts, default)).collect();
    let mut all = texts.iter().chain(targets).chain(&addresses).chain(&environments);
    if all.any(|text| says(text, PRODUCTION)) {
        return StorePlace::Elsewhere;
    }
    let is_here = hosts(&texts).chain(addresses.iter().map(|text| host_of(text))).all(is_loopback);
    // A framework that is told that it runs for tests, or on a database with such a name, takes the store for tests.
    let is_told = || {
        let mut names =
            environments.iter().cloned().chain(addresses.iter().flat_map(|text| names_in_address(text)));
        default == DefaultStore::Project && names.any(|name| says(&name, TRIAL))
    };
    if is_here && (is_named_for_trying(&texts) || is_told() || drops_for_trying(machine, before)) {
        return StorePlace::Trial;
    }
    // A statement has blanks in it; names that stand in it are those of tables.
    let mut names = texts.iter().filter(|text| !text.contains(char::is_whitespace)).chain(targets);
    if is_here || names.any(|name| says(without_top_domain(name), TRIAL)) {
        StorePlace::Here
    } else {
        StorePlace::Elsewhere
    }
}

/// The hosts and databases that a call names, and those of the variables that its program reads.
fn stores_named(
    machine: &Machine<'_>,
    words: &[Value],
    default: DefaultStore,
    told: &[&str],
    targets: &[String],
) -> Vec<EffectSite> {
    let Some(texts) = telling(words) else {
        return vec![EffectSite { kind: SiteKind::Database, name: None }];
    };
    let variables = told.iter().chain(ENVIRONMENTS).filter_map(|name| machine.variable(name));
    let mut names: Vec<Option<String>> = Vec::new();
    for value in variables {
        match value.as_exact() {
            Some(text) => names.extend(names_in_address(text).map(Some)),
            None => names.push(None),
        }
    }
    names.extend(hosts(&texts).filter(|host| !is_loopback(host)).map(|host| Some(host.to_owned())));
    names.extend(told_by_option(&texts, default).into_iter().map(Some));
    let befores = std::iter::once("").chain(texts.iter().map(String::as_str));
    let operands = texts.iter().zip(befores).filter(|(text, before)| {
        !text.starts_with('-') && !text.contains(char::is_whitespace) && !NO_STORES.contains(before)
    });
    names.extend(operands.flat_map(|(text, _)| names_in_address(text)).map(Some));
    let plain = targets.iter().filter(|target| !target.contains(char::is_whitespace));
    names.extend(plain.map(|target| Some(target.clone())));
    names.sort();
    names.dedup();
    names.into_iter().map(|name| EffectSite { kind: SiteKind::Database, name }).collect()
}

/// The host of an address and the database behind it; of a bare name itself.
fn names_in_address(text: &str) -> impl Iterator<Item = String> {
    let (host, name) = if text.contains("://") {
        let path = text.split(['?', '#']).next().unwrap_or(text);
        let name = path.splitn(4, '/').nth(3).unwrap_or_default();
        (host_of(text), name)
    } else {
        ("", text)
    };
    let host = Some(host).filter(|host| !is_loopback(host));
    let name = Some(name).filter(|name| !name.is_empty() && !name.contains('/'));
    host.into_iter().chain(name).map(str::to_owned).collect::<Vec<_>>().into_iter()
}

/// Options whose value names a user, a secret or a file, and no store.
const NO_STORES: &[&str] = &[
    "-U",
    "-u",
    "--user",
    "--username",
    "-p",
    "--password",
    "-W",
    "-f",
    "--file",
    "-o",
    "--output",
    "-L",
    "--log-file",
    "-c",
    "--command",
    "--execute",
    "--eval",
    "-h",
    "--host",
    "--rdb",
    "-path",
    "-dir",
];

/// What the options say with which a framework is told where it runs: `--env=test`, `-e test` (symfony.com, "Console"; laravel.com, "Artisan";
/// guides.rubyonrails.org, "Command Line"; sequelize-cli, knex, `--env`).
fn told_by_option(texts: &[String], default: DefaultStore) -> Vec<String> {
    if default != DefaultStore::Project {
        return Vec::new();
    }
    let is_option = |text: &str| matches!(text, "--env" | "--environment" | "-e");
    let attached = texts.iter().filter_map(|text| text.split_once('=').filter(|(name, _)| is_option(name)));
    let behind = texts.iter().zip(texts.iter().skip(1)).filter(|(option, _)| is_option(option));
    attached.map(|(_, value)| value.to_owned()).chain(behind.map(|(_, value)| value.clone())).collect()
}

/// Options whose value is a statement, or a file of them (psql(1), mysql(1), mongosh, sqlcmd).
const STATEMENTS: &[&str] =
    &["-c", "--command", "-e", "--execute", "--eval", "-f", "--file", "-Q", "-q", "--query"];

/// Whether one of the words of a call is the name of a store for trying things, or an address with such a name: no statement, file, user or
/// option.
fn is_named_for_trying(texts: &[String]) -> bool {
    let before = std::iter::once("").chain(texts.iter().map(String::as_str));
    texts.iter().zip(before).any(|(text, before)| {
        let is_address = text.contains("://");
        let is_name = !text.starts_with('-') && !text.contains(['/', '.', ' ', '\t', '\n', '(']);
        // Of an address the name behind the host, not the user before it.
        let name = if is_address { text.rsplit_once('/').map_or("", |(_, name)| name) } else { text };
        (is_address || is_name && !NO_STORES.contains(&before)) && says(name, TRIAL)
    })
}

/// The hosts that words name: values of options, connection strings, `host=...`.
fn hosts(texts: &[String]) -> impl Iterator<Item = &str> {
    let behind_option = texts.iter().zip(texts.iter().skip(1)).filter_map(|(option, value)| {
        let takes_host = HOST_OPTIONS.contains(&option.as_str());
        // `-u root`, `-S name`: only what looks like an address says where.
        let is_address = match option.as_str() {
            // A server to one client, a socket to another.
            "-S" => value.contains(['.', ',', ':']) && !value.contains('/') && !value.ends_with(".sock"),
            "-u" | "-a" | "-H" => value.contains("://"),
            _ => true,
        };
        (takes_host && is_address && !value.starts_with('-')).then(|| host_of(value))
    });
    let attached = texts.iter().filter_map(|text| {
        if let Some((option, value)) = text.split_once('=')
            && HOST_OPTIONS.contains(&option)
        {
            return Some(host_of(value));
        }
        text.contains("://").then(|| host_of(text))
    });
    let in_string =
        texts.iter().flat_map(|text| text.split_whitespace()).filter_map(|part| part.strip_prefix("host="));
    behind_option.chain(attached).chain(in_string)
}

/// The host of an address: `postgres://me:pw@db.example:5432/app` -> `db.example`. A path of a socket stays as it is.
pub(super) fn host_of(address: &str) -> &str {
    let (scheme, bare) = address.split_once("://").unwrap_or(("", address));
    if matches!(scheme, "sqlite" | "sqlite3" | "file" | "duckdb") {
        // A file of this machine has no host.
        return "";
    }
    if bare.starts_with('/') {
        return bare;
    }
    let authority = bare.split(['/', '?']).next().unwrap_or(bare);
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = host.strip_prefix("tcp:").unwrap_or(host);
    if let Some(inside) = host.strip_prefix('[') {
        return inside.split(']').next().unwrap_or(inside);
    }
    if host.matches(':').count() > 1 { host } else { host.split([':', ',']).next().unwrap_or(host) }
}

pub(super) fn is_loopback(host: &str) -> bool {
    matches!(host, "" | "localhost" | "::1" | "0.0.0.0" | "." | "(local)" | "host.docker.internal")
        || host.starts_with("127.")
        || host.starts_with('/')
        || host.ends_with(".localhost")
}

/// Whether names say that what they name is for trying things, and none that users depend on it.
pub(super) fn speak_of_trying(names: &[String]) -> bool {
    names.iter().any(|name| says(name, TRIAL)) && !names.iter().any(|name| says(name, PRODUCTION))
}

/// Whether a name says that users depend on what it names.
pub(super) fn speaks_of_production(name: &str) -> bool {
    says(name, PRODUCTION)
}

/// A host without the last part of its name, which says who registers such names, and nothing about the host (`db.example.dev`).
fn without_top_domain(text: &str) -> &str {
    let host = host_of(text.split_once('=').map_or(text, |(_, value)| value));
    let is_host =
        host.contains('.') && host.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-'));
    match host.rsplit_once('.') {
        Some((bare, "dev")) if is_host && host.len() == text.len() => bare,
        Some(_) | None => text,
    }
}

/// Whether one of the names is a part of a text: `app_test`, `db-prod.example`.
fn says(text: &str, names: &[&str]) -> bool {
    text.split(|letter: char| !letter.is_ascii_alphanumeric())
        .any(|part| names.iter().any(|name| part.eq_ignore_ascii_case(name)))
}

#[cfg(test)]
mod tests {
    use super::{PRODUCTION, TRIAL, host_of, hosts, is_loopback, says};

    #[test]
    fn hosts_are_found_in_every_way_of_writing_them() {
        let cases: &[(&[&str], &[&str])] = &[
            (&["-h", "db.example", "app"], &["db.example"]),
            (&["--host=db.example"], &["db.example"]),
            (&["postgres://me:pw@db.example:5432/app"], &["db.example"]),
            (&["-u", "root"], &[]),
            (&["host=db.example dbname=app"], &["db.example"]),
            (&["-S", "localhost"], &[]),
            (&["-S", "db.example,1433"], &["db.example"]),
            (&["-S", "/run/mysql.sock"], &[]),
            (&["sqlite://app.db"], &[""]),
            (&["mongodb://[::1]:27017/app"], &["::1"]),
            (&["-h", "/var/run/postgresql"], &["/var/run/postgresql"]),
        ];
        for (words, expected) in cases {
            let texts: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(hosts(&texts).collect::<Vec<_>>(), *expected, "{words:?}");
        }
    }

    #[test]
    fn only_this_machine_is_loopback() {
        for here in ["localhost", "127.0.0.1", "::1", "/tmp/mysql.sock"] {
            assert!(is_loopback(host_of(here)), "{here}");
        }
        for there in ["db.example", "10.0.0.4", "localhost.example"] {
            assert!(!is_loopback(host_of(there)), "{there}");
        }
    }

    #[test]
    fn names_are_whole_parts() {
        assert!(says("app_test", TRIAL));
        assert!(says("db-prod.example", PRODUCTION));
        assert!(!says("contest", TRIAL));
        assert!(!says("products", PRODUCTION));
    }
}
