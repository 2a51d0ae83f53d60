//! What SQL does: parsed by dialect, and looked at word by word where that fails.

use std::collections::BTreeSet;

use sqlparser::ast::{
    AlterTableOperation, BinaryOperator, CopyTarget, Expr, FromTable, ObjectName, ObjectType, Query, Select,
    SetExpr, Statement, TableFactor, TableObject, TableWithJoins,
};
use sqlparser::dialect::{
    ClickHouseDialect, Dialect, DuckDbDialect, GenericDialect, MsSqlDialect, MySqlDialect, PostgreSqlDialect,
    SQLiteDialect,
};
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Token, Tokenizer};

use super::sql_words;
use crate::effect::{EffectKind, Severity, Target};
use crate::interpreter::{Draft, Input, Machine, Output, Value};
use crate::nature::Nature;

/// The greatest number of tokens of a statement that is parsed into a tree (ours): deeper ones are looked at word by word,
/// so that no tree grows deeper than the stack.
const TOKENS: usize = 2000;
/// The greatest number of statements of one text that are parsed into trees (ours): those behind are looked at word by word.
const STATEMENTS: usize = 1000;

/// The dialect of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    Postgres,
    Mysql,
    Sqlite,
    Duckdb,
    Clickhouse,
    Mssql,
    Generic,
}

/// One thing that a statement does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Finding {
    /// Adds to or changes data or its form.
    Changes(String),
    /// Loses data.
    Destroys { what: String, note: &'static str },
    /// Drops a database.
    Drops(String),
    /// Changes who may do what.
    Rights,
    /// Writes a file.
    Writes(String),
    /// Reads a file.
    Reads(String),
    /// Runs a program on the machine of the server.
    Runs(String),
    /// Ends connections.
    Kills,
    /// It cannot be told.
    Unclear,
}

impl Language {
    fn dialect(self) -> Box<dyn Dialect> {
        match self {
            Self::Postgres => Box::new(PostgreSqlDialect {}),
            Self::Mysql => Box::new(MySqlDialect {}),
            Self::Sqlite => Box::new(SQLiteDialect {}),
            Self::Duckdb => Box::new(DuckDbDialect {}),
            Self::Clickhouse => Box::new(ClickHouseDialect {}),
            Self::Mssql => Box::new(MsSqlDialect {}),
            Self::Generic => Box::new(GenericDialect {}),
        }
    }
}

/// Adds what a text of SQL does; `place` names the store where no table is named.
pub(super) fn run_text(machine: &mut Machine<'_>, text: &Value, language: Language, place: &str) {
    match text.alternatives() {
        Some([only]) => apply(machine, &findings(only, language), place),
        Some(several) => {
            for text in several {
                machine.possibly(|machine| apply(machine, &findings(text, language), place));
            }
        }
        None => {
            // The known beginning may say enough: `SELECT * FROM t WHERE id = $id`.
            let start = text.known_start();
            let found = findings(&start, language);
            if start.is_empty() {
                machine.add(unknown_text(place));
            } else if found.is_empty() && !start.contains(';') && text.known_end().find(';').is_none() {
                machine.possibly(|machine| apply(machine, &sql_words::embedded(&start), place));
            } else {
                apply(machine, &found, place);
                machine.add(unknown_text(place));
            }
        }
    }
}

/// Adds what a file of SQL does.
pub(super) fn run_file(machine: &mut Machine<'_>, file: &Value, language: Language, place: &str) {
    if let Output::Text(text) = machine.read_code(file) {
        run_text(machine, &text, language, place);
    } else {
        let name = file.as_exact().unwrap_or(place).to_owned();
        machine.add(unknown_text(&name));
    }
}

/// Adds what SQL on the standard input does.
pub(super) fn run_input(machine: &mut Machine<'_>, input: &Input, language: Language, place: &str) {
    match input {
        Input::Inherited => machine.left_open(place),
        Input::Text(text) => run_text(machine, text, language, place),
        Input::Local(path) if machine.code_coming_in(path).is_some() => {
            run_file(machine, &Value::exact(path.as_str()), language, place);
        }
        Input::Local(path) | Input::Secret(path) => {
            let name = machine.cwd().map_or(path.as_str(), |cwd| relative(path, cwd.as_str())).to_owned();
            machine.add(unknown_text(&name));
        }
        Input::Network(url) => {
            machine.add(
                Draft::new(EffectKind::DatastoreChange, Target::Service(place.to_owned()))
                    .severity(Severity::High)
                    .note(format!("runs statements that come from {url}")),
            );
        }
        Input::Unknown => machine.add(unknown_text(place)),
    }
}

