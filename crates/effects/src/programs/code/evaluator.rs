//! The state while code is followed.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use crate::effect::{EffectKind, Severity, Target};
use crate::interpreter::process_lists::ListedProcesses;
use crate::interpreter::secrets::variable_of;
use crate::interpreter::{Call, Draft, Exit, Machine, Output, Value};

use super::bound::Kept;
use super::environment::CodeEnvironment;
use super::later::Waiting;
use super::maps::SharedPart;
use super::started::{Handed, RunningProgram, Started};
use super::value::ScriptValue;
use super::variables::Variables;
use super::walk::scopes::{ScopeSort, Scopes};
use checkrein_scripts::token::{Language, TokenStream};
use checkrein_scripts::tree::{Definition, SyntaxTree};

/// What is said of code that its parser refuses.
const UNREADABLE: &str = "cannot be read as a whole";
/// The greatest number of steps in one piece of code (ours).
const STEPS: usize = 240_000;
/// How deep expressions, blocks and calls may be nested, in tokens and in trees (ours).
const DEPTH: usize = 60;
const TREE_DEPTH: usize = 150;
/// How deep code in texts that code runs may be nested (ours).
const TEXTS: usize = 6;
/// How often functions of the code are followed in all (ours).
const CALLS: usize = 1_000;
/// How often a function is followed inside itself (ours).
const ACTIVE: usize = 3;

/// A function that the code defines.
#[derive(Debug, Clone)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) body: Body,
    /// Whether it was followed.
    pub(super) called: bool,
    /// How often it is being followed right now.
    pub(super) active: usize,
}

/// What runs when a function is called.
#[derive(Debug, Clone)]
pub(super) enum Body {
    /// The tokens between two places.
    Tokens {
        parameters: Vec<String>,
        tokens: Rc<TokenStream>,
        from: usize,
        to: usize,
        /// The place of the scope in which it was defined.
        around: usize,
    },
    /// A part of a tree.
    Tree {
        definition: Arc<Definition>,
        /// The class that it is a method of.
        of: Option<usize>,
        /// The place of the scope in which it was defined.
        around: usize,
        /// What its parameters take when nothing is given, where that is worked out once.
        defaults: Rc<Vec<Option<ScriptValue>>>,
    },
}

/// A class that the code defines.
#[derive(Debug, Clone, Default)]
pub(super) struct OwnClass {
    pub(super) bases: Vec<ScriptValue>,
    /// The methods by name, as places in the list of functions.
    pub(super) methods: Vec<(String, usize)>,
    /// What stands in the class itself, in order; nothing for what is only declared.
    pub(super) fields: Vec<(String, Option<ScriptValue>)>,
    /// An object of it that was made somewhere.
    pub(super) sample: Option<usize>,
}

/// An object of a class of the code, or a module.
#[derive(Debug, Clone, Default)]
pub(super) struct Object {
    pub(super) class: Option<usize>,
    pub(super) fields: Variables,
}

/// The name that stands for values whose names are not known: `**options`.
pub(super) const REST: &str = "**";

/// What a call is given.
#[derive(Debug, Clone, Default)]
pub(super) struct Given {
    pub(super) positional: Vec<ScriptValue>,
    pub(super) named: Vec<(String, ScriptValue)>,
}

impl Given {
    /// The value at a place; unknown when there is none.
    pub(super) fn at(&self, place: usize) -> ScriptValue {
        self.positional.get(place).cloned().unwrap_or(ScriptValue::Text(Value::Unknown))
    }

    /// The value by one of its names, by its own word or in an object of options.
    pub(super) fn named(&self, name: &str) -> Option<&ScriptValue> {
        let own = self.named.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value);
        own.or_else(|| self.positional.iter().rev().find_map(|thing| thing.get(name)))
    }

    /// Whether an option is switched on.
    pub(super) fn is_on(&self, name: &str) -> bool {
        self.named(name).is_some_and(|value| match value.exact() {
            Some(text) => !matches!(text.as_str(), "false" | "0" | ""),
            None => true,
        })
    }
}

