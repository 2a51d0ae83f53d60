//! The language of fish (fish 4.0, "The fish language") in the words of other shells, as far as the two say the same in another way.

/// What a block began with, which `end` ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Block {
    Loop,
    Branch,
    Group,
}

/// The text in the words of `sh`: variables, loops, branches, functions and substitutions. What else there is stands as it was written. Of
/// `switch` every case is possible.
pub(super) fn as_posix(text: &str) -> String {
    let mut blocks = Vec::new();
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    for statement in statements(text) {
        out.push_str(&translated(statement.trim(), &mut blocks));
        out.push('\n');
    }
    out
}

/// A list of places with the home directory in place of its names.
pub(super) fn with_home(list: &str, home: &str) -> String {
    let place = |part: &str| match part.strip_prefix('~').or_else(|| part.strip_prefix("$HOME")) {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{home}{rest}"),
        Some(_) | None => part.to_owned(),
    };
    list.split(':').map(place).collect::<Vec<_>>().join(":")
}

/// The functions that the text keeps for all later shells of the user (fish 4.0, "funcsave", "alias --save").
pub(super) fn lasting_functions(text: &str) -> Vec<String> {
    let mut functions = Vec::new();
    for statement in statements(text) {
        let mut words =
            statement.split_whitespace().skip_while(|word| !matches!(*word, "funcsave" | "alias"));
        let is_alias = words.next() == Some("alias");
        let words: Vec<&str> = words.collect();
        let keeps = !is_alias || words.iter().any(|word| matches!(*word, "-s" | "--save"));
        let operands = words.iter().filter(|word| keeps && !word.starts_with('-'));
        let operands = operands.take(if is_alias { 1 } else { usize::MAX });
        functions.extend(operands.map(|word| word.split('=').next().unwrap_or(word).to_owned()));
    }
    functions
}

/// The variables that the text sets or takes away for all shells of the user, now and later, with what they become (fish 4.0, "Universal
/// variables", "fish_add_path"). Lists are written as other shells write them.
pub(super) fn lasting_variables(text: &str) -> Vec<(String, Option<String>)> {
    let is_universal = |word: &&str| {
        *word == "--universal" || word.starts_with('-') && !word.starts_with("--") && word.contains('U')
    };
    statements(text)
        .iter()
        .filter_map(|statement| {
            let mut words = statement.split_whitespace();
            let adds_path = words.find(|word| matches!(*word, "set" | "fish_add_path"))? == "fish_add_path";
            let words: Vec<&str> = words.collect();
            let is_erased = words.iter().any(|word| matches!(*word, "-e" | "--erase" | "-Ue" | "-eU"));
            let is_for_one = words.iter().any(|word| matches!(*word, "-P" | "--path" | "-n" | "--dry-run"));
            if !adds_path && !words.iter().any(is_universal) || adds_path && is_for_one {
                return None;
            }
            let mut plain = words.into_iter().filter(|word| !word.starts_with('-'));
            let name = if adds_path { "PATH" } else { plain.next()? };
            // What the list held before stays.
            let kept = ["$PATH", "$fish_user_paths"];
            let values: Vec<&str> = plain
                .map(|word| word.trim_matches(['"', '\'']))
                .filter(|word| !kept.contains(word))
                .collect();
            let name = if name == "fish_user_paths" { "PATH" } else { name };
            Some((name.to_owned(), (!is_erased && !values.is_empty()).then(|| values.join(":"))))
        })
        .collect()
}

fn translated(statement: &str, blocks: &mut Vec<Block>) -> String {
    let (word, rest) = statement.split_once(char::is_whitespace).unwrap_or((statement, ""));
    let rest = rest.trim();
    match word {
        "set" => assignment(rest),
        "for" => {
            blocks.push(Block::Loop);
            format!("for {}; do", expansions(rest))
        }
        "while" => {
            blocks.push(Block::Loop);
            format!("while {}; do", expansions(rest))
        }
        "if" => {
            blocks.push(Block::Branch);
            format!("if {}; then", translated(rest, &mut Vec::new()))
        }
        "switch" => {
            blocks.push(Block::Branch);
            "if [ \"$RANDOM\" = 0 ]; then :".to_owned()
        }
        "case" if blocks.last() == Some(&Block::Branch) => "elif [ \"$RANDOM\" = 1 ]; then :".to_owned(),
        "else" if rest.split_whitespace().next() == Some("if") => {
            let condition = rest.trim_start_matches("if").trim();
            format!("elif {}; then", translated(condition, &mut Vec::new()))
        }
        "begin" => {
            blocks.push(Block::Group);
            format!("{{\n{}", translated(rest, blocks))
        }
        "function" => {
            blocks.push(Block::Group);
            function(rest)
        }
        "end" => match blocks.pop() {
            Some(Block::Loop) => format!("done {rest}"),
            Some(Block::Branch) => format!("fi {rest}"),
            Some(Block::Group) => format!("}} {rest}"),
            None => String::new(),
        },
        "and" | "or" | "builtin" => translated(rest, blocks),
        "not" => format!("! {}", translated(rest, blocks)),
        _ => expansions(statement),
    }
}

