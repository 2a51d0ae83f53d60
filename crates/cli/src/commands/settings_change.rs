//! A change of a client's settings file: how it is shown, whether it is made, and what is told of it.

use checkrein_clients::ClientAdapter;
use checkrein_engine::error::CommandError;
use checkrein_protocol::AbsolutePath;
use similar::{ChangeTag, TextDiff};

use super::{ExitStatus, OutputForm};
use crate::api;
use crate::api::installation::{RegistrationAnswer, RegistrationResult};
use crate::terminal::{Reply, bold, confirm, counted, dim, hanging, log, print, print_exact, wrapped};

/// What to do with the change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Approval {
    /// Ask before writing.
    Ask,
    /// Write without asking.
    Given,
    /// Show only.
    DryRun,
}

/// What is said where nobody could be asked.
const UNASKED: &str = "nothing was written: there is no terminal to ask at; `--yes` writes without asking";

/// Asks the user whether something is to be written; `None` where they say no or nobody is there, which they are told.
pub(super) fn agreed_to(question: &str) -> Option<Approval> {
    match confirm(question) {
        Reply::Yes => return Some(Approval::Given),
        Reply::No => log("nothing was written"),
        Reply::Nobody => log(UNASKED),
    }
    None
}

/// How much of the change is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeDetail {
    /// What is written where, in a few lines.
    Summary,
    /// Every line that changes.
    Lines,
}

/// How a change is shown, and whether it is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Manner {
    /// What to do with it.
    pub approval: Approval,
    /// How much of it is shown.
    pub detail: ChangeDetail,
}

/// The column at which what is said of a change begins, behind the words for it.
pub(super) const MARGIN: usize = 10;

/// What is said at the end of a dry run.
const NOTHING_WRITTEN: &str = "dry run: nothing was written";

/// What becomes of a file beside a settings file, which calls the hook for further events.
#[derive(Debug)]
pub(super) struct CompanionChange {
    pub(super) path: AbsolutePath,
    pub(super) before: String,
    /// Empty where the file goes.
    pub(super) after: String,
}

/// What becomes of a settings file.
#[derive(Debug, Clone, Copy)]
pub(super) struct SettingsChange<'a> {
    pub(super) client: &'static ClientAdapter,
    pub(super) settings: &'a AbsolutePath,
    pub(super) before: &'a str,
    pub(super) after: &'a str,
    /// What becomes of the files beside it.
    pub(super) beside: &'a [CompanionChange],
    /// What is shown above it, a line each.
    pub(super) remarks: &'a [String],
}

