//! Yeses that a user gave for the rest of a session, kept here and not in the agent.
//!
//! An agent that is told "always" asks no more, and so nothing of that kind is judged before it runs. It is told "once" instead: it goes on
//! asking, each call is judged anew, and what this yes covers is answered without the user being asked again.

use checkrein_protocol::{AbsolutePath, Action};
use serde_json::Value as Json;

use crate::desk::text;

mod options;

/// How many yeses of one session are kept (ours). The oldest goes first, and is asked about again.
const KEPT: usize = 64;

/// The tools that write into one file.
const WRITING: [&str; 4] = ["Write", "Edit", "MultiEdit", "NotebookEdit"];

/// The kinds of choices that answer one call and no other (Agent Client Protocol, version 1, `PermissionOptionKind`).
const FOR_ONE_CALL: [&str; 2] = ["allow_once", "reject_once"];
/// The kind that holds for later calls too, where the agent says so.
const LASTING: &str = "allow_always";

/// The choices of a request for permission, by what they mean.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Choices {
    /// The ids of those that allow.
    pub(crate) allowing: Vec<Json>,
    /// Those of them that hold for later calls too: all but `allow_once`.
    lasting: Vec<Json>,
    /// Those of which nobody knows what they mean: neither a yes nor a no by their kind.
    unclear: Vec<Json>,
    /// The one that allows this call alone.
    once: Option<Json>,
}

/// What a yes for one call covers in later ones: nothing that its own call does not have.
#[derive(Debug, Clone, PartialEq)]
enum Covered {
    /// A plain command that begins with these words, in the same directory; and the options that the user saw.
    Words(Vec<String>, Vec<String>, AbsolutePath),
    /// The same command in the same directory.
    Command(String, AbsolutePath),
    /// Writing into files below a directory.
    WritingBelow(AbsolutePath),
    /// Reading files below a directory.
    ReadingBelow(AbsolutePath),
    /// Fetching from an origin: scheme, host and port.
    Origin(String),
    /// The same call.
    Call(Box<Action>),
    /// A tool of a server, with any input.
    Tool(String),
}

/// The yeses of a session.
#[derive(Debug, Default)]
pub(crate) struct Standing(Vec<Covered>);

impl Choices {
    /// The choices that a request offers.
    pub(crate) fn of(params: &Json) -> Self {
        let options = params.get("options").and_then(Json::as_array).map(Vec::as_slice).unwrap_or_default();
        let of = |is_meant: fn(&str) -> bool| -> Vec<Json> {
            let meant = options.iter().filter(|option| is_meant(text(option, "kind").unwrap_or_default()));
            meant.filter_map(|option| option.get("optionId").cloned()).collect()
        };
        let lasting = of(|kind| kind.starts_with("allow") && kind != "allow_once");
        let unclear = of(|kind| !kind.starts_with("allow") && !kind.starts_with("reject"));
        // One that has the id of another kind is that one to the agent, as far as anybody knows.
        let mut once = of(|kind| kind == "allow_once").into_iter();
        let once = once.find(|id| !lasting.contains(id) && !unclear.contains(id));
        Self { allowing: of(|kind| kind.starts_with("allow")), lasting, unclear, once }
    }

    /// The parameters of a request that offers what answers this one call, and nothing else: of any other kind nobody knows for how long it
    /// holds. Where no choice allows this call alone, the one that is known to last stays, since nobody could say yes without it.
    pub(crate) fn for_one_call(&self, params: &Json) -> Json {
        let mut params = params.clone();
        if let Some(options) = params.get_mut("options").and_then(Json::as_array_mut) {
            options.retain(|option| {
                let kind = text(option, "kind").unwrap_or_default();
                let is_other = option
                    .get("optionId")
                    .is_none_or(|id| self.lasting.contains(id) || self.unclear.contains(id));
                FOR_ONE_CALL.contains(&kind) && !is_other || kind == LASTING && self.once.is_none()
            });
        }
        params
    }

    /// Whether nobody knows what a choice means.
    pub(crate) fn is_unclear(&self, chosen: &Json) -> bool {
        self.unclear.contains(chosen)
    }

    /// Whether a choice holds for later calls too.
    pub(crate) fn is_lasting(&self, chosen: &Json) -> bool {
        self.lasting.contains(chosen)
    }

