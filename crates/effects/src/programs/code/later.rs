//! Functions that code hands over to be called later: when its statements are through, after a time, when it ends. They see what the
//! variables hold by then.

use super::evaluator::{Body, Evaluator, Given};
use super::value::ScriptValue;
use crate::interpreter::Value;
use checkrein_scripts::Language;

/// The greatest number of functions that wait (ours).
const WAITING: usize = 256;

/// When a function is called that waits, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Moment {
    /// When the statements are through.
    Soon,
    /// After a time, in milliseconds.
    Timed(i64),
    /// When the program ends.
    AtEnd,
}

/// A function that waits to be called.
#[derive(Debug, Clone)]
pub(super) struct Waiting {
    function: ScriptValue,
    given: Given,
    moment: Moment,
    is_doubtful: bool,
    /// What it saw when it was called at once: it is called again only where it sees something else by then.
    saw: Option<Vec<(String, Option<ScriptValue>)>>,
}

impl Evaluator<'_, '_, '_> {
    /// Lets a function wait that is given to a call which calls it later; whether there is one.
    pub(super) fn hands_over(&mut self, thing: &ScriptValue, given: &Given) -> bool {
        let ScriptValue::Name(name) = thing else { return false };
        let rest = |from: usize| given.positional.get(from..).unwrap_or_default().to_vec();
        let (place, positional, moment, is_sure) = match (self.language, name.trim_start_matches("timers.")) {
            (Language::JavaScript, "setTimeout" | "setInterval") => {
                let time = given.at(1).exact().and_then(|time| time.parse().ok()).unwrap_or(1);
                (0, rest(2), Moment::Timed(time), true)
            }
            (Language::JavaScript, "setImmediate") => (0, rest(1), Moment::Timed(0), true),
            (Language::JavaScript, "process.nextTick" | "queueMicrotask") => (0, rest(1), Moment::Soon, true),
            (Language::JavaScript, "process.on" | "process.once") => {
                let is_sure = matches!(given.at(0).exact().as_deref(), Some("exit" | "beforeExit"));
                (1, vec![ScriptValue::Text(Value::Unknown)], Moment::AtEnd, is_sure)
            }
            (Language::Python, "atexit.register") | (Language::Php, "register_shutdown_function") => {
                (0, rest(1), Moment::AtEnd, true)
            }
            (Language::Python, "threading.Timer") => {
                let handed = given.named("args").or_else(|| given.positional.get(2));
                (1, handed.map(ScriptValue::items).unwrap_or_default(), Moment::Timed(1), false)
            }
            _ => return false,
        };
        let function = given.positional.get(place).or_else(|| given.named("function")).cloned();
        let Some(function @ ScriptValue::Function(_)) = function else { return false };
        let is_python = self.language == Language::Python;
        let named = if is_python && moment == Moment::AtEnd { given.named.clone() } else { Vec::new() };
        self.wait(function, Given { positional, named }, moment, is_sure);
        true
    }

    /// Lets a function wait.
    pub(super) fn wait(&mut self, function: ScriptValue, given: Given, moment: Moment, is_sure: bool) {
        let is_doubtful = self.doubt > 0 || !is_sure;
        self.let_wait(Waiting { function, given, moment, is_doubtful, saw: None });
    }

    /// Remembers a function that was called at once though it may be called later: what it sees may be something else by then.
    pub(super) fn may_wait(&mut self, place: usize, given: &Given) {
        let saw = self.seen_by(place);
        if saw.is_empty() || self.is_ending {
            return;
        }
        let given = given.clone();
        let function = ScriptValue::Function(place);
        self.let_wait(Waiting { function, given, moment: Moment::Soon, is_doubtful: true, saw: Some(saw) });
    }

    fn let_wait(&mut self, waiting: Waiting) {
        if self.waiting.len() >= WAITING {
            self.not_followed("hands over more functions than are followed");
            return;
        }
        self.waiting.push(waiting);
    }

    /// What the names hold that a function takes from around it.
    fn seen_by(&self, place: usize) -> Vec<(String, Option<ScriptValue>)> {
        match self.functions.get(place).map(|function| &function.body) {
            Some(Body::Tree { definition, around, .. }) => {
                self.seen_from(*around, &super::walk::names::mentioned(definition))
            }
            Some(Body::Tokens { .. }) | None => Vec::new(),
        }
    }

    /// Calls the functions that wait, in their order.
    pub(super) fn call_waiting(&mut self) {
        self.is_ending = true;
        let mut called = 0;
        while !self.waiting.is_empty() && called < WAITING && self.step() {
            called += 1;
            // What ends the program was handed over last in Python and Perl.
            let is_backward = matches!(self.language, Language::Python | Language::Perl | Language::Ruby);
            let next = self
                .waiting
                .iter()
                .enumerate()
                .min_by_key(|(place, waiting)| {
                    let place = i64::try_from(*place).unwrap_or(i64::MAX);
                    let turned = is_backward && waiting.moment == Moment::AtEnd;
                    (waiting.moment, if turned { -place } else { place })
                })
                .map(|(place, _)| place);
            let Some(next) = next else { break };
            let waiting = self.waiting.remove(next);
            if let (Some(saw), ScriptValue::Function(place)) = (&waiting.saw, &waiting.function)
                && *saw == self.seen_by(*place)
            {
                continue;
            }
            if waiting.is_doubtful {
                self.perhaps(|follower| follower.call_thing(&waiting.function, &waiting.given));
            } else {
                self.call_thing(&waiting.function, &waiting.given);
            }
        }
        self.is_ending = false;
    }
}
