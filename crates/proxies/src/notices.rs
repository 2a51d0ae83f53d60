//! What the agent tells of its own calls: reviewed as soon as enough of them is known, and looked at when they have ended.

use checkrein_clients::says_twice;
use checkrein_engine::clock::{Clock as _, SystemClock};
use checkrein_engine::fail_closed::Failure;
use checkrein_protocol::{Action, SuccessReporting};
use serde_json::Value as Json;

use crate::desk::{Desk, Ended, REVIEWED, first_line, named, text};
use crate::message::{Message, strict};
use crate::reviewer::Ruling;
use crate::scan;
use crate::state::{Named, Permission};

/// How often a call is reviewed by what is told of it while it is still being told (ours).
const REVIEWS: usize = 4;

/// The kinds of calls that change no file (Agent Client Protocol, version 1, "Tool Calls").
const CHANGES_NOTHING: [&str; 5] = ["read", "search", "fetch", "think", "switch_mode"];

impl Desk {
    /// What the agent tells of one of its calls.
    pub(crate) fn notice(&mut self, message: &Message<'_>, length: usize) {
        let params = message.params.and_then(scan::fields).unwrap_or_default();
        let Some(told) = scan::last(&params, "update") else { return };
        let update = scan::fields(told).unwrap_or_default();
        let kind = scan::text(&update, "sessionUpdate");
        if kind.as_deref() == Some("current_mode_update") {
            let session = scan::text(&params, "sessionId");
            if let Some(session) = session
                && let Some(known) = self.state().known(&session)
            {
                known.may_ask_no_more();
            }
            return;
        }
        if !matches!(kind.as_deref(), Some("tool_call" | "tool_call_update")) {
            return;
        }
        let (Some(session), Some(call)) =
            (scan::text(&params, "sessionId"), scan::text(&update, "toolCallId"))
        else {
            return;
        };
        if self.state().known(&session).is_some_and(|session| session.is_replayed) {
            return;
        }
        let status = scan::text(&update, "status").unwrap_or_default();
        if length <= REVIEWED && message.params.is_some_and(says_twice) {
            self.twofold(&session, &call, &status, length);
            return;
        }
        let read = (length <= REVIEWED).then(|| strict(told)).flatten();
        if read.is_none() {
            let what = if length > REVIEWED { "longer than 12 MiB" } else { "not JSON" };
            self.shared.say(&format!(
                "checkrein: what the agent tells of call `{call}` is {what} and was not looked at"
            ));
        }
        let ends = ["completed", "failed"].contains(&status.as_ref());
        let due = {
            let mut state = self.state();
            let session = state.session(&session);
            let cwd = session.cwd.clone();
            let open = session.call(&call, length, SystemClock.now());
            // What is shown at the end is what came of it.
            if let Some(told) = read.as_ref().filter(|_| !ends || open.reviewed.is_none()) {
                open.told.take_up(&call, told);
            }
            let actions = open.told.actions(&cwd).filter(|actions| !actions.is_empty());
            let is_new = |actions: &Vec<Action>| match &open.reviewed {
                Some((reviewed, _)) => {
                    !open.is_twofold
                        && open.reviews < REVIEWS
                        && !reviewed.iter().map(|named| &named.action).eq(actions)
                }
                None => true,
            };
            // The agent asks nobody as far as is known, so the call may have begun.
            let start = Some(open.start).filter(|_| open.permission == Permission::NotAsked);
            actions
                .filter(|actions| status != "failed" && is_new(actions))
                .map(|actions| (cwd, start, actions))
        };
        let told = due.and_then(|(cwd, start, actions)| {
            let named = named(&call, actions);
            let (ruling, told) = self.review_since(start, &session, (&cwd, "tool_call"), &named);
            self.keep(&session, &call, named, ruling);
            told
        });
        if self.step_in(&session, &call, &status, told.as_deref()) {
            self.shared.is_told_of(&session, &call);
        } else if let Some(told) = told {
            self.remark(&session, &told);
            self.shared.is_told_of(&session, &call);
        }
        if ends {
            self.call_ended(&session, &call, &status, read.as_ref());
        }
    }

    /// What the agent tells of a call says something twice: which of it ran, nobody knows, so it counts as a call that is refused.
    fn twofold(&mut self, session: &str, call: &str, status: &str, length: usize) {
        let what = format!(
            "what the agent tells of call `{call}` says something twice, and which of it counts is not known"
        );
        let ruling = Ruling::Refused(Failure::Payload(what).reason());
        {
            let mut state = self.state();
            let open = state.session(session).call(call, length, SystemClock.now());
            open.is_twofold = true;
            open.reviewed = Some((Vec::new(), ruling));
        }
        self.step_in(session, call, status, None);
        if ["completed", "failed"].contains(&status) {
            self.call_ended(session, call, status, None);
        }
    }