/// Code being followed.
pub(super) struct Evaluator<'m, 'w, 'c> {
    pub(super) machine: &'m mut Machine<'w>,
    pub(super) call: &'c Call,
    pub(super) language: Language,
    pub(super) tokens: Rc<TokenStream>,
    pub(super) variables: Variables,
    pub(super) functions: Vec<Function>,
    pub(super) classes: Vec<OwnClass>,
    pub(super) objects: Vec<Object>,
    /// The scopes of the code, and the present one.
    pub(super) scopes: Scopes,
    /// The classes whose methods are around the present point, and the objects that these were called for.
    pub(super) inside: Vec<(usize, ScriptValue)>,
    /// What the present function gives back, as far as it was followed.
    pub(super) returned: Option<ScriptValue>,
    /// What the present function yields.
    pub(super) yielded: Vec<ScriptValue>,
    /// What the present module exports.
    pub(super) exports: Option<ScriptValue>,
    /// Modules of the code itself, by their path.
    pub(super) modules: Vec<(String, ScriptValue)>,
    /// Modules that are imported too far inside each other, to be followed after the rest: their paths and names.
    pub(super) later: Vec<(String, String)>,
    /// How many modules are being followed, one inside the other.
    pub(super) importing: usize,
    /// Where the present module lies.
    pub(super) file: Option<String>,
    /// Every name that the code gave a value somewhere.
    pub(super) bound: HashSet<String>,
    /// What the code prints, as far as it is known; `None` when it is not.
    pub(super) printed: Option<String>,
    /// The secret that the code prints.
    pub(super) shown: Option<String>,
    /// The secret that the code packed into an archive in memory.
    pub(super) packed: Option<String>,
    /// How many undecided branches are around the present point.
    pub(super) doubt: usize,
    /// Names of functions that are called and not known.
    unknown: Vec<String>,
    /// Why the code cannot be followed as a whole.
    hurdle: Option<&'static str>,
    /// Modules whose names were all imported.
    pub(super) stars: Vec<String>,
    /// The other end of an open connection.
    pub(super) socket: Option<Value>,
    /// Whether a connection was put in the place of the standard streams.
    pub(super) duplicated: bool,
    /// Whether a shell was started that waits for orders.
    pub(super) spawned_shell: bool,
    /// Whether it was looked up which processes run.
    pub(super) sees_processes: bool,
    /// The processes that a program listed for it.
    pub(super) processes_listed: Option<ListedProcesses>,
    /// Whether it goes through the numbers of a wide range: those of processes are among them.
    pub(super) counts: bool,
    /// Whether it reads data of which the text is not known: a name of which nothing is known may stand there.
    pub(super) reads_names: bool,
    /// Whether it lists a directory, with the names that begin with a dot.
    pub(super) lists_hidden: bool,
    /// What the program is handed that is being started.
    pub(super) handed: Handed,
    /// What was started last.
    pub(super) last_started: Option<Started>,
    /// Programs that run beside the code.
    pub(super) processes: Vec<RunningProgram>,
    /// The channel that stands in the place of the standard input.
    pub(super) redirected: Option<usize>,
    /// The program to which is printed what names no handle.
    pub(super) selected: Option<usize>,
    /// The variables of the environment that the code set.
    pub(super) environment: CodeEnvironment,
    /// What the code wrote into files so far, by their paths.
    pub(super) contents: HashMap<String, ScriptValue>,
    /// Whether a function that runs commands or takes things away is used as a value.
    pub(super) is_loose: bool,
    /// The commands in texts of the code that nobody could live with.
    pub(super) grave: Vec<String>,
    /// Whether single calls are looked at of code that is too much to follow: only what they say by themselves counts.
    pub(super) glancing: bool,
    /// Values that some variable holds of which is not seen which one it is.
    pub(super) strays: Vec<ScriptValue>,
    /// The keys of names of which the list or map, or one inside it, has another name too.
    pub(super) nested: Vec<(String, SharedPart)>,
    /// The keys of lists of which the last value was taken, which still stands there: what fills them again is not always seen.
    pub(super) emptied: HashSet<String>,
    /// Names that are given what stands inside lists and maps.
    pub(super) lent: HashSet<String>,
    pub(super) steps: usize,
    depth: usize,
    calls: usize,
    /// How deep code that is run as text is nested.
    pub(super) texts: usize,
    /// How many loops without an end are around the present point.
    pub(super) endless: usize,
    /// The keys of the lists and maps that the function is given by name which is called next.
    pub(super) passed: Vec<Option<String>>,
    /// What the last block of Ruby gave, where that is known.
    pub(super) block_value: Option<ScriptValue>,
    /// What functions keep for later.
    pub(super) kept: Kept,
    /// The functions that wait to be called.
    pub(super) waiting: Vec<Waiting>,
    /// Whether the functions are called that waited.
    pub(super) is_ending: bool,
    /// What the variables may hold where something fails, for each `try` around the present point; none where nothing could fail so far.
    pub(super) failing: Vec<Option<Variables>>,
}

