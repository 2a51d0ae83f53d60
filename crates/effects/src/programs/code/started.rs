//! Programs that code starts: the standard input, the environment and the working directory that it hands them, and what it writes to them
//! later.

use crate::interpreter::process_lists::ListedProcesses;
use crate::interpreter::{Exit, Input, Machine, Output, Value};

use super::call_effects::own_process;
use super::environment::CodeEnvironment;
use super::evaluator::{Evaluator, Given};
use super::expressions::formatted;
use super::library_calls::LibraryCall;
use super::maps;
use super::value::ScriptValue;
use checkrein_scripts::Language;

/// The greatest number of programs that are written to (ours).
const WRITTEN_TO: usize = 32;

/// Functions that start a program whose output is not theirs to read: os and subprocess of Python 3.13, perlfunc, Kernel of Ruby 3.3, the
/// manual of PHP 8 ("Program execution Functions").
const SHOWING: &[&str] = &[
    "os.system",
    "subprocess.call",
    "subprocess.check_call",
    "system",
    "Kernel.system",
    "Kernel.exec",
    "exec",
    "passthru",
];

/// What a program is handed when it is started.
#[derive(Debug, Clone, Default)]
pub(super) struct Handed {
    /// What it reads; the input of the code itself when nothing is said.
    input: Option<Input>,
    /// The channel that it reads, of which is not known yet what is written to it.
    channel: Option<usize>,
    directory: Option<Value>,
    /// The program in the place of the first word, which is only its name then.
    executable: Option<Value>,
    /// An environment in the place of the one of the code, or changes of it.
    environment: CodeEnvironment,
    /// Whether what it prints goes where the output of the code goes, and not to the code.
    is_shown: bool,
}

/// What is started.
#[derive(Debug, Clone)]
pub(super) enum Started {
    /// Nothing yet: a channel from which a program may read.
    Nothing,
    /// Text for a shell.
    Text(Value),
    /// A program with its words.
    Words(Vec<Value>),
}

/// A program that goes on while the code does.
#[derive(Debug, Clone)]
pub(super) struct RunningProgram {
    started: Started,
    handed: Handed,
    /// What was written to it so far.
    written: Option<ScriptValue>,
    /// What it prints.
    output: ScriptValue,
    is_doubtful: bool,
}

impl Handed {
    fn take(&mut self, value: &ScriptValue) {
        if let ScriptValue::Process(process) = value {
            self.channel = Some(*process);
        }
    }
}

/// How many steps of the code the start of a program counts as (ours).
const START: usize = 240;

