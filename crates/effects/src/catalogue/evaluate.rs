//! What an entry says about one call.

use super::entry_of;
use super::words::{Options, Stop, Until, sort};
use crate::effect::{Certainty, Depth, Effect, EffectKind, Target};
use crate::interpreter::builtins::assignment;
use crate::interpreter::machine::Absence;
use crate::interpreter::{
    AimedTarget, Arguments, Call, Draft, Exit, Inheritance, Input, Machine, Output, Status, Value,
};
use crate::nature::Nature;
use crate::programs::{self, sites, store_place};
use crate::world::Entry;
use checkrein_catalogue::{
    Answers, CommandSource, Condition, Conditions, EffectClause, Grammar, NameList, OtherOptions, Pick,
    Program, Run, RunContext, Shows, StandardInputRunner, Times, UnknownSubcommand, WordSelection, Writes,
};
use checkrein_glob::{Glob, Style};

/// Carries out one call of a program: sorts its words, finds the subcommand, and lets the effects happen.
pub(crate) fn run(machine: &mut Machine<'_>, program: &Program, mut call: Call) -> Exit {
    call.arguments = Arguments::default();
    programs::words_of_variables(machine, &mut call);
    let options = Options::of(program, None);
    if programs::switches_checks_off(&call.program) {
        programs::unchecked_connections(machine, &call);
    }
    if programs::prints_secrets(&call.program) {
        let (before, asked) = (machine.effect_count(), call.clone());
        let exit = run_at_its_place(machine, program, &options, call);
        return programs::printed_secrets(machine, &asked, before, exit);
    }
    run_at_its_place(machine, program, &options, call)
}

/// Carries out a call, and says of its effects on stores and sites where they are.
fn run_at_its_place(machine: &mut Machine<'_>, program: &Program, options: &Options<'_>, call: Call) -> Exit {
    let names_sites = sites::is_told_by(&call.program);
    if program.store.is_none() && !names_sites {
        return descend(machine, program, options, 0, call);
    }
    let (words, name) = (call.words.clone(), call.program.clone());
    machine.apart(
        |machine| descend(machine, program, options, 0, call),
        |machine, before| {
            if let Some(default) = program.store {
                store_place::locate(machine, before, &name, &words, default);
            }
            if names_sites {
                sites::mark(machine, before, &name, &words);
            }
        },
    )
}

/// Sorts the words from `from` on, which belong to `program`; those before it are sorted already.
fn descend(
    machine: &mut Machine<'_>,
    program: &Program,
    options: &Options<'_>,
    from: usize,
    mut call: Call,
) -> Exit {
    if options.grammar != Grammar::Raw && asks_for_help(call.words.get(from..).unwrap_or_default()) {
        return Exit::unknown();
    }
    if program.subcommands.is_empty() {
        sort(&call.words, from, options, Until::End, &mut call.arguments);
        if program.other_options == OtherOptions::Refused && options.lack_one_of(&call.arguments) {
            let exit = machine.if_it_succeeds(|machine| evaluate(machine, program, &call));
            return Exit { status: Status::Unknown, ..exit };
        }
        return evaluate(machine, program, &call);
    }
    let before = call.arguments.clone();
    let stop = sort(&call.words, from, options, Until::Operand, &mut call.arguments);
    let Stop::Operand(index) = stop else { return evaluate(machine, program, &call) };
    let word = call.words.get(index).cloned().unwrap_or(Value::Unknown);
    let Some(texts) = word.alternatives().map(<[String]>::to_vec) else {
        machine.opaque(format!("the subcommand of `{}` is not known", call.program));
        return Exit::unknown();
    };
    let one = |machine: &mut Machine<'_>, text: &str| {
        let sub = program.subcommands.iter().find(|sub| sub.names.contains(text));
        if let Some(sub) = sub.and_then(|sub| entry_of(&sub.entry)) {
            let sub = &*sub;
            let mut call = call.clone();
            call.program = format!("{} {text}", call.program);
            let cause = call.program.clone();
            return machine.caused_by(&cause, |machine| {
                descend(machine, sub, &Options::of(sub, Some(options)), index + 1, call)
            });
        }
        // The name of a site stands in front of the subcommand: `drush @live sql:drop`, `wp @live db reset`.
        if text.starts_with('@') {
            return descend(machine, program, options, index + 1, call.clone());
        }
        match program.unknown {
            UnknownSubcommand::Quiet => {
                programs::tasks(machine, &call);
                programs::loaded(machine, &call);
                programs::lasting_variables(machine, &call);
                programs::own_languages(machine, &call);
                programs::handed_input(machine, &call);
                programs::unauthenticated_listeners(machine, &call);
                programs::package_sources(machine, program, &call, machine.effect_count());
                programs::handed_over(machine, &call, machine.effect_count());
                Exit::unknown()
            }
            UnknownSubcommand::Opaque => {
                machine.opaque(format!("`{} {text}` is not in the catalogue", call.program));
                Exit::unknown()
            }
            UnknownSubcommand::Itself => {
                let mut call = call.clone();
                call.arguments = before.clone();
                sort(&call.words, from, options, Until::End, &mut call.arguments);
                evaluate(machine, program, &call)
            }
        }
    };
    if let [text] = texts.as_slice() {
        return one(machine, text);
    }
    for text in &texts {
        machine.possibly(|machine| one(machine, text));
    }
    Exit::unknown()
}

