//! What people read is understood at first reading: every kind has words, and none of them is a name on the wire or a term of the inside.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::collections::BTreeSet;

use checkrein_cli::phrases;
use checkrein_protocol::{
    Decision, EffectKind, InterventionKind, Judgement, LedgerDamage, PatternKind, RecordBody, ReviewLack,
    VerdictKind,
};
use serde_json::{Value as Json, json};
use support::{TestEnvironment, shell_call};

/// Words of the inside. Whoever reads them first has to ask what they mean.
const INSIDE: [&str; 18] = [
    "rationality",
    " rein ",
    "reins",
    "corridor",
    "ctq",
    "rung",
    "posture",
    "opaque",
    "stagnation",
    "throttl",
    "nudge",
    "escalate",
    "trust debt",
    "cascade",
    "oscillat",
    "hallucination",
    "soft correction",
    "checkrein.",
];

fn is_plain(words: &str) -> bool {
    let lower = words.to_lowercase();
    !words.trim().is_empty() && !words.contains('_') && INSIDE.iter().all(|inside| !lower.contains(inside))
}

#[test]
fn every_kind_has_words_that_need_no_explanation() {
    let mut all: Vec<String> = Vec::new();
    all.extend(PatternKind::ALL.map(|kind| phrases::pattern(kind).to_owned()));
    all.extend(InterventionKind::LADDER.map(|kind| phrases::intervention(kind).to_owned()));
    all.extend(InterventionKind::LADDER.map(|kind| phrases::intervention_noun(kind).to_owned()));
    all.extend(EffectKind::ALL.map(|kind| phrases::effect(kind).to_owned()));
    for verdict in VerdictKind::ALL {
        all.extend(
            [phrases::verdict(verdict), phrases::verdict_word(verdict), phrases::verdict_ahead(verdict)]
                .map(str::to_owned),
        );
    }
    all.extend(Decision::ALL.map(|decision| phrases::decision(decision).to_owned()));
    let judgements = [Judgement::Confirmed, Judgement::FalseAlarm, Judgement::Missed];
    all.extend(judgements.map(|judgement| phrases::judgement(judgement).to_owned()));
    let lacks = [ReviewLack::Missing, ReviewLack::Refused, ReviewLack::Another];
    all.extend(lacks.map(|lack| phrases::lack(lack).to_owned()));
    let damages = [
        LedgerDamage::TornTail,
        LedgerDamage::Shortened,
        LedgerDamage::Changed,
        LedgerDamage::Unreadable,
        LedgerDamage::Lost,
        LedgerDamage::PutBack,
    ];
    all.extend(damages.map(|damage| phrases::damage(damage).to_owned()));
    for words in &all {
        assert!(is_plain(words), "{words:?}");
    }
    let of_kinds = |words: &[&str]| words.iter().collect::<BTreeSet<_>>().len();
    assert_eq!(of_kinds(&PatternKind::ALL.map(phrases::pattern)), PatternKind::ALL.len(), "one name each");
    assert_eq!(of_kinds(&EffectKind::ALL.map(phrases::effect)), EffectKind::ALL.len(), "one name each");
}

/// The name of every record; a new one does not compile until it has a sample below.
fn name(body: &RecordBody) -> &'static str {
    match body {
        RecordBody::SessionStarted { .. } => "session_started",
        RecordBody::Prompt { .. } => "prompt",
        RecordBody::Review(_) => "review",
        RecordBody::Outcome(_) => "outcome",
        RecordBody::Unanswered(_) => "unanswered",
        RecordBody::Unreviewed(_) => "unreviewed",
        RecordBody::Told { .. } => "told",
        RecordBody::Event { .. } => "event",
        RecordBody::Issue(_) => "issue",
        RecordBody::IssueEnded { .. } => "issue_ended",
        RecordBody::Intervention(_) => "intervention",
        RecordBody::Marked { .. } => "marked",
        RecordBody::Rollback(_) => "rollback",
        RecordBody::Usage(_) => "usage",
        RecordBody::Message { .. } => "message",
        RecordBody::Condensed => "condensed",
        RecordBody::Halted { .. } => "halted",
        RecordBody::ReviewClosed { .. } => "review_closed",
        RecordBody::Resumed { .. } => "resumed",
        RecordBody::ConfigChanged { .. } => "config_changed",
        RecordBody::Failure { .. } => "failure",
        RecordBody::Retention { .. } => "retention",
        RecordBody::Anchor { .. } => "anchor",
        RecordBody::Repaired { .. } => "repaired",
        RecordBody::Unknown => "unknown",
    }
}

