//! Measures the gate `completeness` where the truth is known: on code that others ship, and on the same code with functions made into stubs.

mod idioms;
mod ways;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use checkrein_gates::{
    CodeOrigin, FindingKind, FindingWeight, FunctionSpan, GateFinding, GateText, SourceLanguage,
    examine_file, function_spans,
};
use xtask::Outcome;

use ways::{Way, made_into};

/// The longest file that is taken, in bytes: each stub has its file read anew.
const LONGEST: u64 = 60_000;
/// How many lines a function has at least that is made into stubs: a shorter one is hardly more than a stub itself.
const SHORTEST: usize = 5;

/// `cargo xtask stubs [--functions N] [--files N] [--show WAY|alarms] LANGUAGE=FOLDER...`: takes the code below folders as written, counts the
/// functions that the gate calls unwritten, makes N functions of each language into stubs in each way, and counts those that it finds.
pub(crate) fn stubs(arguments: &[String]) -> Outcome {
    let (mut functions, mut files, mut shown) = (300, 4000, None);
    let mut places: Vec<(SourceLanguage, PathBuf)> = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("`{word}` needs a value"));
        let number = |text: &String| text.parse().map_err(|_| format!("`{text}` is not a number"));
        match word.as_str() {
            "--functions" => functions = number(value()?)?,
            "--files" => files = number(value()?)?,
            "--show" => shown = Some(value()?.clone()),
            place => {
                let (name, folder) = place.split_once('=').ok_or("name places as LANGUAGE=FOLDER")?;
                let language =
                    SourceLanguage::named(name).ok_or_else(|| format!("no grammar reads `{name}`"))?;
                places.push((language, PathBuf::from(folder)));
            }
        }
    }
    if places.is_empty() {
        return Err("name places as LANGUAGE=FOLDER".to_owned());
    }
    let mut languages: Vec<SourceLanguage> = places.iter().map(|(language, _)| *language).collect();
    languages.sort();
    languages.dedup();
    for language in languages {
        let own = places.iter().filter(|(other, _)| *other == language).map(|(_, folder)| folder);
        let mut found = Vec::new();
        for folder in own {
            collect(folder, language, &mut found)?;
        }
        found.sort();
        let taken = spread(found, files);
        measure(language, &taken, functions, shown.as_deref());
    }
    Ok(())
}

/// All files of a language below a folder that are no tests; links are not followed.
fn collect(folder: &Path, language: SourceLanguage, found: &mut Vec<PathBuf>) -> Result<(), String> {
    let listed =
        fs::read_dir(folder).map_err(|error| format!("cannot list {}: {error}", folder.display()))?;
    for entry in listed.filter_map(Result::ok) {
        let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
        let name = path.to_string_lossy().into_owned();
        if kind.is_dir() {
            // What may not be read is not measured.
            if let Err(cause) = collect(&path, language, found) {
                eprintln!("{cause}");
            }
        } else if kind.is_file()
            && SourceLanguage::of_file(&name, "") == Some(language)
            && CodeOrigin::of_path(&name) == CodeOrigin::Product
            && !name.contains(".min.")
            && entry.metadata().is_ok_and(|facts| facts.len() <= LONGEST)
        {
            found.push(path);
        }
    }
    Ok(())
}

/// At most so many of a list, from all over it.
fn spread<T>(all: Vec<T>, most: usize) -> Vec<T> {
    let step = all.len().div_ceil(most.max(1)).max(1);
    all.into_iter().step_by(step).collect()
}

/// A function that nothing is found in.
struct Written {
    text: usize,
    span: FunctionSpan,
}

/// Whether a finding says that a function is not written.
fn says_unwritten(finding: &GateFinding) -> bool {
    finding.weight == FindingWeight::Error
        && matches!(
            finding.kind,
            FindingKind::NotImplemented
                | FindingKind::UnfinishedBranch
                | FindingKind::DocumentationOnly
                | FindingKind::PlaceholderBody
                | FindingKind::FakeResult
                | FindingKind::ElidedCode
                | FindingKind::SkippedBody
                | FindingKind::FixedResult
        )
}

fn measure(language: SourceLanguage, files: &[PathBuf], functions: usize, shown: Option<&str>) {
    let mut texts: Vec<String> = Vec::new();
    let mut written: Vec<Written> = Vec::new();
    let (mut count, mut alarms) = (0_usize, BTreeMap::<&str, usize>::new());
    for path in files {
        let Ok(text) = fs::read_to_string(path) else { continue };
        let examined =
            examine_file(GateText { language, text: &text, changed: None, origin: CodeOrigin::Product });
        count += examined.functions;
        for finding in examined.findings.iter().filter(|finding| says_unwritten(finding)) {
            *alarms.entry(finding.kind.name()).or_default() += 1;
            if shown == Some("alarms") {
                println!(
                    "{}:{}: {} in `{}`: {}",
                    path.display(),
                    finding.line,
                    finding.kind,
                    finding.function,
                    finding.text
                );
            }
        }
        let spans = function_spans(language, &text);
        let free = spans.into_iter().filter(|span| {
            let touches = |finding: &GateFinding| {
                finding.first_line <= *span.lines.end() && *span.lines.start() <= finding.last_line
            };
            span.lines.clone().count() >= SHORTEST && !examined.findings.iter().any(touches)
        });
        written.extend(free.map(|span| Written { text: texts.len(), span }));
        texts.push(text);
    }
    let found: usize = alarms.values().sum();
    let kinds: Vec<String> = alarms.iter().map(|(kind, number)| format!("{kind} {number}")).collect();
    println!(
        "{}: {} files, {count} functions as others ship them, {found} called unwritten ({:.2} per 1,000): {}",
        language.name(),
        texts.len(),
        found as f64 * 1000.0 / count.max(1) as f64,
        kinds.join(", ")
    );
    let taken = spread(written, functions);
    for way in Way::ALL {
        let (mut made, mut failed, mut warned) = (0_usize, 0_usize, 0_usize);
        for (number, one) in taken.iter().enumerate() {
            let Some(text) = texts.get(one.text) else { continue };
            let Some((text, lines)) = made_into(*way, number, language, text, &one.span) else { continue };
            // What is not code any more says nothing about the gate.
            if function_spans(language, &text).is_empty() {
                continue;
            }
            made += 1;
            let changed = [lines];
            let origin = CodeOrigin::Product;
            let examined = examine_file(GateText { language, text: &text, changed: Some(&changed), origin });
            if examined.findings.iter().any(|finding| finding.weight == FindingWeight::Error) {
                failed += 1;
            } else if !examined.findings.is_empty() {
                warned += 1;
            } else if shown == Some(way.name()) {
                let [lines] = &changed;
                let first = lines.start() - 1;
                let body: Vec<&str> = text.lines().skip(first).take(lines.clone().count()).collect();
                println!("--- {}\n{}", way.name(), body.join("\n"));
            }
        }
        if made > 0 {
            let part = |number: usize| number as f64 * 100.0 / made as f64;
            println!(
                "  {:<16} {made:>5}  fails the gate {:>5.1} %  warns {:>5.1} %  silent {:>5.1} %",
                way.name(),
                part(failed),
                part(warned),
                part(made - failed - warned)
            );
        }
    }
}
