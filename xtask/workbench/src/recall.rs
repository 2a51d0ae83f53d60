//! Measures how often the hint of earlier work speaks where nothing fits: goals of recorded sessions against the goals of all others.

use std::fs;

use checkrein_session::recall::Goal;
use serde_json::Value as Json;
use xtask::Outcome;

/// How many lessons of a workspace are kept (`crates/engine/src/lessons.rs`).
const KEPT: usize = 48;

/// `cargo xtask recall [--show] FILE...`: takes recorded sessions as JSON Lines (`task`, or the first message of a user), and treats each as
/// begun where 48 other sessions of its file failed: as many as a workspace keeps. Says how many would be given a hint about one of them.
pub(crate) fn recall(arguments: &[String]) -> Outcome {
    let is_shown = arguments.iter().any(|word| word == "--show");
    let files: Vec<&String> = arguments.iter().filter(|word| *word != "--show").collect();
    if files.is_empty() {
        return Err("name files of recorded sessions".to_owned());
    }
    let (mut all, mut all_told) = (0_usize, 0_usize);
    for file in files {
        let text = fs::read_to_string(file).map_err(|error| format!("cannot read {file}: {error}"))?;
        let mut goals: Vec<String> = text.lines().filter_map(goal_of).collect();
        goals.sort();
        // The same words are the same goal: a hint about that is what the hint is for.
        goals.dedup();
        let read: Vec<Goal> = goals.iter().map(|goal| Goal::of(goal)).collect();
        let mut told = 0_usize;
        for (place, goal) in read.iter().enumerate() {
            let others = read.iter().enumerate().filter(|(other, _)| *other != place);
            // Those around it in the order of their words are the most like it.
            let mut near: Vec<(usize, &Goal)> = others.collect();
            near.sort_by_key(|(other, _)| other.abs_diff(place));
            let like = near.into_iter().take(KEPT).find(|(_, other)| goal.likeness(other).is_some());
            if let Some((other, _)) = like {
                told += 1;
                if is_shown {
                    let text = |place: usize| goals.get(place).map(String::as_str).unwrap_or_default();
                    println!("--- {}\n=== {}", cut(text(place)), cut(text(other)));
                }
            }
        }
        println!("{file}: {} goals, {told} would be given a hint", goals.len());
        all += goals.len();
        all_told += told;
    }
    println!("{all} goals, {all_told} hints ({:.2} %)", all_told as f64 * 100.0 / all.max(1) as f64);
    Ok(())
}

fn goal_of(line: &str) -> Option<String> {
    let session: Json = serde_json::from_str(line).ok()?;
    let of_task = session.get("task").and_then(Json::as_str).filter(|task| !task.trim().is_empty());
    let of_user = || {
        let steps = session.get("steps")?.as_array()?;
        let first = steps.iter().find(|step| step["tool"] == "user_message")?;
        first.get("input")?.as_str()
    };
    of_task.or_else(of_user).map(str::to_owned)
}

fn cut(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(200).collect()
}
