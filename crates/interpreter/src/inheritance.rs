//! The environment that a program is started with: what it inherits, and what is set or taken away on the way.

use std::collections::BTreeMap;

use super::machine::Machine;
use super::shell::{Variable, VariableContent};
use super::value::Value;

/// Variables that every program of a session finds.
const ALWAYS: [&str; 6] = ["HOME", "PATH", "PWD", "USER", "LOGNAME", "SHELL"];

/// Variables that a shell, or the one that starts the program, sets anew where nothing is handed on: `env -i sh -c 'ls'` finds `ls`.
const SET_ANEW: [&str; 6] = ["PATH", "PWD", "IFS", "PPID", "SHELL", "BASH"];

/// Variables that programs which change the user set for the other one (sudoers(5), "Command environment"; su(1), "-p").
const OF_THE_USER: [&str; 4] = ["HOME", "USER", "LOGNAME", "MAIL"];

/// What of the environment a program is started with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inheritance {
    /// All of it.
    Everything,
    /// Nothing (`env -i`).
    Nothing,
    /// Nothing, but for what is of the user, which is set anew (`su -`).
    OfTheUser,
    /// Nothing, or all of it, as settings say that are not read (`sudo`), and what is of the user.
    PerhapsEverything,
}

impl Machine<'_> {
    /// Runs `work` as what is started with this part of the environment. Functions that were exported are part of it.
    pub fn with_inheritance<T>(&mut self, inheritance: Inheritance, work: impl FnOnce(&mut Self) -> T) -> T {
        if inheritance == Inheritance::Everything {
            return work(self);
        }
        let variables = self.shell.variables.clone();
        let perhaps_unset = self.shell.perhaps_unset.clone();
        let functions = self.shell.exported_functions.clone();
        for name in self.handed_on() {
            let is_of_user = OF_THE_USER.contains(&name.as_str());
            if SET_ANEW.contains(&name.as_str()) || is_of_user && inheritance != Inheritance::Nothing {
                continue;
            }
            if inheritance == Inheritance::PerhapsEverything {
                self.perhaps_taken_away(&name);
            } else {
                self.shell.variables.insert(name, Variable::unset());
            }
        }
        if inheritance != Inheritance::PerhapsEverything {
            self.shell.exported_functions.clear();
        }
        let answer = work(self);
        self.shell.variables = variables;
        self.shell.perhaps_unset = perhaps_unset;
        self.shell.exported_functions = functions;
        answer
    }

    /// Runs `work` as what is started without these variables.
    pub fn without_variables<T>(&mut self, names: &[String], work: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.shell.variables.clone();
        for name in names.iter().filter(|name| !SET_ANEW.contains(&name.as_str())) {
            self.shell.variables.insert(name.clone(), Variable::unset());
        }
        let answer = work(self);
        self.shell.variables = before;
        answer
    }

    /// The names of all variables that a program is handed.
    fn handed_on(&self) -> Vec<String> {
        let own = self.shell.variables.iter().filter(|(_, variable)| variable.exported);
        let own = own.map(|(name, _)| name.clone());
        let always = ALWAYS.map(str::to_owned);
        let of_world = self.world.variable_names().into_iter().chain(always);
        own.chain(of_world.filter(|name| !self.shell.variables.contains_key(name))).collect()
    }

    fn perhaps_taken_away(&mut self, name: &str) {
        let nothing = Value::exact("");
        let content = match self.shell.variables.get(name).map(|variable| &variable.content) {
            Some(VariableContent::Scalar(value)) => VariableContent::Scalar(value.join(&nothing)),
            Some(VariableContent::Unset) => return,
            Some(VariableContent::List(_) | VariableContent::Map(_) | VariableContent::Unknown) => {
                VariableContent::Scalar(Value::Unknown)
            }
            None => match self.environment(name) {
                Some(value) => VariableContent::Scalar(value.join(&nothing)),
                None => return,
            },
        };
        self.shell.perhaps_unset.insert(name.to_owned());
        let exported = Variable { exported: true, content, ..Variable::unset() };
        self.shell.variables.insert(name.to_owned(), exported);
    }

    /// Runs `work` with variables of the environment set.
    pub fn with_variables<T>(
        &mut self,
        variables: Vec<(String, Value)>,
        work: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let before = self.shell.variables.clone();
        for (name, value) in variables {
            self.assign(&name, value);
            if let Some(variable) = self.shell.variables.get_mut(&name) {
                variable.exported = true;
            }
        }
        let answer = work(self);
        self.shell.variables = before;
        answer
    }

    /// Runs `work` as a program that hands on its environment with these variables set, or taken away. What only the shell holds is not
    /// there.
    pub fn in_environment<T>(
        &mut self,
        changes: Vec<(String, Option<Value>)>,
        work: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let before = self.shell.variables.clone();
        let world = self.world;
        self.shell.variables.retain(|name, variable| {
            variable.exported || variable.content == VariableContent::Unset || world.variable(name).is_some()
        });
        let (mut set, mut gone) = (Vec::new(), Vec::new());
        for (name, value) in changes {
            match value {
                Some(value) => set.push((name, value)),
                None => gone.push(name),
            }
        }
        let answer = self.without_variables(&gone, |machine| machine.with_variables(set, work));
        self.shell.variables = before;
        answer
    }

    /// Whether a program finds a variable in its environment, as far as is seen: shells keep many of their own to themselves.
    pub(super) fn is_seen_by_programs(&self, name: &str) -> bool {
        match self.shell.variables.get(name) {
            Some(variable) => variable.exported,
            None => ALWAYS.contains(&name) || self.world.variable(name).is_some(),
        }
    }

    /// The variables that a program finds in its environment, each with its value where that is known and may stand in a text: a secret
    /// stays behind its name. `None` where the environment is not known.
    pub fn environment_of_programs(&self) -> Option<BTreeMap<String, Option<String>>> {
        if self.away.is_some() || self.budget.scanning > 0 {
            return None;
        }
        let mut all: BTreeMap<String, Option<String>> = BTreeMap::new();
        let always = ALWAYS.map(str::to_owned);
        for name in self.world.variable_names().into_iter().chain(always) {
            if let Some(value) = self.environment(&name) {
                all.insert(name, value.as_exact().map(str::to_owned));
            }
        }
        for (name, variable) in &self.shell.variables {
            match &variable.content {
                VariableContent::Scalar(value) if variable.exported || all.contains_key(name) => {
                    all.insert(name.clone(), value.as_exact().map(str::to_owned));
                }
                VariableContent::Scalar(_) => {}
                VariableContent::Unset => {
                    all.remove(name);
                }
                VariableContent::List(_) | VariableContent::Map(_) | VariableContent::Unknown => {
                    if variable.exported {
                        all.insert(name.clone(), None);
                    }
                }
            }
        }
        for (name, value) in &mut all {
            if self.secret_in(name).is_some() {
                *value = None;
            }
        }
        Some(all)
    }
}
