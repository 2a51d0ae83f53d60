//! Clients of databases.

use super::psql_variables;
use super::sql::{self, Finding, Language};
use crate::effect::{EffectKind, Severity, Target};
use crate::interpreter::{Call, Draft, Exit, Input, Machine, Output, Value};
use crate::nature::Nature;
use crate::world::{Entry, FileText};

/// `psql`.
pub(crate) fn psql(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    let client = Client { variables: psql_variables::given(arguments), ..POSTGRES };
    for (name, value) in &arguments.options {
        let Some(value) = value else { continue };
        match name.as_str() {
            "-c" | "--command" => meta_text(machine, value, &client),
            "-f" | "--file" if value.as_exact() == Some("-") => meta_input(machine, call, &client),
            "-f" | "--file" => meta_file(machine, value, &client),
            "-o" | "--output" | "-L" | "--log-file" => output(machine, value),
            _ => {}
        }
    }
    if !arguments.has(&["-c", "--command", "-f", "--file", "-l", "--list"]) {
        meta_input(machine, call, &client);
    }
    Exit::unknown()
}

/// `mysql`, `mariadb`.
pub(crate) fn mysql(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    let mut given = false;
    for (name, value) in &arguments.options {
        let Some(value) = value else { continue };
        match name.as_str() {
            "-e" | "--execute" | "--init-command" => {
                given |= name != "--init-command";
                meta_text(machine, value, &MYSQL);
            }
            "--tee" => machine.write(value),
            "--file" => {
                given = true;
                meta_file(machine, value, &MYSQL);
            }
            _ => {}
        }
    }
    if !given {
        meta_input(machine, call, &MYSQL);
    }
    Exit::unknown()
}

/// `sqlite3 [OPTIONS] FILE [STATEMENT]...`.
pub(crate) fn sqlite(machine: &mut Machine<'_>, call: &Call) -> Exit {
    file_database(machine, call, &SQLITE, &["-cmd"], &["-init"])
}

/// `duckdb [OPTIONS] [FILE] [STATEMENT]...`.
pub(crate) fn duckdb(machine: &mut Machine<'_>, call: &Call) -> Exit {
    file_database(machine, call, &DUCKDB, &["-c", "-cmd", "-s"], &["-init", "-f"])
}