impl SettingsChange<'_> {
    /// Whether anything changes.
    pub(super) fn is_one(&self) -> bool {
        self.texts().any(|(_, before, after)| before != after)
    }

    /// Returns every file that takes part, with its text now and then.
    fn texts(&self) -> impl Iterator<Item = (&AbsolutePath, &str, &str)> {
        let beside = self.beside.iter().map(|file| (&file.path, &*file.before, &*file.after));
        std::iter::once((self.settings, self.before, self.after)).chain(beside)
    }

    /// Returns how many files change.
    fn changing(&self) -> u64 {
        let count = self.texts().filter(|(_, before, after)| before != after).count();
        u64::try_from(count).unwrap_or(u64::MAX)
    }

    /// Returns what the files are called: the only one by its path, several by their number and their folder.
    pub(super) fn place(&self) -> String {
        match self.settings.parent().filter(|_| !self.beside.is_empty()) {
            Some(folder) => format!("{} files in {folder}", self.beside.len() + 1),
            None => self.settings.to_string(),
        }
    }

    /// Shows it to a user.
    pub(super) fn show(&self, manner: Manner, output: OutputForm) {
        if output == OutputForm::Json || !self.is_one() {
            return;
        }
        self.remarks.iter().for_each(|remark| print(&hanging(remark, MARGIN)));
        match manner.detail {
            ChangeDetail::Lines => print_exact(&self.difference()),
            // Nobody reads three hundred lines that are all alike before they agree.
            ChangeDetail::Summary => print(&hanging(&self.summary(manner.approval), MARGIN)),
        }
    }

    /// How much changes.
    fn summary(&self, approval: Approval) -> String {
        let differences: Vec<_> =
            self.texts().map(|(_, before, after)| TextDiff::from_lines(before, after)).collect();
        let counts = [("adds", ChangeTag::Insert), ("removes", ChangeTag::Delete)].map(|(verb, tag)| {
            let changes = differences.iter().flat_map(TextDiff::iter_all_changes);
            let count = changes.filter(|change| change.tag() == tag).count();
            (count > 0)
                .then(|| format!("{verb} {}", counted(u64::try_from(count).unwrap_or(u64::MAX), "line")))
        });
        let counts = counts.into_iter().flatten().collect::<Vec<_>>().join(", ");
        let shown_by = match approval {
            Approval::DryRun => "--verbose",
            Approval::Ask | Approval::Given => "--dry-run --verbose",
        };
        let files = match self.changing() {
            0 | 1 => String::new(),
            several => format!(" in {several} files"),
        };
        format!("change    {counts}{files}; `{shown_by}` shows them")
    }

    /// Every line that changes, with two around it.
    fn difference(&self) -> String {
        let of_file = |(path, before, after): (&AbsolutePath, &str, &str)| {
            TextDiff::from_lines(before, after)
                .unified_diff()
                .context_radius(2)
                .header(&format!("{path} (now)"), &format!("{path} (then)"))
                .to_string()
        };
        self.texts().filter(|(_, before, after)| before != after).map(of_file).collect()
    }

    /// What programs are told of it.
    fn answer(&self, written: Written) -> RegistrationAnswer {
        let change = (written == Written::DryRun).then(|| self.difference());
        RegistrationAnswer {
            change,
            ..RegistrationAnswer::new(self.client, Some(self.settings), written.told().0, None)
        }
    }

    /// Tells what became of it; `next` is what is said once it is written.
    pub(super) fn tell(
        &self,
        written: Written,
        output: OutputForm,
        next: &str,
    ) -> Result<ExitStatus, CommandError> {
        let settings = self.place();
        match (output, written) {
            (OutputForm::Json, _) => print_exact(&api::line(&self.answer(written))?),
            (OutputForm::Text, Written::Yes) => {
                print(&wrapped(&format!("{} {settings}\n{next}", bold("written"))));
            }
            (OutputForm::Text, Written::Unchanged) => {
                let are = if self.beside.is_empty() { "is already as it" } else { "are already as they" };
                print(&format!("{settings} {are} should be; nothing changed"));
            }
            (OutputForm::Text, Written::DryRun) => print(&dim(NOTHING_WRITTEN)),
            (OutputForm::Text, Written::Declined) => log("nothing was written"),
            (OutputForm::Text, Written::Unasked) => log(UNASKED),
        }
        Ok(written.told().1)
    }
}

/// What became of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Written {
    Yes,
    Unchanged,
    DryRun,
    Declined,
    Unasked,
}

impl Written {
    /// What programs are told of it, and with which exit status it ends.
    fn told(self) -> (RegistrationResult, ExitStatus) {
        match self {
            Self::Yes => (RegistrationResult::Written, ExitStatus::Done),
            Self::Unchanged => (RegistrationResult::Unchanged, ExitStatus::Done),
            Self::DryRun => (RegistrationResult::DryRun, ExitStatus::Done),
            Self::Declined | Self::Unasked => (RegistrationResult::Declined, ExitStatus::Failed),
        }
    }
}

/// What became of several clients, told for each, and at the end of all.
#[derive(Debug)]
pub(super) struct Results {
    output: OutputForm,
    approval: Approval,
    lines: Vec<(&'static str, String)>,
    /// How many files were written that the question had named one by one.
    written: u64,
    exit: ExitStatus,
}

impl Results {
    pub(super) fn new(manner: Manner, output: OutputForm) -> Self {
        Self { output, approval: manner.approval, lines: Vec::new(), written: 0, exit: ExitStatus::Done }
    }

