//! What passes: recorded conversations byte for byte, floods, long lines, broken ones; and how a connection ends.

use std::fs;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use checkrein_testkit::not_run;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value as Json, json};

use crate::connection::{Connection, PATIENCE, asks, prompt, requests, tells};
use crate::support::{TestEnvironment, processes_in};

/// The conversations of real agents, by name.
fn recordings() -> Vec<(String, String)> {
    let files = fs::read_dir("tests/payloads/acp").unwrap().map(|file| file.unwrap().path());
    let read = |path: std::path::PathBuf| {
        (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read_to_string(path).unwrap())
    };
    let mut all: Vec<_> = files.map(read).collect();
    all.sort();
    all
}

#[test]
fn recorded_conversations_pass_byte_for_byte_and_in_order() {
    let all = recordings();
    assert!(all.len() >= 16, "{}", all.len());
    for (name, text) in all {
        let environment = TestEnvironment::new();
        let project = environment.project();
        let mut connection = Connection::open(&environment);
        let (mut count, mut bytes, mut runs_shell) = (0, 0, false);
        for row in text.replace("/home/dev/proj", project.to_str().unwrap()).lines() {
            // As it was written, with its own order and blanks.
            let (from, message) = row.split_once(", \"msg\": ").unwrap();
            let line = format!("{}\n", message.strip_suffix('}').unwrap()).into_bytes();
            runs_shell |= row.contains("echo hi > ran.txt");
            // The deed itself, without which it would be a surprise that it was told.
            if row.contains("\"status\": \"completed\"") {
                environment.write(if runs_shell { "ran.txt" } else { "a.txt" }, "hi\n");
            }
            let heard = if from.ends_with("\"client\"") {
                connection.editor_writes(&line);
                connection.to_agent.recv_timeout(PATIENCE)
            } else {
                connection.agent_writes(&line);
                connection.to_editor.recv_timeout(PATIENCE)
            };
            let heard = heard.unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(String::from_utf8_lossy(&heard), String::from_utf8_lossy(&line), "{name}");
            (count, bytes) = (count + 1, bytes + line.len());
        }
        assert!(connection.to_editor.try_recv().is_err(), "{name}: more than was said reached the editor");
        let (status, said) = connection.end();
        assert_eq!((status, said.as_str()), (Some(0), ""), "{name}");
        println!("{name}: {count} lines, {bytes} bytes");
    }
}

#[test]
fn a_lasting_yes_to_any_recorded_agent_becomes_one_for_the_call_and_answers_the_next_one() {
    let mut agents = std::collections::BTreeSet::new();
    for (name, text) in recordings() {
        let environment = TestEnvironment::new();
        let project = environment.project();
        let text = text.replace("/home/dev/proj", project.to_str().unwrap());
        let rows = text.lines().map(|row| serde_json::from_str::<Json>(row).unwrap()["msg"].take());
        let asked = rows.filter(|message| message["method"] == "session/request_permission");
        for (number, mut asked) in asked.enumerate() {
            let of_kind = |is_meant: fn(&str) -> bool| {
                let options = asked["params"]["options"].as_array().unwrap();
                let found =
                    options.iter().find(|option| is_meant(option["kind"].as_str().unwrap_or_default()));
                found.map(|option| option["optionId"].clone())
            };
            let lasting = of_kind(|kind| kind == "allow_always");
            let (Some(lasting), Some(once)) = (lasting, of_kind(|kind| kind == "allow_once")) else {
                continue;
            };
            agents.insert(name.split('-').next().unwrap().to_owned());
            let session = format!("s{number}");
            asked["params"]["sessionId"] = json!(session);
            let mut connection = Connection::open_anew(&environment);
            connection.begin(&session, &project);
            let chosen = |id: u32, option: &Json| json!({ "jsonrpc": "2.0", "id": id, "result": { "outcome": { "outcome": "selected", "optionId": option } } });
            asked["id"] = json!(70);
            connection.reaches_editor(&asked);
            connection.editor_says(&chosen(70, &lasting));
            assert_eq!(connection.agent_hears(), chosen(70, &once), "{name}: {asked}");
            assert!(connection.editor_hears().to_string().contains("checkrein keeps this"), "{name}");
            // The same again, as a call of its own.
            let call = format!("{}-again", asked["params"]["toolCall"]["toolCallId"].as_str().unwrap());
            asked["params"]["toolCall"]["toolCallId"] = json!(call);
            asked["id"] = json!(71);
            connection.agent_says(&asked);
            assert_eq!(connection.agent_hears(), chosen(71, &once), "{name}: {asked}");
            connection.end();
        }
    }
    println!("{agents:?}");
    assert!(agents.len() >= 4, "{agents:?}");
}

