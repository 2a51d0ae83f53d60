//! SQL word by word: for statements that do not parse, and for functions that do more than compute.

use sqlparser::tokenizer::{Token, Word};

use super::sql::Finding;

/// First words of statements that only look or concern the connection.
const LOOKING: &[&str] = &[
    "SELECT",
    "WITH",
    "SHOW",
    "EXPLAIN",
    "DESC",
    "DESCRIBE",
    "USE",
    "SET",
    "BEGIN",
    "START",
    "COMMIT",
    "ROLLBACK",
    "END",
    "SAVEPOINT",
    "RELEASE",
    "VALUES",
    "PRAGMA",
    "ANALYZE",
    "VACUUM",
    "FLUSH",
    "CHECKPOINT",
    "LISTEN",
    "UNLISTEN",
    "NOTIFY",
    "DECLARE",
    "FETCH",
    "CLOSE",
    "OPEN",
    "LOCK",
    "UNLOCK",
    "RESET",
    "DISCARD",
    "PREPARE",
    "DEALLOCATE",
    "CHECK",
    "HELP",
    "TABLE",
    "PRINT",
    "GO",
    "DELIMITER",
    "ATTACH",
    "DETACH",
    "SUMMARIZE",
    "FROM",
    "ABORT",
    "LIST",
    "CONSISTENCY",
    "TRACING",
    "PAGING",
    "MATCH",
    "RETURN",
    "EXISTS",
    "IF",
    "TABLES",
    "SCHEMAS",
    "OPTIMIZE",
    "INSTALL",
    "EXIT",
    "QUIT",
    "COMMENT",
];

/// Functions that reach outside the tables, by name.
fn outside(name: &str) -> Option<Finding> {
    Some(match name {
        "pg_terminate_backend" | "pg_cancel_backend" => Finding::Kills,
        "xp_cmdshell" | "sys_exec" | "sys_eval" | "load_extension" | "dblink_exec" | "system" => {
            Finding::Runs(name.to_owned())
        }
        "lo_export" | "writefile" | "pg_file_write" | "lo_import" | "edit" => Finding::Unclear,
        _ => return None,
    })
}

/// What functions called in a statement do outside the tables.
pub(super) fn functions(tokens: &[Token]) -> Vec<Finding> {
    let mut found: Vec<Finding> = tokens
        .windows(2)
        .filter_map(|pair| match pair {
            [Token::Word(word), Token::LParen] => outside(&word.value.to_ascii_lowercase()),
            [Token::Word(word), _] if word.value.eq_ignore_ascii_case("xp_cmdshell") => {
                outside("xp_cmdshell")
            }
            _ => None,
        })
        .collect();
    // `SELECT ... INTO OUTFILE 'x'`.
    found.extend(tokens.windows(2).filter_map(|pair| match pair {
        [Token::Word(word), Token::SingleQuotedString(file)]
            if matches!(upper(word).as_str(), "OUTFILE" | "DUMPFILE") =>
        {
            Some(Finding::Writes(file.clone()))
        }
        // `VACUUM INTO 'x'`, `ATTACH 'x' AS y`, `EXPORT DATABASE 'x'`: the first two are SQLite's, the last DuckDB's.
        [Token::Word(word), Token::SingleQuotedString(file)]
            if matches!(upper(word).as_str(), "INTO" | "ATTACH" | "DATABASE")
                && is_first(tokens, &["VACUUM", "ATTACH", "EXPORT"]) =>
        {
            Some(Finding::Writes(file.clone()))
        }
        _ => None,
    }));
    // `SELECT readfile('x')` of the shell of SQLite, and what DuckDB reads by name.
    found.extend(tokens.windows(3).filter_map(|three| match three {
        [Token::Word(word), Token::LParen, Token::SingleQuotedString(file)]
            if READERS.contains(&word.value.to_ascii_lowercase().as_str()) =>
        {
            Some(Finding::Reads(file.clone()))
        }
        _ => None,
    }));
    // `SELECT writefile('x', ...)`.
    found.extend(tokens.windows(3).filter_map(|three| match three {
        [Token::Word(word), Token::LParen, Token::SingleQuotedString(file)]
            if matches!(word.value.to_ascii_lowercase().as_str(), "writefile" | "pg_file_write") =>
        {
            Some(Finding::Writes(file.clone()))
        }
        _ => None,
    }));
    found
}

/// Functions that give what stands in a file which the client reads (sources: sqlite.org/cli.html, duckdb.org, "Functions").
const READERS: &[&str] = &[
    "readfile",
    "read_text",
    "read_blob",
    "read_csv",
    "read_csv_auto",
    "read_json",
    "read_json_auto",
    "read_ndjson",
    "sniff_csv",
];

/// Whether a statement begins with one of these words.
fn is_first(tokens: &[Token], words: &[&str]) -> bool {
    matches!(tokens.first(), Some(Token::Word(word)) if words.contains(&upper(word).as_str()))
}