impl<'m, 'w, 'c> Evaluator<'m, 'w, 'c> {
    pub(super) fn new(machine: &'m mut Machine<'w>, call: &'c Call, language: Language) -> Self {
        Self {
            machine,
            call,
            language,
            tokens: Rc::new(TokenStream::default()),
            variables: Variables::new(),
            functions: Vec::new(),
            classes: Vec::new(),
            objects: Vec::new(),
            scopes: Scopes::default(),
            inside: Vec::new(),
            returned: None,
            yielded: Vec::new(),
            exports: None,
            modules: Vec::new(),
            later: Vec::new(),
            importing: 0,
            file: None,
            bound: HashSet::new(),
            printed: Some(String::new()),
            shown: None,
            packed: None,
            doubt: 0,
            unknown: Vec::new(),
            hurdle: None,
            stars: Vec::new(),
            socket: None,
            duplicated: false,
            spawned_shell: false,
            sees_processes: false,
            processes_listed: None,
            counts: false,
            reads_names: false,
            lists_hidden: false,
            handed: Handed::default(),
            last_started: None,
            processes: Vec::new(),
            redirected: None,
            selected: None,
            environment: CodeEnvironment::default(),
            contents: HashMap::new(),
            is_loose: false,
            grave: Vec::new(),
            glancing: false,
            strays: Vec::new(),
            emptied: HashSet::new(),
            nested: Vec::new(),
            lent: HashSet::new(),
            steps: 0,
            depth: 0,
            calls: 0,
            texts: 0,
            endless: 0,
            passed: Vec::new(),
            block_value: None,
            kept: Kept::default(),
            waiting: Vec::new(),
            is_ending: false,
            failing: Vec::new(),
        }
    }

    /// Follows the whole code, then the functions in it that nothing called.
    pub(super) fn follow(mut self, tokens: TokenStream, text: &str) -> Exit {
        if tokens.is_cut() {
            self.not_followed("is too much to follow");
        } else if tokens.broken {
            self.not_followed(UNREADABLE);
        }
        self.tokens = Rc::new(tokens);
        self.take_lines();
        let end = self.tokens.list.len();
        self.define_functions(0, end);
        self.run(0, end);
        self.end(text)
    }

    /// As [`Evaluator::follow`], for code that was read as a tree.
    pub(super) fn follow_tree(mut self, tree: &SyntaxTree, text: &str) -> Exit {
        if let Some(problem) = tree.problem {
            self.not_followed(problem);
        }
        self.run_module(&tree.statements);
        self.end(text)
    }

    /// Looks over code that is too long to be followed.
    pub(super) fn only_look_over(mut self, text: &str) -> Exit {
        self.not_followed("is too long to be followed");
        self.end(text)
    }

