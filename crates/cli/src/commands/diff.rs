//! `checkrein snapshot diff`: what differs between a snapshot and another, or what is there now.

use checkrein_snapshot::{Difference, Node, SnapshotId};
use similar::TextDiff;

use super::restore::{RestoreContext, Unfinished};
use super::snapshots::size;
use super::{ExitStatus, OutputForm, Switch};
use crate::api;
use crate::terminal::{dim, plain, plain_name, print};
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;

/// The greatest file of which lines are compared, in bytes (ours).
const LONGEST: u64 = 1024 * 1024;

/// Shows what differs, a path a line; with `patch` also the lines of text.
pub fn diff(
    environment: &HostEnvironment,
    from: SnapshotId,
    to: Option<SnapshotId>,
    patch: Switch,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    let ground = RestoreContext::open(environment, Unfinished::Tell)?;
    let compared = ground.store.compare(from, to, &ground.manner())?;
    for one in &compared.differences {
        let place = one.path.as_path().to_string_lossy();
        match output {
            OutputForm::Json => print(&api::line(&api::saved::SnapshotDifference {
                path: place.to_string(),
                change: word(one).to_owned(),
                from_bytes: one.then.as_ref().map(Node::length),
                to_bytes: one.now.as_ref().map(Node::length),
            })?),
            OutputForm::Text => {
                print(&format!("{:<8} {}{}", word(one), plain_name(&place), dim(&lengths(one))));
                if patch == Switch::On {
                    let text = |node: Option<&Node>| match node {
                        Some(Node::File { content, length, .. }) if *length <= LONGEST => {
                            compared.text(content).map(Some)
                        }
                        Some(_) => Ok(None),
                        None => Ok(Some(String::new())),
                    };
                    if let (Some(then), Some(now)) = (text(one.then.as_ref())?, text(one.now.as_ref())?) {
                        let lines = TextDiff::from_lines(then.as_str(), now.as_str());
                        print(&plain(&lines.unified_diff().context_radius(3).to_string()));
                    }
                }
            }
        }
    }
    if compared.differences.is_empty() && output == OutputForm::Text {
        print("nothing differs");
    }
    Ok(ExitStatus::Done)
}

fn word(one: &Difference) -> &'static str {
    match (&one.then, &one.now) {
        (Some(_), None) => "removed",
        (None, _) => "added",
        (Some(_), Some(_)) => "changed",
    }
}

fn lengths(one: &Difference) -> String {
    match (&one.then, &one.now) {
        (Some(Node::File { length, .. }), Some(Node::File { length: now, .. })) if length != now => {
            format!("  {} -> {}", size(*length), size(*now))
        }
        (Some(Node::File { length, .. }), None) | (None, Some(Node::File { length, .. })) => {
            format!("  {}", size(*length))
        }
        _ => String::new(),
    }
}
