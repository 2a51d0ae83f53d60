//! Questions to databases: which texts among the arguments of a tool are SQL.

use checkrein_protocol::folded;
use serde_json::Value as Json;

use super::TALKING;
use super::names::{Deed, Name, deed_of, split};
use crate::action::Action;
use crate::tools::call::{texts_of, texts_where, texts_within};

/// The SQL texts of a tool that asks a database.
pub(crate) fn sql_texts(action: &Action) -> Vec<String> {
    let input = &action.input;
    let mut all: Vec<String> =
        texts_of(input, &["sql", "statement", "sql_query"]).map(str::to_owned).collect();
    let lists = ["statements", "queries", "sqls", "sql"].iter().filter_map(|key| input.get(key)?.as_array());
    let listed: Vec<&str> =
        lists.flatten().filter_map(Json::as_str).filter(|statement| is_sql(statement)).collect();
    if !listed.is_empty() {
        all.push(listed.join(";\n"));
    }
    let name = split(action.tool.as_str());
    let asks = deed_of(&name.words) == Some(Deed::Run) || asks_database(&name);
    let is_question = |field: &str| {
        let field = folded(field);
        QUESTIONS.contains(&field.as_str()) || asks && ANY_TEXTS.contains(&field.as_str())
    };
    let reads = |text: &&str| if asks { holds_sql(text) } else { is_sql(text) };
    let asked = texts_within(input, &is_question).into_iter().filter(reads);
    all.extend(asked.map(str::to_owned));
    let beneath = |field: &str| QUESTIONS.contains(&folded(field).as_str());
    all.extend(texts_beneath(input, &beneath).into_iter().filter(reads).map(str::to_owned));
    with_other_readings(all)
}

/// The texts of a tool that are SQL under names which say nothing of it. Of one that only looks, keeps or talks they are what it is about.
pub(crate) fn further_sql_texts(action: &Action) -> Vec<String> {
    let name = split(action.tool.as_str());
    let keeps = match deed_of(&name.words) {
        None | Some(Deed::Run | Deed::Destroy) => false,
        Some(Deed::Look) => !asks_database(&name),
        Some(Deed::Quiet | Deed::Change | Deed::Publish) => true,
    };
    if keeps || name.begins_with(TALKING) {
        return Vec::new();
    }
    let is_meant = |field: &str| !ABOUT.contains(&folded(field).as_str());
    let texts = texts_beneath(&action.input, &is_meant).into_iter().filter(|text| is_sql(text));
    with_other_readings(texts.map(str::to_owned).collect())
}

/// Fields that hold words about a call, or what a statement puts into its places, folded (ours; DB-API `params`, node-postgres `values`).
const ABOUT: &[&str] = &[
    "title",
    "description",
    "explanation",
    "reason",
    "comment",
    "note",
    "notes",
    "message",
    "prompt",
    "purpose",
    "summary",
    "content",
    "contents",
    "body",
    "goal",
    "task",
    "text",
    "thought",
    "values",
    "bindings",
    "row",
    "rows",
    "record",
    "records",
    "data",
    "document",
    "documents",
    "markdown",
    "html",
    "question",
];

/// The texts below a name that is meant, through objects of any depth up to a name that is not; what stands in a list below `params` is bound to
/// a statement, and is none.
fn texts_beneath<'a>(input: &'a Json, is_meant: &dyn Fn(&str) -> bool) -> Vec<&'a str> {
    const BOUND: &[&str] = &["params", "parameters", "args", "arguments", "values", "bindings"];
    texts_where(input, &|name, value, is_named| {
        let field = folded(name);
        let is_about = ABOUT.contains(&field.as_str()) && field != "text";
        let is_bound = value.is_array() && BOUND.contains(&field.as_str());
        (!is_about && !is_bound).then(|| is_named || is_meant(name))
    })
}

fn with_other_readings(mut all: Vec<String>) -> Vec<String> {
    // What is a comment for one database is none for another: each reading counts.
    let readings: Vec<String> = all.iter().flat_map(|text| other_readings(text)).collect();
    all.extend(readings);
    all
}

