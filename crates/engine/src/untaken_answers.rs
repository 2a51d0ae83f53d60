//! Answers that a client cannot take. What its row of the table makes of such an answer is a refusal, and the record has to say so: else the
//! call counts as one that ran in a safer form, and nobody can allow it.

use checkrein_clients::ClientAdapter;
use checkrein_facts::HostPaths;
use checkrein_policy::Config;
use checkrein_protocol::{Action, HookEvent, HookResponse};
use checkrein_review::Review;

use crate::answering::reply;
use crate::context::Context;

/// What stands around an answer on its way to the client.
pub(crate) struct Door<'a> {
    pub(crate) event: &'a HookEvent,
    pub(crate) action: &'a Action,
    pub(crate) place: &'a HostPaths,
    pub(crate) config: &'a Config,
    /// Why the session is halted, when it is.
    pub(crate) halted: Option<&'a str>,
}

/// What a client, by its title, cannot take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UntakenAnswer {
    /// A call in another form than the agent made it.
    ChangedCall(&'static str),
    /// A question about a call.
    Question(&'static str),
}

impl UntakenAnswer {
    /// Returns what the record says that the agent was told.
    pub(crate) fn in_the_record(&self) -> String {
        match self {
            Self::ChangedCall(title) => {
                format!("refused: {title} lets no hook change a call; the agent was told the safer one")
            }
            Self::Question(title) => format!("refused: {title} puts no question about such a call"),
        }
    }
}

impl Door<'_> {
    /// Returns what of the answer to a review the client cannot take, so that it hears a refusal; `None` where it takes the answer.
    pub(crate) fn refuses(&self, context: &Context, review: &Review) -> Option<UntakenAnswer> {
        let answer = reply(review, self.action, self.place, self.config, self.halted);
        self.refusal_of(context.environment().client, &answer)
    }

    fn refusal_of(&self, client: &ClientAdapter, answer: &HookResponse) -> Option<UntakenAnswer> {
        let what = match answer {
            HookResponse::Rewrite { .. } => UntakenAnswer::ChangedCall(client.title),
            HookResponse::Ask { .. } => UntakenAnswer::Question(client.title),
            HookResponse::NoOpinion
            | HookResponse::Allow { .. }
            | HookResponse::Context { .. }
            | HookResponse::Replaced { .. }
            | HookResponse::Deny { .. }
            | HookResponse::Halt { .. } => return None,
        };
        let output = (client.encode)(self.event, answer, None);
        client.canary.is_denied(&output).then_some(what)
    }
}
