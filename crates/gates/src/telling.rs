//! Statements that tell people something, wait, or end the program: none of them is work.

use tree_sitter::Node;

use crate::act::{Act, Saying, called, is_fixed};
use crate::language::SourceLanguage;
use crate::remark::says_unwritten;
use crate::source::{Source, descendants, named_children};

/// How deep a chain of texts that go into a stream is followed (ours).
const DEPTH: usize = 40;

/// What a statement says that is no call by its form: `echo`, `exit` and `print` of PHP, `std::cerr << "..."`.
pub(crate) fn said_by_statement(source: &Source, node: Node<'_>) -> Option<Act> {
    let is_told = |part: &Node<'_>| is_fixed(source, *part, 2);
    match node.kind() {
        "echo_statement" | "print_intrinsic" => {
            named_children(node).iter().all(is_told).then_some(Act::Output)
        }
        "exit_statement" => Some(match named_children(node).as_slice() {
            [] => Act::End,
            parts if parts.iter().any(|part| says_unwritten(source.text(*part))) => {
                Act::Unwritten(Saying::Message)
            }
            parts if parts.iter().all(is_told) => Act::End,
            _ => Act::Work,
        }),
        "binary_expression" if source.language() == SourceLanguage::Cpp => {
            streamed(source, node, DEPTH).then_some(Act::Output)
        }
        _ => None,
    }
}

/// Whether an expression puts fixed texts into a stream for people.
fn streamed(source: &Source, node: Node<'_>, depth: usize) -> bool {
    const OPEN: [&str; 6] = ["std::cerr", "std::cout", "std::clog", "cerr", "cout", "clog"];
    const ENDS: [&str; 4] = ["std::endl", "endl", "std::flush", "flush"];
    let (Some(left), Some(right)) = (node.child_by_field_name("left"), node.child_by_field_name("right"))
    else {
        return false;
    };
    let is_shift = node.child_by_field_name("operator").is_some_and(|sign| source.text(sign) == "<<");
    let is_stream = OPEN.contains(&source.text(left)) || depth > 0 && streamed(source, left, depth - 1);
    is_shift && is_stream && (ENDS.contains(&source.text(right)) || is_fixed(source, right, 2))
}

/// Whether a statement answers a request of HTTP with the status for what is not implemented, 501, and does nothing besides.
pub(crate) fn answers_not_implemented(source: &Source, statement: Node<'_>) -> bool {
    const ANSWERS: [&str; 24] = [
        "render",
        "respond",
        "reply",
        "send",
        "result",
        "halt",
        "status",
        "sendstatus",
        "statuscode",
        "http_response_code",
        "httpresponse",
        "response",
        "abort",
        "send_error",
        "writehead",
        "writeheader",
        "head",
        "set_status",
        "code",
        "httpexception",
        "error",
        "json",
        "problem",
        "make_response",
    ];
    const NAMES: [&str; 6] = [
        "StatusNotImplemented",
        "NOT_IMPLEMENTED",
        "HTTP_501_NOT_IMPLEMENTED",
        "Status501NotImplemented",
        "HTTP_NOT_IMPLEMENTED",
        "not_implemented",
    ];
    let is_plain = descendants(statement).filter(Node::is_named).all(|part| {
        !source.grammar().is_function(part.kind())
            && !["if", "switch", "match", "for", "while", "case", "try"]
                .iter()
                .any(|word| part.kind().split('_').next() == Some(word))
    });
    is_plain
        && descendants(statement).filter_map(|part| called(source, part)).any(|(callee, arguments)| {
            let name = crate::act::last_name(callee).to_lowercase();
            ANSWERS.contains(&name.as_str())
                && arguments.iter().flat_map(|argument| parts_of(*argument)).any(|argument| {
                    let text = source.text(argument).trim();
                    let last = text.rsplit(['.', ':']).next().unwrap_or(text);
                    text == "501" || NAMES.contains(&last)
                })
        })
}

