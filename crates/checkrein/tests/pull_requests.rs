//! Pull requests by the API of a forge, and what is left of a task once its branch is merged.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod pipeline_support;
mod support;

use std::fs;
use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use pipeline_support::{Place, said, step, told};
use serde_json::{Value as Json, json};
use support::requests::read_request;

const KEY: &str = "token-of-the-forge-0815";

/// What a forge was asked: first line and headers, and the body.
type Asked = Arc<Mutex<Vec<(String, Json)>>>;

/// A forge on this machine with the API of GitHub: it lists the pull requests that it has, and makes one. With `status` it refuses.
fn forge(status: u16) -> (u16, Asked) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let asked: Asked = Arc::default();
    let kept = Arc::clone(&asked);
    std::thread::spawn(move || {
        let mut there = json!([]);
        for stream in listener.incoming().flatten() {
            answer(stream, status, &mut there, &kept);
        }
    });
    (port, asked)
}

fn answer(mut stream: TcpStream, refusal: u16, there: &mut Json, kept: &Asked) {
    let Some((head, body)) = read_request(&stream) else { return };
    kept.lock().unwrap().push((head.clone(), body.clone()));
    let (status, text) = match (refusal, head.starts_with("POST ")) {
        (refusal @ 400.., _) => (refusal, json!({ "message": "Bad credentials" })),
        (_, false) => (200, there.clone()),
        (_, true) => {
            let one = json!({ "html_url": "https://forge/acme/app/pull/7", "head": { "ref": body["head"] } });
            *there = json!([one]);
            (201, one)
        }
    };
    let text = text.to_string();
    write!(
        stream,
        "HTTP/1.1 {status} X\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}",
        text.len()
    )
    .unwrap();
}

