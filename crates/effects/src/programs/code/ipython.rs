//! What IPython understands beyond Python: commands of the shell and magics (IPython 8, "Built-in magic commands", "IPython reference").

/// Code for IPython as Python: `!command`, `files = !command` and magics as the calls that IPython makes of them.
pub(super) fn as_python(text: &str) -> String {
    let mut cell = Cell::default();
    cell.text(text)
}

/// Shells and languages that a cell may be for ("%%script").
const CELLS: &[(&[&str], &str)] = &[
    (&["sh", "system", "sx", "!"], "sh -c"),
    (&["bash"], "bash -c"),
    (&["perl"], "perl -e"),
    (&["ruby"], "ruby -e"),
    (&["javascript", "js", "node"], "node -e"),
    (&["python", "python2", "python3", "pypy"], "python3 -c"),
];
/// Cells that are shown and not run.
const SHOWN: &[&str] = &["html", "HTML", "latex", "markdown", "svg", "SVG"];
/// Magics that IPython also takes without their mark ("%automagic"), where the line cannot be Python.
const WITHOUT_MARK: &[&str] = &[
    "alias", "cat", "cd", "conda", "cp", "env", "ll", "load", "ls", "mamba", "mkdir", "mv", "pip", "prun",
    "rm", "rmdir", "run", "save", "sc", "store", "sx", "system", "time", "timeit", "uv",
];

/// What is known of a piece of code for IPython while it is read.
#[derive(Default)]
struct Cell {
    /// Commands by the names that the code gave them: `%alias`.
    aliases: Vec<(String, String)>,
}

impl Cell {
    fn text(&mut self, text: &str) -> String {
        if let Some(cell) = self.whole_cell(text) {
            return cell;
        }
        let mut lines = text.lines();
        let mut python = Vec::new();
        while let Some(line) = lines.next() {
            let mut line = line.to_owned();
            // A command goes on behind a backslash at the end.
            while line.ends_with('\\') && line.trim_start().starts_with(['!', '%']) {
                let Some(next) = lines.next() else { break };
                line.pop();
                line.push_str(next.trim_start());
            }
            python.push(self.line(&line));
        }
        python.join("\n")
    }

    /// `%%bash`: all that follows is for another program.
    fn whole_cell(&mut self, text: &str) -> Option<String> {
        let text = text.trim_start();
        let (first, rest) =
            text.strip_prefix("%%").map(|cell| cell.split_once('\n').unwrap_or((cell, "")))?;
        let (name, options) = first.split_once(char::is_whitespace).unwrap_or((first, ""));
        if let Some((_, program)) = CELLS.iter().find(|(names, _)| names.contains(&name)) {
            return Some(system(&format!("{program} {}", in_shell(rest))));
        }
        match name {
            "script" => {
                let words = behind_options(options, &["--out", "--err", "--proc"]);
                Some(system(&format!("printf %s {} | {words}", in_shell(rest))))
            }
            "writefile" | "file" => {
                let appends = options.split_whitespace().any(|word| matches!(word, "-a" | "--append"));
                Some(written(behind_options(options, &[]), if appends { "a" } else { "w" }, rest))
            }
            _ if SHOWN.contains(&name) => Some("pass".to_owned()),
            // The line of `%%timeit` is code that is run before.
            "timeit" | "prun" | "time" => {
                let before = behind_options(options, MEASURING).to_owned();
                Some(format!("{}\n{}", self.line(&before), self.text(rest)))
            }
            // What is only measured or kept is run all the same.
            _ => Some(self.text(rest)),
        }
    }

    fn line(&mut self, line: &str) -> String {
        let code = line.trim_start();
        let indent = line.get(..line.len() - code.len()).unwrap_or_default();
        let (target, code) = match code.split_once('=') {
            Some((name, rest)) if is_name(name.trim()) && rest.trim_start().starts_with(['!', '%']) => {
                (format!("{} = ", name.trim()), rest.trim_start())
            }
            _ => (String::new(), code),
        };
        if let Some(command) = code.strip_prefix("!!").or_else(|| code.strip_prefix('!')) {
            return format!("{indent}{target}{}", system(command));
        }
        let marked = code.strip_prefix('%').filter(|magic| magic.starts_with(char::is_alphabetic));
        let Some(magic) = marked.or_else(|| self.without_mark(code)) else {
            return format!("{indent}{}", called(code).unwrap_or_else(|| code.to_owned()));
        };
        let (name, rest) = magic.split_once(char::is_whitespace).unwrap_or((magic, ""));
        format!("{indent}{target}{}", self.magic(name, rest.trim(), magic))
    }

