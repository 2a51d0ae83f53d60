//! Text that the shell evaluates a second time: subscripts in arithmetic and in names of variables, prompts, callbacks, aliases.
//!
//! The list is that of the manual of bash: "Arithmetic Evaluation", "Arrays", "Controlling the Prompt", "Bash Builtin Commands",
//! "Programmable Completion Builtins", "Bash Variables".

use std::rc::Rc;

use checkrein_shell::{Command, RedirectOperation};

use super::machine::Machine;
use super::shell::{Shell, Treatment, Variable, VariableContent};
use super::statements::Done;
use super::value::Value;
use super::ways::Leaving;

/// Variables that a shell expands like a prompt whenever it shows one.
const PROMPTS: &[&str] = &["PS0", "PS1", "PS2", "PS3", "PS4", "PROMPT", "RPROMPT", "RPS1"];

impl Machine<'_> {
    /// What a text becomes that is expanded once more as if it stood in double quotes.
    pub(crate) fn expand_again(&mut self, text: &str) -> Value {
        if !is_expanded(text) {
            return Value::exact(text);
        }
        if self.budget.scanning > 0 {
            self.scan_text(&format!(": \"{text}\""));
            return Value::Unknown;
        }
        if self.budget.texts >= 24 {
            self.unread("text is nested too deeply to be followed");
            return Value::Unknown;
        }
        let end = "END_OF_EXPANDED_TEXT";
        let parsed = checkrein_shell::parse(&format!(": <<{end}\n{text}\n{end}\n"));
        let word = parsed.script.iter().find_map(|statement| match &statement.command {
            Command::Simple(simple) => {
                simple.redirects.iter().find_map(|redirect| match &redirect.operation {
                    RedirectOperation::HereDocument(word) => Some(word),
                    _ => None,
                })
            }
            _ => None,
        });
        let Some(word) = word else {
            self.unread("text that the shell expands could not be read");
            return Value::Unknown;
        };
        self.budget.texts += 1;
        self.budget.depth += 1;
        let value = self.expand_text(word);
        self.budget.depth -= 1;
        self.budget.texts -= 1;
        super::expand::without_newlines(value)
    }

    /// Runs the substitutions in a text that arithmetic evaluates.
    pub(super) fn run_substitutions(&mut self, text: &str) -> Option<String> {
        if self.shell.options.nounset {
            // It does not come to that when the array is not there: that ends the shell.
            self.perhaps_ends();
            return self.possibly(|machine| machine.expand_again(text)).as_exact().map(str::to_owned);
        }
        self.expand_again(text).as_exact().map(str::to_owned)
    }

    /// Evaluates the subscript in what stands for the name of a variable: `a[$(command)]`.
    pub(crate) fn evaluate_subscript(&mut self, name: &str) {
        let Some((_, subscript)) = name.split_once('[') else { return };
        let subscript = subscript.strip_suffix(']').unwrap_or(subscript).to_owned();
        if matches!(subscript.as_str(), "@" | "*") {
            return;
        }
        // Where there is no array of that name, some commands do not look at it.
        self.possibly(|machine| {
            if let Some(text) = machine.expand_again(&subscript).as_exact().map(str::to_owned) {
                machine.arithmetic_text(&text);
            }
        });
    }

    /// Assigns what may be an element of an array; the subscript is evaluated.
    pub(crate) fn assign_named(&mut self, name: &str, value: Value) {
        match name.split_once('[') {
            None => {
                self.assign(name, value);
                self.note_shell_variable(name);
            }
            Some((array, subscript)) => {
                let array = array.to_owned();
                let subscript = subscript.strip_suffix(']').unwrap_or(subscript).to_owned();
                let key = self.expand_again(&subscript);
                self.assign_element(&array, &key, value, false);
            }
        }
    }

    /// Sets what becomes of every text that is assigned to a variable from here on.
    pub(crate) fn treat(&mut self, name: &str, treatment: Treatment) {
        let unset = Variable {
            content: VariableContent::Unset,
            exported: self.world.variable(name).is_some(),
            readonly: false,
            origin: None,
            treatment,
        };
        let known = self.variable(name).map(VariableContent::Scalar);
        let entry = self.shell.variables.entry(name.to_owned());
        entry
            .or_insert_with(|| Variable { content: known.unwrap_or(VariableContent::Unset), ..unset })
            .treatment = treatment;
    }

    /// Goes on with what holds now or held before.
    pub(crate) fn join_shell(&mut self, before: &Shell) {
        let environment = |name: &str| self.environment(name);
        self.shell = self.shell.clone().join(before, &environment);
    }

    /// What an assignment to a variable does that the shell itself reads, or by which other programs run code.
    pub(super) fn note_shell_variable(&mut self, name: &str) {
        if name == "PROMPT_COMMAND" {
            // The shell itself runs it.
            self.mark_telling_variables(&["PROMPT_COMMAND"]);
        } else if name == "POSIXLY_CORRECT" {
            self.shell.options.posix = true;
        } else if PROMPTS.contains(&name) {
            self.show_prompt(name);
        } else if self.shell.variables.get(name).is_some_and(|variable| variable.exported) {
            // Programs see what it holds now, whenever it was exported.
            self.mark_telling_variables(&[name]);
        }
    }

    /// Expands a variable as a prompt: what it holds in substitutions runs.
    pub(crate) fn show_prompt(&mut self, name: &str) {
        let Some(value) = self.variable(name) else { return };
        for text in value.alternatives().unwrap_or_default().to_vec() {
            // What its variables hold is shown in front of each command.
            if name == "PS4" && text.contains('$') || holds_command(&text) {
                let text = text.replace("\\$", "$");
                self.possibly(|machine| {
                    let (shell, failed) = (machine.shell.clone(), machine.call.failed);
                    machine.expand_again(&text);
                    machine.shell = shell;
                    machine.call.failed = failed;
                });
            }
        }
    }

    /// `BASH_CMDS[name]=path`, `BASH_ALIASES[name]=text`, `hash -p path name`: what the name stands for from then on.
    pub(crate) fn stands_for(&mut self, name: &str, text: &str) {
        self.note_reading(name, text);
        let parsed = checkrein_shell::parse(&format!("{text} \"$@\""));
        let before = self.shell.clone();
        self.shell.define(name, Rc::new(Command::Group(parsed.script)));
        // A shell that does not know the table runs what the name says.
        self.shell.join_functions(&before);
    }

    /// Adds that an alias changes how the text behind it is read, when it is no beginning of a simple command: what runs then is not what
    /// was read here.
    pub(crate) fn note_reading(&mut self, name: &str, text: &str) {
        if !begins_command(name, text) {
            self.unread(format!("the alias `{name}` changes how what follows it is read"));
        }
    }

    /// Runs the text of an alias with the words behind it. Behind a blank at its end the next word may be one, too.
    pub(super) fn run_alias(&mut self, name: &str, text: &str, rest: &[Value]) -> Done {
        let (mut text, mut rest) = (text.to_owned(), rest);
        while text.ends_with([' ', '\t']) && text.len() < super::expand::TEXT {
            let Some((first, more)) = rest.split_first() else { break };
            let Some(next) = first.as_exact().and_then(|name| self.shell.aliases.get(name)) else { break };
            text.push_str(next);
            rest = more;
        }
        let text = format!("{text} \"$@\"");
        if self.budget.depth >= super::statements::DEPTH {
            self.unread("aliases are nested too deeply to be followed");
            return self.scan_text(&text);
        }
        let parsed = checkrein_shell::parse(&text);
        self.position.aliases_running.push(name.to_owned());
        let positional = self.shell.positional.replace(rest.to_vec());
        self.budget.depth += 1;
        let done = self.run_block(&parsed.script);
        self.budget.depth -= 1;
        self.shell.positional = positional;
        self.position.aliases_running.pop();
        done
    }

    /// Runs a text that another command runs later or with words of its own, when it is known.
    pub(crate) fn run_callback(&mut self, text: &Value) {
        self.run_callback_text(&text.followed_by(&Value::exact(" 0 ''")));
    }

    /// The same, with the words that it gets.
    pub(crate) fn run_callback_text(&mut self, text: &Value) {
        self.perhaps(|machine| machine.run_here(text));
    }

    /// A command that begins with an alias: it is expanded where the shell does that, and not on the line on which it is made.
    pub(super) fn call_alias(
        &mut self,
        name: &str,
        text: &str,
        rest: &[Value],
        plain: impl FnOnce(&mut Self) -> Done,
    ) -> Done {
        self.either(Leaving::Doubts, |machine| machine.run_alias(name, text, rest), plain)
    }

    /// Remembers functions that the environment brings: `BASH_FUNC_name%%=() { ...; }`. Answers whether the word is one.
    pub fn takes_exported_function(&mut self, word: &Value) -> bool {
        let Some(text) = word.as_exact() else { return false };
        let Some((name, body)) = text.strip_prefix("BASH_FUNC_").and_then(|text| text.split_once("%%="))
        else {
            return false;
        };
        let (name, body) = (name.to_owned(), body.to_owned());
        let parsed = checkrein_shell::parse(&format!("{name} {body}"));
        match parsed.script.into_iter().next().map(|statement| statement.command) {
            Some(Command::Function(function)) => {
                self.shell.define(&function.name, Rc::new(*function.body));
                self.shell.exported_functions.insert(function.name);
            }
            _ => self.unread("a function in the environment could not be read"),
        }
        true
    }

    /// Runs what a command reads as words of the shell: `compgen -W`.
    pub(crate) fn run_word_list(&mut self, text: &Value) {
        if let Some(text) = text.as_exact().map(str::to_owned) {
            self.expand_again(&text);
        }
    }
}

