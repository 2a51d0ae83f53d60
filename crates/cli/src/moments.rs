//! Beginnings of a time, as a user writes them: `2h`, `3 days ago`, `yesterday`, `monday`, `2026-11-28`, `2026-11-28 10:00`. Days and times of
//! day are those of UTC, as everywhere else.

use checkrein_engine::error::CommandError;
use checkrein_protocol::Timestamp;
use jiff::civil::{Date, DateTime, Time, Weekday};
use jiff::tz::TimeZone;
use jiff::{Span, SpanRelativeTo};

use crate::terminal::plain;

/// What may be written.
const FORMS: &str =
    "30m, 2h, 3d, 2w, today, yesterday, monday, 10:00, 2026-11-28 or '2026-11-28 10:00' (UTC)";
/// A minute in milliseconds.
const MINUTE: u64 = 60_000;
/// A day in milliseconds.
const DAY: u64 = 24 * 60 * MINUTE;

/// Since when something is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimeStart {
    /// As it was written.
    text: String,
    start: Start,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Start {
    /// So many milliseconds before now.
    Ago(u64),
    /// The beginning of the day so many days before today.
    Day(u64),
    /// The beginning of the last such day of the week, today included.
    Last(Weekday),
    /// The last time that a clock showed this.
    Clock(Time),
    /// A moment, in milliseconds since 1970.
    At(u64),
}

impl TimeStart {
    /// The moment in milliseconds since 1970. An error when it lies ahead.
    pub fn start(&self, now: Timestamp) -> Result<u64, CommandError> {
        let now = now.0;
        let today = now - now % DAY;
        let start = match self.start {
            Start::Ago(period) => now.saturating_sub(period),
            Start::Day(days) => today.saturating_sub(days.saturating_mul(DAY)),
            Start::Last(weekday) => {
                // The first of January 1970 was a Thursday.
                let days = (today / DAY + 3) % 7;
                let wanted = u64::from(weekday.to_monday_zero_offset().unsigned_abs());
                today.saturating_sub((days + 7 - wanted) % 7 * DAY)
            }
            Start::Clock(time) => {
                let seconds = u64::from(time.hour().unsigned_abs()) * 3600
                    + u64::from(time.minute().unsigned_abs()) * 60
                    + u64::from(time.second().unsigned_abs());
                let at = today + seconds * 1000;
                if at > now { at.saturating_sub(DAY) } else { at }
            }
            Start::At(at) => at,
        };
        if start > now {
            let message = format!("`{}` lies ahead", plain(&self.text));
            return Err(CommandError::user(message, format!("use {FORMS}")));
        }
        Ok(start)
    }

    /// The period in milliseconds, where it is one that ends now.
    pub fn period(&self) -> Option<u64> {
        match self.start {
            Start::Ago(period) => Some(period),
            Start::Day(_) | Start::Last(_) | Start::Clock(_) | Start::At(_) => None,
        }
    }

    /// So many milliseconds ago.
    pub fn ago(period: u64) -> Self {
        Self { text: String::new(), start: Start::Ago(period) }
    }

    /// Reads what a user wrote; an error in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let lower = text.trim().to_ascii_lowercase();
        let start = named(&lower)
            .or_else(|| date(&lower))
            .or_else(|| lower.parse::<Time>().ok().map(Start::Clock))
            .or_else(|| ago(&lower).map(Start::Ago))
            .ok_or_else(|| format!("use {FORMS}"))?;
        Ok(Self { text: text.to_owned(), start })
    }
}

fn named(text: &str) -> Option<Start> {
    let weekday = |weekday| Some(Start::Last(weekday));
    match text {
        "today" => Some(Start::Day(0)),
        "yesterday" => Some(Start::Day(1)),
        "monday" | "mon" => weekday(Weekday::Monday),
        "tuesday" | "tue" => weekday(Weekday::Tuesday),
        "wednesday" | "wed" => weekday(Weekday::Wednesday),
        "thursday" | "thu" => weekday(Weekday::Thursday),
        "friday" | "fri" => weekday(Weekday::Friday),
        "saturday" | "sat" => weekday(Weekday::Saturday),
        "sunday" | "sun" => weekday(Weekday::Sunday),
        _ => None,
    }
}

fn date(text: &str) -> Option<Start> {
    let moment = text.to_ascii_uppercase();
    if !moment.starts_with(|first: char| first.is_ascii_digit()) || !moment.contains('-') {
        return None;
    }
    let zoned = moment.parse::<jiff::Timestamp>().ok();
    let local = || moment.parse::<DateTime>().ok().or_else(|| Some(moment.parse::<Date>().ok()?.into()));
    let at = zoned.or_else(|| Some(local()?.to_zoned(TimeZone::UTC).ok()?.timestamp()))?;
    u64::try_from(at.as_millisecond()).ok().map(Start::At)
}

/// A period of parts such as `2h`, `2h30m`, `3 days`, with or without `ago`; a day has 24 hours.
fn ago(text: &str) -> Option<u64> {
    let span =
        text.parse::<Span>().ok().filter(|_| text.starts_with(|first: char| first.is_ascii_digit()))?;
    let duration = span.to_duration(SpanRelativeTo::days_are_24_hours()).ok()?;
    u64::try_from(duration.unsigned_abs().as_millis()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sunday, 29 November 2026, 09:30 UTC.
    const NOW: u64 = 1_795_944_600_000;

    fn started(text: &str) -> u64 {
        TimeStart::parse(text).unwrap().start(Timestamp(NOW)).unwrap()
    }

    #[test]
    fn periods_days_and_dates_are_read() {
        let hour = 60 * MINUTE;
        let midnight = NOW - 9 * hour - 30 * MINUTE;
        for (text, expected) in [
            ("2h", NOW - 2 * hour),
            ("2h30m", NOW - 150 * MINUTE),
            ("90s", NOW - 90_000),
            ("3 days ago", NOW - 3 * DAY),
            ("1w", NOW - 7 * DAY),
            (" Today ", midnight),
            ("yesterday", midnight - DAY),
            ("sunday", midnight),
            ("monday", midnight - 6 * DAY),
            ("sat", midnight - DAY),
            ("2026-11-28", midnight - DAY),
            ("2026-11-28 10:00", midnight - DAY + 10 * hour),
            ("2026-11-28T10:00:00", midnight - DAY + 10 * hour),
            ("2026-11-28T10:00:00Z", midnight - DAY + 10 * hour),
            ("2026-11-28t10:00:00+02:00", midnight - DAY + 8 * hour),
            ("08:00", midnight + 8 * hour),
            ("23:00", midnight - hour),
        ] {
            assert_eq!(started(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_time_is_refused_with_what_may_be_written() {
        for text in [
            "",
            "nonsense",
            "ago",
            "2",
            "2x",
            "-1h",
            "h",
            "2026-13-01",
            "2026-11-31",
            "25:00",
            "99999999999999999999d",
        ] {
            let error = TimeStart::parse(text).unwrap_err();
            assert!(error.contains("yesterday"), "{text}: {error}");
        }
        let ahead = TimeStart::parse("2026-11-30").unwrap().start(Timestamp(NOW)).unwrap_err();
        assert_eq!(ahead.message, "`2026-11-30` lies ahead");
    }
}
