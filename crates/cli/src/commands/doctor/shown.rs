//! What a user reads of a diagnosis: problems first and in full; of several clients that are well a line each.

use std::collections::BTreeSet;

use checkrein_clients::ClientAdapter;
use checkrein_engine::environment::HostEnvironment;
use checkrein_policy::Mode;
use checkrein_protocol::AbsolutePath;

use super::super::Switch;
use super::super::init::{read, settings_file, shown_place};
use super::super::story::at_home;
use super::{DiagnosisDetail, Finding, Protection, is_untested, plugin};
use crate::terminal::{Health, bold, counted, dim, hanging, mark, plain, print, wrapped};

/// The columns at which a detail goes on, and a hint.
const DETAIL: usize = 18;
const HINT: usize = 9;

/// A diagnosis, for a user.
pub(super) struct Shown<'a> {
    pub(super) environment: &'a HostEnvironment,
    pub(super) clients: &'a [&'static ClientAdapter],
    pub(super) findings: &'a [Finding],
    pub(super) result: Protection,
    /// The titles of the clients of which something is broken.
    pub(super) unprotected: &'a [&'static str],
    pub(super) mode: Mode,
    pub(super) all: Switch,
}

impl Shown<'_> {
    /// Prints it, the result last.
    pub(super) fn print(&self, detail: DiagnosisDetail) {
        let is_listed = self.clients.len() > 1 && detail == DiagnosisDetail::Summary;
        let is_problem = |finding: &&Finding| finding.health >= Health::Doubtful;
        self.findings.iter().filter(is_problem).for_each(|finding| self.print_finding(finding));
        let rest = self.findings.iter().filter(|finding| !is_problem(finding));
        rest.filter(|finding| !is_listed || finding.client.is_none())
            .for_each(|finding| self.print_finding(finding));
        if is_listed {
            self.print_clients();
        }
        if is_listed {
            let limits: usize = self.clients.iter().map(|client| client.open.len()).sum();
            let limits = match limits {
                0 => String::new(),
                _ => format!(", with {} of the agents", counted(limits as u64, "known limit")),
            };
            print(&wrapped(&dim(&format!(
                "details{limits}: `checkrein doctor --verbose`, or `--client NAME`"
            ))));
        }
        print(&wrapped(&self.last_line()));
    }

    fn print_finding(&self, finding: &Finding) {
        // What it found may quote a call, or the name of a file.
        let detail = at_home(self.environment, &plain(&finding.detail));
        // Where several were examined, each says which one it is about.
        let of = match finding.client {
            Some(client) if self.clients.len() > 1 && !detail.contains(client.title) => {
                format!("{}: ", client.title)
            }
            _ => String::new(),
        };
        let line = format!("{} {:<14} {of}{detail}", mark(finding.health), finding.check);
        print(&hanging(&line, DETAIL));
        if let Some(hint) = &finding.hint {
            let hint = at_home(self.environment, &plain(hint));
            print(&hanging(&format!("   {}", dim(&format!("hint: {hint}"))), HINT));
        }
        if self.all == Switch::On && !finding.not_held.is_empty() {
            print(&format!("   {}", dim("gaps on every machine:")));
            finding.not_held.iter().for_each(|open| print(&hanging(&format!("     {}", dim(open)), HINT)));
        }
    }

    /// Prints a line for each client: how it is, its name, what that amounts to, and where its hooks are.
    fn print_clients(&self) {
        let denied = self
            .findings
            .iter()
            .filter(|finding| finding.check == "canary" && finding.health == Health::Well);
        let denied =
            denied.filter_map(|finding| finding.client).map(|client| client.title).collect::<BTreeSet<_>>();
        if !denied.is_empty() {
            let agents = format!("{} of {} agents", denied.len(), self.clients.len());
            let line = format!(
                "{} {:<14} `rm -rf ~` is denied by the hooks of {agents}",
                mark(Health::Well),
                "canary"
            );
            print(&hanging(&line, DETAIL));
        }
        let width = self.clients.iter().map(|client| client.title.len()).max().unwrap_or_default();
        for client in self.clients {
            let own = self
                .findings
                .iter()
                .filter(|finding| finding.client.is_some_and(|about| about.client == client.client));
            let health = own.map(|finding| finding.health).max().unwrap_or(Health::Broken);
            let (health, state) = match (health, self.mode) {
                (Health::Broken, _) => (Health::Broken, "NOT protected"),
                (_, Mode::Observe) => (Health::Doubtful, "NOT enforced"),
                (Health::Doubtful, Mode::Enforce) => (Health::Doubtful, "with remarks"),
                (Health::Well | Health::Noted, Mode::Enforce) if is_untested(client) => {
                    (Health::Noted, "not tested")
                }
                (Health::Well | Health::Noted, Mode::Enforce) => (Health::Well, "protected"),
            };
            let here: Vec<String> = hooked(self.environment, client)
                .iter()
                .map(|file| shown_place(self.environment, file))
                .collect();
            let title = format!("{:width$}", client.title);
            let line = format!("{} {}  {state:<13}  {}", mark(health), bold(&title), here.join(", "));
            print(&hanging(line.trim_end(), width + 20));
        }
    }

    /// What all of it amounts to.
    fn last_line(&self) -> String {
        let words = self.result.in_words();
        let untested = self.clients.iter().filter(|client| is_untested(client));
        let untested: Vec<&str> = untested.map(|client| client.title).collect();
        match self.result {
            Protection::None if self.clients.len() > 1 && !self.unprotected.is_empty() => {
                format!("{words}: {}", self.unprotected.join(", "))
            }
            Protection::Whole | Protection::WithRemarks if !untested.is_empty() => {
                format!("{words}; {}: {}", Protection::Untested.in_words(), untested.join(", "))
            }
            Protection::Whole
            | Protection::WithRemarks
            | Protection::Untested
            | Protection::NotEnforced
            | Protection::None => words.to_owned(),
        }
    }
}

/// The files in which hooks of ours are registered with a client: its settings, or the plugin's list.
fn hooked(environment: &HostEnvironment, client: &'static ClientAdapter) -> Vec<AbsolutePath> {
    let settings = client.places.settings.iter();
    let files = settings.filter_map(|(scope, _)| settings_file(environment, client, *scope));
    let plugin = plugin::hooks(environment, client).map(|(path, _)| path);
    files.filter(|file| read(file).is_ok_and(|text| text.contains("checkrein-hook"))).chain(plugin).collect()
}
