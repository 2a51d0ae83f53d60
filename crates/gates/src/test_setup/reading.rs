//! The settings in a file that sets tests up.

use super::names::{ELSEWHERE, LISTS, OPTIONS, SWITCHES, THRESHOLDS};
use super::{Setting, SetupFile};
use crate::finding::FindingWeight;
use crate::function::functions;
use crate::language::SourceLanguage;
use crate::source::{Source, line_of};

pub(super) fn settings(kind: SetupFile, text: &str) -> Vec<Setting> {
    match kind {
        SetupFile::Hooks => hooks(text),
        SetupFile::Sections => in_sections(text, &["pytest", "coverage", "tox", "testenv", "report", "run"]),
        SetupFile::Cargo => in_sections(text, &["[test]", "lib", "bin", "package"]),
        SetupFile::Keys => by_keys(text),
        SetupFile::Build => in_build(text),
        SetupFile::Options => {
            text.lines().enumerate().flat_map(|(number, line)| options(number + 1, line.trim())).collect()
        }
    }
}

fn is_elsewhere(value: &str) -> bool {
    value.split(['/', '\\', '*']).any(|part| ELSEWHERE.contains(&part))
}

/// A whole word, with the options of a command line in it.
fn options(line: usize, text: &str) -> Vec<Setting> {
    let words: Vec<&str> = text
        .split(|letter: char| letter.is_whitespace() || ",[]\"'".contains(letter))
        .filter(|word| !word.is_empty())
        .collect();
    let mut found = Vec::new();
    for (place, word) in words.iter().enumerate() {
        let (name, value) = word.split_once('=').map_or((*word, None), |(name, value)| (name, Some(value)));
        if THRESHOLDS.contains(&name)
            && let Some(least) = value.or(words.get(place + 1).copied()).and_then(|value| value.parse().ok())
        {
            found.push(threshold(line, name, least, text));
            continue;
        }
        let Some((_, takes)) = OPTIONS.iter().find(|(option, _)| *option == name || *option == *word) else {
            continue;
        };
        // Of several words in quotes the first is enough to tell one from another, with what the whole line says.
        let value = value.or(takes.then(|| words.get(place + 1).copied()).flatten()).unwrap_or_default();
        if is_elsewhere(value) {
            continue;
        }
        // Marks are how slow tests are kept apart.
        let weight = if name == "-m" { FindingWeight::Warning } else { FindingWeight::Error };
        let rest: Vec<&str> =
            words.iter().skip(place + 1).take_while(|next| !next.starts_with('-')).copied().collect();
        found.push(Setting {
            line,
            key: format!("{name} {}", rest.join(" ")),
            weight,
            text: text.to_owned(),
            least: None,
        });
    }
    found
}

fn threshold(line: usize, name: &str, least: f64, text: &str) -> Setting {
    Setting {
        line,
        key: name.to_owned(),
        weight: FindingWeight::Error,
        text: text.to_owned(),
        least: Some(least),
    }
}

/// What a key says: a list of what is left out, a switch, a threshold, or a command.
fn said(line: usize, section: &str, key: &str, value: &str, shown: &str) -> Vec<Setting> {
    let plain = value.trim().trim_matches(['"', '\'', ',', ';']).trim();
    if THRESHOLDS.contains(&key) {
        return plain
            .trim_end_matches('%')
            .parse()
            .map(|least| threshold(line, &format!("{section} {key}"), least, shown))
            .into_iter()
            .collect();
    }
    if SWITCHES.contains(&(key, plain)) {
        let weight = if key == "harness" { FindingWeight::Warning } else { FindingWeight::Error };
        return vec![Setting {
            line,
            key: format!("{section} {key}"),
            weight,
            text: shown.to_owned(),
            least: None,
        }];
    }
    if LISTS.contains(&key) {
        let weight = match key {
            "norecursedirs"
            | "omit"
            | "coveragePathIgnorePatterns"
            | "modulePathIgnorePatterns"
            | "required-features" => FindingWeight::Warning,
            _ => FindingWeight::Error,
        };
        return entries(value)
            .into_iter()
            .filter(|entry| !is_elsewhere(entry))
            .map(|entry| Setting {
                line,
                key: format!("{section} {key} {entry}"),
                weight,
                text: format!("{key}: {entry}"),
                least: None,
            })
            .collect();
    }
    Vec::new()
}

