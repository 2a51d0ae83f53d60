//! What `init` and `doctor` say where many agents are on a machine: a line each, problems first and in full, details for who asks.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::process::Output;

use checkrein_clients::CLIENTS;
use support::TestEnvironment;
use support::terminal::typed;

/// The folders in the home directory by which each of the twelve agents is found.
const FOLDERS: [&str; 12] = [
    ".claude",
    ".codex",
    ".gemini",
    ".qwen",
    ".copilot",
    ".cline",
    ".factory",
    ".cursor",
    ".codeium/windsurf",
    ".kiro",
    ".config/opencode",
    ".config/kilo",
];

fn machine() -> TestEnvironment {
    let environment = TestEnvironment::new();
    for folder in FOLDERS {
        fs::create_dir_all(environment.home().join(folder)).unwrap();
    }
    environment
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What a command says at the usual width.
fn narrow(environment: &TestEnvironment, arguments: &[&str]) -> String {
    let mut command = environment.command(env!("CARGO_BIN_EXE_checkrein"));
    // Which agents are installed where this runs is no matter.
    if arguments.first() == Some(&"init") {
        command.env("PATH", environment.home());
    }
    said(&command.args(arguments).env("COLUMNS", "80").output().unwrap())
}

/// A text without what is of this run alone, and with nothing that is wider than the usual terminal.
fn stable(text: &str) -> String {
    let hook = env!("CARGO_BIN_EXE_checkrein-hook");
    for line in text.lines().filter(|line| !line.contains(hook)) {
        assert!(line.chars().count() <= 80, "{line}");
    }
    text.replace(hook, "HOOK")
}

/// The lines of a list that begin with the title of an agent, behind the mark if there is one.
fn lines_of<'a>(text: &'a str, title: &str) -> Vec<&'a str> {
    let bare = |line: &'a str| line.get(3..).filter(|_| line.get(2..3) == Some(" ")).unwrap_or(line);
    text.lines().filter(|line| bare(line).starts_with(&format!("{title:11}  "))).collect()
}

#[test]
fn init_says_a_line_for_each_agent_and_doctor_too() {
    let environment = machine();
    let dry = narrow(&environment, &["init", "--client", "all", "--dry-run"]);
    insta::assert_snapshot!("init_of_all_dry_run", stable(&dry));
    let whole = environment.succeed(&["init", "--client", "all", "--dry-run", "--verbose"]);
    assert!(whole.contains("PreToolUse") && whole.lines().count() > 500, "every line that changes");
    let written = narrow(&environment, &["init", "--client", "all", "--yes"]);
    insta::assert_snapshot!("init_of_all", stable(&written));
    let again = environment.succeed(&["init", "--client", "all", "--yes"]);
    assert_eq!(again.lines().count(), CLIENTS.len(), "{again}");
    for client in CLIENTS {
        for text in [&dry, &written, &again] {
            assert_eq!(lines_of(text, client.title).len(), 1, "{}: {text}", client.title);
        }
    }

    let output = environment.checkrein(&["doctor"]);
    assert!(!output.status.success(), "nobody has trusted the hooks of Codex");
    let text = narrow(&environment, &["doctor"]);
    let gaps = |line: &&str| {
        !line.contains("containment") && !line.contains("gaps") && !line.contains("`containment.")
    };
    let settled: Vec<&str> = text.lines().filter(gaps).collect();
    insta::assert_snapshot!("doctor_of_all", stable(&settled.join("\n")));
    for client in CLIENTS {
        assert_eq!(lines_of(&text, client.title).len(), 1, "{}: {text}", client.title);
    }
    // What is wrong stands first, with what to do about it.
    let first = text.lines().next().unwrap();
    assert!(first.starts_with("!! ") && first.contains("~/.codex/hooks.json"), "{text}");
    // What the agents themselves leave open is for who asks.
    assert!(!text.contains("write_stdin") && text.contains("doctor --verbose"), "{text}");
    let whole = said(&environment.checkrein(&["doctor", "--verbose"]));
    for client in CLIENTS {
        for open in client.open {
            let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(words(&whole).contains(&words(open)), "{}: {open}", client.title);
        }
    }
    let one = said(&environment.checkrein(&["doctor", "--client", "codex"]));
    assert!(one.contains("write_stdin") && one.starts_with("!! "), "{one}");
}

