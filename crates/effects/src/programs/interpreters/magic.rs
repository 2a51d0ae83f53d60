//! What Perl does beside running its program: names of files that are commands, and blocks that run while it only compiles.

use super::{PERL_WORDS, reads_operands, stays_in_text};
use crate::interpreter::{Call, Input, Machine, Value};

/// How many names of files are looked at (ours).
const NAMES: usize = 256;

/// Opens the files behind the program as `<>` does, which takes `COMMAND |`, `| COMMAND` and `> FILE` for what they say (perlop, "I/O
/// Operators"; tried with Perl 5.40). `<<>>` and `-i` take names as they are.
pub(super) fn open_operands(machine: &mut Machine<'_>, call: &Call) {
    let arguments = &call.arguments;
    let is_perl = call.program.starts_with("perl");
    if !is_perl || arguments.has(&["-i", "-c", "-v", "-V", "-h"]) {
        return;
    }
    let codes: Vec<Value> = arguments.values(&["-e", "-E"]).cloned().collect();
    let (texts, names) = match (codes.is_empty(), arguments.operands.split_first()) {
        (true, Some((script, rest))) => {
            let path = machine.one_path_through(script);
            (path.map(|path| vec![machine.text(&path)]).unwrap_or_default(), rest.to_vec())
        }
        (true, None) => return,
        (false, _) => (codes, arguments.operands.clone()),
    };
    let is_read = |text: &Value| {
        let without_safe = text.as_exact().map(|text| Value::exact(text.replace("<<>>", "")));
        without_safe.is_some_and(|text| {
            reads_operands(&text, &call.program)
                || text.as_exact().is_some_and(|text| text.contains("readline") || text.contains("eof()"))
        })
    };
    if arguments.has(&["-n", "-p"]) || texts.iter().any(is_read) {
        for name in names.iter().take(NAMES) {
            for text in name.alternatives().unwrap_or_default() {
                open(machine, text);
            }
        }
    }
    // Names that the program itself puts there.
    let puts = |text: &&str| {
        text.contains("@ARGV") && ["|\"", "|'", "\"|", "'|", "|)", "|}"].iter().any(|end| text.contains(end))
    };
    if texts.iter().filter(|text| is_read(text)).filter_map(Value::as_exact).any(|text| puts(&text)) {
        machine.unread("`perl` runs what the names of files say that it opens");
    }
}

/// Opens one name.
fn open(machine: &mut Machine<'_>, name: &str) {
    let name = name.trim();
    let command = name.strip_suffix('|').or_else(|| name.strip_prefix('|'));
    if let Some(command) = command {
        machine.run_where_unseen(&Value::exact(command.trim()), "the name of a file makes `perl` run it");
    } else if let Some(file) = name.strip_prefix(">>").or_else(|| name.strip_prefix("+>")) {
        machine.write(&Value::exact(file.trim()));
    } else if let Some(file) = name.strip_prefix('>') {
        machine.write(&Value::exact(file.trim()));
    }
}

/// What `perl -c` runs: `BEGIN`, `UNITCHECK` and `CHECK` blocks, and what `use` needs (perlrun, "-c").
pub(super) fn compile_only(machine: &mut Machine<'_>, call: &Call, code_options: &[&str]) {
    let mut texts: Vec<Value> = call.arguments.values(code_options).cloned().collect();
    if texts.is_empty() {
        let script = call.arguments.operands.first().and_then(|script| machine.one_path_through(script));
        texts.extend(script.map(|path| machine.text(&path)));
        if let (true, Input::Text(text)) = (texts.is_empty(), &call.input) {
            texts.push(text.clone());
        }
    }
    let others: Vec<&str> = PERL_WORDS.iter().copied().filter(|word| *word != "use").collect();
    let runs = |text: &&Value| {
        text.as_exact().is_some_and(|text| {
            let words = || text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
            let has_block = words().any(|word| matches!(word, "BEGIN" | "UNITCHECK" | "CHECK"));
            let has_use = text.contains("use ") && text.contains(['(', '{', '`']);
            (has_block || has_use) && !stays_in_text(text, &others)
        })
    };
    for text in texts.iter().filter(runs) {
        machine.possibly(|machine| drop(crate::programs::code(machine, call, text)));
    }
}