/// The most memory that the processes of a proxy had, in KB.
fn peak(outer: u32) -> u64 {
    let children = fs::read_to_string(format!("/proc/{outer}/task/{outer}/children")).unwrap_or_default();
    let of = |pid: &str| {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default().to_owned();
        line.split_whitespace().next().and_then(|number| number.parse().ok()).unwrap_or(0)
    };
    children.split_whitespace().map(of).max().unwrap_or(0)
}

#[test]
fn a_flood_passes_in_order_within_bounded_memory() {
    const COUNT: usize = 100_000;
    let environment = TestEnvironment::new();
    let mut connection = Connection::open(&environment);
    connection.begin("s1", &environment.project());
    let mut agent = connection.agent.take().unwrap();
    let started = Instant::now();
    let writing = thread::spawn(move || {
        use std::io::Write as _;
        let mut text = Vec::new();
        for number in 0..COUNT {
            let content =
                json!({ "type": "text", "text": format!("word {number} \"\\u00e9\" of a long answer") });
            let update = json!({ "sessionUpdate": "agent_message_chunk", "content": content });
            text.extend_from_slice(format!("{}\n", tells("s1", &update)).as_bytes());
        }
        agent.write_all(&text).unwrap();
        (agent, text)
    });
    let mut all = Vec::new();
    for _ in 0..COUNT {
        all.extend(connection.to_editor.recv_timeout(PATIENCE).unwrap());
    }
    let took = started.elapsed();
    let (agent, text) = writing.join().unwrap();
    assert!(all == text, "the flood came changed");
    let memory = peak(connection.proxy.id());
    println!(
        "{COUNT} messages, {} MB in {:.2} s: {:.0} a second; at most {} MB of memory",
        text.len() / 1_000_000,
        took.as_secs_f64(),
        COUNT as f64 / took.as_secs_f64(),
        memory / 1024
    );
    assert!((1..128 * 1024).contains(&memory), "{memory} KB");
    // A cancellation behind a flood comes through, in both directions at once.
    connection.agent = Some(agent);
    connection.reaches_agent(
        &json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": { "sessionId": "s1" } }),
    );
    connection.end();
}

