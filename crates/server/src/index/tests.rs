#![allow(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

use std::io::Write as _;

use checkrein_ledger::{Durability, StateDirectory};
use checkrein_protocol::{RecordBody, SessionId, Timestamp};
use checkrein_session::SessionLedger;

use super::follower::{Follower, Round};
use super::query::{Wanted, records, sessions};
use super::*;

struct Case {
    _folder: tempfile::TempDir,
    state: StateDirectory,
    index: Index,
}

fn case() -> Case {
    let folder = tempfile::tempdir().unwrap();
    let state = StateDirectory::new(folder.path());
    Case { index: Index::of(state.root()), state, _folder: folder }
}

impl Case {
    fn write(&self, session: &str, body: RecordBody) {
        SessionLedger::open(&self.state, &SessionId(session.to_owned()))
            .append(Timestamp(1000), body, Durability::Plain)
            .unwrap();
    }

    fn say(&self, session: &str, text: &str) {
        self.write(session, RecordBody::Prompt { text: text.to_owned() });
    }

    fn lines(&self) -> Vec<String> {
        let wanted = Wanted { limit: 100, ..Wanted::default() };
        let mut found: Vec<String> = records(&self.index.reader().unwrap(), &wanted)
            .unwrap()
            .rows
            .into_iter()
            .map(|row| format!("{}:{} {}", row.session, row.seq, row.summary))
            .collect();
        found.sort();
        found
    }
}

fn opened(case: &Case) -> rusqlite::Result<Follower> {
    Follower::new(&case.index, &case.state)
}

#[test]
fn an_index_that_was_removed_is_made_again() {
    let case = case();
    case.say("a", "one");
    let mut follower = opened(&case).unwrap();
    assert_eq!(follower.round().unwrap().newest, 1);
    for remove in [true, false] {
        let path = case.state.root().join("index.db");
        std::fs::remove_file(&path).unwrap();
        if !remove {
            std::fs::write(&path, "something else").unwrap();
        }
        assert_eq!(follower.round().unwrap().newest, 1);
        assert_eq!(case.lines().len(), 1, "{remove}");
    }
}

#[test]
fn a_session_that_writes_much_keeps_no_other_waiting() {
    let case = case();
    (0..20).for_each(|_| case.say("a", "much"));
    case.say("b", "little");
    let length = std::fs::metadata(case.state.ledger(&case.state.folders().unwrap()[0])).unwrap().len();
    let mut follower = opened(&case).unwrap().in_stretches_of(length / 3);
    let first = follower.round().unwrap();
    assert!((1..20).contains(&first.newest) && !first.is_whole, "{first:?}");
    assert!(!case.lines().contains(&"b:1 little".to_owned()));
    let second = follower.round().unwrap();
    assert!(second.newest > first.newest && !second.is_whole, "{second:?}");
    assert!(case.lines().contains(&"b:1 little".to_owned()));
    while !follower.round().unwrap().is_whole {}
    assert_eq!(follower.round().unwrap(), Round { newest: 21, is_whole: true });
}

#[test]
fn what_is_newer_is_told_by_its_time_and_who_has_ended_is_not_active() {
    let case = case();
    for (session, at) in [("b", 3000), ("a", 1000), ("a", 4000), ("b", 2000 + 3000), ("c", 2000)] {
        SessionLedger::open(&case.state, &SessionId(session.to_owned()))
            .append(Timestamp(at), RecordBody::Prompt { text: at.to_string() }, Durability::Plain)
            .unwrap();
    }
    case.write("c", RecordBody::Event { name: "SessionEnd".to_owned(), fields: serde_json::json!({}) });
    opened(&case).unwrap().round().unwrap();
    let reader = case.index.reader().unwrap();
    let page = |before, limit| {
        let wanted = Wanted { limit, before, kind: Some("prompt".to_owned()), ..Wanted::default() };
        let rows = records(&reader, &wanted).unwrap().rows;
        (rows.iter().map(|row| row.summary.clone()).collect::<Vec<_>>(), rows.last().map(|row| row.id))
    };
    let (first, last) = page(None, 3);
    assert_eq!(first, ["5000", "4000", "3000"]);
    assert_eq!(page(last, 3).0, ["2000", "1000"]);
    let states: Vec<(String, String)> = sessions(&reader, &case.state, 5000, 10)
        .unwrap()
        .into_iter()
        .map(|one| (one.session, one.state))
        .collect();
    let state = |name: &str| states.iter().find(|(session, _)| session == name).unwrap().1.as_str();
    assert_eq!((state("a"), state("b"), state("c")), ("active", "active", "ended"));
}

