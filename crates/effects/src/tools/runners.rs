//! What tools run that take a command, a program with its arguments, several commands, or code in a language, by the names of their fields.
//!
//! Names of fields are compared without case, `_` and `-`: `command_line`, `commandLine` and `CommandLine` are one.

use serde_json::Value as Json;

use checkrein_protocol::{folded, is_same_name};
use checkrein_shell::quoted;

use crate::interpreter::builtins::is_built_in;

use super::call::{DEPTH, texts_within};
use super::client_tools::command_text;

/// Fields that hold a program where its arguments stand in another one.
const PROGRAMS: &[&str] = &["program", "executable", "binary", "command", "cmd", "file", "exe"];
/// Fields that hold its arguments; where there are several, they stand behind it in this order.
const ARGUMENTS: &[&str] =
    &["flags", "switches", "args", "arguments", "argv", "parameters", "operands", "targets"];
/// Fields that hold a command line, whatever the tool is called.
const LINES: &[&str] = &[
    "shellcommand",
    "clicommand",
    "bashcommand",
    "commandline",
    "cmdline",
    "shellscript",
    "bashscript",
    "terminalcommand",
    "runcommand",
];
/// Fields that hold it in one step of several.
const OF_STEPS: &[&str] = &["run", "exec", "execute", "shell", "bash", "sh", "script"];
/// Fields that hold a command of a tool that runs some.
const COMMANDS: &[&str] = &["command", "cmd", "cli", "argv"];
/// Fields that hold several.
const LISTS: &[&str] =
    &["commands", "cmds", "commandlist", "steps", "batch", "commandlines", "shellcommands"];
/// Fields that hold what another tool is given.
const WRAPPERS: &[&str] = &[
    "input",
    "params",
    "parameters",
    "arguments",
    "options",
    "request",
    "payload",
    "calls",
    "toolcalls",
    "args",
    "invocation",
];
/// Fields that hold code.
const CODE: &[&str] = &[
    "code",
    "source",
    "sourcecode",
    "snippet",
    "script",
    "pythoncode",
    "javascript",
    "expression",
    "scriptcontent",
    "scripttext",
    "cell",
    "cellsource",
    "newsource",
    "jscode",
    "pythonscript",
    "program",
    "codeblock",
    "statement",
    "python",
    "expr",
    "codesnippet",
    "codestring",
    "codetext",
    "cellcontent",
    "js",
];
/// Fields that hold what a program reads from its input.
const STANDARD_INPUT: &[&str] = &["stdin", "standardinput", "stdindata", "stdintext"];
/// Fields that name its language.
const LANGUAGES: &[&str] =
    &["language", "lang", "runtime", "kernel", "interpreter", "languageid", "kernelname"];
/// Fields that name another machine.
const HOSTS: &[&str] =
    &["host", "hostname", "server", "machine", "target", "connection", "connectionname", "hostalias"];

/// How the program of a language is given code, by the names of the language.
const RUNNERS: &[(&[&str], &str)] = &[
    (&["ipython", "jupyter", "notebook", "cell", "colab", "ide"], "ipython -c"),
    (&["python", "python3", "py"], "python3 -c"),
    (&["javascript", "js", "node", "nodejs", "typescript", "ts", "deno", "bun"], "node -e"),
    (&["ruby", "rb", "irb"], "ruby -e"),
    (&["perl"], "perl -e"),
    (&["php"], "php -r"),
    (&["r", "rscript"], "Rscript -e"),
    (&["lua"], "lua -e"),
    (&["julia"], "julia -e"),
    (&["elixir", "iex"], "elixir -e"),
    (&["groovy"], "groovy -e"),
    (&["clojure", "clj"], "clojure -M -e"),
    (&["applescript", "osascript", "jxa"], "osascript -e"),
    (&["bash", "sh", "shell", "zsh", "terminal", "shellscript"], "bash -c"),
];
/// What follows the names of servers and tools that are called like one program and are given only its words.
const NAMESAKES: &[(&[&str], &str)] = &[
    (&["kubectl", "k8s", "kubernetes"], "kubectl"),
    (&["helm"], "helm"),
    (&["git"], "git"),
    (&["gh"], "gh"),
    (&["aws"], "aws"),
    (&["gcloud"], "gcloud"),
    (&["az"], "az"),
    (&["docker"], "docker"),
    (&["podman"], "podman"),
    (&["terraform"], "terraform"),
    (&["redis", "valkey"], "redis-cli"),
    (&["npm"], "npm"),
    (&["cargo"], "cargo"),
    (&["make"], "make"),
    (&["systemctl"], "systemctl"),
];

