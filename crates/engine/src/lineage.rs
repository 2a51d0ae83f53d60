//! Agents that agents start: which session started which, and what they spent together.
//!
//! A session finds its parent when it begins: by the processes above its client, by what clients write into the environment of what they
//! start, or, where a command of a session was to start such an agent and it was cut loose from both, by that announcement. Each of these can
//! only add a session to the account of another, so a forged one gains nothing. The parent stands in a record of the child, and in a file of
//! the folder of each, so that finding the family costs the same however long the ledgers are.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use checkrein_clients::{CLIENTS, GATEWAY, PROXIED, is_canary};
use checkrein_ledger::{FolderName, StateDirectory, last};
use checkrein_protocol::{AbsolutePath, Action, CallDisposition, HookEvent, RecordBody, SessionId};
use checkrein_session::{Cost, SessionLedger, SessionState, calls_not_run};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::context::Context;
use crate::ending::{SUMMARY, is_over};
use crate::environment::HostEnvironment;
use crate::processes::Process;

/// The folder with the processes of clients, below the state directory.
const PROCESSES: &str = "agents";

/// The folder with the announcements, below that.
const ANNOUNCED: &str = "announced";

/// The file that names the parent, in the folder of a session.
const PARENT: &str = "parent.json";

/// The file that names the children, one a line.
const CHILDREN: &str = "children.jsonl";

/// How many processes above a client are looked at (ours).
const MOST_ABOVE: usize = 64;

/// How many sessions of one family are counted, and how many generations (ours).
const MOST_RELATED: usize = 256;

/// How long after a command that starts an agent a session of it counts as started by it, in milliseconds (ours).
const ANNOUNCED_FOR: u64 = 10 * 60 * 1000;

/// The longest file of a process or an announcement (ours).
const LONGEST: u64 = 64 * 1024;

/// The session that started another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parent {
    /// The folder of the session.
    pub session: String,
    /// What shows it.
    pub evidence: Evidence,
}

/// What shows that a session was started by another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// The client of the parent stands above its own.
    Process,
    /// A variable that the client of the parent sets.
    Environment,
    /// A command of the parent was to start such an agent shortly before.
    Announcement,
}

/// A session that was started by another one, with what it had spent before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Child {
    session: String,
    #[serde(flatten)]
    before: Spent,
}

/// What sessions spent.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Spent {
    /// Tokens, as limits count them.
    pub(crate) tokens: u64,
    /// US dollars, as far as they are known.
    pub(crate) dollars: f64,
    /// Answers of models.
    pub(crate) answers: u64,
    /// File operations, as limits count them.
    #[serde(default)]
    pub(crate) file_operations: u64,
}

/// What the other sessions of a family spent.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Family {
    /// How many others there are.
    pub(crate) others: usize,
    /// What they spent.
    pub(crate) spent: Spent,
    /// Whether one of them made calls and nobody tells what it spent.
    pub(crate) is_untold: bool,
}

/// The client of a session, as a process.
#[derive(Debug, Serialize, Deserialize)]
struct ClientProcess {
    started: u64,
    session: String,
}

/// What a session is about to start.
#[derive(Debug, Serialize, Deserialize)]
struct Announcement {
    at: u64,
    session: String,
    clients: Vec<String>,
    workspace: String,
}

/// Takes down which session a new one was started by, and by which process it can be found as a parent itself.
pub(crate) fn begin(context: &Context, ledger: &SessionLedger, event: &HookEvent) {
    if is_canary(event.session.as_str()) {
        return;
    }
    let home = &context.environment().state;
    let own = ledger.folder();
    let client = standing_for(context.environment());
    if parent_of(home, own).is_none()
        && let Some(parent) = found(context, own, event, client.as_ref())
        && !ancestors(home, &parent.session).iter().any(|above| above == own.as_str())
    {
        adopt(context, ledger, event, &parent);
    }
    if let Some((number, process)) = client {
        let entry = ClientProcess { started: process.started, session: own.as_str().to_owned() };
        write(context, &processes(home).join(number.to_string()), &entry);
    }
}