/// A database in one file: a change to what is in it is a change of the file; in memory nothing lasts.
fn file_database(
    machine: &mut Machine<'_>,
    call: &Call,
    client: &Client,
    texts: &[&str],
    files: &[&str],
) -> Exit {
    let arguments = &call.arguments;
    let mut operands = arguments.operands.iter();
    let file = operands.next().cloned();
    let in_memory = match &file {
        None => true,
        Some(file) => file.as_exact().is_some_and(|text| {
            text.is_empty() || text.starts_with(":memory:") || text.contains("mode=memory")
        }),
    };
    let read_only = arguments.has(&["-readonly", "--readonly"]);
    let before = machine.effect_count();
    // Whoever deletes from a file that is not there takes it for one that is, unless the statement says that nothing need be there.
    let is_new =
        asks_first(call) && file.as_ref().is_some_and(|file| machine.is_certainly_missing(&path_of(file)));
    // One that this command made is a copy, or holds what the command put in.
    let is_made_here = |file: &Value| {
        machine.one_path_through(&path_of(file)).is_some_and(|path| machine.is_new_file(&path))
    };
    let is_new = is_new || file.as_ref().is_some_and(is_made_here);
    if let Some(file) = file.as_ref().filter(|_| !in_memory) {
        machine.read(&path_of(file));
    }
    for text in arguments.values(texts) {
        meta_text(machine, text, client);
    }
    for file in arguments.values(files) {
        meta_file(machine, file, client);
    }
    let mut given = arguments.has(texts);
    for text in operands {
        given = true;
        meta_text(machine, text, client);
    }
    if !given {
        meta_input(machine, call, client);
    }
    let attached = Attached::of(call);
    let mut changed = false;
    // What the client has another program do is about another store.
    let program = machine.cause().to_owned();
    let passing = in_memory || read_only;
    machine.amend(before, |effect| {
        let is_store = matches!(effect.kind, EffectKind::DatastoreChange | EffectKind::DatastoreDestroy);
        let is_attached = is_store && effect.target.text().is_some_and(|name| attached.holds(name));
        if is_attached {
            return;
        }
        changed |= is_store;
        if is_store && passing {
            // Nothing that lasts: the least of all effects stands for it.
            effect.kind = EffectKind::ProcessSpawn;
        } else if is_store && effect.cause == program {
            effect.nature = Nature::DataInAFile;
            // A file that is not there holds nothing that could be lost.
            if is_new {
                effect.kind = EffectKind::DatastoreChange;
                effect.reversible = true;
                effect.note.clear();
            }
        }
    });
    if let (Some(file), true, false) = (&file, changed, passing) {
        let file = path_of(file);
        let before = machine.effect_count();
        machine.write(&file);
        // What is not yet in the file itself lies beside it while the database is in use.
        // A link is followed first, so it lies beside the file that the link leads to.
        let real = machine.paths_through(&file).into_iter().filter_map(|aim| aim.target.path().cloned());
        let real: Vec<String> = real.map(|path| path.as_str().to_owned()).collect();
        for beside in real.iter().flat_map(|file| BESIDE.map(|ending| format!("{file}{ending}"))) {
            let beside = Value::Exact(beside);
            let is_there = machine.paths_through(&beside).iter().any(|aim| {
                aim.target.path().is_some_and(|path| matches!(machine.entry(path), Entry::File(_)))
            });
            if is_there {
                machine.effect(EffectKind::FileModify, &beside);
            }
        }
        machine.amend(before, |effect| {
            if effect.kind == EffectKind::FileModify && effect.nature == Nature::Ordinary {
                effect.nature = Nature::DatabaseFile;
            }
        });
    }
    // What is handed to the server as it is (duckdb.org 1.4, "postgres_execute", "mysql_execute").
    for text in call.words.iter().filter_map(Value::as_exact) {
        for behind in text.split("_execute(").skip(1) {
            if let Some(statement) = behind.split('\'').nth(3) {
                sql::apply(machine, &sql::findings(statement, Language::Generic), "postgres");
            }
        }
    }
    Exit::unknown()
}

/// Databases that statements of DuckDB attach to write in them (duckdb.org 1.4, "ATTACH", "PostgreSQL Extension", "MySQL Extension", "MotherDuck").
struct Attached {
    /// The names under which they are known, in small letters.
    names: Vec<String>,
}

impl Attached {
    fn of(call: &Call) -> Self {
        let mut texts: Vec<String> = call.words.iter().map(Value::known_start).collect();
        if let Input::Text(text) = &call.input {
            texts.push(text.known_start());
        }
        let lower = texts.join(" ; ").to_ascii_lowercase();
        let names = lower.split("attach ").skip(1).filter_map(|behind| {
            let statement = behind.split(';').next().unwrap_or(behind);
            let place = statement.split('\'').nth(1)?;
            let is_passing =
                place.is_empty() || place.starts_with(":memory:") || statement.contains("read_only");
            let is_here = ["localhost", "127.0.0.1", "_test", "_dev"].iter().any(|name| place.contains(name));
            let named = statement.split_once(" as ").map(|(_, name)| name.trim_start());
            let by_place = place.rsplit(['/', ':']).next().and_then(|file| file.split('.').next());
            let name = named.and_then(|name| name.split([' ', '(']).next()).or(by_place)?;
            (!is_passing && !is_here).then(|| name.trim_matches('"').to_owned())
        });
        Self { names: names.collect() }
    }

    /// Whether a name is that of one of them, or of something in it.
    fn holds(&self, name: &str) -> bool {
        let lower = name.to_ascii_lowercase();
        let first = lower.split('.').next().unwrap_or(&lower);
        self.names.iter().any(|name| name == first.trim_matches('"'))
    }
}

/// Whether each thing that the statements of a call drop need not be there.
fn asks_first(call: &Call) -> bool {
    let words = call.words.iter().map(Value::known_start);
    let text = words.map(|word| word.to_ascii_lowercase()).collect::<Vec<_>>().join(" ");
    let count = |what: &str| text.matches(what).count();
    let dropped = count("drop ");
    dropped > 0 && dropped == count("if exists") && count("delete from") + count("truncate") == 0
}

