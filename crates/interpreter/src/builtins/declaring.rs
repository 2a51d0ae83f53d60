//! Built-ins about variables and switches: `export`, `declare`, `local`, `unset`, `set`, `shopt`.

use std::collections::BTreeMap;

use crate::assignment::is_variable_name;
use crate::printed::ALL_VARIABLES;
use crate::secrets;
use crate::{Done, Exit, Machine, Options, Output, Speech, Treatment, Value, Variable, VariableContent};

/// What a declaration says about its variables.
#[derive(Debug, Clone, Copy, Default)]
struct Declared {
    exported: Option<bool>,
    readonly: bool,
    local: bool,
    /// Of the shell, also inside functions.
    global: bool,
    list: bool,
    map: bool,
    treatment: Option<Treatment>,
    functions: bool,
    /// Functions that have the traps of their caller (`declare -ft`).
    traced: Option<bool>,
    /// A local variable that begins as the one around it (`local -I`).
    inherits: bool,
    /// Another name for a variable.
    reference: bool,
}

pub(super) fn export(machine: &mut Machine<'_>, words: &[Value]) -> Done {
    let off = words.iter().any(|word| word.as_exact() == Some("-n"));
    declare_with(machine, words, Declared { exported: Some(!off), ..Declared::default() })
}

pub(super) fn declare(machine: &mut Machine<'_>, words: &[Value]) -> Done {
    let inside = !machine.shell.locals.is_empty();
    declare_with(machine, words, Declared { local: inside, ..Declared::default() })
}

pub(super) fn local(machine: &mut Machine<'_>, words: &[Value]) -> Done {
    // `local -`: what `set` changes from now on holds to the end of the function.
    if words.iter().any(|word| word.as_exact() == Some("-")) {
        keep_options(machine);
    }
    declare_with(machine, words, Declared { local: true, ..Declared::default() })
}

/// Keeps the switches as they are for the end of the function that runs.
fn keep_options(machine: &mut Machine<'_>) {
    let now = machine.shell.options;
    if let Some(kept) = machine.shell.local_options.last_mut() {
        kept.get_or_insert(now);
    }
}

pub(super) fn readonly(machine: &mut Machine<'_>, words: &[Value]) -> Done {
    declare_with(machine, words, Declared { readonly: true, ..Declared::default() })
}

