//! Sections of the configuration that hold in one pipeline, in one of its steps, or where a call touches certain paths (seed 002, per-pipeline
//! overrides; upstream 1.1, per-step overrides).
//!
//! A section counts in its place in the order of layers: above what its file says otherwise, below the layers above it. What holds only in
//! part, or because the environment says so, may make things stricter, and nothing else.

use checkrein_protocol::{AbsolutePath, Depth};

use crate::scope::covers;

/// Where a call stands, as far as sections are limited to that.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Standpoint {
    /// The pipelines that it belongs to, each with who says so.
    pub pipelines: Vec<PipelineStep>,
    /// The places that it touches.
    pub touched: Vec<(AbsolutePath, Depth)>,
    /// Whether these are all.
    pub extent: TargetKnowledge,
    /// The directory that patterns start from where the file that holds them is no project's.
    pub workspace: Option<AbsolutePath>,
    /// The directory that `~` stands for.
    pub home: Option<AbsolutePath>,
}

/// A pipeline and perhaps a step of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PipelineStep {
    /// Its name.
    pub pipeline: String,
    /// The name of the step.
    pub step: Option<String>,
    /// Who says so.
    pub said_by: SaidBy,
}

/// Who says which pipeline an agent works in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SaidBy {
    /// The user who started the run.
    Run,
    /// A variable of the environment, which anybody may have set.
    Environment,
}

/// Whether the places that a call touches are all known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TargetKnowledge {
    /// They are.
    #[default]
    Known,
    /// It may touch others.
    Open,
}

/// What a section is limited to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Limit {
    /// The runs of a pipeline, by its name.
    Pipeline(String),
    /// One step of it.
    Step {
        /// The name of the pipeline.
        pipeline: String,
        /// The name of the step.
        step: String,
    },
    /// Calls that touch what this pattern fits.
    Path(String),
}

/// How far a section holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Hold {
    Not,
    /// What is stricter in it holds.
    InPart,
    Wholly,
}

impl Limit {
    /// The path of the section in a file.
    pub fn path(&self) -> String {
        match self {
            Self::Pipeline(name) => format!("safety.pipelines.{name}"),
            Self::Step { pipeline, step } => format!("safety.pipelines.{pipeline}.steps.{step}"),
            Self::Path(pattern) => format!("safety.paths.{pattern}"),
        }
    }

    /// How far a section of a file in `folder` holds; of a file that belongs to no project there is none.
    pub(crate) fn hold(&self, standpoint: &Standpoint, folder: Option<&AbsolutePath>) -> Hold {
        match self {
            Self::Pipeline(name) => by_name(standpoint.pipelines.iter().filter(|one| one.pipeline == *name)),
            Self::Step { pipeline, step } => {
                let is_it =
                    |one: &&PipelineStep| one.pipeline == *pipeline && one.step.as_ref() == Some(step);
                by_name(standpoint.pipelines.iter().filter(is_it))
            }
            Self::Path(pattern) => by_path(pattern, standpoint, folder),
        }
    }
}

fn by_name<'a>(named: impl Iterator<Item = &'a PipelineStep>) -> Hold {
    let hold = |one: &PipelineStep| match one.said_by {
        SaidBy::Run => Hold::Wholly,
        SaidBy::Environment => Hold::InPart,
    };
    named.map(hold).max().unwrap_or(Hold::Not)
}