fn asks_for_help(words: &[Value]) -> bool {
    matches!(words, [only] if matches!(only.as_exact(), Some("--help" | "--version")))
}

fn evaluate(machine: &mut Machine<'_>, program: &Program, call: &Call) -> Exit {
    let before = machine.effect_count();
    let steps = machine.steps_taken();
    let exit = carry_out(machine, program, call);
    if machine.steps_taken() == steps {
        programs::handed_input(machine, call);
    }
    programs::unauthenticated_listeners(machine, call);
    programs::package_sources(machine, program, call, before);
    programs::handed_over(machine, call, before);
    programs::spelled_secrets(machine, call, before);
    exit
}

fn carry_out(machine: &mut Machine<'_>, program: &Program, call: &Call) -> Exit {
    programs::loaded(machine, call);
    programs::lasting_variables(machine, call);
    programs::own_languages(machine, call);
    programs::unpacked(machine, call);
    if let Some(name) = &program.semantics {
        if let Some(handler) = programs::handler(name) {
            let before = machine.steps_taken();
            let exit = handler(machine, call);
            let runs_another = machine.steps_taken() > before;
            return if runs_another && !hands_on(name, call) { may_fail_itself(exit) } else { exit };
        }
        machine.opaque(format!("the catalogue names `{name}`, which is not a handler"));
        return Exit::unknown();
    }
    programs::life_cycle(machine, call);
    programs::tasks(machine, call);
    programs::sources(machine, call);
    programs::ad_hoc_tasks(machine, call);
    let mut read = Output::Nothing;
    let before = machine.effect_count();
    let hides = hides_what_it_prints(machine, call);
    for clause in program.clauses.iter().filter(|clause| clause.kind != EffectKind::SecretRead || !hides) {
        match holds(&clause.conditions, call, machine.is_shown()) {
            Answer::No => {}
            Answer::Yes => read = read.followed_by(apply(machine, clause, call)),
            Answer::Perhaps => {
                read = read.followed_by(machine.possibly(|machine| apply(machine, clause, call)));
            }
        }
    }
    note_moved(machine, before);
    for run in &program.runs {
        let exit = match holds(&run.conditions, call, machine.is_shown()) {
            Answer::No => None,
            Answer::Yes => start(machine, run, call),
            Answer::Perhaps => machine.possibly(|machine| start(machine, run, call)),
        };
        if let Some(exit) = exit {
            return may_fail_itself(exit);
        }
    }
    let read = read.followed_by(unsaid(machine, program, call));
    Exit { status: status(machine, program, call), output: output(program, call, read) }
}

/// Options by whose beginnings a program is told to put what it would print elsewhere: into a file or the clipboard (ours).
const ELSEWHERE: &[&str] =
    &["-o", "--out", "-w", "--write", "-c", "--clip", "--copy", "--save", "--in-place", "--file"];

/// Whether a program prints its secrets where nobody sees them, and puts them nowhere else.
fn hides_what_it_prints(machine: &Machine<'_>, call: &Call) -> bool {
    let is_elsewhere = |word: &Value| ELSEWHERE.iter().any(|option| word.known_start().starts_with(option));
    machine.hides_what_it_prints(call) && !call.words.iter().any(is_elsewhere)
}

