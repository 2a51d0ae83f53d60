//! `checkrein plugin run`: has the enabled plugins look at what is new in a session. The hook starts it behind a call and does not wait.
//!
//! Who looks at a session holds the lock of the file in which it is kept how far each plugin has come. What a plugin says is a record of the
//! session, and counts from the next call on; that it failed is one too.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Instant;

use checkrein_engine::config_files;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_engine::notification::{self, Notice};
use checkrein_engine::plugins::{self, EnabledPlugin, PinnedPlugin};
use checkrein_engine::session_ledger::diagnose;
use checkrein_files::Forced;
use checkrein_ledger::{Durability, FolderName, last, lines_from};
use checkrein_policy::{Config, LogLevel};
use checkrein_protocol::{
    AbsolutePath, PLUGIN_EVENT, PluginKind, PluginQuestion, PluginSaying, Record, RecordBody, Timestamp,
    VerdictKind,
};
use checkrein_session::SessionLedger;
use checkrein_world::find_workspace;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::answer::{Outcome, outcome};
use super::dead_letters::Resent;
use super::fault::{FaultKind, PluginFault};
use super::process::{PluginNetwork, PluginProcess, PluginStart};
use super::seen::{actions, issues};
use super::sinks::{Delivery, Sink, WEBHOOK, send_again, sinks, wanted_since};
use crate::terminal::{counted, log};

/// How far each plugin has come in a session, beside its ledger.
const PROGRESS: &str = "plugins.json";
const LOCK: &str = "plugins.lock";
/// The most records of one request, and their length together in bytes (ours).
const MOST_RECORDS: usize = 500;
const MOST_BYTES: usize = 1024 * 1024;
/// How many of the last records are looked through for a call (ours).
const LAST: usize = 50;
/// How often one run looks at a session for more (ours).
const ROUNDS: usize = 40;

/// How far a plugin has come.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
struct Progress {
    /// Up to which byte of the ledger it has seen all.
    position: u64,
    /// What it said last, by what it was asked.
    said: BTreeMap<String, PluginSaying>,
    /// The failure that was written down last; `None` once it ran again.
    fault: Option<String>,
}

/// What is new in a session.
struct News {
    records: Vec<(Record, Json)>,
    /// Where each of them ends.
    ends: Vec<u64>,
    /// Where the last line ends that was looked at.
    end: u64,
}

/// Looks at one session, or at all of them.
///
/// # Errors
///
/// The session is not there, or nothing can be written down.
pub(super) fn run(environment: &HostEnvironment, session: Option<&str>) -> Result<(), CommandError> {
    let names = plugins::all_enabled(environment);
    let folders = match session {
        Some(name) => {
            let folder = FolderName::on_disk(name.as_ref())
                .filter(|folder| environment.state.ledger(folder).is_file())
                .ok_or_else(|| {
                    CommandError::user(
                        format!("there is no session `{name}`"),
                        "`checkrein session list` lists them",
                    )
                })?;
            vec![folder]
        }
        None => environment.state.folders()?,
    };
    let told = RefCell::new(BTreeSet::new());
    for folder in folders {
        let ledger = SessionLedger::of_folder(&environment.state, folder);
        Sitting { environment, ledger, told: &told }.all(&names)?;
    }
    // Who asks for all sessions also has sent again what was refused.
    if session.is_none()
        && let Sink::Webhook(address) = own_webhook(environment)?
    {
        let taken = send_again(environment, &address, Resent::All)?;
        if taken > 0 {
            log(&format!("the webhook took {} that stood aside", counted(taken as u64, "record")));
        }
    }
    Ok(())
}

/// The web server that the configuration of here names.
fn own_webhook(environment: &HostEnvironment) -> Result<Sink, CommandError> {
    let config = config_files::load(environment, &find_workspace(&environment.cwd))?.config;
    let named = sinks(&config).into_iter().find(|(name, _)| *name == WEBHOOK);
    Ok(named.map_or_else(|| Sink::Unknown(String::new()), |(_, sink)| sink))
}

/// What is done about one session.
struct Sitting<'a> {
    environment: &'a HostEnvironment,
    ledger: SessionLedger,
    /// What was said, of all sessions: the same is said once.
    told: &'a RefCell<BTreeSet<String>>,
}

