//! What the session read from outside, and what private things: marks that stay until a user said yes to what was sent after them.

use checkrein_protocol::{ActionId, FlowMark, FlowRecord, FlowSide, ReviewRecord};
use serde::{Deserialize, Serialize};

use super::SessionState;
use super::bounds::{self, cut};

/// Something that was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowReading {
    /// What, and whose it is.
    pub mark: FlowMark,
    /// The number of the action that read it, from 1.
    pub action: u64,
    /// The action.
    id: ActionId,
    /// Whether a text in it gives an agent orders.
    pub orders: bool,
}

/// The readings that lead to a question when something is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlowReadings<'a> {
    /// What came from outside.
    pub outside: &'a FlowReading,
    /// What is private; `None` where what came from outside gave orders, and nothing private was read.
    pub private: Option<&'a FlowReading>,
}

/// The actions up to which a user settled what was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct SettledReadings {
    pub(super) until: u64,
    /// What it was before the last yes: the record that nobody said it comes behind the end of the call.
    pub(super) before: u64,
}

impl FlowReading {
    /// What an action reads.
    pub(super) fn of(review: &ReviewRecord, action: u64) -> Vec<Self> {
        if review.action_id.as_str().len() > bounds::TEXT_BYTES {
            return Vec::new();
        }
        let marks = review.flow_marks.iter().take(2 * bounds::FLOW_READINGS);
        let kept = marks.map(|mark| Self {
            mark: FlowMark { origin: mark.origin, source: cut(&mark.source, bounds::TEXT_BYTES).to_owned() },
            action,
            id: review.action_id.clone(),
            orders: false,
        });
        kept.collect()
    }
}

impl FlowReadings<'_> {
    /// The numbers of the actions, as they are written down.
    pub fn record(&self) -> FlowRecord {
        FlowRecord { outside: self.outside.action, private: self.private.map(|reading| reading.action) }
    }
}

impl SessionState {
    /// What was read that leads to a question when something is sent: something from outside and something private, the newest of each,
    /// or something from outside that gives orders. What a user settled by a yes is left out.
    pub fn flow_readings(&self) -> Option<FlowReadings<'_>> {
        let open = || self.flow.iter().rev().filter(|reading| reading.action > self.settled.until);
        let newest = |side: FlowSide| open().find(|reading| reading.mark.origin.side() == side);
        let private = newest(FlowSide::Private);
        let outside = open().find(|reading| reading.orders).or_else(|| newest(FlowSide::Outside))?;
        (outside.orders || private.is_some()).then_some(FlowReadings { outside, private })
    }

    /// What an action read from outside, whether it is known to have run yet or not.
    pub fn read_from_outside(&self, id: &ActionId) -> Option<&FlowMark> {
        let awaited =
            self.recent.iter().filter_map(|action| action.awaited.as_ref()).flat_map(|awaited| &awaited.flow);
        let mut all = self.flow.iter().chain(awaited);
        let is_outside =
            |reading: &&FlowReading| reading.id == *id && reading.mark.origin.side() == FlowSide::Outside;
        all.find(is_outside).map(|reading| &reading.mark)
    }

    pub(super) fn take_reading(&mut self, reading: FlowReading) {
        // Orders that were found once stay known as long as there is room.
        self.flow.retain(|known| known.orders || known.mark != reading.mark);
        let side = reading.mark.origin.side();
        let of_side = |known: &FlowReading| known.mark.origin.side() == side;
        if self.flow.iter().filter(|known| of_side(known)).count() >= bounds::FLOW_READINGS {
            let oldest = self.flow.iter().position(|known| of_side(known) && !known.orders);
            oldest.or_else(|| self.flow.iter().position(of_side)).map(|oldest| self.flow.remove(oldest));
        }
        self.flow.push_back(reading);
    }

    /// A text that an action showed gives an agent orders.
    pub(super) fn take_orders(&mut self, id: &ActionId) {
        let mut read = self.flow.iter_mut();
        if let Some(reading) =
            read.find(|reading| reading.id == *id && reading.mark.origin.side() == FlowSide::Outside)
        {
            reading.orders = true;
        }
    }
}