/// What a tool is called: its server, then the words of its name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Called<'n> {
    pub(super) server: &'n str,
    pub(super) words: &'n [String],
}

impl<'n> Called<'n> {
    fn parts(self) -> impl Iterator<Item = &'n str> {
        self.words.iter().map(String::as_str).chain(self.server.split(['-', '_']))
    }
}

/// The command lines of programs that are given with their arguments apart: `{program, args}`. Which field of several a tool reads is not
/// known, so each counts.
pub(super) fn programs(input: &Json) -> Vec<String> {
    let arguments: Vec<Vec<String>> = given_arguments(input).into_iter().filter_map(words_or_text).collect();
    let mut named = texts(input, PROGRAMS);
    if named.is_empty() {
        // What is called like a program is one, whatever its field is called.
        let others = input.as_object().into_iter().flat_map(serde_json::Map::values);
        named.extend(others.filter_map(Json::as_str).filter(|text| is_program(text)));
    }
    let together = (arguments.len() > 1).then(|| arguments.concat());
    let arguments: Vec<Vec<String>> = arguments.into_iter().chain(together).collect();
    let line = |(program, arguments): (&str, &Vec<String>)| {
        // One that is written with blanks is a command line already.
        let program =
            if program.contains(char::is_whitespace) { program.to_owned() } else { quoted(program) };
        format!("{program} {}", arguments.join(" "))
    };
    named.iter().flat_map(|program| arguments.iter().map(move |words| (*program, words))).map(line).collect()
}

/// Endings of fields that hold the arguments of a program, folded: `programArgs` is as good as `args` (ours).
const ARGUMENT_ENDINGS: &[&str] =
    &["args", "argv", "arguments", "params", "arglist", "argslist", "argumentlist"];

/// What stands in fields that hold the arguments of a program.
fn given_arguments(input: &Json) -> Vec<&Json> {
    let mut all = fields(input, ARGUMENTS);
    let is_further = |name: &str| {
        let name = folded(name);
        !ARGUMENTS.contains(&name.as_str()) && ARGUMENT_ENDINGS.iter().any(|ending| name.ends_with(ending))
    };
    let named = input.as_object().into_iter().flatten().filter(|(name, _)| is_further(name));
    all.extend(named.map(|(_, value)| value));
    all
}

/// The words of a list, each in quotes, or a text as it stands.
fn words_or_text(value: &Json) -> Option<Vec<String>> {
    match value.as_str() {
        Some(text) => (!text.trim().is_empty()).then(|| vec![text.to_owned()]),
        None => words(value),
    }
}

/// Whether a text is the name of a known program, or the path of one.
fn is_program(text: &str) -> bool {
    let name = text.rsplit('/').next().unwrap_or(text);
    !name.is_empty()
        && !name.contains(char::is_whitespace)
        && crate::catalogue::program_names().any(|known| known == name)
}

/// The texts of fields that hold a command line whatever their tool is called.
pub(super) fn lines(input: &Json) -> Vec<String> {
    fields(input, LINES).into_iter().filter_map(command_text).collect()
}

/// The texts of the fields that are called like a command.
pub(super) fn commands_alone(input: &Json) -> Vec<String> {
    fields(input, COMMANDS).into_iter().filter_map(command_text).collect()
}

/// Who is sent an object that may hold a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Recipient {
    /// A program that runs what it is told.
    RunsCommands,
    /// One of which that is not known.
    Unknown,
}

