//! Safer commands that do what was wanted.
//!
//! Each rewrite works on the tree and the spans of the text, never on patterns in it, and proposes nothing when the command
//! is not exactly of the form it knows. The caller reviews the proposal and drops it unless it passes.

use checkrein_facts::places::watcher;
use checkrein_facts::{Entry, World};
use checkrein_policy::Decision;
use checkrein_protocol::{AbsolutePath, Action, Effect, EffectKind, Target};
use checkrein_shell::{Command, Part, ShellStatement, Simple, Span, Word, parse, quoted};

use crate::fetching::{self, REMOTE_CODE};
use crate::verdict::{Review, Rewrite, RewriteConsent, Safety};

/// Proposes a safer command for an action whose decision is modify.
/// `judge` reviews another text in its place.
pub(crate) fn propose(action: &Action, review: &Review, judge: &dyn Fn(&str) -> Review) -> Option<Rewrite> {
    let text = action.shell_text()?;
    let parsed = parse(text);
    if !parsed.problems.is_empty() {
        return None;
    }
    let asks = |rule: &str| {
        review.rules.iter().any(|finding| finding.rule == rule && finding.decision == Decision::Modify)
    };
    if asks(REMOTE_CODE) {
        return download_then_show(text, &parsed.script, review)
            .or_else(|| fetching::propose(text, &parsed.script, judge));
    }
    let simples = simple_commands(&parsed.script);
    if asks("prevent_history_rewrite") {
        return force_with_lease(text, &simples, review);
    }
    clean_as_dry_run(text, &simples)
}

/// A safer command with the consent that it needs by its own review: what is asked about in it, and was asked about before, needs a yes as
/// it did. `None` where it leaves nothing out that was asked about, or brings something new.
pub(crate) fn with_consent_for(rewrite: Rewrite, before: &Review, judged: &Review) -> Option<Rewrite> {
    if judged.decision <= Decision::Warn {
        return Some(rewrite);
    }
    let asked = |review: &Review| -> Vec<String> {
        let asked = review.rules.iter().filter(|finding| finding.decision >= Decision::Modify);
        asked.map(|finding| finding.rule.clone()).collect()
    };
    let (were, are) = (asked(before), asked(judged));
    let is_milder = are.len() < were.len() && !are.is_empty() && are.iter().all(|rule| were.contains(rule));
    (judged.decision == Decision::Modify && is_milder)
        .then_some(Rewrite { consent: RewriteConsent::Asked, ..rewrite })
}

/// `git push --force` and `git push REMOTE +BRANCH` become `git push --force-with-lease`: refuses to overwrite what was not seen. On a branch
/// that others work from, or that is not known, even that is for a user to say.
fn force_with_lease(text: &str, simples: &[&Simple], review: &Review) -> Option<Rewrite> {
    let pushes = simples.iter().filter(|simple| is_git(simple, "push"));
    let found: Vec<(Vec<(Span, String)>, &str)> = pushes.filter_map(|push| with_lease(push)).collect();
    let (_, force) = found.first()?;
    let note = format!(
        "`{force}` became `--force-with-lease`, which refuses to overwrite commits that were never fetched"
    );
    Some(Rewrite {
        note,
        command: splice(text, found.into_iter().flat_map(|(edits, _)| edits).collect())?,
        consent: if rewrites_a_shared_branch(review) {
            RewriteConsent::Asked
        } else {
            RewriteConsent::NotNeeded
        },
        safety: Safety::Changed,
    })
}

/// What a push changes to refuse what was not seen, and what forced it: an option, or a `+` before what it pushes (git-push(1)).
fn with_lease(push: &Simple) -> Option<(Vec<(Span, String)>, &'static str)> {
    const LEASE: &str = "--force-with-lease";
    let by_option: Vec<(Span, String)> = push
        .words
        .iter()
        .filter(|word| matches!(literal(word).as_deref(), Some("--force" | "-f")))
        .map(|word| (word.span, LEASE.to_owned()))
        .collect();
    if !by_option.is_empty() {
        return Some((by_option, "--force"));
    }
    let verb = push.words.iter().find(|word| literal(word).as_deref() == Some("push"))?;
    let plain = |word: &Word| literal(word).filter(|text| text.len() > 1)?.strip_prefix('+').map(quoted);
    let mut edits: Vec<(Span, String)> =
        push.words.iter().filter_map(|word| Some((word.span, plain(word)?))).collect();
    if edits.is_empty() {
        return None;
    }
    edits.push((verb.span, format!("push {LEASE}")));
    Some((edits, "+"))
}