/// A task that commits a change and publishes it by the API.
fn place(port: u16) -> Place {
    let place = Place::with_issue();
    let bare = place.home().join("bare.git");
    place.environment.git(&["init", "-q", "--bare", bare.to_str().unwrap()]);
    place.environment.git(&["remote", "add", "origin", "git@github.com:acme/app.git"]);
    place.program("ssh", &format!("#!/bin/sh\nexec git-receive-pack {}\n", bare.display()));
    let mut keeping = place.command(&["credential", "set", "forge"]);
    let mut child = keeping.stdin(std::process::Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(KEY.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    place.file(&format!(
        "name: published\nsteps:\n  - name: notes\n    command: printf 'Mend the index\\n\\nIt was off by one.\\n' > notes.md && git add . && {{ git diff --cached --quiet || git commit --quiet -m mend; }}\n  - name: publish\n    pull_request: notes.md\n    into: main\n    credential: forge\n    forge: github\n    api: http://127.0.0.1:{port}\n"
    ));
    place
}

fn published(place: &Place, more: &[&str]) -> (i32, Json) {
    let begun = place.begin(more);
    place.answer("allow");
    told(&begun.wait_with_output().unwrap())
}

#[test]
fn the_api_of_a_forge_opens_one_pull_request() {
    let (port, asked) = forge(0);
    let place = place(port);
    let begun = place.begin(&[]);
    let question = place.question();
    let shown = place.output(&["approval", "show", &question]);
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains("with the credential `forge`") && shown.contains("127.0.0.1"), "{shown}");
    assert!(asked.lock().unwrap().is_empty(), "nobody is asked before the yes");
    assert!(place.output(&["approval", "allow", &question]).status.success());
    let (status, answer) = told(&begun.wait_with_output().unwrap());
    assert_eq!(status, 0, "{answer}");
    assert_eq!(step(&answer, "publish")["reason"], "pull request: https://forge/acme/app/pull/7");
    let all = asked.lock().unwrap().clone();
    let lines: Vec<&str> = all.iter().map(|(head, _)| head.lines().next().unwrap()).collect();
    assert_eq!(
        lines,
        [
            "GET /repos/acme/app/pulls?state=open&head=acme:checkrein%2Fpublished HTTP/1.1",
            "POST /repos/acme/app/pulls HTTP/1.1"
        ]
    );
    assert!(all.iter().all(|(head, _)| head.contains(&format!("Bearer {KEY}"))));
    let body = &all[1].1;
    assert_eq!((body["title"].as_str(), body["base"].as_str()), (Some("Mend the index"), Some("main")));
    assert!(body["body"].as_str().unwrap().starts_with("It was off by one."), "{body}");
    // The credential is in no file of the run.
    let found =
        place.environment.command("grep").args(["-r", KEY]).arg(answer["lineage"].as_str().unwrap()).output();
    assert_eq!(String::from_utf8_lossy(&found.unwrap().stdout), "");
}

#[test]
fn whoever_was_killed_in_between_finds_the_one_that_is_there() {
    let (port, asked) = forge(0);
    let place = place(port);
    assert_eq!(published(&place, &[]).0, 0);
    // Another run of the same branch.
    let (status, answer) = published(&place, &["--task", "published"]);
    assert_eq!(status, 0, "{answer}");
    let made = asked.lock().unwrap().iter().filter(|(head, _)| head.starts_with("POST ")).count();
    assert_eq!(made, 1);
}

#[test]
fn a_forge_that_refuses_leaves_the_step_not_run() {
    let (port, _) = forge(401);
    let place = place(port);
    let (status, answer) = published(&place, &[]);
    let reason = step(&answer, "publish")["reason"].as_str().unwrap();
    assert_eq!(status, 4, "{answer}");
    assert!(reason.contains("does not accept the credential (401)") && !reason.contains(KEY), "{reason}");
}

#[test]
fn a_project_shows_credentials_to_known_forges_alone() {
    let place = Place::new();
    let file = |more: &str| {
        format!(
            "name: p\nsteps:\n  - {{name: a, command: make}}\n  - {{name: b, pull_request: n.md, {more}}}\n"
        )
    };
    for (more, wanted) in [
        (
            "into: main, credential: k, forge: forgejo, api: 'https://evil.example/api/v1'",
            "not a forge that is known",
        ),
        ("into: main, credential: k, forge: github, api: 'http://evil.example'", "only https is"),
        ("credential: k", "into"),
        ("into: main, forge: github", "`credential`, which is missing"),
    ] {
        place.file(&file(more));
        let output = place.output(&["pipeline", "check", "p.yaml"]);
        assert!(!output.status.success() && said(&output).contains(wanted), "{more}: {}", said(&output));
    }
    place.file(&file("into: main, credential: k"));
    let output = place.output(&["pipeline", "check", "p.yaml"]);
    assert!(output.status.success(), "{}", said(&output));
}

#[test]
fn a_worktree_goes_once_its_branch_is_merged_and_not_before() {
    for way in ["merge", "squash", "rebase"] {
        let place = Place::with_issue();
        let (status, answer) = place.task_answered("allow", &[]);
        assert_eq!(status, 0, "{answer}");
        let branch = "checkrein/issue-12";
        let clean = |more: &[&str]| {
            let output = place.output(&[&["--json", "worktree", "clean"], more].concat());
            assert!(output.status.success(), "{}", said(&output));
            (String::from_utf8_lossy(&output.stdout).into_owned(), said(&output))
        };
        assert_eq!(clean(&[]).0, "", "{way}: nothing is merged yet");
        place.environment.git(&["add", "."]);
        place.environment.git(&["commit", "-q", "-m", "the issue"]);
        match way {
            "merge" => place.environment.git(&["merge", "-q", "--no-edit", branch]),
            "squash" => {
                place.environment.git(&["merge", "-q", "--squash", branch]);
                place.environment.git(&["commit", "-q", "-m", "Add add (#7)"]);
            }
            _ => place.environment.git(&["cherry-pick", branch]),
        }
        // What nobody committed keeps it.
        let worktree = step_directory(&place);
        let file = worktree.join("add.py");
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, format!("{text}# more\n")).unwrap();
        let (gone, why) = clean(&[]);
        assert!(gone.is_empty() && why.contains("changes that are in no commit"), "{way}: {gone} {why}");
        fs::write(&file, text).unwrap();
        let named: Json = serde_json::from_str(&clean(&["--dry-run"]).0).unwrap();
        assert_eq!(named["removed"], Json::Null, "{way}");
        assert!(worktree.exists());
        // The next task begins with it; here nothing of it runs, since its issue asks for a file that is not there.
        let gone: Json = serde_json::from_str(&clean(&[]).0).unwrap();
        assert_eq!(
            (gone["name"].as_str(), gone["removed"]["branch"].as_str()),
            (Some("issue-12"), Some("deleted"))
        );
        assert!(gone["removed"]["snapshot"].is_number() || gone["removed"]["snapshot"].is_string(), "{gone}");
        assert!(!worktree.exists(), "{way}");
        assert_eq!(place.git_says(&["branch", "--list", branch]), "");
    }
}