#[test]
fn a_side_that_does_not_read_holds_up_the_other_and_not_our_memory() {
    let environment = TestEnvironment::new();
    let from = environment.home().join("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&from).status().unwrap().success());
    // An editor that reads nothing; the agent has 40 MB to say.
    let mut command = environment.command(env!("CARGO_BIN_EXE_checkrein"));
    command.args([
        "acp",
        "--",
        "sh",
        "-c",
        "yes '{\"jsonrpc\":\"2.0\",\"method\":\"x\"}' | head -c 40000000; echo done >\"$1\"",
        "sh",
    ]);
    command.arg(&from).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut proxy = command.spawn().unwrap();
    thread::sleep(Duration::from_secs(2));
    let memory = peak(proxy.id());
    assert!((1..64 * 1024).contains(&memory), "{memory} KB");
    println!("a flood that nobody reads: at most {} MB of memory", memory / 1024);
    let output = proxy.stdout.take().unwrap();
    let reading = thread::spawn(move || std::io::copy(&mut { output }, &mut std::io::sink()).unwrap());
    assert_eq!(fs::read_to_string(&from).unwrap(), "done\n");
    assert_eq!(proxy.wait().unwrap().code(), Some(0));
    assert_eq!(reading.join().unwrap(), 40_000_000);
}

#[test]
fn a_line_of_50_mb_passes_both_ways_and_one_that_is_too_long_is_answered() {
    let environment = TestEnvironment::new();
    let mut connection = Connection::open(&environment);
    connection.begin("s1", &environment.project());
    let long = "x".repeat(50_000_000);
    let started = Instant::now();
    let line = format!("{}\n", json!({ "jsonrpc": "2.0", "method": "x/long", "params": { "text": long } }))
        .into_bytes();
    // An answer of the editor with the text of a file, and a word of the agent.
    connection.reaches_editor(&requests(
        &json!(0),
        "fs/read_text_file",
        &json!({ "sessionId": "s1", "path": "README.md" }),
    ));
    let answer =
        format!("{}\n", json!({ "jsonrpc": "2.0", "id": 0, "result": { "content": long } })).into_bytes();
    let mut agent = connection.agent.take().unwrap();
    let writing = thread::spawn(move || {
        use std::io::Write as _;
        agent.write_all(&line).unwrap();
        (agent, line)
    });
    let heard = connection.to_editor.recv_timeout(PATIENCE).unwrap();
    let (agent, line) = writing.join().unwrap();
    assert!(heard == line);
    connection.agent = Some(agent);
    connection.editor_writes(&answer);
    assert!(connection.to_agent.recv_timeout(PATIENCE).unwrap() == answer);
    println!(
        "two lines of 50 MB in {:.2} s; at most {} MB of memory",
        started.elapsed().as_secs_f64(),
        peak(connection.proxy.id()) / 1024
    );
    // A request that is reviewed has a closer bound.
    let write = requests(
        &json!(1),
        "fs/write_text_file",
        &json!({ "sessionId": "s1", "path": "big", "content": long.get(..13_000_000) }),
    );
    connection.agent_says(&write);
    let refused = connection.agent_hears();
    assert!(refused["error"]["message"].as_str().unwrap().contains("12 MiB"), "{}", refused["id"]);
    // And no line is longer than 64 MiB.
    let more = "y".repeat(70_000_000);
    connection
        .agent_says(&json!({ "jsonrpc": "2.0", "id": 2, "method": "x/longer", "params": { "text": more } }));
    let refused = connection.agent_hears();
    assert_eq!(refused["id"], json!(2));
    assert!(refused["error"]["message"].as_str().unwrap().contains("64 MiB"));
    connection.reaches_editor(&asks(&json!(3), "s1", "c", "ls"));
    let (_, said) = connection.end();
    assert!(said.contains("longer than 64 MiB"), "{said}");
}

#[test]
fn broken_lines_pass_and_are_said_once_and_those_that_could_be_obeyed_are_held_back() {
    let environment = TestEnvironment::new();
    let mut connection = Connection::open(&environment);
    connection.begin("s1", &environment.project());
    for line in [&b"Loading...\n"[..], b"{\"half\":\n", b"\n", b"\xff\xfe\n", b"[1,2]\n", b"{}\r\n"] {
        connection.agent_writes(line);
        assert_eq!(connection.to_editor.recv_timeout(PATIENCE).unwrap(), line);
        connection.editor_writes(line);
        assert_eq!(connection.to_agent.recv_timeout(PATIENCE).unwrap(), line);
    }
    connection
        .agent_writes(b"{\"id\":1,\"method\":\"terminal/create\",\"params\":{\"command\":\"rm -rf ~\"},}\n");
    connection.agent_writes(b"{\"id\":1,\"method\":\"\\u0066s\\/write_text_file\" \"params\":{}}\n");
    connection
        .agent_writes(b"{\"method\":\"x\",\"params\":\r{\"id\":1,\"method\":\"fs/write_text_file\"}\r}\n");
    // A name that stands there twice, and one in disguise, are read as every reader reads them.
    connection.agent_writes(b"{\"id\":2,\"method\":\"x\",\"\\u006dethod\":\"terminal/create\",\"params\":{\"sessionId\":\"s1\",\"command\":\"rm -rf ~\"}}\n");
    let answer = connection.agent_hears();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(2), &json!(-32000)));
    assert!(connection.editor_hears().to_string().contains("checkrein: stopped"));
    connection.agent_writes(b"last words");
    drop(connection.agent.take());
    assert_eq!(connection.to_editor.recv_timeout(PATIENCE).unwrap(), b"last words");
    let (status, said) = connection.ended();
    assert_eq!(status, Some(0));
    assert_eq!(said.matches("is not JSON").count(), 1, "{said}");
    assert!(said.contains("lines were not JSON"), "{said}");
}

#[test]
fn several_messages_in_one_line_are_judged_one_by_one() {
    let environment = TestEnvironment::new();
    let mut connection = Connection::open(&environment);
    connection.begin("s1", &environment.project());
    let batch = json!([asks(&json!(1), "s1", "c1", "ls"), asks(&json!(2), "s1", "c2", "rm -rf ~"), { "method": "x" }]);
    connection.agent_says(&batch);
    assert_eq!(connection.editor_hears()["id"], json!(1));
    assert_eq!(connection.agent_hears()["id"], json!(2));
    assert!(connection.editor_hears().to_string().contains("stopped"));
    assert_eq!(connection.editor_hears(), json!({ "method": "x" }));
    let plain = json!([{ "method": "a" }, { "id": 4, "result": 1 }]);
    connection.reaches_editor(&plain);
    connection.reaches_agent(&plain);
    connection.end();
}