fn relative<'a>(path: &'a str, directory: &str) -> &'a str {
    path.strip_prefix(directory).and_then(|rest| rest.strip_prefix('/')).unwrap_or(path)
}

fn unknown_text(place: &str) -> Draft {
    Draft::new(EffectKind::DatastoreChange, Target::Service(place.to_owned()))
        .possible()
        .note("the statements are not known")
}

/// Adds findings as effects.
pub(super) fn apply(machine: &mut Machine<'_>, findings: &[Finding], place: &str) {
    let named =
        |what: &str| Target::Service(if what.is_empty() { place.to_owned() } else { what.to_owned() });
    for finding in findings {
        match finding {
            Finding::Changes(what) => machine.add(Draft::new(EffectKind::DatastoreChange, named(what))),
            Finding::Destroys { what, note } => {
                machine.add(Draft::new(EffectKind::DatastoreDestroy, named(what)).irreversible().note(*note));
            }
            Finding::Drops(what) => machine.add(
                Draft::new(EffectKind::DatastoreDestroy, named(what))
                    .irreversible()
                    .nature(Nature::WholeDatabase)
                    .note("drops the database with the data in it"),
            ),
            Finding::Rights => machine.add(
                Draft::new(EffectKind::DatastoreChange, named(""))
                    .severity(Severity::High)
                    .note("changes who may do what"),
            ),
            Finding::Writes(file) => machine.write(&Value::exact(file.clone())),
            Finding::Reads(file) => {
                machine.read(&Value::exact(file.clone()));
            }
            Finding::Runs(command) => {
                machine.unread(format!("runs `{command}` on the machine of the database"));
            }
            Finding::Kills => machine.add(
                Draft::new(EffectKind::ProcessKill, Target::Process(format!("{place} connections")))
                    .note("ends connections"),
            ),
            Finding::Unclear => {
                machine.add(
                    Draft::new(EffectKind::DatastoreChange, named("")).note("a statement is not understood"),
                );
            }
        }
    }
}

/// What a text of statements does, in order. Nothing for statements that only look.
pub(super) fn findings(text: &str, language: Language) -> Vec<Finding> {
    let dialect = language.dialect();
    let Ok(tokens) = Tokenizer::new(&*dialect, text).tokenize() else {
        return sql_words::rough(text);
    };
    let mut found = Vec::new();
    let mut made: BTreeSet<String> = BTreeSet::new();
    for (place, tokens) in tokens.split(|token| *token == Token::SemiColon).enumerate() {
        let tokens: Vec<Token> = tokens
            .iter()
            .filter(|token| !matches!(token, Token::Whitespace(_) | Token::EOF))
            .cloned()
            .collect();
        if tokens.is_empty() {
            continue;
        }
        found.extend(sql_words::functions(&tokens));
        found.extend(sql_words::carried(&tokens));
        let tree =
            if tokens.len() <= TOKENS && place < STATEMENTS { parse(&*dialect, &tokens) } else { None };
        let mut statement_found = Vec::new();
        match &tree {
            Some(tree) => statement(tree, &tokens, &mut statement_found),
            None => statement_found = sql_words::statement(&tokens),
        }
        match &tree {
            Some(Statement::CreateTable(table)) => {
                made.insert(name_of(&table.name));
            }
            Some(_) => {}
            None => made.extend(sql_words::made(&tokens)),
        }
        // The words of a statement do not tell all that it names.
        let names_all = tree.is_some() || sql_words::drops_one(&tokens);
        // What the same text made is no loss.
        for finding in statement_found {
            match finding {
                Finding::Destroys { what, .. } | Finding::Drops(what)
                    if names_all && made.contains(&what) =>
                {
                    found.push(Finding::Changes(what));
                }
                // In MySQL a schema is a database by another name (MySQL 8.4, "DROP DATABASE Statement").
                Finding::Destroys { what, .. }
                    if language == Language::Mysql && drops_schema(tree.as_ref()) =>
                {
                    found.push(Finding::Drops(what));
                }
                other => found.push(other),
            }
        }
    }
    found.dedup();
    found
}

fn parse(dialect: &dyn Dialect, tokens: &[Token]) -> Option<Statement> {
    let mut parser = Parser::new(dialect).with_tokens(tokens.to_vec());
    let statement = parser.parse_statement().ok()?;
    // Words left over mean that something was not understood.
    (parser.peek_token().token == Token::EOF).then_some(statement)
}

