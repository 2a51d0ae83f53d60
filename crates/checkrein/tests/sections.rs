//! Sections of the configuration that hold in one pipeline, in one step of it, or for some paths: each changes what is answered there and
//! nowhere else, and none that a repository brings, or that the environment alone names, makes anything looser.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use serde_json::{Value as Json, json};
use support::{TestEnvironment, decision, reason};

/// A rule that refuses `date`, as the value of a section.
const NO_DATES: &str = "{step_reviewer: {rules: {custom: [{name: no_dates, when: 'action.command == \"date\"', decision: block, reason: dates are private}]}}}";

/// What is decided about a command below a run of a pipeline and a step, as the agent's own hook says it.
fn in_a_run(environment: &TestEnvironment, options: &[&str], command: &str) -> Option<String> {
    let payload = environment.payload(
        "r",
        "PreToolUse",
        json!({ "tool_name": "Bash", "tool_input": { "command": command }, "tool_use_id": "call" }),
    );
    std::fs::write(environment.home().join("payload.json"), payload).unwrap();
    let agent = format!("{} claude < ../payload.json > ../answer.json", env!("CARGO_BIN_EXE_checkrein-hook"));
    let mut arguments = vec!["run"];
    arguments.extend(options);
    arguments.extend(["--", "sh", "-c", agent.as_str()]);
    let output = environment.checkrein(&arguments);
    let answer = std::fs::read_to_string(environment.home().join("answer.json"))
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    let answer: Json = serde_json::from_str(&answer).unwrap();
    decision(&answer).map(str::to_owned)
}

/// What is decided about a command where the environment of the hook names a pipeline.
fn named_by_the_environment(environment: &TestEnvironment, pipeline: &str, command: &str) -> Option<String> {
    let output = environment
        .command(env!("CARGO_BIN_EXE_checkrein"))
        .args(["check", "--json", command])
        .env("CHECKREIN_PIPELINE", pipeline)
        .output()
        .unwrap();
    let answer: Json = serde_json::from_slice(&output.stdout).unwrap();
    answer["verdict"].as_str().map(str::to_owned)
}

// Source: seed 002-81
#[test]
fn a_pipeline_and_its_steps_hold_in_the_runs_that_are_theirs() {
    let environment = TestEnvironment::new();
    let release =
        format!("safety: {{pipelines: {{release: {NO_DATES}, build: {{steps: {{deploy: {NO_DATES}}}}}}}}}\n");
    environment.configure("config.yaml", &release);
    environment.succeed(&["config", "check"]);
    let deny = Some("deny".to_owned());
    assert_eq!(in_a_run(&environment, &[], "date"), None);
    assert_eq!(in_a_run(&environment, &["--pipeline", "release"], "date"), deny);
    assert_eq!(in_a_run(&environment, &["--pipeline", "release", "--step", "deploy"], "date"), deny);
    assert_eq!(in_a_run(&environment, &["--pipeline", "build"], "date"), None);
    assert_eq!(in_a_run(&environment, &["--pipeline", "build", "--step", "test"], "date"), None);
    assert_eq!(in_a_run(&environment, &["--pipeline", "build", "--step", "deploy"], "date"), deny);
    let mistyped = environment.checkrein(&["run", "--pipeline", "other", "--", "true"]);
    assert_eq!(mistyped.status.code(), Some(125), "it would run without the rules of its pipeline");
}

#[test]
fn a_section_of_the_person_may_be_looser_where_a_run_says_so_and_nowhere_else() {
    let environment = TestEnvironment::new();
    let looser = "safety: {pipelines: {release: {step_reviewer: {rules: {disabled: [no_dates]}}}}}\n";
    let own = format!("{}\n{looser}", NO_DATES.trim_matches(['{', '}']).to_owned() + "}}");
    environment.configure("config.yaml", &own);
    environment.succeed(&["config", "check"]);
    assert_eq!(in_a_run(&environment, &[], "date"), Some("deny".to_owned()));
    assert_eq!(in_a_run(&environment, &["--pipeline", "release"], "date"), None, "as the user wrote");
    assert_eq!(named_by_the_environment(&environment, "release", "date").unwrap(), "block");
    let mut of_an_agent = environment.command(env!("CARGO_BIN_EXE_checkrein"));
    let output = of_an_agent
        .args(["run", "--pipeline", "release", "--", "true"])
        .env("CLAUDECODE", "1")
        .output()
        .unwrap();
    assert!(!output.status.success(), "an agent chooses its own rules: {output:?}");
}

#[test]
fn what_the_environment_names_may_be_stricter() {
    let environment = TestEnvironment::new();
    environment.configure("config.yaml", &format!("safety: {{pipelines: {{release: {NO_DATES}}}}}\n"));
    assert_eq!(named_by_the_environment(&environment, "release", "date").unwrap(), "block");
    assert_eq!(named_by_the_environment(&environment, "build", "date").unwrap(), "ok");
}