fn declare_with(machine: &mut Machine<'_>, words: &[Value], mut declared: Declared) -> Done {
    let only_options = words.iter().all(|word| matches!(word.as_exact(), Some("-p" | "-x" | "-px" | "-xp")));
    if only_options {
        return all_variables();
    }
    if matches!(words, [only] if only.as_exact() == Some("-F")) {
        return super::naming::listed_functions(machine);
    }
    if let Some(secret) = printed_secret(machine, words) {
        return Done::next(Exit::with(secret));
    }
    // Outside functions bash refuses this, and zsh does it.
    if declared.local && machine.shell.returns == 0 && machine.shell.locals.is_empty() {
        let before = machine.shell.clone();
        for (name, value) in words.iter().filter_map(assignment) {
            machine.assign(&name, value);
        }
        machine.join_shell(&before);
        // Where it is refused, what was to be set is missing.
        if machine.shell.options.nounset {
            machine.perhaps_ends();
        }
        return Done::next(Exit::answer(None));
    }
    for word in words {
        if let Some(flags) = word.as_exact().and_then(|text| text.strip_prefix(['-', '+'])) {
            for flag in flags.chars() {
                match flag {
                    'x' if word.known_start().starts_with('+') => declared.exported = Some(false),
                    'x' => declared.exported = Some(true),
                    'r' => declared.readonly = true,
                    'a' => declared.list = true,
                    'A' => declared.map = true,
                    'i' | 'u' | 'l' | 'c' if word.known_start().starts_with('+') => {
                        declared.treatment = Some(Treatment::None);
                    }
                    'i' => declared.treatment = Some(Treatment::Integer),
                    'u' => declared.treatment = Some(Treatment::Upper),
                    'l' => declared.treatment = Some(Treatment::Lower),
                    'c' => declared.treatment = Some(Treatment::Capital),
                    'g' => {
                        declared.local = false;
                        declared.global = true;
                    }
                    'n' if word.known_start().starts_with('-') => declared.reference = true,
                    'f' | 'F' => declared.functions = true,
                    't' => declared.traced = Some(word.known_start().starts_with('-')),
                    'I' => declared.inherits = true,
                    _ => {}
                }
            }
            continue;
        }
        if declared.functions {
            if let (Some(name), Some(traced)) = (word.as_exact(), declared.traced) {
                machine.shell.traps.trace(name, traced);
            }
            if let (Some(name), Some(true)) = (word.as_exact(), declared.exported) {
                machine.shell.exported_functions.insert(name.to_owned());
            }
            if let (Some(name), true) = (word.as_exact(), declared.readonly) {
                machine.shell.fixed_functions.insert(name.to_owned());
            }
            continue;
        }
        // `export` and `readonly` refuse an element.
        let takes_elements = declared.exported.is_none() && !declared.readonly;
        let (name, value) =
            match assignment(word).or_else(|| element_assignment(word).filter(|_| takes_elements)) {
                Some((name, value)) => (name, Some(value)),
                None => match word.as_exact() {
                    Some(name) => (name.to_owned(), None),
                    None => continue,
                },
            };
        let (name, append) = match name.strip_suffix('+') {
            Some(name) => (name.to_owned(), true),
            None => (name, false),
        };
        if declared.exported.is_some() || declared.readonly || declared.global {
            // Of bash such a variable is kept, also where it stood in front of a command alone.
            machine.kept_variables.insert(name.clone());
        }
        // What is said of a reference holds for what it refers to.
        let name = if declared.reference || declared.local {
            name
        } else {
            machine.shell.referred(&name).to_owned()
        };
        if declared.local {
            let before = machine.shell.variables.get(&name).cloned();
            if let Some(frame) = machine.shell.locals.last_mut()
                && !frame.contains_key(&name)
            {
                frame.insert(name.clone(), before);
                // It begins as the one around it where that is said, and always in a shell that knows no more than POSIX (dash(1), `local`).
                let inherits = declared.inherits || machine.shell.speech == Speech::Posix;
                if value.is_none() && !declared.list && !declared.map && !inherits {
                    machine.shell.variables.insert(
                        name.clone(),
                        Variable {
                            content: if machine.shell.options.localvar_inherit {
                                VariableContent::Unknown
                            } else {
                                VariableContent::Unset
                            },
                            exported: false,
                            readonly: false,
                            origin: None,
                            treatment: Treatment::None,
                        },
                    );
                }
            }
        }
        if declared.local
            && let Some((array, _)) = name.split_once('[')
        {
            // An array of this function, which begins empty.
            let before = machine.shell.variables.get(array).cloned();
            if let Some(frame) = machine.shell.locals.last_mut() {
                frame.entry(array.to_owned()).or_insert(before);
            }
            machine.evaluate_subscript(&name);
            machine.assign_content(array, VariableContent::Unknown);
            continue;
        }
        if declared.global && hidden(machine, &name, value.as_ref()) {
            continue;
        }
        if let Some(treatment) = declared.treatment {
            machine.treat(name.split_once('[').map_or(name.as_str(), |(array, _)| array), treatment);
        }
        if declared.exported.is_none() && !declared.readonly {
            machine.evaluate_subscript(&name);
        }
        if declared.reference {
            machine.shell.references.remove(&name);
            let target = value.as_ref().and_then(Value::as_exact);
            if let Some(target) = target.filter(|target| is_variable_name(target) && *target != name) {
                machine.shell.references.insert(name, target.to_owned());
                continue;
            }
        }
        match value {
            Some(value) => {
                let value = match name.split_once('[') {
                    Some(_) if append => Value::Unknown,
                    None if append => machine.appended(&name, &value),
                    Some(_) | None => value,
                };
                if let (true, Some(target)) = (declared.reference, value.as_exact().map(str::to_owned)) {
                    machine.evaluate_subscript(&target);
                }
                machine.assign_named(&name, value);
                machine.keep_origin(&name);
            }
            None if declared.map => {
                match machine.shell.variables.get(&name).map(|variable| variable.content.clone()) {
                    // The elements were assigned as those of a list already, when the operand had any.
                    Some(VariableContent::Map(_)) => {}
                    Some(VariableContent::List(items)) if !items.is_empty() => {
                        machine.assign_content(&name, VariableContent::Unknown);
                    }
                    _ => machine.assign_content(&name, VariableContent::Map(BTreeMap::new())),
                }
            }
            None if declared.list => {
                if !matches!(
                    machine.shell.variables.get(&name).map(|variable| &variable.content),
                    Some(VariableContent::List(_) | VariableContent::Unknown)
                ) {
                    machine.assign_content(&name, VariableContent::List(BTreeMap::new()));
                }
            }
            None => {
                let is_here = machine.shell.variables.contains_key(&name);
                if (declared.exported.is_some() || declared.readonly) && !is_here {
                    match machine.variable(&name) {
                        Some(value) => machine.assign(&name, value),
                        None if declared.exported == Some(true) => {
                            machine.shell.exported_once_set.insert(name.clone());
                        }
                        None => {}
                    }
                }
            }
        }
        if declared.reference {
            machine.treat(&name, Treatment::Reference);
            machine.leave_open(&name);
        }
        if declared.exported == Some(true) {
            machine.mark_telling_variables(&[name.as_str()]);
        }
        if let Some(variable) = machine.shell.variables.get_mut(&name) {
            if let Some(exported) = declared.exported {
                variable.exported = exported;
            }
            variable.readonly |= declared.readonly;
        }
    }
    Done::quiet()
}