/// The secrets among the operands of which the clauses of a program say nothing. The operands of subcommands are mostly names.
fn unsaid(machine: &mut Machine<'_>, program: &Program, call: &Call) -> Output {
    let is_said = program.clauses.iter().any(|clause| {
        is_about_files(clause.kind) && clause.target.0.iter().any(|pick| matches!(pick, Pick::Operands(_)))
    });
    if program.shows == Shows::Nothing || is_said || !program.runs.is_empty() || call.program.contains(' ') {
        return Output::Nothing;
    }
    machine.note_unread_secrets(&call.words, &call.arguments.operands)
}

/// Remembers what the clauses of a program moved, of which there were `before` effects: to what they make or write.
fn note_moved(machine: &mut Machine<'_>, before: usize) {
    let aims = |machine: &Machine<'_>, is_meant: fn(&Effect) -> bool| -> Vec<AimedTarget> {
        let meant = machine.effects_since(before).filter(|effect| is_meant(effect));
        let aimed = meant.map(|effect| AimedTarget {
            target: effect.target.clone(),
            certainty: effect.certainty,
            nature: Nature::Ordinary,
            note: String::new(),
        });
        aimed.collect()
    };
    let from = aims(machine, Effect::is_moved);
    if from.is_empty() {
        return;
    }
    let is_made = |effect: &Effect| matches!(effect.kind, EffectKind::FileCreate | EffectKind::FileModify);
    let to = aims(machine, is_made);
    machine.remember_moved(&from, &to);
}

/// Whether the status of a program is that of the command in it: shells, and what can hardly fail before it.
fn hands_on(semantics: &str, call: &Call) -> bool {
    match semantics {
        "shell" | "busybox" | "nohup" | "time" => true,
        "env" => !call.words.first().is_some_and(|word| word.known_start().starts_with('-')),
        _ => false,
    }
}

/// The status of a command that runs in another one: it succeeds only where the other one came so far (a container that is not there, a
/// password that is asked for, a lock that somebody holds).
fn may_fail_itself(exit: Exit) -> Exit {
    match exit.status {
        Status::Success => Exit { status: Status::Unknown, ..exit },
        Status::Failure | Status::Unknown | Status::Open => exit,
    }
}

fn status(machine: &mut Machine<'_>, program: &Program, call: &Call) -> Status {
    match program.status {
        Answers::Done => Status::Unknown,
        Answers::Question => Status::Open,
        Answers::Present => {
            // Some look at a link itself, and some at what it leads to.
            let is_missing =
                |operand: &Value| machine.is_certainly_missing(operand) && !machine.is_dangling(operand);
            if call.arguments.operands.iter().any(is_missing) {
                machine.absent = Some(Absence::Path);
                Status::Failure
            } else {
                Status::Unknown
            }
        }
    }
}

fn output(program: &Program, call: &Call, read: Output) -> Output {
    match (program.output, read) {
        (Writes::Nothing, _) => Output::Nothing,
        (Writes::Filter, Output::Nothing) => Output::from_input(&call.input).made_over(),
        (Writes::Own | Writes::Filter, read) => read.made_over(),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    Yes,
    No,
    Perhaps,
}

impl Answer {
    fn of(truth: bool) -> Self {
        if truth { Self::Yes } else { Self::No }
    }

    fn not(self) -> Self {
        match self {
            Self::Yes => Self::No,
            Self::No => Self::Yes,
            Self::Perhaps => Self::Perhaps,
        }
    }

    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::No, _) | (_, Self::No) => Self::No,
            (Self::Yes, Self::Yes) => Self::Yes,
            (Self::Perhaps, _) | (_, Self::Perhaps) => Self::Perhaps,
        }
    }

    fn or(self, other: Self) -> Self {
        self.not().and(other.not()).not()
    }
}

fn holds(conditions: &Conditions, call: &Call, is_shown: bool) -> Answer {
    let any = |conditions: &[Condition]| any(conditions, call, is_shown);
    let when = if conditions.when.is_empty() { Answer::Yes } else { any(&conditions.when) };
    let answer = |condition: &Condition| answer(condition, call, is_shown);
    let all = conditions.all.iter().fold(Answer::Yes, |so_far, condition| so_far.and(answer(condition)));
    when.and(all).and(any(&conditions.unless).not())
}

fn any(conditions: &[Condition], call: &Call, is_shown: bool) -> Answer {
    conditions.iter().fold(Answer::No, |so_far, condition| so_far.or(answer(condition, call, is_shown)))
}

