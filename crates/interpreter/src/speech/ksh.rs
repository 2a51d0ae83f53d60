//! What the Korn shells do with a text that bash would not do (source: ksh(1) of ksh93u+m, "Discipline Functions", "Name Spaces", "Command
//! Substitution", and the built-ins `enum`, `read` and `typeset`; mksh(1), "Co-processes" and "Substitution").

use super::zsh::blanked;

/// What stands behind the point of a function that is called when its variable is read, set or taken away.
const DISCIPLINES: &[&str] = &["get", "getn", "set", "append", "unset"];

/// Whether a text holds what only a Korn shell understands so.
pub(super) fn is_of_ksh(text: &str) -> bool {
    let bare = blanked(text, &['\'', '"']);
    let expanded = blanked(text, &['\'']);
    defines_discipline(&bare)
        || bare.contains("|&") && talks_to_coprocess(&bare)
        || ["${ ", "${\n", "${\t", "${|"].iter().any(|start| expanded.contains(start))
        || commands(&bare).any(begins_with_type)
}

/// `x.get() {` and `function x.set {`.
fn defines_discipline(bare: &str) -> bool {
    let mut before = "";
    words(bare).any(|word| {
        let is_defined = word.contains('(') || before == "function";
        before = word;
        let name = word.split('(').next().unwrap_or_default();
        is_defined && name.rsplit_once('.').is_some_and(|(_, end)| DISCIPLINES.contains(&end))
    })
}

/// `read -p` and `print -p` mean the process that `|&` started.
fn talks_to_coprocess(bare: &str) -> bool {
    let all: Vec<&str> = words(bare).collect();
    all.windows(2).any(|pair| {
        let [command, option] = pair else { return false };
        matches!(*command, "read" | "print") && option.starts_with('-') && option.contains('p')
    }) || bare.contains("<&p")
        || bare.contains(">&p")
}

/// `namespace`, `enum`, and `typeset -T`, whose types have functions of their own.
fn begins_with_type(command: &str) -> bool {
    let mut words = command.split_whitespace();
    match words.next() {
        Some("namespace" | "enum") => true,
        Some("typeset") => words.next().is_some_and(|option| option.starts_with("-T")),
        Some(_) | None => false,
    }
}

/// What stands between the marks at which a command begins.
fn commands(text: &str) -> impl Iterator<Item = &str> {
    text.split([';', '&', '|', '{', '}', '(', ')', '\n', '`'])
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || matches!(c, ';' | '&' | '|' | '{' | '}'))
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_ksh_knows_is_told_from_the_rest() {
        for text in [
            "x.get() { rm -rf a; }; echo $x",
            "function x.set { rm -rf a; }; x=1",
            "echo 'rm a' |& read -p x; eval \"$x\"",
            "cat |&\nprint -p 'rm a'; read -p x",
            "echo \"${ rm -rf a; }\"",
            "x=${|rm -rf a; REPLY=1;}",
            "typeset -T Point_t=(x=1)",
            "namespace n { f() { :; }; }",
        ] {
            assert!(is_of_ksh(text), "{text}");
        }
        for text in [
            "echo x.get; make 2>&1 |& tee log",
            "f() { echo a.set; }; f",
            "read -p 'name: ' x; echo ${x}",
            "for f in *.get; do echo $f; done",
            "typeset -i n=1; print hello",
            "kubectl get namespace; kubectl create namespace x # an enum",
        ] {
            assert!(!is_of_ksh(text), "{text}");
        }
    }
}