/// The name and value of `NAME=value`.
pub fn assignment(word: &Value) -> Option<(String, Value)> {
    let is_name = |name: &str| {
        let name = name.strip_suffix('+').unwrap_or(name);
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let start = word.known_start();
    let (name, rest) = start.split_once('=')?;
    if !is_name(name) {
        return None;
    }
    let cut = name.len() + 1;
    let value = match word {
        Value::Exact(text) => Value::exact(text.get(cut..)?),
        Value::AnyOf(texts) => {
            Value::one_of(texts.iter().filter_map(|text| text.get(cut..).map(str::to_owned)).collect())
        }
        Value::Between { suffix, .. } if rest.is_empty() && suffix.is_empty() => Value::Unknown,
        Value::Between { suffix, .. } => Value::Between { prefix: rest.to_owned(), suffix: suffix.clone() },
        Value::Glob(pattern) => Value::Glob(pattern.get(cut..)?.to_owned()),
        Value::Unknown => return None,
    };
    Some((name.to_owned(), value))
}

/// The element and value of `NAME[subscript]=value`.
fn element_assignment(word: &Value) -> Option<(String, Value)> {
    let text = word.as_exact()?;
    let (array, rest) = text.split_once('[')?;
    assignment(&Value::Exact(format!("{array}=")))?;
    let close = rest.find("]=").map(|close| (close, 2)).or_else(|| Some((rest.find("]+=")?, 3)));
    let (close, length) = close?;
    let append = if length == 3 { "+" } else { "" };
    let (subscript, value) = (rest.get(..close)?, rest.get(close + length..)?);
    Some((format!("{array}[{subscript}]{append}"), Value::exact(value)))
}

pub(super) fn unset(machine: &mut Machine<'_>, words: &[Value]) -> Done {
    let functions = words.iter().any(|word| word.as_exact() == Some("-f"));
    let references = words.iter().any(|word| word.as_exact() == Some("-n"));
    let variables = words.iter().any(|word| word.as_exact() == Some("-v"));
    for word in words {
        if let (true, Some(name)) = (references, word.as_exact()) {
            machine.shell.references.remove(name);
            if let Some(variable) = machine.shell.variables.get_mut(name)
                && variable.treatment == Treatment::Reference
            {
                variable.treatment = Treatment::None;
                variable.content = VariableContent::Unset;
            }
            continue;
        }
        let Some(name) = word.as_exact().filter(|name| !name.starts_with('-')) else { continue };
        // Of a reference it is what it stands for.
        let target = if functions { name.to_owned() } else { machine.shell.referred(name).to_owned() };
        let name = target.as_str();
        if name == "HISTFILE" {
            machine.forget_history("what is typed is not recorded any more");
        }
        if !functions && !variables && machine.shell.functions.contains_key(name) {
            // bash takes the function away where there is no variable of that name, other shells never do.
            machine.perhaps(|machine| {
                machine.shell.undefine(name);
                Done::quiet()
            });
        }
        if functions {
            machine.shell.undefine(name);
        } else if let Some((array, key)) = name.split_once('[') {
            machine.evaluate_subscript(name);
            let key = key.trim_end_matches(']').to_owned();
            unset_element(machine, array, &key);
        } else if !machine.shell.variables.get(name).is_some_and(|variable| variable.readonly) {
            machine.shell.variables.insert(name.to_owned(), Variable::unset());
        }
    }
    Done::quiet()
}

/// Whether a variable of the shell is hidden by a local one of a running function; it then gets the value for later.
fn hidden(machine: &mut Machine<'_>, name: &str, value: Option<&Value>) -> bool {
    let Some(before) = machine.shell.locals.iter_mut().find_map(|frame| frame.get_mut(name)) else {
        return false;
    };
    if value.is_some() {
        // What else is declared of it is not followed.
        *before = Some(Variable {
            content: VariableContent::Unknown,
            exported: before.as_ref().is_some_and(|variable| variable.exported),
            readonly: false,
            origin: None,
            treatment: Treatment::None,
        });
    }
    true
}

/// Takes one element away. Where it is not known which, nothing is known of the array.
fn unset_element(machine: &mut Machine<'_>, array: &str, key: &str) {
    let array = machine.shell.referred(array).to_owned();
    let Some(content) = machine.shell.variables.get(&array).map(|variable| variable.content.clone()) else {
        return;
    };
    let content = match content {
        VariableContent::List(_) | VariableContent::Map(_) if matches!(key, "@" | "*") => {
            VariableContent::Unknown
        }
        VariableContent::List(mut items) => {
            // What runs in it ran before.
            let known = if key.contains(['$', '`']) { None } else { machine.arithmetic_text(key) };
            let index = known.and_then(|index| match items.keys().next_back() {
                Some(last) if index < 0 => last.checked_add(1)?.checked_add(index),
                Some(_) | None => Some(index),
            });
            match index {
                Some(index) => {
                    items.remove(&index);
                    VariableContent::List(items)
                }
                None => VariableContent::Unknown,
            }
        }
        VariableContent::Map(mut items) => {
            if key.contains(['$', '`']) {
                VariableContent::Unknown
            } else {
                items.remove(key);
                VariableContent::Map(items)
            }
        }
        // The text of a plain variable is its first element.
        VariableContent::Scalar(_) => VariableContent::Unknown,
        VariableContent::Unknown | VariableContent::Unset => return,
    };
    machine.assign_content(&array, content);
}

/// The secret that `declare -p NAME` prints: by the name, or because the value came from one.
fn printed_secret(machine: &Machine<'_>, words: &[Value]) -> Option<Output> {
    let is_printing = |text: &str| {
        text.strip_prefix('-').is_some_and(|flags| flags.contains('p') && !flags.contains(['f', 'F']))
    };
    if !words.iter().filter_map(Value::as_exact).any(is_printing) {
        return None;
    }
    let names = || words.iter().filter_map(Value::as_exact);
    if let Some(name) = names().find(|name| secrets::is_secret_name(name)) {
        return Some(Output::Secret(format!("${name}")));
    }
    let origin = |name: &str| machine.shell.variables.get(name)?.origin.clone();
    names().find_map(|name| {
        let kept = origin(name).filter(|origin| matches!(origin, Output::Secret(_)));
        kept.or_else(|| machine.variable(name).and_then(|value| machine.secret_held(&value)))
    })
}

/// All variables with what they hold, as `set`, `export -p` and `declare -p` print them.
fn all_variables() -> Done {
    Done::next(Exit::with(Output::Secret(ALL_VARIABLES.to_owned())))
}

pub(super) fn set(machine: &mut Machine<'_>, words: &[Value]) -> Done {
    if words.is_empty() {
        return all_variables();
    }
    machine.keep_arguments_elsewhere();
    let mut rest = words.iter().enumerate();
    while let Some((index, word)) = rest.next() {
        let text = word.as_exact();
        match text {
            Some("--") => {
                machine.shell.positional = arguments_from(machine, words, index + 1);
                break;
            }
            // The old form leaves the arguments alone where none follow, and ends `-x` and `-v`.
            Some("-") => {
                machine.flow.shows_commands = false;
                if let Some(arguments) = words.get(index + 1..).filter(|rest| !rest.is_empty()) {
                    machine.shell.positional = Some(arguments.to_vec());
                }
                break;
            }
            Some(flags) if flags.starts_with(['-', '+']) && flags.len() > 1 => {
                let on = flags.starts_with('-');
                for flag in flags.chars().skip(1) {
                    if machine.shell.options.is_zsh
                        && let Some(option) = option_of_zsh(flag)
                    {
                        shell_options(machine, &[Value::exact(option)], on);
                        continue;
                    }
                    match flag {
                        // `-f` leaves start-up files out, `-k` allows comments, `-B` has no bell, `-P` has to do with lists.
                        'f' | 'k' | 'B' | 'P' if machine.shell.options.is_zsh => {}
                        'e' => machine.shell.options.set_errexit(on),
                        'x' if on => {
                            machine.flow.shows_commands = true;
                            machine.show_prompt("PS4");
                        }
                        'v' if on => machine.flow.shows_commands = true,
                        'x' | 'v' => machine.flow.shows_commands = false,
                        'u' => machine.shell.options.nounset = on,
                        'f' => machine.shell.options.noglob = on,
                        'P' => machine.shell.options.physical = on,
                        'C' => machine.shell.options.noclobber = on,
                        'a' => machine.shell.options.allexport = on,
                        'k' => machine.shell.options.keyword = on,
                        'T' => machine.shell.options.functrace = on,
                        'H' if !machine.shell.options.is_zsh => machine.shell.options.histexpand = on,
                        'B' => note_braces(machine, on),
                        'o' => {
                            let name = rest.next().and_then(|(_, word)| word.as_exact());
                            if let (true, Some(name)) = (machine.shell.options.is_zsh, name) {
                                shell_options(machine, &[Value::exact(name)], on);
                            }
                            match name {
                                Some("errexit") => machine.shell.options.set_errexit(on),
                                Some("nounset") => machine.shell.options.nounset = on,
                                Some("noclobber") => machine.shell.options.noclobber = on,
                                Some("allexport") => machine.shell.options.allexport = on,
                                Some("braceexpand") => note_braces(machine, on),
                                Some("noglob") => machine.shell.options.noglob = on,
                                Some("physical") => machine.shell.options.physical = on,
                                Some("keyword") => machine.shell.options.keyword = on,
                                Some("posix") => set_posix(&mut machine.shell.options, on),
                                Some("pipefail") => machine.shell.options.pipefail = on,
                                Some("xtrace" | "verbose") => machine.flow.shows_commands = on,
                                Some("functrace") => machine.shell.options.functrace = on,
                                Some("histexpand") => machine.shell.options.histexpand = on,
                                Some("history") if on => {
                                    machine.shell.options.history = true;
                                    if let Some(file) = machine.variable("HISTFILE") {
                                        super::naming::remember_lines(machine, &file);
                                    }
                                    // What is run from here on is added to the file when the shell ends.
                                    machine.possibly(super::naming::write_history);
                                }
                                Some("history") if !on => {
                                    machine.shell.options.history = false;
                                    machine.forget_history("what is typed is not recorded any more");
                                }
                                _ => {}
                            }
                        }
                        _ => {}
                    }
                }
            }
            Some(_) | None => {
                machine.shell.positional = arguments_from(machine, words, index);
                break;
            }
        }
    }
    Done::quiet()
}

/// The arguments that `set` is given; nothing is known of them where one may be several.
fn arguments_from(machine: &Machine<'_>, words: &[Value], start: usize) -> Option<Vec<Value>> {
    (!machine.loose).then(|| words.get(start..).unwrap_or_default().to_vec())
}

fn set_posix(options: &mut Options, on: bool) {
    options.posix = on;
    options.perhaps_posix = false;
}

/// Braces are read before anything runs, as bash reads them when it is told nothing.
fn note_braces(machine: &mut Machine<'_>, on: bool) {
    if !on {
        machine.unread("braces are not expanded behind this, which is not followed");
    }
}

pub(super) fn shopt(machine: &mut Machine<'_>, words: &[Value]) -> Done {
    let on = !words
        .iter()
        .any(|word| word.as_exact().is_some_and(|text| text.starts_with('-') && text.contains('u')));
    let changes = words
        .iter()
        .any(|word| word.as_exact().is_some_and(|text| text.starts_with('-') && text.contains(['s', 'u'])));
    if changes { shell_options(machine, words, on) } else { Done::next(Exit::answer(None)) }
}

/// The options of zsh that have other letters than those of bash, or none there (zshoptions(1) 5.9, "Single letter options").
fn option_of_zsh(letter: char) -> Option<&'static str> {
    Some(match letter {
        'F' => "noglob",
        'G' => "nullglob",
        '4' => "globdots",
        'T' => "cdablevars",
        _ => return None,
    })
}

