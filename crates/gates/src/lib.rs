//! Gates: what must hold before work counts as done. Text in, findings out.
//!
//! Nothing here reads a file, runs a program, asks for the time or decides what becomes of a finding.
//!
//! | module | holds |
//! |---|---|
//! | `language` | the languages, and how a file tells which it is |
//! | `grammar` | what the nodes of a syntax tree mean, one table for each language |
//! | `source` | a text as a tree; a fragment is put into what it must have stood in |
//! | `function` | the functions of a text, and where each stands |
//! | `function_span` | where functions stand, for whoever measures the gate |
//! | `act` | what a statement of a body does |
//! | `remark` | what comments and messages say about the code around them |
//! | `deferral` | words by which comments and messages put work off |
//! | `admission` | what a text admits about the code beside it, by the parts of its sentences |
//! | `thin` | bodies that do little, and beside which somebody says that this is not all |
//! | `slight` | bodies that do next to nothing, and say that they are not written |
//! | `left_off` | bodies that begin or stop where their work should go on |
//! | `taken_out` | bodies whose code stands in comments |
//! | `promise` | names that promise a result which depends on what is given |
//! | `body` | whether a function is written |
//! | `proof` | tests: what they are, whether they run, what they assert |
//! | `assertion` | what an assertion is about, and how much it says |
//! | `reach` | whether an assertion is reached, and how often |
//! | `side` | a changed file before or after the change, as far as its tests are compared |
//! | `weakened` | tests that check less than before, over all files of a change |
//! | `test_setup` | settings of test runners that leave tests out, let failures pass, or want less |
//! | `dropped` | errors that are caught and dropped |
//! | `comment` | code in comments, marks of unfinished work |
//! | `exemption` | findings that somebody allowed, with the reason |
//! | `completeness` | the gate: a fragment or a file, and what changed in it |
//! | `secrets` | the gate: credentials in new lines, by who knows what one is |
//! | `scope` | the gate: changed files that stand on no list |
//! | `phantoms` | the gate: imports and packages that nothing shows to exist |
//! | `licences` | the gate: new packages under licences that are not allowed |
//! | `imports` | what a text imports |
//! | `manifest` | manifests and lock files |
//! | `well_known` | standard libraries, and packages that many know |
//! | `mechanical` | the gate: sections, paths, tables and size of a design document |
//! | `telling` | statements that tell people something, wait, or end the program |
//! | `test_plan` | the gate: requirements against planned tests |
//! | `lld` | the gate: the form of a low-level design, and what a reviewer says about it |
//! | `implementation` | the gate: changes against a design, and tests that were seen to pass |
//! | `coverage` | how much of the code tests reach, by the reports of those who measure it |
//! | `design` | a design document: sections, tables, the files that it names |
//! | `line_exemption` | findings that somebody allowed in a text that is not read as code |
//! | `gate` | the gates by name |
//! | `finding` | what is found, in words |
//!
//! **Invariants.** Every text gets an answer: what cannot be read is said, and never counts as complete. No text makes
//! the tree walks recurse without bound.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod act;
mod admission;
mod assertion;
mod body;
mod comment;
mod completeness;
mod coverage;
mod deferral;
mod design;
mod dropped;
mod exemption;
mod finding;
mod function;
mod function_span;
mod gate;
mod grammar;
mod implementation;
mod imports;
mod language;
mod left_off;
mod licences;
mod line_exemption;
mod lld;
mod manifest;
mod mechanical;
mod phantoms;
mod promise;
mod proof;
mod reach;
mod remark;
mod scope;
mod secrets;
mod side;
mod slight;
mod source;
mod taken_out;
mod telling;
mod test_plan;
mod test_setup;
mod thin;
mod weakened;
mod well_known;

pub use completeness::{
    CodeOrigin, CodeVerdict, ExaminedFile, Fragment, FragmentAnswer, GateText, examine_file, judge_fragment,
};
pub use coverage::{
    CoverageFigure, CoverageTolerance, CoverageUnit, USUAL_REPORTS, are_comparable, coverage_commands,
    examine_coverage, read_coverage,
};
pub use design::{Design, DesignChange, DesignFile, DesignItem, DesignSection, DesignTable};
pub use exemption::{AllowedFinding, new_exemptions};
pub use finding::{FindingKind, FindingWeight, GateFinding};
pub use function_span::{FunctionSpan, function_spans};
pub use gate::Gate;
pub use implementation::{
    CommandEnd, PathChange, TestRun, TestSelection, examine_runs, not_in_design, only_prints, runs_tests,
    undone_files,
};
pub use language::{SourceLanguage, code_of};
pub use licences::{PERMISSIVE, examine_licences, licence_of_metadata};
pub use line_exemption::{Sifted, sift};
pub use lld::{DesignDecision, DesignIssue, LLD_QUESTION, examine_form, reviewed_design};
pub use manifest::{Ecosystem, Package, PackageFile, PackageList, PackageSource, read_packages};
pub use mechanical::examine_design;
pub use phantoms::{ImportAnswer, KnownPackages, OnDisk, examine_imports, examine_manifest};
pub use scope::out_of_scope;
pub use secrets::examine_secrets;
pub use test_plan::{TestPlanAnswer, examine_test_plan};
pub use test_setup::examine_test_setup;
pub use weakened::{ExaminedTests, TestText, examine_tests};
