//! Tests that check less than before, over all files of a change: an assertion may move to another test or another file, become a row
//! of a table, or go together with the code that it was about.

use std::collections::HashSet;

use crate::assertion::Strength;
use crate::completeness::CodeOrigin;
use crate::exemption::{AllowedFinding, Exemptions};
use crate::finding::{FindingKind, FindingWeight, GateFinding, shown};
use crate::function::functions;
use crate::language::SourceLanguage;
use crate::proof::Skip;
use crate::reach::Runs;
use crate::side::{ReadAssertion, ReadCase, Side, at_least, is_never, side};
use crate::source::Source;

/// A changed file, for what its tests check.
#[derive(Debug, Clone, Copy)]
pub struct TestText<'a> {
    /// Its language.
    pub language: SourceLanguage,
    /// What it is compared with; `None` for a new file.
    pub before: Option<&'a str>,
    /// The text as it is now; `None` for a file that is gone.
    pub now: Option<&'a str>,
    /// Where it comes from.
    pub origin: CodeOrigin,
}

/// What was found in the tests of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ExaminedTests {
    /// Tests that check less than before, by line.
    pub findings: Vec<GateFinding>,
    /// The findings that were allowed, with a reason.
    pub allowed: Vec<AllowedFinding>,
}

/// Compares the tests of all changed files with what they were. The answers are in the order of the files.
pub fn examine_tests(files: &[TestText<'_>]) -> Vec<ExaminedTests> {
    // Where nothing was there before, nothing checks less: no text is read.
    if files.iter().all(|file| file.before.is_none()) {
        return vec![ExaminedTests::default(); files.len()];
    }
    let read = |file: &TestText<'_>, text: Option<&str>| {
        text.map_or_else(Side::default, |text| side(file.language, text, file.origin.setting()))
    };
    let before: Vec<Side> = files.iter().map(|file| read(file, file.before)).collect();
    let now: Vec<Side> = files.iter().map(|file| read(file, file.now)).collect();
    let gone = Gone {
        definitions: difference(&before, &now, |side| &side.definitions),
        words: difference(&before, &now, |side| &side.words),
    };
    let mut ledger = Ledger::open(&before, &now);
    ledger.settle_moved();
    let mut found: Vec<Vec<GateFinding>> = files.iter().map(|_| Vec::new()).collect();
    for pair in 0..ledger.pairs.len() {
        let findings = ledger.judge(pair, &gone, &now);
        if let Some(of_file) = ledger.pairs.get(pair).and_then(|pair| found.get_mut(pair.file)) {
            of_file.extend(findings);
        }
    }
    let sides = before.iter().zip(&now);
    files
        .iter()
        .zip(found)
        .zip(sides)
        .map(|((file, findings), (before, now))| finish(*file, findings, (before, now)))
        .collect()
}

fn finish(
    file: TestText<'_>,
    mut findings: Vec<GateFinding>,
    (before, now): (&Side, &Side),
) -> ExaminedTests {
    let Some(text) = file.now else {
        // Nothing is left in which somebody could say why.
        let is_told = !findings.is_empty()
            || before.cases.iter().all(|case| case.assertions.is_empty()) && file.origin == CodeOrigin::Tests;
        let (kind, weight) = (FindingKind::WeakenedTest, FindingWeight::Warning);
        let findings =
            is_told.then(|| GateFinding::of_file(kind, weight, "the file is gone")).into_iter().collect();
        return ExaminedTests { findings, allowed: Vec::new() };
    };
    if before.cases.iter().all(|case| !case.is_only)
        && !before.cases.is_empty()
        && let Some(only) = now.cases.iter().find(|case| case.is_only)
    {
        findings.push(only.finding(FindingWeight::Error, "the other tests of the file are not run"));
    }
    if findings.is_empty() {
        return ExaminedTests::default();
    }
    findings.sort_by_key(|finding| finding.line);
    let Ok(source) = Source::file(file.language, text) else {
        return ExaminedTests { findings, allowed: Vec::new() };
    };
    let (all, loose) = functions(&source);
    let allowed = Exemptions::read(&source, &all, &loose).apply(&mut findings);
    ExaminedTests { findings, allowed }
}

/// What was in the code that changed, and is in none of it now.
struct Gone {
    /// Names of functions and classes.
    definitions: HashSet<String>,
    /// All words.
    words: HashSet<String>,
}

fn difference(before: &[Side], now: &[Side], of: fn(&Side) -> &HashSet<String>) -> HashSet<String> {
    let left: HashSet<&String> = now.iter().flat_map(of).collect();
    before.iter().flat_map(of).filter(|word| !left.contains(word)).cloned().collect()
}

