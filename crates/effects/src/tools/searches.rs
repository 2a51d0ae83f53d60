//! Searches by tools, as the line of `ripgrep` that they are.
//!
//! Claude Code, OpenCode and Kilo start `rg --hidden` with the pattern and the globs of the call (seen in their programs). What others search is
//! taken to be as much, and without regard for case unless the call says so.

use checkrein_protocol::folded;
use checkrein_shell::quoted;
use serde_json::Value as Json;

use super::call::{ToolCall, texts_of};
use super::client_tools;
use super::mcp;
use crate::action::Action;
use crate::interpreter::Last;
use crate::world::World;

/// Fields that hold what is looked for.
const PATTERNS: &[&str] =
    &["pattern", "query", "regex", "regexp", "search", "search_term", "searchTerm", "text"];
/// Fields that choose files.
pub(super) const GLOBS: &[&str] = &[
    "glob",
    "globs",
    "include",
    "include_pattern",
    "includePattern",
    "file_pattern",
    "filePattern",
    "file_glob",
    "fileGlob",
    "glob_pattern",
    "globPattern",
];
/// Types of files by which a search may be narrowed, with what they choose: those of languages, since a secret stands in none of what they
/// choose by its name (source: `rg --type-list`, the default types of ripgrep). Any other type is taken to choose everything.
const TYPES: &[(&str, &[&str])] = &[
    ("c", &["*.[chH]", "*.[chH].in", "*.cats"]),
    ("cs", &["*.cs"]),
    ("csharp", &["*.cs"]),
    ("css", &["*.css", "*.scss"]),
    ("dart", &["*.dart"]),
    ("elixir", &["*.ex", "*.eex", "*.exs"]),
    ("go", &["*.go"]),
    ("html", &["*.htm", "*.html", "*.ejs"]),
    ("java", &["*.java", "*.jsp", "*.jspx", "*.properties"]),
    ("js", &["*.js", "*.jsx", "*.vue", "*.cjs", "*.mjs"]),
    ("kotlin", &["*.kt", "*.kts"]),
    ("lua", &["*.lua"]),
    ("md", &["*.markdown", "*.md", "*.mdown", "*.mdwn", "*.mdx", "*.mkd", "*.mkdn"]),
    ("php", &["*.php", "*.php3", "*.php4", "*.php5", "*.php7", "*.php8", "*.pht", "*.phtml"]),
    ("protobuf", &["*.proto"]),
    ("py", &["*.py", "*.pyi"]),
    ("rust", &["*.rs"]),
    ("scala", &["*.scala", "*.sbt"]),
    ("sql", &["*.sql", "*.psql"]),
    ("swift", &["*.swift"]),
    ("ts", &["*.ts", "*.tsx", "*.cts", "*.mts"]),
    ("zig", &["*.zig"]),
];
/// Fields that say how many lines around one that fits are shown.
const AROUND: &[&str] = &["-A", "-B", "-C", "context", "before", "after", "contextLines"];

/// The command line that a search by a tool is; `None` when the call is none, or tells only names and numbers.
pub(super) fn line(action: &Action, world: &dyn World) -> Option<String> {
    if !client_tools::is_search(action) && !mcp::is_search(action) {
        return None;
    }
    let input = &action.input;
    let is_told = |names: &[&str], value: bool| {
        names.iter().any(|name| input.get(name).and_then(Json::as_bool) == Some(value))
    };
    // Without a mode some clients list names, others show lines.
    let tells_names = matches!(
        texts_of(input, &["output_mode", "outputMode"]).next(),
        Some("files_with_matches" | "file_paths" | "count")
    );
    if tells_names || is_told(&["names_only"], true) {
        return None;
    }
    let mut words = vec!["rg".to_owned(), "--hidden".to_owned()];
    let keeps_case =
        folded(action.tool.as_str()) == "grep" || is_told(&["case_sensitive", "caseSensitive"], true);
    if !keeps_case || is_told(&["-i", "ignore_case", "ignoreCase"], true) {
        words.push("-i".to_owned());
    }
    if is_told(&["fixed_strings", "fixedStrings", "literal"], true) {
        words.push("-F".to_owned());
    }
    let takes_all = is_told(&["no_ignore", "noIgnore", "include_ignored", "includeIgnored"], true)
        || is_told(&["respect_git_ignore", "respectGitIgnore"], false);
    if takes_all {
        words.push("--no-ignore".to_owned());
    }
    if AROUND.iter().any(|name| input.get(name).is_some_and(|count| count.as_u64() != Some(0))) {
        words.extend(["-C", "1"].map(str::to_owned));
    }
    let call = ToolCall::new(action, world);
    let mut chosen: Vec<&str> = call.texts(GLOBS).into_iter().flat_map(globs).collect();
    // Where both are given a file must fit both: the globs alone choose more.
    if chosen.is_empty() {
        chosen.extend(types(input));
    }
    for glob in chosen {
        words.extend(["-g".to_owned(), quoted(glob)]);
    }
    let patterns = call.texts(PATTERNS);
    // What is not known may fit anything.
    let patterns = if patterns.is_empty() { vec![""] } else { patterns };
    for pattern in patterns {
        words.extend(["-e".to_owned(), quoted(pattern)]);
    }
    words.push("--".to_owned());
    words.extend(
        client_tools::searched(&call)
            .into_iter()
            .map(|place| quoted(call.path(place, Last::Follow).as_str())),
    );
    Some(words.join(" "))
}

/// What the type of files chooses that a search is narrowed to; nothing where there is none, or not one of which that is known.
fn types(input: &Json) -> &'static [&'static str] {
    let asked = input.get("type").and_then(Json::as_str);
    let known = asked.and_then(|asked| TYPES.iter().find(|(name, _)| *name == asked));
    known.map(|(_, globs)| *globs).unwrap_or_default()
}

/// The patterns that a text holds, as Claude Code takes it apart: by blanks, and by commas where none stands in braces.
pub(super) fn globs(text: &str) -> Vec<&str> {
    let parts = text.split_whitespace();
    parts
        .flat_map(|part| if part.contains('{') { vec![part] } else { part.split(',').collect() })
        .filter(|part| !part.is_empty())
        .collect()
}
