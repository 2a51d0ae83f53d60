//! How an intervention is written down and read again. Both move what they are given.

use checkrein_protocol::{InterventionRecord, RollbackWish, ThrottleRecord};

use crate::controller::Intervention;
use crate::rollback::Rollback;
use crate::throttle::Throttle;

impl From<Intervention> for InterventionRecord {
    fn from(made: Intervention) -> Self {
        let Intervention { kind, pattern, severity, score, signal, action, reason, text, throttle, rollback } =
            made;
        Self {
            kind,
            pattern,
            severity,
            score,
            signal,
            action,
            reason,
            text,
            throttle: throttle.map(Into::into),
            rollback: rollback.map(Into::into),
        }
    }
}

impl From<InterventionRecord> for Intervention {
    fn from(record: InterventionRecord) -> Self {
        let InterventionRecord {
            kind,
            pattern,
            severity,
            score,
            signal,
            action,
            reason,
            text,
            throttle,
            rollback,
        } = record;
        Self {
            kind,
            pattern,
            severity,
            score,
            signal,
            action,
            reason,
            text,
            throttle: throttle.map(Into::into),
            rollback: rollback.map(Into::into),
        }
    }
}

impl From<Throttle> for ThrottleRecord {
    fn from(Throttle { factor, since, left, refused }: Throttle) -> Self {
        Self { factor, since, left, refused }
    }
}

impl From<ThrottleRecord> for Throttle {
    fn from(ThrottleRecord { factor, since, left, refused }: ThrottleRecord) -> Self {
        Self { factor, since, left, refused }
    }
}

impl From<Rollback> for RollbackWish {
    fn from(Rollback { before, depth, consent }: Rollback) -> Self {
        Self { before, depth, consent }
    }
}

impl From<RollbackWish> for Rollback {
    fn from(RollbackWish { before, depth, consent }: RollbackWish) -> Self {
        Self { before, depth, consent }
    }
}
