//! What a file is does not hang on the name that it is reached by, nor on the encoding of its comments.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;
use support::{TestEnvironment, decision};

#[test]
fn a_secret_behind_a_link_is_a_secret() {
    let environment = TestEnvironment::new();
    let (home, project) = (environment.home(), environment.project());
    fs::create_dir_all(home.join(".ssh")).unwrap();
    fs::write(home.join("kept"), "TOKEN=8f2b1c\n").unwrap();
    symlink(home.join("kept"), project.join(".env")).unwrap();
    symlink(".env", project.join("again")).unwrap();
    symlink("../kept", home.join(".ssh/id_rsa")).unwrap();
    symlink("elsewhere", home.join(".aws")).unwrap();
    fs::create_dir(home.join("elsewhere")).unwrap();
    fs::write(home.join("elsewhere/credentials"), "[default]\n").unwrap();
    fs::write(project.join(".env.example"), "TOKEN=\n").unwrap();
    symlink(".env.example", project.join("sample.env")).unwrap();

    for command in
        ["cat .env", "head -3 again", "cat .e?v", "cp ~/.ssh/id_rsa copy", "cat ~/.aws/credentials"]
    {
        let answer = environment.bash("reads", command);
        let masked = answer["hookSpecificOutput"]["updatedInput"]["command"].as_str();
        let is_masked = masked.is_some_and(|text| text.contains("/checkrein mask; "));
        assert!(is_masked || decision(&answer).is_some_and(|said| said != "allow"), "{command}: {answer}");
    }
    let call = json!({ "tool_name": "Read", "tool_input": { "file_path": project.join(".env") }, "tool_use_id": "r" });
    let answer = environment.answer_to(&environment.payload("reads", "PreToolUse", call.clone()));
    let shown =
        json!({ "type": "text", "file": { "filePath": project.join(".env"), "content": "TOKEN=8f2b1c\n" } });
    let mut call = call;
    call["tool_response"] = shown;
    let output = environment.answer_to(&environment.payload("reads", "PostToolUse", call));
    let masked = output["hookSpecificOutput"]["updatedToolOutput"].to_string();
    assert!(
        decision(&answer).is_some() || masked.contains("TOKEN=[masked:") && !masked.contains("8f2b1c"),
        "{answer} {output}"
    );
    for command in ["cat sample.env", "ls -l .env", "set -a; . ./.env; set +a; make"] {
        let answer = environment.bash("ordinary", command);
        assert!(decision(&answer).is_none_or(|said| said == "allow"), "{command}: {answer}");
    }
}

#[test]
fn a_script_is_read_whatever_its_comments_are_encoded_in() {
    let environment = TestEnvironment::new();
    let project = environment.project();
    fs::write(project.join("clean.sh"), b"# caf\xe9\nrm -rf ~\n").unwrap();
    fs::write(project.join("Makefile"), b"all:\n\t# caf\xe9\n\trm -rf ~\n").unwrap();
    fs::write(
        project.join("clean.py"),
        b"# -*- coding: latin-1 -*-\n# caf\xe9\nimport shutil, os\nshutil.rmtree(os.path.expanduser('~'))\n",
    )
    .unwrap();
    fs::write(project.join("package.json"), "\u{feff}{\"scripts\": {\"test\": \"rm -rf ~\"}}").unwrap();
    for command in ["bash clean.sh", "make", "python3 clean.py", "npm test"] {
        assert_eq!(decision(&environment.bash("runs", command)), Some("deny"), "{command}");
    }
}

#[test]
fn what_lies_behind_a_link_is_not_of_the_workspace() {
    let environment = TestEnvironment::new();
    let (home, project) = (environment.home(), environment.project());
    fs::create_dir_all(home.join("Documents")).unwrap();
    fs::write(home.join("Documents/thesis.txt"), "the only copy").unwrap();
    fs::create_dir_all(project.join("build")).unwrap();
    fs::write(project.join("build/out"), "").unwrap();
    symlink(&home, project.join("up")).unwrap();
    symlink(home.join("Documents"), project.join("papers")).unwrap();

    for command in [
        "find up/ -type f -name thesis.txt -delete",
        "find */ -name thesis.txt -delete",
        "find -L . -name thesis.txt -delete",
        "find -H papers -type f -delete",
        "rm $(find -H papers -type f)",
        "python3 -c \"import os; [os.remove('papers/' + name) for name in os.listdir('papers')]\"",
        "perl -e \"unlink glob 'papers/*'\"",
        "cd -P papers/..; rm -rf Documents",
        "set -P; cd papers/..; rm -rf Documents",
        "git -C papers init -q; git -C papers clean -fdxq",
    ] {
        let answer = environment.bash("deletes", command);
        assert!(decision(&answer).is_some_and(|said| said != "allow"), "{command}: {answer}");
    }
    for command in ["cd papers/..; rm -rf build", "find papers -name '*.tmp'", "ls up/*"] {
        let answer = environment.bash("ordinary", command);
        assert!(decision(&answer).is_none_or(|said| said == "allow"), "{command}: {answer}");
    }
}
