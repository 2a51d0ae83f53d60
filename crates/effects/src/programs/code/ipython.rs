//! What IPython understands beyond Python: commands of the shell and magics (IPython 8, "Built-in magic commands", "IPython reference").

/// Code for IPython as Python: `!command`, `files = !command` and magics as the calls that IPython makes of them.
pub(super) fn as_python(text: &str) -> String {
    if let Some(cell) = whole_cell(text) {
        return cell;
    }
    text.lines().map(line_as_python).collect::<Vec<_>>().join("\n")
}

/// Shells that a cell may be for, and the other languages.
const CELLS: &[(&[&str], &str)] = &[
    (&["bash", "sh", "script", "system", "sx", "!"], "sh -c"),
    (&["perl"], "perl -e"),
    (&["ruby"], "ruby -e"),
    (&["javascript", "js", "node"], "node -e"),
    (&["python2", "pypy"], "python3 -c"),
];

/// `%%bash`: all that follows is for another program.
fn whole_cell(text: &str) -> Option<String> {
    let text = text.trim_start();
    let (first, rest) = text.strip_prefix("%%").map(|cell| cell.split_once('\n').unwrap_or((cell, "")))?;
    let name = first.split_whitespace().next().unwrap_or_default();
    match CELLS.iter().find(|(names, _)| names.contains(&name)) {
        Some((_, program)) => {
            Some(format!("get_ipython().system({})", quoted(&format!("{program} {}", in_shell(rest)))))
        }
        // What is only measured or kept is run all the same.
        None => Some(as_python(rest)),
    }
}

fn line_as_python(line: &str) -> String {
    let code = line.trim_start();
    let indent = line.get(..line.len() - code.len()).unwrap_or_default();
    let (target, code) = match code.split_once('=') {
        Some((name, rest)) if is_name(name.trim()) && rest.trim_start().starts_with(['!', '%']) => {
            (format!("{} = ", name.trim()), rest.trim_start())
        }
        _ => (String::new(), code),
    };
    if let Some(command) = code.strip_prefix("!!").or_else(|| code.strip_prefix('!')) {
        return format!("{indent}{target}get_ipython().system({})", quoted(command));
    }
    let Some(magic) = code.strip_prefix('%').filter(|magic| magic.starts_with(char::is_alphabetic)) else {
        return line.to_owned();
    };
    let (name, rest) = magic.split_once(char::is_whitespace).unwrap_or((magic, ""));
    match name {
        "sx" | "system" | "sc" => format!("{indent}{target}get_ipython().system({})", quoted(rest)),
        "run" | "load" => format!("{indent}{target}get_ipython().safe_execfile({})", quoted(rest.trim())),
        "cd" => format!("{indent}import os; os.chdir({})", quoted(rest.trim())),
        // What is measured is run.
        "time" | "timeit" | "prun" | "memit" => line_as_python(&format!("{indent}{}", rest.trim_start())),
        "rm" | "rmdir" | "mv" | "cp" | "mkdir" | "cat" | "ls" => {
            format!("{indent}{target}get_ipython().system({})", quoted(magic))
        }
        _ => format!("{indent}pass"),
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "_, ".contains(c))
}

/// A text of Python. What stands in braces is a value that is put in.
fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('\'', "\\'").replace('\n', "\\n");
    let has_values = text.contains('{') && !text.contains("${");
    format!("{}'{escaped}'", if has_values { "f" } else { "" })
}

/// A word of a shell.
fn in_shell(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_python_becomes_calls() {
        for (text, python) in [
            ("!ls -l", "get_ipython().system('ls -l')"),
            ("!!ls", "get_ipython().system('ls')"),
            ("if x:\n    !rm {name}", "if x:\n    get_ipython().system(f'rm {name}')"),
            ("files = !ls", "files = get_ipython().system('ls')"),
            ("%sx ls", "get_ipython().system('ls')"),
            ("%timeit f()", "f()"),
            ("%matplotlib inline", "pass"),
            ("%%bash\nls\n", "get_ipython().system('sh -c \\'ls\\n\\'')"),
            ("x = a % b\nprint(x != 1)", "x = a % b\nprint(x != 1)"),
            ("x %= 3", "x %= 3"),
        ] {
            assert_eq!(as_python(text), python, "{text}");
        }
    }
}