/// The commands in an object that a program is sent.
pub(super) fn commands_in_request(body: &Json, recipient: Recipient) -> Vec<String> {
    let read = |body: &Json| {
        let mut all = programs(body);
        all.extend(commands_alone(body));
        all.extend(lines(body));
        all.extend(fields(body, LISTS).into_iter().filter_map(each));
        all.retain(|text| recipient == Recipient::RunsCommands || begins_with_program(text));
        all
    };
    let mut all = read(body);
    all.extend(wrapped(body, read));
    all
}

/// Whether an input holds a command, under whatever name tools have for one.
pub(super) fn holds_command(input: &Json) -> bool {
    !lines(input).is_empty() || !commands_alone(input).is_empty() || !fields(input, OF_STEPS).is_empty()
}

/// Fields that hold words for people or for a model, and no command (ours).
const PROSE: &[&str] = &[
    "prompt",
    "description",
    "explanation",
    "reason",
    "title",
    "summary",
    "message",
    "goal",
    "purpose",
    "instruction",
    "instructions",
    "label",
    "comment",
    "note",
    "notes",
    "task",
];
/// How long a text may be that is looked at for a program at its beginning, in bytes (ours); a command is shorter.
const LONGEST: usize = 64 * 1024;

/// The texts of a tool that runs something which begin like a command and stand where no name says so: which of its fields it runs is not
/// known. `known` are those that were read already.
pub(super) fn further_lines(input: &Json, known: &[String]) -> Vec<String> {
    let is_other = |names: &[&str], name: &str| !names.iter().any(|known| is_same_name(known, name));
    // What a program reads is followed with it.
    let followed: &[&str] = if known.is_empty() { &[] } else { STANDARD_INPUT };
    let is_meant =
        |name: &str| [PROSE, CODE, LANGUAGES, followed].into_iter().all(|names| is_other(names, name));
    let is_new = |text: &&str| {
        text.len() <= LONGEST && !known.iter().any(|known| known.contains(*text)) && is_command(text)
    };
    texts_within(input, &is_meant).into_iter().filter(is_new).map(str::to_owned).collect()
}

/// Whether a text begins with a program that is known, and reads like its words.
pub(super) fn is_command(text: &str) -> bool {
    let text = text.trim_start_matches(['(', '{', '!', ' ', '\t', '\n']);
    let first = text.split([';', '|', '&', '\n', ')', '`', '}']).next().unwrap_or_default();
    reads_as_shell(text) && begins_with_program(first)
}

/// The command line of a tool that asks Amazon's services by their names (`use_aws` of Kiro): service, operation, and parameters as options.
pub(super) fn aws(input: &Json) -> Option<String> {
    let mut line = vec!["aws".to_owned()];
    for names in [&["servicename", "service"], &["operationname", "operation"]] {
        line.push(quoted(&in_options(text(input, names)?)));
    }
    for (option, names) in [("--region", ["region"]), ("--profile", ["profilename"])] {
        if let Some(value) = text(input, &names) {
            line.extend([option.to_owned(), quoted(value)]);
        }
    }
    for (name, value) in
        field(input, &["parameters", "params"]).and_then(Json::as_object).into_iter().flatten()
    {
        let option = format!("--{}", in_options(name));
        match value {
            Json::Bool(false) | Json::Null => {}
            Json::Bool(true) => line.push(option),
            Json::String(text) => line.extend([option, quoted(text)]),
            Json::Array(items) if items.iter().all(Json::is_string) => {
                line.push(option);
                line.extend(items.iter().filter_map(Json::as_str).map(quoted));
            }
            Json::Number(_) | Json::Array(_) | Json::Object(_) => {
                line.extend([option, quoted(&value.to_string())]);
            }
        }
    }
    Some(line.join(" "))
}

/// A name as the options of a command line are written: `BucketName` and `bucket_name` are `bucket-name`.
fn in_options(name: &str) -> String {
    let mut written = String::with_capacity(name.len());
    let mut was_small = false;
    for letter in name.trim_start_matches('-').chars() {
        if letter.is_ascii_uppercase() && was_small {
            written.push('-');
        }
        was_small = letter.is_ascii_lowercase() || letter.is_ascii_digit();
        written.push(if letter == '_' { '-' } else { letter.to_ascii_lowercase() });
    }
    written
}