/// A proxy with this agent, whose working directory is the project.
fn with_agent(environment: &TestEnvironment, agent: &str) -> std::process::Child {
    let mut command = environment.command(env!("CARGO_BIN_EXE_checkrein"));
    command.args(["acp", "--", "sh", "-c", agent]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits until that many processes of the agent are there.
fn until(environment: &TestEnvironment, count: usize) -> Vec<String> {
    let started = Instant::now();
    loop {
        let found = processes_in(&environment.project());
        if found.len() == count {
            return found;
        }
        assert!(started.elapsed() < PATIENCE, "{found:?} instead of {count}");
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn status_and_errors_of_the_agent_are_ours_and_nothing_of_it_stays() {
    let environment = TestEnvironment::new();
    let mut proxy = with_agent(&environment, "echo oops >&2; echo '{}'; sleep 1000 & exit 7");
    drop(proxy.stdin.take());
    let output = proxy.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(7));
    assert_eq!((output.stdout.as_slice(), output.stderr.as_slice()), (&b"{}\n"[..], &b"oops\n"[..]));
    until(&environment, 0);
    let missing = environment.checkrein(&["acp", "--", "no-such-agent"]);
    assert_eq!(missing.status.code(), Some(127));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("no-such-agent"));
}

#[test]
fn whoever_is_killed_takes_the_others_along() {
    // The agent in the middle of a turn.
    let environment = TestEnvironment::new();
    let mut proxy = with_agent(&environment, "sleep 1000 & kill -9 $$; wait");
    let status = proxy.wait().unwrap();
    assert_eq!(status.code(), Some(137));
    until(&environment, 0);
    // Each process of ours.
    for inner in [false, true] {
        let environment = TestEnvironment::new();
        let mut proxy = with_agent(&environment, "setsid sleep 1000 & cat");
        until(&environment, 3);
        let outer = proxy.id();
        let children = fs::read_to_string(format!("/proc/{outer}/task/{outer}/children")).unwrap();
        let pid = if inner { children.trim().parse().unwrap() } else { i32::try_from(outer).unwrap() };
        kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
        until(&environment, 0);
        let code = proxy.wait().unwrap().code();
        assert_eq!(code, if inner { Some(137) } else { None });
    }
}

#[test]
fn signals_reach_the_agent_and_an_editor_that_is_gone_ends_it() {
    let environment = TestEnvironment::new();
    let mut proxy = with_agent(&environment, "trap 'exit 9' TERM; while :; do sleep 0.05; done");
    until(&environment, 2);
    kill_process(Pid::from_raw(i32::try_from(proxy.id()).unwrap()).unwrap(), Signal::TERM).unwrap();
    assert_eq!(proxy.wait().unwrap().code(), Some(9));
    // One that does not mind an input that ends, and says nothing.
    let environment = TestEnvironment::new();
    let mut proxy = with_agent(&environment, "exec sleep 1000");
    until(&environment, 1);
    drop((proxy.stdin.take(), proxy.stdout.take(), proxy.stderr.take()));
    assert_eq!(proxy.wait().unwrap().code(), Some(143));
    until(&environment, 0);
    // One whose input ends may still say what it has to.
    let mut proxy = with_agent(&environment, "cat >/dev/null; sleep 0.3; echo '{\"late\":1}'");
    drop(proxy.stdin.take());
    assert_eq!(proxy.wait_with_output().unwrap().stdout, b"{\"late\":1}\n");
}

#[test]
fn a_contained_agent_writes_where_it_may_and_nowhere_else() {
    let environment = TestEnvironment::new();
    let able = environment.checkrein(&["exec", "--require", "--write", ".", "--", "true"]);
    if !able.status.success() {
        not_run("this machine does not confine commands");
        return;
    }
    let agent = "echo in > inside.txt; echo out > \"$HOME/outside.txt\"; cat";
    let mut command = environment.command(env!("CARGO_BIN_EXE_checkrein"));
    command.args(["acp", "--contain", "--", "sh", "-c", agent]);
    let mut proxy =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    {
        use std::io::Write as _;
        let mut editor = proxy.stdin.take().unwrap();
        writeln!(editor, "{}", prompt(&json!(1), "s1", "hi")).unwrap();
    }
    let output = proxy.wait_with_output().unwrap();
    assert_eq!(serde_json::from_slice::<Json>(&output.stdout).unwrap(), prompt(&json!(1), "s1", "hi"));
    assert!(environment.project().join("inside.txt").is_file());
    assert!(!environment.home().join("outside.txt").exists());
}