// Source: seed 001-9
#[test]
fn it_follows_what_is_written_and_is_the_same_when_made_again() {
    let case = case();
    case.say("a", "one");
    let mut follower = opened(&case).unwrap();
    assert_eq!(follower.round().unwrap().newest, 1);
    case.say("b", "two");
    case.say("a", "three");
    assert_eq!(follower.round().unwrap().newest, 3);
    assert_eq!(follower.round().unwrap().newest, 3);
    let all = ["a:1 one", "a:2 three", "b:1 two"];
    assert_eq!(case.lines(), all);

    // Another process takes up nothing twice.
    let mut second = opened(&case).unwrap();
    assert_eq!(second.round().unwrap().newest, 3);
    let found = sessions(&case.index.reader().unwrap(), &case.state, 1000, 10).unwrap();
    assert_eq!(
        found.iter().map(|one| (one.session.as_str(), one.records)).collect::<Vec<_>>(),
        [("a", 2), ("b", 1)]
    );
    assert_eq!(found[0].task.as_deref(), Some("one"));
    drop((follower, second));

    // A file that is no database, or one of somebody else, is made again from the ledgers.
    let path = case.state.root().join("index.db");
    std::fs::write(&path, "not a database at all, but long enough to be looked at as if it were one")
        .unwrap();
    for ending in ["-wal", "-shm"] {
        drop(std::fs::remove_file(case.state.root().join(format!("index.db{ending}"))));
    }
    opened(&case).unwrap().round().unwrap();
    assert_eq!(case.lines(), all);
    std::fs::remove_file(&path).unwrap();
    for ending in ["-wal", "-shm"] {
        drop(std::fs::remove_file(case.state.root().join(format!("index.db{ending}"))));
    }
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE theirs(x); PRAGMA user_version=7").unwrap();
    opened(&case).unwrap().round().unwrap();
    assert_eq!(case.lines(), all);
}