/// Words of the shell behind which a command stands.
const LEADING: &[&str] = &["do", "then", "else", "elif", "if", "while", "until", "time", "!", "{"];

/// Whether a part of a text begins with a program that is known, and words behind it: words for anybody else begin otherwise.
pub(crate) fn begins_with_program(text: &str) -> bool {
    let parts = text.split([';', '|', '&', '\n', '(', ')', '`', '{', '}']);
    parts.into_iter().any(|part| {
        let mut words =
            part.split_whitespace().skip_while(|word| word.contains('=') || LEADING.contains(word));
        let Some(first) = words.next() else { return false };
        let first = first.trim_matches(['\'', '"', '\\']);
        let name = first.rsplit('/').next().unwrap_or(first);
        words.next().is_some()
            && (is_built_in(name) || crate::catalogue::program_names().any(|known| known == name))
    })
}

/// The shell texts of a tool that runs commands: one, several, or the words of one program.
pub(super) fn commands(input: &Json, called: Called<'_>) -> Vec<String> {
    if let Some(text) = container(input, called) {
        return vec![text];
    }
    let arguments = fields(input, ARGUMENTS);
    let lists: Vec<Vec<String>> = arguments.iter().copied().filter_map(words).collect();
    // Arguments that are one text stand behind it.
    let behind: Vec<&str> = arguments.iter().filter_map(|given| given.as_str()).collect();
    // A program with its arguments in a list is read by `programs`.
    let is_alone = |value: &&Json| lists.is_empty() || !value.is_string();
    let mut all = lines(input);
    all.extend(fields(input, COMMANDS).into_iter().filter(is_alone).filter_map(command_text));
    for text in &mut all {
        for arguments in &behind {
            text.push(' ');
            text.push_str(arguments);
        }
    }
    all.extend(fields(input, LISTS).into_iter().filter_map(each));
    // Words that stand alone are a command, or those of the program that the tool is called like.
    let stand_alone = all.is_empty() && texts(input, PROGRAMS).is_empty();
    if stand_alone || namesake(called).is_some() {
        all.extend(lists.iter().map(|words| words.join(" ")));
    }
    let host = texts(input, HOSTS).into_iter().next();
    let host = host.filter(|_| called.parts().any(|part| part == "ssh" || part == "remote"));
    let given: Vec<String> = fields(input, STANDARD_INPUT)
        .into_iter()
        .filter_map(|given| {
            given.as_array().map_or_else(|| given.as_str().map(str::to_owned), |lines| lines_of_cell(lines))
        })
        .collect();
    let given = given.join("\n");
    let whole = |text: String| {
        let text = with_input(of_namesake(text, called), &given);
        match host {
            Some(host) => format!("ssh {} {}", quoted(host), quoted(&text)),
            None => text,
        }
    };
    all.into_iter().map(whole).collect()
}

/// A command that reads a text from its input.
fn with_input(command: String, text: &str) -> String {
    if text.is_empty() { command } else { format!("{{ {command}\n}} <<< {}", quoted(text)) }
}

/// What stands in the fields that hold the input of another tool, read by `read`.
pub(super) fn wrapped(input: &Json, read: impl Fn(&Json) -> Vec<String> + Copy) -> Option<String> {
    let all = wrapped_within(input, read, DEPTH);
    (!all.is_empty()).then(|| all.join("\n"))
}

fn wrapped_within(input: &Json, read: impl Fn(&Json) -> Vec<String> + Copy, depth: usize) -> Vec<String> {
    let Some(depth) = depth.checked_sub(1) else { return Vec::new() };
    let inner = fields(input, WRAPPERS).into_iter().flat_map(|value| match value {
        Json::Array(items) => items.iter().collect(),
        other => vec![other],
    });
    inner
        .filter(|value| value.is_object())
        .flat_map(|value| {
            let mut own = read(value);
            own.extend(wrapped_within(value, read, depth));
            own
        })
        .collect()
}

