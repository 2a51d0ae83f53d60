//! A call of a program, as its handler sees it.

use super::value::Value;

/// A simple command after expansion: the program and what it is given.
#[derive(Debug, Clone)]
pub struct Call {
    /// The basename of the program.
    pub program: String,
    /// How it was named: the same, or a path.
    pub written: String,
    /// The words behind the program, expanded.
    pub words: Vec<Value>,
    /// What it reads on its standard input.
    pub input: Input,
    /// The words sorted by the grammar of its catalogue entry.
    pub arguments: Arguments,
}

/// What a command reads on its standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// Nothing was connected: the terminal, or what the shell itself reads.
    Inherited,
    /// Text of which something is known: a here-document, a here-string, the output of a pure command.
    Text(Value),
    /// What came over the network (`curl ... |`): the URL or host.
    Network(String),
    /// A secret that was read before (`cat ~/.ssh/id_rsa |`): its path.
    Secret(String),
    /// The content of local files (`cat a b |`, `< a`): the first path.
    Local(String),
    /// The output of a command of which nothing is known.
    Unknown,
}

impl Input {
    /// The text, where all of it is known.
    pub fn as_exact(&self) -> Option<&str> {
        match self {
            Self::Text(value) => value.as_exact(),
            Self::Inherited | Self::Network(_) | Self::Secret(_) | Self::Local(_) | Self::Unknown => None,
        }
    }
}

/// Words sorted into options and operands.
#[derive(Debug, Clone, Default)]
pub struct Arguments {
    /// Options in order, each as its canonical spelling (`-r`, `--recursive`) with its value, if it took one.
    pub options: Vec<(String, Option<Value>)>,
    /// The other words, in order.
    pub operands: Vec<Value>,
    /// Whether some word could not be told to be an option or an operand (its text is not known).
    pub uncertain: bool,
}

impl Arguments {
    /// Whether one of the options was given. A name may carry a value: `-X=DELETE`.
    pub fn has(&self, names: &[&str]) -> bool {
        names.iter().any(|name| {
            self.options.iter().any(|(option, value)| {
                option == name
                    || name.split_once('=').is_some_and(|(wanted, text)| {
                        option == wanted && value.as_ref().and_then(Value::as_exact) == Some(text)
                    })
            })
        })
    }

    /// The value of the last of these options that was given with one.
    pub fn value(&self, names: &[&str]) -> Option<&Value> {
        self.options
            .iter()
            .rev()
            .find(|(option, value)| value.is_some() && names.contains(&option.as_str()))
            .and_then(|(_, value)| value.as_ref())
    }

    /// All values of these options, in order.
    pub fn values<'a>(&'a self, names: &'a [&str]) -> impl Iterator<Item = &'a Value> {
        self.options
            .iter()
            .filter(|(option, _)| names.contains(&option.as_str()))
            .filter_map(|(_, value)| value.as_ref())
    }

    /// An operand as exact text.
    pub fn operand(&self, index: usize) -> Option<&str> {
        self.operands.get(index).and_then(Value::as_exact)
    }
}
