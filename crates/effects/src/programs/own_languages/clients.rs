//! Commands of database clients that reach the machine of the user: those that a shell runs, and those that read or write its files.

use crate::effect::EffectKind;
use crate::interpreter::{Call, Machine};

use super::{may_run, path, texts};

/// How a line begins that a shell runs, by client: usql 0.19 and Vertica's vsql (as psql), MySQL Shell 9, mycli 1.27 and litecli 1.11, Firebird's isql,
/// SQL*Plus 19 and SQLcl 24 (`HOST`, `!`, `$`), sqlcmd (`!!`), BTEQ 17 (`.OS`), Beeline (`!sh`), Hive (`!`), Impala shell (`shell`), Db2 CLP (`!`), SnowSQL (`!system`),
/// sqsh 2.5, Informix dbaccess (`!`), MonetDB mclient.
const SHELLS: &[(&[&str], &[&str])] = &[
    (&["usql", "vsql", "pgcli", "ysqlsh", "gsql"], &["\\! ", "\\!"]),
    (&["mycli", "litecli", "iredis", "mssql-cli"], &["system ", "\\! ", "\\!"]),
    (&["mysqlsh"], &["\\system ", "\\! ", "\\!"]),
    (&["isql", "isql-fb", "fbsql"], &["shell ", "SHELL "]),
    (&["sqlplus", "sql", "sqlcl"], &["host ", "HOST ", "ho ", "!", "$"]),
    (&["sqlcmd"], &["!!", ":!!"]),
    (&["bteq"], &[".os ", ".OS "]),
    (&["beeline"], &["!sh "]),
    (&["hive", "db2", "dbaccess"], &["!"]),
    (&["impala-shell"], &["shell ", "!"]),
    (&["snowsql"], &["!system ", "!"]),
    (&["nmap"], &["!"]),
    (&["debugfs"], &["!"]),
    // Consoles of other trades: gnuplot 6, ngspice 42, GnuPG 2.4 (gpg-connect-agent(1)), GHCi, Pry 0.15.
    (&["gnuplot", "ngspice"], &["shell ", "!"]),
    (&["gpg-connect-agent"], &["/run ", "/hex /run "]),
    (&["ghci"], &[":! ", ":!"]),
    (&["pry"], &["."]),
];
/// What a line or a statement begins with that reads a file of the user, with the file behind it in quotes or as a word.
const READS: &[(&[&str], &[&str])] = &[
    (&["mysql", "mariadb", "mycli"], &["source ", "\\. ", "load data local infile "]),
    (&["cqlsh"], &["source "]),
    (&["usql", "vsql", "pgcli"], &["\\i ", "\\include "]),
    (&["sqlplus", "sqlcl", "sql"], &["@@", "@", "start "]),
    (&["clickhouse", "clickhouse-client", "clickhouse-local", "chdb"], &["from file(", "file("]),
];
/// The same of what is written.
const WRITES: &[(&[&str], &[&str])] = &[
    (&["mysql", "mariadb", "mycli"], &["tee ", "\\t "]),
    (&["usql", "vsql", "pgcli"], &["\\o ", "\\out ", "\\w ", "\\g "]),
    (&["sqlplus", "sqlcl", "sql"], &["spool "]),
    (&["clickhouse", "clickhouse-client", "clickhouse-local"], &["into outfile "]),
];

pub(super) fn run(machine: &mut Machine<'_>, call: &Call, program: &str) {
    let of = |table: &'static [(&'static [&'static str], &'static [&'static str])]| {
        table.iter().find(|(programs, _)| programs.contains(&program)).map(|(_, marks)| *marks)
    };
    let (shells, reads, writes) = (of(SHELLS), of(READS), of(WRITES));
    if shells.is_none() && reads.is_none() && writes.is_none() {
        return;
    }
    for text in texts(call) {
        for line in text.lines().flat_map(|line| line.split(';')).map(str::trim) {
            let mark = shells.and_then(|marks| marks.iter().find_map(|mark| line.strip_prefix(mark)));
            if let Some(command) = mark {
                may_run(machine, command);
                continue;
            }
            if let Some(file) = reads.and_then(|marks| named(line, marks)) {
                let is_sent = line.to_ascii_lowercase().contains("local infile");
                let file = path(machine, &file);
                drop(machine.read(&file));
                if is_sent {
                    machine.effect(EffectKind::DatastoreChange, &file);
                }
            }
            if let Some(file) = writes.and_then(|marks| named(line, marks)) {
                if let Some(command) = file.strip_prefix('|') {
                    may_run(machine, command);
                } else {
                    let file = path(machine, &file);
                    machine.possibly(|machine| machine.write(&file));
                }
            }
        }
    }
}

/// The file behind the first of these marks: in quotes, or to the next blank.
fn named(line: &str, marks: &[&str]) -> Option<String> {
    let small = line.to_ascii_lowercase();
    let rest = marks.iter().find_map(|mark| {
        let at = if mark.contains(' ') && mark.len() > 8 || mark.ends_with('(') {
            small.find(mark)?
        } else {
            small.starts_with(mark).then_some(0)?
        };
        line.get(at + mark.len()..)
    })?;
    let rest = rest.trim_start();
    let file = match rest.chars().next()? {
        quote @ ('"' | '\'') => rest.get(1..)?.split(quote).next()?,
        '|' => rest,
        _ => rest.split_whitespace().next()?,
    };
    Some(file.trim_end_matches(')').to_owned()).filter(|file| !file.is_empty())
}

#[cfg(test)]
mod tests {
    use super::named;

    #[test]
    fn files_behind_marks_are_found() {
        let of = |line, marks: &[&str]| named(line, marks);
        assert_eq!(
            of("LOAD DATA LOCAL INFILE '.env' INTO TABLE t", &["load data local infile "]).as_deref(),
            Some(".env")
        );
        assert_eq!(of("tee /x/y", &["tee "]).as_deref(), Some("/x/y"));
        assert_eq!(of("select * from file('a.csv', 'CSV')", &["from file("]).as_deref(), Some("a.csv"));
        assert_eq!(of("select tee from t", &["tee "]), None);
    }
}