/// The command lines that would run the code of a tool. Where nothing names the language, it is read in both that tools run most.
pub(super) fn codes(input: &Json, called: Called<'_>) -> Vec<String> {
    let runner = |name: &str| {
        let name = name.to_ascii_lowercase();
        RUNNERS.iter().find(|(names, _)| names.contains(&name.as_str())).map(|(_, runner)| *runner)
    };
    let told = texts(input, LANGUAGES).into_iter().find_map(runner);
    let spoken = told.or_else(|| called.parts().find_map(runner));
    let is_program = fields(input, ARGUMENTS).into_iter().any(Json::is_array);
    let names: Vec<&str> =
        CODE.iter().copied().filter(|name| !is_program || !PROGRAMS.contains(name)).collect();
    let line = |text: &str| {
        let code = quoted(text);
        match spoken {
            // A server that is called like a shell runs other code as well.
            Some(runner) if told.is_none() && runner.starts_with("bash") && !reads_as_shell(text) => {
                format!("{runner} {code}; python3 -c {code}; node -e {code}")
            }
            Some(runner) => format!("{runner} {code}"),
            // What begins so is IPython.
            None if text.trim_start().starts_with(['!', '%']) => format!("ipython -c {code}"),
            None if reads_as_shell(text) => format!("bash -c {code}"),
            None => format!("python3 -c {code}; node -e {code}"),
        }
    };
    // Notebooks keep the lines of a cell in a list.
    let lists = fields(input, &names).into_iter().filter_map(Json::as_array);
    let lists: Vec<String> = lists.filter_map(|lines| lines_of_cell(lines)).collect();
    texts(input, &names).into_iter().map(line).chain(lists.iter().map(|text| line(text))).collect()
}

/// The text that the lines of a cell come to, whether or not they hold their own ends.
fn lines_of_cell(lines: &[Json]) -> Option<String> {
    let lines: Vec<&str> = lines.iter().map(Json::as_str).collect::<Option<_>>()?;
    let between = if lines.iter().any(|line| line.ends_with('\n')) { "" } else { "\n" };
    Some(lines.join(between)).filter(|text| !text.trim().is_empty())
}

/// Words with which lines of programming languages begin that could be taken for a command and its arguments (ours: keywords of Python,
/// JavaScript, Ruby, Rust, Go, C# and R).
const KEYWORDS: &[&str] = &[
    "import",
    "from",
    "def",
    "class",
    "for",
    "while",
    "if",
    "with",
    "print",
    "const",
    "let",
    "var",
    "function",
    "return",
    "async",
    "await",
    "try",
    "raise",
    "del",
    "lambda",
    "global",
    "nonlocal",
    "assert",
    "pass",
    "export",
    "new",
    "throw",
    "switch",
    "using",
    "package",
    "use",
    "fn",
    "pub",
    "struct",
    "enum",
    "type",
    "interface",
    "yield",
    "match",
    "case",
    "select",
    "library",
    "puts",
    "require",
    "local",
    "do",
    "end",
    "not",
    "void",
    "typeof",
    "delete",
    "static",
    "public",
    "private",
];

/// Whether a text whose language nobody names begins like a command of a shell: a word, blanks, and what is no operator behind it.
fn reads_as_shell(text: &str) -> bool {
    if text.trim_start().starts_with("#!") {
        let first = text.trim_start().lines().next().unwrap_or_default();
        return ["/sh", "bash", "zsh", "dash"].iter().any(|shell| first.trim_end().ends_with(shell));
    }
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let Some((word, rest)) = lines.next().and_then(|line| line.split_once(char::is_whitespace)) else {
        return false;
    };
    let is_name = word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '~'));
    let rest = rest.trim_start();
    let is_operator = rest.starts_with(['=', '+', '*', '%', '<', '>', '(', ',', ':', '?', '.'])
        && !rest.starts_with("./")
        && !rest.starts_with("../");
    let is_word_operator =
        ["in ", "is ", "and ", "or ", "as ", "=> "].iter().any(|word| rest.starts_with(word));
    is_name && !KEYWORDS.contains(&word) && !is_operator && !is_word_operator
}