impl Sitting<'_> {
    fn all(&self, names: &[String]) -> Result<(), CommandError> {
        for _ in 0..ROUNDS {
            let Some(held) = self.lock()? else { return Ok(()) };
            let mut progress = self.progress();
            let mut went_on = false;
            for name in names {
                let own = progress.entry(name.clone()).or_default();
                went_on |= self.attend(name, own)?;
            }
            for (name, sink) in self.sinks()? {
                let own = progress.entry(name.to_owned()).or_default();
                went_on |= self.deliver(name, &sink, own)?;
            }
            self.keep(&progress)?;
            drop(held);
            // Somebody who came meanwhile has left it to us.
            if !went_on {
                return Ok(());
            }
        }
        Ok(())
    }

    /// The lock of the session; `None` where somebody else has it.
    fn lock(&self) -> Result<Option<File>, CommandError> {
        let path = self.ledger.directory().join(LOCK);
        let mut options = File::options();
        options.create(true).append(true);
        let file = checkrein_files::open_own(&mut options, &path)
            .map_err(|error| CommandError::file("lock", path.display(), &error))?;
        Ok(file.try_lock().is_ok().then_some(file))
    }

    fn place(&self) -> PathBuf {
        self.ledger.directory().join(PROGRESS)
    }

    /// What the progress is bound to.
    fn purpose(&self) -> String {
        format!("{}/{PROGRESS}", self.ledger.folder().as_str())
    }

    fn progress(&self) -> BTreeMap<String, Progress> {
        let kept = checkrein_files::read_text(self.place(), checkrein_files::SMALL).unwrap_or_default();
        let text = self.environment.state.vault().open_text(&kept, &self.purpose()).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    fn keep(&self, progress: &BTreeMap<String, Progress>) -> Result<(), CommandError> {
        let failed = |error: std::io::Error| CommandError::file("write", self.place().display(), &error);
        let text = serde_json::to_string(progress).map_err(|error| failed(error.into()))?;
        // What plugins said may quote what they were told.
        let sealed = self.environment.state.vault().seal_text(&text, &self.purpose());
        let sealed = sealed.map_err(|error| CommandError::user(error.to_string(), error.hint()))?;
        checkrein_files::replace(&self.place(), sealed.as_bytes(), 0o600, Forced::Nothing).map_err(failed)
    }

    /// Has one plugin look at what is new; whether there was something.
    fn attend(&self, name: &str, progress: &mut Progress) -> Result<bool, CommandError> {
        let pinned = match plugins::enabled(self.environment, name) {
            EnabledPlugin::Pinned(pinned) => pinned,
            // Disabled since we began.
            EnabledPlugin::Not => return Ok(false),
            EnabledPlugin::Changed | EnabledPlugin::Unreadable(_) => {
                let why = plugins::trouble(self.environment, name).unwrap_or_default();
                self.fault(name, progress, &PluginFault::new(FaultKind::Changed, why))?;
                return Ok(false);
            }
        };
        if plugins::status(self.environment, name).pauses(self.environment.now()) {
            return Ok(false);
        }
        // Of a session that it has seen before it misses nothing, also where it did not run for a while.
        let since = if progress.position == 0 { pinned.at } else { Timestamp(0) };
        let news = self.news(progress.position, since)?;
        let questions = self.questions(&pinned, &news)?;
        if questions.is_empty() {
            let went_on = news.end > progress.position;
            progress.position = news.end;
            return Ok(went_on);
        }
        let started = Instant::now();
        match ask_all(self.environment, name, &pinned, questions) {
            Ok(outcomes) => {
                let took = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
                plugins::succeeded(self.environment, name, took)?;
                progress.fault = None;
                progress.position = reached(&news, &outcomes);
                self.write_down(outcomes, progress)?;
                Ok(true)
            }
            Err(fault) => {
                self.fault(name, progress, &fault)?;
                Ok(false)
            }
        }
    }

    /// Where the configuration of the workspace has records taken.
    fn sinks(&self) -> Result<Vec<(&'static str, Sink)>, CommandError> {
        Ok(self.config()?.as_ref().map(sinks).unwrap_or_default())
    }

    /// The workspace: as the session began, or where its last call was; `None` where nothing tells.
    fn workspace(&self) -> Result<Option<AbsolutePath>, CommandError> {
        if let Some(workspace) = self.ledger.state()?.workspace() {
            return Ok(Some(workspace.clone()));
        }
        // Not each client says that a session begins.
        let cwd = last(&self.ledger.path(), LAST)?.into_iter().rev().find_map(|record| match record.body {
            RecordBody::Review(review) => AbsolutePath::new(&review.cwd),
            _ => None,
        });
        Ok(cwd.map(|cwd| find_workspace(&cwd)))
    }

    /// The configuration of the workspace; `None` where none is known.
    fn config(&self) -> Result<Option<Config>, CommandError> {
        let Some(workspace) = self.workspace()? else { return Ok(None) };
        Ok(Some(config_files::load(self.environment, &workspace)?.config))
    }

    /// Has an exporter of ours take what is new; whether there was something.
    fn deliver(&self, name: &str, sink: &Sink, progress: &mut Progress) -> Result<bool, CommandError> {
        let status = plugins::status(self.environment, name);
        if status.pauses(self.environment.now()) {
            return Ok(false);
        }
        // Of a session that it took something of it misses nothing.
        let since = if progress.position == 0 { wanted_since(self.environment, name)? } else { Timestamp(0) };
        let news = self.news(progress.position, since)?;
        if news.records.is_empty() {
            let went_on = news.end > progress.position;
            progress.position = news.end;
            return Ok(went_on);
        }
        let started = Instant::now();
        let session = self.ledger.folder().as_str();
        match sink.send(self.environment, session, &news.records, status.in_row) {
            Delivery::All => {
                let took = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
                plugins::succeeded(self.environment, name, took)?;
                progress.fault = None;
                progress.position = news.end;
                if let Sink::Webhook(address) = sink {
                    send_again(self.environment, address, Resent::Unanswered)?;
                }
                Ok(true)
            }
            Delivery::PutAside(why) => {
                self.fault(name, progress, &PluginFault::new(FaultKind::PutAside, why))?;
                progress.position = news.end;
                Ok(false)
            }
            Delivery::Later(why) => {
                self.fault(name, progress, &PluginFault::new(FaultKind::OwnError, why))?;
                Ok(false)
            }
        }
    }

    /// What came since a place in the ledger and since a time.
    fn news(&self, position: u64, since: Timestamp) -> Result<News, CommandError> {
        let mut lines = lines_from(&self.ledger.path(), position)?;
        let mut news = News { records: Vec::new(), ends: Vec::new(), end: position };
        let mut bytes = 0;
        while let Some(line) = lines.next() {
            let line = line?;
            news.end = lines.position();
            let (Some(record), Ok(json)) = (line.record, serde_json::from_str::<Json>(&line.text)) else {
                continue;
            };
            if record.at < since {
                continue;
            }
            bytes += line.text.len();
            news.records.push((record, json));
            news.ends.push(news.end);
            if news.records.len() >= MOST_RECORDS || bytes >= MOST_BYTES {
                break;
            }
        }
        Ok(news)
    }

    /// What a plugin is to be asked about it.
    fn questions(&self, pinned: &PinnedPlugin, news: &News) -> Result<Vec<PluginQuestion>, CommandError> {
        let session = || self.ledger.folder().as_str().to_owned();
        let acted = news
            .records
            .iter()
            .any(|(record, _)| matches!(record.body, RecordBody::Review(_) | RecordBody::Outcome(_)));
        let mut questions = Vec::new();
        for kind in &pinned.files.manifest.kinds {
            match kind {
                PluginKind::Patterns if acted => {
                    questions.push(PluginQuestion::Patterns {
                        session: session(),
                        actions: actions(&self.ledger)?,
                    });
                }
                PluginKind::Risk if acted => {
                    questions
                        .push(PluginQuestion::Risk { session: session(), actions: actions(&self.ledger)? });
                }
                PluginKind::Interventions => {
                    let records = news.records.iter().map(|(record, _)| record);
                    questions.extend(issues(records).into_iter().map(|(issue, rung)| {
                        PluginQuestion::Interventions { session: session(), issue: Box::new(issue), rung }
                    }));
                }
                PluginKind::Exporter if !news.records.is_empty() => {
                    let records = news.records.iter().map(|(_, json)| json.clone()).collect();
                    questions.push(PluginQuestion::Exporter { session: session(), records });
                }
                // Notices have their own way.
                PluginKind::Patterns | PluginKind::Risk | PluginKind::Exporter | PluginKind::Approvals => {}
            }
        }
        Ok(questions)
    }

    /// Writes down what a plugin says, where it is not what it said before.
    fn write_down(&self, outcomes: Vec<Outcome>, progress: &mut Progress) -> Result<(), CommandError> {
        let mut bodies = Vec::new();
        for outcome in outcomes {
            let Outcome::Said(said) = outcome else { continue };
            let about = about(&said);
            let is_known = match progress.said.get(&about) {
                Some(before) => *before == said,
                None => says_nothing(&said),
            };
            if is_known {
                continue;
            }
            let fields = serde_json::to_value(&said)
                .map_err(|error| CommandError::user(error.to_string(), "report this as a defect"))?;
            bodies.push(RecordBody::Event { name: PLUGIN_EVENT.to_owned(), fields });
            progress.said.insert(about, said);
        }
        if !bodies.is_empty() {
            self.ledger.append_all(self.environment.now(), bodies, Durability::Plain)?;
        }
        Ok(())
    }

    /// Takes up a failure: it is counted, and the first of its sort in a session is on record and people are told.
    fn fault(&self, name: &str, progress: &mut Progress, fault: &PluginFault) -> Result<(), CommandError> {
        let text = fault.to_string();
        if fault.kind != FaultKind::Changed {
            plugins::failed(self.environment, name, &text)?;
        }
        let line = format!("plugin {name}: {text}");
        if self.told.borrow_mut().insert(line.clone()) {
            log(&line);
        }
        let word = fault.kind.word();
        if progress.fault.as_deref() == Some(word) {
            return Ok(());
        }
        let is_first = progress.fault.is_none();
        progress.fault = Some(word.to_owned());
        let failure = RecordBody::Failure {
            stage: "plugin".to_owned(),
            kind: word.to_owned(),
            detail: format!("{name}: {text}"),
            verdict: VerdictKind::Ok,
        };
        self.ledger.append(self.environment.now(), failure, Durability::Plain)?;
        if is_first {
            self.tell(name, &text)?;
        }
        Ok(())
    }

    fn tell(&self, name: &str, text: &str) -> Result<(), CommandError> {
        let (Some(workspace), Some(config)) = (self.workspace()?, self.config()?) else { return Ok(()) };
        diagnose(self.environment, &config, LogLevel::Warn, &format!("plugin {name}: {text}"));
        let notice = Notice {
            event: "plugin".to_owned(),
            session: self.ledger.folder().as_str().to_owned(),
            workspace,
            at: self.environment.now(),
            title: format!("checkrein: plugin {name} failed"),
            text: format!(
                "{text}\nCalls are reviewed without it; `checkrein plugin list` shows how it stands"
            ),
            incident: None,
            question: None,
        };
        notification::send(self.environment, &config, &notice)?;
        Ok(())
    }
}

