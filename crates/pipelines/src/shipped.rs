//! The pipeline of a task, as it is shipped (seed 004: triage, design, review, specification, red tests, implementation, gates, branch,
//! pull request).

/// What a file of this name is called in messages.
pub const SHIPPED_TASK_NAME: &str = "task.yaml (shipped)";

/// The pipeline of `checkrein task`.
pub const SHIPPED_TASK: &str = include_str!("shipped/task.yaml");