/// The endings of the files that SQLite and DuckDB keep beside a database.
const BESIDE: [&str; 3] = ["-wal", "-journal", ".wal"];

/// `file:PATH?OPTIONS` as a path.
fn path_of(file: &Value) -> Value {
    match file.as_exact().and_then(|text| text.strip_prefix("file:")) {
        Some(rest) => {
            let path = rest.split('?').next().unwrap_or(rest);
            Value::exact(path.strip_prefix("//").unwrap_or(path))
        }
        None => file.clone(),
    }
}

/// `clickhouse-client`, also as `clickhouse client`.
pub(crate) fn clickhouse(machine: &mut Machine<'_>, call: &Call) -> Exit {
    clients_of_statements(machine, call, Language::Clickhouse)
}

/// Clients that take statements by one of the usual options, from files or the standard input.
pub(crate) fn client(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let language = match call.program.as_str() {
        "sqlcmd" | "mssql-cli" | "tsql" | "isql" => Language::Mssql,
        "sqlite-utils" => Language::Sqlite,
        "dolt" => Language::Mysql,
        "cockroach" => Language::Postgres,
        _ => Language::Generic,
    };
    clients_of_statements(machine, call, language)
}

fn clients_of_statements(machine: &mut Machine<'_>, call: &Call, language: Language) -> Exit {
    let arguments = &call.arguments;
    let place = call.program.split(' ').next().unwrap_or("database").to_owned();
    let is_sqlcmd = call.program == "sqlcmd";
    let mut given = false;
    for (name, value) in &arguments.options {
        let Some(value) = value else { continue };
        match name.as_str() {
            "-Q" | "-q" | "-e" | "-c" | "--execute" | "--command" | "--query" => {
                given = true;
                sql::run_text(machine, value, language, &place);
            }
            "-i" | "-f" | "--file" | "--queries-file" if name != "-i" || is_sqlcmd => {
                given = true;
                sql::run_file(machine, value, language, &place);
            }
            "-o" | "--output" if is_sqlcmd => machine.write(value),
            _ => {}
        }
    }
    // A statement as an operand has blanks in it: `cypher-shell 'MATCH (n) RETURN n'`.
    for operand in &arguments.operands {
        if operand.as_exact().is_some_and(|text| text.trim().contains(char::is_whitespace)) {
            given = true;
            sql::run_text(machine, operand, language, &place);
        }
    }
    let verb = arguments.operand(0).unwrap_or_default();
    match (call.program.as_str(), verb) {
        ("dolt", "push") => {
            machine.add(Draft::new(EffectKind::VcsRemoteUpdate, Target::Service("dolt".to_owned())));
        }
        ("dolt", "reset" | "checkout" | "gc" | "clean") => {
            machine
                .add(Draft::new(EffectKind::DatastoreChange, Target::Service("dolt".to_owned())).possible());
        }
        (
            "sqlite-utils",
            "drop-table" | "drop-view" | "insert" | "upsert" | "transform" | "create-table" | "add-column"
            | "memory",
        ) => {
            if let Some(file) = arguments.operands.get(1).filter(|_| verb != "memory") {
                let kind = if verb == "drop-table" {
                    EffectKind::DatastoreDestroy
                } else {
                    EffectKind::DatastoreChange
                };
                machine.add(Draft::new(
                    kind,
                    Target::Service(arguments.operand(2).unwrap_or("table").to_owned()),
                ));
                machine.write(file);
            }
            given = true;
        }
        _ => {}
    }
    if !given {
        sql::run_input(machine, &call.input, language, &place);
    }
    Exit::unknown()
}

/// `bq query`: the operands are the statement.
pub(crate) fn statement_words(machine: &mut Machine<'_>, call: &Call) -> Exit {
    for operand in &call.arguments.operands {
        sql::run_text(machine, operand, Language::Generic, "bigquery");
    }
    if call.arguments.operands.is_empty() {
        sql::run_input(machine, &call.input, Language::Generic, "bigquery");
    }
    Exit::unknown()
}