/// Up to where the plugin has seen all.
fn reached(news: &News, outcomes: &[Outcome]) -> u64 {
    let taken = outcomes.iter().find_map(|outcome| match outcome {
        Outcome::Taken(taken) => Some(*taken),
        Outcome::Said(_) | Outcome::Told => None,
    });
    let Some(taken) = taken else { return news.end };
    match news.records.iter().position(|(record, _)| record.seq > taken) {
        None => news.end,
        Some(0) => news.ends.first().copied().unwrap_or(news.end),
        Some(next) => news.ends.get(next - 1).copied().unwrap_or(news.end),
    }
}

/// Asks an enabled plugin, in one process.
pub(super) fn ask_all(
    environment: &HostEnvironment,
    name: &str,
    pinned: &PinnedPlugin,
    questions: Vec<PluginQuestion>,
) -> Result<Vec<Outcome>, PluginFault> {
    let mut process = PluginProcess::start(
        environment,
        &PluginStart {
            folder: Path::new(pinned.files.folder.as_str()),
            manifest: &pinned.files.manifest,
            program: &pinned.program,
            network: PluginNetwork::Accepted,
        },
    )?;
    let mut outcomes = Vec::new();
    for question in questions {
        let answered = process.ask(&question).and_then(|answer| {
            outcome(name, &question, &answer).map_err(|why| process.wrong(FaultKind::WrongAnswer, why))
        });
        match answered {
            Ok(outcome) => outcomes.push(outcome),
            Err(fault) => return Err(process.fail(fault)),
        }
    }
    process.end();
    Ok(outcomes)
}

/// What a saying is about: a later one about the same takes its place.
fn about(said: &PluginSaying) -> String {
    match said {
        PluginSaying::Issues { .. } => "issues".to_owned(),
        PluginSaying::Factors { .. } => "factors".to_owned(),
        PluginSaying::Intervention { pattern, .. } => pattern.name().to_owned(),
        PluginSaying::Disabled { .. } => "disabled".to_owned(),
    }
}

fn says_nothing(said: &PluginSaying) -> bool {
    match said {
        PluginSaying::Issues { issues, .. } => issues.is_empty(),
        PluginSaying::Factors { factors, .. } => factors.is_empty(),
        PluginSaying::Intervention { words, rung, .. } => words.is_none() && rung.is_none(),
        PluginSaying::Disabled { .. } => false,
    }
}