/// What a statement does, told by its first words.
pub(super) fn statement(tokens: &[Token]) -> Vec<Finding> {
    let words: Vec<String> = tokens
        .iter()
        .filter_map(|token| match token {
            Token::Word(word) if word.quote_style.is_none() => Some(upper(word)),
            _ => None,
        })
        .collect();
    let names: Vec<String> = tokens
        .iter()
        .filter_map(|token| match token {
            Token::Word(word) => Some(word.value.clone()),
            _ => None,
        })
        .collect();
    by_words(&words, &names)
}

/// The table that a statement makes, told by its first words: one that was not there before, whose name has no parts.
pub(super) fn made(tokens: &[Token]) -> Option<String> {
    let (first, rest) = tokens.split_first()?;
    let rest = match rest {
        [second, rest @ ..] if is_word(second, &["TEMP", "TEMPORARY"]) => rest,
        rest => rest,
    };
    match rest {
        [table, name @ Token::Word(word), next, ..]
            if is_word(first, &["CREATE"])
                && is_word(table, &["TABLE"])
                && !is_word(name, &["IF"])
                && *next != Token::Period =>
        {
            Some(word.value.clone())
        }
        _ => None,
    }
}

/// Whether a statement drops one table alone, whose name has no parts.
pub(super) fn drops_one(tokens: &[Token]) -> bool {
    let [first, second, rest @ ..] = tokens else { return false };
    let rest = match rest {
        [one, other, rest @ ..] if is_word(one, &["IF"]) && is_word(other, &["EXISTS"]) => rest,
        rest => rest,
    };
    let names_one = match rest {
        [Token::Word(_)] => true,
        [Token::Word(_), last] => is_word(last, &["CASCADE", "RESTRICT"]),
        _ => false,
    };
    names_one && is_word(first, &["DROP"]) && is_word(second, &["TABLE"])
}

/// Whether a token is one of these words, without quotes.
fn is_word(token: &Token, words: &[&str]) -> bool {
    matches!(token, Token::Word(word) if word.quote_style.is_none() && words.contains(&upper(word).as_str()))
}

/// What a text does that cannot even be cut into tokens: each piece between semicolons by its words.
pub(super) fn rough(text: &str) -> Vec<Finding> {
    let mut found: Vec<Finding> = text
        .split(';')
        .filter(|piece| !piece.trim().is_empty())
        .flat_map(|piece| {
            let names = names_in(piece);
            let words: Vec<String> = names.iter().map(|name| name.to_ascii_uppercase()).collect();
            let found = by_words(&words, &names);
            if found.is_empty() && words.iter().any(|word| word == "OUTFILE" || word == "PROGRAM") {
                vec![Finding::Unclear]
            } else {
                found
            }
        })
        .collect();
    found.dedup();
    found
}