fn answer(condition: &Condition, call: &Call, is_shown: bool) -> Answer {
    let arguments = &call.arguments;
    match condition {
        Condition::Always => Answer::Yes,
        Condition::Option(name) => Answer::of(arguments.has(&[name])),
        Condition::Value(name, pattern) => {
            arguments.values(&[name]).fold(Answer::No, |so_far, value| so_far.or(matches(value, pattern)))
        }
        Condition::Operands => Answer::of(!arguments.operands.is_empty()),
        Condition::NoOperands => Answer::of(arguments.operands.is_empty()),
        Condition::Operand(pattern) => {
            arguments.operands.iter().fold(Answer::No, |so_far, value| so_far.or(matches(value, pattern)))
        }
        Condition::Input => Answer::of(call.input != Input::Inherited),
        Condition::NoInput => Answer::of(call.input == Input::Inherited),
        Condition::Shown => Answer::of(is_shown),
    }
}

fn matches(value: &Value, pattern: &str) -> Answer {
    let Some(texts) = value.alternatives() else {
        // Unknown text may be anything that fits its known beginning.
        let start = value.known_start();
        let literal = pattern.split('*').next().unwrap_or_default();
        let fits = literal.starts_with(&start) || start.starts_with(literal) && pattern.contains('*');
        return if fits { Answer::Perhaps } else { Answer::No };
    };
    let glob = Glob::new(pattern, Style::Word);
    match texts.iter().filter(|text| glob.matches(text)).count() {
        0 => Answer::No,
        count if count == texts.len() => Answer::Yes,
        _ => Answer::Perhaps,
    }
}

/// A selected word, or a place that the entry itself names.
enum Selected {
    Nothing,
    Word(Value),
    Place(Value),
}

fn select(machine: &Machine<'_>, selection: &WordSelection, call: &Call) -> Vec<Selected> {
    selection
        .0
        .iter()
        .map(|pick| select_one(machine, pick, call))
        .find(|found| !found.is_empty())
        .unwrap_or_default()
}

/// The value that a setting with this key has, without its quotes; `None` where it is another setting.
fn setting(value: &Value, key: &str) -> Option<Value> {
    let start = value.known_start();
    let (name, text) = start.split_once('=')?;
    if name.trim() != key {
        return None;
    }
    let text = text.trim().trim_matches(['"', '\'']);
    Some(match value {
        Value::Exact(_) => Value::exact(text),
        Value::AnyOf(_) | Value::Glob(_) | Value::Between { .. } | Value::Unknown => Value::Unknown,
    })
}

fn select_one(machine: &Machine<'_>, pick: &Pick, call: &Call) -> Vec<Selected> {
    let arguments = &call.arguments;
    let names = |names: &NameList| -> Vec<Value> {
        let names: Vec<&str> = names.iter().collect();
        arguments.values(&names).cloned().collect()
    };
    match pick {
        Pick::None => vec![Selected::Nothing],
        Pick::Operands(range) => {
            let operands = &arguments.operands;
            let chosen = operands.get(range.within(operands.len())).unwrap_or_default();
            chosen.iter().cloned().map(Selected::Word).collect()
        }
        Pick::Option(options) => names(options).pop().map(Selected::Word).into_iter().collect(),
        Pick::Options(options) => names(options).into_iter().map(Selected::Word).collect(),
        Pick::Variable(name) => {
            let value = machine.variable(name).filter(|value| value.as_exact() != Some(""));
            value.map(Selected::Word).into_iter().collect()
        }
        Pick::Cwd(name) => {
            let path = if name.is_empty() { ".".to_owned() } else { format!("./{name}") };
            vec![Selected::Place(Value::Exact(path))]
        }
        Pick::Path(path) => {
            let home = machine.world().place().home.as_str();
            let text = match path.strip_prefix('~') {
                Some(rest) => format!("{home}{rest}"),
                None => path.to_string(),
            };
            vec![Selected::Place(Value::Exact(text))]
        }
        Pick::Text(text) => vec![Selected::Word(Value::exact(&**text))],
        Pick::Behind(word) => {
            let mut words = call.words.iter().skip_while(|found| found.as_exact() != Some(word));
            words.next();
            words.cloned().map(Selected::Word).collect()
        }
        Pick::Below(name, inner) => {
            let below =
                |value: Value| value.followed_by(&Value::exact("/")).followed_by(&Value::exact(&**name));
            select_one(machine, inner, call)
                .into_iter()
                .map(|found| match found {
                    Selected::Nothing => Selected::Nothing,
                    Selected::Word(value) => Selected::Word(below(value)),
                    Selected::Place(value) => Selected::Place(below(value)),
                })
                .collect()
        }
        Pick::Setting(options, key) => {
            let given = names(options).iter().filter_map(|value| setting(value, key)).next_back();
            given.map(Selected::Word).into_iter().collect()
        }
    }
}