#[test]
fn a_ledger_that_was_replaced_is_read_again_and_one_that_is_gone_is_not_listed() {
    let case = case();
    case.say("a", "one");
    case.say("b", "two");
    let mut follower = opened(&case).unwrap();
    follower.round().unwrap();
    std::fs::remove_dir_all(case.state.root().join("sessions/a")).unwrap();
    follower.round().unwrap();
    assert_eq!(case.lines(), ["b:1 two"]);
    let path = case.state.root().join("sessions/b/ledger.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    let other = case.state.root().join("other");
    std::fs::write(&other, text.replace("two", "new")).unwrap();
    std::fs::rename(&other, &path).unwrap();
    follower.round().unwrap();
    assert_eq!(case.lines(), ["b:1 new"]);
    // The beginning of a line waits for its end.
    let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(b"{\"seq\":2").unwrap();
    follower.round().unwrap();
    assert_eq!(case.lines(), ["b:1 new"]);
}

#[test]
fn a_session_that_was_pruned_while_no_server_ran_leaves_no_word_in_the_index() {
    let case = case();
    case.say("a", "marmalade");
    case.say("b", "two");
    let mut follower = opened(&case).unwrap();
    follower.round().unwrap();
    drop(follower);
    std::fs::remove_dir_all(case.state.root().join("sessions/a")).unwrap();
    let mut follower = opened(&case).unwrap();
    follower.round().unwrap();
    assert_eq!(case.lines(), ["b:1 two"]);
    drop(follower);
    let holds = |name: &str| {
        let bytes = std::fs::read(case.state.root().join(name)).unwrap_or_default();
        bytes.windows(9).any(|part| part == b"marmalade")
    };
    assert!(!holds("index.db"), "what is deleted is overwritten");
}

#[test]
fn a_server_over_ledgers_that_have_not_grown_writes_nothing() {
    let case = case();
    case.say("a", "one");
    case.say("b", "two");
    opened(&case).unwrap().round().unwrap();
    // Whoever writes now would wait for this one, and then fail.
    let other = case.index.writer().unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut follower = opened(&case).unwrap();
    follower.round().unwrap();
    other.execute_batch("COMMIT").unwrap();
    case.say("b", "three");
    follower.round().unwrap();
    assert_eq!(case.lines(), ["a:1 one", "b:1 two", "b:2 three"]);
}

/// What a page costs does not grow with the index: each is read in the order of an index, to its first rows.
#[test]
fn pages_are_read_in_the_order_of_an_index() {
    let case = case();
    case.say("a", "one");
    opened(&case).unwrap().round().unwrap();
    let reader = case.index.reader().unwrap();
    let some = || Some("a".to_owned());
    let all = [
        Wanted::default(),
        Wanted { before: Some(7), ..Wanted::default() },
        Wanted { after: Some(7), ..Wanted::default() },
        Wanted { session: some(), ..Wanted::default() },
        Wanted { session: some(), before: Some(7), ..Wanted::default() },
        Wanted { kind: Some("review".to_owned()), ..Wanted::default() },
        Wanted { kind: Some("review".to_owned()), before: Some(7), ..Wanted::default() },
        Wanted {
            kind: Some("review".to_owned()),
            verdict: Some("halt".to_owned()),
            before: Some(7),
            ..Wanted::default()
        },
        Wanted { kind: Some("review".to_owned()), verdict: Some("ok".to_owned()), ..Wanted::default() },
        Wanted { session: some(), kind: Some("issue".to_owned()), ..Wanted::default() },
        Wanted { session: some(), verdict: Some("halt".to_owned()), before: Some(7), ..Wanted::default() },
        Wanted { session: some(), after: Some(7), ..Wanted::default() },
    ];
    for wanted in all {
        let (text, values) = super::query::page(&Wanted { limit: 100, ..wanted.clone() }, 100);
        let mut statement = reader.prepare(&format!("EXPLAIN QUERY PLAN {text}")).unwrap();
        let plan: Vec<String> = statement
            .query_map(rusqlite::params_from_iter(values.iter().map(AsRef::as_ref)), |row| row.get(3))
            .unwrap()
            .collect::<rusqlite::Result<_>>()
            .unwrap();
        assert!(plan.iter().all(|step| !step.contains("TEMP B-TREE")), "{wanted:?}: {plan:?}");
        let is_by_index = plan[0].contains("USING INDEX") || plan[0].contains("INTEGER PRIMARY KEY");
        assert!(is_by_index, "{wanted:?}: {plan:?}");
        // What is rare is not looked for among what is not.
        let index = match (wanted.session.is_some(), wanted.verdict.as_deref(), wanted.kind.as_deref()) {
            (true, Some("halt"), _) => "records_stopped",
            (false, Some("halt"), _) => "records_verdict",
            (true, None, Some("issue")) => "records_rare",
            _ => "",
        };
        assert!(plan[0].contains(index), "{wanted:?}: {plan:?}");
    }
}

/// A search costs no more over millions of records: it goes on where the page before it left off, and misses nothing on the way.
#[test]
fn a_search_looks_through_a_bounded_part_and_goes_on_from_there() {
    let case = case();
    for number in 0..30 {
        case.say("a", if number % 10 == 0 { "Marmalade" } else { "bread" });
        case.say("b", "bread");
    }
    opened(&case).unwrap().round().unwrap();
    let reader = case.index.reader().unwrap();
    for session in [None, Some("a".to_owned())] {
        let (mut before, mut found, mut pages) = (None, Vec::new(), 0);
        loop {
            let search = Some("mARM".to_owned());
            let wanted = Wanted { session: session.clone(), search, before, limit: 100, ..Wanted::default() };
            let page = super::query::records_within(&reader, &wanted, 7).unwrap();
            assert!(page.rows.len() <= 7);
            found.extend(page.rows.iter().map(|row| row.seq));
            pages += 1;
            before = page.next;
            if before.is_none() {
                break;
            }
        }
        assert_eq!(found, [21, 11, 1]);
        assert_eq!(pages, if session.is_some() { 5 } else { 9 });
    }
}
