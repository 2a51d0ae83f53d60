//! The gate of low-level designs: their form, then a reviewer of another model.

use std::collections::BTreeSet;
use std::time::Duration;

use checkrein_engine::error::CommandError;
#[cfg(target_os = "linux")]
use checkrein_gates::{DesignDecision, DesignIssue, reviewed_design};
use checkrein_gates::{FindingWeight, Gate, examine_form};
#[cfg(target_os = "linux")]
use checkrein_ledger::mask::mask_text;
use checkrein_pipelines::{ModelFamily, ModelReviewer, eligible_reviewers};
#[cfg(target_os = "linux")]
use checkrein_pipelines::{ReviewVerdict, VerdictWord};

use super::documents::DocumentContext;
#[cfg(target_os = "linux")]
use super::entry;
use super::take;
use crate::api::gates::{GateAnswer, NotRun};
use crate::commands::pipeline::PipelineText;
use crate::terminal::plain;

/// What is not looked at where nobody reviews.
const REVIEW: &str = "the review";

/// Who reviews a design.
#[derive(Debug)]
pub enum ReviewWish {
    /// Nobody: only the form is looked at.
    FormOnly,
    /// Reviewers of another family than those who wrote it.
    Reviewers(ReviewersWanted),
}

/// Which reviewers are asked, and whose work they look at.
#[derive(Debug)]
pub struct ReviewersWanted {
    /// Models, each asked by the client of its maker, first first.
    pub models: Vec<String>,
    /// A pipeline file whose reviewers are asked after these.
    pub file: Option<String>,
    /// Who wrote the design: families, models, or `user`.
    pub authors: Vec<String>,
    /// How long they have.
    pub time: Duration,
}

impl ReviewWish {
    /// Whether anything was said about reviewers.
    pub(super) fn is_given(&self) -> bool {
        match self {
            Self::FormOnly => true,
            Self::Reviewers(wanted) => {
                !wanted.models.is_empty() || wanted.file.is_some() || !wanted.authors.is_empty()
            }
        }
    }
}

/// The reviewers that were named, and the families that wrote; `None` where nobody says who did.
struct Named {
    reviewers: Vec<ModelReviewer>,
    authors: Option<Vec<ModelFamily>>,
}