/// How many kinds of record `name` tells apart.
const RECORDS: usize = 25;

fn samples() -> Vec<RecordBody> {
    let environment = TestEnvironment::new();
    environment.bash("s", "ls");
    let review = environment.records("s").into_iter().find(|one| one["body"]["type"] == "review").unwrap();
    let hash = "0".repeat(64);
    let mark = json!({ "file": 1, "offset": 2, "answer": 3, "counted": tokens() });
    let doubt = json!({ "points": 1, "ceiling": 2 });
    let mut bodies = vec![
        review["body"].clone(),
        json!({ "type": "session_started", "session": "s", "client": "claude_code", "cwd": "/w",
                "workspace": "/w", "source": "startup" }),
        json!({ "type": "prompt", "text": "tidy up" }),
        json!({ "type": "outcome", "action_id": "a", "tool": "Bash", "failed": false, "duration_ms": 5,
                "output_bytes": 0, "output_hash": "" }),
        json!({ "type": "unanswered", "action_id": "a", "call": "Bash ls", "reason": "why", "doubt": doubt }),
        json!({ "type": "told", "action_id": "a", "text": "words" }),
        json!({ "type": "issue_ended", "kind": "stuck_loop" }),
        json!({ "type": "usage", "from": 0, "mark": mark,
                "models": [{ "model": "m", "answers": 1, "tokens": tokens(), "cost": null }] }),
        json!({ "type": "message", "mark": "00000000000000ff" }),
        json!({ "type": "condensed" }),
        json!({ "type": "halted", "scope": "session", "reason": "why", "by": "person" }),
        json!({ "type": "review_closed", "ticket": 3, "note": "seen", "by": "person" }),
        json!({ "type": "resumed", "scope": "all", "by": "person" }),
        json!({ "type": "config_changed", "file": "/w/settings.json", "decision": "accepted" }),
        json!({ "type": "retention", "removed": [], "reason": "older than 90 days" }),
        json!({ "type": "anchor", "session": "s", "seq": 4, "hash": hash }),
        json!({ "type": "of a later version" }),
    ];
    for lack in ["missing", "refused", "another"] {
        bodies.push(json!({ "type": "unreviewed", "action_id": "a", "call": "Bash ls", "lack": lack,
                            "reason": "why" }));
    }
    for kind in PatternKind::ALL {
        bodies.push(json!({ "type": "issue", "kind": kind, "severity": "high", "confidence": 1.0,
                            "impact": 0.0, "signal": 4.0, "summary": "seen", "advice": "stop", "actions": [1] }));
        bodies.push(json!({ "type": "marked", "record": 1, "kind": kind, "judgement": "false_alarm" }));
        for made in InterventionKind::LADDER {
            bodies.push(json!({ "type": "intervention", "kind": made, "pattern": kind, "severity": "low",
                                "score": 0.3, "signal": 4.0, "action": 4, "reason": "why", "text": "words" }));
        }
    }
    for stage in ["proposed", "done", "not_done"] {
        bodies.push(json!({ "type": "rollback", "before": 2, "stage": stage, "by": "person", "changes": 0,
                            "text": "words" }));
    }
    for damage in ["torn_tail", "shortened", "changed", "unreadable", "lost"] {
        bodies.push(json!({ "type": "repaired", "damage": damage, "lost_bytes": 5, "reason": "why" }));
    }
    let failures = [
        ("input", "oversize"),
        ("input", "deadline"),
        ("decode", "malformed"),
        ("review", "panic"),
        ("review", "disabled"),
        ("start", "resources"),
        ("configuration", "invalid"),
        ("record", "unwritable"),
        ("settings", "fallen"),
        ("snapshot", "bound"),
        ("of_later", "of_later"),
    ];
    for (stage, kind) in failures {
        bodies.push(json!({ "type": "failure", "stage": stage, "kind": kind, "detail": "more",
                            "verdict": "block" }));
    }
    let events = [
        "checkrein.snapshot",
        "checkrein.snapshots_pruned",
        "checkrein.incidents_removed",
        "checkrein.restored",
        "checkrein.merged",
        "checkrein.notified",
        "checkrein.approval_asked",
        "checkrein.approval_answered",
        "checkrein.approval_forged",
        "checkrein.stopped",
        "checkrein.stopped_again",
        "checkrein.allowed",
        "checkrein.judged",
        "checkrein.gate",
        "PermissionRequest",
        "PermissionDenied",
        "PostToolBatch",
        "Stop",
        "SubagentStart",
        "SubagentStop",
        "SessionEnd",
        "Notification",
        "MessageDisplay",
        "PreCompact",
        "OfLater",
    ];
    for event in events {
        bodies.push(json!({ "type": "event", "name": event, "fields": {} }));
    }
    let read =
        |body: Json| serde_json::from_value(body.clone()).unwrap_or_else(|error| panic!("{error} in {body}"));
    bodies.into_iter().map(read).collect()
}