/// The values of a list: what stands in quotes, or words where nothing does.
fn entries(value: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut quote = None;
    let mut entry = String::new();
    for letter in value.chars() {
        match quote {
            Some(sign) if sign == letter => {
                quote = None;
                found.push(std::mem::take(&mut entry));
            }
            Some(_) => entry.push(letter),
            None if matches!(letter, '"' | '\'' | '`') => quote = Some(letter),
            None => {}
        }
    }
    if found.is_empty() {
        let is_word = |word: &&str| word.chars().any(char::is_alphanumeric) && !word.starts_with("...");
        found = value.split([' ', '\n', '\t', ',', '[', ']']).filter(is_word).map(str::to_owned).collect();
    }
    found
}

/// `key = value` below `[section]`; what is indented, or in open brackets, goes on.
fn in_sections(text: &str, wanted: &[&str]) -> Vec<Setting> {
    let mut found = Vec::new();
    let mut section = String::new();
    let mut open: Option<(usize, String, String)> = None;
    let close = |open: &mut Option<(usize, String, String)>, section: &str, found: &mut Vec<Setting>| {
        let Some((line, key, value)) = open.take() else { return };
        let shown = format!("{key} = {}", value.split_whitespace().collect::<Vec<_>>().join(" "));
        if matches!(key.as_str(), "addopts" | "commands" | "pytest" | "test") {
            found.extend(options(line, &value).into_iter().map(|one| Setting { text: shown.clone(), ..one }));
        }
        found.extend(said(line, section, &key, &value, &shown));
    };
    for (number, line) in text.lines().enumerate() {
        let trimmed = line.trim();
        if trimmed.starts_with(['#', ';']) {
            continue;
        }
        let is_continued = open.as_ref().is_some_and(|(_, _, value)| {
            line.starts_with([' ', '\t']) || value.matches('[').count() > value.matches(']').count()
        });
        if is_continued {
            if let Some((_, _, value)) = &mut open {
                value.push('\n');
                value.push_str(trimmed);
            }
            continue;
        }
        close(&mut open, &section, &mut found);
        if trimmed.starts_with('[') {
            trimmed.clone_into(&mut section);
        } else if wanted.iter().any(|name| section.contains(name))
            && let Some((key, value)) = trimmed.split_once('=')
        {
            open = Some((number + 1, key.trim().to_owned(), value.trim().to_owned()));
        }
    }
    close(&mut open, &section, &mut found);
    found
}

/// `key: value` in JSON and JavaScript, where the value may go over lines.
fn by_keys(text: &str) -> Vec<Setting> {
    let mut found = Vec::new();
    let names = LISTS.iter().chain(&THRESHOLDS).copied().chain(SWITCHES.iter().map(|(key, _)| *key));
    let mut seen: Vec<&str> = Vec::new();
    for name in names {
        if seen.contains(&name) {
            continue;
        }
        seen.push(name);
        for (at, _) in text.match_indices(name) {
            let before = text.get(..at).and_then(|text| text.chars().next_back()).unwrap_or(' ');
            let behind = text.get(at + name.len()..).unwrap_or_default().trim_start_matches(['"', '\'']);
            let Some(value) = behind.trim_start().strip_prefix(':') else { continue };
            let line = text.get(..at).unwrap_or_default().matches('\n').count() + 1;
            let shown = text.lines().nth(line - 1).unwrap_or_default().trim();
            let is_comment = shown.starts_with("//") || shown.starts_with('*');
            // Of a switch of Cargo or a build only the runner's own are meant here.
            let is_other = matches!(name, "test" | "doctest" | "autotests" | "harness" | "skip" | "enabled");
            if before.is_alphanumeric()
                || before == '_'
                || is_comment
                || is_other
                || is_of_other_tools(text, at)
            {
                continue;
            }
            found.extend(said(line, "", name, value_of(value), shown));
        }
    }
    for (number, line) in text.lines().enumerate() {
        let trimmed = line.trim();
        let Some((key, command)) = trimmed.split_once("\":") else { continue };
        let key = key.trim_start_matches('"');
        if key != "test" && !key.starts_with("test:") && key != "ci" {
            continue;
        }
        found.extend(
            options(number + 1, command).into_iter().map(|one| Setting { text: trimmed.to_owned(), ..one }),
        );
        let command = command.trim().trim_matches([',', '"']).trim();
        let lets_pass = ["|| true", "|| exit 0", "; exit 0", "|| :"].iter().any(|end| command.ends_with(end));
        if lets_pass || matches!(command, "true" | "exit 0") {
            let text = trimmed.to_owned();
            found.push(Setting {
                line: number + 1,
                key: format!("{key} passes"),
                weight: FindingWeight::Error,
                text,
                least: None,
            });
        }
    }
    found
}