    fn end(mut self, text: &str) -> Exit {
        self.call_waiting();
        self.follow_later_modules();
        self.follow_the_rest();
        self.call_waiting();
        self.run_what_was_fed();
        self.may_run_texts();
        if let Some(why) = self.hurdle {
            let note = format!("the code given to `{}` {why}", self.call.program);
            if why == UNREADABLE {
                self.machine.opaque(note);
            } else {
                self.look_over(text);
                // A file that is long is mostly made by a tool; a command is written for this one time, and so is a long file that no tool
                // put where it lies.
                let is_written =
                    self.is_given_here(text) || text.len() >= super::LONG && !self.is_put_there();
                if is_written { self.machine.unread(note) } else { self.machine.opaque(note) }
            }
        }
        if !self.unknown.is_empty() {
            let names = self.unknown.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            self.machine.opaque(format!(
                "the code given to `{}` calls {names}, which is not followed",
                self.call.program
            ));
        }
        if let Some(place) = self.shown {
            return Exit::with(self.machine.carry_secret(place));
        }
        match self.printed {
            Some(text) if !text.is_empty() && self.unknown.is_empty() && self.hurdle.is_none() => {
                Exit::printing(Value::Exact(text))
            }
            Some(_) | None => Exit::unknown(),
        }
    }

    /// Notes down what is printed.
    pub(super) fn print(&mut self, texts: &[ScriptValue], between: &str, end: &str) {
        texts.iter().for_each(|thing| self.note_printed_names(thing));
        let is_plain = |thing: &ScriptValue| {
            !self.language.has_tree() || matches!(thing, ScriptValue::Text(_) | ScriptValue::Number(_))
        };
        let known: Option<Vec<String>> =
            texts.iter().map(|thing| thing.exact().filter(|_| is_plain(thing))).collect();
        match (known, &mut self.printed) {
            (Some(texts), Some(printed)) if self.doubt == 0 && printed.len() < super::CODE => {
                printed.push_str(&texts.join(between));
                printed.push_str(end);
            }
            _ => self.printed = None,
        }
    }

    /// Notes of a thing that is printed which files it may name, where only their pattern is known.
    fn note_printed_names(&mut self, thing: &ScriptValue) {
        match thing {
            ScriptValue::List(all) => all.iter().for_each(|one| self.note_printed_names(one)),
            ScriptValue::Text(Value::Glob(text)) | ScriptValue::Path(Value::Glob(text)) => {
                self.machine.note_printed_name(&Value::Glob(text.trim().to_owned()));
            }
            ScriptValue::Text(value @ Value::Between { prefix, .. })
            | ScriptValue::Path(value @ Value::Between { prefix, .. })
                if prefix.starts_with('/') =>
            {
                self.machine.note_printed_name(value);
            }
            _ => {}
        }
    }

    fn follow_the_rest(&mut self) {
        let mut place = 0;
        while let Some(function) = self.functions.get(place) {
            if !function.called && !self.is_called_elsewhere(place) {
                self.in_doubt(|follower| follower.call_unasked(place));
            }
            place += 1;
        }
    }

    /// Whether the same function was called as it was defined another time.
    fn is_called_elsewhere(&self, place: usize) -> bool {
        let definition = |function: &Function| match &function.body {
            Body::Tree { definition, .. } => Some(Arc::clone(definition)),
            Body::Tokens { .. } => None,
        };
        let Some(own) = self.functions.get(place).and_then(definition) else { return false };
        self.functions.iter().filter(|function| function.called).any(|function| match &function.body {
            Body::Tree { definition, .. } => Arc::ptr_eq(definition, &own),
            Body::Tokens { .. } => false,
        })
    }

