//! GNU `parallel`: sources of words, and the places for them in the command (source: `man parallel`, version 20240222).

use crate::interpreter::strings;
use crate::interpreter::{Call, Exit, Input, Machine, Output, Value};
use crate::programs::find::with_found;

use super::Peeled;
use super::many::{RUNS, Words, words_of};

/// Options that take a value, as letters.
const LETTERS: &str = "jNnLPIaSdCEJs";
/// The same as names.
const NAMES: &[&str] = &[
    "arg-file",
    "arg-file-sep",
    "arg-sep",
    "basefile",
    "bf",
    "bin",
    "block",
    "block-size",
    "block-timeout",
    "bt",
    "colsep",
    "compress-program",
    "ctagstring",
    "decompress-program",
    "delay",
    "delimiter",
    "env",
    "filter",
    "group-by",
    "halt",
    "halt-on-error",
    "header",
    "id",
    "jobs",
    "joblog",
    "limit",
    "load",
    "max-args",
    "max-chars",
    "max-procs",
    "max-replace-args",
    "memfree",
    "memsuspend",
    "minversion",
    "nice",
    "process-slot-var",
    "profile",
    "recend",
    "recstart",
    "res",
    "results",
    "retries",
    "return",
    "rpl",
    "rsync-opts",
    "semaphorename",
    "semaphoretimeout",
    "seqreplace",
    "shard",
    "slf",
    "slotreplace",
    "sql",
    "sqlandworker",
    "sqlmaster",
    "sqlworker",
    "ssh",
    "sshdelay",
    "sshlogin",
    "sshloginfile",
    "st",
    "tag-string",
    "tagstring",
    "tempdir",
    "template",
    "termseq",
    "tf",
    "timeout",
    "tmpdir",
    "tmpl",
    "total",
    "total-jobs",
    "transferfile",
    "trc",
    "trim",
    "wd",
    "workdir",
];

/// `parallel`
pub(crate) fn parallel(machine: &mut Machine<'_>, call: &Call) -> Exit {
    // Programs that run others may be nested: what is read of the words is done with before they run.
    let planned = Planned::of(machine, call);
    if planned.only_prints {
        return Exit::unknown();
    }
    match planned.directory.clone() {
        Some(directory) => machine.inside(&directory, |machine| planned.run(machine)),
        None => planned.run(machine),
    }
    Exit::unknown()
}

/// What `parallel` runs, for which words, and where these come from.
struct Planned {
    command: Vec<Value>,
    /// Where it runs, if not here.
    directory: Option<Value>,
    /// The words of each run, one for each source; `None` where they are not known, or too many.
    rows: Option<Vec<Vec<Value>>>,
    /// A row of which only that is known what is known of all.
    any: Vec<Value>,
    source: Output,
    /// What stands for the word (`-I`).
    mark: String,
    /// Whether the commands are printed and do not run (`--dry-run`).
    only_prints: bool,
}

