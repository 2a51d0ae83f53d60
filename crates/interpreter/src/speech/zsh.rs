//! What zsh does with a text that bash would not do (source: the manual of zsh 5.9, "zshmisc", "zshexpn", "zshparam", "zshbuiltins").

/// Commands, functions and variables that zsh has, and that run something or change what a text means.
const WORDS: &[&str] = &[
    "TRAPEXIT",
    "TRAPZERR",
    "TRAPERR",
    "TRAPDEBUG",
    "TRAPINT",
    "TRAPTERM",
    "TRAPHUP",
    "TRAPUSR1",
    "TRAPUSR2",
    "TRAPALRM",
    "TRAPCHLD",
    "TRAPPIPE",
    "TRAPQUIT",
    "TRAPWINCH",
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
    "always",
    "galiases",
    "saliases",
    "dis_functions",
    "dis_aliases",
    "promptsubst",
    "prompt_subst",
    "PROMPT_SUBST",
    "localoptions",
    "LOCAL_OPTIONS",
    "local_options",
    "shwordsplit",
    "SH_WORD_SPLIT",
    "sh_word_split",
    "globsubst",
    "GLOB_SUBST",
    "glob_subst",
    "ksharrays",
    "KSH_ARRAYS",
    "cbases",
    "octalzeroes",
];

/// Whether a text holds what only zsh understands so.
pub(super) fn is_of_zsh(text: &str) -> bool {
    let words = || text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-')));
    words().any(|word| WORDS.contains(&word))
        || stands_at_a_word(text, "=(")
        || ["functions[", "aliases[", "alias -s", "alias -g", "print -P", "print -v"]
            .iter()
            .any(|part| text.contains(part))
        || evaluates(text)
        || has_qualifier(text)
        || has_whole_array(text)
}

/// Whether a part stands where a word begins.
fn stands_at_a_word(text: &str, part: &str) -> bool {
    text.match_indices(part).any(|(place, _)| {
        let before = text.get(..place).and_then(|before| before.chars().next_back());
        before.is_none_or(|c| c.is_whitespace() || "(;&|<>{\"'`".contains(c))
    })
}

/// Whether the text of a variable is evaluated or split again: `${(e)x}`, `${=x}`, `$=x`, `${~x}`, `$~x`; and `$x[1]`, which is a part of it.
fn evaluates(text: &str) -> bool {
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
    text.match_indices('$').any(|(place, _)| {
        let rest = text.get(place + 1..).unwrap_or_default();
        let inside = rest.strip_prefix('{').unwrap_or(rest);
        inside.starts_with(['=', '~', '^'])
            || rest.strip_prefix("{(").is_some_and(flagged)
            || !rest.starts_with('{') && is_part(rest)
    })
}

/// Whether a pattern has a qualifier that runs something: `*(e:text:)`, `*(+command)`.
fn has_qualifier(text: &str) -> bool {
    text.match_indices('(').any(|(place, _)| {
        let before = text.get(..place).and_then(|before| before.chars().next_back());
        let rest = text.get(place + 1..).unwrap_or_default();
        let qualifiers = rest.split([')', ' ', '\n']).next().unwrap_or_default();
        let runs = |(at, _): (usize, char)| {
            let behind = qualifiers.get(at + 1..).and_then(|rest| rest.chars().next());
            behind.is_some_and(|c| c.is_ascii_punctuation())
        };
        before.is_some_and(|c| !c.is_whitespace() && !"$(;&|<>=".contains(c))
            && (qualifiers.starts_with('+') || qualifiers.char_indices().filter(|(_, c)| *c == 'e').any(runs))
    })
}

/// Whether a variable that is given a list stands for all of it: `x=(a b); $x`.
fn has_whole_array(text: &str) -> bool {
    text.match_indices("=(").any(|(place, _)| {
        let before = text.get(..place).unwrap_or_default();
        let start = before.rfind(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).map_or(0, |at| at + 1);
        let name = before.get(start..).unwrap_or_default();
        !name.is_empty()
            && [format!("${name}"), format!("${{{name}}}")].iter().any(|use_of| {
                text.match_indices(use_of.as_str()).any(|(at, _)| {
                    let behind = text.get(at + use_of.len()..).and_then(|rest| rest.chars().next());
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
            "x=(rm x); $x",
            "emulate sh -c 'rm x'",
            "x='$(rm x)'; : ${(e)x}",
            "ls *(e:'rm x':)",
            "f() { rm x }; ls *(+f)",
            "functions[f]='rm x'; f",
            "x='rm y'; ${=x}",
            "x=abc; echo $x[1]",
            "{ return } always { rm x }",
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
        ] {
            assert!(!is_of_zsh(text), "{text}");
        }
    }
}