fn words(machine: &Machine<'_>, selection: &WordSelection, call: &Call) -> Vec<Value> {
    values(&select(machine, selection, call))
}

fn values(selected: &[Selected]) -> Vec<Value> {
    let value = |selected: &Selected| match selected {
        Selected::Nothing => None,
        Selected::Word(value) | Selected::Place(value) => Some(value.clone()),
    };
    selected.iter().filter_map(value).collect()
}

/// Makes the effects of a clause happen; answers what was read.
fn apply(machine: &mut Machine<'_>, clause: &EffectClause, call: &Call) -> Output {
    let below = any(&clause.recursive, call, machine.is_shown()) != Answer::No
        || !clause.recursive.is_empty() && call.arguments.uncertain;
    let depth = if below { Depth::Recursive } else { Depth::Single };
    let selected = select(machine, &clause.target, call);
    let before = machine.effect_count();
    let kept = if clause.keeps_text { values(&selected) } else { Vec::new() };
    let read = machine.keep_texts(&kept, |machine| {
        if clause.certainty == Certainty::Possible {
            machine.possibly(|machine| aim_at(machine, clause.kind, depth, selected))
        } else {
            aim_at(machine, clause.kind, depth, selected)
        }
    });
    machine.amend(before, |effect| {
        if let Some(severity) = clause.severity {
            effect.severity = severity;
        }
        if let Some(reach) = clause.reach {
            effect.reach = Some(reach);
        }
        if let Some(reversible) = clause.reversible {
            effect.reversible = reversible;
        }
        if effect.nature == Nature::Ordinary {
            effect.nature = clause.nature;
        }
        if effect.note.is_empty() {
            effect.note = clause.note.to_string();
        }
        if below {
            effect.depth = Depth::Recursive;
        }
    });
    read
}

fn aim_at(machine: &mut Machine<'_>, kind: EffectKind, depth: Depth, selected: Vec<Selected>) -> Output {
    let mut read = Output::Nothing;
    for selected in selected {
        match (selected, kind) {
            (Selected::Nothing, _) => machine.add(Draft::new(kind, Target::Unknown)),
            (Selected::Word(value) | Selected::Place(value), EffectKind::FileRead) => {
                read = read.followed_by(machine.skim(&value));
            }
            (Selected::Word(value) | Selected::Place(value), EffectKind::FileDelete) => {
                machine.delete(&value, depth);
            }
            (
                Selected::Word(value) | Selected::Place(value),
                EffectKind::FileCreate | EffectKind::FileModify,
            ) if depth == Depth::Recursive => {
                change_tree(machine, kind, &value);
            }
            // A device or directory is a path also where most targets are names.
            (Selected::Word(value), EffectKind::SystemModification)
                if value.known_start().starts_with('/') =>
            {
                add_paths(machine, kind, &value);
            }
            // What is in no commit below a directory; a reference has nothing below it.
            (Selected::Word(value), EffectKind::VcsLocalLoss) if depth == Depth::Recursive => {
                add_paths(machine, kind, &value);
            }
            (Selected::Place(value), _) if !is_about_files(kind) => add_paths(machine, kind, &value),
            (Selected::Word(value) | Selected::Place(value), _) => machine.effect(kind, &value),
        }
    }
    read
}

/// Something is made or changed somewhere in a directory, or a directory is made with something in it.
fn change_tree(machine: &mut Machine<'_>, kind: EffectKind, value: &Value) {
    for aim in machine.paths_through(value) {
        let path = aim.target.path().cloned();
        let kind = match path.as_ref().map(|path| machine.entry(path)) {
            Some(Entry::Missing) => EffectKind::FileCreate,
            Some(Entry::File(_)) => EffectKind::FileModify,
            Some(Entry::Directory | Entry::Symlink(_) | Entry::Special | Entry::Unknown) | None => kind,
        };
        machine.add(Draft::at(kind, aim).recursive());
        if let Some(path) = path {
            machine.remember_doubt_below(&path);
        }
    }
}