impl Planned {
    fn run(&self, machine: &mut Machine<'_>) {
        let empty = Input::Text(Value::exact(""));
        match &self.rows {
            Some(rows) => {
                for row in rows {
                    machine.run_text(&self.text(row), empty.clone());
                }
            }
            None if self.command.is_empty() => {
                machine.possibly(|machine| machine.unread("the commands that `parallel` runs are not known"));
            }
            None => {
                let row = &self.any;
                let run = |machine: &mut Machine<'_>| match self.words(row) {
                    Some(words) => machine.run_words(&words, Input::Unknown),
                    None => machine.run_text(&self.text(row), Input::Unknown),
                };
                match row.as_slice() {
                    [found @ Value::Glob(_)] => with_found(machine, found, run),
                    _ => machine.with_words_from(&self.source, |machine| machine.possibly(run)),
                };
            }
        }
    }

    fn of(machine: &mut Machine<'_>, call: &Call) -> Self {
        let peeled = Peeled::new(&call.words, LETTERS, NAMES);
        if let Some(file) = peeled.value(&["--joblog", "--results"]) {
            machine.write(file);
        }
        let is_mark = |word: &Value| matches!(word.as_exact(), Some(":::" | "::::" | ":::+" | "::::+"));
        let cut = peeled.rest.iter().position(is_mark).unwrap_or(peeled.rest.len());
        let command = peeled.rest.get(..cut).unwrap_or_default().to_vec();
        // `...` is a directory of its own that goes away again.
        let directory = peeled.value(&["--wd", "--workdir"]).filter(|place| place.as_exact() != Some("..."));
        let directory = directory.cloned();
        let mut source = Output::Nothing;
        let mut columns: Vec<Words> = Vec::new();
        let mut is_linked = peeled.has(&["--link", "--xapply"]);
        for (option, file) in &peeled.options {
            if let ("-a" | "--arg-file", Some(file)) = (option.as_str(), file) {
                source = machine.read(file);
                columns.push(words_of(&source.clone().into_input(), true, None));
            }
        }
        let mut rest = peeled.rest.get(cut..).unwrap_or_default();
        while let Some((mark, more)) = rest.split_first() {
            let end = more.iter().position(is_mark).unwrap_or(more.len());
            let (list, further) = more.split_at(end);
            let mark = mark.as_exact().unwrap_or_default();
            is_linked |= mark.ends_with('+');
            if mark.starts_with("::::") {
                for file in list {
                    source = machine.read(file);
                    columns.push(words_of(&source.clone().into_input(), true, None));
                }
            } else {
                columns.push(Words::These(list.to_vec()));
            }
            rest = further;
        }
        if columns.is_empty() {
            if call.input != Input::Inherited {
                source = Output::from_input(&call.input);
            }
            columns.push(words_of(&call.input, true, None));
        }
        let takes_several =
            peeled.has(&["-N", "-n", "-L", "--max-args", "-X", "-m", "--xargs", "--colsep", "-C"]);
        let mark = peeled.value(&["-I"]).and_then(Value::as_exact).unwrap_or("{}").to_owned();
        let any = columns.iter().map(Words::any).collect();
        let rows = if takes_several { None } else { rows_of(columns, is_linked) };
        let only_prints = peeled.has(&["--dry-run", "--dryrun"]);
        Self { command, directory, rows, any, source, mark, only_prints }
    }

    /// The words that run for a row of words of which nothing is known; `None` where they are a text for a shell.
    fn words(&self, row: &[Value]) -> Option<Vec<Value>> {
        const SPECIAL: &[char] = &[
            '|', '&', ';', '<', '>', '(', ')', '$', '`', '\\', '"', '\'', '\n', '*', '?', '[', '~', '=', '#',
        ];
        let command: Vec<Value> = match self.command.as_slice() {
            // A text in which nothing is special to a shell is as good as its words.
            [only] => {
                let text = only.as_exact().filter(|text| !text.contains(SPECIAL))?;
                text.split_whitespace().map(Value::exact).collect()
            }
            words => words.to_vec(),
        };
        let mut has_place = false;
        let mut words: Vec<Value> = command
            .iter()
            .map(|word| match word.as_exact() {
                Some(text) => {
                    let (value, is_filled) = filled(text, &self.mark, row);
                    has_place |= is_filled;
                    value
                }
                None => word.clone(),
            })
            .collect();
        if !has_place {
            words.extend_from_slice(row);
        }
        Some(words)
    }

    /// The text that is run for a row of words.
    fn text(&self, row: &[Value]) -> Value {
        let whole = strings::joined(&self.command, " ");
        let behind = strings::joined(row, " ");
        match whole.as_exact() {
            Some("") => behind,
            Some(text) => match filled(text, &self.mark, row) {
                (value, true) => value,
                (value, false) => value.followed_by(&Value::exact(" ")).followed_by(&behind),
            },
            None => whole.followed_by(&Value::exact(" ")).followed_by(&behind),
        }
    }
}