impl DocumentContext<'_> {
    /// The form of a design, and what a reviewer says about it.
    pub(super) fn lld(&self, answer: &mut GateAnswer) -> Result<(), CommandError> {
        let (text, name, _) = self.document()?;
        let paths: BTreeSet<String> = self.paths()?;
        let form = examine_form(&text, &paths);
        answer.files = 1;
        if let Some(cause) = form.not_run {
            answer.not_run.push(NotRun { what: "the requirements".to_owned(), cause: cause.to_owned() });
        }
        take(answer, Gate::Lld, (&name, &text, None), form.findings);
        let wanted = match &self.wanted.review {
            ReviewWish::FormOnly => return Ok(()),
            ReviewWish::Reviewers(wanted) => wanted,
        };
        let named = self.named(wanted)?;
        let fails = |one: &crate::api::gates::GateFindingEntry| one.weight == FindingWeight::Error.name();
        let why = match (&named.authors, named.reviewers.is_empty()) {
            (_, true) => "nobody reviews: name a model with `--reviewer`, or a file with `--reviewers`",
            (None, false) => "nobody says who wrote the design: `--author` with a model, a family or `user`",
            (Some(_), false) if !answer.not_run.is_empty() || answer.findings.iter().any(fails) => {
                "the form of the document has to hold first"
            }
            (Some(authors), false) => {
                let all: Vec<&ModelReviewer> = named.reviewers.iter().collect();
                let eligible = eligible_reviewers(&all, authors);
                if eligible.is_empty() {
                    "all reviewers are of a family that wrote the design"
                } else {
                    return self.review(&eligible, wanted.time, (&text, &name), answer);
                }
            }
        };
        answer.not_run.push(NotRun { what: REVIEW.to_owned(), cause: why.to_owned() });
        Ok(())
    }

    fn named(&self, wanted: &ReviewersWanted) -> Result<Named, CommandError> {
        let mut reviewers = Vec::new();
        let mut families = Vec::new();
        for model in &wanted.models {
            let reviewer = ModelReviewer::by_client(model)
                .map_err(|why| CommandError::user(why, "`--reviewers FILE` takes reviewers of any kind"))?;
            reviewers.push(reviewer);
        }
        if let Some(file) = &wanted.file {
            let pipeline = PipelineText::read(self.environment, file)?.parse()?;
            families.extend(pipeline.authors());
            reviewers.extend(pipeline.reviewers);
        }
        for author in &wanted.authors {
            families.extend(family(author)?);
        }
        let is_known = !families.is_empty() || !wanted.authors.is_empty();
        Ok(Named { reviewers, authors: is_known.then_some(families) })
    }

    #[cfg(not(target_os = "linux"))]
    #[expect(clippy::unused_self, reason = "nobody is asked there")]
    fn review(
        &self,
        _: &[&ModelReviewer],
        _: Duration,
        _: (&str, &str),
        _: &mut GateAnswer,
    ) -> Result<(), CommandError> {
        Err(crate::commands::elsewhere::needs_linux("gate lld"))
    }

    #[cfg(target_os = "linux")]
    fn review(
        &self,
        eligible: &[&ModelReviewer],
        time: Duration,
        (text, name): (&str, &str),
        answer: &mut GateAnswer,
    ) -> Result<(), CommandError> {
        use std::sync::atomic::AtomicBool;

        use checkrein_pipelines::ReviewQuestion;
        use checkrein_supervise::runs::file::create_directory;

        use crate::commands::pipeline::asking::{LONGEST_REVIEWED, ReviewDesk, ReviewEnd};

        // A file names programs that run, and models cost money.
        crate::commands::for_no_agent(self.environment, "gate lld")?;
        let Some(program) = &self.environment.program else {
            return Err(CommandError::user("this program is not known", "start it by its path"));
        };
        if text.len() > LONGEST_REVIEWED {
            let cause = format!("the document is longer than {} KiB", LONGEST_REVIEWED >> 10);
            answer.not_run.push(NotRun { what: REVIEW.to_owned(), cause });
            return Ok(());
        }
        let folder = self.environment.state.root().join("design-reviews");
        let folder = folder.join(format!("{}-{}", self.environment.now().0, std::process::id()));
        create_directory(&folder)?;
        let data = mask_text(text, &self.environment.state.mask_key()?).into_owned();
        let subject = ReviewQuestion {
            question: checkrein_gates::LLD_QUESTION,
            what: "a low-level design",
            data: &data,
            before: "",
        };
        let desk = ReviewDesk {
            environment: self.environment,
            program,
            hold: &folder.join("hold"),
            folder: &folder,
            stop: &AtomicBool::new(false),
        };
        let round = desk.ask_each(eligible, &subject, time);
        // Only what was asked and answered lies there; what is left of it is private, and of no use.
        drop(std::fs::remove_dir_all(&folder));
        let round = round?;
        answer.reviews.extend(round.reviews.into_iter().map(crate::api::pipelines::PipelineReview::from));
        match round.end {
            ReviewEnd::Verdict(verdict, _) => {
                let findings = findings(text, &verdict);
                answer.findings.extend(findings.into_iter().map(|finding| entry(name, finding)));
            }
            ReviewEnd::NoVerdict(cause) => {
                answer.not_run.push(NotRun { what: REVIEW.to_owned(), cause: plain(&cause) });
            }
            ReviewEnd::Stopped => {
                let cause = "it was stopped".to_owned();
                answer.not_run.push(NotRun { what: REVIEW.to_owned(), cause });
            }
        }
        Ok(())
    }
}

/// The family of an author; none for a person.
fn family(author: &str) -> Result<Option<ModelFamily>, CommandError> {
    if author == "user" {
        return Ok(None);
    }
    let named = ModelFamily::ALL.into_iter().find(|family| family.name() == author);
    let told = || ModelFamily::of_model(author).or_else(|| ModelFamily::of_program(author));
    named.or_else(told).map(Some).ok_or_else(|| {
        let all: Vec<&str> = ModelFamily::ALL.iter().map(|family| family.name()).collect();
        CommandError::user(
            format!("nobody knows whose model `{}` is", plain(author)),
            format!("write `user`, a model, or one of {}", all.join(", ")),
        )
    })
}

/// What a verdict comes to: what is not approved fails the gate.
#[cfg(target_os = "linux")]
fn findings(text: &str, verdict: &ReviewVerdict) -> Vec<checkrein_gates::GateFinding> {
    let decision = match verdict.verdict {
        VerdictWord::Approved => DesignDecision::Approved,
        VerdictWord::Revise | VerdictWord::Blocked => DesignDecision::NotApproved,
    };
    let issues: Vec<DesignIssue<'_>> = verdict
        .issues
        .iter()
        .map(|issue| DesignIssue {
            place: &issue.place,
            problem: &issue.problem,
            // An approval with grave issues that do not block is one (upstream: only blocking ones hold up).
            weight: match (decision, issue.severity.as_str()) {
                (DesignDecision::Approved, _) | (_, "SUGGESTION") => FindingWeight::Warning,
                (DesignDecision::NotApproved, _) => FindingWeight::Error,
            },
        })
        .collect();
    reviewed_design(text, decision, &verdict.rationale, &issues)
}