fn tokens() -> Json {
    json!({ "input": 1, "output": 1, "cache_write": 0, "cache_read": 0 })
}

#[test]
fn every_record_has_words_that_need_no_explanation() {
    let samples = samples();
    let names: BTreeSet<&str> = samples.iter().map(name).collect();
    assert_eq!(names.len(), RECORDS, "{names:?}");
    for body in &samples {
        let words = phrases::record(body);
        assert!(is_plain(&words.what), "{}: {words:?}", name(body));
    }
}

/// A session with one call of each sort, each with its end.
fn worked() -> TestEnvironment {
    let environment = TestEnvironment::new();
    let event = |name: &str, fields| environment.answer_to(&environment.payload("s", name, fields));
    event("SessionStart", json!({ "source": "startup" }));
    event("UserPromptSubmit", json!({ "prompt": "tidy up" }));
    environment.write("notes.txt", "the only copy\n");
    event("PreToolUse", shell_call("toolu_saved", "rm notes.txt", json!({})));
    std::fs::remove_file(environment.project().join("notes.txt")).unwrap();
    let done = json!({ "tool_response": { "stdout": "", "stderr": "" }, "duration_ms": 1200 });
    event("PostToolUse", shell_call("toolu_saved", "rm notes.txt", done));
    event("PreToolUse", shell_call("toolu_home", "rm -rf ~", json!({})));
    let edit = json!({
        "tool_name": "Edit",
        "tool_use_id": "toolu_edit",
        "tool_input": { "file_path": environment.project().join("src/main.rs"),
                        "old_string": "fn main() {}", "new_string": "fn main() {\n    run();\n}" },
    });
    event("PreToolUse", edit);
    event("PreToolUse", shell_call("toolu_failed", "cargo test", json!({})));
    let failed = json!({ "error": "Exit code 101\nerror: test failed" });
    event("PostToolUseFailure", shell_call("toolu_failed", "cargo test", failed));
    environment
}