#[expect(clippy::match_same_arms, reason = "the statements that only look are named")]
fn statement(statement: &Statement, tokens: &[Token], found: &mut Vec<Finding>) {
    match statement {
        Statement::Query(body) => query(body, found),
        Statement::Explain { statement: inner, analyze, options, .. } => {
            let runs = *analyze
                || options.iter().flatten().any(|option| option.name.value.eq_ignore_ascii_case("analyze"));
            if runs {
                self::statement(inner, tokens, found);
            }
        }
        Statement::Insert(insert) => {
            let what = match &insert.table {
                TableObject::TableName(name) => name_of(name),
                _ => String::new(),
            };
            found.push(Finding::Changes(what));
            if let Some(source) = &insert.source {
                query(source, found);
            }
        }
        Statement::Update(update) => {
            let what = table_of(&update.table);
            found.push(if narrows(update.selection.as_ref()) {
                Finding::Changes(what)
            } else {
                Finding::Destroys { what, note: "changes every row" }
            });
        }
        Statement::Delete(delete) => {
            let from = match &delete.from {
                FromTable::WithFromKeyword(tables) | FromTable::WithoutKeyword(tables) => tables,
            };
            let what = from.first().map(table_of).unwrap_or_default();
            found.push(if narrows(delete.selection.as_ref()) || delete.limit.is_some() {
                Finding::Changes(what)
            } else {
                Finding::Destroys { what, note: "deletes every row" }
            });
        }
        Statement::Truncate(truncate) => {
            for table in &truncate.table_names {
                found.push(Finding::Destroys { what: name_of(&table.name), note: "deletes every row" });
            }
        }
        Statement::Drop { object_type, names, temporary, .. } => {
            for name in names {
                found.push(dropped(*object_type, name_of(name), *temporary));
            }
        }
        Statement::AlterTable(alter) => {
            let what = name_of(&alter.name);
            let loses = alter.operations.iter().any(loses_data);
            found.push(if loses {
                Finding::Destroys { what, note: "drops a part of the table" }
            } else {
                Finding::Changes(what)
            });
        }
        Statement::Copy { to, target, source, .. } => {
            match target {
                CopyTarget::Program { command } => found.push(Finding::Runs(command.clone())),
                CopyTarget::File { filename } if *to => found.push(Finding::Writes(filename.clone())),
                CopyTarget::File { filename } => found.push(Finding::Reads(filename.clone())),
                CopyTarget::Stdin | CopyTarget::Stdout => {}
            }
            if !*to {
                let what = match source {
                    sqlparser::ast::CopySource::Table { table_name, .. } => name_of(table_name),
                    sqlparser::ast::CopySource::Query(_) => String::new(),
                };
                found.push(Finding::Changes(what));
            }
        }
        Statement::CreateTable(table) => {
            if !table.temporary {
                let what = name_of(&table.name);
                found.push(if table.or_replace {
                    Finding::Destroys { what, note: "replaces the table" }
                } else {
                    Finding::Changes(what)
                });
            }
            if let Some(body) = &table.query {
                query(body, found);
            }
        }
        Statement::CreateView(view) => found.push(Finding::Changes(name_of(&view.name))),
        Statement::Grant(_) | Statement::Revoke(_) => found.push(Finding::Rights),
        Statement::Merge(_) => found.extend(sql_words::statement(tokens)),
        Statement::StartTransaction { .. }
        | Statement::Commit { .. }
        | Statement::Rollback { .. }
        | Statement::Savepoint { .. }
        | Statement::ReleaseSavepoint { .. }
        | Statement::Use(_)
        | Statement::ShowVariable { .. }
        | Statement::ShowVariables { .. }
        | Statement::ShowTables { .. }
        | Statement::ShowDatabases { .. }
        | Statement::ShowColumns { .. }
        | Statement::ShowCreate { .. }
        | Statement::ExplainTable { .. } => {}
        // Everything else is told well enough by its words.
        _ => found.extend(sql_words::statement(tokens)),
    }
}

/// What a query does besides looking: statements in its `WITH`, `SELECT ... INTO`.
fn query(query: &Query, found: &mut Vec<Finding>) {
    for table in query.with.iter().flat_map(|with| &with.cte_tables) {
        self::query(&table.query, found);
    }
    body(&query.body, found);
}

fn body(expression: &SetExpr, found: &mut Vec<Finding>) {
    match expression {
        SetExpr::Select(select) => found.extend(into_table(select)),
        SetExpr::Query(inner) => query(inner, found),
        SetExpr::SetOperation { left, right, .. } => {
            body(left, found);
            body(right, found);
        }
        SetExpr::Insert(inner) | SetExpr::Update(inner) | SetExpr::Delete(inner) | SetExpr::Merge(inner) => {
            statement(inner, &[], found);
        }
        SetExpr::Values(_) | SetExpr::Table(_) => {}
    }
}

