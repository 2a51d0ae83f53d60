//! `print` of ksh and zsh: its words, with what its options put between and behind them (zshbuiltins(1), ksh(1)).

use super::{echo, printed};
use crate::strings;
use crate::{Done, Exit, Machine, Output, Status, Value};

/// How the words are put together.
#[derive(Debug, Clone, Copy)]
struct Form {
    between: &'static str,
    behind: &'static str,
    escapes: bool,
    /// Whether the words come out as they are: not in columns, sorted, as a format or into a variable.
    is_plain: bool,
}

pub(super) fn print(machine: &mut Machine<'_>, words: &[Value]) -> Done {
    let mut form = Form { between: " ", behind: "\n", escapes: true, is_plain: true };
    let mut rest = words;
    while let Some((first, more)) = rest.split_first() {
        let Some(letters) = first.as_exact().and_then(|text| text.strip_prefix('-')) else { break };
        rest = more;
        if letters.is_empty() || letters == "-" {
            break;
        }
        let mut letters = letters.chars();
        while let Some(letter) = letters.next() {
            match letter {
                'l' => form.between = "\n",
                'N' => (form.between, form.behind) = ("\0", "\0"),
                'n' => form.behind = "",
                // Behind `-R` options are those of `echo`.
                'r' | 'R' | 'E' => form.escapes = false,
                'e' => form.escapes = true,
                'D' | 'P' | 'b' | 'm' => {}
                // One column is one name in each line.
                'C' if letters.as_str() == "1"
                    || letters.as_str().is_empty() && rest.first().and_then(Value::as_exact) == Some("1") =>
                {
                    if letters.as_str().is_empty() {
                        rest = rest.get(1..).unwrap_or_default();
                    }
                    form.between = "\n";
                    break;
                }
                'C' | 'f' | 'u' | 'v' | 'X' | 'x' => {
                    if letters.as_str().is_empty() {
                        rest = rest.get(1..).unwrap_or_default();
                    }
                    form.is_plain &= letter == 'u';
                    break;
                }
                _ => form.is_plain = false,
            }
        }
    }
    if !form.is_plain {
        // The words are in it all the same.
        let output = match echo(machine, rest).exit().output {
            Output::Text(_) => Output::Unknown,
            other => other,
        };
        return Done::next(Exit { status: Status::Unknown, output });
    }
    let mut value = Value::exact("");
    for (index, word) in rest.iter().enumerate() {
        let word = match word.as_exact() {
            Some(text) if form.escapes => strings::unescaped(text),
            Some(_) | None => word.clone(),
        };
        value =
            value.followed_by(&Value::exact(if index > 0 { form.between } else { "" })).followed_by(&word);
    }
    printed(machine, value.followed_by(&Value::exact(form.behind)), rest)
}
