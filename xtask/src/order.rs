//! `order`: which functions of the hook stand next to each other.
//!
//! A hook lives for a millisecond, and most of that is the kernel mapping the pages of code that it touches. What usual calls touch is an
//! eighth of the code, spread over all of it; standing together it needs a third of the page faults. The order is kept as a script for
//! the linker, with patterns in place of the hashes in names, so that it stays good from change to change. A name that no longer exists
//! does no harm, and a new function stands behind the ordered ones until this chore runs again.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::{Outcome, build, cargo, root, run};

/// The script, in the repository.
const SCRIPT: &str = "crates/hook/hook-order.ld";

/// Runs the hook on usual events under valgrind, and writes down what ran in most of them first.
pub(crate) fn order() -> Outcome {
    let target =
        build::static_target().ok_or("the order is for the static hook, which cannot be built here")?;
    let hook = ["build", "--release", "--package", "checkrein", "--bin", "checkrein-hook", "--target"];
    run(cargo(&hook).args([target.as_str(), "--config", "profile.release.strip=false"]))?;
    let program = build::target_directory().join(target).join("release/checkrein-hook");
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let project = folder.path().join("project");
    fs::create_dir_all(project.join("src")).map_err(|error| error.to_string())?;
    run(Command::new("git").args(["init", "-q"]).current_dir(&project))?;

    // By function: the runs in which it was called.
    let mut seen: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (run, event) in events(&project).iter().enumerate() {
        for name in called(&program, folder.path(), event)? {
            seen.entry(name).or_default().push(run);
        }
    }
    // What most runs need comes first, and what the same runs need stands together.
    let mut functions: Vec<(String, Vec<usize>)> = seen.into_iter().collect();
    functions.sort_by(|(_, one), (_, other)| (other.len(), one).cmp(&(one.len(), other)));
    println!("{} functions in order", functions.len());
    let names = functions.iter().map(|(name, _)| name.as_str());
    fs::write(root().join(SCRIPT), script(names)).map_err(|error| format!("cannot write {SCRIPT}: {error}"))
}

/// What a client at work sends: commands and edits of every day, their outcomes, a prompt, a start.
fn events(project: &Path) -> Vec<Value> {
    let event = |name: &str, fields: Value| {
        let mut event = json!({ "session_id": "order", "cwd": project, "hook_event_name": name });
        if let (Value::Object(event), Value::Object(fields)) = (&mut event, fields) {
            event.extend(fields);
        }
        event
    };
    let before = |tool: &str, input: Value| {
        event("PreToolUse", json!({ "tool_name": tool, "tool_input": input, "tool_use_id": "call" }))
    };
    let file = project.join("src/notes.txt");
    let commands = [
        "ls -la",
        "cargo test --workspace 2>&1 | tail -n 40",
        "git add -A && git commit -m \"fix: the parser\"",
        "for f in src/*.rs; do sed -i 's/a/b/' \"$f\"; done",
        "rm -rf build && mkdir -p build",
        "cd src && grep -rn 'fn main' . | head -5",
        "npm install && npm test",
        "cat <<'EOF' > notes.txt\nhello\nEOF",
        "python3 -c \"print(1)\"",
        "if [ -f x ]; then echo yes; else echo no; fi",
    ];
    let mut events = vec![event("SessionStart", json!({ "source": "startup" }))];
    events.extend(commands.map(|command| before("Bash", json!({ "command": command }))));
    events.extend([
        before("Write", json!({ "file_path": file, "content": "hello\n" })),
        before("Edit", json!({ "file_path": file, "old_string": "hello", "new_string": "bye" })),
        before("Read", json!({ "file_path": file })),
        event(
            "PostToolUse",
            json!({
                "tool_name": "Bash", "tool_input": { "command": "ls -la" }, "tool_use_id": "call",
                "tool_response": { "stdout": "src\n", "stderr": "" },
            }),
        ),
        event("UserPromptSubmit", json!({ "prompt": "please mend the parser" })),
    ]);
    events
}

/// The functions that one run of the hook calls.
fn called(program: &Path, folder: &Path, event: &Value) -> Result<BTreeSet<String>, String> {
    let listing = folder.join("calls");
    let mut child = Command::new("valgrind")
        .args(["--tool=callgrind", "--demangle=no"])
        .arg(format!("--callgrind-out-file={}", listing.display()))
        .arg(program)
        .arg("claude")
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", folder)
        .env("CHECKREIN_HOME", folder.join("state"))
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("valgrind cannot be started: {error}"))?;
    if let Some(mut pipe) = child.stdin.take() {
        pipe.write_all(event.to_string().as_bytes()).map_err(|error| error.to_string())?;
    }
    if !child.wait().map_err(|error| error.to_string())?.success() {
        return Err("the hook failed under valgrind".to_owned());
    }
    let text = fs::read_to_string(&listing).map_err(|error| error.to_string())?;
    // `fn=(7) NAME` and `cfn=(7) NAME` define a name; what recursion adds to it is no part of it.
    let names =
        text.lines().filter_map(|line| line.strip_prefix("fn=").or_else(|| line.strip_prefix("cfn=")));
    let names = names
        .filter_map(|line| line.split_once(") "))
        .map(|(_, name)| name.split_once('\'').map_or(name, |(name, _)| name).to_owned());
    Ok(names.filter(|name| is_symbol(name)).collect())
}

