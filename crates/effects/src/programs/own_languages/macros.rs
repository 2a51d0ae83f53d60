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
/// Code in a template: who fills it, the signs around the code, and what runs it.
struct Template {
    programs: &'static [&'static str],
    signs: (&'static str, &'static str),
    runner: &'static [&'static str],
}

const fn template(
    programs: &'static [&'static str],
    signs: (&'static str, &'static str),
    runner: &'static [&'static str],
) -> Template {
    Template { programs, signs, runner }
}

/// Programs that fill templates with code between two signs, and what runs it (Ruby 3.3, `erb --help`; Erubi, Tilt; Mako 1.3; EJS 3; cog 3; esh 0.3).
const TEMPLATES: &[Template] = &[
    template(&["erb", "erubi", "erubis", "tilt"], ("<%", "%>"), &["ruby", "-e"]),
    template(&["mako-render", "mako"], ("<%", "%>"), &["python3", "-c"]),
    template(&["mako-render", "mako"], ("${", "}"), &["python3", "-c"]),
    template(&["cog", "cog.py"], ("[[[cog", "]]]"), &["python3", "-c"]),
    template(&["ejs"], ("<%", "%>"), &["node", "-e"]),
    template(&["esh"], ("<%", "%>"), &["sh", "-c"]),
];
/// Programs that run a file of settings as code where they are started (latexmk 4.8, "Configuration/Initialization (RC) Files").
const SETTINGS: &[(&str, &[&str], &str)] = &[("latexmk", &["latexmkrc", ".latexmkrc"], "perl")];
/// Editors that take commands from their input (Vim 9, `-e`, `-s`; ex(1)).
const EDITORS: &[&str] = &["vim", "nvim", "vi", "ex", "vimx", "view"];
/// Readers of mail in whose settings text between backquotes is run (the manual of Mutt 2.2, "Syntax of Initialization Files").
const MAIL_READERS: &[&str] = &["mutt", "neomutt"];

pub(super) fn run(machine: &mut Machine<'_>, call: &Call, program: &str) {
    if M4.contains(&program) {
        for text in texts(call).into_iter().chain(sources(machine, call)) {
            m4(machine, &text, INCLUDED);
        }
    }
    if ROFF.contains(&program) {
        for text in texts(call).into_iter().chain(sources(machine, call)) {
            roff(machine, &text);
        }
    }
    for template in TEMPLATES.iter().filter(|template| template.programs.contains(&program)) {
        for text in texts(call).into_iter().chain(sources(machine, call)) {
            filled(machine, &text, template.signs, template.runner);
        }
    }
    for (_, files, interpreter) in SETTINGS.iter().filter(|(name, ..)| *name == program) {
        for file in files.iter().map(|file| Value::exact(*file)) {
            let is_there =
                machine.one_path_through(&file).is_some_and(|path| machine.text(&path).as_exact().is_some());
            if is_there {
                let words = [Value::exact(*interpreter), file];
                machine.possibly(|machine| machine.run_words(&words, Input::Inherited));
            }
        }
    }
    if let (true, Some(text)) = (EDITORS.contains(&program), call.input.as_exact()) {
        let commands: Vec<String> = text
            .lines()
            .filter_map(|line| line.trim_start_matches([' ', ':']).strip_prefix('!').map(str::to_owned))
            .collect();
        for command in commands {
            may_run(machine, &command);
        }
    }
    if program == "gnuplot" {
        for text in texts(call).into_iter().chain(sources(machine, call)) {
            gnuplot(machine, &text);
        }
    }
    if program == "gpp" {
        for text in texts(call).into_iter().chain(sources(machine, call)) {
            for command in text.lines().filter_map(|line| line.trim_start().strip_prefix("#exec ")) {
                may_run(machine, command);
            }
        }
    }
    if program == "ansible" {
        for text in texts(call) {
            // The lookups that run a command (Ansible 10, `ansible.builtin.pipe`, `ansible.builtin.lines`).
            for lookup in text.split("lookup(").chain(text.split("query(")).skip(1) {
                let mut quoted = lookup.split(['"', '\'']);
                let name = quoted.nth(1).unwrap_or_default();
                if matches!(name.rsplit('.').next(), Some("pipe" | "lines")) {
                    may_run(machine, quoted.nth(1).unwrap_or_default());
                }
            }
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

/// How many files in each other are followed that are included (ours).
const INCLUDED: usize = 4;

/// What gnuplot hands to a shell: `system`, a name behind `<` or `|` (gnuplot 6, "plot datafile special-filenames", "system", "set output").
fn gnuplot(machine: &mut Machine<'_>, text: &str) {
    for part in text.split(['"', '\'']).skip(1).step_by(2) {
        if let Some(command) = part.trim_start().strip_prefix(['<', '|']) {
            may_run(machine, command);
        }
    }
    for behind in text.split("system").skip(1) {
        let behind = behind.trim_start_matches([' ', '(', '\\']);
        if let Some(quote) = behind.chars().next().filter(|quote| matches!(quote, '"' | '\''))
            && let Some(command) = behind.get(1..).and_then(|rest| rest.split(quote).next())
        {
            may_run(machine, command.trim_end_matches('\\'));
        }
    }
}

fn m4(machine: &mut Machine<'_>, text: &str, depth: usize) {
    for name in M4_RUNS {
        for argument in arguments(text, name) {
            may_run(machine, &argument);
        }
    }
    for name in M4_READS {
        for argument in arguments(text, name) {
            let file = path(machine, &argument);
            let included = machine.read(&file).into_text();
            if let (Some(text), true) = (included.as_exact(), depth > 0) {
                m4(machine, text, depth - 1);
            }
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
fn filled(machine: &mut Machine<'_>, text: &str, (opens, closes): (&str, &str), words: &[&str]) {
    let parts = text.split(opens).skip(1).filter_map(|part| part.split_once(closes));
    let code: Vec<&str> = parts.map(|(code, _)| code.trim_matches(['=', '-', '!', ' ', '\n'])).collect();
    if code.is_empty() {
        return;
    }
    let code = code.join("\n");
    let words: Vec<Value> = words.iter().copied().chain([code.as_str()]).map(Value::exact).collect();
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