fn rewrites_a_shared_branch(review: &Review) -> bool {
    review.side_effects.effects.iter().filter(|effect| effect.kind == EffectKind::VcsHistoryRewrite).any(
        |effect| match &effect.target {
            Target::Reference(name) => is_shared(name),
            Target::Path(_)
            | Target::Glob(_)
            | Target::Host(_)
            | Target::Process(_)
            | Target::Service(_)
            | Target::Unknown => true,
        },
    )
}

/// Whether a branch is one that others usually work from.
fn is_shared(reference: &str) -> bool {
    const SHARED: [&str; 10] = [
        "main",
        "master",
        "trunk",
        "develop",
        "development",
        "production",
        "prod",
        "staging",
        "stable",
        "release",
    ];
    let name = reference.trim_start_matches("refs/heads/");
    let first = name.split(['/', '-']).next().unwrap_or(name);
    SHARED.contains(&name) || first == "release" || name.contains(' ')
}

/// Whether an effect changes what holds an agent to its rules: files of the guard, and settings of any agent, whichever of them asks.
pub(crate) fn touches_guard(effect: &Effect) -> bool {
    let is_of_agent = || effect.target.path().is_some_and(|path| watcher(path).is_some());
    effect.kind == EffectKind::GuardTampering
        || effect.kind == EffectKind::SystemModification && is_of_agent()
}

/// `git clean`, `git stash` and `find` become the same that leave out the files of the guard, when nothing else about the guard is in the way.
/// What is known of the command then is what its own review says.
pub(crate) fn spare_guard(action: &Action, review: &Review, world: &dyn World) -> Option<Rewrite> {
    let text = action.shell_text()?;
    let parsed = parse(text);
    let touched: Vec<&Effect> =
        review.side_effects.effects.iter().filter(|effect| touches_guard(effect)).collect();
    if !parsed.problems.is_empty() || touched.is_empty() {
        return None;
    }
    let root = world.repository(&action.cwd)?.root;
    let mut spared: Vec<&str> =
        touched.iter().filter_map(|effect| effect.target.path()?.relative_to(&root)).collect();
    spared.sort_unstable();
    spared.dedup();
    if spared.is_empty() || spared.contains(&"") {
        return None;
    }
    let simples = simple_commands(&parsed.script);
    let cleaned = simples.iter().filter(|simple| is_git(simple, "clean"));
    let stashed = simples.iter().filter(|simple| is_git(simple, "stash"));
    let is_directory = |path: &str| matches!(world.entry(&root.join(path)), Entry::Directory);
    let mut edits = Vec::new();
    for simple in cleaned {
        edits.push(clean_without(simple, &spared, &is_directory)?);
    }
    for simple in stashed {
        edits.push(stash_without(simple, &spared)?);
    }
    for simple in simples.iter().filter(|simple| is_find(simple)) {
        edits.extend(find_without(simple, &spared, &root, &action.cwd));
    }
    if edits.is_empty() {
        return None;
    }
    Some(Rewrite {
        command: splice(text, edits)?,
        note: "the files by which agents are held to their rules are left out; the rest is done as asked"
            .to_owned(),
        consent: RewriteConsent::NotNeeded,
        safety: Safety::Changed,
    })
}

/// What the words of `git clean` say about what goes.
struct CleanWords {
    /// Whether only what is ignored goes.
    only_ignored: bool,
    /// Where the options end.
    end: usize,
}

/// Reads the words of `git clean`; `None` where one of them is not written out, or the last option wants a pattern.
fn clean_words(simple: &Simple) -> Option<CleanWords> {
    let place = simple.words.iter().position(|word| literal(word).as_deref() == Some("clean"))?;
    let mut end = simple.words.get(place)?.span.end;
    let mut only_ignored = false;
    let mut words = simple.words.get(place + 1..)?.iter();
    while let Some(word) = words.next() {
        let text = literal(word)?;
        if matches!(text.as_str(), "--" | "--end-of-options") {
            break;
        }
        end = word.span.end;
        let wants_pattern = if text.starts_with("--") {
            // A long option may be shortened.
            text.len() > 2 && "--exclude".starts_with(&text)
        } else if let Some(flags) = text.strip_prefix('-') {
            let (before, pattern) = match flags.split_once('e') {
                Some((before, pattern)) => (before, Some(pattern)),
                None => (flags, None),
            };
            only_ignored |= before.contains('X');
            pattern == Some("")
        } else {
            false
        };
        if wants_pattern {
            end = words.next()?.span.end;
        }
    }
    Some(CleanWords { only_ignored, end })
}

