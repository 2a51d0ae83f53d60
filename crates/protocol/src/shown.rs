//! Words are shown as they are written on the wire.

use std::fmt;

use crate::decision::Decision;
use crate::levels::{Enforcement, Posture, RationalityLevel, RiskLevel, TierLevel};
use crate::record::SurpriseRecordKind;
use crate::verdict::VerdictKind;

macro_rules! shown_by_name {
    ($($word:ty),+ $(,)?) => {
        $(impl fmt::Display for $word {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.pad(self.name())
            }
        })+
    };
}

shown_by_name!(
    Decision,
    Enforcement,
    Posture,
    RationalityLevel,
    RiskLevel,
    SurpriseRecordKind,
    TierLevel,
    VerdictKind,
);
