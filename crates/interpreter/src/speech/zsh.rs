//! What zsh does with a text that bash would not do (source: the manual of zsh 5.9, "zshmisc", "zshexpn", "zshparam", "zshbuiltins").

/// Functions that zsh calls by itself, variables that name such functions or define commands, and commands that change what a text means.
/// Each counts where a command, a definition or an assignment stands.
const COMMANDS: &[&str] = &[
    "zshexit",
    "chpwd",
    "precmd",
    "preexec",
    "periodic",
    "zshaddhistory",
    "zsh_directory_name",
    "chpwd_functions",
    "precmd_functions",
    "preexec_functions",
    "periodic_functions",
    "zshexit_functions",
    "zshaddhistory_functions",
    "zsh_directory_name_functions",
    "add-zsh-hook",
    "emulate",
    "autoload",
    "zmodload",
    "zstyle",
    "disable",
    "sched",
    "zle",
    "functions",
    "dis_functions",
    "aliases",
    "dis_aliases",
    "galiases",
    "saliases",
    "nameddirs",
    "foreach",
];

/// Options of `setopt` that change how a text is read from then on, as zsh compares them: small letters, without `_`.
const OPTIONS: &[&str] = &[
    "promptsubst",
    "localoptions",
    "shwordsplit",
    "globsubst",
    "ksharrays",
    "cbases",
    "octalzeroes",
    "errreturn",
    "debugbeforecmd",
];

/// Whether a text holds what only zsh understands so.
pub(super) fn is_of_zsh(text: &str) -> bool {
    let (bare, expanded) = (blanked(text, &['\'', '"']), blanked(text, &['\'']));
    has_command(&bare)
        || stands_at_a_word(&bare, "=(")
        || bare.contains("} always {")
        || evaluates(&expanded)
        || has_qualifier(&expanded)
        || has_whole_array(&bare, &expanded)
}

/// The text with spaces for what stands in such quotes, in comments, and in documents whose word is quoted: nothing of it is expanded there.
/// A text whose quotes do not end is left as it is.
pub(super) fn blanked(text: &str, quotes: &[char]) -> String {
    let mut left = String::with_capacity(text.len());
    let mut open = None;
    let mut document: Option<String> = None;
    for line in text.split_inclusive('\n') {
        if let Some(end) = &document {
            if line.trim() == end {
                document = None;
            }
            left.push('\n');
            continue;
        }
        let start = left.len();
        let shown = |c: char, quote: char| if quotes.contains(&quote) { ' ' } else { c };
        let mut before = ' ';
        let mut chars = line.chars();
        while let Some(c) = chars.next() {
            match open {
                Some(quote) => {
                    left.push(shown(c, quote));
                    if c == '\\' && quote == '"' {
                        left.extend(chars.next().map(|c| shown(c, quote)));
                    } else if c == quote {
                        open = None;
                    }
                }
                None if matches!(c, '\'' | '"') => {
                    open = Some(c);
                    left.push(shown(c, c));
                }
                None if c == '\\' => {
                    left.push(' ');
                    left.extend(chars.next().map(|_| ' '));
                }
                None if c == '#' && before.is_whitespace() => {
                    left.push('\n');
                    break;
                }
                None => left.push(c),
            }
            before = c;
        }
        // Only outside of quotes and comments a document begins; its word is read where it still stands.
        let begins = open.is_none() && left.get(start..).is_some_and(|line| line.contains("<<"));
        document = if begins { quoted_document(line) } else { None };
    }
    if open.is_some() { text.to_owned() } else { left }
}

/// The word that ends a document which begins behind a line, where it is quoted.
fn quoted_document(line: &str) -> Option<String> {
    let (_, rest) = line.split_once("<<")?;
    let rest = rest.trim_start_matches('-').trim_start();
    let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    rest.get(1..)?.split(quote).next().map(str::to_owned)
}

/// Whether one of the commands, functions and variables of zsh stands where a command begins, or `setopt` changes how is read.
fn has_command(bare: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let mut begins = true;
    let mut options = false;
    let mut rest = bare;
    while let Some(first) = rest.chars().next() {
        if !is_part(first) {
            if ";&|(){}\n!`".contains(first) {
                (begins, options) = (true, false);
            } else if !first.is_whitespace() {
                begins = false;
            }
            rest = rest.get(first.len_utf8()..).unwrap_or_default();
            continue;
        }
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end);
        let is_trap = word.strip_prefix("TRAP").is_some_and(|signal| {
            !signal.is_empty() && signal.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit())
        });
        let plain = word.to_ascii_lowercase().replace('_', "");
        let plain = plain.strip_prefix("no").filter(|rest| OPTIONS.contains(rest)).unwrap_or(&plain);
        if options && OPTIONS.contains(&plain) {
            return true;
        }
        let is_assignment = begins && behind.starts_with('=') && !COMMANDS.contains(&word);
        if is_assignment {
            // What stands behind the value is still where a command begins.
            let end =
                behind.find(|c: char| c.is_whitespace() || ";&|(){}`".contains(c)).unwrap_or(behind.len());
            rest = behind.get(end..).unwrap_or_default();
            continue;
        }
        if begins {
            let is_definition = behind.trim_start().starts_with(['(', '{']);
            let is_list =
                matches!(word, "functions" | "aliases" | "periodic" | "galiases" | "saliases" | "nameddirs");
            let counts = if is_list { behind.starts_with(['[', '=', '+']) || is_definition } else { true };
            if is_trap && is_definition || COMMANDS.contains(&word) && counts {
                return true;
            }
            let is_told = |start: &str| behind.trim_start().starts_with(start);
            match word {
                "setopt" | "unsetopt" => options = true,
                "alias" if is_told("-s") || is_told("-g") => return true,
                "print" if is_told("-P") || is_told("-v") => return true,
                _ => {}
            }
            begins = matches!(
                word,
                "function"
                    | "then"
                    | "do"
                    | "else"
                    | "elif"
                    | "if"
                    | "while"
                    | "until"
                    | "time"
                    | "builtin"
                    | "command"
                    | "exec"
                    | "noglob"
                    | "nocorrect"
            );
        }
        rest = behind;
    }
    false
}