/// `git clean -e PATTERN`, behind the patterns that are given: the last one that matches decides.
fn clean_without(
    simple: &Simple,
    spared: &[&str],
    is_directory: &dyn Fn(&str) -> bool,
) -> Option<(Span, String)> {
    let CleanWords { only_ignored, end } = clean_words(simple)?;
    if spared.iter().any(|path| path.contains(['*', '?', '[', '\\', '\n']) || path.ends_with([' ', '\t'])) {
        return None;
    }
    let mut patterns: Vec<String> = Vec::new();
    for path in spared {
        if !only_ignored {
            patterns.push(format!("/{path}"));
            continue;
        }
        // With `-X` the excluded are what goes; what stays is taken out again, and each directory above it first.
        let ends = path.match_indices('/').map(|(end, _)| end).chain([path.len()]);
        let taken_out = ends.filter_map(|end| path.get(..end)).map(|part| format!("!/{part}"));
        for pattern in taken_out {
            if !patterns.contains(&pattern) {
                patterns.push(pattern);
            }
        }
        if is_directory(path) {
            patterns.push(format!("!/{path}/**"));
        }
    }
    let options = patterns.iter().map(|pattern| format!(" -e {}", quoted(pattern)));
    Some((Span { start: end, end }, options.collect()))
}

/// `git stash -- :/ ':(top,exclude)PATH'`, where no paths are named yet.
fn stash_without(simple: &Simple, spared: &[&str]) -> Option<(Span, String)> {
    let words: Vec<String> = simple.words.iter().map(literal).collect::<Option<_>>()?;
    let place = words.iter().position(|word| word == "stash")?;
    let mut behind = words.get(place + 1..)?.iter();
    if behind.clone().next().is_some_and(|word| word == "push") {
        behind.next();
    }
    while let Some(word) = behind.next() {
        match word.as_str() {
            "-m" | "--message" => {
                behind.next();
            }
            // What stands there is stashed, and git refuses further paths beside it.
            option if option.starts_with("--pathspec") => return None,
            option if option.starts_with('-') && option != "--" => {}
            _ => return None,
        }
    }
    let paths = spared.iter().map(|path| format!(" {}", quoted(&format!(":(top,exclude){path}"))));
    let end = simple.words.last()?.span.end;
    Some((Span { start: end, end }, format!(" -- :/{}", paths.collect::<String>())))
}

/// `find START ! -path START/PATH`, as the first test; `None` where it does not come by the files, or the starting points are not written out.
fn find_without(
    simple: &Simple,
    spared: &[&str],
    root: &AbsolutePath,
    cwd: &AbsolutePath,
) -> Option<(Span, String)> {
    let is_option = |text: &str| matches!(text, "-H" | "-L" | "-P") || text.starts_with("-O");
    let begins_expression = |text: &str| text.starts_with(['-', '(', ')', '!', ',']);
    let mut end = simple.words.first()?.span.end;
    let mut starts = Vec::new();
    for word in simple.words.iter().skip(1) {
        let text = literal(word)?;
        if !(starts.is_empty() && is_option(&text)) {
            if begins_expression(&text) {
                break;
            }
            starts.push(text);
        }
        end = word.span.end;
    }
    if starts.is_empty() {
        starts.push(".".to_owned());
    }
    let is_plain = |start: &String| !start.contains(['*', '?', '[', '\\']) && !start.starts_with('~');
    if !starts.iter().all(is_plain) {
        return None;
    }
    let tests: String = starts
        .iter()
        .flat_map(|start| {
            let from = cwd.join(start);
            let below = move |path: &str| root.join(path).relative_to(&from).map(str::to_owned);
            let top = start.trim_end_matches('/');
            spared.iter().filter_map(move |path| below(path)).map(move |rest| format!("{top}/{rest}"))
        })
        .flat_map(|path| [" ! -path ".to_owned(), quoted(&path)])
        .collect();
    (!tests.is_empty()).then_some((Span { start: end, end }, tests))
}

/// `git clean -fd` becomes a dry run, with a question: the list is shown, the user decides.
fn clean_as_dry_run(text: &str, simples: &[&Simple]) -> Option<Rewrite> {
    let mut edits = Vec::new();
    for simple in simples.iter().filter(|simple| is_git(simple, "clean")) {
        for word in &simple.words {
            match literal(word).as_deref() {
                Some("--force") => edits.push((word.span, "--dry-run".to_owned())),
                Some(flags) if is_short_group(flags) && flags.contains('f') => {
                    let mut kept: String =
                        flags.chars().filter(|flag| *flag != 'f' && *flag != '-').collect();
                    if !kept.contains('n') {
                        kept.insert(0, 'n');
                    }
                    edits.push((word.span, format!("-{kept}")));
                }
                _ => {}
            }
        }
    }
    if edits.is_empty() {
        return None;
    }
    Some(Rewrite {
        command: splice(text, edits)?,
        note: "`git clean` became a dry run, because what it would delete is in no commit; show the list to the user and ask which \
               of it may go"
            .to_owned(),
        consent: RewriteConsent::Asked,
        safety: Safety::Changed,
    })
}