/// Valgrind also lists addresses without a name, and `(below main)`.
fn is_symbol(name: &str) -> bool {
    !name.starts_with("0x") && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.$".contains(&byte))
}

/// The linker script: the code of these functions first.
fn script<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut patterns: Vec<String> = Vec::new();
    let mut known = BTreeSet::new();
    for name in names {
        let pattern = pattern(name);
        if known.insert(pattern.clone()) {
            patterns.push(pattern);
        }
    }
    let mut lines = String::new();
    for pattern in &patterns {
        lines.extend(["    *(.text.", pattern, ")\n"]);
    }
    format!(
        "/* Written by `cargo xtask order`: the code that usual calls of the hook touch stands together. */\n\
         SECTIONS\n{{\n  .text.ordered :\n  {{\n{lines}  }}\n}}\nINSERT BEFORE .text;\n"
    )
}

/// A pattern for a mangled name that leaves out what changes with the compiler or the version of a crate.
fn pattern(name: &str) -> String {
    // `_ZN...17h0123456789abcdefE`, perhaps with a suffix of the optimiser.
    if let Some((start, _)) = name.rsplit_once("17h").filter(|_| name.starts_with("_ZN")) {
        return format!("{start}17h*");
    }
    // `...Cs1NghyPLXJxP_10std_detect...`: a hash of the crate before its name.
    let mut pattern = String::new();
    let mut rest = name.split_once(".llvm.").map_or(name, |(name, _)| name);
    while let Some((before, after)) = rest.split_once("Cs").filter(|_| name.starts_with("_R")) {
        let Some((hash, behind)) = after.split_once('_') else { break };
        if hash.is_empty() || !hash.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            break;
        }
        pattern.push_str(before);
        pattern.push_str("Cs*_");
        rest = behind;
    }
    pattern.push_str(rest);
    if name.starts_with("_R") { without_instance(&without_references(&pattern)) } else { pattern }
}

/// Without the places that a name refers back to: `B1t_`. They move with the length of the hashes before them.
fn without_references(pattern: &str) -> String {
    let mut parts = pattern.split('B');
    let mut left = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part
            .split_once('_')
            .filter(|(place, _)| place.bytes().all(|byte| byte.is_ascii_alphanumeric()))
            .map_or_else(|| format!("B{part}"), |(_, rest)| format!("B*_{rest}"));
        left.push_str(&rest);
    }
    left
}

/// Without the crate that happens to hold this instance of generic code: any of those that need it may.
fn without_instance(pattern: &str) -> String {
    let ends_with_crate = |rest: &str| {
        let name = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        rest.strip_suffix(name).and_then(|length| length.parse().ok()) == Some(name.len())
    };
    let start = match pattern.rsplit_once("Cs*_") {
        Some((start, rest)) if start.len() > 2 && ends_with_crate(rest) => start,
        _ => pattern.strip_suffix("B*_").unwrap_or(pattern),
    };
    if start.len() == pattern.len() { pattern.to_owned() } else { format!("{start}*") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_left_open() {
        assert_eq!(pattern("_ZN4core3fmt5write17h0123456789abcdefE"), "_ZN4core3fmt5write17h*");
        assert_eq!(pattern("_ZN4core3fmt5write17h0123456789abcdefE.llvm.77"), "_ZN4core3fmt5write17h*");
        assert_eq!(
            pattern("_RNvNtCs1NghyPLXJxP_10std_detect6detectCsabc_3std"),
            "_RNvNtCs*_10std_detect6detect*"
        );
        assert_eq!(pattern("_RNvNtCs1NghyPLXJxP_10std_detect6detect"), "_RNvNtCs*_10std_detect6detect");
        assert_eq!(
            pattern("_RINvNtCsabc_5alloc3vec9from_elemNtB4_6StringECsabc_9hashbrown"),
            "_RINvNtCs*_5alloc3vec9from_elemNtB*_6StringE*"
        );
        assert_eq!(
            pattern("_RINvNtCsabc_5alloc3vec4pushNtB1t_6StringEB2_"),
            "_RINvNtCs*_5alloc3vec4pushNtB*_6StringE*"
        );
        assert_eq!(pattern("memcpy"), "memcpy");
    }
}
