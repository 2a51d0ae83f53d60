//! Files that programs fetch over what stands there: `undo` gives back what was overwritten, also where nobody knew which names come.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;

use serde_json::json;
use support::{TestEnvironment, decision, shell_call};

/// A command, and what it overwrites.
const FETCHING: &[(&str, &[&str])] = &[
    ("sftp web1 <<< 'mget /pub/*'", &["notes.txt", "out/x.txt"]),
    ("sftp -b batch.txt web1", &["notes.txt"]),
    ("sftp web1 < batch.txt", &["notes.txt"]),
    ("lftp -c 'open web1; mirror /pub out'", &["out/x.txt"]),
    ("lftp -c 'open web1; get a -o notes.txt'", &["notes.txt"]),
    ("tftp web1 -c get a notes.txt", &["notes.txt"]),
    ("ncftpget web1 out /pub/x.txt", &["out/x.txt"]),
    ("smbclient //web1/s -c 'recurse on; mget *'", &["notes.txt", "out/x.txt"]),
    ("gh release download v1 --clobber", &["notes.txt"]),
    ("gh run download 12 -D out", &["out/x.txt"]),
    ("svn export --force https://svn.acme.dev/trunk .", &["notes.txt", "out/x.txt"]),
    ("svn revert -R .", &["notes.txt"]),
    ("p4 sync -f", &["notes.txt"]),
    ("az storage blob download-batch -s c -d .", &["notes.txt", "out/x.txt"]),
    ("aws s3api get-object --bucket b --key k notes.txt", &["notes.txt"]),
    ("s5cmd cp 's3://b/*' out/", &["out/x.txt"]),
    ("kaggle datasets download a/b --unzip", &["notes.txt"]),
    ("yt-dlp -o '%(title)s.txt' https://example.com/v", &["notes.txt"]),
    ("aria2c --allow-overwrite=true https://example.com/notes.txt", &["notes.txt"]),
    ("curl -sSOJ https://example.com/dl", &["notes.txt"]),
    ("curl -sS -o 'out/#1.txt' 'https://example.com/{x,y}'", &["out/x.txt"]),
    ("wget -q -x -nH https://example.com/out/x.txt", &["out/x.txt"]),
    ("wget -q -N -i list.txt", &["notes.txt"]),
    ("wrangler r2 object get bucket/notes.txt", &["notes.txt"]),
    ("helm pull repo/chart --untar -d out", &["out/x.txt"]),
];

#[test]
fn what_is_fetched_over_files_is_taken_back() {
    for (command, overwritten) in FETCHING {
        let environment = TestEnvironment::new();
        environment.write("notes.txt", "only here\n");
        environment.write("out/x.txt", "only here\n");
        environment.write("batch.txt", "get /pub/notes.txt\n");
        environment.write("list.txt", "https://example.com/notes.txt\n");
        let call = |event: &str, more| {
            environment.answer_to(&environment.payload("s", event, shell_call("call", command, more)))
        };
        let answer = call("PreToolUse", json!({}));
        assert_ne!(decision(&answer), Some("deny"), "{command}: {answer}");
        std::thread::sleep(std::time::Duration::from_millis(30));
        overwritten.iter().for_each(|name| environment.write(name, "from elsewhere\n"));
        call("PostToolUse", json!({ "tool_response": { "stdout": "", "stderr": "", "interrupted": false } }));
        let said = environment.checkrein(&["undo", "--yes"]);
        for name in ["notes.txt", "out/x.txt"] {
            let stands = fs::read_to_string(environment.project().join(name)).unwrap();
            assert_eq!(stands, "only here\n", "{command}: {name}: {said:?}");
        }
    }
}

/// Elsewhere than in the workspace the folder itself is saved, where it is little.
#[test]
fn a_folder_elsewhere_is_saved_too() {
    let environment = TestEnvironment::new();
    let elsewhere = environment.home().join("collection");
    fs::create_dir_all(&elsewhere).unwrap();
    fs::write(elsewhere.join("a.txt"), "only here\n").unwrap();
    let command = format!("gh run download 12 -D {}", elsewhere.display());
    let call = |event: &str, more| {
        environment.answer_to(&environment.payload("s", event, shell_call("call", &command, more)))
    };
    call("PreToolUse", json!({}));
    std::thread::sleep(std::time::Duration::from_millis(30));
    fs::write(elsewhere.join("a.txt"), "from elsewhere\n").unwrap();
    call("PostToolUse", json!({ "tool_response": { "stdout": "", "stderr": "", "interrupted": false } }));
    let said = environment.checkrein(&["undo", "--yes"]);
    assert_eq!(fs::read_to_string(elsewhere.join("a.txt")).unwrap(), "only here\n", "{said:?}");
}
