//! Searches by tools, as the line of `ripgrep` that they are.
//!
//! Claude Code, OpenCode and Kilo start `rg --hidden` with the pattern and the globs of the call (seen in their programs). What others search is
//! taken to be as much, and without regard for case unless the call says so.

use checkrein_protocol::folded;
use checkrein_shell::quoted;
use serde_json::Value as Json;

use super::call::{ToolCall, is_rooted, texts_of};
use super::client_tools;
use super::mcp;
use crate::action::Action;
use crate::interpreter::Last;
use crate::programs::braces;
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
    // `Includes` of Windsurf's `grep_search` (its documentation).
    "includes",
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
    let chosen: Vec<Chosen> = call.texts(GLOBS).into_iter().flat_map(globs).flat_map(choices).collect();
    let (mut inside, mut outside) = (Vec::new(), Vec::new());
    for chosen in chosen {
        match chosen {
            Chosen::Within(glob) => inside.push(glob),
            Chosen::Elsewhere(folder, rest) => outside.push((folder, rest)),
        }
    }
    // Where both are given a file must fit both: the globs alone choose more.
    if inside.is_empty() && outside.is_empty() {
        inside.extend(types(input).iter().map(|glob| (*glob).to_owned()));
    }
    let patterns = call.texts(PATTERNS);
    // What is not known may fit anything.
    let patterns = if patterns.is_empty() { vec![""] } else { patterns };
    let searching = |globs: &[String], place: &str| {
        let globs = globs.iter().flat_map(|glob| ["-g".to_owned(), quoted(glob)]);
        let sought = patterns.iter().flat_map(|pattern| ["-e".to_owned(), quoted(pattern)]);
        let all = words.iter().cloned().chain(globs).chain(sought);
        let place = quoted(call.path(place, Last::Follow).as_str());
        all.chain(["--".to_owned(), place]).collect::<Vec<_>>().join(" ")
    };
    let places = client_tools::searched(&call);
    let mut lines: Vec<String> = Vec::new();
    if outside.is_empty() || !inside.is_empty() {
        lines.extend(places.iter().map(|place| searching(&inside, place)));
    }
    for (folder, rest) in &outside {
        let rest: Vec<String> = rest.iter().cloned().collect();
        lines.extend(places.iter().map(|place| searching(&rest, &below(place, folder))));
    }
    Some(lines.join("; "))
}

/// The line of a search by which a pattern of names is one whose files are read whole: `rg` with a pattern that fits everything.
pub(super) fn reading_line(action: &Action, world: &dyn World) -> Option<String> {
    let call = ToolCall::new(action, world);
    let patterns = client_tools::read_patterns(&call);
    let takes_all = client_tools::takes_ignored(&action.input);
    let leaves_out =
        action.input.get("useDefaultExcludes").and_then(Json::as_bool) != Some(false) && !takes_all;
    let lines: Vec<String> = patterns
        .into_iter()
        .flat_map(choices)
        .map(|chosen| {
            let (folder, rest) = match chosen {
                Chosen::Within(glob) => (".".to_owned(), Some(glob)),
                Chosen::Elsewhere(folder, rest) => (folder, rest),
            };
            // A glob that names everything chooses nothing, and does not bring back what is ignored. Gemini CLI 0.61 and Qwen Code 0.24 leave
            // `.env` out of it, whatever git says (`SYSTEM_FILE_EXCLUDES` in their bundles), unless they are told not to.
            let is_everything =
                rest.as_deref().is_none_or(|glob| matches!(glob, "*" | "**" | "**/*" | "**/**"));
            let rest = if is_everything { leaves_out.then(|| "!.env".to_owned()) } else { rest };
            let mut words = vec!["rg".to_owned(), "--hidden".to_owned()];
            words.extend(takes_all.then(|| "--no-ignore".to_owned()));
            words.extend(rest.into_iter().flat_map(|glob| ["-g".to_owned(), quoted(&glob)]));
            words.extend(["-e", "''", "--"].map(str::to_owned));
            words.push(quoted(call.path(&folder, Last::Follow).as_str()));
            words.join(" ")
        })
        .collect();
    (!lines.is_empty()).then(|| lines.join("; "))
}