fn add_paths(machine: &mut Machine<'_>, kind: EffectKind, value: &Value) {
    for aim in machine.paths(value) {
        machine.add(Draft::at(kind, aim));
    }
}

fn is_about_files(kind: EffectKind) -> bool {
    matches!(
        kind,
        EffectKind::FileRead
            | EffectKind::FileCreate
            | EffectKind::FileModify
            | EffectKind::FileDelete
            | EffectKind::PermissionChange
            | EffectKind::Persistence
            | EffectKind::GuardTampering
            | EffectKind::SecretRead
    )
}

/// Runs what a table of `runs` names; `None` when it finds nothing to run.
fn start(machine: &mut Machine<'_>, run: &Run, call: &Call) -> Option<Exit> {
    let mut variables = Vec::new();
    let task = task(machine, run, call, &mut variables)?;
    let environment = Environment::of(machine, run, call, variables);
    if run.times == Times::Many {
        return Some(
            machine
                .possibly(|machine| environment.around(machine, |machine| place(machine, run, call, task))),
        );
    }
    Some(environment.around(machine, |machine| place(machine, run, call, task)))
}

/// What of the environment a program finds that another one starts.
struct Environment {
    inherited: Inheritance,
    set: Vec<(String, Value)>,
    gone: Vec<String>,
}

impl Environment {
    /// What the options of the other one say of it; `set` stands in front of the command.
    fn of(machine: &Machine<'_>, run: &Run, call: &Call, mut set: Vec<(String, Value)>) -> Self {
        let holds = |conditions: &[Condition]| any(conditions, call, machine.is_shown()) != Answer::No;
        let inherited = if holds(&run.clears) {
            Inheritance::Nothing
        } else if holds(&run.purifies) {
            Inheritance::OfTheUser
        } else {
            Inheritance::Everything
        };
        let mut gone = Vec::new();
        for change in run.changes.iter().flat_map(|changes| words(machine, changes, call)) {
            match (assignment(&change), change.as_exact()) {
                (Some(one), _) => set.push(one),
                (None, Some(name)) => gone.push(name.to_owned()),
                (None, None) => {}
            }
        }
        Self { inherited, set, gone }
    }

    fn around(self, machine: &mut Machine<'_>, work: impl FnOnce(&mut Machine<'_>) -> Exit) -> Exit {
        machine.with_inheritance(self.inherited, |machine| {
            machine.without_variables(&self.gone, |machine| machine.with_variables(self.set, work))
        })
    }
}

/// The arguments of a command that an option names: all words behind its value (`nix shell -c rm x`), or behind `--` among them
/// (`start-stop-daemon --exec rm -- x`).
fn behind_option(selection: &WordSelection, call: &Call) -> Vec<Value> {
    let chosen = selection.0.iter().find_map(|pick| match pick {
        Pick::Option(names) | Pick::Options(names) => {
            let names: Vec<&str> = names.iter().collect();
            call.arguments.values(&names).next().cloned()
        }
        Pick::None
        | Pick::Operands(_)
        | Pick::Variable(_)
        | Pick::Cwd(_)
        | Pick::Path(_)
        | Pick::Behind(_)
        | Pick::Below(..)
        | Pick::Setting(..)
        | Pick::Text(_) => None,
    });
    let Some(text) = chosen.as_ref().and_then(Value::as_exact) else { return Vec::new() };
    let holds = |word: &Value| {
        word.as_exact()
            .and_then(|word| word.strip_suffix(text))
            .is_some_and(|start| start.is_empty() || start.ends_with('='))
    };
    let Some(place) = call.words.iter().position(holds) else { return Vec::new() };
    let behind = call.words.get(place + 1..).unwrap_or_default();
    let from = behind.iter().position(|word| word.as_exact() == Some("--")).map_or(0, |place| place + 1);
    behind.get(from..).unwrap_or_default().to_vec()
}

/// What is to be run, ready for the machine.
enum Task {
    Words(Vec<Value>),
    Text(Value),
    File(Value, Vec<Value>),
    Code(Value),
    Source(Value),
    Input(StandardInputRunner),
}

