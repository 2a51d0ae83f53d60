//! Gates at the end of a turn: what a session left unfinished goes back to the agent, at most twice. Then it may stop, and the user is told.
//!
//! A gate that did not run is said to the user, and is never taken as passed.

use std::fmt::Write as _;
use std::time::Duration;

use checkrein_ledger::Durability;
use checkrein_policy::Mode;
use checkrein_protocol::{HookResponse, RecordBody, Timestamp};
use checkrein_session::{GATE_EVENT, SessionLedger, SessionState};
use serde_json::json;

use crate::checkpoint::masked;
use crate::context::Context;
use crate::gate_process::{GateReport, GateSpan, GateTask, ReportedFinding};
use crate::interventions::tell;
use crate::text::{counted, plain_name};

/// How long all gates may take together: below the time of the hook (ours).
const TIME: Duration = Duration::from_secs(7);

/// How often the agent is sent back for the same findings.
const REPEATED: u64 = 2;

/// How often it is sent back in one turn, whatever is found (seed 004: three times, then the end).
const IN_TURN: u64 = 3;

/// How many findings are named.
const NAMED: usize = 3;

/// What all gates say together.
#[derive(Debug, Default)]
struct Reports {
    findings: Vec<(String, ReportedFinding)>,
    /// What was not looked at, or did not run, in words.
    not_run: Vec<String>,
}

/// What follows from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GateOutcome {
    Passed,
    SentBack,
    LetGo,
    NotRun,
}

impl GateOutcome {
    fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::SentBack => "sent_back",
            Self::LetGo => "let_go",
            Self::NotRun => "not_run",
        }
    }
}

/// Has the gates look that the configuration asks for; `None` where none does, or none has anything to say.
pub(crate) fn look(context: &Context, ledger: &SessionLedger, state: &SessionState) -> Option<HookResponse> {
    let config = context.policy().config();
    let mut gates = config.gates.at_turn_end.clone();
    gates.sort();
    gates.dedup();
    // Without a call since the user spoke nothing was changed.
    if gates.is_empty() || state.calls_of_turn().calls() == 0 {
        return None;
    }
    let reports = reports(context, state, &gates);
    let mark = mark(&reports.findings);
    let answers = state.gate_answers();
    let outcome = match (reports.findings.is_empty(), reports.not_run.is_empty()) {
        (true, true) => GateOutcome::Passed,
        (true, false) => GateOutcome::NotRun,
        (false, _) if answers.times(&mark) < REPEATED && answers.in_turn() < IN_TURN => GateOutcome::SentBack,
        (false, _) => GateOutcome::LetGo,
    };
    let record = RecordBody::Event {
        name: GATE_EVENT.to_owned(),
        fields: json!({
            "gates": gates,
            "answer": outcome.name(),
            "mark": mark,
            "findings": reports.findings.iter().map(|(_, finding)| place(finding)).take(20).collect::<Vec<_>>(),
            "found": reports.findings.len(),
            "not_run": reports.not_run,
        }),
    };
    let now = context.environment().now();
    let kept = ledger.append_all(now, vec![record], Durability::Plain);
    if config.mode != Mode::Enforce {
        return None;
    }
    match (outcome, kept) {
        (GateOutcome::Passed, _) => None,
        (GateOutcome::SentBack, Ok(_)) => {
            Some(HookResponse::Deny { reason: masked(context, &for_agent(&reports)) })
        }
        // What is not on record would be said without end.
        (GateOutcome::SentBack | GateOutcome::LetGo | GateOutcome::NotRun, _) => {
            let text = for_user(&reports);
            let title = match outcome {
                GateOutcome::NotRun => "checkrein: a gate did not run",
                GateOutcome::Passed | GateOutcome::SentBack | GateOutcome::LetGo => {
                    "checkrein: the agent stopped with unfinished work"
                }
            };
            tell(context, ledger, "gate", title, &text);
            Some(HookResponse::Context { text: masked(context, &text) })
        }
    }
}

fn reports(context: &Context, state: &SessionState, gates: &[String]) -> Reports {
    let environment = context.environment();
    let mut all = Reports::default();
    let task = GateTask {
        gates,
        workspace: context.workspace(),
        span: GateSpan::Session {
            commit: state.beginning().and_then(|beginning| beginning.commit.as_deref()),
            begun: state.started().unwrap_or(Timestamp(0)),
        },
        time: TIME,
    };
    let reports = environment.gates.run(&task, environment.program.as_deref());
    for (gate, report) in gates.iter().zip(reports) {
        match report {
            Ok(report) => all.take(gate, report),
            Err(cause) => all.not_run.push(format!("gate {gate} did not run: {}", plain_name(&cause))),
        }
    }
    all
}