pub(super) fn shell_options(machine: &mut Machine<'_>, words: &[Value], on: bool) -> Done {
    for word in words {
        let name = word.as_exact().unwrap_or_default().to_ascii_lowercase().replace('_', "");
        // `unsetopt glob`, `setopt no_null_glob` (zshoptions(1), "Specifying options").
        let (name, on) = match (name.as_str(), name.strip_prefix("no")) {
            ("glob" | "clobber" | "unset", _) => (format!("no{name}"), !on),
            ("noglob" | "noclobber" | "nounset" | "nocaseglob" | "nocasematch", _) => (name, on),
            (_, Some(plain)) if machine.shell.options.is_zsh => (plain.to_owned(), !on),
            _ => (name, on),
        };
        let options = &mut machine.shell.options;
        match name.as_str() {
            "nullglob" => options.nullglob = on,
            "failglob" => options.failglob = on,
            "dotglob" | "globdots" => options.dotglob = on,
            "globstar" => options.globstar = on,
            "nocaseglob" => options.nocaseglob = on,
            "extglob" | "kshglob" => options.extglob = on,
            "extendedglob" => options.extendedglob = on,
            "expandaliases" => options.aliases = on,
            "extdebug" => options.extdebug = on,
            "execfail" => options.execfail = on,
            "cdablevars" => options.cdable_vars = on,
            "keyword" => options.keyword = on,
            "posix" => set_posix(options, on),
            "lastpipe" => options.lastpipe = on,
            "functrace" => options.functrace = on,
            "history" => options.history = on,
            "histexpand" => options.histexpand = on,
            "nocasematch" => {
                options.nocasematch = on;
                options.perhaps_nocasematch = false;
            }
            "xpgecho" => options.xpg_echo = on,
            "allexport" => options.allexport = on,
            "localvarinherit" => options.localvar_inherit = on,
            "pipefail" => options.pipefail = on,
            "noglob" => options.noglob = on,
            "noclobber" => options.noclobber = on,
            "errexit" => options.set_errexit(on),
            "nounset" => options.nounset = on,
            _ => {}
        }
    }
    super::note_skipping(machine);
    Done::quiet()
}