    /// The choice that allows this call alone.
    pub(crate) fn once(&self) -> Option<&Json> {
        self.once.as_ref()
    }
}

impl Standing {
    /// Keeps a yes to these actions; what it covers, in words.
    pub(crate) fn keep(&mut self, actions: &[Action], place: &AbsolutePath) -> String {
        let mut words: Vec<String> = Vec::new();
        for action in actions {
            let covered = Covered::by(action, place);
            let said = covered.in_words();
            if !words.contains(&said) {
                words.push(said);
            }
            if !self.0.contains(&covered) {
                if self.0.len() >= KEPT {
                    self.0.remove(0);
                }
                self.0.push(covered);
            }
        }
        words.join(" and ")
    }

    /// Whether yeses were given that cover all of these actions. Nothing is covered where it is not known what a call does.
    pub(crate) fn covers(&self, actions: &[Action]) -> bool {
        !actions.is_empty() && actions.iter().all(|action| self.0.iter().any(|one| one.holds_for(action)))
    }
}

impl Covered {
    /// What a yes to an action covers, in a session that works in this place.
    fn by(action: &Action, place: &AbsolutePath) -> Self {
        if let Some(command) = action.shell_text() {
            let words = leading_words(command);
            // One word alone would be a whole program.
            return match words {
                Some(words) if words.len() > 1 => {
                    let seen = plain_words(command).unwrap_or_default().into_iter().skip(words.len());
                    let seen = seen.map(str::to_owned).collect();
                    Self::Words(words, seen, action.cwd.clone())
                }
                Some(_) | None => Self::Command(command.to_owned(), action.cwd.clone()),
            };
        }
        let is_below = file(action).is_some_and(|path| path.is_within(place));
        let tool = action.tool.as_str();
        match origin(action) {
            Some(origin) => Self::Origin(origin),
            None if is_below && WRITING.contains(&tool) => Self::WritingBelow(place.clone()),
            None if is_below && tool == "Read" => Self::ReadingBelow(place.clone()),
            None if tool.starts_with("mcp__") => Self::Tool(tool.to_owned()),
            None => Self::Call(Box::new(action.clone())),
        }
    }

    fn holds_for(&self, action: &Action) -> bool {
        let command = action.shell_text();
        let is_below = |directory: &AbsolutePath| file(action).is_some_and(|path| path.is_within(directory));
        let tool = action.tool.as_str();
        match self {
            Self::Words(words, seen, cwd) => {
                action.cwd == *cwd
                    && command.and_then(plain_words).is_some_and(|all| {
                        let behind = all.get(words.len()..);
                        words.iter().zip(&all).all(|(one, other)| one == other)
                            && behind.is_some_and(|behind| is_as_seen(words, seen, behind))
                    })
            }
            Self::Command(text, cwd) => action.cwd == *cwd && command == Some(text.as_str()),
            Self::WritingBelow(directory) => WRITING.contains(&tool) && is_below(directory),
            Self::ReadingBelow(directory) => tool == "Read" && is_below(directory),
            Self::Origin(known) => origin(action).as_ref() == Some(known),
            Self::Call(known) => **known == *action,
            Self::Tool(known) => command.is_none() && tool == known,
        }
    }

    fn in_words(&self) -> String {
        match self {
            Self::Words(words, ..) => format!("`{} ...`", words.join(" ")),
            Self::Command(text, _) => format!("`{}`", text.lines().next().unwrap_or_default()),
            Self::WritingBelow(directory) => format!("writing files in `{directory}`"),
            Self::ReadingBelow(directory) => format!("reading files in `{directory}`"),
            Self::Origin(origin) => format!("fetching from `{origin}`"),
            Self::Call(action) => format!("this same call of `{}`", action.tool.as_str()),
            Self::Tool(tool) => format!("the tool `{tool}`"),
        }
    }
}

/// The words of a command that is nothing but words: no quotes, expansions, redirections, settings or further commands.
fn plain_words(command: &str) -> Option<Vec<&str>> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || " _-./,:=@%+".contains(letter);
    let words: Vec<&str> = command.split(' ').filter(|word| !word.is_empty()).collect();
    let first = words.first()?;
    (command.chars().all(is_plain) && !first.contains('=')).then_some(words)
}

