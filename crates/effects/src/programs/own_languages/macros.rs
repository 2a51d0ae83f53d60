//! Macro processors, typesetters of roff and templates: texts that become other texts, and may run commands while they do.

use crate::interpreter::{Call, Input, Machine, Value};

use super::{may_run, path, sources, texts};

/// The macro processors (GNU M4 1.4, BSD m4, autom4te).
const M4: &[&str] = &["m4", "gm4", "autom4te"];
/// What of M4 a shell runs: GNU M4 1.4, "Shell commands".
const M4_RUNS: &[&str] = &["syscmd", "esyscmd", "m4_syscmd", "m4_esyscmd", "m4_esyscmd_s"];
/// What of M4 reads a file: GNU M4 1.4, "File inclusion".
const M4_READS: &[&str] = &["include", "sinclude", "undivert", "m4_include", "m4_sinclude"];
/// The typesetters and preprocessors of roff: groff 1.23, Heirloom troff, neatroff.
const ROFF: &[&str] =
    &["groff", "troff", "nroff", "gtroff", "gnroff", "ditroff", "pic", "gpic", "dpic", "neatroff"];
/// Requests whose rest a shell runs (groff(7), `pi`, `pso`, `sy`), and `sh` of pic(1).
const ROFF_RUNS: &[&str] = &["sy", "pso", "pi"];
/// Requests whose word is a file (groff(7), `so`, `mso`, `soquiet`, `trf`, `cf`).
const ROFF_READS: &[&str] = &["so", "mso", "soquiet", "msoquiet", "trf", "cf"];
/// Programs that fill templates with Ruby (Ruby 3.3, `erb --help`; Erubi, Tilt).
const RUBY_TEMPLATES: &[&str] = &["erb", "erubi", "erubis", "tilt"];
/// Readers of mail in whose settings text between backquotes is run (the manual of Mutt 2.2, "Syntax of Initialization Files").
const MAIL_READERS: &[&str] = &["mutt", "neomutt"];

pub(super) fn run(machine: &mut Machine<'_>, call: &Call, program: &str) {
    if M4.contains(&program) {
        for text in texts(call).into_iter().chain(sources(machine, call)) {
            m4(machine, &text);
        }
    }
    if ROFF.contains(&program) {
        for text in texts(call).into_iter().chain(sources(machine, call)) {
            roff(machine, &text);
        }
    }
    if RUBY_TEMPLATES.contains(&program) {
        for text in texts(call).into_iter().chain(sources(machine, call)) {
            ruby(machine, &text);
        }
    }
    if MAIL_READERS.contains(&program) {
        for text in texts(call) {
            for command in text.split('`').skip(1).step_by(2) {
                may_run(machine, command);
            }
        }
    }
}

fn m4(machine: &mut Machine<'_>, text: &str) {
    for name in M4_RUNS {
        for argument in arguments(text, name) {
            may_run(machine, &argument);
        }
    }
    for name in M4_READS {
        for argument in arguments(text, name) {
            let file = path(machine, &argument);
            drop(machine.read(&file));
        }
    }
}

/// The argument of each use of a macro, without the quotes around it: `` `x' `` by birth, `[x]` in Autoconf.
fn arguments(text: &str, name: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices(name) {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        if before.is_some_and(|letter| letter.is_alphanumeric() || letter == '_') {
            continue;
        }
        let Some(inner) = text.get(at + name.len()..).and_then(|rest| rest.strip_prefix('(')) else {
            continue;
        };
        let mut depth = 1_usize;
        let end = inner.char_indices().find(|(_, letter)| {
            match letter {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        let argument = end.and_then(|(at, _)| inner.get(..at)).unwrap_or(inner);
        let opens = |letter| matches!(letter, '`' | '[' | '"' | ' ' | '\n');
        let closes = |letter| matches!(letter, '\'' | ']' | '"' | ' ' | '\n');
        found.push(argument.trim_start_matches(opens).trim_end_matches(closes).to_owned());
    }
    found
}

fn roff(machine: &mut Machine<'_>, text: &str) {
    for line in text.lines() {
        let Some(request) = line.strip_prefix(['.', '\'']).map(str::trim_start) else {
            // pic(1): `sh X anything X`, between two equal letters or in braces.
            if let Some(rest) = line.trim_start().strip_prefix("sh ") {
                may_run(machine, rest.trim().trim_matches(['{', '}', 'X', '@', '%', '"']));
            }
            continue;
        };
        let (name, rest) = request.split_once(char::is_whitespace).unwrap_or((request, ""));
        if ROFF_RUNS.contains(&name) {
            may_run(machine, rest);
        } else if ROFF_READS.contains(&name)
            && let Some(file) = rest.split_whitespace().next()
        {
            let file = path(machine, file);
            drop(machine.read(&file));
        }
    }
}

/// The code of a template, all of it as one program: what one part defines the next one uses.
fn ruby(machine: &mut Machine<'_>, text: &str) {
    let parts = text.split("<%").skip(1).filter_map(|part| part.split_once("%>"));
    let code: Vec<&str> = parts.map(|(code, _)| code.trim_matches(['=', '-'])).collect();
    if code.is_empty() {
        return;
    }
    let words = ["ruby", "-e", &code.join("\n")].map(Value::exact);
    machine.possibly(|machine| machine.run_words(&words, Input::Inherited));
}

#[cfg(test)]
mod tests {
    use super::arguments;

    #[test]
    fn arguments_of_macros_are_found() {
        assert_eq!(arguments("syscmd(`rm -rf x')", "syscmd"), ["rm -rf x"]);
        assert_eq!(arguments("a syscmd([echo $(id)]) syscmd(b", "syscmd"), ["echo $(id)", "b"]);
        assert_eq!(arguments("esyscmd(`x') my_syscmd(`y')", "syscmd"), Vec::<String>::new());
    }
}