/// Takes back by which process a session can be found as a parent: what is started there later is not started by it.
pub(crate) fn end(context: &Context, ledger: &SessionLedger) {
    let folder = processes(&context.environment().state);
    let Some((number, _)) = standing_for(context.environment()) else { return };
    let path = folder.join(number.to_string());
    let is_own = |known: ClientProcess| known.session == ledger.folder().as_str();
    if read::<ClientProcess>(&path).is_some_and(is_own)
        && let Err(error) = fs::remove_file(&path)
    {
        context.environment().diagnostics.add(format!("`{}` was not removed: {error}", path.display()));
    }
}

/// The process that stands for a session, with its number: the client that started the hook. A gateway and a proxy of ours are their own: what
/// stands above them, such as a terminal, stays when they end.
fn standing_for(environment: &HostEnvironment) -> Option<(i32, Process)> {
    let number = environment.process;
    if [GATEWAY.client, PROXIED].contains(&environment.client.client) {
        return Process::read(number).map(|process| (number, process));
    }
    Process::client(number)
}

/// Announces the agents that a command names, should it start one of them where nobody can see from whom.
pub(crate) fn announce(context: &Context, ledger: &SessionLedger, action: &Action) {
    let Some(text) = action.shell_text() else { return };
    let is_named = |name: &str| {
        let words = text.split(|sign: char| !(sign.is_alphanumeric() || "_-.".contains(sign)));
        words.into_iter().any(|word| word == name)
    };
    let named = CLIENTS.iter().filter(|client| client.programs.iter().any(|name| is_named(name)));
    let clients: Vec<String> = named.map(|client| client.client.name().to_owned()).collect();
    if clients.is_empty() {
        return;
    }
    let own = ledger.folder().as_str();
    let announcement = Announcement {
        at: context.environment().now().0,
        session: own.to_owned(),
        clients,
        workspace: context.workspace().to_string(),
    };
    let folder = processes(&context.environment().state).join(ANNOUNCED);
    write(context, &folder.join(own), &announcement);
}

/// Returns the session of the nearest client above the process that asks; `None` where no client that is known stands there.
pub fn session_above(environment: &HostEnvironment) -> Option<FolderName> {
    let session = above(&environment.state, crate::processes::above(environment.process))?;
    FolderName::on_disk(session.as_ref())
}

/// The session that started this one.
pub fn parent_of(home: &StateDirectory, session: &FolderName) -> Option<Parent> {
    read(&home.session(session).join(PARENT))
}

/// The folders of the sessions that this one started.
pub fn children_of(home: &StateDirectory, session: &FolderName) -> Vec<String> {
    children(home, session).into_iter().map(|child| child.session).collect()
}

/// What the others of the family spent and did; `None` for a session that was started by none and started none.
pub(crate) fn family(home: &StateDirectory, session: &FolderName) -> Option<Family> {
    let own = session.as_str();
    let root = ancestors(home, own).into_iter().next_back().unwrap_or_else(|| own.to_owned());
    let mut family = Family::default();
    let mut seen = BTreeSet::from([root.clone()]);
    let mut waiting = vec![(root, Spent::default())];
    while let Some((name, before)) = waiting.pop() {
        let Some(folder) = FolderName::on_disk(name.as_ref()) else { continue };
        if name != own {
            family.others += 1;
            match SessionLedger::of_folder(home, folder.clone()).state() {
                Ok(state) => family.add(&state, before),
                Err(_) => family.is_untold = true,
            }
        }
        for child in children(home, &folder) {
            if seen.len() < MOST_RELATED && seen.insert(child.session.clone()) {
                waiting.push((child.session, child.before));
            }
        }
    }
    (family.others > 0).then_some(family)
}

impl Family {
    fn add(&mut self, state: &SessionState, before: Spent) {
        let now = Spent::of(state);
        self.spent.tokens = self.spent.tokens.saturating_add(now.tokens.saturating_sub(before.tokens));
        self.spent.answers = self.spent.answers.saturating_add(now.answers.saturating_sub(before.answers));
        let operations = now.file_operations.saturating_sub(before.file_operations);
        self.spent.file_operations = self.spent.file_operations.saturating_add(operations);
        self.spent.dollars += (now.dollars - before.dollars).max(0.0);
        self.is_untold |= !state.spent().is_metered() && state.outcomes() > 0;
    }
}