#[test]
fn show_tells_what_was_wanted_seen_and_decided_and_what_came_of_it() {
    let environment = worked();
    let show = |id: &str| environment.succeed(&["show", id]);
    let saved = show("toolu_saved");
    for part in [
        "The agent wanted to run a command in",
        "    rm notes.txt\n",
        "seen        deletes",
        "decided     let it run",
        "outcome     Bash ended without an error after 1.2 s",
        "saved       1 file",
        "undo        `checkrein undo toolu_saved`",
    ] {
        assert!(saved.contains(part), "{part:?} in\n{saved}");
    }
    let stopped = show("toolu_home");
    for part in ["decided     stopped it", "why         this deletes `", "outcome     it did not run"] {
        assert!(stopped.contains(part), "{part:?} in\n{stopped}");
    }
    let edited = show("toolu_edit");
    for part in ["The agent wanted to change `", "    - fn main() {}\n", "    +     run();\n"] {
        assert!(edited.contains(part), "{part:?} in\n{edited}");
    }
    let failed = show("toolu_failed");
    assert!(failed.contains("outcome     Bash failed with exit code 101: error: test failed"), "{failed}");
    for text in [&saved, &stopped, &edited, &failed] {
        assert!(!text.contains('{') || text.contains("fn main"), "no JSON: {text}");
        for word in ["CTQ", "rationality", "risk  ", "posture", "file_delete"] {
            assert!(!text.contains(word), "{word} in\n{text}");
        }
    }
    let verbose = environment.succeed(&["show", "toolu_home", "--verbose"]);
    for part in ["decided     stopped it", "risk  1.00 critical", "rule  prevent_recursive_deletion: block"] {
        assert!(verbose.contains(part), "{part:?} in\n{verbose}");
    }
    for record in environment.records("s") {
        let told = show(&format!("s:{}", record["seq"]));
        assert!(!told.contains("\"type\"") && !told.contains("\"body\""), "{told}");
    }
}

#[test]
fn the_line_of_an_error_is_told_that_says_what_went_wrong() {
    let environment = worked();
    let log = environment.succeed(&["log"]);
    assert!(log.contains("error: test failed") && !log.contains("Exit code"), "{log}");
    // Of a long output the end is kept too, where many programs say what went wrong; secrets in it are masked.
    let filler = "a line without any news\n".repeat(1000);
    let output = format!(
        "Exit code 1\n{filler}{filler}FAILED tests/test_cart.py::test_total token=ghp_{}\n",
        "a1B2".repeat(9)
    );
    let call = |fields| shell_call("toolu_long", "pytest", fields);
    environment.answer_to(&environment.payload("s", "PreToolUse", call(json!({}))));
    environment.answer_to(&environment.payload("s", "PostToolUseFailure", call(json!({ "error": output }))));
    let shown = environment.succeed(&["show", "toolu_long"]);
    let one_line = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        one_line.contains("failed with exit code 1: FAILED tests/test_cart.py::test_total")
            && !shown.contains("a1B2a1B2"),
        "{shown}"
    );
    let log = environment.succeed(&["log"]);
    assert!(log.contains("FAILED tests/test_cart.py::test_total") && !log.contains("a1B2a1B2"), "{log}");
    let verbose = environment.succeed(&["show", "toolu_long", "--verbose"]);
    assert!(verbose.contains("error       Exit code 1") && verbose.contains("[cut: "), "{verbose}");
}

#[test]
fn show_offers_an_undo_only_while_there_is_something_to_take_back() {
    let environment = worked();
    let undone = |id: &str| environment.checkrein(&["undo", id, "--yes"]);
    let show = |id: &str| environment.succeed(&["show", id]).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(show("toolu_saved").contains("undo `checkrein undo toolu_saved`"));
    assert!(undone("toolu_saved").status.success());
    let shown = show("toolu_saved");
    assert!(shown.contains("it was taken back; `checkrein snapshot restore"), "{shown}");
    // Whoever waits for work to come back is told that none did, by the status too.
    let again = undone("toolu_saved");
    let said = String::from_utf8_lossy(&again.stdout).into_owned();
    assert_eq!(again.status.code(), Some(1), "{said}");
    assert!(said.contains("nothing to do"), "{said}");

    environment.git(&["init", "-q", "--bare", "-b", "main", "../remote.git"]);
    environment.git(&["remote", "add", "origin", "../remote.git"]);
    let push = "git push origin main";
    environment.answer_to(&environment.payload("s", "PreToolUse", shell_call("toolu_push", push, json!({}))));
    let done = json!({ "tool_response": { "stdout": "", "stderr": "" } });
    environment.answer_to(&environment.payload("s", "PostToolUse", shell_call("toolu_push", push, done)));
    let shown = show("toolu_push");
    assert!(
        !shown.contains("checkrein undo") && shown.contains("not possible: the commits are on the remote"),
        "{shown}"
    );
}

