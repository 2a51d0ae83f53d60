//! Ways to log in that an agent offers: the editor runs what they name once the user chooses one, and shows no more than their titles.

use checkrein_clients::says_twice;
use checkrein_engine::fail_closed::Failure;
use serde_json::{Value as Json, json};

use crate::answers;
use crate::desk::{Desk, REVIEWED, first_line, named, text};
use crate::from_agent::Fate;
use crate::inputs;
use crate::message::{Message, holds_name, strict};
use crate::reviewer::Ruling;

/// The field in which an agent offers them (Agent Client Protocol, version 1, `InitializeResponse`), folded.
const OFFERED: &str = "authmethods";

impl Desk {
    /// What becomes of an answer of the agent that offers ways to log in; `None` where it offers none. Those with a command that does not pass
    /// are taken out, and that is said.
    pub(crate) fn logins(&mut self, message: &Message<'_>) -> Option<Fate> {
        let (id, result) = (message.id?, message.result?);
        holds_name(result, &|name| name == OFFERED).then_some(())?;
        let read = (result.len() <= REVIEWED && !says_twice(result)).then(|| strict(result)).flatten();
        let Some(mut result) = read else {
            let failure = Failure::Payload("an answer with ways to log in cannot be read".to_owned());
            self.shared.to_editor.write(answers::refusal(id, &failure.reason()));
            return Some(Fate::Kept);
        };
        let cwd = self.state().default_place().clone();
        let offered = result.get_mut("authMethods")?.as_array_mut()?;
        let mut kept = Vec::new();
        let mut is_changed = false;
        for method in offered.drain(..) {
            let commands = method.as_object().map(|one| inputs::logins(one, &cwd)).unwrap_or_default();
            let (ruling, _) = if commands.is_empty() {
                (Ruling::Passed, None)
            } else {
                let name = self.shared.own_name();
                let offered = named(&name, commands);
                // No session begins with a way to log in that nobody has chosen. What is taken out is on record.
                if self.pass(&cwd, "authenticate", &offered) {
                    (Ruling::Passed, None)
                } else {
                    self.review(&format!("login-{name}"), &cwd, "authenticate", &offered)
                }
            };
            match ruling {
                Ruling::Passed => kept.push(method),
                Ruling::Asked(reason) | Ruling::Refused(reason) | Ruling::Stopped(reason) => {
                    is_changed = true;
                    let title = text(&method, "name").unwrap_or("no name").to_owned();
                    let why = first_line(&reason);
                    self.shared.say(&format!("checkrein: took out a way to log in (`{title}`): {why}"));
                }
            }
        }
        *offered = kept;
        let id: Json = strict(id)?;
        is_changed.then(|| {
            let answer = json!({ "jsonrpc": "2.0", "id": id, "result": result });
            Fate::Changed(format!("{answer}\n").into_bytes())
        })
    }
}
