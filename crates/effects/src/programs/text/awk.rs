//! `awk`: files that a program reads and writes, and commands that it runs.
//!
//! | module | holds |
//! |---|---|
//! | `tokens` | the words and signs of a program |
//! | `tree` | programs as trees |
//! | `texts` | texts that it puts together |
//! | `following` | what a program does, as far as the names are put together of what is known |

mod following;
mod texts;
mod tokens;
mod tree;

use crate::interpreter::process_lists::ListedProcesses;
use crate::interpreter::{Call, Exit, Input, Machine, Output, Upload, Value};

use super::{Content, edit_in_place};
use crate::programs::instructions::instructions;

use following::{Act, Circumstances, follow};

/// Adds that a program comes in that nobody has read.
fn unread_program(machine: &mut Machine<'_>) -> Value {
    machine.unread("the program of `awk` comes in, and what it is is not known");
    Value::exact("")
}

/// How many files that a program includes are read (ours).
const INCLUDED: usize = 8;

/// `awk`, `gawk`, `mawk`, `nawk`
pub(crate) fn awk(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    let mut programs: Vec<Value> = arguments.values(&["-e", "--source"]).cloned().collect();
    for file in arguments.values(&["-f", "--file", "-E", "--exec", "-i", "--include"]) {
        if file.as_exact() == Some("inplace") {
            continue;
        }
        let is_input = matches!(file.as_exact(), Some("-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0"));
        programs.push(match &call.input {
            Input::Text(text) if is_input => text.clone(),
            Input::Network(url) if is_input => {
                machine.runs_from_network(&url.clone());
                Value::exact("")
            }
            Input::Local(place) if is_input => {
                machine.code_coming_in(place).unwrap_or_else(|| unread_program(machine))
            }
            Input::Secret(_) | Input::Unknown if is_input => unread_program(machine),
            _ => text_of(machine, file),
        });
    }
    if arguments.has(&["-l", "--load"]) {
        machine.opaque("loads a library of `awk`");
    }
    let is_given = !arguments.has(&["-e", "--source", "-f", "--file", "-E", "--exec"]);
    let mut words: &[Value] = &arguments.operands;
    if is_given {
        let Some((program, rest)) = words.split_first() else { return Exit::unknown() };
        programs.push(program.clone());
        words = rest;
    }
    let files: Vec<Value> = words.iter().filter(|file| !is_assignment(file)).cloned().collect();
    let mut assigned: Vec<(String, Value)> = arguments
        .values(&["-v", "--assign"])
        .chain(words.iter().filter(|word| is_assignment(word)))
        .filter_map(|word| {
            let (name, _) =
                word.known_start().split_once('=').map(|(name, rest)| (name.to_owned(), rest.to_owned()))?;
            let value = crate::programs::files::after(word, &format!("{name}="))?;
            Some((name, value))
        })
        .collect();
    if let Some(separator) = arguments.value(&["-F", "--field-separator"]) {
        assigned.push(("FS".to_owned(), separator.clone()));
    }
    let lines = lines(machine, call, &files);
    let mut whole = String::new();
    let mut included: Vec<String> = Vec::new();
    let acts = loop {
        for program in programs.drain(..) {
            if let Some(text) = program.as_exact() {
                whole.push_str(text);
                whole.push('\n');
                continue;
            }
            // A program with a hole in it, mostly a number or a word: what is known of it decides.
            let known = format!("{} {}", program.known_start(), program.known_end());
            if known.contains("system") || known.trim().is_empty() {
                machine.opaque(format!("the program of `{}` is not known", call.program));
            }
        }
        let deeds = {
            let environment = |name: &str| machine.variable(name);
            let given = Circumstances {
                assigned: &assigned,
                operands: words,
                lines: lines.clone(),
                environment: &environment,
            };
            follow(&whole, &given)
        };
        // Each is read once, wherever it is named.
        let Some(file) = deeds.included.into_iter().find(|file| !included.contains(file)) else {
            break deeds.acts;
        };
        if included.len() >= INCLUDED {
            machine.opaque(format!("not all that the program of `{}` includes is read", call.program));
            break deeds.acts;
        }
        programs.push(text_of(machine, &Value::exact(file.as_str())));
        included.push(file);
    };
    // A list of processes that the program runs over or asks for: whose numbers it may hand to `kill`.
    let mut processes =
        ListedProcesses::coming_in(call).or_else(|| counts(&whole).then_some(ListedProcesses::Counted));
    // What others send may be any name. A table that is divided among files by what stands in it is no list of such.
    let names = match &call.input {
        Input::Unknown | Input::Network(_) if files.is_empty() => Some(Output::from_input(&call.input)),
        _ => None,
    };
    let mut heard = None;
    for act in acts {
        let found = carry_out(machine, act, processes.as_ref(), names.as_ref(), &mut heard);
        processes = found.map(|list| list.chosen_by(&whole)).or(processes);
    }
    let in_place = arguments.values(&["-i", "--include"]).any(|value| value.as_exact() == Some("inplace"));
    if in_place {
        edit_in_place(machine, &files, None, Content::MayGo);
        return Exit::silent();
    }
    for file in &files {
        machine.read(file);
    }
    Exit::unknown()
}