/// `function NAME -a FIRST SECOND`: the arguments have names.
fn function(rest: &str) -> String {
    let mut words = rest.split_whitespace();
    let mut out = format!("{}() {{", words.next().unwrap_or("_"));
    let names = words
        .skip_while(|word| !matches!(*word, "-a" | "--argument-names"))
        .skip(1)
        .take_while(|word| !word.starts_with('-'));
    for (index, name) in names.enumerate() {
        for piece in ["\n", name, "=${", &(index + 1).to_string(), "}"] {
            out.push_str(piece);
        }
    }
    out
}

/// `set -gx NAME VALUE`, `set NAME one two`
fn assignment(words: &str) -> String {
    let mut rest = words;
    let mut is_exported = false;
    while let Some(option) = rest.split_whitespace().next().filter(|word| word.starts_with('-')) {
        if matches!(option, "-e" | "--erase" | "-q" | "--query" | "-S" | "--show" | "-n" | "--names") {
            return ":".to_owned();
        }
        is_exported |= option == "--export" || !option.starts_with("--") && option.contains('x');
        rest = rest.get(option.len()..).unwrap_or_default().trim_start();
    }
    let (name, values) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let values = expansions(values.trim());
    let export = if is_exported { "export " } else { "" };
    // Several values, as far as can be told: one that is quoted as a whole has no quote within.
    let is_quoted = values.starts_with(['"', '\'']) && values.matches(['"', '\'']).count() == 2;
    if values.contains(char::is_whitespace) && !is_quoted && !values.starts_with("$(") {
        format!("{export}{name}=$(echo {values})")
    } else {
        format!("{export}{name}={values}")
    }
}

/// `(command)` as `$(command)`, and `$argv` as `"$@"`.
fn expansions(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let mut quote = None;
    let mut before = ' ';
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            // Between single quotes these two can be escaped (fish 4.0, "Quotes").
            (Some('\''), '\\') if letters.peek() == Some(&'\'') => {
                letters.next();
                out.push_str("'\\''");
                continue;
            }
            (Some('\''), '\\') if letters.peek() == Some(&'\\') => {
                letters.next();
            }
            _ if before == '\\' && quote != Some('\'') => {}
            (None, '"' | '\'') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            (None, '(') if before != '$' => out.push('$'),
            _ => {}
        }
        out.push(letter);
        before = if before == '\\' { ' ' } else { letter };
    }
    out.replace("$argv", "\"$@\"")
}

/// The statements: what ends with a line or `;` outside quotes, parentheses and comments.
pub(super) fn statements(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let (mut quote, mut depth, mut from, mut is_comment) = (None, 0_usize, 0, false);
    let mut before = '\n';
    for (at, letter) in text.char_indices() {
        match letter {
            '\n' if is_comment => {
                is_comment = false;
                from = at + 1;
            }
            _ if is_comment => {}
            _ if before == '\\' => {}
            '"' | '\'' if quote.is_none() => quote = Some(letter),
            _ if quote == Some(letter) => quote = None,
            _ if quote.is_some() => {}
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            '#' if before.is_whitespace() || before == ';' => {
                found.push(text.get(from..at).unwrap_or_default());
                is_comment = true;
            }
            '\n' | ';' if depth == 0 => {
                found.push(text.get(from..at).unwrap_or_default());
                from = at + 1;
            }
            _ => {}
        }
        before = if before == '\\' { ' ' } else { letter };
    }
    if !is_comment {
        found.push(text.get(from..).unwrap_or_default());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_and_variables_are_those_of_other_shells() {
        let said = |text: &str| as_posix(text).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(said("set x ~/a; rm -rf $x"), "x=~/a rm -rf $x");
        assert_eq!(said("set -gx A b c"), "export A=$(echo b c)");
        assert_eq!(said("for f in *; rm $f; end"), "for f in *; do rm $f done");
        assert_eq!(
            said("if test -e a; rm a; else if true; ls; end"),
            "if test -e a; then rm a elif true; then ls fi"
        );
        assert_eq!(said("echo (date) 'a (b)' # rm x\nls"), "echo $(date) 'a (b)' ls");
        assert_eq!(said("function f --argument x; rm $argv; end; f y"), "f() { rm \"$@\" } f y");
        assert_eq!(said("echo 'a; end'"), "echo 'a; end'");
    }
}