fn into_table(select: &Select) -> Option<Finding> {
    let into = select.into.as_ref()?;
    (!into.temporary)
        .then(|| Finding::Changes(into.targets.first().map(ToString::to_string).unwrap_or_default()))
}

/// Whether a condition keeps some rows out. One that always holds does not.
/// Whether a condition leaves rows out, as far as can be told from its text.
fn narrows(condition: Option<&Expr>) -> bool {
    condition.is_some_and(|condition| !holds_for_all(condition))
}

/// Beginnings of names of columns that say when a row came: none of them lies in the time to come.
const SINCE: &[&str] =
    &["created", "inserted", "added", "updated", "modified", "changed", "registered", "signed_up"];

/// Whether a condition holds for every row that an ordinary table has: `1 = 1`, `id > 0`, `id IS NOT NULL`, `name LIKE '%'`,
/// `created_at < now()`.
fn holds_for_all(condition: &Expr) -> bool {
    match condition {
        Expr::Nested(inner) => holds_for_all(inner),
        Expr::IsNotNull(inner) | Expr::IsNotFalse(inner) => {
            matches!(**inner, Expr::Identifier(_) | Expr::Value(_))
        }
        Expr::BinaryOp { left, op: BinaryOperator::Or, right } => holds_for_all(left) || holds_for_all(right),
        Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
            holds_for_all(left) && holds_for_all(right)
        }
        Expr::BinaryOp { left, op, right } => compares_nothing(left, op, right),
        Expr::Like { negated: false, pattern, .. } | Expr::ILike { negated: false, pattern, .. } => {
            matches!(pattern.to_string().as_str(), "'%'" | "'%%'")
        }
        other => matches!(other.to_string().to_ascii_lowercase().as_str(), "1" | "true" | "not false"),
    }
}

fn compares_nothing(left: &Expr, op: &BinaryOperator, right: &Expr) -> bool {
    let text = |side: &Expr| side.to_string().to_ascii_lowercase();
    let (before, after) = (text(left), text(right));
    let is_column = matches!(left, Expr::Identifier(_) | Expr::CompoundIdentifier(_));
    let last = before.rsplit('.').next().unwrap_or(&before).trim_matches(['"', '`', '[', ']']).to_owned();
    match op {
        BinaryOperator::Eq => before == after,
        BinaryOperator::NotEq if !is_column => before != after && matches!(left, Expr::Value(_)),
        BinaryOperator::Gt | BinaryOperator::GtEq => {
            is_column && (last == "id" || last.ends_with("_id")) && matches!(after.as_str(), "0" | "-1" | "1")
                || is_column && after == "''"
        }
        BinaryOperator::Lt | BinaryOperator::LtEq => {
            let now = [
                "now()",
                "current_timestamp",
                "current_date",
                "getdate()",
                "sysdate",
                "curdate()",
                "datetime('now')",
            ];
            let is_now = now.iter().any(|now| after == *now) || after.starts_with("'9");
            is_column && is_now && SINCE.iter().any(|start| last.starts_with(start))
        }
        _ => false,
    }
}

fn drops_schema(tree: Option<&Statement>) -> bool {
    matches!(tree, Some(Statement::Drop { object_type: ObjectType::Schema, .. }))
}

fn dropped(kind: ObjectType, what: String, temporary: bool) -> Finding {
    match kind {
        _ if temporary => Finding::Changes(what),
        ObjectType::Database => Finding::Drops(what),
        ObjectType::Table | ObjectType::Schema | ObjectType::MaterializedView => {
            Finding::Destroys { what, note: "drops it with the data in it" }
        }
        ObjectType::Role | ObjectType::User => Finding::Rights,
        _ => Finding::Changes(what),
    }
}

/// Whether a part of an `ALTER TABLE` loses data.
fn loses_data(operation: &AlterTableOperation) -> bool {
    let text = operation.to_string().to_ascii_uppercase();
    match operation {
        AlterTableOperation::DropColumn { .. } | AlterTableOperation::DropPartitions { .. } => true,
        _ => {
            text.starts_with("DELETE ")
                || text.starts_with("DROP PARTITION")
                || text.starts_with("CLEAR COLUMN")
                || text.starts_with("TRUNCATE")
        }
    }
}

fn table_of(table: &TableWithJoins) -> String {
    match &table.relation {
        TableFactor::Table { name, .. } => name_of(name),
        _ => String::new(),
    }
}

