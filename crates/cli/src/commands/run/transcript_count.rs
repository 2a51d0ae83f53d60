//! What the transcript of an agent says it has spent, where no hook reads it: a client that tells its tokens at the beginning of an answer
//! writes down there what the answer came to.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

use checkrein_clients::transcript::{Meter, PathStep, TranscriptPlace};
use checkrein_clients::{CLIENTS, ClientAdapter, Prices};
use checkrein_engine::environment::HostEnvironment;
use checkrein_protocol::{MicroDollars, Timestamp, TokenCounts, TranscriptMark};
use checkrein_supervise::{Estimate, Life, RunProgress};

/// How often the transcript is looked at (ours).
const LOOKING: Duration = Duration::from_millis(250);

/// How often it is looked for while only an older one is there (ours).
const LOOKING_AGAIN: Duration = Duration::from_secs(2);

/// How many entries of folders are looked at for it (ours).
const ENTRIES: usize = 8192;

/// How much of it is read at once, in bytes (ours).
const PIECE: usize = 1 << 20;

/// How many such pieces are read at the end, at most (ours).
const LAST_PIECES: usize = 256;

/// Where the moment of its first row is looked for, in bytes (ours).
const BEGINNING: u64 = 64 << 10;

/// Reads the transcript of the agent's session on.
pub(super) struct TranscriptCount {
    /// Where the client keeps transcripts; where any client does when it is not known which it is.
    places: Vec<(PathBuf, TranscriptPlace)>,
    prices: Prices,
    began: SystemTime,
    looked: Option<Instant>,
    found: Found,
    spent: Spent,
}

/// The transcript.
enum Found {
    NotYet,
    At {
        path: PathBuf,
        mark: TranscriptMark,
        named: Option<String>,
    },
    /// It holds more than this attempt, and what is of this attempt cannot be told apart; a client may begin another file.
    Older,
}

/// What was read so far.
#[derive(Default)]
struct Spent {
    tokens: TokenCounts,
    dollars: f64,
    estimated: Option<Estimate>,
    /// About how much was sent for the newest answers, each.
    last_sent: u64,
    /// What a million new tokens of the next one cost.
    next_price: Option<f64>,
}

impl TranscriptCount {
    /// One for an attempt that begins now, of a client where it is known.
    pub(super) fn new(environment: &HostEnvironment, client: Option<&ClientAdapter>, prices: Prices) -> Self {
        // A program that is not known may be one that starts any of them.
        let all = client.map_or(CLIENTS, std::slice::from_ref);
        let place = |client: &ClientAdapter| {
            Some((PathBuf::from(environment.folder_of(client).as_str()), client.transcripts?))
        };
        let places = all.iter().filter_map(place).collect();
        Self {
            places,
            prices,
            began: SystemTime::now(),
            looked: None,
            found: Found::NotYet,
            spent: Spent::default(),
        }
    }

    /// Adds what the transcript tells to what the client told; of two counts the higher one holds. What cannot be read tells nothing.
    pub(super) fn add_to(&mut self, progress: &mut RunProgress, life: Life) {
        let pause = match self.found {
            Found::NotYet | Found::At { .. } => LOOKING,
            Found::Older => LOOKING_AGAIN,
        };
        if life == Life::Ended || self.looked.is_none_or(|time| time.elapsed() >= pause) {
            self.looked = Some(Instant::now());
            if let Some(session) = &progress.session {
                // What is said last is written last.
                let pieces = match life {
                    Life::Running => 1,
                    Life::Ended => LAST_PIECES,
                };
                for _ in 0..pieces {
                    if !self.look(session) {
                        break;
                    }
                }
            }
        }
        if self.spent.tokens.counted() > progress.tokens.counted() {
            progress.tokens = self.spent.tokens;
        }
        progress.cost = progress.cost.max(self.spent.dollars);
        // What its output does not tell before the end is known all the same before the next call.
        progress.last_sent = progress.last_sent.max(self.spent.last_sent);
        progress.next_price = progress.next_price.or(self.spent.next_price);
        if progress.estimated.is_none() {
            progress.estimated.clone_from(&self.spent.estimated);
        }
    }

    /// Reads a piece; whether there may be another one.
    fn look(&mut self, session: &str) -> bool {
        match self.found {
            Found::NotYet | Found::Older => self.find(session),
            Found::At { .. } => {}
        }
        let Found::At { path, mark, named } = &mut self.found else { return false };
        let Ok(piece) = read(path, mark.offset) else { return false };
        let mut meter = Meter::new(*mark, named.as_deref(), &self.prices);
        meter.take(&piece, PIECE);
        let usage = meter.finish().usage;
        *mark = usage.mark;
        *named = usage.named;
        for model in usage.models {
            self.spent.tokens = self.spent.tokens.plus(&model.tokens);
            self.spent.dollars += model.cost.map_or(0.0, MicroDollars::dollars);
            if let Some(sent) = model.tokens.sent().checked_div(model.answers) {
                self.spent.last_sent = sent;
                let million = TokenCounts { input: 1_000_000, ..TokenCounts::default() };
                self.spent.next_price = Some(self.prices.cost(&model.model, &million).cost.dollars());
            }
            if let (None, Some(like)) = (&self.spent.estimated, model.like) {
                self.spent.estimated = Some(Estimate { model: model.model, like });
            }
        }
        piece.len() >= PIECE
    }

    fn find(&mut self, session: &str) {
        let (mut left, mut found) = (ENTRIES, Vec::new());
        for (folder, place) in &self.places {
            if let Some(steps) = place.steps(session) {
                matching(folder.clone(), &steps, &mut left, &mut found);
            }
        }
        for path in found {
            match self.is_of_this_attempt(&path) {
                Ok(Some(true)) => {
                    self.found = Found::At { path, mark: TranscriptMark::default(), named: None };
                    return;
                }
                Ok(Some(false)) => self.found = Found::Older,
                Ok(None) | Err(_) => {}
            }
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

/// The files to which steps lead, those with the latest names first; `left` entries of folders may be looked at.
fn matching(folder: PathBuf, steps: &[PathStep], left: &mut usize, found: &mut Vec<PathBuf>) {
    let Some((step, rest)) = steps.split_first() else {
        if folder.is_file() {
            found.push(folder);
        }
        return;
    };
    if let PathStep::Named(name) = step {
        return matching(folder.join(name), rest, left, found);
    }
    let mut names: Vec<String> = Vec::new();
    for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
        let Some(remaining) = left.checked_sub(1) else { break };
        *left = remaining;
        names.extend(entry.file_name().into_string().ok().filter(|name| step.is(name)));
    }
    // Where names are dates, the newest are the last.
    names.sort_unstable();
    for name in names.iter().rev() {
        matching(folder.join(name), rest, left, found);
    }
}

fn read(path: &PathBuf, from: u64) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(from))?;
    let mut piece = Vec::new();
    file.take(PIECE as u64).read_to_end(&mut piece)?;
    Ok(piece)
}
