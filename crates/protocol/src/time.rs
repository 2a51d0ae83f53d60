//! Time as records tell it, and the calendar.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Milliseconds since 1970-01-01 UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(pub u64);

/// A moment by the calendar (Gregorian, UTC), to the second. As text: `2026-11-22 18:05:09`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CalendarTime {
    /// From 1970 on.
    pub year: u64,
    /// 1 to 12.
    pub month: u64,
    /// 1 to 31.
    pub day: u64,
    /// 0 to 23.
    pub hour: u64,
    /// 0 to 59.
    pub minute: u64,
    /// 0 to 59.
    pub second: u64,
}

const SECONDS_OF_DAY: u64 = 86_400;

/// The days from 0000-03-01 to 1970-01-01: years are counted from March, so that the day that comes and goes is their last.
const DAYS_TO_1970: u64 = 719_468;

/// The days of 400 years, after which the calendar repeats itself.
const DAYS_OF_ERA: u64 = 146_097;

impl Timestamp {
    /// When that is by the calendar (Howard Hinnant, `civil_from_days`).
    pub fn calendar(self) -> CalendarTime {
        let seconds = self.0 / 1_000;
        let days = seconds / SECONDS_OF_DAY + DAYS_TO_1970;
        let (era, of_era) = (days / DAYS_OF_ERA, days % DAYS_OF_ERA);
        let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year + year / 4 - year / 100);
        let month = (5 * of_year + 2) / 153;
        let day = of_year - (153 * month + 2) / 5 + 1;
        let (month, next_year) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
        let clock = seconds % SECONDS_OF_DAY;
        CalendarTime {
            year: era * 400 + year + next_year,
            month,
            day,
            hour: clock / 3_600,
            minute: clock / 60 % 60,
            second: clock % 60,
        }
    }

    /// Reads a moment as others write it (RFC 3339): `2026-11-22T18:05:09.123Z`, with `+01:00` instead of `Z` too. What is below a
    /// millisecond is left out. `None` for what is no moment, has no offset, or was before 1970.
    pub fn from_rfc3339(text: &str) -> Option<Self> {
        let (date, rest) = text.split_at_checked(10)?;
        let (year, month, day) = match date.as_bytes() {
            [year @ .., b'-', month1, month2, b'-', day1, day2] => {
                (number(year)?, number(&[*month1, *month2])?, number(&[*day1, *day2])?)
            }
            _ => return None,
        };
        let rest = rest.strip_prefix(['T', 't', ' '])?;
        let (clock, rest) = rest.split_at_checked(8)?;
        let (hour, minute, second) = match clock.as_bytes() {
            [hour1, hour2, b':', minute1, minute2, b':', second1, second2] => {
                (number(&[*hour1, *hour2])?, number(&[*minute1, *minute2])?, number(&[*second1, *second2])?)
            }
            _ => return None,
        };
        let is_moment = (1..=12).contains(&month)
            && (1..=days_of_month(year, month)).contains(&day)
            && hour < 24
            && minute < 60
            && second <= 60;
        if !is_moment {
            return None;
        }
        let (milliseconds, offset) = match rest.strip_prefix(['.', ',']) {
            Some(rest) => {
                let end = rest.find(|c: char| !c.is_ascii_digit()).filter(|end| *end > 0)?;
                let (digits, offset) = rest.split_at_checked(end)?;
                let thousandths: String = digits.chars().chain("00".chars()).take(3).collect();
                (number(thousandths.as_bytes())?, offset)
            }
            None => (0, rest),
        };
        // A leap second is the last one of its minute once more.
        let clock = hour * 3_600 + minute * 60 + second.min(59);
        let seconds = days_of_date(year, month, day)? * SECONDS_OF_DAY + clock;
        let (ahead, behind) = offset_seconds(offset)?;
        let since_1970 = (seconds + behind).checked_sub(ahead + DAYS_TO_1970 * SECONDS_OF_DAY)?;
        Some(Self(since_1970 * 1_000 + milliseconds))
    }
}

/// The days from 0000-03-01 to a day (Howard Hinnant, `days_from_civil`); `None` for an earlier one.
fn days_of_date(year: u64, month: u64, day: u64) -> Option<u64> {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year.checked_sub(1)?, month + 9) };
    let (era, of_era) = (year / 400, year % 400);
    let of_year = (153 * month + 2) / 5 + day - 1;
    Some(era * DAYS_OF_ERA + of_era * 365 + of_era / 4 - of_era / 100 + of_year)
}

