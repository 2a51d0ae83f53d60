//! What a call that nobody can read through made beside what it lost: files, directories, trees that version control ignores. `undo` takes
//! that back as well, and leaves what may be somebody else's.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::PathBuf;
use std::process::{Output, Stdio};
use std::time::Duration;

use serde_json::{Value as Json, json};
use support::{TestEnvironment, decision, shell_call};

/// Mode, time, content or target, by path.
type Picture = BTreeMap<PathBuf, (u32, Option<(i64, i64)>, Vec<u8>)>;

/// Everything in the project.
fn picture(environment: &TestEnvironment) -> Picture {
    let mut found = Picture::new();
    let mut waiting = vec![environment.project()];
    while let Some(path) = waiting.pop() {
        let facts = fs::symlink_metadata(&path).unwrap();
        let (time, content) = if facts.is_dir() {
            let entries = fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path());
            waiting.extend(entries.filter(|path| !path.ends_with(".git")));
            (None, Vec::new())
        } else if facts.is_symlink() {
            (None, fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes())
        } else {
            (Some((facts.mtime(), facts.mtime_nsec())), fs::read(&path).unwrap())
        };
        found.insert(path, (facts.mode(), time, content));
    }
    found
}

fn project() -> TestEnvironment {
    let environment = TestEnvironment::new();
    environment.write(".gitignore", "__pycache__/\nnode_modules/\n*.o\n.cache/\n");
    environment.git(&["add", "-A"]);
    environment.commit("rules");
    environment.write("notes/plan.md", "only here\n");
    environment.write("src/__pycache__/a.pyc", "one\n");
    environment.write("src/__pycache__/b.pyc", "two\n");
    environment.write("node_modules/left/index.js", "left\n");
    environment.write("main.o", "object\n");
    symlink("plan.md", environment.project().join("notes/link")).unwrap();
    environment
}

/// A call of a program that nobody can read through.
fn opaque(environment: &TestEnvironment, does: &str) -> &'static str {
    let names = "my ($src, $notes, $modules) = ('src', 'notes', 'node_modules');\n\
                 sub put { open(my $file, '>', $_[0]) or die; print $file $_[1]; close($file) }\n";
    let digits: Vec<String> = format!("{names}{does}; 1").bytes().map(|byte| format!("{byte:02x}")).collect();
    let digits = digits.concat();
    environment.write("tool.pl", &format!("eval(pack('H*', '{digits}')) or die;\n"));
    "perl tool.pl"
}

fn call(environment: &TestEnvironment, event: &str, id: &str, command: &str, more: Json) -> Json {
    environment.answer_to(&environment.payload("s", event, shell_call(id, command, more)))
}

fn before(environment: &TestEnvironment, id: &str, command: &str) {
    let answer = call(environment, "PreToolUse", id, command, json!({}));
    assert_ne!(decision(&answer), Some("deny"), "{command}: {answer}");
}

fn run(environment: &TestEnvironment, command: &str) {
    let status = environment.command("bash").args(["-c", command]).stdin(Stdio::null()).status().unwrap();
    assert!(status.success(), "{command}");
}

fn after(environment: &TestEnvironment, id: &str, command: &str, more: &Json) {
    let mut fields = json!({ "tool_response": { "stdout": "", "stderr": "", "interrupted": false } });
    fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    call(environment, "PostToolUse", id, command, fields);
}

fn perform(environment: &TestEnvironment, id: &str, command: &str) {
    before(environment, id, command);
    run(environment, command);
    after(environment, id, command, &json!({}));
}