    /// Notes what became of a file; `place` is what a user calls it.
    pub(super) fn told(
        &mut self,
        change: &SettingsChange<'_>,
        place: &str,
        written: Written,
    ) -> Result<(), CommandError> {
        let words = match (written, self.approval) {
            // It stands above the question.
            (Written::Yes, Approval::Ask) => {
                self.written += change.changing();
                String::new()
            }
            (Written::Yes, Approval::Given | Approval::DryRun) => format!("written    {place}"),
            (Written::Unchanged, _) => format!("unchanged  {place}"),
            // It was shown; that nothing was written is said once for all.
            (Written::DryRun | Written::Declined | Written::Unasked, _) => String::new(),
        };
        self.note(change.client, words, &change.answer(written))?;
        self.also(written.told().1);
        Ok(())
    }

    /// Notes what became of a file out of which something was to be taken.
    pub(super) fn removed(
        &mut self,
        change: &SettingsChange<'_>,
        what: &str,
        written: Written,
    ) -> Result<(), CommandError> {
        let settings = change.place();
        let words = match written {
            Written::Yes => format!("removed {what}: {settings}"),
            Written::Unchanged => format!("nothing registered: {settings}"),
            // It was shown.
            Written::DryRun => String::new(),
            Written::Declined | Written::Unasked => "nothing was removed".to_owned(),
        };
        self.note(change.client, words, &change.answer(written))?;
        self.also(written.told().1);
        Ok(())
    }

    /// Notes that a client is left out.
    pub(super) fn skipped(&mut self, client: &'static ClientAdapter, why: &str) -> Result<(), CommandError> {
        let answer = RegistrationAnswer::new(client, None, RegistrationResult::Skipped, Some(why.to_owned()));
        self.note(client, format!("skipped: {why}"), &answer)
    }

    /// Notes that it failed, and says why.
    pub(super) fn failed(
        &mut self,
        client: &'static ClientAdapter,
        error: &CommandError,
    ) -> Result<(), CommandError> {
        log(&format!("error: {}: {error}", client.title));
        if let Some(hint) = &error.hint {
            log(&format!("hint: {hint}"));
        }
        let why = Some(error.to_string());
        let answer = RegistrationAnswer::new(client, None, RegistrationResult::Failed, why);
        self.exit = ExitStatus::Failed;
        self.note(client, format!("failed: {error}"), &answer)
    }

    /// Notes the end of something that has said what became of it.
    pub(super) fn also(&mut self, exit: ExitStatus) {
        if exit != ExitStatus::Done {
            self.exit = exit;
        }
    }

    fn note(
        &mut self,
        client: &'static ClientAdapter,
        words: String,
        answer: &RegistrationAnswer,
    ) -> Result<(), CommandError> {
        self.lines.push((client.title, words));
        if self.output == OutputForm::Json {
            print_exact(&api::line(answer)?);
        }
        Ok(())
    }

    /// Shows all of it, with what the user has to do besides; the exit status.
    pub(super) fn end(self, steps: &[&str]) -> ExitStatus {
        if self.output == OutputForm::Text {
            let width = self.lines.iter().map(|(title, _)| title.chars().count()).max().unwrap_or_default();
            for (title, words) in self.lines.iter().filter(|(_, words)| !words.is_empty()) {
                print(&wrapped(&format!("{}  {words}", bold(&format!("{title:width$}")))));
            }
            if self.written > 0 {
                print(&format!("{} {}", bold("written"), counted(self.written, "file")));
            }
            steps.iter().for_each(|step| print(&wrapped(step)));
            if self.approval == Approval::DryRun && !self.lines.is_empty() {
                print(&dim(NOTHING_WRITTEN));
            }
        }
        self.exit
    }
}
