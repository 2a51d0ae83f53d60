//! What holds for every text.

#![allow(missing_docs, clippy::unwrap_used)]

use checkrein_shell::outline::outline;
use checkrein_shell::{Block, Command, ParseLimits, Part, Span, parse, parse_within};
use proptest::prelude::*;

/// Texts made of what the language is made of: they go deeper than random characters.
fn soup() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "a",
        "rm ",
        " ",
        "\n",
        "\t",
        ";",
        "&",
        "&&",
        "||",
        "|",
        "|&",
        "(",
        ")",
        "{ ",
        "; }",
        "{",
        "}",
        "<",
        ">",
        ">>",
        "<<E\n",
        "\nE\n",
        "<<-'E'\n",
        "<<<",
        "2>&1",
        "$",
        "$(",
        "${",
        "$((",
        "))",
        "`",
        "\"",
        "'",
        "$'",
        "\\",
        "\\\n",
        "if ",
        "then ",
        "else ",
        "fi ",
        "for x in ",
        "do ",
        "done ",
        "while ",
        "case x in ",
        "a) ",
        ";; ",
        "esac ",
        "function f ",
        "f() ",
        "coproc ",
        "time ",
        "! ",
        "[[ ",
        " ]]",
        "=~ ",
        "-f ",
        "x=",
        "x+=(",
        "a[",
        "]",
        ":-",
        "#",
        "%",
        "/",
        "@Q",
        "!",
        "*",
        "?",
        "~",
        "{a,b}",
        "{1..9}",
        "..",
        ",",
        "é",
        "\u{202e}",
        "\0",
        "\r",
        "declare ",
        "select x ",
        "((",
        "<(",
        ">(",
        "\\x41",
        "1",
        "shopt -s expand_aliases\n",
    ]);
    prop::collection::vec(pieces, 0..60).prop_map(|pieces| pieces.concat())
}

fn holds_opaque(block: &Block) -> bool {
    outline(block).contains("(opaque")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn every_text_is_answered(text in any::<String>()) {
        let _ = parse(&text);
    }

    #[test]
    fn every_soup_is_answered_within_its_own_bounds(text in soup()) {
        let parsed = parse(&text);
        for problem in &parsed.problems {
            let Span { start, end } = problem.span;
            prop_assert!(start <= end, "{problem:?}");
            prop_assert!(!problem.message.ends_with('.'));
        }
        for statement in &parsed.script {
            prop_assert!(statement.span.start <= text.len());
            prop_assert!(statement.span.end <= text.len());
        }
    }

    #[test]
    fn what_is_unread_is_a_problem(text in soup().prop_filter("must not spell it out", |text| !text.contains("opaque"))) {
        let parsed = parse(&text);
        if holds_opaque(&parsed.script) {
            prop_assert!(!parsed.problems.is_empty());
        }
    }

    #[test]
    fn reading_is_deterministic(text in soup()) {
        // With time enough, so that the answer does not depend on how busy the machine is.
        let limits = ParseLimits { deadline: std::time::Duration::from_secs(30), ..ParseLimits::default() };
        prop_assert_eq!(parse_within(&text, limits), parse_within(&text, limits));
    }

    #[test]
    fn single_quotes_keep_every_character(text in "[^'\0]{0,40}") {
        let parsed = parse(&format!("x '{text}' y"));
        prop_assert_eq!(argument(&parsed.script), Some(text));
    }

    #[test]
    fn double_quotes_keep_all_but_their_own(text in "[^\"$`\\\\\0]{0,40}") {
        let parsed = parse(&format!("x \"{text}\" y"));
        prop_assert_eq!(argument(&parsed.script), Some(text));
    }

    #[test]
    fn escaped_characters_lose_their_meaning(text in "[ -~]{1,20}") {
        let escaped: String = text.chars().flat_map(|character| ['\\', character]).collect();
        let parsed = parse(&format!("x {escaped} y"));
        prop_assert_eq!(argument(&parsed.script), Some(text));
    }

    #[test]
    fn a_quoted_here_document_is_inert(text in "[^\0\r]{0,60}") {
        prop_assume!(!text.lines().any(|line| line == "END"));
        let parsed = parse(&format!("cat <<'END'\n{text}\nEND\nrm x"));
        prop_assert_eq!(&parsed.problems, &[]);
        prop_assert_eq!(parsed.script.len(), 2);
    }
}

/// The middle one of three words, when it is plain text.
fn argument(block: &Block) -> Option<String> {
    let [statement] = block.as_slice() else {
        return None;
    };
    let Command::Simple(simple) = &statement.command else {
        return None;
    };
    let [_, word, _] = simple.words.as_slice() else {
        return None;
    };
    let mut text = String::new();
    for part in &word.parts {
        match part {
            Part::Quoted(piece) => text.push_str(piece),
            Part::DoubleQuoted(inner) => {
                for part in inner {
                    let Part::Quoted(piece) = part else {
                        return None;
                    };
                    text.push_str(piece);
                }
            }
            _ => return None,
        }
    }
    Some(text)
}
