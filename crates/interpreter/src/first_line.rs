//! What the kernel makes of a script by its first line: a command line (source: execve(2), "Interpreter scripts"; `fs/binfmt_script.c`).

use crate::path::AbsolutePath;

use super::machine::Machine;
use super::value::Value;

/// How much of a first line the kernel reads (source: `BINPRM_BUF_SIZE` of Linux 5.1 and later).
const READ: usize = 256;

/// The interpreter that a first line names, and the one argument that may follow it; `None` when there is no such line.
fn interpreter_of(text: &str) -> Option<(&str, Option<&str>)> {
    let line = text.strip_prefix("#!")?.split('\n').next()?;
    let line = line.get(..READ).unwrap_or(line);
    // A carriage return belongs to the name for the kernel; such a script does not start, and is read for those that start it otherwise.
    let line = line.trim_matches([' ', '\t', '\r']);
    let (interpreter, argument) = line.split_once([' ', '\t']).unwrap_or((line, ""));
    let argument = argument.trim_matches([' ', '\t']);
    (!interpreter.is_empty()).then_some((interpreter, (!argument.is_empty()).then_some(argument)))
}

/// Whether a text is one that the kernel starts an interpreter for.
pub(super) fn names_interpreter(text: &str) -> bool {
    interpreter_of(text).is_some()
}

impl Machine<'_> {
    /// The command line that the kernel runs for a script with a first line: the interpreter, its one argument, the path of the script, and
    /// what the script is given. `None` when there is no such line, or when nothing is known of the file.
    pub(super) fn started_by_first_line(
        &self,
        path: &AbsolutePath,
        written: &Value,
        arguments: &[Value],
    ) -> Option<Vec<Value>> {
        let text = self.beginning_of_code(path)?;
        let (interpreter, argument) = interpreter_of(&text)?;
        let base = interpreter.rsplit('/').next().unwrap_or(interpreter);
        let is_own = AbsolutePath::new(interpreter)
            .is_some_and(|place| self.tree.is_new(&place) || self.tree.is_written(&place));
        let is_known = self.knows(base) && !is_own;
        let mut words = vec![Value::exact(if is_known { base } else { interpreter })];
        match argument {
            // What other systems than Linux make several words of: there it is one that `env` does not find.
            Some(argument) if base == "env" && !argument.starts_with('-') => {
                words.extend(argument.split_whitespace().map(Value::exact));
            }
            Some(argument) => words.push(Value::exact(argument)),
            None => {}
        }
        words.push(written.clone());
        words.extend(arguments.iter().cloned());
        Some(words)
    }
}

#[cfg(test)]
mod tests {
    use super::interpreter_of;

    #[test]
    fn the_first_line_names_an_interpreter_and_one_argument() {
        for (text, named) in [
            ("#!/bin/sh\n", Some(("/bin/sh", None))),
            ("#! /bin/sh -e \n", Some(("/bin/sh", Some("-e")))),
            ("#!/usr/bin/env -S awk -f\nx", Some(("/usr/bin/env", Some("-S awk -f")))),
            ("#!\t/bin/echo\trm -rf\n", Some(("/bin/echo", Some("rm -rf")))),
            ("#!/bin/sh", Some(("/bin/sh", None))),
            ("#!\n/bin/sh\n", None),
            (" #!/bin/sh\n", None),
        ] {
            assert_eq!(interpreter_of(text), named, "{text}");
        }
    }
}