fn days_of_month(year: u64, month: u64) -> u64 {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// How many seconds the clocks of an offset are ahead of UTC, and how many behind: one of them is 0.
fn offset_seconds(offset: &str) -> Option<(u64, u64)> {
    let (is_ahead, digits) = match offset.as_bytes() {
        [b'Z' | b'z'] => return Some((0, 0)),
        [b'+', digits @ ..] => (true, digits),
        [b'-', digits @ ..] => (false, digits),
        _ => return None,
    };
    let (hours, minutes) = match digits {
        [hour1, hour2] => (number(&[*hour1, *hour2])?, 0),
        [hour1, hour2, minute1, minute2] | [hour1, hour2, b':', minute1, minute2] => {
            (number(&[*hour1, *hour2])?, number(&[*minute1, *minute2])?)
        }
        _ => return None,
    };
    let seconds = (hours < 26 && minutes < 60).then_some(hours * 3_600 + minutes * 60)?;
    Some(if is_ahead { (seconds, 0) } else { (0, seconds) })
}

/// The number that these digits write.
fn number(digits: &[u8]) -> Option<u64> {
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    is_number.then(|| digits.iter().fold(0, |number, digit| number * 10 + u64::from(digit - b'0')))
}

impl CalendarTime {
    /// As others read it (RFC 3339): `2026-11-22T18:05:09Z`.
    pub fn to_rfc3339(self) -> String {
        let Self { year, month, day, hour, minute, second } = self;
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }

    /// As part of a name, which sorts by time: `20261122-180509`.
    pub fn to_name(self) -> String {
        let Self { year, month, day, hour, minute, second } = self;
        format!("{year:04}{month:02}{day:02}-{hour:02}{minute:02}{second:02}")
    }
}

impl fmt::Display for CalendarTime {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { year, month, day, hour, minute, second } = self;
        write!(formatter, "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Moments all over the years to 9999, the same in every run.
    fn moments() -> impl Iterator<Item = u64> {
        let spread = (0..20_000_u64).map(|step| step * 12_670_104_357 + step * step % 86_400_000);
        let edges = [0, 951_782_399_999, 951_782_400_000, 4_107_542_400_000, 1_709_164_800_000];
        spread.take_while(|moment| *moment < 253_402_000_000_000).chain(edges)
    }

    #[test]
    fn moments_are_written_and_read_as_jiff_has_them() {
        for moment in moments() {
            let theirs = jiff::Timestamp::from_millisecond(i64::try_from(moment).unwrap()).unwrap();
            let ours = Timestamp(moment).calendar();
            assert_eq!(ours.to_string(), theirs.strftime("%Y-%m-%d %H:%M:%S").to_string());
            assert_eq!(ours.to_rfc3339(), theirs.strftime("%FT%TZ").to_string());
            assert_eq!(ours.to_name(), theirs.strftime("%Y%m%d-%H%M%S").to_string());
            assert_eq!(Timestamp::from_rfc3339(&theirs.to_string()), Some(Timestamp(moment)), "{theirs}");
        }
    }

    #[test]
    fn forms_are_read_or_not_as_jiff_does() {
        for text in [
            "2026-11-22T18:05:09Z",
            "2026-11-22t18:05:09z",
            "2026-11-22 18:05:09.5+01:00",
            "2026-11-22T18:05:09.123456789-0330",
            "2026-11-22T18:05:09+02",
            "2024-02-29T00:00:00Z",
            "2023-02-29T00:00:00Z",
            "1900-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-00-01T00:00:00Z",
            "2026-04-31T00:00:00Z",
            "2026-11-22T24:00:00Z",
            "2026-11-22T18:60:00Z",
            "2016-12-31T23:59:60Z",
            "2026-11-22T18:05:09",
            "2026-11-22T18:05:09.Z",
            "2026-11-22T18:05:09Zx",
            "2026-11-22T18:05:09+1:00",
            "1970-01-01T00:30:00+01:00",
            "1969-12-31T23:30:00-01:00",
            "1969-12-31T23:59:59Z",
            "é026-11-22T18:05:09Z",
            "",
        ] {
            let theirs = text
                .parse::<jiff::Timestamp>()
                .ok()
                .and_then(|moment| u64::try_from(moment.as_millisecond()).ok());
            assert_eq!(Timestamp::from_rfc3339(text).map(|moment| moment.0), theirs, "{text}");
        }
    }
}
