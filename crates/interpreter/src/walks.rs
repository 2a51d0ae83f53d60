//! By what walks through a tree choose.

/// By what a walk chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// It takes all, or all of a sort.
    All,
    /// By names or paths, which a pattern says.
    ByName,
    /// By what the world does not say: an age, a size, an owner.
    Unseen,
}