impl Spent {
    fn of(state: &SessionState) -> Self {
        let spent = state.spent();
        let dollars = match spent.cost() {
            None => 0.0,
            Some(Cost::Known(known) | Cost::About(known) | Cost::AtLeast(known)) => known.dollars(),
        };
        Self {
            tokens: spent.tokens().counted(),
            dollars,
            answers: spent.answers(),
            file_operations: state.file_operations(),
        }
    }
}

/// The parents of a session, the nearest first; where a file names one of them again, it ends.
fn ancestors(home: &StateDirectory, session: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut next = session.to_owned();
    while found.len() < MOST_RELATED
        && let Some(parent) = FolderName::on_disk(next.as_ref()).and_then(|folder| parent_of(home, &folder))
        && parent.session != session
        && !found.contains(&parent.session)
    {
        next.clone_from(&parent.session);
        found.push(parent.session);
    }
    found
}

fn found(
    context: &Context,
    own: &FolderName,
    event: &HookEvent,
    client: Option<&(i32, Process)>,
) -> Option<Parent> {
    let home = &context.environment().state;
    let is_other = |session: &String| {
        session != own.as_str()
            && FolderName::on_disk(session.as_ref()).is_some_and(|folder| home.ledger(&folder).exists())
    };
    // A terminal keeps the variables of a session that opened it and is over.
    let is_running = |session: &String| {
        let folder = FolderName::on_disk(session.as_ref()).filter(|_| is_other(session));
        folder.is_some_and(|folder| !is_over(&SessionLedger::of_folder(home, folder)))
    };
    let by = |evidence: Evidence| move |session: String| Parent { session, evidence };
    client
        .and_then(|(_, process)| above(home, process.parent))
        .filter(is_other)
        .map(by(Evidence::Process))
        .or_else(|| named_in_environment(context).find(is_running).map(by(Evidence::Environment)))
        .or_else(|| announced(context, event, client).filter(is_other).map(by(Evidence::Announcement)))
}

/// The number of the process of the client that started a hook, where it is the program of a client in which this session began.
pub(crate) fn client_of(environment: &HostEnvironment, session: &FolderName) -> Option<i32> {
    let (number, process) = Process::client(environment.process)?;
    let known: ClientProcess = read(&processes(&environment.state).join(number.to_string()))?;
    let is_its = known.session == session.as_str() && known.started == process.started;
    let is_program = environment.client.programs.contains(&process.name.as_str());
    (is_its && is_program).then_some(number)
}

/// The session of the nearest client at or above a process.
fn above(home: &StateDirectory, number: i32) -> Option<String> {
    let (mut next, folder) = (number, processes(home));
    for _ in 0..MOST_ABOVE {
        let process = Process::read(next).filter(|_| next > 1)?;
        let known: Option<ClientProcess> = read(&folder.join(next.to_string()));
        if let Some(known) = known.filter(|known| known.started == process.started) {
            return Some(known.session);
        }
        next = process.parent;
    }
    None
}

/// The sessions that variables of clients name.
fn named_in_environment(context: &Context) -> impl Iterator<Item = String> + '_ {
    let marks = CLIENTS.iter().flat_map(|client| client.marks).filter(|mark| mark.ends_with("SESSION_ID"));
    let values = marks.filter_map(|mark| context.environment().variables.get(*mark));
    values.map(|session| FolderName::of(&SessionId(session.clone())).as_str().to_owned())
}

/// The session that announced an agent of this client in this workspace shortly before. One that has a terminal was started by a user.
fn announced(context: &Context, event: &HookEvent, client: Option<&(i32, Process)>) -> Option<String> {
    if client.is_none_or(|(_, process)| process.has_terminal) {
        return None;
    }
    let now = context.environment().now().0;
    let folder = processes(&context.environment().state).join(ANNOUNCED);
    let home = &context.environment().state;
    let mut newest: Option<Announcement> = None;
    for entry in fs::read_dir(folder).ok()?.flatten() {
        let Some(announcement) = read::<Announcement>(&entry.path()) else { continue };
        if now.saturating_sub(announcement.at) > ANNOUNCED_FOR {
            // What nobody took up is cleared away by whoever looks.
            drop(fs::remove_file(entry.path()));
            continue;
        }
        let is_meant = announcement.clients.iter().any(|name| name == event.client.name())
            && announcement.workspace == context.workspace().to_string();
        if is_meant
            && may_have_run(home, &announcement)
            && newest.as_ref().is_none_or(|newest| newest.at < announcement.at)
        {
            newest = Some(announcement);
        }
    }
    newest.map(|announcement| announcement.session)
}

