//! Absolute paths as the guard names them.

use std::fmt;

use serde::{Deserialize, Serialize};

/// An absolute, lexically normalised path: starts with `/`, no `.` or `..` parts, no doubled or trailing slash.
///
/// Symbolic links are resolved by the interpreter through the world before a path becomes a target; this type
/// only promises the shape.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AbsolutePath(String);

impl AbsolutePath {
    /// The root directory.
    pub fn root() -> Self {
        Self("/".to_owned())
    }

    /// Normalises `text`; `None` when it is not absolute.
    pub fn new(text: &str) -> Option<Self> {
        text.starts_with('/').then(|| Self::root().join(text))
    }

    /// The path that `text` names from this directory: absolute text replaces it, `.` and `..` are resolved
    /// lexically (`..` at the root stays there).
    #[must_use]
    pub fn join(&self, text: &str) -> Self {
        let mut path = String::with_capacity(self.0.len() + 1 + text.len());
        if !text.starts_with('/') && self.0 != "/" {
            path.push_str(&self.0);
        }
        for part in text.split('/') {
            match part {
                "" | "." => {}
                ".." => path.truncate(path.rfind('/').unwrap_or(0)),
                name => {
                    path.push('/');
                    path.push_str(name);
                }
            }
        }
        if path.is_empty() {
            path.push('/');
        }
        Self(path)
    }

    /// The text of the path.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The last part; `None` for the root.
    pub fn name(&self) -> Option<&str> {
        self.0.rsplit('/').next().filter(|name| !name.is_empty())
    }

    /// The directory that holds it; `None` for the root.
    pub fn parent(&self) -> Option<Self> {
        self.name()?;
        let cut = self.0.rfind('/')?;
        Some(Self(if cut == 0 { "/".to_owned() } else { self.0.get(..cut)?.to_owned() }))
    }

    /// Whether this path is `directory` or lies below it.
    pub fn is_within(&self, directory: &Self) -> bool {
        directory.0 == "/"
            || self.0 == directory.0
            || self.0.strip_prefix(directory.0.as_str()).is_some_and(|rest| rest.starts_with('/'))
    }

    /// What follows `directory/`; empty for the directory itself, `None` outside it.
    pub fn relative_to(&self, directory: &Self) -> Option<&str> {
        if !self.is_within(directory) {
            return None;
        }
        let rest = self.0.strip_prefix(directory.0.as_str())?;
        Some(rest.trim_start_matches('/'))
    }

    /// The parts between the slashes, from the root.
    pub fn parts(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/').filter(|part| !part.is_empty())
    }
}

impl fmt::Display for AbsolutePath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joining_normalises() {
        let base = AbsolutePath::new("/home//dev/./proj/").unwrap();
        assert_eq!(base.as_str(), "/home/dev/proj");
        assert_eq!(base.join("../other/./x").as_str(), "/home/dev/other/x");
        assert_eq!(base.join("/etc/..").as_str(), "/");
        assert_eq!(base.join("../../../../..").as_str(), "/");
        assert_eq!(AbsolutePath::new("relative"), None);
    }

    #[test]
    fn within_is_by_whole_parts() {
        let proj = AbsolutePath::new("/home/dev/proj").unwrap();
        assert!(proj.join("src").is_within(&proj));
        assert!(!AbsolutePath::new("/home/dev/project").unwrap().is_within(&proj));
        assert!(proj.is_within(&AbsolutePath::root()));
        assert_eq!(proj.join("a/b").relative_to(&proj), Some("a/b"));
        assert_eq!(proj.relative_to(&AbsolutePath::root()), Some("home/dev/proj"));
        assert_eq!(proj.parent().unwrap().as_str(), "/home/dev");
        assert_eq!(AbsolutePath::new("/a").unwrap().parent().unwrap().as_str(), "/");
        assert_eq!(AbsolutePath::root().parent(), None);
    }
}