/// The words of a plain command up to its first option.
fn leading_words(command: &str) -> Option<Vec<String>> {
    let words = plain_words(command)?;
    Some(words.into_iter().take_while(|word| !word.starts_with('-')).map(str::to_owned).collect())
}

/// Whether the words behind those that a user said yes to have nothing that makes a command do another thing: options that are known to be
/// harmless, and others and variables only as the user saw them, with the same word behind.
fn is_as_seen(leading: &[String], seen: &[String], words: &[&str]) -> bool {
    let stands_so = |at: usize, word: &str| {
        let next = words.get(at + 1).filter(|next| !next.starts_with('-'));
        seen.iter().enumerate().any(|(place, known)| {
            let known_next = seen.get(place + 1).filter(|next| !next.starts_with('-'));
            known == word && known_next.map(String::as_str) == next.copied()
        })
    };
    keeps(leading, seen, words)
        && words.iter().enumerate().all(|(at, word)| {
            let is_plain = if word.starts_with('-') {
                options::is_harmless(leading, word)
            } else {
                !word.contains('=') || seen.iter().any(|seen| seen == word)
            };
            is_plain || stands_so(at, word)
        })
}

/// Whether a command still has all that made the one that its user saw do what it did: its options but those of looks, its variables, and,
/// where it had options, the words that name what it works on.
fn keeps(leading: &[String], seen: &[String], words: &[&str]) -> bool {
    let seen: Vec<&str> = seen.iter().map(String::as_str).collect();
    let has = |known: &str| words.iter().any(|word| options::name(word) == options::name(known));
    let has_all = seen.iter().all(|known| {
        if known.starts_with('-') {
            *known == "--" || options::is_of_looks(leading, known) || has(known)
        } else {
            !known.contains('=') || words.contains(known)
        }
    });
    has_all
        && (seen.is_empty()
            || options::shows(leading)
            || operands(leading, &seen) == operands(leading, words))
}

/// The words of these that are neither options, nor variables, nor what stands behind an option that may take a value and is harmless with
/// any.
fn operands<'a>(leading: &[String], words: &[&'a str]) -> Vec<&'a str> {
    let is_value = |before: &str| {
        before.starts_with('-')
            && before != "--"
            && !options::is_of_looks(leading, before)
            && options::is_harmless(leading, before)
    };
    let before = std::iter::once("").chain(words.iter().copied());
    let named = words
        .iter()
        .zip(before)
        .filter(|(word, before)| !word.starts_with('-') && !word.contains('=') && !is_value(before));
    named.map(|(word, _)| *word).collect()
}

/// The file that an action is about.
fn file(action: &Action) -> Option<AbsolutePath> {
    let path = ["file_path", "notebook_path"].iter().find_map(|name| text(&action.input, name))?;
    Some(action.cwd.join(path))
}