    /// A magic without its mark: its name, and words behind it that no operator and no bracket begins.
    fn without_mark<'c>(&self, code: &'c str) -> Option<&'c str> {
        let (name, rest) = code.split_once(char::is_whitespace).unwrap_or((code, ""));
        let is_known = WITHOUT_MARK.contains(&name) || self.aliases.iter().any(|(alias, _)| alias == name);
        let first = rest.split_whitespace().next().unwrap_or_default();
        let is_python = matches!(first, "in" | "is" | "and" | "or" | "if" | "not" | "else" | "for")
            || first.starts_with(|c: char| "=+*%<>&|^@,:;([{!)]}".contains(c))
            || first == "-"
            || first == "/";
        (is_known && !is_python && (!rest.trim().is_empty() || matches!(name, "ls" | "ll" | "cd")))
            .then_some(code)
    }

    fn magic(&mut self, name: &str, rest: &str, whole: &str) -> String {
        if let Some((_, command)) = self.aliases.iter().find(|(alias, _)| alias == name) {
            let words: Vec<&str> = rest.split_whitespace().collect();
            let mut text = command.replace("%l", rest);
            for word in &words {
                text = text.replacen("%s", word, 1);
            }
            return system(&if text == *command { format!("{command} {rest}") } else { text });
        }
        match name {
            // `%sc -l name = command`
            "sc" if rest.contains('=') => {
                system(rest.split_once('=').map_or(rest, |(_, command)| command.trim()))
            }
            "sx" | "system" | "sc" => system(rest),
            "run" => run(rest),
            "load" | "loadpy" => {
                format!("get_ipython().safe_execfile({})", quoted(behind_options(rest, &["-r", "-s", "-n"])))
            }
            "cd" | "pushd" => format!("import os; {})", opening("os.chdir(", rest.trim_matches(['"', '\'']))),
            "env" | "set_env" => {
                let (variable, value) = rest.split_once(['=', ' ']).unwrap_or((rest, ""));
                if value.is_empty() {
                    return "pass".to_owned();
                }
                format!("import os; os.environ[{}] = {}", quoted(variable.trim()), quoted(value.trim()))
            }
            "alias" => {
                if let Some((alias, command)) = rest.split_once(char::is_whitespace) {
                    self.aliases.push((alias.to_owned(), command.trim().to_owned()));
                }
                "pass".to_owned()
            }
            // What is measured is run.
            "time" | "timeit" | "prun" | "memit" | "lprun" | "mprun" | "capture" | "debug" => {
                let statement = behind_options(rest, MEASURING).to_owned();
                if statement.is_empty() { "pass".to_owned() } else { self.line(&statement) }
            }
            "save" => {
                let appends = rest.split_whitespace().any(|word| word == "-a");
                let file = behind_options(rest, &[]).split_whitespace().next().unwrap_or_default();
                let end = if file.ends_with(".py") || file.ends_with(".ipy") { "" } else { ".py" };
                written(&format!("{file}{end}"), if appends { "a" } else { "w" }, "")
            }
            "notebook" | "logstart" => {
                let file =
                    behind_options(rest, &["-e"]).split_whitespace().next().unwrap_or("ipython_log.py");
                written(file, "w", "")
            }
            "history" | "hist" => match rest.split_whitespace().skip_while(|word| *word != "-f").nth(1) {
                Some(file) => written(file, "w", ""),
                None => "pass".to_owned(),
            },
            // `%store name > file`
            "store" => match rest.split_once('>') {
                Some((_, file)) if file.starts_with('>') => {
                    written(file.trim_start_matches('>').trim(), "a", "")
                }
                Some((_, file)) => written(file.trim(), "w", ""),
                None => "pass".to_owned(),
            },
            "pycat" | "more" | "less" | "page" => format!("open({}).read()", quoted(rest)),
            "rm" | "rmdir" | "mv" | "cp" | "mkdir" | "cat" | "ls" | "ll" | "ldir" | "lk" | "lf" | "lx"
            | "man" | "pip" | "conda" | "mamba" | "micromamba" | "uv" => system(whole),
            _ => "pass".to_owned(),
        }
    }
}

/// Options with a value of the magics that measure what they run.
const MEASURING: &[&str] = &["-n", "-r", "-s", "-D", "-T", "-f", "-m", "-l"];

/// `%run -i file arguments`, `%run -m module arguments`: as the interpreter does.
fn run(rest: &str) -> String {
    let mut words = rest;
    while let Some(option) = words.split_whitespace().next().filter(|word| word.starts_with('-')) {
        words = words.trim_start().get(option.len()..).unwrap_or_default().trim_start();
        match option {
            "-m" => return system(&format!("python3 -m {words}")),
            "-N" | "-b" | "-l" | "-s" | "-T" | "-D" => {
                let value = words.split_whitespace().next().unwrap_or_default();
                words = words.get(value.len()..).unwrap_or_default().trim_start();
            }
            _ => {}
        }
    }
    let file = words.split_whitespace().next().unwrap_or_default();
    if file.ends_with(".ipy") || file.ends_with(".ipynb") {
        return system(&format!("ipython {words}"));
    }
    // Names of Python files may be given without their end.
    let end = if file.ends_with(".py") || words.contains(char::is_whitespace) { "" } else { ".py" };
    if words == file {
        return format!(
            "get_ipython().safe_execfile({})",
            quoted(&format!("{}{end}", file.trim_matches(['"', '\''])))
        );
    }
    system(&format!("python3 {words}"))
}