fn task(machine: &Machine<'_>, run: &Run, call: &Call, variables: &mut Vec<(String, Value)>) -> Option<Task> {
    let found = |selection: &WordSelection| {
        let words = words(machine, selection, call);
        if words.is_empty() { None } else { Some(words) }
    };
    Some(match &run.what {
        CommandSource::Words(selection) => {
            let mut words = found(selection)?;
            if run.times == Times::Once {
                words.extend(behind_option(selection, call));
            }
            if run.assignments {
                let leading: Vec<(String, Value)> = words.iter().map_while(assignment).collect();
                words.drain(..leading.len());
                if words.is_empty() {
                    return None;
                }
                variables.extend(leading);
            }
            if run.times == Times::Many {
                words.push(Value::Unknown);
            }
            Task::Words(words)
        }
        CommandSource::Text(selection) => {
            let mut words = found(selection)?;
            if run.assignments {
                let leading: Vec<(String, Value)> = words.iter().map_while(assignment).collect();
                words.drain(..leading.len());
                variables.extend(leading);
            }
            Task::Text(joined(&words))
        }
        CommandSource::Line(selection) => {
            let mut words = found(selection)?;
            words.extend(behind_option(selection, call));
            let is_text = |word: &Value| word.as_exact().is_some_and(|text| text.contains(is_of_shell));
            if words.first().is_some_and(is_text) { Task::Text(joined(&words)) } else { Task::Words(words) }
        }
        CommandSource::Code(selection) => Task::Code(joined(&found(selection)?)),
        CommandSource::Source(selection) => Task::Source(found(selection)?.into_iter().next()?),
        CommandSource::File(selection) => {
            let mut words = found(selection)?.into_iter();
            let file = words.next()?;
            let behind = call.arguments.operands.iter().position(|operand| *operand == file);
            let arguments = match behind {
                Some(place) => call.arguments.operands.iter().skip(place + 1).cloned().collect(),
                None => words.collect(),
            };
            Task::File(file, arguments)
        }
        CommandSource::Input(runner) => {
            if call.input == Input::Inherited {
                return None;
            }
            Task::Input(*runner)
        }
    })
}

/// Whether a letter makes more of a text than the name of a program.
fn is_of_shell(letter: char) -> bool {
    letter.is_whitespace() || matches!(letter, ';' | '&' | '|' | '>' | '<' | '$' | '`' | '(')
}

fn joined(words: &[Value]) -> Value {
    let mut words = words.iter();
    let Some(first) = words.next() else { return Value::exact("") };
    words.fold(first.clone(), |text, word| text.followed_by(&Value::exact(" ")).followed_by(word))
}

fn place(machine: &mut Machine<'_>, run: &Run, call: &Call, task: Task) -> Exit {
    match run.place {
        RunContext::Itself => perform(machine, call, task),
        RunContext::Elevated => {
            machine.add(Draft::new(EffectKind::PrivilegeEscalation, Target::Unknown));
            perform(machine, call, task)
        }
        RunContext::Apart => machine.cut_loose(|machine| perform(machine, call, task)),
        RunContext::Remote => {
            let host = run.host.as_ref().map(|host| joined(&words(machine, host, call)));
            let name = host.as_ref().and_then(Value::as_exact).unwrap_or(call.program.as_str()).to_owned();
            machine.elsewhere(&name, |machine| perform(machine, call, task))
        }
    }
}

fn perform(machine: &mut Machine<'_>, call: &Call, task: Task) -> Exit {
    match task {
        Task::Words(words) => machine.run_words(&words, call.input.clone()),
        Task::Text(text) => machine.run_text(&text, call.input.clone()),
        Task::File(file, arguments) => machine.run_file(&file, &arguments),
        Task::Code(code) => programs::code(machine, call, &code),
        Task::Source(file) => programs::source_file(machine, call, &file),
        Task::Input(StandardInputRunner::Shell) => programs::shells::input(machine, call),
        Task::Input(StandardInputRunner::Code) => programs::shells::code_input(machine, call),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        assert_eq!(matches(&Value::Unknown, "DELETE"), Answer::Perhaps);
        let known = Value::Between { prefix: "PO".to_owned(), suffix: String::new() };
        assert_eq!(matches(&known, "DELETE"), Answer::No);
        assert_eq!(matches(&known, "POST"), Answer::Perhaps);
    }
}
