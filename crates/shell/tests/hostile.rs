//! Text that is made to hurt: it must be answered, in time, and as opaque where it was not read.

// Time is measured here to show that it is bounded.
#![allow(missing_docs, clippy::unwrap_used, clippy::disallowed_methods)]

use std::time::{Duration, Instant};

use checkrein_shell::{Command, ParseLimits, Parsed, ProblemKind, parse, parse_within};

/// The size limit of the default [`ParseLimits`].
const LARGEST: usize = 64 * 1024;

/// Far above the deadline, and far below what unguarded reading takes (seconds) or does (overflows the stack).
const PATIENCE: Duration = Duration::from_secs(2);

fn filled_with(piece: &str) -> String {
    piece.repeat(LARGEST / piece.len())
}

/// Parses with time enough for a slow build, so that what is answered does not depend on the machine.
fn read_patiently(text: &str) -> Parsed {
    let limits = ParseLimits { deadline: Duration::from_secs(30), ..ParseLimits::default() };
    parse_within(text, limits)
}

fn first_problem(text: &str) -> Option<ProblemKind> {
    let parsed = read_patiently(text);
    parsed.problems.first().map(|problem| problem.kind)
}

#[test]
fn deep_nesting_is_refused() {
    for text in [
        "$(".repeat(5000),
        "( ".repeat(5000),
        "if ".repeat(5000),
        "while ".repeat(5000),
        "case x in a) ".repeat(5000),
        "if x; then ".repeat(5000),
        filled_with("{"),
        filled_with("{ "),
        filled_with("{a,"),
        filled_with("${a:-"),
        filled_with("${x//a/"),
        filled_with("\"$("),
        filled_with("$(("),
        filled_with("a=("),
        filled_with("[[ ( "),
        filled_with("cat <<A\n$(cat <<B\n"),
    ] {
        assert_eq!(first_problem(&text), Some(ProblemKind::TooDeep), "{}", &text[..20]);
    }
}

#[test]
fn runs_of_prefix_words_are_refused() {
    for piece in ["coproc ", "time ", "! ", "! time ", "time -p ", "coproc \\\n", "time { ! ( "] {
        for count in [2000, LARGEST / piece.len()] {
            let text = piece.repeat(count);
            assert_eq!(first_problem(&text), Some(ProblemKind::TooDeep), "{piece}");
        }
    }
    assert_eq!(first_problem(&format!("{}ls", "! ".repeat(64))), None);
    assert_eq!(first_problem(&format!("{}ls", "! ".repeat(65))), Some(ProblemKind::TooDeep));
}

#[test]
fn long_repetition_is_answered() {
    for piece in [
        "<<A\n",
        "a|",
        "a&&",
        "a;",
        "a&",
        "a[",
        "`",
        "`a`",
        "\"",
        "'",
        "$'",
        "\\",
        "#",
        "\n",
        "\0",
        "\r",
        ">x ",
        "{a,b}",
        "{a,b} ",
        "{1..1000} ",
        "{1..1}",
        "$(a)",
        "$(a) ",
        "<(a) ",
        "${x}",
        "$x",
        "${x:-a}",
        "{fd}>",
        "f() ",
        "function f ",
        "for ",
        "for((",
        "select x ",
        "a=",
        "a=$(",
        "\\\n",
        "}",
        "{}",
        "a b ",
        "$[",
        "é",
        "${x+\"",
        "'${' ",
        "${x:-\\{} ",
        "[[ a && ",
        "((1+",
        "! ls; ",
    ] {
        let text = filled_with(piece);
        let started = Instant::now();
        let parsed = parse(&text);
        let taken = started.elapsed();
        assert!(taken < PATIENCE, "{piece:?} took {taken:?}");
        assert!(
            !parsed.script.is_empty() || piece.trim_matches(['\\', '\n', '#', '\0']).is_empty(),
            "{piece:?}"
        );
    }
}