#[test]
fn a_path_holds_for_what_touches_it() {
    let environment = TestEnvironment::new();
    for (path, text) in [("infra/main.tf", "x\n"), ("src/lib.rs", "y\n")] {
        environment.write(path, text);
    }
    environment.git(&["add", "-A"]);
    environment.commit("more");
    let rule = "{name: hands_off, kinds: [file_modify, file_delete], when: 'true', decision: block, reason: infra is for people}";
    environment.configure(
        "config.yaml",
        &format!("safety: {{paths: {{'infra/**': {{step_reviewer: {{rules: {{custom: [{rule}]}}}}}}}}}}\n"),
    );
    environment.succeed(&["config", "check"]);
    for (command, refused) in [
        ("sed -i s/x/z/ infra/main.tf", true),
        ("sed -i s/y/z/ src/lib.rs", false),
        ("sed -i s/x/z/ infra/main.tf src/lib.rs", true),
        ("rm -r infra", true),
        ("cat infra/main.tf", false),
    ] {
        let answer = environment.bash("s", command);
        assert_eq!(decision(&answer) == Some("deny"), refused, "{command}: {answer}");
        assert!(!refused || reason(&answer).contains("infra is for people"), "{answer}");
        let checked = environment.checkrein(&["check", "--json", command]);
        let checked: Json = serde_json::from_slice(&checked.stdout).unwrap();
        assert_eq!(checked["verdict"] == "block", refused, "{command}: {checked}");
    }
}

#[test]
fn a_looser_path_holds_only_where_nothing_else_is_touched() {
    let environment = TestEnvironment::new();
    environment.write("scratch/a.txt", "x\n");
    environment.write("src/lib.rs", "y\n");
    environment.git(&["add", "-A"]);
    environment.commit("more");
    let rule = "{name: hands_off, kinds: [file_modify], when: 'true', decision: block, reason: no edits}";
    environment.configure(
        "config.yaml",
        &format!(
            "step_reviewer: {{rules: {{custom: [{rule}]}}}}\nsafety: {{paths: {{scratch: {{step_reviewer: {{rules: {{disabled: [hands_off]}}}}}}}}}}\n"
        ),
    );
    environment.succeed(&["config", "check"]);
    for (command, refused) in [
        ("sed -i s/x/z/ scratch/a.txt", false),
        ("sed -i s/x/z/ src/lib.rs", true),
        ("sed -i s/x/z/ scratch/a.txt src/lib.rs", true),
    ] {
        let answer = environment.bash("s", command);
        assert_eq!(decision(&answer) == Some("deny"), refused, "{command}: {answer}");
    }
}

#[test]
fn a_section_that_came_with_a_project_only_makes_things_stricter_until_it_is_trusted() {
    let environment = TestEnvironment::new();
    let own = format!("{}\n", NO_DATES.trim_matches(['{', '}']).to_owned() + "}}");
    environment.configure("config.yaml", &own);
    environment.write(
        "checkrein.yaml",
        "safety:\n  pipelines:\n    release:\n      step_reviewer:\n        rules:\n          disabled: [no_dates]\n",
    );
    let deny = Some("deny".to_owned());
    assert_eq!(in_a_run(&environment, &["--pipeline", "release"], "date"), deny);
    let shown = environment.succeed(&["config", "show"]);
    assert!(shown.contains("safety.pipelines.release.step_reviewer.rules.disabled"), "{shown}");
    environment.succeed(&["trust", "--yes"]);
    assert_eq!(in_a_run(&environment, &["--pipeline", "release"], "date"), None);
    assert_eq!(in_a_run(&environment, &[], "date"), deny);
}

#[test]
fn mistakes_in_sections_are_pointed_at() {
    let environment = TestEnvironment::new();
    for (text, said) in [
        (
            "safety: {pipelines: {release: {step_revewer: {}}}}\n",
            "unknown key `safety.pipelines.release.step_revewer`",
        ),
        ("safety: {pipelines: [release]}\n", "a map of names"),
        ("safety: {paths: {src: {safety: {mode: observe}}}}\n", "unknown key `safety.paths.src.safety`"),
        ("safety: {paths: {src: {limits: {dollars: much}}}}\n", "`safety.paths.src.limits.dollars`"),
        (
            "safety: {pipelines: {release: {steps: {deploy: {step_reviewer: {risk: {high_threshold: 0.1}}}}}}}\n",
            "high_threshold",
        ),
        ("safety: {pathes: {}}\n", "did you mean `paths`"),
    ] {
        environment.configure("config.yaml", text);
        let output = environment.checkrein(&["config", "check"]);
        let error = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(!output.status.success() && error.contains(said), "{text}: {error}");
    }
}