    /// Runs other tokens in the same state.
    pub(super) fn with_tokens<T>(&mut self, tokens: Rc<TokenStream>, work: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.tokens, tokens);
        let answer = work(self);
        self.tokens = outer;
        answer
    }

    /// Runs code in a text, as `eval` does.
    pub(super) fn run_code(&mut self, text: &str) {
        if self.texts >= TEXTS || text.len() > super::CODE {
            self.not_followed("is nested too deeply");
            return;
        }
        if let Some(tree) = checkrein_scripts::parse(text, self.language) {
            if tree.problem.is_some() {
                self.not_known("eval");
            }
            self.texts += 1;
            self.run_tree(&tree.statements);
            self.texts -= 1;
            return;
        }
        let tokens = Rc::new(checkrein_scripts::tokens(text, self.language));
        if tokens.broken {
            self.not_known("eval");
        }
        self.texts += 1;
        self.with_tokens(tokens, |follower| {
            let end = follower.tokens.list.len();
            follower.define_functions(0, end);
            follower.run(0, end);
        });
        self.texts -= 1;
    }

    /// Follows work that may not happen.
    pub(super) fn in_doubt<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        self.doubt += 1;
        let answer = work(self);
        self.doubt -= 1;
        answer
    }

    /// Lets the machine do something, possible only where the code may not get there.
    pub(super) fn act<T>(&mut self, work: impl FnOnce(&mut Machine<'w>) -> T) -> T {
        if self.doubt > 0 { self.machine.possibly(work) } else { work(self.machine) }
    }

    /// Notes that something is called of which it is not known what it does.
    pub(super) fn not_known(&mut self, name: &str) {
        if self.glancing {
            return;
        }
        let name: String = name.chars().take(60).collect();
        if self.unknown.len() < 4 && !self.unknown.contains(&name) {
            self.unknown.push(name);
        }
    }

    /// Notes that the code cannot be followed as a whole.
    pub(super) fn not_followed(&mut self, why: &'static str) {
        if self.hurdle == Some(UNREADABLE) {
            self.hurdle = Some(why);
        }
        self.hurdle.get_or_insert(why);
    }

    /// Adds that code or a command runs that is made up while the code runs.
    pub(super) fn runs_unknown_code(&mut self, note: &str) {
        if self.glancing {
            return;
        }
        let target = Target::Process(self.call.program.clone());
        let draft = Draft::new(EffectKind::Opaque, target).severity(Severity::High).note(note);
        self.act(|machine| machine.add(draft));
    }

    /// Counts a step; whether work may go on.
    pub(super) fn step(&mut self) -> bool {
        self.works(1)
    }

    /// Counts work that takes several steps; whether more of it may follow.
    pub(super) fn works(&mut self, steps: usize) -> bool {
        self.steps = self.steps.saturating_add(steps);
        let may_go_on = self.machine.works_on_code(steps) && self.steps < STEPS;
        if !may_go_on {
            self.not_followed("is too much to follow");
        }
        may_go_on
    }

    /// Follows something nested; `None` when it is nested too deeply.
    pub(super) fn deeper<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> Option<T> {
        let limit = if self.language.has_tree() { TREE_DEPTH } else { DEPTH };
        if self.depth >= limit || !self.step() {
            self.not_followed("is nested too deeply");
            return None;
        }
        self.depth += 1;
        let answer = work(self);
        self.depth -= 1;
        Some(answer)
    }

    /// What a name means.
    pub(super) fn lookup(&self, name: &str) -> ScriptValue {
        if let Some(thing) = self.variable(name) {
            return thing.clone();
        }
        if self.language.has_tree() && self.is_declared(name) {
            // It holds nothing yet.
            return ScriptValue::Local;
        }
        if self.language.has_tree() {
            // Functions have their names as variables there.
            return ScriptValue::Name(name.to_owned());
        }
        match self.functions.iter().rposition(|function| function.name == name) {
            Some(place) => ScriptValue::Function(place),
            // A variable of a function around this one.
            None if self.bound.contains(name) => ScriptValue::Text(Value::Unknown),
            None => ScriptValue::Name(name.to_owned()),
        }
    }

    /// Gives a variable a value.
    pub(super) fn assign(&mut self, name: &str, value: ScriptValue) {
        let value = match self.variable(name) {
            Some(known) if self.doubt > 0 => known.clone().join(&value),
            Some(_) | None => value,
        };
        if matches!(self.language, Language::Perl | Language::Php) {
            self.change_other_names(name, &value);
            self.note_given_by_reference(name, &value);
            // What a reference leads to stays the same variable.
            self.put_keeping_names(name, value);
        } else {
            self.put(name, value);
        }
    }

    /// Follows the body of a function with what it is given.
    pub(super) fn call_function(&mut self, place: usize, given: &[ScriptValue]) -> ScriptValue {
        let given = Given { positional: given.to_vec(), named: Vec::new() };
        self.call_function_with(place, &given, None)
    }

    /// As [`Evaluator::call_function`], with values by name and with the object that it is a method of.
    pub(super) fn call_function_with(
        &mut self,
        place: usize,
        given: &Given,
        receiver: Option<ScriptValue>,
    ) -> ScriptValue {
        let Some(function) = self.functions.get_mut(place) else { return ScriptValue::Local };
        function.called = true;
        let function = function.clone();
        self.calls += 1;
        if self.calls > CALLS {
            self.not_followed("calls more functions than are followed");
            return ScriptValue::Foreign;
        }
        match &function.body {
            Body::Tokens { parameters, tokens, from, to, around } => {
                self.call_tokens(&function.name, parameters, tokens, (*from, *to), *around, given)
            }
            Body::Tree { definition, of, around, defaults } => {
                // What a function does when it calls itself once more it has done already.
                if function.active >= ACTIVE {
                    return ScriptValue::Text(Value::Unknown);
                }
                self.set_active(place, function.active + 1);
                let answer = self.call_definition(definition, *of, *around, defaults, given, receiver);
                self.set_active(place, function.active);
                if definition.may_wait {
                    self.may_wait(place, given);
                }
                answer
            }
        }
    }

    fn set_active(&mut self, place: usize, active: usize) {
        if let Some(function) = self.functions.get_mut(place) {
            function.active = active;
        }
    }

    fn call_tokens(
        &mut self,
        name: &str,
        parameters: &[String],
        tokens: &Rc<TokenStream>,
        (from, to): (usize, usize),
        around: usize,
        given: &Given,
    ) -> ScriptValue {
        // Only functions without a name see the names around them in Ruby and PHP.
        let is_closed = matches!(self.language, Language::Ruby | Language::Php) && !name.is_empty();
        let sort = if is_closed { ScopeSort::Closed } else { ScopeSort::Function };
        let outer = self.enter_within(sort, around);
        for (index, name) in parameters.iter().enumerate() {
            let by_name = given.named.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value);
            let value = by_name.or_else(|| given.positional.get(index)).cloned();
            let value = value.unwrap_or(ScriptValue::Text(Value::Unknown));
            self.declare(name, value);
        }
        if self.language == Language::Perl {
            self.declare("@_", ScriptValue::List(given.positional.clone()));
        }
        let returned = self.returned.take();
        let tokens = Rc::clone(tokens);
        self.deeper(|follower| {
            follower.with_tokens(tokens, |follower| {
                follower.define_functions(from, to);
                follower.run(from, to);
            });
        });
        let answer = std::mem::replace(&mut self.returned, returned);
        self.leave(outer);
        answer.unwrap_or(ScriptValue::Text(Value::Unknown))
    }

    /// The thing that an output of a command is.
    pub(super) fn from_output(output: Output) -> ScriptValue {
        match output {
            Output::Text(value) => ScriptValue::Text(value),
            Output::Network(url) => ScriptValue::Network(url),
            // What variables hold was not told where it was read.
            secret @ Output::Secret(_) if variable_of(&secret).is_some() => match secret {
                Output::Secret(place) => ScriptValue::secret(place),
                _ => ScriptValue::Text(Value::Unknown),
            },
            Output::Nothing | Output::Secret(_) | Output::Local(_) | Output::Setup(_) | Output::Unknown => {
                ScriptValue::Text(Value::Unknown)
            }
        }
    }
}
