//! Pipeline files: what is read, and the place of everything that is wrong.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on should panic")]

use std::time::Duration;

use checkrein_pipelines::{
    CommandLine, LoopKind, ModelFamily, PipelineFile, SHIPPED_TASK, SHIPPED_TASK_NAME, StepAct,
    TemplateValues, WorkPlace,
};
use checkrein_policy::LayerKind;

#[test]
fn a_condition_that_never_holds_is_an_error() {
    let read = |when: &str| {
        let text = format!(
            "name: p\nsteps:\n  - {{name: a, command: x}}\n  - {{name: b, command: x}}\n  - {{name: c, command: x, when: \"{when}\"}}\n"
        );
        PipelineFile::parse("p.yaml", &text, LayerKind::Project)
            .map(drop)
            .map_err(|errors| errors.to_string())
    };
    for when in
        ["steps.a.outcome == 'passed'", "steps.b.outcome == 'left_out'", "steps.b.outcome != 'failed'"]
    {
        assert!(read(when).is_ok(), "{when}");
    }
    for when in ["steps.b.outcome == 'failed'", "steps.a.outcome == 'refused'", "steps.a.outcome == 'pased'"]
    {
        let wrong = read(when).unwrap_err();
        assert!(wrong.contains("`when` never holds"), "{when}: {wrong}");
    }
}

const WHOLE: &str = r#"
name: fix
description: Mends what an issue tells.
inputs:
  issue:
    description: What is wrong
  kind: {default: bug}
worktree: task
parallel: 3
safety:
  step_reviewer:
    risk:
      high_threshold: 0.7
reviewers:
  gemini:
    command: [gemini, --output-format, json, -m, "${model}"]
    model: gemini-3-pro
  codex:
    command: [codex, exec]
    model: gpt-5.2
    rank: flagship
steps:
  - name: design
    agent: [claude, -p, "${prompt}"]
    prompt: |
      Design it: ${inputs.issue}
      ${feedback}
    outputs: {design: docs/design.md}
    time: 90m
    safety:
      # A comment.
      step_reviewer:
        risk:
          high_threshold: 0.65
  - name: checked
    gate: mechanical
    design: docs/design.md
    sections: [Context, Tests]
    on_failure: {back_to: design}
  - name: reviewed
    review: docs/design.md
    by: [gemini]
    on_failure: {back_to: design, at_most: 4}
  - name: tests
    command: pytest -q
    runner: pytest
    phase: red
    retries: 1
  - name: asked
    approve: Merge ${steps.tests.text} of ${task}?
    needs: [tests]
    when: "inputs.kind == 'bug' and steps.checked.outcome == 'passed'"
"#;

fn errors(text: &str) -> String {
    PipelineFile::parse("p.yaml", text, LayerKind::Project).expect_err("it should be refused").to_string()
}

/// The file with one part in the place of another, which must be there.
fn with(part: &str, other: &str) -> String {
    assert!(WHOLE.contains(part), "{part}");
    WHOLE.replacen(part, other, 1)
}

#[test]
fn a_file_is_read_as_it_is_written() {
    let read =
        PipelineFile::parse("p.yaml", WHOLE, LayerKind::User).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!((read.name.as_str(), read.parallel, read.place), ("fix", 3, WorkPlace::OwnWorktree));
    assert_eq!(read.authors(), [ModelFamily::Anthropic]);
    assert_eq!(read.inputs[0].default, None);
    assert_eq!(read.inputs[1].default.as_deref(), Some("bug"));
    let (_, design) = read.step("design").unwrap();
    assert_eq!(design.time.0, Duration::from_mins(90));
    assert_eq!(design.outputs["design"], "docs/design.md");
    let (_, checked) = read.step("checked").unwrap();
    let back = checked.sends_back.as_ref().unwrap();
    assert_eq!((back.to.as_str(), back.kind, back.at_most), ("design", LoopKind::Requirements, 20));
    let (place, asked) = read.step("asked").unwrap();
    assert!(read.order.waits_for(place, 0) && asked.when.is_some());
    let StepAct::Command(tests) = &read.step("tests").unwrap().1.act else { panic!("a command") };
    assert_eq!(tests.line, CommandLine::Shell("pytest -q".into()));
}