/// Every run's words: each with each, or one of each source together.
fn rows_of(columns: Vec<Words>, is_linked: bool) -> Option<Vec<Vec<Value>>> {
    let mut lists = Vec::new();
    for column in columns {
        match column {
            Words::These(list) => lists.push(list),
            Words::Many(_) => return None,
        }
    }
    if is_linked {
        let longest = lists.iter().map(Vec::len).max().unwrap_or_default();
        let row = |place: usize| {
            lists.iter().filter_map(|list| list.get(place % list.len().max(1)).cloned()).collect()
        };
        return (longest <= RUNS).then(|| (0..longest).map(row).collect());
    }
    let mut rows: Vec<Vec<Value>> = vec![Vec::new()];
    for list in lists {
        rows = rows
            .iter()
            .flat_map(|row| list.iter().map(move |word| row.iter().chain([word]).cloned().collect()))
            .take(RUNS + 1)
            .collect();
    }
    (rows.len() <= RUNS).then_some(rows)
}

/// A text with the words of a row in their places, and whether it had any: `{}`, `{2}`, `{.}`, `{/}`, `{//}`, `{/.}`, `{1//}`, `{#}`.
fn filled(text: &str, mark: &str, row: &[Value]) -> (Value, bool) {
    let mut value = Value::exact("");
    let mut has_place = false;
    let mut rest = text;
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix(mark) {
            value = value.followed_by(&strings::joined(row, " "));
            (rest, has_place) = (after, true);
            continue;
        }
        if let Some((inside, after)) = rest.strip_prefix('{').and_then(|rest| rest.split_once('}'))
            && let Some(word) = place(inside, row)
        {
            value = value.followed_by(&word);
            (rest, has_place) = (after, true);
            continue;
        }
        let next = rest.char_indices().nth(1).map_or(rest.len(), |(at, _)| at);
        let plain = rest
            .get(next..)
            .and_then(|tail| tail.find('{').map(|at| next + at))
            .filter(|_| mark.starts_with('{'));
        let end = plain.unwrap_or(if mark.starts_with('{') { rest.len() } else { next });
        value = value.followed_by(&Value::exact(rest.get(..end).unwrap_or_default()));
        rest = rest.get(end..).unwrap_or_default();
    }
    (value, has_place)
}

/// What a place in braces stands for; `None` where it is none.
fn place(inside: &str, row: &[Value]) -> Option<Value> {
    let digits = inside.bytes().take_while(u8::is_ascii_digit).count();
    let (number, part) = inside.split_at_checked(digits)?;
    let word = match number {
        "" => strings::joined(row, " "),
        _ => row
            .get(number.parse::<usize>().ok()?.checked_sub(1)?)
            .cloned()
            .unwrap_or_else(|| Value::exact("")),
    };
    let cut: fn(&str) -> String = match part {
        "" => |text| text.to_owned(),
        "." => |text| without_end(text).to_owned(),
        "/" => |text| text.rsplit('/').next().unwrap_or(text).to_owned(),
        "//" => |text| text.rsplit_once('/').map_or(".", |(directory, _)| directory).to_owned(),
        "/." => |text| without_end(text.rsplit('/').next().unwrap_or(text)).to_owned(),
        "#" | "%" => return number.is_empty().then_some(Value::Unknown),
        _ => return None,
    };
    Some(match word.as_exact() {
        Some(text) => Value::exact(cut(text)),
        None if part.is_empty() => word,
        None => Value::Unknown,
    })
}

/// A name without its last extension.
fn without_end(text: &str) -> &str {
    let name = text.rfind('/').map_or(0, |at| at + 1);
    match text.rfind('.') {
        Some(dot) if dot > name => text.get(..dot).unwrap_or(text),
        Some(_) | None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_in_their_places() {
        let row = [Value::exact("/a/b.c"), Value::exact("d")];
        for (text, meant) in [
            ("rm {1}/{2}", "rm /a/b.c/d"),
            ("rm {1//}", "rm /a"),
            ("x {1/} {1/.} {1.} {2}", "x b.c b /a/b d"),
            ("x {}", "x /a/b.c d"),
            ("x {a,b} ${y} {", "x {a,b} ${y} {"),
        ] {
            assert_eq!(filled(text, "{}", &row).0, Value::exact(meant), "{text}");
        }
        assert_eq!(filled("x @ {1}", "@", &row).0, Value::exact("x /a/b.c d /a/b.c"));
        assert_eq!(filled("x {1}", "{}", &[Value::Unknown]).0.known_start(), "x ");
    }
}