fn by_path(pattern: &str, standpoint: &Standpoint, folder: Option<&AbsolutePath>) -> Hold {
    let Some(start) = folder.or(standpoint.workspace.as_ref()) else { return Hold::Not };
    let pattern = match (pattern.strip_prefix("~/"), &standpoint.home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => start.join(pattern),
    };
    // The part that names one directory: what goes with all below a place above it, touches what lies there, too.
    let fixed: Vec<&str> = pattern.parts().take_while(|part| !part.contains(['*', '?', '['])).collect();
    let named = AbsolutePath::root().join(&fixed.join("/"));
    let lies_there = |(path, _): &(AbsolutePath, Depth)| covers(&pattern, path);
    let reaches = |(path, depth): &(AbsolutePath, Depth)| *depth == Depth::Recursive && named.is_within(path);
    let touched = &standpoint.touched;
    if standpoint.extent == TargetKnowledge::Known && !touched.is_empty() && touched.iter().all(lies_there) {
        Hold::Wholly
    } else if touched.iter().any(|place| lies_there(place) || reaches(place)) {
        Hold::InPart
    } else {
        Hold::Not
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(paths: &[(&str, Depth)], extent: TargetKnowledge) -> Standpoint {
        let path = |text: &str| AbsolutePath::new(text).unwrap();
        Standpoint {
            touched: paths.iter().map(|(text, depth)| (path(text), *depth)).collect(),
            extent,
            workspace: Some(path("/w")),
            home: Some(path("/home/dev")),
            ..Standpoint::default()
        }
    }

    #[test]
    fn a_path_holds_wholly_where_everything_lies_there() {
        use Depth::{Recursive, Single};
        for (pattern, paths, extent, hold) in [
            ("infra/**", &[("/w/infra/a", Single)][..], TargetKnowledge::Known, Hold::Wholly),
            ("infra", &[("/w/infra/a/b", Single)], TargetKnowledge::Known, Hold::Wholly),
            ("infra/**", &[("/w/infra/a", Single)], TargetKnowledge::Open, Hold::InPart),
            (
                "infra/**",
                &[("/w/infra/a", Single), ("/w/src/b", Single)],
                TargetKnowledge::Known,
                Hold::InPart,
            ),
            ("infra/**", &[("/w", Recursive)], TargetKnowledge::Known, Hold::InPart),
            ("infra/**", &[("/w", Single)], TargetKnowledge::Known, Hold::Not),
            ("infra/**", &[("/w/src/b", Single)], TargetKnowledge::Known, Hold::Not),
            ("infra/**", &[], TargetKnowledge::Known, Hold::Not),
            ("/etc/**", &[("/etc/hosts", Single)], TargetKnowledge::Known, Hold::Wholly),
            ("~/notes", &[("/home/dev/notes/a", Single)], TargetKnowledge::Known, Hold::Wholly),
        ] {
            let limit = Limit::Path(pattern.to_owned());
            assert_eq!(limit.hold(&at(paths, extent), None), hold, "{pattern} {paths:?} {extent:?}");
        }
    }

    #[test]
    fn a_path_of_a_project_starts_where_its_file_lies() {
        let outer = AbsolutePath::new("/outer").unwrap();
        let limit = Limit::Path("infra".to_owned());
        let standpoint = at(&[("/outer/infra/a", Depth::Single)], TargetKnowledge::Known);
        assert_eq!(limit.hold(&standpoint, Some(&outer)), Hold::Wholly);
        assert_eq!(limit.hold(&standpoint, None), Hold::Not);
    }

    #[test]
    fn what_the_environment_says_holds_in_part() {
        let said = |said_by| Standpoint {
            pipelines: vec![PipelineStep {
                pipeline: "release".to_owned(),
                step: Some("deploy".to_owned()),
                said_by,
            }],
            ..Standpoint::default()
        };
        let pipeline = Limit::Pipeline("release".to_owned());
        let step = |step: &str| Limit::Step { pipeline: "release".to_owned(), step: step.to_owned() };
        assert_eq!(pipeline.hold(&said(SaidBy::Run), None), Hold::Wholly);
        assert_eq!(pipeline.hold(&said(SaidBy::Environment), None), Hold::InPart);
        assert_eq!(step("deploy").hold(&said(SaidBy::Run), None), Hold::Wholly);
        assert_eq!(step("build").hold(&said(SaidBy::Run), None), Hold::Not);
        assert_eq!(pipeline.hold(&Standpoint::default(), None), Hold::Not);
    }
}
