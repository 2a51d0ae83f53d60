//! How long a call may wait for an answer.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The time that a client gives its hook, of which a part may be waited.
#[derive(Debug)]
pub struct Patience {
    since: Instant,
    limit: Duration,
    reserved: AtomicU64,
}

impl Patience {
    /// Until `limit` after `since`, waiting must be over; what is left to do then must still fit into the time of the client.
    pub fn new(since: Instant, limit: Duration) -> Self {
        Self { since, limit, reserved: AtomicU64::new(0) }
    }

    /// How long may be waited from now on: at most `wanted`. Whoever looks after the deadline of the work adds it.
    pub(crate) fn reserve(&self, wanted: Duration) -> Duration {
        let granted = self.limit.saturating_sub(self.since.elapsed()).min(wanted);
        let milliseconds = u64::try_from(granted.as_millis()).unwrap_or(u64::MAX);
        self.reserved.fetch_add(milliseconds, Ordering::AcqRel);
        granted
    }

    /// How long work that began at `begun` may take: `work`, and the time that was set aside for waiting. Where there was such a time, it
    /// ends at most `rest` after the last moment at which anybody may wait.
    pub fn extended(&self, work: Duration, rest: Duration, begun: Instant) -> Duration {
        let reserved = self.reserved();
        if reserved.is_zero() {
            return work;
        }
        let latest = (self.since + self.limit + rest).saturating_duration_since(begun);
        (work + reserved).min(latest)
    }

    /// The time that was set aside for waiting.
    fn reserved(&self) -> Duration {
        Duration::from_millis(self.reserved.load(Ordering::Acquire))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_waits_longer_than_the_client_and_than_they_want() {
        let now = Instant::now();
        let patience = Patience::new(now, Duration::from_secs(20));
        let granted = patience.reserve(Duration::from_mins(10));
        assert!(granted <= Duration::from_secs(20) && granted > Duration::from_secs(18), "{granted:?}");
        assert!(patience.reserved() <= granted && patience.reserved() > Duration::from_secs(18));
        let (work, rest) = (Duration::from_secs(10), Duration::from_secs(7));
        assert!(patience.extended(work, rest, now) <= Duration::from_secs(27));
        let patience = Patience::new(now, Duration::from_secs(20));
        assert_eq!(patience.extended(work, rest, now), work, "nobody waits");
        assert_eq!(patience.reserve(Duration::from_secs(3)), Duration::from_secs(3));
        assert_eq!(Patience::new(now, Duration::ZERO).reserve(Duration::from_secs(3)), Duration::ZERO);
    }
}