/// An argument, and its value where it has a name: `status: :not_implemented`.
fn parts_of(argument: Node<'_>) -> Vec<Node<'_>> {
    let is_pair = matches!(argument.kind(), "pair" | "keyword_argument" | "named_argument");
    if is_pair { named_children(argument).into_iter().skip(1).collect() } else { vec![argument] }
}

/// Whether a call prints, or writes into a log.
pub(crate) fn is_output(callee: &str) -> bool {
    const WHOLE: [&str; 24] = [
        "alert",
        "MessageBox.Show",
        "fprintf",
        "fputs",
        "perror",
        "fmt.Fprint",
        "fmt.Fprintln",
        "fmt.Fprintf",
        "sys.stderr.write",
        "process.stderr.write",
        "print",
        "println",
        "printf",
        "eprintln",
        "eprint",
        "puts",
        "echo",
        "p",
        "fmt.Println",
        "fmt.Printf",
        "fmt.Print",
        "log",
        "warn",
        "error_log",
    ];
    const FIRST: [&str; 10] =
        ["console", "logger", "log", "logging", "Console", "System", "tracing", "slog", "LOGGER", "Debug"];
    const HELD: [&str; 4] = ["logger", "log", "_logger", "LOGGER"];
    let mut parts = callee.split(['.', ':', '-', '>', '$']).filter(|part| !part.is_empty());
    let (first, second) = (parts.next().unwrap_or(callee), parts.next());
    // `self.logger.error`: the second of three.
    let is_held = second.is_some_and(|second| HELD.contains(&second)) && parts.next().is_some();
    WHOLE.contains(&callee)
        || is_held
        || second.is_some() && FIRST.contains(&first) && !callee.starts_with("System.exit")
}

/// Whether a call ends the program or the function.
pub(crate) fn is_end(callee: &str) -> bool {
    const ENDS: [&str; 14] = [
        "std::process::abort",
        "process::abort",
        "std::terminate",
        "terminate",
        "std::abort",
        "__builtin_trap",
        "exit",
        "return",
        "abort",
        "sys.exit",
        "process.exit",
        "os.Exit",
        "std::process::exit",
        "System.exit",
    ];
    ENDS.contains(&callee) || callee.strip_prefix("std::").is_some_and(|name| ENDS.contains(&name))
}

/// Whether a call only waits.
pub(crate) fn is_pause(callee: &str) -> bool {
    const PAUSES: [&str; 19] = [
        "time.sleep",
        "asyncio.sleep",
        "sleep",
        "usleep",
        "nanosleep",
        "delay",
        "Thread.sleep",
        "Thread.Sleep",
        "Task.Delay",
        "TimeUnit.SECONDS.sleep",
        "TimeUnit.MILLISECONDS.sleep",
        "std::thread::sleep",
        "thread::sleep",
        "tokio::time::sleep",
        "time.Sleep",
        "std::this_thread::sleep_for",
        "setTimeout",
        "kotlinx.coroutines.delay",
        "anyio.sleep",
    ];
    PAUSES.contains(&callee)
}

/// Whether what a promise waits for is a timer: `(resolve) => setTimeout(resolve, 500)`.
pub(crate) fn is_timer(source: &Source, arguments: &[Node<'_>]) -> bool {
    let [executor] = arguments else { return false };
    let Some(body) = executor.child_by_field_name("body") else { return false };
    let mut calls = descendants(body).filter_map(|part| called(source, part));
    let is_wait = |(callee, inner): (&str, Vec<Node<'_>>)| {
        callee == "setTimeout" && inner.get(1).is_none_or(|time| is_fixed(source, *time, 2))
    };
    let first = calls.next();
    first.is_some_and(is_wait)
        // What it gives when the time is over.
        && calls.all(|(callee, inner)| callee == "resolve" && inner.iter().all(|one| is_fixed(source, *one, 4)))
}

/// Whether an expression has a variable in it; `Duration::from_millis(10)` and `2 * time.Second` have none.
pub(crate) fn names_variable(node: Node<'_>) -> bool {
    const PATHS: [&str; 3] = ["scoped_identifier", "selector_expression", "qualified_identifier"];
    descendants(node).any(|part| {
        let is_in_path = || part.parent().is_some_and(|parent| PATHS.contains(&parent.kind()));
        matches!(part.kind(), "identifier" | "variable_name") && !is_in_path()
    })
}
