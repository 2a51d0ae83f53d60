//! What records and times are in words, the same in every command.

use checkrein_engine::text::counted;
pub use checkrein_engine::text::{call, time};
use checkrein_protocol::{
    Judgement, ObservedExtent, Severity, SurpriseRecord, SurpriseRecordKind, VerificationRecord,
};

/// The time of the day of a moment, in UTC.
pub fn clock(milliseconds: u64) -> String {
    time(milliseconds).split(' ').nth(1).unwrap_or_default().to_owned()
}

/// How long ago a moment was, both in milliseconds since 1970, in one unit.
pub fn age(then: u64, now: u64) -> String {
    let seconds = now.saturating_sub(then) / 1000;
    let (count, unit) = match seconds {
        0..60 => return "just now".to_owned(),
        60..3_600 => (seconds / 60, "minute"),
        3_600..86_400 => (seconds / 3_600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    format!("{count} {unit}{} ago", if count == 1 { "" } else { "s" })
}

/// How long something took, from milliseconds.
pub fn duration(milliseconds: u64) -> String {
    match milliseconds {
        0..1_000 => format!("{milliseconds} ms"),
        1_000..60_000 => format!("{}.{} s", milliseconds / 1_000, milliseconds % 1_000 / 100),
        _ => format!("{} min {} s", milliseconds / 60_000, milliseconds % 60_000 / 1_000),
    }
}

/// A severity in one word.
pub fn severity_name(severity: Severity) -> &'static str {
    match severity {
        Severity::Low => "low",
        Severity::Medium => "medium",
        Severity::High => "high",
        Severity::Critical => "critical",
    }
}

/// A judgement in words, as it is given.
pub fn judgement_words(judgement: Judgement) -> &'static str {
    match judgement {
        Judgement::Confirmed => "confirmed",
        Judgement::FalseAlarm => "false-alarm",
        Judgement::Missed => "missed",
    }
}

/// The surprises of an outcome in one line; `None` when there are none.
pub fn surprises_in_one_line(verification: &VerificationRecord) -> Option<String> {
    let first = verification.surprises.first()?;
    let count = verification.surprises.len() as u64 + verification.more_surprises;
    let more = if count > 1 { format!(", and {} more", count - 1) } else { String::new() };
    Some(format!("surprise: {}{more}", seen_in_words(first)))
}

/// One surprise: what was seen and what had been predicted.
pub fn surprise_in_words(surprise: &SurpriseRecord) -> String {
    format!("{}; it was predicted {}", seen_in_words(surprise), predicted_in_words(surprise))
}

/// So many files and folders, in words.
pub fn files_and_folders(count: u64) -> String {
    counted(count, "file or folder").replace("file or folders", "files and folders")
}

/// How much was looked at.
pub fn looked_in_words(verification: &VerificationRecord) -> String {
    let expected = match verification.expected {
        0 => String::new(),
        1 => ", 1 predicted change seen".to_owned(),
        count => format!(", {count} predicted changes seen"),
    };
    match verification.looked {
        ObservedExtent::Whole => {
            let all = if verification.left_out.is_empty() { "all " } else { "" };
            format!("looked at {all}{}{expected}", files_and_folders(verification.entries))
        }
        ObservedExtent::Partly => {
            format!("looked at a part, {}{expected}", files_and_folders(verification.entries))
        }
        ObservedExtent::NotAtAll => "did not look".to_owned(),
        ObservedExtent::Reported => format!("as the client says{expected}"),
    }
}

fn seen_in_words(surprise: &SurpriseRecord) -> String {
    let path = &surprise.path;
    match surprise.kind {
        SurpriseRecordKind::Missing => format!("did not happen at {path}"),
        SurpriseRecordKind::Rearranged => format!("names in {path} came or went"),
        kind @ (SurpriseRecordKind::Created | SurpriseRecordKind::Modified | SurpriseRecordKind::Deleted) => {
            format!("{path} was {kind}")
        }
    }
}

fn predicted_in_words(surprise: &SurpriseRecord) -> &str {
    let words = surprise.predicted.as_str();
    if words == "no change" { "that nothing changes" } else { words }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_in_one_unit() {
        let ago = |seconds: u64| age(0, seconds * 1000);
        assert_eq!(
            [59, 60, 7_199, 86_399, 172_800].map(ago),
            ["just now", "1 minute ago", "1 hour ago", "23 hours ago", "2 days ago"]
        );
        assert_eq!([4, 5_430, 61_000].map(duration), ["4 ms", "5.4 s", "1 min 1 s"]);
    }
}