/// How many records behind an announcement are looked at for what became of its call (ours).
const RECORDS: usize = 256;

/// Whether the call that announced an agent may have run: it was not refused, by us, the client or its user.
fn may_have_run(home: &StateDirectory, announcement: &Announcement) -> bool {
    let Some(folder) = FolderName::on_disk(announcement.session.as_ref()) else { return false };
    let Ok(records) = last(&SessionLedger::of_folder(home, folder).path(), RECORDS) else { return true };
    // Its review is the first one behind the announcement.
    let review = records.iter().find_map(|record| match &record.body {
        RecordBody::Review(review) if record.at.0 >= announcement.at => Some(review),
        _ => None,
    });
    review.is_none_or(|review| {
        let is_stopped = review.disposition() == CallDisposition::Refused;
        !is_stopped && !calls_not_run(&records).contains(&review.action_id)
    })
}

/// Writes down a parent, in the folders and the records of both.
fn adopt(context: &Context, ledger: &SessionLedger, event: &HookEvent, parent: &Parent) {
    let home = &context.environment().state;
    let Some(folder) = FolderName::on_disk(parent.session.as_ref()) else { return };
    let before = ledger.state().map(|state| Spent::of(&state)).unwrap_or_default();
    let child = Child { session: ledger.folder().as_str().to_owned(), before };
    let line = serde_json::to_string(&child).unwrap_or_default() + "\n";
    let mut options = fs::OpenOptions::new();
    let path = home.session(&folder).join(CHILDREN);
    let added = options.append(true).create(true).mode(0o600).open(&path);
    if let Err(error) = added.and_then(|mut file| file.write_all(line.as_bytes())) {
        context.environment().diagnostics.add(format!("`{}` was not written: {error}", path.display()));
    }
    write(context, &home.session(ledger.folder()).join(PARENT), parent);
    let fields = json!({
        "parent": parent.session, "evidence": parent.evidence,
        "child": child.session, "client": event.client.name(),
        SUMMARY: format!("session {}", short(&parent.session)),
    });
    context.record(ledger, RecordBody::Event { name: "checkrein.started_by".to_owned(), fields });
    let started = json!({
        "child": child.session, "client": event.client.name(),
        SUMMARY: format!("{}, session {}", event.client.name(), short(&child.session)),
    });
    let record = RecordBody::Event { name: "checkrein.started_agent".to_owned(), fields: started };
    context.record(&SessionLedger::of_folder(home, folder), record);
}

/// How much of the name of a session is shown.
fn short(session: &str) -> String {
    session.chars().take(8).collect()
}

fn children(home: &StateDirectory, session: &FolderName) -> Vec<Child> {
    let path = home.session(session).join(CHILDREN);
    let text = checkrein_files::read_text(&path, checkrein_files::SMALL).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).take(MOST_RELATED).collect()
}

fn processes(home: &StateDirectory) -> PathBuf {
    home.root().join(PROCESSES)
}

fn read<T: for<'de> Deserialize<'de>>(path: &Path) -> Option<T> {
    serde_json::from_slice(&checkrein_files::read(path, LONGEST).ok()?).ok()
}

fn write(context: &Context, path: &Path, value: &impl Serialize) {
    let bytes = serde_json::to_vec(value).unwrap_or_default();
    let place = path.to_str().and_then(AbsolutePath::new);
    let written = place.map(|place| crate::config_files::write_private(&place, &bytes));
    if let Some(Err(error)) = written {
        context.environment().diagnostics.add(format!("`{}` was not written: {error}", path.display()));
    }
}