/// A client with commands of its own between the statements.
struct Client {
    language: Language,
    place: &'static str,
    /// What a line of its own begins with.
    commands: Commands,
    /// Names and texts that stand for them in statements.
    variables: Vec<(String, String)>,
}

/// How commands of a client are told from statements.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Commands {
    /// `\! ls`, `\copy`: psql and mysql.
    Backslash,
    /// `.shell ls`: sqlite3 and duckdb.
    Dot,
}

const POSTGRES: Client = Client {
    language: Language::Postgres,
    place: "postgres",
    commands: Commands::Backslash,
    variables: Vec::new(),
};
const MYSQL: Client = Client {
    language: Language::Mysql,
    place: "mysql",
    commands: Commands::Backslash,
    variables: Vec::new(),
};
const SQLITE: Client =
    Client { language: Language::Sqlite, place: "sqlite", commands: Commands::Dot, variables: Vec::new() };
const DUCKDB: Client =
    Client { language: Language::Duckdb, place: "duckdb", commands: Commands::Dot, variables: Vec::new() };

fn meta_file(machine: &mut Machine<'_>, file: &Value, client: &Client) {
    match machine.read_code(file) {
        Output::Text(text @ (Value::Exact(_) | Value::AnyOf(_))) => meta_text(machine, &text, client),
        // A dump of gigabytes goes on where reading ends.
        Output::Text(Value::Between { prefix, .. }) if prefix.len() > FileText::LIMIT => {
            meta_text(machine, &Value::Exact(prefix), client);
            machine.unread("not all of the statements are read");
        }
        Output::Text(_)
        | Output::Nothing
        | Output::Network(_)
        | Output::Secret(_)
        | Output::Local(_)
        | Output::Setup(_)
        | Output::Unknown => {
            let name = file.as_exact().unwrap_or(client.place).to_owned();
            let note = "the statements are not known";
            machine.add(Draft::new(EffectKind::DatastoreChange, Target::Service(name)).possible().note(note));
        }
    }
}

fn meta_input(machine: &mut Machine<'_>, call: &Call, client: &Client) {
    for text in machine.handed_texts(call) {
        machine.possibly(|machine| meta_text(machine, &text, client));
    }
    if machine.is_handed_undone(call) {
        machine.unread(format!("`{}` runs what the same command decoded", call.program));
        return;
    }
    let input = &call.input;
    match input {
        Input::Text(text) => meta_text(machine, text, client),
        Input::Local(place) if machine.code_coming_in(place).is_some() => {
            meta_file(machine, &Value::exact(place.as_str()), client);
        }
        Input::Inherited | Input::Network(_) | Input::Secret(_) | Input::Local(_) | Input::Unknown => {
            sql::run_input(machine, input, client.language, client.place);
        }
    }
}

/// A text of statements with commands of the client in lines of their own.
fn meta_text(machine: &mut Machine<'_>, text: &Value, client: &Client) {
    let Some(exact) = text.as_exact() else {
        if let Some(several) = text.alternatives() {
            for one in several {
                machine.possibly(|machine| meta_text(machine, &Value::exact(one.clone()), client));
            }
        } else {
            sql::run_text(machine, text, client.language, client.place);
        }
        return;
    };
    let replaced = match client.language {
        Language::Postgres => psql_variables::put_in(exact, &client.variables),
        Language::Mysql
        | Language::Sqlite
        | Language::Duckdb
        | Language::Clickhouse
        | Language::Mssql
        | Language::Generic => None,
    };
    let exact = replaced.as_deref().unwrap_or(exact);
    let start = match client.commands {
        Commands::Backslash => '\\',
        Commands::Dot => '.',
    };
    let mut statements = String::new();
    for line in exact.lines() {
        let trimmed = line.trim_start();
        if trimmed.starts_with(start) {
            flush(machine, &mut statements, client);
            command(machine, trimmed.get(1..).unwrap_or_default(), client);
        } else {
            statements.push_str(match client.commands {
                Commands::Backslash => inline_command(machine, line, client),
                Commands::Dot => line,
            });
            statements.push('\n');
        }
    }
    flush(machine, &mut statements, client);
}