#[test]
fn show_offers_to_allow_a_call_only_where_that_is_accepted() {
    let environment = TestEnvironment::new();
    environment.write("../diary.md", "mine\n");
    for (id, command) in [("toolu_diary", "rm ../diary.md"), ("toolu_home", "rm -rf ~")] {
        environment.answer_to(&environment.payload("s", "PreToolUse", shell_call(id, command, json!({}))));
        let offer = format!("`checkrein allow {id}` lets exactly this call pass once");
        let is_offered = environment.succeed(&["show", id]).contains(&offer);
        let is_accepted = environment.checkrein(&["allow", id, "--once", "--yes"]).status.success();
        assert_eq!(is_offered, is_accepted, "{id}");
    }
}

#[test]
fn the_end_of_a_session_says_what_became_of_its_calls() {
    let environment = worked();
    let event = |session: &str, name: &str, fields| {
        environment.answer_to(&environment.payload(session, name, fields))
    };
    event("s", "SessionEnd", json!({ "reason": "other" }));
    let log = environment.succeed(&["log"]);
    let summary = "4 calls: 2 ok, 1 outcome unknown, 1 stopped";
    assert!(log.contains(&format!("the session ended: {summary}")), "{log}");
    // Claude Code shows nothing that a hook says at an end, and a line at a start.
    let answer = event("t", "SessionStart", json!({ "source": "startup" }));
    assert!(answer["systemMessage"].as_str().unwrap_or_default().contains(summary), "{answer}");
    let answer = event("s", "SessionStart", json!({ "source": "resume" }));
    assert!(!answer.to_string().contains("calls:"), "{answer}");
    // A session about which there is nothing to say is not told of.
    event("t", "PreToolUse", shell_call("toolu_list", "ls", json!({})));
    let answer = event("u", "SessionStart", json!({ "source": "startup" }));
    assert!(!answer.to_string().contains("1 call: 1 ok"), "{answer}");
}

/// Commands that print lists.
const LISTS: [&[&str]; 14] = [
    &["log"],
    &["session", "list"],
    &["stats"],
    &["watch", "--once", "--all"],
    &["ticket", "list"],
    &["issue", "list"],
    &["incident", "list"],
    &["surprise", "list"],
    &["snapshot", "list"],
    &["allow", "--list"],
    &["approval", "list"],
    &["run", "list"],
    &["config", "show"],
    &["policy", "try", "stricter.yaml"],
];

#[test]
fn no_line_of_a_list_is_longer_than_the_terminal_and_no_word_is_cut() {
    let environment = worked();
    let event = |name: &str, fields| environment.answer_to(&environment.payload("s", name, fields));
    let long = "git log --oneline --graph --decorate --all --since=yesterday -- src tests docs examples fuzz";
    event("PreToolUse", shell_call("toolu_long", long, json!({})));
    let prompt =
        "please tidy the whole project up, and tell me at the end what you have changed and why you did";
    event("UserPromptSubmit", json!({ "prompt": prompt }));
    event("PreToolUse", shell_call("toolu_push", "git push --force origin main", json!({})));
    event("SessionEnd", json!({ "reason": "other" }));
    environment.write(
        "stricter.yaml",
        "step_reviewer:\n  rules:\n    custom:\n      - {name: no_log, when: 'action.command.contains(\"log\")', decision: block, reason: the log is long and nobody reads all of it to its end}\n",
    );
    for list in LISTS {
        let printed = |width: &str| {
            let mut command = environment.command(env!("CARGO_BIN_EXE_checkrein"));
            let output = command.env("COLUMNS", width).args(list).output().unwrap();
            assert!(output.status.success(), "{list:?}: {output:?}");
            String::from_utf8(output.stdout).unwrap()
        };
        let whole = printed("1000");
        // What has a form of its own for a narrow terminal has its own words too.
        let usual = printed("100");
        let words: BTreeSet<&str> = whole.split_whitespace().chain(usual.split_whitespace()).collect();
        for width in [80, 120] {
            let text = printed(&width.to_string());
            for line in text.lines() {
                let length = line.chars().count();
                let is_one_word = line.split_whitespace().any(|word| word.chars().count() > width - 20);
                assert!(length <= width || is_one_word, "{list:?} at {width}: {length} in {line:?}\n{text}");
                for word in line.split_whitespace() {
                    assert!(words.contains(word), "{list:?} at {width}: {word:?} in {line:?}\n{whole}");
                }
            }
        }
        // Without a word about the width it is that of the oldest terminals.
        let mut command = environment.command(env!("CARGO_BIN_EXE_checkrein"));
        let output = command.env_remove("COLUMNS").args(list).output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), printed("80").lines().count());
    }
}