/// Whether a program goes through numbers as far as those of processes go.
fn counts(program: &str) -> bool {
    let is_far = |word: &str| word.parse::<u64>().is_ok_and(|number| number >= FAR);
    ["for", "while"].iter().any(|word| program.contains(word))
        && program.split(|c: char| !c.is_ascii_digit()).any(is_far)
}

/// From which number on a loop reaches those of processes that run for long (ours).
const FAR: u64 = 1000;

fn text_of(machine: &mut Machine<'_>, file: &Value) -> Value {
    machine.read(file);
    let text = machine.one_path_through(file).and_then(|path| instructions(machine, &path));
    text.map_or(Value::Unknown, Value::Exact)
}

/// The text that a program runs over, where it can be read. A secret is not taken apart.
fn lines(machine: &Machine<'_>, call: &Call, files: &[Value]) -> Value {
    match (files, &call.input) {
        ([], Input::Text(text)) => text.clone(),
        ([file], _) => machine.peek(file).into_text(),
        _ => Value::Unknown,
    }
}

fn is_assignment(word: &Value) -> bool {
    word.known_start().split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// Does what a program does, of whose lines is known where they came from when others chose them; the list of processes that this gives it.
/// `heard` is the host from which it has read.
fn carry_out(
    machine: &mut Machine<'_>,
    act: Act,
    processes: Option<&ListedProcesses>,
    names: Option<&Output>,
    heard: &mut Option<String>,
) -> Option<ListedProcesses> {
    match act {
        Act::Read(file) => {
            if host_of(&file).is_none() {
                machine.read(&file);
            }
        }
        Act::Write(Value::Unknown) => {
            let write = |machine: &mut Machine<'_>| {
                machine.possibly(|machine| machine.write(&Value::Unknown));
            };
            match names {
                Some(output) => machine.with_words_from(output, write),
                None => write(machine),
            }
            machine.opaque("`awk` writes a file whose name it puts together while it runs");
        }
        Act::Write(known) => match host_of(&known) {
            Some(host) => machine.host(&Value::Exact(host), Upload::Yes),
            None => machine.write(&known),
        },
        Act::Run(command, input) => return run(machine, &command, input, processes, heard),
        Act::RunUnknown => match heard {
            Some(host) => machine.runs_from_network(host),
            None => machine.opaque("`awk` calls what is not known before it runs"),
        },
        Act::Unread => machine.unread("the program of `awk` is longer than what is followed"),
    }
    None
}

/// The other end of a connection: `/inet/tcp/0/host/port` (gawk 5.3, "TCP/IP Networking").
fn host_of(file: &Value) -> Option<String> {
    let text = file.as_exact()?;
    let mut parts = text.strip_prefix("/inet")?.split('/').skip(3);
    let (host, port) = (parts.next()?, parts.next()?);
    Some(format!("{host}:{port}"))
}