/// Fields that hold SQL or the words for a search, folded (ours).
const QUESTIONS: &[&str] = &[
    "sql",
    "sqls",
    "sqlquery",
    "sqlstatement",
    "sqltext",
    "rawsql",
    "query",
    "queries",
    "querytext",
    "statement",
    "statements",
    "stmt",
];
/// Fields that hold it in tools that ask a database; those of other tools are words for people, or for a file (ours).
const ANY_TEXTS: &[&str] = &["q", "text", "command", "commands", "body", "input", "code", "script"];
/// What tools and servers are called that ask a database (ours).
const DATABASES: &[&str] = &[
    "query",
    "sql",
    "db",
    "database",
    "warehouse",
    "postgres",
    "postgresql",
    "pg",
    "mysql",
    "mariadb",
    "sqlite",
    "duckdb",
    "mssql",
    "sqlserver",
    "oracle",
    "clickhouse",
    "bigquery",
    "snowflake",
    "redshift",
    "databricks",
    "trino",
    "athena",
    "spanner",
    "cockroachdb",
    "supabase",
    "neon",
    "turso",
    "d1",
];

/// Whether a tool asks a database by its name, or that of its server.
pub(super) fn asks_database(name: &Name) -> bool {
    let mut parts = name.words.iter().map(String::as_str).chain(name.server.split(['-', '_']));
    parts.any(|part| DATABASES.contains(&part))
}

/// Whether a question is SQL rather than the words for a search, by its first statement that does something.
pub(super) fn is_sql(text: &str) -> bool {
    let words = words_of_sql(text);
    let mut statements = statements(&words);
    statements.find(|statement| !is_frame(statement)).is_some_and(is_statement)
}

/// Whether any statement of a text is SQL. Of what a database is given, none hides another one.
fn holds_sql(text: &str) -> bool {
    statements(&words_of_sql(text)).any(is_statement)
}

fn statements(words: &[String]) -> impl Iterator<Item = &[String]> {
    words.split(|word| word == ";").filter(|statement| !statement.is_empty())
}

/// The words of a text without its comments, in lower case; each other sign is a word of its own.
fn words_of_sql(text: &str) -> Vec<String> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '.' | '@' | '-' | '+' | '/');
    let mut words = Vec::new();
    let mut word = String::new();
    for letter in without_comments(&opened_comments(text)).chars() {
        if is_part(letter) {
            word.extend(letter.to_lowercase());
            continue;
        }
        if !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if !letter.is_whitespace() {
            words.push(letter.to_string());
        }
    }
    words.extend(Some(word).filter(|word| !word.is_empty()));
    words
}

/// Whether a statement only says how those around it are run.
fn is_frame(words: &[String]) -> bool {
    const FRAMES: &[&str] = &[
        "begin",
        "start",
        "commit",
        "end",
        "rollback",
        "savepoint",
        "release",
        "set",
        "use",
        "go",
        "abort",
        "declare",
    ];
    words.first().is_some_and(|word| FRAMES.contains(&word.as_str())) && words.len() <= 12
}

/// What stands behind the word that drops, makes or changes something of a database (PostgreSQL 17, MySQL 8.4, SQL Server, SQLite: "SQL
/// Commands").
const OBJECTS: &[&str] = &[
    "table",
    "tables",
    "database",
    "schema",
    "index",
    "view",
    "materialized",
    "user",
    "role",
    "function",
    "procedure",
    "trigger",
    "sequence",
    "type",
    "domain",
    "extension",
    "policy",
    "publication",
    "subscription",
    "tablespace",
    "event",
    "column",
    "owned",
    "or",
    "unique",
    "temporary",
    "temp",
    "system",
    "foreign",
    "server",
    "aggregate",
    "rule",
    "login",
    "external",
    "stage",
    "warehouse",
    "keyspace",
    "collection",
];