/// Phrases that nobody in the field would use, each of which stood in a text once.
const ODD: [&str; 12] = [
    "leaves the machine with the conversation",
    "Low rationality",
    "High risk action",
    "reins",
    "cannot be known beforehand",
    "runs contained",
    "nowhere written down",
    "did not make it",
    "what was not foreseen",
    "concerns more than",
    "for ever",
    "is to be asked is refused",
];

#[test]
fn verdicts_and_pages_are_written_in_the_words_of_the_field() {
    let environment = TestEnvironment::new();
    environment.write(".env", "KEY=value\n");
    environment.write("../diary.md", "mine\n");
    let commands = [
        "cat .env",
        "rm ../diary.md",
        "python3 missing.py",
        "chmod -R 777 ..",
        "sudo systemctl restart nginx",
        "echo x >> ~/.bashrc",
        "checkrein resume --all",
        "eval \"$(base64 -d blob)\"",
        "git push --force origin main",
        "find / -name x",
    ];
    for command in commands {
        let output = environment.checkrein(&["check", "--json", command]);
        let text = String::from_utf8(output.stdout).unwrap();
        let odd: Vec<&&str> = ODD.iter().filter(|odd| text.contains(**odd)).collect();
        assert!(odd.is_empty(), "{command}: {odd:?} in {text}");
    }
    let agents = std::fs::read_to_string(support::repository().join("docs/agents.md")).unwrap();
    let odd: Vec<&&str> = ODD.iter().filter(|odd| agents.contains(**odd)).collect();
    assert!(odd.is_empty(), "{odd:?} in docs/agents.md");
}

/// Words for what has another one, each with the word that people read. The names of settings and of JSON stand on the pages that explain them.
const OTHER_WORDS: [(&str, &str); 7] = [
    ("nudge", "hint"),
    ("escalate", "asked"),
    ("escalated", "asked"),
    ("blocked", "stopped"),
    ("is kept as", "saved as"),
    ("was kept as", "saved as"),
    ("no answer", "nobody answered"),
];

/// What stands in a page or a snapshot as people read it: without blocks of settings, names in code and the frame of a snapshot.
fn read_by_people(text: &str, is_page: bool) -> String {
    let mut is_quoted = false;
    let mut read = String::new();
    for line in text.lines() {
        if line.starts_with("```") {
            is_quoted = !is_quoted && ["```yaml", "```json"].iter().any(|start| line.starts_with(start));
            continue;
        }
        // In pages what stands in back-ticks is code; what is printed is read as a whole.
        let parts = line.split('`').step_by(2).collect::<Vec<_>>().join(" ");
        if !is_quoted {
            read.push_str(if is_page { &parts } else { line });
            read.push('\n');
        }
    }
    read
}