/// Whether a name says that its tool runs code of a language.
pub(super) fn names_language(called: Called<'_>) -> bool {
    called
        .words
        .iter()
        .any(|word| word.len() > 2 && RUNNERS.iter().any(|(names, _)| names.contains(&word.as_str())))
}

/// The first field of an object that has one of the names.
fn field<'a>(input: &'a Json, names: &[&str]) -> Option<&'a Json> {
    fields(input, names).into_iter().next()
}

/// All fields of an object that have one of the names, in the order of these.
fn fields<'a>(input: &'a Json, names: &[&str]) -> Vec<&'a Json> {
    let Some(given) = input.as_object() else { return Vec::new() };
    let of_name = |wanted: &&str| {
        let wanted = (*wanted).to_owned();
        given.iter().filter(move |(name, _)| folded(name) == wanted).map(|(_, value)| value)
    };
    names.iter().flat_map(of_name).collect()
}

/// The first text that stands under one of the names.
fn text<'a>(input: &'a Json, names: &[&str]) -> Option<&'a str> {
    texts(input, names).into_iter().next()
}

/// All texts that stand under one of the names.
fn texts<'a>(input: &'a Json, names: &[&str]) -> Vec<&'a str> {
    let all = fields(input, names).into_iter().filter_map(Json::as_str);
    all.filter(|text| !text.trim().is_empty()).collect()
}

/// The words of a list, each in quotes.
fn words(value: &Json) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|word| word.as_str().map(quoted)).collect()
}

/// Each item of a list as a command, one a line. A list with an option in it holds the words of one.
pub(super) fn each(value: &Json) -> Option<String> {
    let Json::Array(items) = value else { return command_text(value) };
    if items.iter().skip(1).filter_map(Json::as_str).any(|word| word.starts_with('-')) {
        return command_text(value);
    }
    let of_step = |item: &Json| match item {
        Json::String(text) => Some(text.clone()),
        Json::Object(_) => {
            let given = programs(item).into_iter().chain(lines(item));
            let given = given.chain(commands_alone(item));
            let given = given.chain(fields(item, OF_STEPS).into_iter().filter_map(command_text));
            Some(given.collect::<Vec<_>>().join("\n")).filter(|text| !text.is_empty())
        }
        other => command_text(other),
    };
    let commands: Vec<String> = items.iter().filter_map(of_step).collect();
    (!commands.is_empty()).then(|| commands.join("\n"))
}

/// Fields that hold the words of a program after which a tool is called, in the order in which they stand behind it.
const WORDS: &[&str] =
    &["service", "command", "cmd", "subcommand", "operation", "verb", "resourcetype", "resource", "name"];
/// What may stand behind the program in the name of such a tool.
const BARE: &[&str] = &["generic", "run", "exec", "execute", "command", "cli"];

/// The command line of a tool that is called after one program and is given its words, together or apart.
pub(super) fn of_program_by_name(called: Called<'_>, input: &Json) -> Option<String> {
    let (first, rest) = called.words.split_first()?;
    let (_, program) = NAMESAKES.iter().find(|(names, _)| names.contains(&first.as_str()))?;
    if !rest.iter().all(|word| BARE.contains(&word.as_str())) {
        return None;
    }
    let mut line: Vec<String> = texts(input, WORDS).into_iter().map(str::to_owned).collect();
    for arguments in fields(input, ARGUMENTS) {
        line.extend(words(arguments).unwrap_or_default());
        line.extend(arguments.as_str().map(str::to_owned));
    }
    (!line.is_empty()).then(|| of_namesake(line.join(" "), Called { server: program, words: &[] }))
}

/// The command line of a tool that sets a value of git, by its key.
pub(super) fn setting_of_git(called: Called<'_>, input: &Json) -> Option<String> {
    let is_named = |name: &str| called.parts().any(|part| part == name);
    let (key, value) = (text(input, &["key", "name", "setting", "option"])?, text(input, &["value"])?);
    (is_named("git") && is_named("config")).then(|| format!("git config {} {}", quoted(key), quoted(value)))
}