fn run(
    machine: &mut Machine<'_>,
    command: &Value,
    input: Option<Value>,
    processes: Option<&ListedProcesses>,
    heard: &mut Option<String>,
) -> Option<ListedProcesses> {
    if let Some(host) = host_of(command) {
        machine.host(&Value::exact(host.as_str()), Upload::Yes);
        *heard = Some(host);
        return None;
    }
    let given = match input {
        Some(text) => Input::Text(text),
        None => Input::Unknown,
    };
    if command.alternatives().is_some() {
        let exit = machine.told_to_program(|machine| machine.run_text(command, given));
        if let Output::Text(text) = &exit.output {
            machine.note_guard_found(text);
        }
        machine.take_in_names(&exit.output);
        if let Output::Network(host) = &exit.output {
            *heard = Some(host.clone());
        }
        return ListedProcesses::of(&exit.output);
    }
    if let (Some(host), Value::Unknown) = (heard.as_deref(), command) {
        machine.runs_from_network(host);
        return None;
    }
    machine.opaque("`awk` runs commands that it makes of its input");
    // A plain command with words of the input behind it: which program it is, is known.
    let start = command.known_start();
    let is_plain = |c: char| c.is_alphanumeric() || " ./_-".contains(c);
    let start = start.trim_end_matches(['"', '\'']);
    if start.contains(' ') && start.chars().all(is_plain) {
        let mut words: Vec<Value> = start.split_whitespace().map(Value::exact).collect();
        let last = if start.ends_with(' ') { None } else { words.pop() };
        words.push(last.map_or(Value::Unknown, |last| last.followed_by(&Value::Unknown)));
        let from = processes.map_or(Output::Unknown, ListedProcesses::output);
        machine.with_words_from(&from, |machine| {
            machine.possibly(|machine| machine.run_words(&words, given));
        });
    } else if let Value::Between { prefix, suffix } = command
        && !prefix.trim().is_empty()
    {
        let text = Value::Exact(with_hole(prefix, suffix));
        machine.with_variables(vec![(HOLE.to_owned(), Value::Unknown)], |machine| {
            machine.possibly(|machine| machine.run_text(&text, given));
        });
    }
    None
}

/// The variable that stands for the part of a command that is not known.
const HOLE: &str = "part_of_a_command";