#[test]
fn problems_of_several_agents_are_told_in_full_with_their_names() {
    let environment = machine();
    environment.succeed(&["init", "--client", "all", "--yes"]);
    fs::write(environment.home().join(".qwen/settings.json"), "{}").unwrap();
    fs::write(environment.home().join(".gemini/settings.json"), "{ broken").unwrap();
    let output = environment.checkrein(&["doctor", "--client", "all"]);
    let text = said(&output);
    let (problems, rest) = text.split_once("ok configuration").expect(&text);
    assert!(problems.contains("Qwen Code: no hook is registered here"), "{text}");
    assert!(problems.contains("~/.gemini/settings.json: "), "{text}");
    assert!(problems.matches("hint: ").count() >= 3, "{text}");
    for title in ["Codex", "Gemini CLI", "Qwen Code"] {
        assert!(lines_of(rest, title)[0].contains("NOT protected"), "{text}");
    }
    assert!(lines_of(rest, "Cline")[0].contains("protected  ~/") || rest.contains("~/.cline"), "{text}");
    assert!(rest.contains("NOT protected: Codex, Gemini CLI, Qwen Code"), "{text}");
    // A failure of `init` is told, and the others go on.
    let output = environment.checkrein(&["init", "--client", "all", "--yes"]);
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("error: Gemini CLI: "), "{output:?}");
    assert!(said(&output).contains("Qwen Code    written    ~/.qwen/settings.json"), "{output:?}");
}

#[test]
fn uninstall_says_how_a_server_comes_out_of_a_file_that_it_cannot_read() {
    let environment = machine();
    let file = environment.home().join(".cursor/mcp.json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let with = |end: &str| {
        format!(
            r#"{{"mcpServers": {{"a": {{"command": "checkrein", "args": ["mcp", "--name", "a", "--", "npx", "x"]{end}"#
        )
    };
    fs::write(&file, with("}}")).unwrap();
    let output = environment.checkrein(&["uninstall", "--client", "cursor", "--yes"]);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success(), "{told}");
    assert!(told.contains("by hand: where `command` is checkrein"), "{told}");
    assert!(told.contains("this file stays as it is") && !told.contains("nothing was changed"), "{told}");
    assert_eq!(fs::read_to_string(&file).unwrap(), with("}}"));
    // One that names no such server has nothing to be taken out.
    fs::write(&file, "{\"x\": \"checkrein\"").unwrap();
    let output = environment.checkrein(&["uninstall", "--client", "cursor", "--yes"]);
    assert!(!String::from_utf8_lossy(&output.stderr).contains("by hand: where"), "{output:?}");
}

/// A client with servers in each of three files, and one without.
fn servers_of_three() -> TestEnvironment {
    let environment = TestEnvironment::new();
    for file in [".gemini/settings.json", ".qwen/settings.json", ".cursor/mcp.json"] {
        let path = environment.home().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, r#"{"mcpServers": {"files": {"command": "files-server", "args": []}}}"#).unwrap();
    }
    fs::create_dir_all(environment.home().join(".factory")).unwrap();
    environment
}

#[test]
fn init_writes_all_hooks_before_it_asks_once_about_all_servers() {
    let environment = servers_of_three();
    let program = env!("CARGO_BIN_EXE_checkrein");
    let init = format!("PATH=/usr/bin:/bin {program} init --mcp");
    let text = |file: &str| fs::read_to_string(environment.home().join(file)).unwrap();
    let at_terminal =
        |keys: &str| typed(&environment, &init, keys).replace("\u{1b}[1m", "").replace("\u{1b}[0m", "");
    // Whoever gives up at the second question has all hooks.
    let said = at_terminal("y\nn\n");
    let (hooks, servers) = said.split_once("MCP servers that go behind `checkrein mcp`:").expect(&said);
    assert!(hooks.contains("Write these?") && hooks.contains("written 4 files"), "{said}");
    assert_eq!(said.matches("[y/N]").count(), 2, "{said}");
    for file in
        [".gemini/settings.json", ".qwen/settings.json", ".cursor/hooks.json", ".factory/settings.json"]
    {
        assert!(text(file).contains("checkrein-hook"), "{file}: {said}");
    }
    assert!(
        !text(".cursor/mcp.json").contains("checkrein") && servers.contains("nothing was written"),
        "{said}"
    );
    for title in
        ["~/.gemini/settings.json: files", "~/.qwen/settings.json: files", "~/.cursor/mcp.json: files"]
    {
        assert!(servers.contains(title), "{title}: {said}");
    }
    assert!(!said.contains("~/.factory/mcp.json") && !said.contains("names no MCP server"), "{said}");

    let said = at_terminal("y\n");
    let next = "the calls of these servers go through `checkrein mcp`";
    assert!(said.contains("written 3 files") && said.matches(next).count() == 1, "{said}");
    assert!(text(".cursor/mcp.json").contains("\"mcp\""), "{said}");
    let none = TestEnvironment::new();
    fs::create_dir_all(none.home().join(".qwen")).unwrap();
    fs::create_dir_all(none.home().join(".factory")).unwrap();
    let said = narrow(&none, &["init", "--mcp", "--yes"]);
    assert_eq!(said.matches("MCP server").count(), 1, "{said}");
}