/// A test before, and what became of it.
struct Pair<'a> {
    file: usize,
    before: &'a ReadCase,
    /// The test of the same name now, by its place.
    now: Option<usize>,
    /// Which assertions are missing, and how often.
    missing: Vec<(usize, usize)>,
}

/// An assertion that is there now and was not there before, or not in this test.
struct Gain<'a> {
    file: usize,
    case: usize,
    of: &'a ReadCase,
    assertion: &'a ReadAssertion,
    /// How often it runs beyond what it stands for; `None` where that is not known.
    left: Option<usize>,
}

impl Gain<'_> {
    /// Takes up to so many, and says how many are still wanted.
    fn take(&mut self, wanted: usize) -> usize {
        match &mut self.left {
            None => 0,
            Some(left) => {
                let taken = wanted.min(*left);
                *left -= taken;
                wanted - taken
            }
        }
    }
}

/// What tests lost and gained.
struct Ledger<'a> {
    pairs: Vec<Pair<'a>>,
    gains: Vec<Gain<'a>>,
}

impl<'a> Ledger<'a> {
    fn open(before: &'a [Side], now: &'a [Side]) -> Self {
        let mut pairs: Vec<Pair<'a>> = Vec::new();
        let mut gains = Vec::new();
        for (file, (before, now)) in before.iter().zip(now).enumerate() {
            for (place, case) in before.cases.iter().enumerate() {
                let twin = twin(&before.cases, place, &now.cases);
                pairs.push(Pair { file, before: case, now: twin, missing: wanted(case) });
            }
            let first = gains.len();
            for (place, case) in now.cases.iter().enumerate() {
                gains.extend(case.assertions.iter().map(|assertion| {
                    let left = match assertion.runs {
                        Runs::Times(times) => Some(times),
                        Runs::Unknown => None,
                    };
                    Gain { file, case: place, of: case, assertion, left }
                }));
            }
            // What a test keeps is nothing that it gained.
            for pair in pairs.iter_mut().filter(|pair| pair.file == file) {
                let Some(twin) = pair.now else { continue };
                let own = gains.iter_mut().skip(first).filter(|gain| gain.case == twin);
                settle(pair, own);
            }
        }
        Self { pairs, gains }
    }

    /// Assertions that stand in another test now, word by word.
    fn settle_moved(&mut self) {
        for pair in &mut self.pairs {
            settle(pair, self.gains.iter_mut().filter(|gain| gain.of.skip == Skip::Runs));
        }
    }

    fn judge(&mut self, place: usize, gone: &Gone, now: &[Side]) -> Vec<GateFinding> {
        let Some(pair) = self.pairs.get(place) else { return Vec::new() };
        let (file, before) = (pair.file, pair.before);
        let Some(side) = now.get(file) else { return Vec::new() };
        let twin = pair.now.and_then(|twin| side.cases.get(twin));
        // A test that did not run proved nothing.
        if before.skip != Skip::Runs || before.name.is_empty() {
            return Vec::new();
        }
        let mut found = Vec::new();
        if let Some(twin) = twin {
            found.extend(disarmed(before, twin));
            found.extend(self.loosened(place, twin));
        }
        let lost = self.lost(place, gone);
        let weight = match lost {
            Loss::None => return found,
            Loss::Likely => FindingWeight::Warning,
            Loss::Certain => FindingWeight::Error,
        };
        match twin {
            Some(twin) => {
                let text = format!("{} assertions before, {} now", before.count(), twin.count());
                found.push(twin.finding(weight, &text));
            }
            None => found.push(GateFinding {
                line: before.first.min(side.lines.max(1)),
                function: before.name.clone(),
                ..GateFinding::of_file(
                    FindingKind::WeakenedTest,
                    weight,
                    "the test is gone, and no other asserts what it did",
                )
            }),
        }
        found
    }