/// A command around a part that is not known, as text in which a variable stands for that part, whatever quotes it is in.
fn with_hole(prefix: &str, suffix: &str) -> String {
    let mut quote = None;
    let mut letters = prefix.chars();
    while let Some(c) = letters.next() {
        match (quote, c) {
            (None | Some('"'), '\\') => {
                letters.next();
            }
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            (None | Some(_), _) => {}
        }
    }
    match quote {
        Some('\'') => format!("{prefix}'\"${{{HOLE}}}\"'{suffix}"),
        Some(_) | None => format!("{prefix}${{{HOLE}}}{suffix}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn followed(program: &str, assigned: &[(String, Value)], lines: Value) -> Vec<Act> {
        let environment = |name: &str| (name == "HOME").then(|| Value::exact("/home/dev"));
        follow(program, &Circumstances { assigned, operands: &[], lines, environment: &environment }).acts
    }

    fn found(program: &str) -> Vec<Act> {
        followed(program, &[], Value::Unknown)
    }

    fn write(text: &str) -> Act {
        Act::Write(Value::exact(text))
    }

    fn read(text: &str) -> Act {
        Act::Read(Value::exact(text))
    }

    fn run(text: &str) -> Act {
        Act::Run(Value::exact(text), None)
    }

    #[test]
    fn programs_are_searched_for_acts() {
        assert_eq!(found("{ print $1 }"), []);
        assert_eq!(found("$3 > 100 { print $1, ($2 > 5) }"), []);
        assert_eq!(found("{ print $1 > \"out.txt\" }"), [write("out.txt")]);
        assert_eq!(found("{ print >> \"a\"; print \"x > y\" }"), [write("a")]);
        assert_eq!(found("BEGIN { system(\"rm -rf x\") }"), [run("rm -rf x")]);
        assert_eq!(found("BEGIN { \"date\" | getline d; print d }"), [run("date")]);
        assert_eq!(found("/a|b>c/ { print }"), []);
        assert_eq!(found("{ print $2 > $1 }"), [Act::Write(Value::Unknown)]);
        assert_eq!(
            found("{ system(\"rm \" $1) }"),
            [Act::Run(Value::Between { prefix: "rm ".to_owned(), suffix: String::new() }, None)]
        );
        assert_eq!(found("{ print > \"/dev/stderr\" }"), []);
        assert_eq!(found("a || b { print }"), []);
        assert_eq!(found("BEGIN { while ((getline l < \"x\") > 0) print l }"), [read("x")]);
        assert_eq!(found("BEGIN { f = \"x\"; getline < f; print }"), [read("x")]);
        assert_eq!(found("BEGIN { ARGV[ARGC++] = \"x\" } 1"), [read("x")]);
        assert_eq!(found("BEGIN { if (ARGV[1] == \"x\") n = 1 } $1 < 3 { getline; print }"), []);
        let between = Value::Between { prefix: "day_".to_owned(), suffix: ".txt".to_owned() };
        assert_eq!(found("{ f = \"day_\" NR \".txt\"; print > f; close(f) }"), [Act::Write(between)]);
        let out = [("out".to_owned(), Value::exact("x"))];
        assert_eq!(followed("{ print > out }", &out, Value::Unknown), [write("x")]);
    }

    /// Each of these was run with mawk 1.3.4, with a directory of its own for `/home/dev`: all wrote to the same file.
    #[test]
    fn names_are_put_together_as_awk_does() {
        for program in [
            r#"BEGIN { print 1 > (ENVIRON["HOME"] "/f") }"#,
            r#"BEGIN { print 1 > ENVIRON["HOME"]"/f" }"#,
            r#"BEGIN { print(1) > (ENVIRON["HOME"] "/f") }"#,
            r#"BEGIN { print (1)(2) > (ENVIRON["HOME"] "/f") }"#,
            r#"BEGIN { printf("%s", 1) >> (ENVIRON["HOME"] "/" "f") }"#,
            r#"BEGIN { h = ENVIRON["HOME"]; f = h "/f"; print 1 > f }"#,
            r#"BEGIN { f = ENVIRON["HOME"]; f = f "/f"; print 1 > f }"#,
            r#"BEGIN { f = sprintf("%s/%s", ENVIRON["HOME"], "f"); print 1 > f }"#,
            r#"BEGIN { f = sprintf("%s%c%s", ENVIRON["HOME"], 47, "f"); print 1 > f }"#,
            r#"BEGIN { f = "x/f"; sub(/x/, ENVIRON["HOME"], f); print 1 > f }"#,
            r#"BEGIN { f = "/hXme/dev/f"; gsub("X", "o", f); print 1 > f }"#,
            r#"BEGIN { print 1 > (ENVIRON["HO" "ME"] tolower("/F")) }"#,
            r#"BEGIN { print 1 > substr("x/home/dev/f", 2) }"#,
            r#"BEGIN { print 1 > substr("x/home/dev/fx", 2, 11) }"#,
            r#"BEGIN { n = split("/home:/dev:/f", a, ":"); print 1 > (a[1] a[2] a[3]) }"#,
            r#"BEGIN { a["x"] = "/home/dev"; print 1 > (a["x"] "/f") }"#,
            r#"function g(a, b) { return a "/" b } BEGIN { print 1 > g(ENVIRON["HOME"], "f") }"#,
            r#"function g(f) { print 1 > f } BEGIN { g(ENVIRON["HOME"] "/f") }"#,
            "BEGIN { OFS = \"/\"; print 1 > (ENVIRON[\"HOME\"] OFS \"f\") }",
            "BEGIN {\n  if (1)\n    f = \"/home/dev/f\"\n  print 1 > f\n}",
            "BEGIN { f = \"\\57home\\x2fdev/f\"; print 1 > f }",
        ] {
            assert_eq!(found(program), [write("/home/dev/f")], "{program}");
        }
        let either = Act::Write(Value::AnyOf(vec!["/home/dev/f".to_owned(), "g".to_owned()]));
        assert_eq!(found("BEGIN { f = x ? ENVIRON[\"HOME\"] \"/f\" : \"g\"; print 1 > f }"), [either]);
    }

    #[test]
    fn what_is_read_and_run_is_put_together_alike() {
        for (program, act) in [
            (r#"BEGIN { while ((getline l < (ENVIRON["HOME"] "/f")) > 0) print l }"#, read("/home/dev/f")),
            (r#"BEGIN { ARGV[1] = ENVIRON["HOME"] "/f"; ARGC = 2 } 1"#, read("/home/dev/f")),
            (r#"BEGIN { c = "rm"; c = c " -rf "; system(c ENVIRON["HOME"]) }"#, run("rm -rf /home/dev")),
            (r#"BEGIN { "rm " ENVIRON["HOME"] | getline }"#, run("rm /home/dev")),
            (r#"BEGIN { "rm x" |& getline }"#, run("rm x")),
            (r#"BEGIN { f = "system"; @f("rm x") }"#, run("rm x")),
        ] {
            assert_eq!(found(program), [act], "{program}");
        }
        let fed = |command: &str, text: &str| Act::Run(Value::exact(command), Some(Value::exact(text)));
        assert_eq!(found("BEGIN { print \"rm\", \"x\" | \"s\" \"h\" }"), [fed("sh", "rm x\n")]);
        assert_eq!(found("BEGIN { printf \"rm %s\", \"x\" | \"sh\" }"), [fed("sh", "rm x")]);
        assert_eq!(found("@load \"x\""), [Act::RunUnknown]);
    }

    #[test]
    fn lines_that_are_known_are_gone_through_one_by_one() {
        let lines = Value::exact("a b\nc d\n");
        let deeds = |program: &str| followed(program, &[], lines.clone());
        assert_eq!(deeds("{ system(\"rm \" $2) }"), [run("rm b"), run("rm d")]);
        assert_eq!(deeds("{ print > $1 }"), [write("a"), write("c")]);
        assert_eq!(deeds("{ print > $NF }"), [write("b"), write("d")]);
        let comma = [("FS".to_owned(), Value::exact(","))];
        assert_eq!(followed("{ print > $2 }", &comma, Value::exact("a,b c\n")), [write("b c")]);
    }

    #[test]
    fn what_is_beyond_the_limits_is_unread() {
        let is_unread = |acts: &[Act]| acts.contains(&Act::Unread);
        let many = (0..300).map(|number| format!("print > \"{number}\"; ")).collect::<Vec<_>>().concat();
        assert!(is_unread(&found(&format!("BEGIN {{ {many} }}"))));
        let calls = |number: usize| format!("function f{number}(x) {{ f{}(x) }}\n", number + 1);
        let deep = (0..20).map(calls).collect::<Vec<_>>().concat();
        assert!(is_unread(&found(&format!("{deep}BEGIN {{ f0(1) }}"))));
        // What repeats itself is no more than it is, and of many lines each may be any.
        let filled = "function fill(s, n) { if (length(s) >= n) return s; return fill(s \"0\", n) } BEGIN { print fill(7, 5) }";
        assert_eq!(found(filled), []);
        let sorted = "function sort(a, l, r) { sort(a, l, i - 1); sort(a, i + 1, r) } END { sort(a, 1, n) }";
        assert_eq!(found(sorted), []);
        let long = "x = x y; ".repeat(100);
        assert_eq!(followed(&format!("{{ {long} }}"), &[], Value::exact("a b\n".repeat(250))), []);
    }

    /// Whatever is written, reading it comes to an end.
    #[test]
    fn what_is_no_program_is_read_to_its_end() {
        let parts = [
            "{", "}", "(", ")", "[", "]", "print", ">", "|", "getline", "\"x\"", "$", "for", "if", "x", "=",
            "/", ",", "function", "@", "\n",
        ];
        let mut seed = 7_usize;
        for _ in 0..3_000 {
            let program: Vec<&str> = (0..12)
                .filter_map(|_| {
                    seed =
                        seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    parts.get((seed >> 33) % parts.len()).copied()
                })
                .collect();
            found(&program.join(" "));
        }
        found(&"(".repeat(5_000));
        found(&"{".repeat(5_000));
        found(&"!".repeat(5_000));
        found(&"$".repeat(5_000));
    }
}
