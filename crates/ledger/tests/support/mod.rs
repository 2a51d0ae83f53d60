//! Records to write in tests.
#![allow(dead_code, unreachable_pub)]

use std::path::Path;

use checkrein_ledger::{Durability, SessionLedger, StateHome};
use checkrein_protocol::{
    AbsolutePath, ActionId, Decision, Depth, DoubtRecord, Effect, EffectKind, Enforcement, HaltScope, Looked,
    OutcomeRecord, RecordBody, ReviewRecord, RiskLevel, RiskRecord, SessionId, SurpriseRecord,
    SurpriseRecordKind, Target, Timestamp, ToolName, VerdictKind, VerificationRecord,
};

use serde_json::json;

pub fn ledger(home: &Path, session: &str) -> SessionLedger {
    SessionLedger::open(&StateHome::new(home), &SessionId(session.to_owned()))
}

pub fn prompt(text: &str) -> RecordBody {
    RecordBody::Prompt { text: text.to_owned() }
}

pub fn started(session: &str) -> RecordBody {
    RecordBody::SessionStarted {
        session: SessionId(session.to_owned()),
        client: "claude_code".to_owned(),
        cwd: "/home/dev/shop".to_owned(),
        workspace: "/home/dev/shop".to_owned(),
        source: "startup".to_owned(),
        beginning: None,
        debt: None,
    }
}

pub fn file_effect(kind: EffectKind, path: &str, depth: Depth) -> Effect {
    Effect {
        depth,
        cause: "sh".to_owned(),
        ..Effect::new(kind, Target::Path(AbsolutePath::new(path).unwrap()))
    }
}

pub fn review(id: &str, verdict: &str, kind: u64, effects: Vec<Effect>) -> RecordBody {
    RecordBody::Review(Box::new(ReviewRecord {
        action_id: ActionId(id.to_owned()),
        tool: ToolName("Bash".to_owned()),
        input: json!({"command": format!("run {id}, then \"look\"\n")}),
        cwd: "/home/dev/shop".to_owned(),
        actor: None,
        verdict: VerdictKind::from_name(verdict).unwrap(),
        decision: Decision::Allow,
        flagged: kind.is_multiple_of(3),
        risk: RiskRecord { score: 0.25, level: RiskLevel::Low, factors: vec!["none".to_owned()] },
        rationality: None,
        intent: None,
        confidence: None,
        further_reasons: Vec::new(),
        mitigations: Vec::new(),
        effects,
        further_file_operations: 0,
        rules: Vec::new(),
        reason: "nothing is lost".to_owned(),
        alternatives: Vec::new(),
        rewrite: None,
        answered: None,
        snapshot: None,
        governance: None,
        beginning: None,
        problems: Vec::new(),
        programs: vec!["run".to_owned()],
        kind,
        exact: kind.wrapping_mul(31),
        substance: kind.wrapping_mul(31),
        elapsed_us: 80,
        mode: Enforcement::Enforce,
    }))
}

pub fn outcome(id: &str, failed: bool) -> RecordBody {
    RecordBody::Outcome(OutcomeRecord {
        action_id: ActionId(id.to_owned()),
        tool: ToolName("Bash".to_owned()),
        failed,
        error: failed.then(|| "exit status 1".to_owned()),
        duration_ms: Some(12),
        output_bytes: 3,
        output_hash: "ab".repeat(32),
        observation: None,
        verification: None,
    })
}

/// An outcome after which something else was seen than predicted.
pub fn surprised(id: &str, points: i32, ceiling: u32) -> RecordBody {
    let RecordBody::Outcome(mut record) = outcome(id, false) else { unreachable!() };
    let surprise = SurpriseRecord {
        kind: SurpriseRecordKind::Deleted,
        path: "/home/dev/shop/notes.md".to_owned(),
        predicted: "no change".to_owned(),
    };
    record.verification = Some(Box::new(VerificationRecord {
        looked: Looked::Whole,
        surprises: if points > 0 { vec![surprise] } else { Vec::new() },
        doubt: Some(DoubtRecord { points, ceiling }),
        ..VerificationRecord::default()
    }));
    RecordBody::Outcome(record)
}

pub fn halted(reason: &str) -> RecordBody {
    RecordBody::Halted { scope: HaltScope::Session, reason: reason.to_owned(), by: "person".to_owned() }
}

/// Appends `count` small records, one at a time.
pub fn fill(ledger: &SessionLedger, count: u64) {
    for number in 1..=count {
        ledger.append(Timestamp(number), prompt(&format!("goal {number}")), Durability::Plain).unwrap();
    }
}

/// Takes both files of the state away.
pub fn forget_state(ledger: &SessionLedger) {
    for name in STATE_FILES {
        let path = ledger.directory().join(name);
        assert!(!path.exists() || std::fs::remove_file(path).is_ok());
    }
}

/// The names of the files that keep the state.
pub const STATE_FILES: [&str; 2] = ["state", "state.twin"];
