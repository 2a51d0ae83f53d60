//! What a command says and asks while an interface fills the terminal: it goes to the interface instead.

use std::cell::RefCell;

use super::Reply;

/// Answers a question, given what was said before it.
type Ask = Box<dyn FnMut(&str, &str) -> Reply>;

/// Who hears what the commands of one thread say.
struct Dialogue {
    said: String,
    ask: Ask,
}

thread_local! {
    static DIALOGUE: RefCell<Option<Dialogue>> = const { RefCell::new(None) };
}

/// Does some work of which nothing goes to the terminal, and returns its result and what it said, in the order in which it did. `ask` is given
/// what was said up to a question, and the question, and returns the answer.
pub(crate) fn in_dialogue<T>(
    ask: impl FnMut(&str, &str) -> Reply + 'static,
    work: impl FnOnce() -> T,
) -> (T, String) {
    let dialogue = Dialogue { said: String::new(), ask: Box::new(ask) };
    let before = DIALOGUE.replace(Some(dialogue));
    let result = work();
    let said = DIALOGUE.replace(before).map(|dialogue| dialogue.said).unwrap_or_default();
    (result, said)
}

/// Takes what is said; whether somebody listens.
pub(super) fn heard(text: &str) -> bool {
    DIALOGUE.with_borrow_mut(|dialogue| {
        let Some(dialogue) = dialogue else { return false };
        dialogue.said.push_str(text);
        if !text.ends_with('\n') {
            dialogue.said.push('\n');
        }
        true
    })
}

/// The answer to a question; `None` where nobody listens.
pub(super) fn asked(question: &str) -> Option<Reply> {
    DIALOGUE.with_borrow_mut(|dialogue| {
        let dialogue = dialogue.as_mut()?;
        let said = std::mem::take(&mut dialogue.said);
        Some((dialogue.ask)(&said, question))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::{confirm, log, print};

    #[test]
    fn what_is_said_and_asked_goes_to_who_listens() {
        let ask = |said: &str, question: &str| {
            assert_eq!((said, question), ("the plan\na remark\n", "Do it?"));
            Reply::Yes
        };
        let (reply, said) = in_dialogue(ask, || {
            print("the plan");
            log("a remark");
            let reply = confirm("Do it?");
            print("done\n");
            reply
        });
        assert_eq!((reply, said.as_str()), (Reply::Yes, "done\n"));
        assert!(!heard("nobody listens any more"));
    }
}