#[test]
fn settings_keep_their_lines() {
    let text = with("          high_threshold: 0.65", "          high_treshold: 0.65");
    let said = errors(&text);
    let line = text.lines().position(|line| line.contains("high_treshold")).unwrap() + 1;
    assert!(said.contains(&format!("p.yaml:{line}:11")), "{said}");
    assert!(said.contains("did you mean"), "{said}");
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    for (part, other, place, words) in [
        ("description: Mends", "descriptoin: Mends", "p.yaml:3:1", "did you mean `description`?"),
        ("time: 90m", "time: soon", "p.yaml:29:11", "such as 90s"),
        ("time: 90m", "time: 9000h", "p.yaml:29:11", "at most a week"),
        ("gate: mechanical", "gate: mechanics", "p.yaml:36:11", "one of completeness"),
        ("    retries: 1", "    retries: 50", "p.yaml:48:14", "from 0 to 5"),
        ("at_most: 4", "at_most: 21", "p.yaml:43:44", "from 1 to 20"),
        ("parallel: 3", "parallel: 0", "p.yaml:9:11", "from 1 to 16"),
        ("needs: [tests]", "needs: [test]", "p.yaml:49:5", "no such step"),
        ("needs: [tests]", "needs: [asked]", "p.yaml:49:5", "wait for each other: asked"),
        ("back_to: design}", "back_to: tests}", "p.yaml:35:5", "cannot go back to it"),
        ("${inputs.issue}", "${inputs.isue}", "p.yaml:23:5", "no input `isue`"),
        ("${steps.tests.text}", "${steps.tests.outputs.x}", "p.yaml:49:5", "no output `x`"),
        ("${inputs.issue}", "${steps.tests.text}", "p.yaml:23:5", "does not wait for `tests`"),
        ("${inputs.issue}", "${inputs.issue", "p.yaml:26:7", "not a name"),
        ("by: [gemini]", "by: [nobody]", "p.yaml:40:5", "no reviewer `nobody`"),
        ("gemini-3-pro", "gemini-3-flash", "p.yaml:17:12", "small model"),
        ("gemini-3-pro", "claude-opus-4-8", "p.yaml:40:5", "nobody may review"),
        ("[claude, -p", "[my-agent, -p", "p.yaml:23:5", "write `family`"),
        ("design: docs/design.md}", "design: ../design.md}", "p.yaml:28:23", "below the worktree"),
        ("runner: pytest", "runner: any", "p.yaml:45:14", "known `runner`"),
        (
            "    command: pytest -q",
            "    command: pytest -q\n    gate: secrets",
            "p.yaml:44:5",
            "does one thing",
        ),
        ("    gate: mechanical", "    prompt: x", "p.yaml:35:5", "does nothing"),
        ("name: checked", "name: design", "p.yaml:35:5", "already"),
        ("when: \"inputs.kind == 'bug'", "when: \"inputs.kind = 'bug'", "p.yaml:52:11", "comparison"),
        ("worktree: task", "worktree: &a task", "p.yaml:8:11", "an anchor"),
        ("    rank: flagship", "    rank: small", "p.yaml:21:11", "one of standard, flagship"),
        (
            "kind: {default: bug}",
            "kind: {default: bug, one_of: [a, b]}",
            "p.yaml:7:9",
            "`bug` is not one of its words",
        ),
        ("time: 90m", "allow: [../other]", "p.yaml:29:12", "below the worktree"),
        ("time: 90m", "unlike: tests", "p.yaml:23:5", "in which no agent works"),
        ("time: 90m", "unlike: nobody", "p.yaml:23:5", "no such step"),
        ("time: 90m", "unlike: design", "p.yaml:23:5", "models of anthropic work in both"),
        (
            "approve: Merge ${steps.tests.text} of ${task}?",
            "pull_request: ../x.md",
            "p.yaml:50:19",
            "below the worktree",
        ),
        (
            "approve: Merge ${steps.tests.text} of ${task}?",
            "pull_request: x.md\n    remote: --upload-pack=x",
            "p.yaml:51:13",
            "a name of git",
        ),
    ] {
        let said = errors(&with(part, other));
        assert!(said.contains(words), "{other}: {said}");
        assert!(said.contains(place), "{other}: {said}");
    }
}

#[test]
fn a_file_of_a_project_is_told_that_it_is_one() {
    // Whether what it sets is looser is decided where all settings are known; its form is the same.
    assert!(PipelineFile::parse("p.yaml", WHOLE, LayerKind::Project).is_ok());
    assert!(errors("name: x\n").contains("no `steps`"));
    assert!(errors("").contains("no `name`"));
    assert!(errors("- a\n").contains("a map"));
}

#[test]
fn whose_models_review_depends_on_who_worked() {
    let text = with(
        "  - name: asked",
        "  - name: second\n    agent: [codex, exec]\n    prompt: x\n    unlike: design\n    when: inputs.kind == 'hard'\n  - name: asked",
    );
    let read =
        PipelineFile::parse("p.yaml", &text, LayerKind::User).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(read.authors(), [ModelFamily::Anthropic]);
    for (outcome, both) in
        [("waiting", false), ("left_out", false), ("running", true), ("passed", true), ("failed", true)]
    {
        let values = TemplateValues([("steps.second.outcome".to_owned(), outcome.to_owned())].into());
        let expected: &[ModelFamily] =
            if both { &[ModelFamily::Anthropic, ModelFamily::OpenAi] } else { &[ModelFamily::Anthropic] };
        assert_eq!(read.authors_by(&values), expected, "{outcome}");
    }
    let published = with("approve: Merge ${steps.tests.text} of ${task}?", "pull_request: pr.md");
    let read = PipelineFile::parse("p.yaml", &published, LayerKind::User);
    assert!(read.is_ok(), "{read:?}");
    assert!(
        errors(&published.replace("worktree: task", "worktree: none")).contains("needs `worktree: task`")
    );
}

#[test]
fn the_shipped_pipeline_is_one() {
    let read = PipelineFile::parse(SHIPPED_TASK_NAME, SHIPPED_TASK, LayerKind::User);
    assert_eq!(read.unwrap_or_else(|errors| panic!("{errors}")).name, "task");
}