/// What a pattern of files chooses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Chosen {
    /// What fits it below the folder that is searched.
    Within(String),
    /// The folder or file that it leads to instead, from the folder that is searched, and what must fit below it. Gemini CLI 0.61 and Qwen Code
    /// 0.24 hand their patterns to a walk that follows `..` (`globStream` in their bundles); what others do with one is taken to be as much.
    Elsewhere(String, Option<String>),
}

/// What a pattern chooses, by each of its alternatives.
pub(super) fn choices(pattern: &str) -> Vec<Chosen> {
    // What is left out is not searched.
    if pattern.starts_with('!') {
        return vec![Chosen::Within(pattern.to_owned())];
    }
    let all = braces::alternatives(pattern);
    let leaves = all.iter().any(|one| is_rooted(one) || one.split('/').any(|part| part == ".."));
    if !leaves {
        return vec![Chosen::Within(pattern.to_owned())];
    }
    all.iter().map(|one| choice(one)).collect()
}

fn choice(pattern: &str) -> Chosen {
    let (root, rest) = match pattern.strip_prefix('/') {
        Some(rest) => ("/", rest),
        None => ("", pattern),
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in rest.split('/') {
        match part {
            "" | "." => {}
            // Whatever a part stands for, its folder is the one above.
            ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
            ".." if !root.is_empty() => {}
            part => parts.push(part),
        }
    }
    if root.is_empty() && parts.first() != Some(&"..") && !is_rooted(pattern) {
        return Chosen::Within(parts.join("/"));
    }
    let plain = parts.iter().take_while(|part| !part.contains(['*', '?', '[', '{'])).count();
    let (folder, rest) = parts.split_at(plain);
    let rest = (!rest.is_empty()).then(|| rest.join("/"));
    Chosen::Elsewhere(format!("{root}{}", folder.join("/")), rest)
}

/// A place that a pattern leads to, seen from a folder that is searched.
pub(super) fn below(place: &str, folder: &str) -> String {
    if is_rooted(folder) { folder.to_owned() } else { format!("{}/{folder}", place.trim_end_matches('/')) }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_leads_to_where_its_dots_and_its_root_say() {
        let elsewhere =
            |folder: &str, rest: Option<&str>| Chosen::Elsewhere(folder.to_owned(), rest.map(str::to_owned));
        let within = |glob: &str| Chosen::Within(glob.to_owned());
        for (pattern, expected) in [
            ("*.rs", vec![within("*.rs")]),
            ("src/**", vec![within("src/**")]),
            ("{src,tests}/*.rs", vec![within("{src,tests}/*.rs")]),
            ("!../x/*", vec![within("!../x/*")]),
            ("src/../lib/*.rs", vec![within("lib/*.rs")]),
            ("../.ssh/*", vec![elsewhere("../.ssh", Some("*"))]),
            ("a/../../.ssh/id", vec![elsewhere("../.ssh/id", None)]),
            ("*/../../x/**/*.pem", vec![elsewhere("../x", Some("**/*.pem"))]),
            ("/home/dev/.aws/**", vec![elsewhere("/home/dev/.aws", Some("**"))]),
            ("/../etc/*", vec![elsewhere("/etc", Some("*"))]),
            ("~/.ssh/*", vec![elsewhere("~/.ssh", Some("*"))]),
            ("{src/*.ts,../.ssh/id_*}", vec![within("src/*.ts"), elsewhere("../.ssh", Some("id_*"))]),
            ("{..,.}/x/*", vec![elsewhere("../x", Some("*")), within("x/*")]),
        ] {
            assert_eq!(choices(pattern), expected, "{pattern}");
        }
    }
}
