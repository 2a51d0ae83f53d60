//! Tries the programs one after the other, on some threads.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use checkrein_protocol::Action;

use super::compare::{self, Disagreement, DisagreementKind, UseObservation, UsePrediction};
use super::entries::CatalogueEntry;
use super::fixture::{HomeFixture, UsePlace};
use super::sandbox::{self, Tracing};
use super::trace::Trace;
use super::tree::SeenTree;
use super::uses::uses;

/// What predicts a use at its place.
pub type UseReader<'r> = &'r (dyn Fn(&Action, &UsePlace) -> UsePrediction + Sync);

/// Uses that run in the same name spaces, one after the other.
const BATCH: usize = 40;

/// The longest that one program is tried.
const LONGEST: Duration = Duration::from_mins(1);

/// What came of one program.
#[derive(Debug, Clone, Default)]
pub struct ProgramTally {
    /// Its name.
    pub name: String,
    /// What it says of its version.
    pub version: String,
    /// Uses that ran to their end.
    pub uses: usize,
    /// Of these, how many succeeded.
    pub succeeded: usize,
    /// Of these, of how many the prediction says that it does not see all.
    pub unread: usize,
    /// Uses that were not run, since they act beyond their folder.
    pub left_out: usize,
    /// Uses that did not end in time.
    pub endless: usize,
    /// Uses in which nothing that counts as a fault differs.
    pub agreeing: usize,
    /// The uses that differ, each with how.
    pub differing: Vec<(String, Vec<Disagreement>)>,
}

impl ProgramTally {
    /// How many uses differ in a way.
    pub fn count(&self, kind: DisagreementKind) -> usize {
        self.differing.iter().filter(|(_, found)| found.iter().any(|one| one.kind == kind)).count()
    }
}

/// Tries programs.
pub struct Observer<'r> {
    folder: PathBuf,
    fixture: HomeFixture,
    reader: UseReader<'r>,
    tracing: Tracing,
    batches: AtomicUsize,
}

impl<'r> Observer<'r> {
    /// One that works in an empty folder that every user may enter.
    ///
    /// # Errors
    /// When the fixture cannot be made.
    pub fn new(folder: &Path, reader: UseReader<'r>) -> io::Result<Self> {
        fs::set_permissions(folder, Permissions::from_mode(0o755))?;
        let first = folder.join("fixture");
        fs::create_dir_all(&first)?;
        let fixture = HomeFixture::new(&first)?;
        let tracing = Tracing::here();
        Ok(Self { folder: folder.to_owned(), fixture, reader, tracing, batches: AtomicUsize::new(0) })
    }

    /// Tries the programs, on as many threads as given; in the order in which they were given.
    ///
    /// # Errors
    /// When the uses cannot be run.
    pub fn row(
        &self,
        programs: &[(&CatalogueEntry, String)],
        most: usize,
        threads: usize,
        told: &(dyn Fn(&ProgramTally) + Sync),
    ) -> io::Result<Vec<ProgramTally>> {
        let next = AtomicUsize::new(0);
        let done: Mutex<BTreeMap<usize, io::Result<ProgramTally>>> = Mutex::new(BTreeMap::new());
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        let Some((entry, name)) = programs.get(number) else { break };
                        let tally = self.program(entry, name, most);
                        if let Ok(tally) = &tally {
                            told(tally);
                        }
                        if let Ok(mut done) = done.lock() {
                            done.insert(number, tally);
                        }
                    }
                });
            }
        });
        done.into_inner().map_err(|error| io::Error::other(error.to_string()))?.into_values().collect()
    }

    /// Tries one program.
    ///
    /// # Errors
    /// When the uses cannot be run.
    pub fn program(&self, entry: &CatalogueEntry, name: &str, most: usize) -> io::Result<ProgramTally> {
        let mut tally = ProgramTally { name: name.to_owned(), ..ProgramTally::default() };
        let begun = Instant::now();
        let all = [vec![format!("{name} --version")], uses(entry, name, most)].concat();
        for (number, some) in all.chunks(BATCH).enumerate() {
            self.batch(some, number == 0, &mut tally)?;
            if begun.elapsed() > LONGEST {
                break;
            }
        }
        Ok(tally)
    }

    /// Tries some texts, and adds what came of them.
    ///
    /// # Errors
    /// When they cannot be run.
    pub fn batch(&self, texts: &[String], tells_version: bool, tally: &mut ProgramTally) -> io::Result<()> {
        let batch = self.folder.join(format!("s{}", self.batches.fetch_add(1, Ordering::Relaxed)));
        fs::create_dir_all(&batch)?;
        fs::set_permissions(&batch, Permissions::from_mode(0o755))?;
        let mut tried: Vec<(UsePlace, String, UsePrediction, SeenTree)> = Vec::new();
        for (number, text) in texts.iter().enumerate() {
            let folder = batch.join(number.to_string());
            fs::create_dir(&folder)?;
            let place = self.fixture.make(&folder, sandbox::USER)?;
            let text = place.moved_here(text);
            let prediction = (self.reader)(&Action::command(&text, place.project.clone()), &place);
            if compare::leaves(&prediction, &place).is_some() {
                tally.left_out += 1;
                continue;
            }
            let before = SeenTree::look(&place.home);
            tried.push((place, text, prediction, before));
        }
        let uses: Vec<(&UsePlace, &str)> =
            tried.iter().map(|(place, text, ..)| (place, text.as_str())).collect();
        let statuses = sandbox::run(&batch, &uses, self.tracing)?;
        for (number, ((place, text, prediction, before), status)) in tried.iter().zip(statuses).enumerate() {
            let Some(status) = status else {
                tally.endless += 1;
                continue;
            };
            if tells_version && number == 0 {
                tally.version = version(&place.folder.join("out"), status);
                continue;
            }
            let trace = fs::read(place.folder.join("trace")).unwrap_or_default();
            let trace = Trace::parse(&String::from_utf8_lossy(&trace));
            let seen =
                UseObservation { before: before.clone(), after: SeenTree::look(&place.home), trace, status };
            tally.uses += 1;
            tally.succeeded += usize::from(status == 0);
            tally.unread += usize::from(compare::is_unread(prediction));
            let found = compare::compared(prediction, &seen, place);
            tally.agreeing += usize::from(!found.iter().any(|one| one.kind.is_fault()));
            if !found.is_empty() {
                let text = text.replace(place.project.as_str(), "~/proj").replace(place.home.as_str(), "~");
                tally.differing.push((text, found));
            }
        }
        fs::remove_dir_all(&batch)
    }
}

/// The first line that a program says of its version, without what is not of it.
fn version(output: &Path, status: i32) -> String {
    let bytes = fs::read(output).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let has_number = line.chars().any(|letter| letter.is_ascii_digit());
    if status != 0 || !has_number || line.contains("/var/") {
        return String::new();
    }
    line.chars().filter(|letter| !letter.is_control() && *letter != '|').take(60).collect()
}