/// `curl URL | sh` becomes a download into the temporary directory whose beginning is shown.
fn download_then_show(text: &str, script: &[ShellStatement], review: &Review) -> Option<Rewrite> {
    let [ShellStatement { command: Command::Pipeline(pipeline), .. }] = script else { return None };
    let [download, _shell] = pipeline.stages.as_slice() else { return None };
    let Command::Simple(simple) = &download.command else { return None };
    let program = simple.words.first().and_then(literal)?;
    if !matches!(program.as_str(), "curl" | "wget") || !simple.redirects.is_empty() {
        return None;
    }
    let last = simple.words.last()?;
    let first = simple.words.first()?;
    let fetch = text.get(first.span.start..last.span.end)?;
    let file = format!("/tmp/download-{:08x}.sh", review.fingerprint.exact & 0xffff_ffff);
    Some(Rewrite {
        command: format!("{fetch} > {file} && head -c 16384 {file}"),
        note: format!(
            "code from the network is not run unseen; it is saved as {file} and shown, read it, then run the steps that are needed"
        ),
        consent: RewriteConsent::NotNeeded,
        safety: Safety::Changed,
    })
}

fn is_short_group(word: &str) -> bool {
    word.len() > 1 && word.starts_with('-') && word.chars().skip(1).all(|flag| flag.is_ascii_alphabetic())
}

fn is_find(simple: &Simple) -> bool {
    simple.words.first().and_then(literal).as_deref() == Some("find")
}

fn is_git(simple: &Simple, subcommand: &str) -> bool {
    let mut words = simple.words.iter();
    words.next().and_then(literal).as_deref() == Some("git")
        && words.any(|word| literal(word).as_deref() == Some(subcommand))
}

/// The text of a word that holds no expansion.
pub(crate) fn literal(word: &Word) -> Option<String> {
    let mut text = String::new();
    for part in &word.parts {
        match part {
            Part::Literal(piece) | Part::Quoted(piece) => text.push_str(piece),
            Part::Bytes(_)
            | Part::DoubleQuoted(_)
            | Part::Parameter(_)
            | Part::CommandSubstitution(_)
            | Part::ProcessSubstitution(..)
            | Part::Arithmetic(_)
            | Part::Braces(_) => return None,
        }
    }
    Some(text)
}

/// The simple commands that stand at the top of the text or in its lists; those inside compound commands are left alone.
pub(crate) fn simple_commands(script: &[ShellStatement]) -> Vec<&Simple> {
    fn visit<'a>(command: &'a Command, found: &mut Vec<&'a Simple>) {
        match command {
            Command::Simple(simple) => found.push(simple),
            Command::AndOr(list) => {
                visit(&list.first, found);
                list.rest.iter().for_each(|(_, command)| visit(command, found));
            }
            Command::Pipeline(pipeline) => {
                pipeline.stages.iter().for_each(|stage| visit(&stage.command, found));
            }
            Command::Time(inner) => visit(inner, found),
            Command::Subshell(_)
            | Command::Group(_)
            | Command::If(_)
            | Command::For(_)
            | Command::CStyleFor(_)
            | Command::While(_)
            | Command::Case(_)
            | Command::Select(_)
            | Command::Function(_)
            | Command::Test(_)
            | Command::Arithmetic(_)
            | Command::Coprocess(_)
            | Command::Redirected(_)
            | Command::Opaque(_) => {}
        }
    }
    let mut found = Vec::new();
    script.iter().for_each(|statement| visit(&statement.command, &mut found));
    found
}

/// The text with the spans replaced; `None` when a span does not fit.
pub(crate) fn splice(text: &str, mut edits: Vec<(Span, String)>) -> Option<String> {
    edits.sort_by_key(|(span, _)| span.start);
    let mut result = String::new();
    let mut at = 0;
    for (span, replacement) in edits {
        result.push_str(text.get(at..span.start)?);
        result.push_str(&replacement);
        at = span.end;
    }
    result.push_str(text.get(at..)?);
    Some(result)
}
