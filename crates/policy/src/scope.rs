//! Where mutations are expected.

use checkrein_facts::HostPaths;
use checkrein_glob::{Glob, Style};
use checkrein_protocol::{AbsolutePath, Target};

use crate::config::Config;

/// Whether a path lies where mutations are expected: temporary and configured directories, and the workspace or the
/// part of it that `scope.paths` names.
pub fn in_scope(path: &AbsolutePath, place: &HostPaths, config: &Config) -> bool {
    let inside = |directory: &AbsolutePath| path.is_within(directory);
    let device = matches!(path.as_str(), "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/tty");
    let named = match config.scope.paths.as_slice() {
        [] => inside(&place.workspace),
        patterns => patterns.iter().any(|pattern| covers(&place.workspace.join(pattern), path)),
    };
    let temporary = place.is_temporary(path) || place.temporary.contains(path);
    device || named || temporary || place.expected.iter().any(inside)
}

/// Where a file target lies: the path itself, or the directory that a pattern starts in; `None` for other targets.
pub fn location(target: &Target) -> Option<AbsolutePath> {
    match target {
        Target::Path(path) => Some(path.clone()),
        Target::Glob(pattern) => {
            let known = pattern.split(['*', '?', '[']).next().unwrap_or_default();
            let directory = known.rfind('/').and_then(|slash| known.get(..=slash)).unwrap_or_default();
            AbsolutePath::new(directory)
        }
        Target::Host(_)
        | Target::Process(_)
        | Target::Service(_)
        | Target::Reference(_)
        | Target::Unknown => None,
    }
}

/// Whether `path` matches `pattern`, or lies below what the pattern names: `*` and `?` stay inside one name, `**`
/// crosses names.
pub fn covers(pattern: &AbsolutePath, path: &AbsolutePath) -> bool {
    let pattern = pattern.as_str().trim_end_matches('/');
    Glob::new(pattern, Style::Setting).or_below().matches(path.as_str().trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_cover_what_lies_below() {
        let covered = |pattern: &str, path: &str| {
            covers(&AbsolutePath::new(pattern).unwrap(), &AbsolutePath::new(path).unwrap())
        };
        assert!(covered("/p/src", "/p/src/a/b.rs"));
        assert!(covered("/p/src/**", "/p/src"));
        assert!(covered("/p/*.md", "/p/README.md"));
        assert!(covered("/p/**/test_*.py", "/p/a/b/test_x.py"));
        assert!(covered("/p/**/test_*.py", "/p/test_x.py"));
        assert!(covered("/", "/p"));
        assert!(!covered("/p/src", "/p/source"));
        assert!(!covered("/p/src/a", "/p/src"));
        assert!(!covered("/p/*.md", "/p/docs"));
        assert!(!covered("/p/a?c", "/p/ac"));
    }

    #[test]
    fn many_stars_stay_cheap() {
        let pattern = format!("/{}x", "**/a*a*a/".repeat(40));
        let path = format!("/{}", "aaaa/".repeat(60));
        assert!(!covers(&AbsolutePath::new(&pattern).unwrap(), &AbsolutePath::new(&path).unwrap()));
    }
}