/// The words of a piece of text, with the dots inside of them.
fn names_in(piece: &str) -> Vec<String> {
    let words = piece.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.'));
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// What the text does that a statement has the server carry out: `DO $$ ... $$`, `EXEC('...')`, `PREPARE x FROM '...'`.
pub(super) fn carried(tokens: &[Token]) -> Vec<Finding> {
    let runs_text = matches!(
        tokens.first(),
        Some(Token::Word(word)) if matches!(upper(word).as_str(), "DO" | "EXECUTE" | "EXEC" | "PREPARE")
    );
    if !runs_text {
        return Vec::new();
    }
    let texts = tokens.iter().filter_map(|token| match token {
        Token::DollarQuotedString(text) => Some(text.value.as_str()),
        Token::SingleQuotedString(text)
        | Token::NationalStringLiteral(text)
        | Token::DoubleQuotedString(text) => Some(text.as_str()),
        _ => None,
    });
    texts.flat_map(|text| text.split(';')).flat_map(within).collect()
}

/// The losses that stand anywhere in a statement of a procedure.
fn within(piece: &str) -> Vec<Finding> {
    const VERBS: &[&str] = &["DROP", "TRUNCATE", "DELETE", "UPDATE", "GRANT", "REVOKE", "ALTER"];
    // Behind any other word it is one of a text.
    const OPENING: &[&str] = &["BEGIN", "ELSE", "EXECUTE", "FORMAT", "IMMEDIATE", "LOOP", "THEN"];
    let names = names_in(piece);
    let words: Vec<String> = names.iter().map(|name| name.to_ascii_uppercase()).collect();
    let begins = |at: usize| {
        let before = at.checked_sub(1).and_then(|before| words.get(before));
        before.is_none_or(|word| OPENING.contains(&word.as_str()))
    };
    let verb = (0..words.len())
        .find(|at| begins(*at) && words.get(*at).is_some_and(|word| VERBS.contains(&word.as_str())));
    let Some(at) = verb else { return Vec::new() };
    by_words(words.get(at..).unwrap_or_default(), names.get(at..).unwrap_or_default())
}

/// What the known beginning of a statement whose rest is not known may do.
pub(super) fn embedded(start: &str) -> Vec<Finding> {
    let words: Vec<String> = start.split_whitespace().map(str::to_ascii_uppercase).collect();
    match words.first().map(String::as_str) {
        Some("SELECT" | "SHOW" | "EXPLAIN" | "DESCRIBE" | "DESC" | "PRAGMA" | "USE") => Vec::new(),
        Some(_) | None => rough(start),
    }
}

fn by_words(words: &[String], names: &[String]) -> Vec<Finding> {
    let has = |wanted: &str| words.iter().any(|word| word == wanted);
    let behind = |keywords: &[&str]| subject(words, names, keywords);
    let Some(first) = words.first() else { return Vec::new() };
    let finding = match first.as_str() {
        "TRUNCATE" => Finding::Destroys { what: behind(&["TRUNCATE", "TABLE"]), note: "deletes every row" },
        "DROP" => match words.get(1).map(String::as_str) {
            Some(
                "TABLE" | "DATABASE" | "SCHEMA" | "KEYSPACE" | "COLUMNFAMILY" | "MATERIALIZED" | "BUCKET"
                | "MEASUREMENT" | "SERIES" | "COLLECTION" | "TABLESPACE" | "CONTAINER",
            ) => Finding::Destroys {
                what: behind(&[
                    "DROP",
                    "TABLE",
                    "DATABASE",
                    "SCHEMA",
                    "KEYSPACE",
                    "COLUMNFAMILY",
                    "MATERIALIZED",
                    "VIEW",
                    "IF",
                    "EXISTS",
                    "BUCKET",
                    "MEASUREMENT",
                    "SERIES",
                    "COLLECTION",
                    "TABLESPACE",
                    "CONTAINER",
                ]),
                note: "drops it with the data in it",
            },
            Some("USER" | "ROLE") => Finding::Rights,
            Some(_) | None => Finding::Changes(String::new()),
        },
        "DELETE" | "UPDATE" if !has("WHERE") && !has("LIMIT") => {
            Finding::Destroys { what: behind(&["DELETE", "UPDATE", "FROM", "ONLY"]), note: "every row" }
        }
        "DELETE" | "UPDATE" => Finding::Changes(behind(&["DELETE", "UPDATE", "FROM", "ONLY"])),
        "ALTER" if has("DELETE") || has("DROP") && (has("COLUMN") || has("PARTITION") || has("DATABASE")) => {
            Finding::Destroys {
                what: behind(&["ALTER", "TABLE", "IF", "EXISTS", "ONLY"]),
                note: "drops a part of the table",
            }
        }
        "ALTER" | "CREATE" if matches!(words.get(1).map(String::as_str), Some("USER" | "ROLE" | "LOGIN")) => {
            Finding::Rights
        }
        "ALTER" if has("SYSTEM") => Finding::Rights,
        "GRANT" | "REVOKE" | "REASSIGN" => Finding::Rights,
        "KILL" => Finding::Kills,
        "MATCH" | "OPTIONAL" | "UNWIND" | "DETACH" if has("DELETE") => {
            Finding::Destroys { what: String::new(), note: "deletes nodes" }
        }
        "MATCH" if has("SET") || has("CREATE") || has("MERGE") || has("REMOVE") => {
            Finding::Changes(String::new())
        }
        "WITH" | "EXPLAIN" if has("DELETE") || has("UPDATE") || has("INSERT") => {
            // The parts cannot be told from each other, so each is taken at its worst.
            if first == "EXPLAIN" && !has("ANALYZE") {
                return Vec::new();
            }
            if (has("DELETE") || has("UPDATE")) && !has("WHERE") {
                Finding::Destroys { what: String::new(), note: "every row" }
            } else {
                Finding::Changes(String::new())
            }
        }
        "SET" if has("GLOBAL") || has("PERSIST") => Finding::Rights,
        "PRAGMA" | "REM" => return Vec::new(),
        "INSERT" | "REPLACE" | "UPSERT" | "MERGE" => {
            Finding::Changes(behind(&["INSERT", "REPLACE", "UPSERT", "MERGE", "INTO", "OR", "IGNORE"]))
        }
        "COPY" | "LOAD" => Finding::Unclear,
        known if LOOKING.contains(&known) => return Vec::new(),
        "CREATE" | "ALTER" | "RENAME" | "REFRESH" | "REINDEX" | "CLUSTER" | "CALL" | "EXEC" | "EXECUTE"
        | "DO" | "IMPORT" | "BACKUP" | "RESTORE" | "COMMENT" => Finding::Changes(String::new()),
        _ => Finding::Unclear,
    };
    vec![finding]
}

/// The first word that is none of these.
fn subject(words: &[String], names: &[String], keywords: &[&str]) -> String {
    let at = words.iter().position(|word| !keywords.contains(&word.as_str()));
    at.and_then(|at| names.get(at)).cloned().unwrap_or_default()
}

fn upper(word: &Word) -> String {
    word.value.to_ascii_uppercase()
}
