//! What the transcript of an agent says it has spent, where no hook reads it: a client that tells its tokens at the beginning of an answer
//! writes down there what the answer came to.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

use checkrein_clients::Prices;
use checkrein_clients::transcript::Meter;
use checkrein_engine::environment::HostEnvironment;
use checkrein_protocol::{MicroDollars, Timestamp, TokenCounts, TranscriptMark};
use checkrein_supervise::{Estimate, RunProgress};

/// How often the transcript is looked at (ours).
const LOOKING: Duration = Duration::from_millis(250);

/// How much of it is read at once, in bytes (ours).
const PIECE: usize = 1 << 20;

/// Where the moment of its first row is looked for, in bytes (ours).
const BEGINNING: u64 = 64 << 10;

/// Reads the transcript of the agent's session on.
pub(super) struct TranscriptCount {
    /// Where clients keep transcripts, each project in a folder of its own.
    projects: PathBuf,
    prices: Prices,
    began: SystemTime,
    looked: Option<Instant>,
    found: Found,
    spent: Spent,
}

/// The transcript.
enum Found {
    NotYet,
    At(PathBuf, TranscriptMark),
    /// It holds more than this attempt, and what is of this attempt cannot be told apart.
    Older,
}

/// What was read so far.
#[derive(Default)]
struct Spent {
    tokens: TokenCounts,
    dollars: f64,
    estimated: Option<Estimate>,
}

impl TranscriptCount {
    /// One for an attempt that begins now.
    pub(super) fn new(environment: &HostEnvironment, prices: Prices) -> Self {
        Self {
            projects: PathBuf::from(environment.client_folder().as_str()).join("projects"),
            prices,
            began: SystemTime::now(),
            looked: None,
            found: Found::NotYet,
            spent: Spent::default(),
        }
    }

    /// Adds what the transcript tells to what the client told; of two counts the higher one holds. What cannot be read tells nothing.
    pub(super) fn add_to(&mut self, progress: &mut RunProgress) {
        if self.looked.is_none_or(|time| time.elapsed() >= LOOKING) {
            self.looked = Some(Instant::now());
            if let Some(session) = &progress.session {
                self.look(session);
            }
        }
        if self.spent.tokens.counted() > progress.tokens.counted() {
            progress.tokens = self.spent.tokens;
        }
        progress.cost = progress.cost.max(self.spent.dollars);
        if progress.estimated.is_none() {
            progress.estimated.clone_from(&self.spent.estimated);
        }
    }

    fn look(&mut self, session: &str) {
        if let Found::NotYet = self.found {
            self.find(session);
        }
        let Found::At(path, mark) = &mut self.found else { return };
        let Ok(piece) = read(path, mark.offset) else { return };
        let mut meter = Meter::new(*mark, &self.prices);
        meter.take(&piece, PIECE);
        let usage = meter.finish().usage;
        *mark = usage.mark;
        for model in usage.models {
            self.spent.tokens = self.spent.tokens.plus(&model.tokens);
            self.spent.dollars += model.cost.map_or(0.0, MicroDollars::dollars);
            if let (None, Some(like)) = (&self.spent.estimated, model.like) {
                self.spent.estimated = Some(Estimate { model: model.model, like });
            }
        }
    }

    fn find(&mut self, session: &str) {
        let is_name = session.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_".contains(letter));
        if session.is_empty() || !is_name {
            return;
        }
        let name = format!("{session}.jsonl");
        let folders = fs::read_dir(&self.projects).into_iter().flatten().flatten();
        let Some(path) = folders.map(|folder| folder.path().join(&name)).find(|path| path.is_file()) else {
            return;
        };
        match self.is_of_this_attempt(&path) {
            Ok(Some(true)) => self.found = Found::At(path, TranscriptMark::default()),
            Ok(Some(false)) => self.found = Found::Older,
            Ok(None) | Err(_) => {}
        }
    }

    /// Whether the first row that tells its time is no older than the attempt; `None` while none does.
    fn is_of_this_attempt(&self, path: &PathBuf) -> io::Result<Option<bool>> {
        let mut head = Vec::new();
        File::open(path)?.take(BEGINNING).read_to_end(&mut head)?;
        let head = String::from_utf8_lossy(&head);
        let mut times = head.split("\"timestamp\":\"").skip(1);
        // To the second, as both are written.
        let Some(first) = times.find_map(|rest| rest.get(..19)) else { return Ok(None) };
        let began = self.began.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let began = Timestamp(u64::try_from(began.as_millis()).unwrap_or(u64::MAX)).calendar().to_rfc3339();
        Ok(Some(began.get(..19).is_some_and(|began| first >= began)))
    }
}

fn read(path: &PathBuf, from: u64) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(from))?;
    let mut piece = Vec::new();
    file.take(PIECE as u64).read_to_end(&mut piece)?;
    Ok(piece)
}