/// Lines that call what stands first with the words behind it: `/f a, b`, `,f a b`, `;f a b` ("Automatic parentheses and quotes").
fn called(code: &str) -> Option<String> {
    let mark = code.chars().next()?;
    // Help on a name: `name?`.
    if code.ends_with('?') && !code.contains(char::is_whitespace) {
        return Some("pass".to_owned());
    }
    let rest = code.get(1..)?;
    let (name, words) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    if !name.starts_with(|c: char| c.is_alphabetic() || c == '_') {
        return None;
    }
    match mark {
        '/' => Some(format!("{name}({words})")),
        ',' => {
            let words: Vec<String> = words.split_whitespace().map(quoted).collect();
            Some(format!("{name}({})", words.join(", ")))
        }
        ';' => Some(format!("{name}({})", quoted(words.trim()))),
        _ => None,
    }
}

fn system(command: &str) -> String {
    format!("get_ipython().system({})", quoted(command))
}

fn written(file: &str, mode: &str, text: &str) -> String {
    let file = file.trim().trim_matches(['"', '\'']);
    format!("{}, '{mode}').write({})", opening("open(", file), plainly_quoted(text))
}

/// A call with a path, in which IPython takes `~` for the home directory.
fn opening(call: &str, path: &str) -> String {
    if path.starts_with('~') {
        format!("import os; {call}os.path.expanduser({})", quoted(path))
    } else {
        format!("{call}{}", quoted(path))
    }
}

/// What stands behind the options of a magic, of which these take a value.
fn behind_options<'t>(text: &'t str, with_value: &[&str]) -> &'t str {
    let mut rest = text.trim();
    while let Some(option) =
        rest.split_whitespace().next().filter(|word| word.starts_with('-') && word.len() > 1)
    {
        rest = rest.get(option.len()..).unwrap_or_default().trim_start();
        if with_value.contains(&option) {
            let value = rest.split_whitespace().next().unwrap_or_default();
            rest = rest.get(value.len()..).unwrap_or_default().trim_start();
        }
    }
    rest
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "_, ".contains(c))
}

/// A text of Python. What stands in braces is a value that is put in.
fn quoted(text: &str) -> String {
    let has_values = text.contains('{') && !text.contains("${");
    format!("{}{}", if has_values { "f" } else { "" }, plainly_quoted(text))
}

fn plainly_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'").replace('\n', "\\n"))
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
            ("%%bash\nls\n", "get_ipython().system('bash -c \\'ls\\n\\'')"),
            ("%%script python3 -\nprint(1)", "get_ipython().system('printf %s \\'print(1)\\' | python3 -')"),
            ("%%writefile -a a.py\nx = {1}", "open('a.py', 'a').write('x = {1}')"),
            ("%%capture out\nf()", "f()"),
            ("%%timeit -n 3 g()\nf()", "g()\nf()"),
            ("%%html\n<b>", "pass"),
            ("%pip install x", "get_ipython().system('pip install x')"),
            ("pip install x", "get_ipython().system('pip install x')"),
            ("%run a.py", "get_ipython().safe_execfile('a.py')"),
            ("%run -i a.py x", "get_ipython().system('python3 a.py x')"),
            ("%run -m venv x", "get_ipython().system('python3 -m venv x')"),
            (
                "%alias z rm -rf %s\n%z a\nz b",
                "pass\nget_ipython().system('rm -rf a')\nget_ipython().system('rm -rf b')",
            ),
            ("%env A=b", "import os; os.environ['A'] = 'b'"),
            ("%cd ..", "import os; os.chdir('..')"),
            ("%save ~/a 1-3", "import os; open(os.path.expanduser('~/a.py'), 'w').write('')"),
            ("%save a 1-3", "open('a.py', 'w').write('')"),
            ("%store x > a.txt", "open('a.txt', 'w').write('')"),
            ("!ls \\\n  -l", "get_ipython().system('ls -l')"),
            ("/f 1, 2", "f(1, 2)"),
            (",f a b", "f('a', 'b')"),
            (";f a b", "f('a b')"),
            ("f?", "pass"),
            ("time = 3\nrun(1)\nls\nenv in x", "time = 3\nrun(1)\nget_ipython().system('ls')\nenv in x"),
            ("x = a % b\nprint(x != 1)", "x = a % b\nprint(x != 1)"),
            ("x %= 3", "x %= 3"),
        ] {
            assert_eq!(as_python(text), python, "{text}");
        }
    }
}