    /// Keeps what came of the review of a call.
    pub(crate) fn keep(&self, session: &str, call: &str, named: Vec<Named>, ruling: Ruling) {
        let mut state = self.state();
        if let Some(open) = state.session(session).known_call(call) {
            open.reviews += 1;
            open.reviewed = Some((named, ruling));
        }
    }

    /// Ends the turn where a call runs that must not, and that nobody is going to be asked about; whether it did, and said so.
    fn step_in(&self, session: &str, call: &str, status: &str, told: Option<&str>) -> bool {
        let found = {
            let mut state = self.state();
            let session = state.session(session);
            let asks = session.asks.clone();
            session.known_call(call).and_then(|open| {
                let (_, ruling) = open.reviewed.as_ref()?;
                // What was allowed passed, so what is refused by now is something else. A call that was refused may still be told of as ended.
                let runs = match open.permission {
                    Permission::NotAsked | Permission::Granted => {
                        matches!(status, "in_progress" | "completed")
                    }
                    Permission::Denied => status == "in_progress",
                    Permission::Waiting => false,
                };
                let is_asked_about = open.permission == Permission::NotAsked
                    && asks.contains(&open.told.kind)
                    && status != "completed";
                match ruling {
                    Ruling::Stopped(reason) => Some(reason.clone()),
                    Ruling::Refused(reason) if runs && !is_asked_about => {
                        let what = told.unwrap_or_else(|| first_line(reason));
                        let how = match open.permission {
                            Permission::NotAsked | Permission::Waiting => "without asking",
                            Permission::Granted => "in the place of what was allowed",
                            Permission::Denied => "after a no",
                        };
                        Some(format!("{what}\nThe agent began it {how}, so its turn is cancelled."))
                    }
                    Ruling::Refused(_) | Ruling::Asked(_) | Ruling::Passed => None,
                }
            })
        };
        found.is_some_and(|reason| self.shared.cancel(session, &reason))
    }

    fn call_ended(&mut self, session: &str, call: &str, status: &str, told: Option<&Json>) {
        let ended = self.state().session(session).end_call(call);
        let Some((named, ruling)) = ended.as_ref().and_then(|open| open.reviewed.clone()) else { return };
        let Some(open) = ended else { return };
        let is_kept = open.permission == Permission::Denied || ruling.strictness() > 1;
        // A call that was refused has no outcome; one that ran all the same has.
        if status == "failed" && is_kept {
            return;
        }
        let output = told.map(output).unwrap_or_default();
        let code = told.and_then(exit_code);
        let error = match (status, code) {
            ("failed", _) => Some(if output.is_empty() { "failed".to_owned() } else { output.clone() }),
            (_, Some(code)) if code != 0 => Some(format!("Exit code {code}")),
            _ => None,
        };
        let success = if code.is_some() { SuccessReporting::Told } else { SuccessReporting::NotTold };
        self.outcome(
            session,
            "tool_call_update",
            &named,
            &Ended { error, success, output, since: open.since },
        );
        if !CHANGES_NOTHING.contains(&open.told.kind.as_str()) {
            self.keep_workspace(session);
        }
        if let (Ruling::Asked(reason), Permission::NotAsked) = (&ruling, open.permission) {
            let reason = first_line(reason).trim_start_matches("checkrein asks you first: ");
            let text = format!(
                "checkrein would have asked you about `{}`, but the agent ran it without asking: {reason}",
                first_line(&open.told.title)
            );
            self.remark(session, &text);
        }
    }
}

/// What a call answered, as text.
fn output(update: &Json) -> String {
    let shown = update.get("content").and_then(Json::as_array).map(Vec::as_slice).unwrap_or_default();
    let texts: Vec<&str> = shown.iter().filter_map(|one| one.get("content")?.get("text")?.as_str()).collect();
    if !texts.is_empty() {
        return texts.join("\n");
    }
    match update.get("rawOutput") {
        None | Some(Json::Null) => String::new(),
        Some(Json::String(text)) => text.clone(),
        Some(other) => {
            let fields = ["output", "stdout", "text", "content"];
            fields.iter().find_map(|name| text(other, name)).map_or_else(|| other.to_string(), str::to_owned)
        }
    }
}

/// The exit code of a command, where the agent tells it.
fn exit_code(update: &Json) -> Option<i64> {
    let raw = update.get("rawOutput")?;
    let of =
        |value: &Json| ["exitCode", "exit_code", "exit"].iter().find_map(|name| value.get(*name)?.as_i64());
    of(raw)
        .or_else(|| of(raw.get("metadata")?))
        .or_else(|| raw.get("contents")?.as_array()?.iter().find_map(of))
}