/// A name without its quotes.
fn name_of(name: &ObjectName) -> String {
    name.to_string().replace(['"', '`', '[', ']'], "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<Finding> {
        findings(text, Language::Postgres)
    }

    fn destroys(what: &str) -> bool {
        of(what).iter().any(|finding| matches!(finding, Finding::Destroys { .. } | Finding::Drops(_)))
    }

    #[test]
    fn looking_is_nothing() {
        for text in [
            "SELECT 1",
            "select 'DROP TABLE x;' as a; SHOW search_path",
            "EXPLAIN DELETE FROM t",
            "-- DROP TABLE t\nSELECT 1",
            "BEGIN; SELECT 1; COMMIT",
        ] {
            assert_eq!(of(text), Vec::new(), "{text}");
        }
    }

    #[test]
    fn losing_is_told_from_changing() {
        for text in [
            "DROP TABLE a",
            "delete from a",
            "UPDATE a SET b = 1",
            "TRUNCATE a",
            "DELETE FROM a WHERE 1=1",
            "DELETE FROM a WHERE id > 0",
            "DELETE FROM a WHERE (id IS NOT NULL)",
            "DELETE FROM a WHERE name LIKE '%'",
            "DELETE FROM a WHERE created_at <= now()",
            "DELETE FROM a WHERE id = id OR b = 2",
            "ALTER TABLE a DROP COLUMN b",
            "DROP SCHEMA s CASCADE",
            "select 1; drop database x",
        ] {
            assert!(destroys(text), "{text}");
        }
        for text in [
            "DELETE FROM a WHERE id = 1",
            "DELETE FROM a WHERE expires_at < now()",
            "DELETE FROM a WHERE id > 0 AND b = 2",
            "DELETE FROM a WHERE id > 100",
            "DELETE FROM a WHERE deleted_at IS NULL",
            "DELETE FROM a WHERE count > 0",
            "UPDATE a SET b = 1 WHERE c = 2",
            "INSERT INTO a VALUES (1)",
            "CREATE INDEX i ON a (b)",
            "ALTER TABLE a ADD COLUMN b int",
            "DROP INDEX i",
        ] {
            assert!(!destroys(text) && !of(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn what_the_text_made_is_no_loss() {
        assert!(!destroys("CREATE TABLE a (b int); DROP TABLE a"));
        assert!(destroys("CREATE TABLE a (b int); DROP TABLE c"));
    }

    #[test]
    fn programs_and_files() {
        assert_eq!(of("COPY t TO PROGRAM 'sh'"), vec![Finding::Runs("sh".to_owned())]);
        assert_eq!(of("COPY t TO '/tmp/x'"), vec![Finding::Writes("/tmp/x".to_owned())]);
        assert_eq!(
            findings("SELECT * FROM t INTO OUTFILE '/tmp/y'", Language::Mysql),
            vec![Finding::Writes("/tmp/y".to_owned())]
        );
    }

    #[test]
    fn unknown_grammar_is_never_nothing() {
        assert!(!of("FROBNICATE THE TABLE").is_empty());
        assert!(destroys("DROP TABLE a !!"));
        assert!(destroys("DELETE FROM a 'unterminated") || !of("DELETE FROM a 'unterminated").is_empty());
    }

    #[test]
    fn deep_and_long_texts_end() {
        let sum = format!("SELECT 1{}", "+1".repeat(30_000));
        assert_eq!(of(&sum), Vec::new());
        let deep = format!("SELECT {}1{}", "(".repeat(20_000), ")".repeat(20_000));
        let _ = of(&deep);
        let many: Vec<String> = (0..40_000).map(|number| format!("DROP TABLE t{number};\n")).collect();
        assert_eq!(of(&many.concat()).len(), 40_000);
    }

    #[test]
    fn what_is_made_behind_the_bound_is_no_loss() {
        let behind = |text: &str| format!("{}{text}", "SELECT 1;\n".repeat(STATEMENTS));
        for text in [
            "CREATE TABLE x (y int); DROP TABLE x",
            "CREATE TEMP TABLE x (y int); DROP TABLE IF EXISTS x CASCADE",
        ] {
            assert!(!destroys(&behind(text)), "{text}");
        }
        for text in [
            "CREATE TABLE x (y int); DROP TABLE z",
            "CREATE TABLE x (y int); DROP TABLE x, z",
            "CREATE TABLE x (y int); DROP TABLE x.z",
            "CREATE TABLE x.y (z int); DROP TABLE x.z",
            "CREATE TABLE IF NOT EXISTS x (y int); DROP TABLE x",
        ] {
            assert!(destroys(&behind(text)), "{text}");
        }
    }
}