/// Whether a part stands where a word begins.
fn stands_at_a_word(text: &str, part: &str) -> bool {
    text.match_indices(part).any(|(place, _)| {
        let before = text.get(..place).and_then(|before| before.chars().next_back());
        before.is_none_or(|c| c.is_whitespace() || "(;&|<>{`".contains(c))
    })
}

/// Whether the text of a variable is evaluated or split again: `${(e)x}`, `${=x}`, `$=x`, `${~x}`, `$~x`; and `$x[1]`, which is a part of it.
fn evaluates(expanded: &str) -> bool {
    let flagged = |flags: &str| {
        let flags = flags.split(')').next().unwrap_or_default();
        flags.contains(['e', '%', 'z', 'Z', 'P', 'g', '~', '='])
    };
    let is_part = |rest: &str| {
        let name = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
        name > 0
            && !rest.starts_with(|c: char| c.is_ascii_digit())
            && rest.get(name..).is_some_and(|rest| rest.starts_with('['))
    };
    expanded.match_indices('$').any(|(place, _)| {
        let rest = expanded.get(place + 1..).unwrap_or_default();
        let inside = rest.strip_prefix('{').unwrap_or(rest);
        inside.starts_with(['=', '~'])
            || rest.strip_prefix("{(").is_some_and(flagged)
            || !rest.starts_with('{') && is_part(rest)
    })
}

/// Whether a pattern has a qualifier that runs something: `*(e:text:)`, `*(+command)`.
fn has_qualifier(expanded: &str) -> bool {
    expanded.match_indices('(').any(|(place, _)| {
        let before = expanded.get(..place).and_then(|before| before.chars().next_back());
        let rest = expanded.get(place + 1..).unwrap_or_default();
        let qualifiers = rest.split([')', ' ', '\n']).next().unwrap_or_default();
        let start = qualifiers.trim_start_matches(|c: char| "./@=pFND^oOnLkm".contains(c));
        let runs = start
            .strip_prefix('e')
            .is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '[', '{', '\'', '"', '|']))
            || start
                .strip_prefix('+')
                .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()));
        before.is_some_and(|c| "*?])".contains(c) || c == '/') && runs
    })
}

/// Whether a variable that is given a list stands for all of it: `x=(a b); $x`.
fn has_whole_array(bare: &str, expanded: &str) -> bool {
    bare.match_indices("=(").any(|(place, _)| {
        let before = bare.get(..place).unwrap_or_default();
        let start = before.rfind(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).map_or(0, |at| at + 1);
        let name = before.get(start..).unwrap_or_default();
        !name.is_empty()
            && [format!("${name}"), format!("${{{name}}}")].iter().any(|use_of| {
                expanded.match_indices(use_of.as_str()).any(|(at, _)| {
                    let behind = expanded.get(at + use_of.len()..).and_then(|rest| rest.chars().next());
                    behind.is_none_or(|c| !(c.is_ascii_alphanumeric() || c == '_'))
                })
            })
    })
}

#[cfg(test)]
mod tests {
    use super::is_of_zsh;

    #[test]
    fn what_only_zsh_does_is_told_from_what_all_shells_do() {
        for text in [
            ": =(rm x)",
            "TRAPEXIT() { rm x }; exit",
            "function TRAPZERR { rm x }; false",
            "x=(rm x); $x",
            "emulate sh -c 'rm x'",
            "x='$(rm x)'; : ${(e)x}",
            "ls *(e:'rm x':)",
            "ls *(.e['rm x'])",
            "f() { rm x }; ls *(+f)",
            "functions[f]='rm x'; f",
            "chpwd_functions+=(f); cd /",
            "x='rm y'; ${=x}",
            "x=abc; echo $x[1]",
            "{ return } always { rm x }",
            "setopt PROMPT_SUBST; print -P \"$x\"",
            "f() { setopt localoptions; set -e }; f",
            "# don't\nTRAPEXIT() { rm x }",
            "echo \"it's\"; x='rm y'; ${=x}",
            "echo \"<<'E'\"\nTRAPEXIT() { rm x }",
            "FOO=1 emulate sh -c 'rm x'",
            "noglob emulate sh -c 'rm x'",
        ] {
            assert!(is_of_zsh(text), "{text}");
        }
        for text in [
            "echo $(ls) && (cd src; make)",
            "x=(a b); for i in \"${x[@]}\"; do echo $i; done",
            "f() { return 1; }; if f; then ls; fi",
            "echo ${x:-y} ${#x} ${x%.*} \"$1\"",
            "a=$(echo =); [ \"$a\" = b ] && ls *.rs",
            "case $x in (a|b) ls;; esac; awk '{ print $1 }' f",
            "git commit -m 'fix(engine): x' && npm run build",
            "git commit -m \"always emulate it; disable the rest\"",
            "systemctl disable x; kubectl get functions",
            "perl -e 'print $x[0]'; awk '{ a[$i]=(1) }' f",
            "cat > a.pl <<'END'\nprint $x[0];\nTRAPEXIT() {\nEND\nls",
            "grep -E '(e:|TRAPEXIT)' src/*.rs",
            "ls # emulate it; disable the rest",
            "FOO=emulate ls",
        ] {
            assert!(!is_of_zsh(text), "{text}");
        }
    }
}