/// Whether words read as a statement.
fn is_statement(words: &[String]) -> bool {
    let has = |wanted: &str| words.iter().any(|word| word == wanted);
    let second = words.get(1).map(String::as_str);
    let rest = words.get(1..).unwrap_or_default();
    match words.first().map(String::as_str) {
        Some("select") => {
            has("from")
                || second.is_some_and(|word| {
                    word.starts_with(|first: char| first.is_ascii_digit() || first == '*')
                })
                || rest.iter().skip(1).any(|word| word == "(") && !rest.iter().take(1).any(|word| word == "(")
        }
        Some("delete") => {
            second == Some("from") || rest.iter().take(4).any(|word| word == "from") && has("where")
        }
        Some("insert" | "replace" | "merge") => rest.iter().take(3).any(|word| word == "into"),
        Some("update") => has("set"),
        Some("drop" | "create" | "alter") => second.is_some_and(|word| OBJECTS.contains(&word)),
        Some("truncate") => second == Some("table") || words.len() <= 3 || has("cascade"),
        Some("with") => has("as") && ["select", "delete", "insert", "update", "merge"].into_iter().any(has),
        Some("explain" | "profile" | "prepare") => {
            (1..words.len().min(16)).any(|at| words.get(at..).is_some_and(is_statement))
        }
        Some("do") => second.is_some_and(|word| word.starts_with('$') || matches!(word, "'" | "language")),
        Some("copy") => (has("to") || has("from")) && (has("'") || has("stdin") || has("stdout")),
        Some("execute" | "exec") => second.is_some_and(|word| {
            matches!(word, "immediate" | "'" | "(") || word.contains("sp_") || word.contains("xp_")
        }),
        Some("call") => second.is_some() && words.get(2).is_some_and(|word| word == "("),
        Some("load") => second == Some("data"),
        Some("rename") => second == Some("table"),
        Some("reassign") => second == Some("owned"),
        Some("attach") => second == Some("database") || has("'"),
        Some("pragma" | "vacuum") => true,
        Some("grant" | "revoke") => has("on") || has("to"),
        // The last one stands within a frame: `BEGIN DROP TABLE t END`.
        Some("begin") => {
            rest.first().is_some_and(|word| !is_frame(std::slice::from_ref(word))) && is_statement(rest)
        }
        Some(_) | None => false,
    }
}

/// The same text as other databases read it, where that differs: without comments, and with those opened that only MySQL runs.
fn other_readings(text: &str) -> Vec<String> {
    let opened = opened_comments(text);
    let plain = without_comments(&opened);
    [opened, plain].into_iter().filter(|reading| reading != text).collect()
}

/// A text whose comments of the form `/*! ... */` are text: MySQL runs what stands in them (its manual, "Comments").
fn opened_comments(text: &str) -> String {
    let mut parts = text.split("/*!");
    let mut opened = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let part = part.trim_start_matches(|letter: char| letter.is_ascii_digit());
        opened.push(' ');
        opened.push_str(&part.replacen("*/", " ", 1));
    }
    opened
}

/// A text with a blank in place of each comment. What stands in quotes is none.
fn without_comments(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    let mut is_line_begun = false;
    while let Some(letter) = rest.chars().next() {
        let length = letter.len_utf8();
        let behind = |end: &str| rest.get(2..).and_then(|inner| inner.find(end)).map(|at| at + 2);
        let taken = if rest.starts_with("/*") {
            plain.push(' ');
            behind("*/").map_or(rest.len(), |at| at + 2)
        } else if rest.starts_with("--") || letter == '#' && !is_line_begun {
            rest.find('\n').unwrap_or(rest.len())
        } else if matches!(letter, '\'' | '"' | '`') {
            let end = rest.get(length..).and_then(|inner| inner.find(letter)).map_or(rest.len(), |at| at + 2);
            plain.push_str(rest.get(..end).unwrap_or(rest));
            end
        } else {
            plain.push(letter);
            length
        };
        is_line_begun = letter != '\n' && (is_line_begun || !letter.is_whitespace());
        rest = rest.get(taken..).unwrap_or_default();
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::{holds_sql, is_sql};

    #[test]
    fn statements_are_told_from_words_for_a_search() {
        for sql in [
            "BEGIN; DROP TABLE users; COMMIT",
            "/* x */ drop table users",
            "-- x\ndrop table users",
            "# x\ndrop table users",
            "drop/**/table/**/users",
            "/*!50000 drop table users */",
            "WITH x AS (SELECT 1) DELETE FROM users",
            "EXPLAIN ANALYZE DELETE FROM users",
            "EXPLAIN (ANALYZE, BUFFERS) DELETE FROM users",
            "DO $$ BEGIN EXECUTE 'DROP TABLE users'; END $$",
            "COPY (SELECT 1) TO PROGRAM 'id'",
            "select pg_terminate_backend(5)",
            "drop materialized view a",
        ] {
            assert!(is_sql(sql) && holds_sql(sql), "{sql}");
        }
        for words in [
            "drop shipping in the table",
            "explain how to delete a user",
            "do not drop it",
            "copy a file to another folder",
            "call me back",
            "with or without you",
            "begin with the end in mind",
            "set up a table",
            "delete old rows",
        ] {
            assert!(!is_sql(words) && !holds_sql(words), "{words}");
        }
        assert!(holds_sql("what is this; drop table users") && !is_sql("what is this; drop table users"));
    }
}