#[test]
fn one_thing_has_one_word_wherever_people_read_it() {
    let root = support::repository();
    let snapshots = ["crates/checkrein/tests/snapshots", "crates/cli/src/commands/watch/drawing/snapshots"];
    let mut texts: Vec<(std::path::PathBuf, bool)> = Vec::new();
    for folder in snapshots {
        let files = std::fs::read_dir(root.join(folder)).unwrap();
        texts.extend(files.map(|file| (file.unwrap().path(), false)));
    }
    // What a user reads first. The pages about the inside name what the sources name.
    let pages = [
        "README.md",
        "docs/agents.md",
        "docs/ci.md",
        "docs/client-view.md",
        "docs/day.md",
        "docs/false-alarms.md",
        "docs/installing.md",
        "docs/policy.md",
        "docs/questions.md",
        "docs/quick-start.md",
        "docs/supervision.md",
        "docs/team.md",
        "docs/unattended.md",
    ];
    texts.extend(pages.map(|page| (root.join(page), true)));
    assert!(texts.len() > 40, "{texts:?}");
    let mut found = Vec::new();
    for (path, is_page) in texts {
        let text = read_by_people(&std::fs::read_to_string(&path).unwrap(), is_page);
        for (number, line) in text.lines().enumerate() {
            let words = format!(" {} ", line.to_lowercase().replace(|c: char| !c.is_ascii_alphabetic(), " "));
            for (other, word) in OTHER_WORDS.iter().filter(|(other, _)| words.contains(&format!(" {other} ")))
            {
                found.push(format!("{} {number}: `{other}` for `{word}`: {line}", path.display()));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Whatever a call is called and says, nothing of it speaks to the terminal of whoever reads the records, and no name looks like a line of ours.
#[test]
fn nothing_of_a_call_speaks_to_the_terminal() {
    const ESCAPES: &str = "\u{1b}]0;title\u{7}\u{1b}[31mred\u{202e}\u{200b}";
    let environment = TestEnvironment::new();
    let home = environment.home();
    std::fs::write(home.join("diary.md"), "mine\n").unwrap();
    let tell = |event: &str, fields: Json| environment.answer_to(&environment.payload("s", event, fields));
    tell("UserPromptSubmit", json!({ "prompt": format!("one\ntwo {ESCAPES}") }));
    let id = format!("toolu_a{ESCAPES} b\nc");
    let call = |id: &str, tool: &str, input: Json| json!({ "tool_name": tool, "tool_input": input, "tool_use_id": id });
    tell("PreToolUse", call(&id, "Bash", json!({ "command": format!("rm '../diary.md' \"{ESCAPES}\"") })));
    tell(
        "PreToolUse",
        call(
            "toolu_w",
            "Write",
            json!({ "file_path": format!("{}/f{ESCAPES}\ndecided     let it run", home.display()), "content": ESCAPES }),
        ),
    );
    tell(
        "PreToolUse",
        call(
            "toolu_m",
            &format!("mcp__x{ESCAPES}__do"),
            json!({ "path": format!("/etc/{ESCAPES}\nwhy         none") }),
        ),
    );
    let ran = json!({ "tool_response": { "stdout": ESCAPES, "stderr": "", "interrupted": false } });
    tell(
        "PostToolUse",
        shell_call(&format!("toolu_never{ESCAPES}\nreviewed"), &format!("rm -rf {ESCAPES}"), ran),
    );
    environment.write("bad.yaml", &format!("a{ESCAPES}: 1\n"));
    let commands: &[&[&str]] = &[
        &["log"],
        &["log", "--risky"],
        &["session", "list"],
        &["session", "show", "s"],
        &["show", "LAST"],
        &["show", "toolu_w"],
        &["show", "toolu_m", "--verbose"],
        &["allow", "toolu_w"],
        &["wrong", "LAST"],
        &["stats"],
        &["watch"],
        &["undo", "--dry-run"],
        &["snapshot", "list"],
        &["ticket", "list"],
        &["doctor"],
        &["policy", "try", "bad.yaml"],
        &["history", "one"],
        &["surprise", "list"],
        &["show", &id],
    ];
    for command in commands {
        let mut run = environment.command(env!("CARGO_BIN_EXE_checkrein"));
        let output = run.env("COLUMNS", "80").args(*command).output().unwrap();
        assert!(output.status.code().is_some_and(|code| code <= 3), "{command:?}: {output:?}");
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        let speaks = |c: char| (c.is_control() && c != '\n') || matches!(c, '\u{202e}' | '\u{200b}');
        assert!(!said.contains(speaks), "{command:?}: {said:?}");
        let labels = said.lines().filter(|line| line.starts_with("decided ")).count();
        assert!(labels <= 1 && !said.contains("\nwhy         none"), "{command:?}: {said}");
    }
}