/// From where an action fetches: what stands before the path of its address.
fn origin(action: &Action) -> Option<String> {
    (action.tool.as_str() == "WebFetch").then_some(())?;
    let (scheme, rest) = text(&action.input, "url")?.split_once("://")?;
    let host = rest.split(['/', '?', '#', '\\']).next().filter(|host| !host.is_empty())?;
    Some(format!("{scheme}://{host}").to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn place() -> AbsolutePath {
        AbsolutePath::new("/w").unwrap()
    }

    fn command(text: &str) -> Action {
        Action::command(text, place())
    }

    fn call(tool: &str, input: Json) -> Action {
        Action::tool_call(tool, input, place())
    }

    /// Which of these a yes to the first covers.
    fn covered(first: Action, others: Vec<Action>) -> Vec<bool> {
        let mut standing = Standing::default();
        standing.keep(&[first], &place());
        others.into_iter().map(|other| standing.covers(&[other])).collect()
    }

    #[test]
    fn a_command_covers_those_that_begin_with_its_words() {
        let others = [
            "npm test -- --watch",
            "npm test",
            "npm run x",
            "npm",
            "npm tests",
            "npm test; rm x",
            "npm test $(rm x)",
            "npm test > x",
            "A=1 npm test",
            "npm test\nrm x",
        ];
        let found = covered(command("npm test"), others.map(command).to_vec());
        assert_eq!(found, [true, true, false, false, false, false, false, false, false, false]);
        // An option that names a program, a file to write or other instructions is not what the user saw.
        for (allowed, others) in [
            (
                "make test -j4",
                [
                    ("make test -j8", true),
                    ("make test -f /tmp/evil.mk", false),
                    ("make test -f/tmp/x", false),
                    ("make test SHELL=/tmp/x", false),
                ],
            ),
            (
                "git log --oneline",
                [
                    ("git log --stat", true),
                    ("git log --output=src/main.rs", false),
                    ("git log --outp x", false),
                    ("git log -p", true),
                ],
            ),
            (
                "find src -name x",
                [
                    ("find src -name y", true),
                    ("find src -name x -exec cp a b", false),
                    ("find src -delete", false),
                    ("find src -type f", false),
                ],
            ),
        ] {
            let (texts, expected): (Vec<&str>, Vec<bool>) = others.into_iter().unzip();
            assert_eq!(
                covered(command(allowed), texts.into_iter().map(command).collect()),
                expected,
                "{allowed}"
            );
        }
        // What the user saw stands for itself, with the word behind it.
        let others = [
            ("kubectl get pods --kubeconfig a", true),
            ("kubectl get pods --kubeconfig a -w", true),
            ("kubectl get pods --kubeconfig b", false),
            ("kubectl get pods --kubeconfig a --server b", false),
            ("kubectl get pods --kubeconfig=b", false),
        ];
        let (texts, expected): (Vec<&str>, Vec<bool>) = others.into_iter().unzip();
        let found =
            covered(command("kubectl get pods --kubeconfig a"), texts.into_iter().map(command).collect());
        assert_eq!(found, expected);
        // A program alone is too much, and so is what has a form of its own.
        assert_eq!(
            covered(command("curl -s x"), vec![command("curl -s y"), command("curl -s x")]),
            [false, true]
        );
        assert_eq!(
            covered(command("echo a > b"), vec![command("echo a > c"), command("echo a > b")]),
            [false, true]
        );
        let elsewhere = Action::command("npm test", AbsolutePath::new("/x").unwrap());
        assert_eq!(covered(command("npm test"), vec![elsewhere]), [false]);
    }

    #[test]
    fn what_lacks_an_option_that_the_user_saw_is_another_deed() {
        for (allowed, other, expected) in [
            ("git push -n", "git push", false),
            ("git push -n", "git push origin main", false),
            ("git push --dry-run", "git push", false),
            ("git checkout -b x", "git checkout .", false),
            ("git checkout -b x", "git checkout src/a.py", false),
            ("git stash -q", "git stash drop", false),
            ("git stash -q", "git stash", true),
            ("git branch -v", "git branch evil", false),
            ("git branch -v", "git branch", true),
            ("npm run -s build", "npm run -s deploy", false),
            ("npm run -s build", "npm run -s build", true),
            ("npm test -w a", "npm test", false),
            ("npm test -w a", "npm test -w a --silent", true),
            ("npm publish -v", "npm publish", false),
            ("cargo run -q", "cargo run -q --bin evil", false),
            ("cargo run -q", "cargo run", true),
            ("cargo run", "cargo run --example evil", false),
            ("cargo test -q", "cargo test -v", true),
            ("cargo test -q name", "cargo test -q other", false),
            ("git apply --stat a.patch", "git apply a.patch", false),
            ("make test DRY=1 -s", "make test -s", false),
            ("git log --oneline", "git log --oneline src", true),
        ] {
            assert_eq!(
                covered(command(allowed), vec![command(other)]),
                [expected],
                "{allowed}, then {other}"
            );
        }
    }

    #[test]
    fn other_calls_cover_what_their_own_has() {
        let write = |path: &str| call("Write", json!({ "file_path": path, "content": "x" }));
        let edit = call("Edit", json!({ "file_path": "b", "old_string": "x", "new_string": "y" }));
        let read = call("Read", json!({ "file_path": "a" }));
        let found = covered(write("a"), vec![write("b/c"), edit, read, write("/w/../x"), write("/x")]);
        assert_eq!(found, [true, true, false, false, false]);
        assert_eq!(covered(write("/x"), vec![write("/x"), write("/y"), write("a")]), [true, false, false]);
        let fetch = |url: &str| call("WebFetch", json!({ "url": url }));
        let found = covered(
            fetch("https://A.b/c"),
            vec![fetch("https://a.b/d"), fetch("https://a.b.c/"), fetch("http://a.b/c")],
        );
        assert_eq!(found, [true, false, false]);
        let tool = |name: &str, input: Json| call(name, input);
        let found = covered(
            tool("mcp__a__b", json!({})),
            vec![tool("mcp__a__b", json!({ "x": 1 })), tool("mcp__a__c", json!({}))],
        );
        assert_eq!(found, [true, false]);
        assert_eq!(covered(tool("other", json!({})), vec![tool("other", json!({ "x": 1 }))]), [false]);
        // A call of several parts is covered only as a whole, and one of which nothing is known never.
        let mut standing = Standing::default();
        standing.keep(&[command("git status"), write("a")], &place());
        assert!(standing.covers(&[write("c"), command("git status -s")]));
        assert!(!standing.covers(&[write("c"), command("git push")]) && !standing.covers(&[]));
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let mut standing = Standing::default();
        for number in 0..2 * KEPT {
            standing.keep(&[command(&format!("echo {number}"))], &place());
        }
        assert_eq!(standing.0.len(), KEPT);
        assert!(standing.covers(&[command("echo 127")]) && !standing.covers(&[command("echo 0")]));
    }

    #[test]
    fn a_choice_lasts_unless_it_says_that_it_does_not() {
        let option = |id: &str, kind: &str| json!({ "optionId": id, "kind": kind });
        let of = |options: Vec<Json>| Choices::of(&json!({ "options": options }));
        let all = of(vec![
            option("a", "allow_always"),
            option("o", "allow_once"),
            option("s", "allow_session"),
            option("n", "reject_once"),
        ]);
        assert!(all.is_lasting(&json!("a")) && all.is_lasting(&json!("s")) && !all.is_lasting(&json!("o")));
        assert_eq!((all.once(), all.allowing.len()), (Some(&json!("o")), 3));
        assert_eq!(of(vec![option("x", "allow_always"), option("x", "allow_once")]).once(), None);
        assert_eq!(of(vec![option("x", "proceed"), option("x", "allow_once")]).once(), None);
        let unclear =
            of(vec![option("p", "proceed_always"), json!({ "optionId": "q" }), option("n", "reject_always")]);
        assert!(
            unclear.is_unclear(&json!("p"))
                && unclear.is_unclear(&json!("q"))
                && !unclear.is_unclear(&json!("n"))
        );
        assert_eq!(Choices::of(&json!({ "options": "none" })), Choices::default());
    }
    #[test]
    fn a_question_about_one_call_offers_what_is_known_to_answer_one_call() {
        let option = |id: &str, kind: &str| json!({ "optionId": id, "kind": kind });
        let (always, once, no) =
            (option("all", "allow_always"), option("one", "allow_once"), option("no", "reject_once"));
        let left = |options: Json| {
            let params = json!({ "toolCall": { "toolCallId": "1" }, "options": options });
            Choices::of(&params).for_one_call(&params)["options"].take()
        };
        assert_eq!(left(json!([always, once, no])), json!([once, no]));
        assert_eq!(left(json!([no, once, always, always])), json!([no, once]));
        // Kinds of later versions, of other agents, and none at all.
        for kind in
            ["allow_session", "proceed_always", "allow_for_project", "Allow_Once", "reject_always", ""]
        {
            assert_eq!(left(json!([option("x", kind), once, no])), json!([once, no]), "{kind}");
            assert_eq!(left(json!([option("x", kind), no])), json!([no]), "{kind}");
        }
        assert_eq!(left(json!([{ "optionId": "x", "name": "Yes" }, once])), json!([once]));
        // What has the id of another kind may be that one.
        assert_eq!(
            left(json!([option("x", "allow_session"), option("x", "allow_once"), once, no])),
            json!([once, no])
        );
        // Two of the same kind are two ways to allow one call.
        let other = option("two", "allow_once");
        assert_eq!(left(json!([once, other, no])), json!([once, other, no]));
        // Without it nobody could say yes.
        assert_eq!(left(json!([always, no])), json!([always, no]));
        assert_eq!(left(json!("none")), json!("none"));
    }
}
