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
    let reads = arguments.has(&["-n", "-p"]) || texts.iter().any(is_read);
    if reads {
        for name in names.iter().take(NAMES) {
            for text in name.alternatives().unwrap_or_default() {
                open(machine, text);
            }
        }
    }
    // Names that the program itself puts there.
    let puts = |text: &str| {
        let is_set =
            ["@ARGV =", "@ARGV=", "push @ARGV", "push(@ARGV", "unshift @ARGV", "unshift(@ARGV", "$ARGV["];
        is_set.iter().any(|start| text.contains(start))
            && ["|\"", "|'", "\"|", "'|", "|)", "|}"].iter().any(|end| text.contains(end))
    };
    if reads && texts.iter().filter_map(Value::as_exact).any(puts) {
        machine.unread("`perl` runs what the names of files say that it opens");
    }
}

/// Opens one name.
fn open(machine: &mut Machine<'_>, name: &str) {
    let name = name.trim();
    let command = name.strip_suffix('|').or_else(|| name.strip_prefix('|'));
    if let Some(command) = command {
        machine.run_where_unseen(&Value::exact(command.trim()), "the name of a file makes `perl` run it");
    } else if let Some(file) = [">>", "+>", ">"].iter().find_map(|sign| name.strip_prefix(sign)) {
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
    for text in texts.iter().filter_map(Value::as_exact) {
        let run = run_by_compiling(text);
        if !run.is_empty() && !stays_in_text(&run, &others) {
            machine
                .possibly(|machine| drop(crate::programs::code(machine, call, &Value::exact(run.as_str()))));
        }
    }
}

/// The blocks of a program that run while it is compiled, and the lines with `use` that compute something.
fn run_by_compiling(text: &str) -> String {
    let mut run = String::new();
    for word in ["BEGIN", "UNITCHECK", "CHECK"] {
        for (place, _) in text.match_indices(word) {
            let before = text.get(..place).and_then(|before| before.chars().next_back());
            let block =
                text.get(place + word.len()..).map(str::trim_start).and_then(|rest| rest.strip_prefix('{'));
            if let (false, Some(block)) = (before.is_some_and(|c| c.is_alphanumeric() || c == '_'), block) {
                let mut depth = 1_usize;
                let end = block.find(|c: char| {
                    match c {
                        '{' => depth += 1,
                        '}' => depth -= 1,
                        _ => {}
                    }
                    depth == 0
                });
                run.push_str(end.and_then(|end| block.get(..end)).unwrap_or(block));
                run.push_str(";\n");
            }
        }
    }
    for line in text.split([';', '\n']).map(str::trim) {
        if line.starts_with("use ") && line.contains(['(', '{', '`']) && !line.contains("qw(") {
            run.push_str(line);
            run.push_str(";\n");
        }
    }
    run
}