fn step_directory(place: &Place) -> std::path::PathBuf {
    let listed = place.output(&["--json", "worktree", "list"]);
    let one: Json = serde_json::from_slice(&listed.stdout).unwrap();
    one["path"].as_str().unwrap().into()
}

#[test]
fn the_next_task_begins_with_the_clean_up() {
    let place = Place::with_issue();
    assert_eq!(place.task_answered("allow", &[]).0, 0);
    place.environment.git(&["merge", "-q", "--no-edit", "checkrein/issue-12"]);
    place.environment.write("issue-13.md", "# Another\n");
    place.file("name: small\ninputs:\n  issue: {description: What is wrong}\nsteps:\n  - {name: a, command: 'true'}\n");
    let begun = place.output(&["--json", "task", "issue-13.md", "--pipeline", "p.yaml"]);
    assert_eq!(begun.status.code(), Some(0), "{}", said(&begun));
    assert!(said(&begun).contains("the branch of `issue-12` is merged into"), "{}", said(&begun));
    assert!(!place.git_says(&["branch"]).contains("checkrein/issue-12"));
}

#[test]
fn what_no_gate_judged_is_not_published() {
    let place = Place::with_issue();
    let bare = place.home().join("bare.git");
    place.environment.git(&["init", "-q", "--bare", bare.to_str().unwrap()]);
    place.environment.git(&["remote", "add", "origin", "../bare.git"]);
    place.file(
        "name: p\nsteps:\n  \
         - {name: write, command: \"printf 'def add(a, b):\\n    return a + b\\n' > add.py; printf 'Add add\\n' > notes.md\"}\n  \
         - {name: complete, gate: completeness}\n  \
         - {name: commit, command: 'git add --all && git commit --quiet -m add'}\n  \
         - {name: publish, pull_request: notes.md}\n",
    );
    // A hook that the work left behind puts something else into the commit, and hides that.
    let hook = place.environment.project().join(".git/hooks/pre-commit");
    let text = "#!/bin/sh\nblob=$(printf 'def add(a, b):\\n    raise NotImplementedError\\n' | git hash-object -w --stdin)\n\
                git update-index --cacheinfo 100644,$blob,add.py\ngit update-index --skip-worktree add.py\n";
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, text).unwrap();
    fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let (status, answer) = place.run(&[]);
    assert_eq!(status, 2, "{answer}");
    let reason = step(&answer, "publish")["reason"].as_str().unwrap();
    assert!(reason.contains("something else than what `complete` judged: `add.py`"), "{reason}");
    // Without it the user is asked.
    fs::remove_file(&hook).unwrap();
    let begun = place.begin(&["--anew", "--task", "two"]);
    place.answer("allow");
    let (status, answer) = told(&begun.wait_with_output().unwrap());
    assert_eq!(status, 0, "{answer}");
}

#[test]
fn a_reviewer_sees_what_git_would_call_binary() {
    let place = Place::with_issue();
    place.file(
        "name: p\nreviewers:\n  gemini:\n    command: [gemini, -m, '${model}']\n    model: gemini-3-pro\nsteps:\n  \
         - {name: write, command: \"printf 'hidden = 1\\n# \\\\000\\n' > a.py; echo 'b.py -diff' > .gitattributes; echo 'unseen = 2' > b.py\"}\n  \
         - {name: look, review: changes}\n",
    );
    let (status, answer) = place.run(&[]);
    assert_eq!(status, 0, "{answer}");
    let question = place.read("question");
    assert!(question.contains("+hidden = 1") && question.contains("+unseen = 2"), "{question}");
}