impl Reports {
    fn take(&mut self, gate: &str, report: GateReport) {
        let (passed, before) = (report.passed, (self.findings.len(), self.not_run.len()));
        let errors = report.findings.into_iter().filter(|finding| finding.weight == "error");
        self.findings.extend(errors.map(|finding| (gate.to_owned(), finding)));
        self.not_run.extend(report.not_run.into_iter().map(|one| {
            format!("gate {gate} did not look at {}: {}", plain_name(&one.what), plain_name(&one.cause))
        }));
        let unread = report.not_examined.into_iter().filter(|file| file.fails);
        self.not_run.extend(unread.map(|file| {
            format!("gate {gate} did not read `{}`: {}", plain_name(&file.path), plain_name(&file.cause))
        }));
        if !passed && before == (self.findings.len(), self.not_run.len()) {
            self.not_run.push(format!("gate {gate} did not pass and does not say why"));
        }
    }
}

/// What tells findings from others, wherever they stand in their files. In letters: nothing takes them for a number of something.
fn mark(findings: &[(String, ReportedFinding)]) -> String {
    let mut lines: Vec<String> = findings
        .iter()
        .map(|(gate, found)| {
            format!("{gate}\0{}\0{}\0{}\0{}\n", found.path, found.kind, found.function, found.text)
        })
        .collect();
    lines.sort();
    // FNV-1a: it must be the same in every process.
    let hash = lines.concat().bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    hash.to_be_bytes()
        .iter()
        .flat_map(|byte| [b'a' + (byte >> 4), b'a' + (byte & 15)])
        .map(char::from)
        .collect()
}

fn place(finding: &ReportedFinding) -> String {
    format!("{}:{} {}", plain_name(&finding.path), finding.line, finding.kind)
}

/// The first findings, one a line.
fn named(findings: &[(String, ReportedFinding)]) -> String {
    let mut text = String::new();
    for (_, finding) in findings.iter().take(NAMED) {
        let function = if finding.function.is_empty() {
            String::new()
        } else {
            format!(" in `{}`", plain_name(&finding.function))
        };
        let _ = writeln!(
            text,
            "{}:{}{function}: {}; {}",
            plain_name(&finding.path),
            finding.line,
            plain_name(&finding.seen),
            plain_name(&finding.advice)
        );
    }
    text
}

fn gates_of(findings: &[(String, ReportedFinding)]) -> String {
    let mut gates: Vec<&str> = findings.iter().map(|(gate, _)| gate.as_str()).collect();
    gates.dedup();
    gates.join(", ")
}

fn for_agent(reports: &Reports) -> String {
    let number = counted(u64::try_from(reports.findings.len()).unwrap_or(u64::MAX), "finding");
    format!(
        "checkrein: this is not finished ({number} by gate {}):\n{}Finish it now; if that is not possible, tell the user what is left and why.",
        gates_of(&reports.findings),
        named(&reports.findings)
    )
}

fn for_user(reports: &Reports) -> String {
    let mut text = String::new();
    if !reports.findings.is_empty() {
        let number = counted(u64::try_from(reports.findings.len()).unwrap_or(u64::MAX), "finding");
        let _ = write!(
            text,
            "checkrein: the agent was told and stopped all the same; {number} by gate {}:\n{}",
            gates_of(&reports.findings),
            named(&reports.findings)
        );
    }
    for line in reports.not_run.iter().take(NAMED) {
        let _ = writeln!(text, "checkrein: {line}");
    }
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(line: usize, text: &str) -> (String, ReportedFinding) {
        let finding = ReportedFinding {
            path: "src/x.rs".to_owned(),
            line,
            kind: "not_implemented".to_owned(),
            weight: "error".to_owned(),
            function: "load".to_owned(),
            text: text.to_owned(),
            seen: "the body only says that it is not implemented".to_owned(),
            advice: "write the body".to_owned(),
        };
        ("completeness".to_owned(), finding)
    }

    #[test]
    fn a_mark_tells_what_was_found_and_not_where_it_stands() {
        let one = mark(&[finding(1, "fail()"), finding(9, "panic!()")]);
        assert_eq!(one, mark(&[finding(7, "panic!()"), finding(3, "fail()")]));
        assert_ne!(one, mark(&[finding(1, "fail()")]));
        assert_eq!(one.len(), 16);
    }

    #[test]
    fn what_did_not_pass_without_a_reason_did_not_run() {
        let mut reports = Reports::default();
        reports.take(
            "completeness",
            GateReport { passed: false, findings: vec![], not_examined: vec![], not_run: vec![] },
        );
        assert_eq!(reports.not_run.len(), 1);
        let mut reports = Reports::default();
        reports.take(
            "completeness",
            GateReport { passed: true, findings: vec![], not_examined: vec![], not_run: vec![] },
        );
        assert!(reports.not_run.is_empty() && reports.findings.is_empty());
    }

    #[test]
    fn the_agent_reads_five_lines_at_most() {
        let reports = Reports { findings: (0..9).map(|line| finding(line, "x")).collect(), not_run: vec![] };
        assert_eq!(for_agent(&reports).lines().count(), 5);
    }
}
