//! Operands that stand in a file or come in on the standard input: `tar -T names`, `zip -@`, `7z a x.7z @names`.

use crate::interpreter::{Call, Machine, Output, Value};

/// The greatest number of names that are taken one by one (ours).
const NAMES: usize = 1024;

/// Names in a file, one a line.
pub(super) enum Listed {
    /// Exactly these.
    These(Vec<Value>),
    /// What they are is not known, only where they come from.
    From(Output),
}

impl Listed {
    /// The names in a file; `-` is the standard input of the call.
    pub(super) fn of(machine: &mut Machine<'_>, call: &Call, file: &Value) -> Self {
        let output = match file.as_exact() {
            Some("-" | "/dev/stdin") => Output::from_input(&call.input),
            Some(_) | None => machine.read(file),
        };
        match &output {
            Output::Nothing => Self::These(Vec::new()),
            Output::Text(Value::Exact(text)) if text.lines().count() <= NAMES => {
                // Names may end in a null byte instead, when the program is told so.
                let names = text.split(['\n', '\0']).filter(|name| !name.is_empty());
                Self::These(names.map(Value::exact).collect())
            }
            Output::Text(_)
            | Output::Network(_)
            | Output::Secret(_)
            | Output::Local(_)
            | Output::Setup(_)
            | Output::Unknown => Self::From(output),
        }
    }

    /// Does something with each name; with one of which nothing is known, where they are not known.
    pub(super) fn each(&self, machine: &mut Machine<'_>, mut work: impl FnMut(&mut Machine<'_>, &Value)) {
        match self {
            Self::These(names) => names.iter().for_each(|name| work(machine, name)),
            Self::From(output) => machine.with_words_from(output, |machine| {
                machine.possibly(|machine| work(machine, &Value::Unknown));
            }),
        }
    }
}
