//! The command line of gates.

use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::commands::gate::{
    CoverageReports, CoverageWish, GateInput, GateRequest, ReportForm, ReviewWish, ReviewersWanted,
    Strictness,
};
use checkrein_gates::{CoverageTolerance, Gate};
use checkrein_worktree::ChangeBase;

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum GateName {
    // Stubs, fake results, tests that prove nothing, dropped errors.
    Completeness,
    // Credentials in new lines.
    Secrets,
    // Changed files outside of a list.
    Scope,
    // Imports and packages that do not exist.
    Phantoms,
    // New packages under licences that are not allowed.
    Licences,
    // Sections, paths, tables and size of a design document.
    Mechanical,
    // Requirements against planned tests.
    TestPlan,
    // A reviewer's verdict on a design document, after its form.
    Lld,
    // Changes against a design document, and tests that were seen to pass.
    Implementation,
}

impl From<GateName> for Gate {
    fn from(name: GateName) -> Self {
        match name {
            GateName::Completeness => Self::Completeness,
            GateName::Secrets => Self::Secrets,
            GateName::Scope => Self::Scope,
            GateName::Phantoms => Self::Phantoms,
            GateName::Licences => Self::Licences,
            GateName::Mechanical => Self::Mechanical,
            GateName::TestPlan => Self::TestPlan,
            GateName::Lld => Self::Lld,
            GateName::Implementation => Self::Implementation,
        }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ReportName {
    // For people.
    Text,
    // For code scanning.
    Sarif,
    // For reports of tests.
    Junit,
}

#[derive(Debug, Args)]
pub(crate) struct GateArguments {
    /// Gate
    name: GateName,
    /// Further gates that look at the same changes, each with a report of its own
    #[arg(long, value_name = "GATE", hide = true, value_delimiter = ',', conflicts_with_all = ["batch", "form"])]
    together: Vec<GateName>,
    /// Look only at files at or below these paths
    #[arg(value_name = "PATH", conflicts_with = "batch")]
    paths: Vec<String>,
    /// Compare with where the branch left this revision
    #[arg(long, value_name = "REV", conflicts_with_all = ["staged", "batch"])]
    since: Option<String>,
    /// Look at all that no remote has yet, as before a push
    #[arg(long, conflicts_with_all = ["since", "staged", "batch", "begun", "paths"])]
    unpushed: bool,
    /// Look only at files that changed after this, in milliseconds since 1970; without `--since` all of their content is new
    #[arg(long, value_name = "MS", hide = true, conflicts_with_all = ["staged", "batch"])]
    begun: Option<u64>,
    /// Pattern of paths that may change (`scope`), or licence (`licences`); repeatable
    #[arg(long, value_name = "WHAT")]
    allow: Vec<String>,
    /// Design document (`scope`, `mechanical`, `test-plan`, `lld`, `implementation`)
    #[arg(long, value_name = "FILE")]
    design: Option<String>,
    /// Text that a heading of the document must have (`mechanical`); repeatable
    #[arg(long, value_name = "TITLE")]
    section: Vec<String>,
    /// Model that reviews the design, through the client of its maker (`lld`); repeatable, asked in this order
    #[arg(long, value_name = "MODEL")]
    reviewer: Vec<String>,
    /// Pipeline file whose reviewers review the design (`lld`)
    #[arg(long, value_name = "FILE")]
    reviewers: Option<String>,
    /// Who wrote the design: a model, its maker, or `user` (`lld`); repeatable
    #[arg(long, value_name = "WHO")]
    author: Vec<String>,
    /// Maximum time for all reviewers together (`lld`), such as 10m
    #[arg(long, value_name = "TIME", value_parser = super::supervision::time, default_value = "10m", hide_default_value = true)]
    review_time: Duration,
    /// Report of coverage that the tests wrote (`implementation`), or `none`; repeatable [default: the newest at a usual place]
    #[arg(long, value_name = "FILE")]
    coverage: Vec<String>,
    /// The same report from before the change (`implementation`); repeatable, in the same order [default: what was kept]
    #[arg(long, value_name = "FILE")]
    coverage_base: Vec<String>,
    /// By how many points coverage may fall (`implementation`)
    #[arg(long, value_name = "POINTS", value_parser = points, default_value = "0.1")]
    coverage_tolerance: CoverageTolerance,
    /// Look only at the form (`lld`); a pipeline asks its own reviewers
    #[arg(long, hide = true, conflicts_with_all = ["reviewer", "reviewers", "author"])]
    form_only: bool,
    /// Look at what is staged
    #[arg(long, conflicts_with = "batch")]
    staged: bool,
    /// Also fail on warnings
    #[arg(long, conflicts_with = "batch")]
    strict: bool,
    /// Form: text, SARIF 2.1.0 or JUnit XML
    #[arg(long, value_enum, value_name = "FORM", default_value = "text", conflicts_with = "batch")]
    form: ReportName,
    /// Answer JSON Lines from a file, or from standard input with `-`
    #[arg(long, value_name = "FILE")]
    batch: Option<String>,
}

impl From<GateArguments> for GateRequest {
    fn from(wanted: GateArguments) -> Self {
        let base = match (wanted.since, wanted.staged) {
            (Some(revision), _) => ChangeBase::Revision(revision),
            (None, true) => ChangeBase::Staged,
            (None, false) if wanted.begun.is_some() => ChangeBase::Nothing,
            (None, false) => ChangeBase::LastCommit,
        };
        Self {
            gate: wanted.name.into(),
            together: wanted.together.into_iter().map(Gate::from).collect(),
            allow: wanted.allow,
            design: wanted.design,
            sections: wanted.section,
            review: if wanted.form_only {
                ReviewWish::FormOnly
            } else {
                ReviewWish::Reviewers(ReviewersWanted {
                    models: wanted.reviewer,
                    file: wanted.reviewers,
                    authors: wanted.author,
                    time: wanted.review_time,
                })
            },
            coverage: CoverageWish {
                reports: match wanted.coverage.as_slice() {
                    [] => CoverageReports::Usual,
                    [none] if none == "none" => CoverageReports::NotWanted,
                    _ => CoverageReports::Named(wanted.coverage),
                },
                before: wanted.coverage_base,
                tolerance: wanted.coverage_tolerance,
            },
            input: match wanted.batch {
                Some(source) => GateInput::Batch(source),
                None if wanted.unpushed => GateInput::Unpushed,
                None => GateInput::Changes { base, paths: wanted.paths, begun: wanted.begun },
            },
            strictness: if wanted.strict { Strictness::Warnings } else { Strictness::Errors },
            form: match wanted.form {
                ReportName::Text => ReportForm::Usual,
                ReportName::Sarif => ReportForm::Sarif,
                ReportName::Junit => ReportForm::Junit,
            },
        }
    }
}

fn points(text: &str) -> Result<CoverageTolerance, String> {
    CoverageTolerance::read(text).ok_or_else(|| "points from 0 to 100, such as 0.5".to_owned())
}
