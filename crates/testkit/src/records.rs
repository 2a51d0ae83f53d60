//! Records to write into a ledger.

#![expect(clippy::unwrap_used, reason = "they speak for tests")]

use checkrein_protocol::{
    AbsolutePath, ActionId, Decision, Depth, DoubtRecord, Effect, EffectKind, Enforcement, HaltScope,
    ObservedExtent, OutcomeRecord, RecordBody, ReviewRecord, RiskLevel, RiskRecord, SessionId,
    SurpriseRecord, SurpriseRecordKind, Target, ToolName, VerdictKind, VerificationRecord,
};
use serde_json::json;

/// What a user asked for.
pub fn prompt(text: &str) -> RecordBody {
    RecordBody::Prompt { text: text.to_owned() }
}

/// The start of a session.
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

/// A certain effect on a path.
///
/// # Panics
/// Where the path is not absolute.
pub fn file_effect(kind: EffectKind, path: &str, depth: Depth) -> Effect {
    Effect {
        depth,
        cause: "sh".to_owned(),
        ..Effect::new(kind, Target::Path(AbsolutePath::new(path).unwrap()))
    }
}

/// The review of an action; each third kind is flagged.
///
/// # Panics
/// Where no verdict has this name.
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
        scope: None,
        policy: None,
        resources: None,
        further_reasons: Vec::new(),
        mitigations: Vec::new(),
        effects,
        further_file_operations: 0,
        former_texts: Vec::new(),
        secret_marks: Vec::new(),
        terminal_uses: Vec::new(),
        flow_marks: Vec::new(),
        flow: None,
        foreseen: Vec::new(),
        rules: Vec::new(),
        reason: "nothing is lost".to_owned(),
        alternatives: Vec::new(),
        rewrite: None,
        answered: None,
        snapshot: None,
        governance: None,
        beginning: None,
        digest: None,
        code: None,
        unliftable: Vec::new(),
        change: None,
        not_saved: Vec::new(),
        problems: Vec::new(),
        programs: vec!["run".to_owned()],
        kind,
        exact: kind.wrapping_mul(31),
        substance: kind.wrapping_mul(31),
        without_options: kind.wrapping_mul(31),
        elapsed_us: 80,
        mode: Enforcement::Enforce,
    }))
}

/// The outcome of an action.
pub fn outcome(id: &str, failed: bool) -> RecordBody {
    RecordBody::Outcome(OutcomeRecord {
        action_id: ActionId(id.to_owned()),
        tool: ToolName("Bash".to_owned()),
        failed,
        error: failed.then(|| "exit status 1".to_owned()),
        duration_ms: Some(12),
        output_bytes: 3,
        output_hash: "ab".repeat(32),
        masked: Vec::new(),
        planted: None,
        observation: None,
        verification: None,
    })
}

/// An outcome after which something else was seen than predicted.
///
/// # Panics
/// Never.
pub fn surprised(id: &str, points: i32, ceiling: u32) -> RecordBody {
    let RecordBody::Outcome(mut record) = outcome(id, false) else { unreachable!() };
    let surprise = SurpriseRecord {
        kind: SurpriseRecordKind::Deleted,
        path: "/home/dev/shop/notes.md".to_owned(),
        predicted: "no change".to_owned(),
    };
    record.verification = Some(Box::new(VerificationRecord {
        looked: ObservedExtent::Whole,
        surprises: if points > 0 { vec![surprise] } else { Vec::new() },
        doubt: Some(DoubtRecord { points, ceiling }),
        ..VerificationRecord::default()
    }));
    RecordBody::Outcome(record)
}

/// A halt of the session by a user.
pub fn halted(reason: &str) -> RecordBody {
    RecordBody::Halted { scope: HaltScope::Session, reason: reason.to_owned(), by: "person".to_owned() }
}