fn flush(machine: &mut Machine<'_>, statements: &mut String, client: &Client) {
    if !statements.trim().is_empty() {
        if client.commands == Commands::Dot {
            run_editors(machine, statements);
        }
        sql::apply(machine, &sql::findings(statements, client.language), client.place);
    }
    statements.clear();
}

/// Runs the programs that `edit(value, 'program')` opens a value with (sqlite3, "The edit() SQL function").
fn run_editors(machine: &mut Machine<'_>, statements: &str) {
    for call in statements.split("edit(").skip(1) {
        let inner = call.split(')').next().unwrap_or(call);
        if !inner.contains(',') {
            continue;
        }
        match inner.rsplit('\'').nth(1) {
            Some(program) => {
                machine.possibly(|machine| machine.run_text(&Value::exact(program), Input::Inherited));
            }
            None => machine.unread("which program a value is edited with is not known"),
        }
    }
}

/// A command behind a statement in one line: `SELECT 1 \g |sh`. Answers what stands before it.
fn inline_command<'a>(machine: &mut Machine<'_>, line: &'a str, client: &Client) -> &'a str {
    let mut quoted = false;
    let mut place = None;
    for (index, letter) in line.char_indices() {
        match letter {
            '\'' => quoted = !quoted,
            '\\' if !quoted => {
                place = Some(index);
                break;
            }
            _ => {}
        }
    }
    let Some(index) = place else { return line };
    command(machine, line.get(index + 1..).unwrap_or_default(), client);
    line.get(..index).unwrap_or(line)
}

/// One command of the client, without the sign in front.
fn command(machine: &mut Machine<'_>, text: &str, client: &Client) {
    let (name, rest) = match text.strip_prefix('!') {
        Some(rest) => ("!", rest.trim()),
        None => text
            .split_once(char::is_whitespace)
            .map_or((text.trim_end(), ""), |(name, rest)| (name, rest.trim())),
    };
    // A client with dots takes a shorter name, and puts the words of a command together with one blank.
    let (name, words) = match client.commands {
        Commands::Dot => (whole_name(name), plain_words(rest).join(" ")),
        Commands::Backslash => (name, rest.trim_matches(['\'', '"']).to_owned()),
    };
    let unquoted = words.as_str();
    let word = Value::exact(unquoted);
    match name {
        "!" | "shell" | "system" => {
            machine.run_text(&Value::exact(rest), Input::Inherited);
        }
        "i" | "ir" | "include" | "include_relative" | "." | "read" => {
            if let Some(program) = unquoted.strip_prefix('|') {
                machine.run_text(&Value::exact(program), Input::Inherited);
            }
            let note = "the statements are not known";
            if let Output::Text(Value::Exact(text)) = machine.read_code(&word) {
                sql::apply(machine, &sql::findings(&text, client.language), client.place);
            }
            shell_lines(machine, &word);
            machine.add(
                Draft::new(EffectKind::DatastoreChange, Target::Service(unquoted.to_owned()))
                    .possible()
                    .note(note),
            );
        }
        "o" | "out" | "g" | "w" | "write" | "output" | "once" | "tee" | "log" | "gx" | "s" => {
            output(machine, &word);
        }
        "gexec" => machine.add(
            Draft::new(EffectKind::DatastoreChange, Target::Service(client.place.to_owned()))
                .severity(Severity::High)
                .note("runs the results of a query as statements"),
        ),
        "copy" => {
            let upper = rest.to_ascii_uppercase();
            let table = rest.split([' ', '(']).next().unwrap_or_default().to_owned();
            let quoted = rest.split('\'').nth(1);
            if let Some(at) = upper.find(" PROGRAM ") {
                let program = rest.get(at + 9..).unwrap_or_default().trim().trim_matches('\'');
                machine.run_text(&Value::exact(program), Input::Inherited);
            }
            if upper.contains(" FROM ") && !upper.contains(" TO ") {
                let at = upper.rfind(" FROM ").and_then(|at| rest.get(at + 6..)).unwrap_or_default();
                let file = quoted.or_else(|| at.split_whitespace().next()).unwrap_or_default();
                if !upper.contains(" PROGRAM ")
                    && !matches!(file.to_ascii_lowercase().as_str(), "" | "stdin" | "pstdin")
                {
                    let home = machine.world().place().home.clone();
                    let path = file
                        .strip_prefix("~/")
                        .map_or_else(|| file.to_owned(), |rest| format!("{home}/{rest}"));
                    let read = machine.read(&Value::Exact(path));
                    machine.note_file_sent(&read);
                }
                sql::apply(machine, &[Finding::Changes(table)], client.place);
            } else if let (Some(at), false) = (upper.rfind(" TO "), upper.contains(" PROGRAM ")) {
                let plain =
                    rest.get(at + 4..).and_then(|rest| rest.split_whitespace().next()).unwrap_or_default();
                let file = quoted.unwrap_or(plain);
                if !file.is_empty() && !file.eq_ignore_ascii_case("stdout") {
                    machine.write(&Value::exact(file));
                }
            }
        }
        "import" | "restore" | "load-dump" => {
            // `.import "|command" table` takes what a command prints.
            if let Some(program) = plain_words(rest).iter().find_map(|word| word.strip_prefix('|')) {
                machine.run_text(&Value::exact(program), Input::Inherited);
            }
            let table = rest.split_whitespace().last().unwrap_or_default().to_owned();
            sql::apply(machine, &[Finding::Changes(table)], client.place);
        }
        "backup" | "save" | "clone" => {
            let file = rest.split_whitespace().last().unwrap_or_default();
            machine.write(&Value::exact(file));
        }
        "load" => machine.opaque("loads a library into the database client"),
        "excel" | "edit" => machine.opaque("opens a program"),
        _ => {}
    }
}