impl Evaluator<'_, '_, '_> {
    /// What a function that is known gives, after its effects.
    pub(super) fn perform(&mut self, deed: LibraryCall, name: &str, given: &Given) -> ScriptValue {
        self.note_environment(name, given);
        if let Some(answer) = self.through_channels(name, given) {
            return answer;
        }
        if self.language == Language::Python
            && let Some(answer) = self.through_kept(name, given)
        {
            return answer;
        }
        if let ("Object.entries", Some(entries)) = (name, maps::listed(&given.at(0), "entries")) {
            return entries;
        }
        if self.language == Language::Perl
            && let Some(process) = self.handle_given(name, given)
        {
            let texts = given.positional.iter().filter(|thing| !matches!(thing, ScriptValue::Process(_)));
            let texts: Vec<ScriptValue> = texts.cloned().collect();
            if let ("printf", Some((format, values))) = (name, texts.split_first()) {
                self.feed(process, &formatted(format, &ScriptValue::List(values.to_vec())));
            } else {
                for text in &texts {
                    self.feed(process, text);
                }
            }
            return ScriptValue::Text(Value::Unknown);
        }
        if matches!(deed, LibraryCall::Print | LibraryCall::PrintPlain)
            && let Some(ScriptValue::Process(process)) = given.named("file")
        {
            let process = *process;
            for text in &given.positional {
                self.feed(process, &text.followed_by(&ScriptValue::text("\n")));
            }
            return ScriptValue::Text(Value::Unknown);
        }
        if !matches!(
            deed,
            LibraryCall::Shell
                | LibraryCall::Run
                | LibraryCall::Program
                | LibraryCall::Execute
                | LibraryCall::ExecuteRest
                | LibraryCall::Terminal
                | LibraryCall::Pipe
        ) {
            return self.perform_plain(deed, name, given);
        }
        let handed = Handed { is_shown: SHOWING.contains(&name), ..self.handed_by(name, given) };
        let outer = std::mem::replace(&mut self.handed, handed.clone());
        self.last_started = None;
        let output = self.perform_plain(deed, name, given);
        self.handed = outer;
        let started = self.last_started.take();
        if self.language == Language::Ruby && matches!(name, "spawn" | "Process.spawn") {
            return own_process();
        }
        match started.filter(|_| self.goes_on(deed, name, given)) {
            Some(started) => {
                let process = self.running(started, handed, output);
                // `open2(my $out, my $in, "sh")`
                for thing in given.positional.iter().filter(|_| deed == LibraryCall::Pipe) {
                    if let ScriptValue::Name(name) = thing {
                        self.put(name, process.clone());
                    }
                }
                // `proc_open("sh", [...], $pipes)`
                if let ("proc_open", ScriptValue::Process(place)) = (name, &process) {
                    self.selected = Some(*place);
                }
                self.given_by_start(name, process, given)
            }
            None => self.given_by_start(name, output, given),
        }
    }

    /// Starts a program with what it is handed.
    pub(super) fn start(&mut self, started: &Started) -> Exit {
        if !self.works(START) {
            return Exit::unknown();
        }
        self.last_started = Some(started.clone());
        let handed = self.handed.clone();
        let channel = handed.channel.or(self.redirected);
        let is_doubtful = self.doubt > 0;
        if let Some(running) = channel.and_then(|place| self.processes.get_mut(place)) {
            running.started = started.clone();
            running.is_doubtful |= is_doubtful;
        }
        self.start_with(started, handed)
    }

    fn start_with(&mut self, started: &Started, handed: Handed) -> Exit {
        let Handed { input, channel: _, directory, executable, environment, is_shown } = handed;
        let input = input.unwrap_or(Input::Inherited);
        let environment = self.environment.clone().followed_by(environment);
        let begin = |machine: &mut Machine<'_>| match started {
            Started::Nothing => Exit::unknown(),
            Started::Text(text) => machine.run_text(text, input),
            Started::Words(words) => {
                let mut words = words.clone();
                if let (Some(first), Some(program)) = (words.first_mut(), executable) {
                    *first = program;
                }
                machine.run_words(&words, input)
            }
        };
        // What is not known of the words may be the numbers of processes that were listed before.
        let counted = self.counts.then_some(ListedProcesses::Counted);
        let list = self.processes_listed.clone().or(counted).map(|list| list.output());
        let run = |machine: &mut Machine<'_>| match &list {
            Some(list) => machine.with_words_from(list, begin),
            None => begin(machine),
        };
        let at_place = |machine: &mut Machine<'_>| match &directory {
            Some(directory) => machine.inside(directory, run),
            None => run(machine),
        };
        let here = |machine: &mut Machine<'_>| environment.around(machine, at_place);
        let exit = self.act(|machine| if is_shown { here(machine) } else { machine.told_to_program(here) });
        if let Output::Text(text) = &exit.output {
            self.machine.note_guard_found(text);
        }
        self.machine.take_in_lists(&exit.output);
        self.processes_listed = ListedProcesses::of(&exit.output).or(self.processes_listed.take());
        exit
    }

    /// A value that stands for a program which was started and reads what is written to it.
    pub(super) fn running(&mut self, started: Started, handed: Handed, output: ScriptValue) -> ScriptValue {
        if self.processes.len() >= WRITTEN_TO {
            return output;
        }
        let is_doubtful = self.doubt > 0;
        self.processes.push(RunningProgram { started, handed, written: None, output, is_doubtful });
        ScriptValue::Process(self.processes.len() - 1)
    }

    /// The program that was started last, as one that is written to.
    pub(super) fn running_last(&mut self, output: ScriptValue) -> ScriptValue {
        match self.last_started.take() {
            Some(started) => self.running(started, self.handed.clone(), output),
            None => output,
        }
    }

    /// Whether the code goes on beside what it starts, and may write to it.
    fn goes_on(&self, deed: LibraryCall, name: &str, given: &Given) -> bool {
        let writes = || {
            let mode = given.positional.get(1).or_else(|| given.named("mode"));
            mode.is_some_and(|mode| mode.exact().is_none_or(|mode| mode.contains(['w', '+', 'a'])))
        };
        deed == LibraryCall::Pipe
            || match self.language {
                Language::Python if matches!(name, "os.popen" | "posix.popen") => writes(),
                Language::Python => {
                    name == "subprocess.Popen"
                        || name.starts_with("asyncio.create_subprocess")
                        || name == "pexpect.spawn"
                }
                Language::JavaScript => {
                    matches!(
                        name,
                        "child_process.spawn"
                            | "child_process.exec"
                            | "child_process.execFile"
                            | "execa"
                            | "execa.execa"
                            | "cross-spawn"
                            | "Bun.spawn"
                    )
                }
                Language::Ruby => {
                    name.contains(".popen") && (name.starts_with("Open3") || writes())
                        || name.starts_with("PTY.")
                }
                Language::Php => name == "proc_open" || name == "popen" && writes(),
                Language::Lua => name == "io.popen" && writes(),
                Language::Perl | Language::R => false,
            }
    }

    /// The handle of a program that a function of Perl prints to.
    fn handle_given(&self, name: &str, given: &Given) -> Option<usize> {
        match given.positional.first() {
            Some(ScriptValue::Process(process))
                if matches!(name, "print" | "printf" | "say" | "syswrite") =>
            {
                Some(*process)
            }
            // A handle that was handed over by its glob: `open2(\*OUT, \*IN, "sh"); print IN "text"`.
            Some(ScriptValue::Text(_))
                if name.chars().all(|letter| letter.is_ascii_uppercase())
                    && !matches!(name, "STDOUT" | "STDERR" | "STDIN" | "BEGIN" | "END") =>
            {
                self.processes.len().checked_sub(1)
            }
            _ => None,
        }
    }

    /// What a call hands to the program that it starts.
    fn handed_by(&mut self, name: &str, given: &Given) -> Handed {
        let mut handed = Handed::default();
        for stream in ["stdin", "input", "stdin_data", "in"] {
            if let Some(value) = given.named(stream).cloned() {
                handed.take(&value);
                handed.input = self.input_of(&value).or(handed.input);
            }
        }
        // `{stdio: [input, "inherit", "inherit"]}`
        if let Some(ScriptValue::List(streams)) = given.named("stdio").cloned()
            && let Some(value) = streams.first()
        {
            handed.take(value);
            handed.input = self.input_of(value).or(handed.input);
        }
        // One that is not known is where most others are, too.
        let by_place = if name == "proc_open" { given.positional.get(3) } else { None };
        handed.directory = ["cwd", "chdir"]
            .iter()
            .find_map(|name| given.named(name))
            .or(by_place)
            .map(ScriptValue::value)
            .filter(|directory| directory.as_exact().is_some());
        // `subprocess.run(["ls"], executable="/bin/rm")` (subprocess of Python 3.13, "Popen Constructor").
        let by_place = if name == "subprocess.Popen" { given.positional.get(2) } else { None };
        handed.executable = given
            .named("executable")
            .or(by_place)
            .map(ScriptValue::value)
            .filter(|program| self.language == Language::Python && program.as_exact().is_some());
        handed.environment = self.environment_given(name, given);
        handed
    }

    /// What a program reads that is handed a value; `None` when it reads what the code itself does, or waits.
    fn input_of(&mut self, value: &ScriptValue) -> Option<Input> {
        Some(match value {
            ScriptValue::Text(Value::Unknown) => Input::Unknown,
            ScriptValue::Text(text) => Input::Text(text.clone()),
            ScriptValue::Network(url) => Input::Network(url.clone()),
            ScriptValue::Secret(place, _) => Input::Secret(place.clone()),
            ScriptValue::File(file) => self.machine.peek(file).into_input(),
            ScriptValue::Process(process) => {
                let output = self.processes.get(*process)?.output.clone();
                return self.input_of(&output);
            }
            ScriptValue::Name(name) if name == "sys.stdin" => self.call.input.clone(),
            // `PIPE`, `DEVNULL`, `"inherit"`, `None`
            ScriptValue::Name(_) | ScriptValue::Local => return None,
            ScriptValue::Number(number) if self.is_python_flag(*number) => return None,
            _ => Input::Unknown,
        })
    }

    /// `subprocess.PIPE` is -1, `DEVNULL` -3.
    fn is_python_flag(&self, number: i64) -> bool {
        self.language == Language::Python && number < 0
    }

    /// Writes a value to a program that runs.
    pub(super) fn feed(&mut self, process: usize, value: &ScriptValue) {
        let is_doubtful = self.doubt > 0;
        if let Some(running) = self.processes.get_mut(process) {
            let text = match value {
                ScriptValue::List(items) => {
                    items.iter().fold(ScriptValue::text(""), |text, item| text.followed_by(item))
                }
                other => other.clone(),
            };
            running.is_doubtful |= is_doubtful;
            running.written = Some(match running.written.take() {
                Some(written) => written.followed_by(&text),
                None => text,
            });
        }
    }

    /// Calls a method of a program that runs.
    pub(super) fn process_method(&mut self, process: usize, name: &str, given: &Given) -> ScriptValue {
        match name {
            "write" | "end" | "communicate" | "send" | "writelines" | "syswrite" | "print" | "printf"
            | "<<" | "write_nonblock" => {
                for value in given.positional.iter().chain(given.named("input")) {
                    if !matches!(value, ScriptValue::Function(_) | ScriptValue::Map(_)) {
                        self.feed(process, value);
                    }
                }
            }
            "puts" | "sendline" | "putline" | "say" => {
                for value in &given.positional {
                    self.feed(process, &value.followed_by(&ScriptValue::text("\n")));
                }
            }
            "read" | "gets" | "readline" | "each_line" | "readlines" => {
                if let Some(running) = self.processes.get(process) {
                    return running.output.clone();
                }
            }
            _ => {}
        }
        match (name, self.processes.get(process)) {
            ("communicate", Some(running)) => {
                ScriptValue::List(vec![running.output.clone(), ScriptValue::Text(Value::Unknown)])
            }
            _ => ScriptValue::Text(Value::Unknown),
        }
    }

    /// A member of a program that runs: its standard streams.
    pub(super) fn member_of_process(&self, process: usize, member: &str) -> ScriptValue {
        let whole = ScriptValue::Process(process);
        match (member, self.processes.get(process)) {
            ("stdin", _) => whole,
            ("stdout" | "stderr", Some(running)) => running.output.clone(),
            _ => ScriptValue::Method(Box::new(whole), member.to_owned()),
        }
    }

    /// Lets the programs read what was written to them.
    pub(super) fn run_what_was_fed(&mut self) {
        for running in std::mem::take(&mut self.processes) {
            let Some(written) = running.written else { continue };
            if matches!(running.started, Started::Nothing) {
                continue;
            }
            let input = self.input_of(&written).unwrap_or(Input::Unknown);
            let handed = Handed { input: Some(input), ..running.handed };
            if running.is_doubtful {
                self.in_doubt(|follower| follower.start_with(&running.started, handed));
            } else {
                self.start_with(&running.started, handed);
            }
        }
    }
}