/// Words of the grammar of bash ("Reserved Words").
const RESERVED: &[&str] = &[
    "if", "then", "else", "elif", "fi", "case", "esac", "for", "select", "while", "until", "do", "done",
    "in", "function", "time", "coproc", "{", "}", "!", "[[", "]]",
];

/// Whether what stands behind the text of an alias is read as it would be behind the name alone: as further words of a simple command, or as
/// the next one. Told by two words put there, which must come out as they went in, and must not be part of anything larger.
fn begins_command(name: &str, text: &str) -> bool {
    const WORDS: [&str; 2] = ["FIRST_WORD_BEHIND", "SECOND_WORD_BEHIND"];
    if RESERVED.contains(&name) {
        return false;
    }
    // A comment ends with its line.
    [format!("{text} {} {}", WORDS[0], WORDS[1]), format!("{text}\n{} {}", WORDS[0], WORDS[1])].iter().any(|text| {
        let parsed = checkrein_shell::parse(text);
        let last = parsed.script.last().and_then(|statement| last_simple(&statement.command));
        parsed.problems.is_empty()
            && last.is_some_and(|simple| {
                let written: Vec<_> = simple.words.iter().map(super::sweeps::written).collect();
                simple.redirects.iter().all(|redirect| {
                    !matches!(redirect.operation, RedirectOperation::HereDocument(_))
                }) && matches!(written.as_slice(), [.., Some(first), Some(second)] if first == WORDS[0] && second == WORDS[1])
            })
    })
}

/// The simple command with which a command ends, when nothing stands around it.
fn last_simple(command: &Command) -> Option<&checkrein_shell::Simple> {
    match command {
        Command::Simple(simple) => Some(simple),
        Command::Pipeline(pipeline) => last_simple(&pipeline.stages.last()?.command),
        Command::AndOr(list) => last_simple(list.rest.last().map_or(&*list.first, |(_, command)| command)),
        Command::Time(inner) => last_simple(inner),
        _ => None,
    }
}

/// Whether a text holds a command that an expansion runs.
pub(crate) fn holds_command(text: &str) -> bool {
    text.contains("$(") || text.contains('`') || text.contains("${ ") || text.contains("${|")
}

fn is_expanded(text: &str) -> bool {
    text.contains(['$', '`', '\\'])
}