/// The command lines of the servers in settings that stand within an input: an agent that is given them starts them at once (`config` of the
/// tool `codex` of Codex' own server).
pub(super) fn servers(input: &Json) -> Vec<String> {
    fn within(value: &Json, depth: usize, all: &mut Vec<String>) {
        let Some(depth) = depth.checked_sub(1) else { return };
        match value {
            Json::Object(given) => {
                for (name, value) in given {
                    if is_same_name(name.trim_start_matches('.'), "mcpservers") {
                        for server in value.as_object().into_iter().flat_map(serde_json::Map::values) {
                            all.extend(programs(server));
                            all.extend(commands_alone(server));
                        }
                    } else {
                        within(value, depth, all);
                    }
                }
            }
            Json::Array(items) => items.iter().for_each(|item| within(item, depth, all)),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
        }
    }
    let mut all = Vec::new();
    within(input, DEPTH, &mut all);
    all
}

/// The command line of an agent that a tool starts with leave to do everything (`codex` of Codex' own server).
pub(super) fn unasked_agent(input: &Json) -> Option<&'static str> {
    let is_never = text(input, &["approvalpolicy"]) == Some("never");
    let is_open = text(input, &["sandbox", "sandboxmode"]) == Some("danger-full-access");
    (is_never && is_open).then_some("codex exec --dangerously-bypass-approvals-and-sandbox x")
}

/// The program that a tool is called like.
fn namesake(called: Called<'_>) -> Option<&'static str> {
    let known = NAMESAKES.iter().find(|(names, _)| called.parts().any(|part| names.contains(&part)));
    known.map(|(_, program)| *program)
}

/// The words of a program in front of which its name is missing, since the tool is called like it.
fn of_namesake(text: String, called: Called<'_>) -> String {
    let Some(program) = namesake(called) else { return text };
    let first = text.split_whitespace().next().unwrap_or_default().trim_matches(['\'', '"']);
    let base = first.rsplit('/').next().unwrap_or(first);
    // Where it stands, or a shell is meant, nothing is missing.
    let is_shell_text = matches!(base, "sh" | "bash" | "cd" | "echo" | "cat" | "ls" | "rm" | "env" | "sudo");
    let is_listed = NAMESAKES.iter().any(|(_, known)| *known == base);
    if is_listed || is_shell_text { text } else { format!("{program} {text}") }
}

/// The command line of a tool that runs a container: its image, what of the machine it mounts, and its command.
fn container(input: &Json, called: Called<'_>) -> Option<String> {
    if !called.parts().any(|part| matches!(part, "docker" | "podman" | "container" | "containers")) {
        return None;
    }
    let image = text(input, &["image", "imagename"])?;
    let mut line = "docker run".to_owned();
    match field(input, &["volumes", "binds", "mounts"]) {
        Some(Json::Array(items)) => {
            for item in items {
                let mount = match item {
                    Json::String(mount) => mount.clone(),
                    other => format!(
                        "{}:{}",
                        text(other, &["source", "host", "hostpath", "src"])?,
                        text(other, &["target", "container", "containerpath", "destination", "dst"])?
                    ),
                };
                line.extend([" -v ".to_owned(), quoted(&mount)]);
            }
        }
        Some(Json::Object(fields)) => {
            for (from, to) in fields {
                let to =
                    to.as_str().or_else(|| text(to, &["bind", "target", "destination"])).unwrap_or("/mnt");
                line.extend([" -v ".to_owned(), quoted(&format!("{from}:{to}"))]);
            }
        }
        Some(Json::String(mount)) => line.extend([" -v ".to_owned(), quoted(mount)]),
        Some(Json::Null | Json::Bool(_) | Json::Number(_)) | None => {}
    }
    if field(input, &["privileged"]).and_then(Json::as_bool) == Some(true) {
        line.push_str(" --privileged");
    }
    line.extend([" ".to_owned(), quoted(image)]);
    if let Some(command) = field(input, COMMANDS).and_then(command_text) {
        line.extend([" ", command.as_str()]);
    }
    Some(line)
}