/// The command of sqlite3 that a beginning of its name means: the least number of letters that sqlite3 3.40.1 was seen to take, in its order
/// where several begin so.
fn whole_name(name: &str) -> &str {
    const NAMES: &[(&str, usize)] = &[
        ("backup", 3),
        ("clone", 1),
        ("import", 1),
        ("load", 1),
        ("log", 3),
        ("output", 1),
        ("once", 2),
        ("read", 3),
        ("restore", 3),
        ("save", 3),
        ("shell", 2),
        ("system", 2),
    ];
    let is_meant = |(whole, least): &&(&str, usize)| name.len() >= *least && whole.starts_with(name);
    NAMES.iter().find(is_meant).map_or(name, |(whole, _)| whole)
}

/// The words of a command of sqlite3 without their quotes.
fn plain_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    for letter in text.chars() {
        match (quote, letter) {
            (None, '\'' | '"') => quote = Some(letter),
            (Some(open), _) if letter == open => quote = None,
            (None, _) if letter.is_whitespace() => words.push(std::mem::take(&mut word)),
            (Some(_) | None, _) => word.push(letter),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

/// Where results go: a file, or a program behind `|`.
fn output(machine: &mut Machine<'_>, target: &Value) {
    match target.as_exact() {
        Some("" | "stdout" | "off") => {}
        Some(text) => match text.strip_prefix('|') {
            Some(program) => {
                machine.run_text(&Value::exact(program), Input::Unknown);
            }
            None => machine.write(target),
        },
        None => machine.write(target),
    }
}
/// Runs the lines of a file of statements that a client hands to a shell (sqlite3: "Special commands"; psql: "Meta-Commands").
fn shell_lines(machine: &mut Machine<'_>, file: &Value) {
    const MARKS: &[&str] = &[".shell ", ".system ", "\\! ", "\\!", "system "];
    const LINES: usize = 64;
    let Some(path) = machine.one_path_through(file) else { return };
    let Some(text) = machine.code(&path).as_exact().map(str::to_owned) else {
        // A dump is long and holds none, as a rule.
        if !machine.nothing_is_at(&path) {
            machine.opaque("whether the statements run a command is not known");
        }
        return;
    };
    let commands = text.lines().filter_map(|line| MARKS.iter().find_map(|mark| line.strip_prefix(mark)));
    for (place, command) in commands.enumerate() {
        if place >= LINES {
            machine.unread("more commands than are looked at");
            return;
        }
        machine.run_text(&Value::exact(command), Input::Inherited);
    }
}
