//! Settings that the environment gives.

use crate::interpreter::{Machine, Value};

use super::{Settings, split_words};

impl Settings {
    /// The greatest number of settings that are taken from variables (ours).
    const VARIABLES: usize = 64;

    /// Adds what the environment gives as if it stood behind `-c`: `GIT_CONFIG_COUNT` with its keys and values, and `GIT_CONFIG_PARAMETERS`
    /// (git-config(1), "Environment"). What the environment of the agent held before the command is not of interest.
    pub(in super::super) fn give_variables(&mut self, machine: &Machine<'_>) {
        let set = |name: &str| {
            let before = machine.world().variable(name);
            machine.variable(name).filter(|value| value.as_exact() != before.as_deref())
        };
        let count = machine.variable("GIT_CONFIG_COUNT");
        let count =
            count.as_ref().and_then(Value::as_exact).and_then(|text| text.trim().parse::<usize>().ok());
        for index in 0..count.unwrap_or(0).min(Self::VARIABLES) {
            let (name, text) = (format!("GIT_CONFIG_KEY_{index}"), format!("GIT_CONFIG_VALUE_{index}"));
            if set(&name).is_none() && set(&text).is_none() {
                continue;
            }
            let key = machine.variable(&name);
            let key = key.as_ref().and_then(Value::as_exact).unwrap_or("core.sshcommand");
            self.give(key, machine.variable(&text).unwrap_or(Value::Unknown));
        }
        match set("GIT_CONFIG_PARAMETERS") {
            Some(Value::Exact(text)) => {
                for word in split_words(&text) {
                    self.give_assignment(&Value::Exact(word));
                }
            }
            Some(_) => self.give("core.sshcommand", Value::Unknown),
            None => {}
        }
    }
}