    /// Whether assertions are missing that nothing stands for.
    fn lost(&mut self, place: usize, gone: &Gone) -> Loss {
        let Some(pair) = self.pairs.get(place) else { return Loss::None };
        let (before, file, twin) = (pair.before, pair.file, pair.now);
        let mentions =
            |words: &HashSet<String>, gone: &HashSet<String>| words.iter().any(|word| gone.contains(word));
        let (mut wanted, mut is_likely_only) = (0, false);
        for (at, count) in &pair.missing {
            let Some(assertion) = before.assertions.get(*at) else { continue };
            // What a whole test works with may be made before its assertions.
            let about = if twin.is_some() { &assertion.words } else { &before.words };
            if mentions(about, &gone.definitions) {
                continue;
            }
            is_likely_only |= mentions(about, &gone.words);
            wanted += count;
        }
        let own = |gain: &Gain<'_>| gain.file == file && Some(gain.case) == twin;
        for gain in self.gains.iter_mut().filter(|gain| own(gain)) {
            wanted = gain.take(wanted);
        }
        let mut has_others = false;
        let is_about_same = |gain: &Gain<'_>| {
            gain.of.skip == Skip::Runs
                && before
                    .calls
                    .iter()
                    .any(|name| gain.of.calls.contains(name) || gain.of.words.contains(name))
        };
        for gain in self.gains.iter_mut().filter(|gain| !own(gain) && is_about_same(gain)) {
            has_others |= gain.left != Some(0);
            wanted = gain.take(wanted);
        }
        match (wanted, is_likely_only || has_others) {
            (0, _) => Loss::None,
            (_, true) => Loss::Likely,
            (_, false) => Loss::Certain,
        }
    }

    /// An assertion that named the value, in whose place stands one that does not.
    fn loosened(&self, place: usize, twin: &ReadCase) -> Option<GateFinding> {
        let pair = self.pairs.get(place)?;
        let own: Vec<&Gain<'_>> = self
            .gains
            .iter()
            .filter(|gain| gain.file == pair.file && Some(gain.case) == pair.now && gain.left != Some(0))
            .collect();
        let missing = pair.missing.iter().filter_map(|(at, _)| pair.before.assertions.get(*at));
        let found = missing.filter(|one| one.strength == Strength::Exact).find_map(|one| {
            let is_about =
                |gain: &&&Gain<'_>| one.subjects.iter().any(|subject| gain.assertion.key.contains(subject));
            let mut same = own.iter().filter(is_about);
            let first = same.next()?;
            let all_loose =
                std::iter::once(first).chain(same).all(|gain| gain.assertion.strength == Strength::Loose);
            all_loose.then_some(first)
        })?;
        let text = format!("`{}` says less than before", shown(&found.assertion.text));
        Some(twin.finding(FindingWeight::Error, &text))
    }
}

/// What is known of assertions that are missing.
enum Loss {
    None,
    Likely,
    Certain,
}

/// A test that has its assertions still, and does not run them against what it tested.
fn disarmed(before: &ReadCase, now: &ReadCase) -> Vec<GateFinding> {
    let mut found = Vec::new();
    match now.skip {
        Skip::Runs => {}
        Skip::WithReason => {
            found.push(now.finding(FindingWeight::Warning, "it ran before, and is skipped now"));
        }
        Skip::Bare => found.push(now.finding(FindingWeight::Error, "it ran before, and is skipped now")),
    }
    if now.skip == Skip::Runs
        && let Some(condition) = now.conditions.difference(&before.conditions).next()
    {
        let weight = if is_never(condition) { FindingWeight::Error } else { FindingWeight::Warning };
        found.push(now.finding(weight, &format!("it runs under a new condition: {condition}")));
    }
    if let Some(name) =
        now.binds.iter().find(|name| before.calls.contains(*name) && !before.binds.contains(*name))
    {
        let text = format!("it replaces `{name}`, which it called before");
        found.push(now.finding(FindingWeight::Error, &text));
    }
    found
}

/// What a test is to have still.
fn wanted(case: &ReadCase) -> Vec<(usize, usize)> {
    case.assertions.iter().enumerate().map(|(at, one)| (at, at_least(one.runs))).collect()
}

/// Strikes out what is missing and stands in one of the gains, word by word.
fn settle<'g, 'a: 'g>(pair: &mut Pair<'_>, gains: impl Iterator<Item = &'g mut Gain<'a>>) {
    for gain in gains {
        for (at, count) in &mut pair.missing {
            let is_same = pair.before.assertions.get(*at).is_some_and(|one| one.key == gain.assertion.key);
            if is_same && *count > 0 {
                *count = gain.take(*count);
            }
        }
    }
    pair.missing.retain(|(_, count)| *count > 0);
}

/// The test of the same name: where several have it, the one at the same place among them.
fn twin(before: &[ReadCase], place: usize, now: &[ReadCase]) -> Option<usize> {
    let case = before.get(place)?;
    let rank = before.iter().take(place).filter(|other| other.is_same(case)).count();
    let mut same = now.iter().enumerate().filter(|(_, other)| other.is_same(case));
    if let Some((found, _)) = same.nth(rank) {
        return Some(found);
    }
    // Its class may have another name now.
    let named = |all: &[ReadCase]| all.iter().filter(|other| other.name == case.name).count();
    (named(before) == 1 && named(now) == 1)
        .then(|| now.iter().position(|other| other.name == case.name))
        .flatten()
}