fn words(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn undo(environment: &TestEnvironment) -> (Output, String) {
    let output = environment.checkrein(&["undo", "--yes"]);
    let said = words(&output);
    (output, said)
}

fn read(environment: &TestEnvironment, name: &str) -> String {
    fs::read_to_string(environment.project().join(name)).unwrap_or_else(|_| "-".to_owned())
}

#[test]
fn what_an_unread_program_made_and_made_anew_is_taken_back_with_what_it_lost() {
    for does in [
        "put(\"$src/__pycache__/a.pyc\", 'anew')",
        "unlink(\"$src/__pycache__/a.pyc\")",
        "unlink(glob(\"$src/__pycache__/*\")); rmdir(\"$src/__pycache__\")",
        "put(\"$src/__pycache__/a.pyc\", 'anew'); put(\"$src/__pycache__/c.pyc\", 'new')",
        "put(\"$modules/left/index.js\", 'right'); put('main.o', 'anew')",
        "unlink(\"$notes/plan.md\"); put(\"$notes/plan.html\", 'new')",
        "unlink(\"$notes/plan.md\"); mkdir(\"$notes/out\"); put(\"$notes/out/plan.html\", 'new')",
        "unlink(\"$notes/plan.md\"); mkdir(\"$notes/out\"); mkdir(\"$notes/out/empty\")",
        "unlink(\"$notes/plan.md\"); mkdir(\"$notes/__pycache__\"); put(\"$notes/__pycache__/x.pyc\", 'new')",
        "rename(\"$notes/plan.md\", \"$src/plan.md\")",
        "rename($notes, \"$src/moved\")",
        "unlink(\"$notes/plan.md\"); symlink('link', \"$notes/other\")",
    ] {
        let environment = project();
        let command = opaque(&environment, does);
        let earlier = picture(&environment);
        perform(&environment, "call", command);
        assert_ne!(picture(&environment), earlier, "{does}: changed nothing");
        let (output, said) = undo(&environment);
        assert_eq!(picture(&environment), earlier, "{does}: {said}");
        assert!(output.status.success() && !said.contains("does not come back"), "{does}: {said}");
    }
}

#[test]
fn byte_code_that_python_writes_is_what_it_was() {
    for command in ["python3 -m compileall -q src", "python3 -m py_compile src/a.py"] {
        let environment = project();
        environment.write("src/a.py", "a = 1\n");
        let tag = "import sys; print(sys.implementation.cache_tag)";
        let tag = environment.command("python3").args(["-c", tag]).output().unwrap().stdout;
        let name = format!("src/__pycache__/a.{}.pyc", String::from_utf8_lossy(&tag).trim());
        environment.write(&name, "not byte code\n");
        let earlier = picture(&environment);
        perform(&environment, "call", command);
        assert_ne!(picture(&environment), earlier, "{command}: changed nothing");
        let (_, said) = undo(&environment);
        assert_eq!(picture(&environment), earlier, "{command}: {said}");
    }
}

#[test]
fn what_was_lost_comes_back_before_what_makes_itself_again() {
    let environment = project();
    perform(&environment, "first", "rm notes/plan.md");
    let command = opaque(&environment, "put(\"$src/__pycache__/a.pyc\", 'anew'); put('report.txt', 'new')");
    perform(&environment, "second", command);
    let (_, said) = undo(&environment);
    assert_eq!(read(&environment, "notes/plan.md"), "only here\n", "{said}");
    assert_eq!(read(&environment, "src/__pycache__/a.pyc"), "anew", "{said}");
    let (_, said) = undo(&environment);
    assert_eq!(read(&environment, "src/__pycache__/a.pyc"), "one\n", "{said}");
    assert_eq!(read(&environment, "report.txt"), "-", "{said}");
}

/// Nothing was lost with it, so nothing is to be taken back.
#[test]
fn what_only_made_something_is_not_taken_back() {
    let environment = project();
    let command = opaque(&environment, "put('report.txt', 'new')");
    perform(&environment, "call", command);
    let (output, said) = undo(&environment);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert_eq!(read(&environment, "report.txt"), "new");
}

#[test]
fn a_cache_that_was_written_again_since_is_left_whole() {
    let environment = project();
    let does = "unlink(\"$notes/plan.md\"); put(\"$src/__pycache__/a.pyc\", 'anew'); put(\"$src/__pycache__/b.pyc\", 'anew')";
    let command = opaque(&environment, does);
    perform(&environment, "call", command);
    std::thread::sleep(Duration::from_millis(60));
    environment.write("src/__pycache__/b.pyc", "later");
    let (output, said) = undo(&environment);
    assert!(output.status.success() && said.contains("something makes it again"), "{said}");
    assert_eq!(read(&environment, "notes/plan.md"), "only here\n");
    assert_eq!(
        [read(&environment, "src/__pycache__/a.pyc"), read(&environment, "src/__pycache__/b.pyc")],
        ["anew", "later"]
    );
}

#[test]
fn what_is_too_much_to_be_saved_and_was_changed_is_said() {
    let environment = project();
    (0..300).for_each(|number| environment.write(&format!("node_modules/left/{number}.js"), "one\n"));
    (0..300).for_each(|number| environment.write(&format!("src/.cache/{number}"), "one\n"));
    std::thread::sleep(Duration::from_millis(20));
    let command = opaque(&environment, "unlink(\"$notes/plan.md\"); put(\"$modules/left/7.js\", 'anew')");
    perform(&environment, "call", command);
    let (_, said) = undo(&environment);
    assert_eq!(read(&environment, "notes/plan.md"), "only here\n", "{said}");
    assert!(said.contains("node_modules changed since and is left as it is"), "{said}");
    assert!(!said.contains(".cache"), "{said}");
}

#[test]
fn what_was_saved_as_a_place_of_its_own_is_not_said_to_be_lost() {
    let environment = project();
    (0..300).for_each(|number| environment.write(&format!("node_modules/left/{number}.js"), "one\n"));
    let tool = opaque(&environment, "unlink(\"$notes/plan.md\")");
    let earlier = picture(&environment);
    perform(&environment, "call", &format!("rm -rf node_modules && {tool}"));
    let (output, said) = undo(&environment);
    assert_eq!(picture(&environment), earlier, "{said}");
    assert!(output.status.success() && !said.contains("does not come back"), "{said}");
}

#[test]
fn what_may_be_somebody_elses_stays() {
    let does = "unlink(\"$notes/plan.md\"); put('new.txt', 'of the call')";
    // Changed after the call, or made after it, by a user.
    let environment = project();
    let command = opaque(&environment, does);
    perform(&environment, "call", command);
    std::thread::sleep(Duration::from_millis(60));
    environment.write("new.txt", "of the user");
    environment.write("other.txt", "of the user");
    let (_, said) = undo(&environment);
    assert_eq!(read(&environment, "notes/plan.md"), "only here\n", "{said}");
    assert_eq!(
        [read(&environment, "new.txt"), read(&environment, "other.txt")],
        ["of the user"; 2],
        "{said}"
    );

    // Made while another call ran as well.
    let environment = project();
    let command = opaque(&environment, does);
    before(&environment, "call", command);
    before(&environment, "other", "ls");
    run(&environment, command);
    environment.write("beside.txt", "of the other call");
    after(&environment, "other", "ls", &json!({}));
    after(&environment, "call", command, &json!({}));
    let (_, said) = undo(&environment);
    assert_eq!(read(&environment, "notes/plan.md"), "only here\n", "{said}");
    assert_eq!(
        [read(&environment, "new.txt"), read(&environment, "beside.txt")],
        ["of the call", "of the other call"],
        "{said}"
    );

    // Made by a user who thought about the question for a while.
    let environment = project();
    let command = opaque(&environment, does);
    before(&environment, "call", command);
    environment.write("person.txt", "of the user");
    std::thread::sleep(Duration::from_millis(1_200));
    run(&environment, command);
    after(&environment, "call", command, &json!({ "duration_ms": 1 }));
    let (_, said) = undo(&environment);
    assert_eq!(
        [read(&environment, "person.txt"), read(&environment, "new.txt")],
        ["of the user", "-"],
        "{said}"
    );
}

/// Nothing tells when such a call ended, but a link that was moved is nobody's work.
#[test]
fn a_link_that_was_moved_goes_back_without_an_end() {
    let environment = project();
    let earlier = picture(&environment);
    before(&environment, "call", "mv notes/link moved");
    run(&environment, "mv notes/link moved");
    let (output, said) = undo(&environment);
    assert_eq!(picture(&environment), earlier, "{said}");
    assert!(output.status.success(), "{said}");
}

/// Nothing tells whether a cache is as such a call left it: it stays unless a user insists.
#[test]
fn a_cache_is_put_back_by_force_without_an_end() {
    let environment = project();
    let does = "put(\"$src/__pycache__/a.pyc\", 'anew'); put(\"$src/__pycache__/c.pyc\", 'new')";
    let command = opaque(&environment, does);
    let earlier = picture(&environment);
    before(&environment, "call", command);
    run(&environment, command);
    let later = picture(&environment);
    let (_, said) = undo(&environment);
    assert!(picture(&environment) == later && said.contains("`checkrein undo 1 --force`"), "{said}");
    assert!(said.contains("may have changed since") && !said.contains("  changed since"), "{said}");
    environment.succeed(&["undo", "1", "--yes", "--force"]);
    assert_eq!(picture(&environment), earlier);
}

#[test]
fn what_nothing_shows_to_be_made_by_a_call_is_named_once_and_never_offered_to_be_deleted() {
    let environment = project();
    let command = opaque(&environment, "true");
    for id in ["one", "two", "three"] {
        before(&environment, id, command);
        run(&environment, command);
    }
    std::thread::sleep(Duration::from_millis(60));
    environment.write(".env", "of a person\n");
    environment.write("mine.txt", "of a person\n");
    for arguments in [&["undo", "--dry-run"][..], &["undo", "--yes"]] {
        let output = environment.checkrein(arguments);
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(!output.status.success(), "{text}");
        assert!(!text.contains("--remove-new"), "{text}");
        assert_eq!(text.matches("mine.txt").count(), 1, "{text}");
        assert!(text.contains(".env") && text.lines().count() < 5, "{text}");
    }
    assert!(environment.project().join("mine.txt").exists());
}

/// What a program that nobody sees through moved here has no other copy, so no undo removes it, by whatever permission.
#[test]
fn what_may_have_been_moved_here_is_never_removed() {
    for command in
        ["mkdir k; mv ~/papers/*.txt k/", "mv ~/papers k", "mkdir k; mv ~/papers k/; echo x > k/new.txt"]
    {
        let environment = project();
        let papers = environment.home().join("papers");
        fs::create_dir(&papers).unwrap();
        for name in ["one.txt", "two.txt"] {
            fs::write(papers.join(name), name).unwrap();
        }
        fs::copy("/bin/true", environment.project().join("frob")).unwrap();
        std::thread::sleep(Duration::from_millis(60));
        let found = |environment: &TestEnvironment| {
            let find = "find . -path ./.git -prune -o \\( -name one.txt -o -name two.txt \\) -print | wc -l";
            let output = environment.command("bash").args(["-c", find]).output().unwrap();
            String::from_utf8(output.stdout).unwrap().trim().to_owned()
        };
        before(&environment, "call", "./frob");
        run(&environment, command);
        after(&environment, "call", "./frob", &json!({}));
        for arguments in [
            &["undo", "--yes"][..],
            &["undo", "call", "--yes"],
            &["undo", "call", "--yes", "--remove-new", "--force"],
        ] {
            let output = environment.checkrein(arguments);
            assert_eq!(found(&environment), "2", "{command} {arguments:?}: {}", words(&output));
            assert_eq!(output.status.code(), Some(1), "{command} {arguments:?}: {}", words(&output));
            assert!(words(&output).contains("moved here"), "{command} {arguments:?}: {}", words(&output));
            assert!(
                words(&output).contains("not known: what `./frob` changed outside"),
                "{}",
                words(&output)
            );
        }
    }
}

/// What somebody made where the action had made room is theirs, and is not named as the action's.
#[test]
fn what_somebody_made_since_is_neither_removed_nor_named_as_made_by_the_call() {
    for (command, mine) in
        [("rm -rf src", "src/mine.py"), ("mv src lib", "src/mine.py"), ("rm -rf notes", "notes/mine")]
    {
        let environment = project();
        before(&environment, "call", command);
        run(&environment, command);
        after(&environment, "call", command, &json!({}));
        std::thread::sleep(Duration::from_millis(60));
        environment.write(mine, "of the user\n");
        let output = environment.checkrein(&["undo", "--yes", "--remove-new"]);
        assert_eq!(
            fs::read_to_string(environment.project().join(mine)).unwrap(),
            "of the user\n",
            "{}",
            words(&output)
        );
    }
    let environment = project();
    fs::copy("/bin/true", environment.project().join("frob")).unwrap();
    before(&environment, "call", "./frob");
    run(&environment, "echo x > made.txt");
    after(&environment, "call", "./frob", &json!({}));
    std::thread::sleep(Duration::from_millis(60));
    environment.write("mine.txt", "of the user\n");
    let told = words(&environment.checkrein(&["undo", "--yes"]));
    assert!(told.contains("`made.txt`: made by a call") && !told.contains("mine.txt"), "{told}");
}

/// What a call makes outside the workspace is known where it is named, whatever else the call runs that nobody reads.
#[test]
fn what_an_unread_call_makes_elsewhere_is_named_and_goes_when_that_is_permitted() {
    for (makes, made) in [
        ("mkdir -p ~/made/deep; echo one > ~/made/file", &["made/deep", "made/file", "made"][..]),
        ("touch ~/.made", &[".made"]),
    ] {
        let environment = project();
        let tool = opaque(&environment, "print 'hello'");
        let command = format!("{makes}; {tool}");
        perform(&environment, "call", &command);
        let stands = |name: &&str| environment.home().join(name).exists();
        assert!(made.iter().all(stands), "{command}: made nothing");
        let (output, said) = undo(&environment);
        assert!(made.iter().all(stands) && output.status.code() == Some(1), "{command}: {said}");
        assert!(said.contains("made by a call") && said.contains("made"), "{command}: {said}");
        assert!(said.contains("not known: what `"), "{command}: {said}");
        let output = environment.checkrein(&["undo", "--yes", "--remove-new"]);
        assert!(!made.iter().any(stands), "{command}: {}", words(&output));
        assert!(words(&output).contains("not known: what `"), "{command}: {}", words(&output));
    }
    // Where the workspace is no project, there is no snapshot of it as a whole.
    let environment = project();
    fs::remove_dir_all(environment.project().join(".git")).unwrap();
    let tool = opaque(&environment, "print 'hello'");
    perform(&environment, "call", &format!("mkdir ~/made; {tool}"));
    let output = environment.checkrein(&["undo", "--yes", "--remove-new"]);
    assert!(!environment.home().join("made").exists(), "{}", words(&output));
}

/// What stood there is none of the call's, and neither is what a person put there later.
#[test]
fn what_stood_elsewhere_or_was_put_there_later_stays() {
    let environment = project();
    fs::create_dir(environment.home().join("kept")).unwrap();
    let tool = opaque(&environment, "print 'hello'");
    perform(&environment, "call", &format!("mkdir -p ~/kept; mkdir -p ~/made; {tool}"));
    std::thread::sleep(Duration::from_millis(60));
    fs::write(environment.home().join("made/mine"), "of a person").unwrap();
    let output = environment.checkrein(&["undo", "--yes", "--remove-new"]);
    assert!(environment.home().join("kept").is_dir(), "{}", words(&output));
    assert!(environment.home().join("made/mine").is_file(), "{}", words(&output));
}

/// Which number the shell has is not known beforehand, and what a package manager keeps in the home nobody names.
#[test]
fn what_has_no_name_beforehand_goes_when_that_is_permitted() {
    let environment = project();
    environment.write("package.json", "{\"scripts\": {\"nothing\": \"true\"}}\n");
    let earlier = picture(&environment);
    perform(&environment, "number", "touch \"run-$$.pid\"");
    assert_ne!(picture(&environment), earlier, "made nothing");
    let output = environment.checkrein(&["undo", "--yes", "--remove-new"]);
    assert_eq!(picture(&environment), earlier, "{}", words(&output));

    before(&environment, "packages", "npm run nothing");
    let place = environment.home().join(".npm");
    fs::create_dir(&place).unwrap();
    after(&environment, "packages", "npm run nothing", &json!({}));
    let output = environment.checkrein(&["undo", "--yes", "--remove-new"]);
    assert!(!place.exists(), "{}", words(&output));
    fs::create_dir(&place).unwrap();
    perform(&environment, "there", "true; npm run nothing || true");
    let output = environment.checkrein(&["undo", "--yes", "--remove-new"]);
    assert!(place.exists(), "{}", words(&output));
}