#[test]
fn uninstall_says_whether_hooks_or_the_gateway_went() {
    let environment = servers_of_three();
    environment.succeed(&["init", "--mcp", "--client", "gemini", "--yes"]);
    let said = environment.succeed(&["uninstall", "--client", "gemini", "--yes"]);
    assert!(said.contains("removed the hooks, and the gateway before MCP servers: "), "{said}");
    environment.succeed(&["init", "--mcp", "--client", "gemini", "--yes"]);
    let path = environment.home().join(".gemini/settings.json");
    let settings: serde_json::Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    let servers = serde_json::json!({ "mcpServers": settings["mcpServers"] });
    fs::write(&path, servers.to_string()).unwrap();
    let said = environment.succeed(&["uninstall", "--client", "gemini", "--yes"]);
    assert!(
        said.contains("removed the gateway before MCP servers: ") && !said.contains("the hooks"),
        "{said}"
    );
}

#[test]
fn doctor_names_agents_that_are_found_and_not_registered() {
    use std::os::unix::fs::PermissionsExt as _;

    let environment = TestEnvironment::new();
    let folder = environment.home().join("programs");
    fs::create_dir_all(&folder).unwrap();
    for name in ["gemini", "qwen"] {
        fs::write(folder.join(name), "#!/bin/sh\n").unwrap();
        fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let doctor = |arguments: &[&str]| {
        let mut command = environment.command(env!("CARGO_BIN_EXE_checkrein"));
        command.env("PATH", format!("{}:/usr/bin:/bin", folder.display())).arg("doctor").args(arguments);
        command.output().unwrap()
    };
    environment.succeed(&["init", "--client", "qwen", "--yes"]);
    let output = doctor(&[]);
    let line = "Gemini CLI: found, not registered: `checkrein init --client gemini`";
    assert!(said(&output).contains(line) && output.status.success(), "{}", said(&output));
    assert!(!said(&output).contains("Qwen Code: found"), "{}", said(&output));
    assert!(!said(&doctor(&["--client", "qwen"])).contains(line));
    environment.succeed(&["init", "--client", "gemini", "--yes"]);
    assert!(!said(&doctor(&[])).contains("not registered"));
}

#[test]
fn doctor_names_one_command_and_says_of_a_broken_file_where_it_is_wrong_once() {
    let environment = TestEnvironment::new();
    let cursor = said(&environment.checkrein(&["doctor", "--client", "cursor"]));
    assert!(cursor.contains("hint: run `checkrein init --client cursor`\n"), "{cursor}");
    let claude = said(&environment.checkrein(&["doctor", "--client", "claude"]));
    assert!(
        claude.contains("hint: run `checkrein init` in the project, or `checkrein init --user`"),
        "{claude}"
    );
    fs::create_dir_all(environment.home().join(".gemini")).unwrap();
    fs::write(environment.home().join(".gemini/settings.json"), "{ \"a\": }").unwrap();
    let gemini = said(&environment.checkrein(&["doctor", "--client", "gemini"]));
    assert_eq!(gemini.matches("column").count(), 1, "{gemini}");
    assert!(!gemini.contains("nothing was changed") && !gemini.contains("checkrein init"), "{gemini}");
    assert!(gemini.contains("mend the file by hand, then run `checkrein doctor` again"), "{gemini}");
}

#[test]
fn files_beside_the_settings_are_counted_and_named() {
    let environment = TestEnvironment::new();
    let folder = environment.home().join(".cline/hooks");
    let files = format!("7 files in {}", folder.display());
    let dry = environment.succeed(&["init", "--client", "cline", "--dry-run"]);
    assert!(dry.contains("lines in 7 files"), "{dry}");
    let whole = environment.succeed(&["init", "--client", "cline", "--dry-run", "--verbose"]);
    assert_eq!(whole.matches("\n+++ ").count(), 7, "{whole}");
    let written = environment.succeed(&["init", "--client", "cline", "--yes"]);
    assert!(written.contains(&format!("written {files}")), "{written}");
    let again = environment.succeed(&["init", "--client", "cline", "--yes"]);
    assert!(again.contains(&format!("{files} are already as they should be")), "{again}");
    let removed = environment.succeed(&["uninstall", "--client", "cline", "--yes"]);
    assert!(removed.contains(&format!("removed the hooks: {files}")), "{removed}");
    assert!(removed.contains("PostToolUse") && !folder.exists(), "{removed}");
}

#[test]
fn calls_of_codex_are_called_reviewed_only_once_its_hooks_are_trusted() {
    let environment = TestEnvironment::new();
    let one = environment.succeed(&["init", "--client", "codex", "--yes"]);
    assert!(one.contains("is reviewed once you have trusted the hooks with `/hooks`"), "{one}");
    assert!(!one.contains("from the next session"), "{one}");
    // Nor do those of the others who work there.
    let programs = environment.home().join(".local/bin");
    fs::create_dir_all(&programs).unwrap();
    let hook = env!("CARGO_BIN_EXE_checkrein-hook");
    std::os::unix::fs::symlink(hook, programs.join("checkrein-hook")).unwrap();
    let team = environment.succeed(&["init", "--client", "codex", "--team", "--yes"]);
    assert!(team.contains("on, once they have trusted the hooks with `/hooks`, the tool calls"), "{team}");
}