/// Whether a key stands in the settings of something else in the same file: of the bundler, of what measures coverage.
fn is_of_other_tools(text: &str, at: usize) -> bool {
    const OTHERS: [&str; 6] = ["optimizeDeps", "ssr", "build", "coverage", "compilerOptions", "esbuild"];
    let mut depth = 0_usize;
    let before = text.get(..at).unwrap_or_default();
    let opened = before.char_indices().rev().find(|(_, letter)| match letter {
        '}' => {
            depth += 1;
            false
        }
        '{' if depth > 0 => {
            depth -= 1;
            false
        }
        letter => *letter == '{',
    });
    let Some((opened, _)) = opened else { return false };
    let key = before.get(..opened).unwrap_or_default().trim_end().trim_end_matches(':');
    let word =
        key.rsplit(|letter: char| !letter.is_alphanumeric() && letter != '"').next().unwrap_or_default();
    OTHERS.contains(&word.trim_matches('"'))
}

/// The text of a value: to the end of its brackets, or of the line.
fn value_of(text: &str) -> &str {
    let text = text.trim_start();
    let mut depth = 0_usize;
    for (at, letter) in text.char_indices() {
        match letter {
            '[' | '(' => depth += 1,
            ']' | ')' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return text.get(..=at).unwrap_or(text);
                }
            }
            ',' | '\n' | '}' if depth == 0 => return text.get(..at).unwrap_or(text),
            _ => {}
        }
    }
    text
}

/// Elements of XML and settings of Gradle, a line each.
fn in_build(text: &str) -> Vec<Setting> {
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let trimmed = line.trim();
        let line = number + 1;
        let parts: Vec<&str> = trimmed
            .split(|letter: char| letter.is_whitespace() || "<>=()\"'".contains(letter))
            .filter(|word| !word.is_empty())
            .collect();
        for pair in parts.windows(2) {
            let [key, value] = pair else { continue };
            let is_list = LISTS.contains(key) && !value.starts_with('/');
            if is_list || SWITCHES.contains(&(*key, *value)) || *key == "minimum" {
                found.extend(said(line, "", key, value, trimmed));
            }
        }
    }
    found
}

/// Hooks of pytest that take tests out or change what became of them.
fn hooks(text: &str) -> Vec<Setting> {
    let Ok(source) = Source::file(SourceLanguage::Python, text) else { return Vec::new() };
    let (all, _) = functions(&source);
    let mut found = Vec::new();
    for function in &all {
        let body = function.body.map(|body| source.text(body)).unwrap_or_default();
        let code: String =
            body.lines().map(|line| line.split('#').next().unwrap_or(line)).collect::<Vec<_>>().join("\n");
        let has = |parts: &[&str]| parts.iter().any(|part| code.contains(part));
        let (disarms, text) = match function.name.as_str() {
            "pytest_collection_modifyitems" | "pytest_itemcollected" => (
                has(&[
                    "items[:]",
                    "items.clear",
                    "del items",
                    "items.remove",
                    "items.pop",
                    "pytest_deselected",
                    "mark.skip",
                    "mark.xfail",
                ]),
                "takes tests out of what was collected",
            ),
            "pytest_ignore_collect" => (has(&["return True"]), "leaves files out"),
            "pytest_runtest_makereport" | "pytest_runtest_logreport" | "pytest_report_teststatus" => (
                has(&["outcome =", "force_result", "force_exception", "longrepr ="]),
                "changes what became of tests",
            ),
            "pytest_sessionfinish" | "pytest_unconfigure" => {
                (has(&["exitstatus =", "os._exit", "sys.exit(0)", "pytest.exit"]), "changes how the run ends")
            }
            "pytest_pyfunc_call" | "pytest_runtest_protocol" | "pytest_runtest_call" => {
                (has(&["return True"]), "does not run the tests")
            }
            _ => continue,
        };
        if disarms {
            let key = format!("{} {}", function.name, code.split_whitespace().collect::<String>());
            let text = format!("{}: {text}", function.name);
            // Tests that are marked by what a machine has are the usual reason to do so.
            let is_conditional = has(&["getoption", "getvalue", "environ", "sys.platform", "shutil.which"]);
            let weight = if is_conditional { FindingWeight::Warning } else { FindingWeight::Error };
            found.push(Setting { line: line_of(function.node), key, weight, text, least: None });
        }
    }
    for (number, line) in text.lines().enumerate() {
        if let Some((key, value)) = line.split_once('=')
            && ["collect_ignore", "collect_ignore_glob"].contains(&key.trim().trim_end_matches('+').trim())
        {
            found.extend(said(number + 1, "", key.trim().trim_end_matches('+').trim(), value, line.trim()));
        }
    }
    found
}