#[test]
fn too_long_a_text_is_not_looked_at() {
    assert_eq!(first_problem(&"a".repeat(LARGEST)), None);
    assert_eq!(first_problem(&"a".repeat(LARGEST + 1)), Some(ProblemKind::TooLong));
}

#[test]
fn nested_back_ticks_open_to_any_practical_depth() {
    let mut text = "rm".to_owned();
    for _ in 0..10 {
        text = format!("`{}`", text.replace('\\', "\\\\").replace('`', "\\`"));
    }
    let parsed = parse(&text);
    assert_eq!(parsed.problems, []);
    let outline = checkrein_shell::outline::outline(&parsed.script);
    assert_eq!(outline.matches("$[").count(), 10);
    assert!(outline.contains("(rm)"), "{outline}");
}

#[test]
fn a_refused_text_is_one_opaque_command() {
    let text = "rm -rf / ".to_owned() + &"$(".repeat(200);
    let parsed = parse(&text);
    let [statement] = parsed.script.as_slice() else {
        panic!("{:?}", parsed.script);
    };
    let Command::Opaque(opaque) = &statement.command else {
        panic!("{:?}", statement.command);
    };
    assert_eq!(opaque.text, text);
    assert_eq!(opaque.reason, ProblemKind::TooDeep);
    assert_eq!(parsed.problems.len(), 1);
}

#[test]
fn opaque_text_is_cut_at_a_character() {
    let parsed = parse(&"é".repeat(LARGEST));
    let Command::Opaque(opaque) = &parsed.script[0].command else {
        panic!("twice the limit is too long");
    };
    assert_eq!(opaque.text, "é".repeat(2048));
}

#[test]
fn a_deadline_that_has_passed_is_a_problem() {
    let limits = ParseLimits { deadline: Duration::ZERO, ..ParseLimits::default() };
    let parsed = parse_within(&filled_with("a b;"), limits);
    assert_eq!(parsed.problems[0].kind, ProblemKind::Deadline);
    assert!(matches!(parsed.script[0].command, Command::Opaque(_)));
}

#[test]
fn limits_can_be_narrowed() {
    let limits = ParseLimits { text_bytes: 10, open_brackets: 1, prefix_words: 1, ..ParseLimits::default() };
    for (text, kind) in [
        ("echo 12345", None),
        ("echo 123456", Some(ProblemKind::TooLong)),
        ("$(a $(b))", Some(ProblemKind::TooDeep)),
        ("! ! ls", Some(ProblemKind::TooDeep)),
    ] {
        let parsed = parse_within(text, limits);
        assert_eq!(parsed.problems.first().map(|problem| problem.kind), kind, "{text}");
    }
}

#[test]
fn brace_expansion_is_bounded_over_the_whole_text() {
    let parsed = read_patiently(&filled_with("{1..1000} "));
    assert_eq!(parsed.problems[0].kind, ProblemKind::Unsupported);
    let Command::Simple(simple) = &parsed.script[0].command else {
        panic!("one long command");
    };
    assert!(simple.words.len() < 300_000);
}

/// The deepest nesting that is still read on the caller's stack, on the two megabytes that a test thread has. An
/// unoptimised parser may give up earlier; it must not overflow.
#[test]
fn plain_text_fits_on_a_small_stack() {
    for (open, close, levels) in [
        ("if a; then ", "; fi", 31),
        ("while a; do ", "; done", 31),
        ("case x in a) ", ";; esac", 63),
        ("$(a ", ")", 8),
        ("\"${x:-$(", ")}\"", 4),
        ("if a; then { $(", "); }; fi", 4),
        ("f() { ", "; }", 8),
        ("[[ ( ", " ) ]]", 1),
    ] {
        let nested = |levels| format!("{}b{}", open.repeat(levels), close.repeat(levels));
        let kinds: Vec<_> = parse(&nested(levels)).problems.iter().map(|problem| problem.kind).collect();
        assert!(kinds.iter().all(|kind| *kind == ProblemKind::TooDeep), "{open} {kinds:?}");
        assert_eq!(parse(&nested(levels.div_ceil(4))).problems, [], "{open}");
    }
}
