//! Where secrets went, and what is told of texts that carry them.

use std::collections::{BTreeMap, BTreeSet};

use crate::call::Call;
use crate::exit::Output;
use crate::git_store::GitStore;
use crate::origins::Origins;
use crate::path::AbsolutePath;
use crate::sweeps::Sweep;
use crate::value::Value;

/// Where secrets went, and what is told of texts that carry them.
pub struct SecretFlow {
    /// Where the content of written files came from, when that matters, by path.
    pub(crate) sources: BTreeMap<String, Output>,
    /// Which directories and revisions came from elsewhere.
    pub(crate) origins: Origins,
    /// Values of secrets that the words of this command held, with where they are from.
    pub(crate) secret_texts: Vec<(String, Output)>,
    /// Values of variables that hold secrets and that the words of this command held, each with the name of the variable.
    pub(crate) secret_names: BTreeMap<String, String>,
    /// Secrets that the shell was given to keep, by the built-in that lists them.
    pub(crate) listed_again: BTreeMap<String, Output>,
    /// Lists of secrets that something has turned into another form.
    pub(crate) reshaped: BTreeSet<String>,
    /// Files from which the values of a copied list of settings were taken away, with the list.
    pub(crate) cleaned: BTreeMap<AbsolutePath, AbsolutePath>,
    /// Secrets among the files of which archives and searches put the content into an output.
    pub(crate) carried: BTreeSet<String>,
    /// What comes out of the ends of process substitutions and open descriptors, by path.
    pub(crate) ends: BTreeMap<String, Output>,
    /// Those of them that carry what a commit holds.
    pub(crate) committed_ends: BTreeSet<String>,
    /// How many calls printed what a commit holds, or what the shell holds.
    pub commits_shown: usize,
    /// What git was given of secrets.
    pub stored: GitStore,
    /// The archives that the action made: where they are, of what, and which names are left out.
    pub archives_made: Vec<(AbsolutePath, Vec<Value>, Vec<String>)>,
    /// Whether something of a secret went into a file.
    pub(crate) into_files: bool,
    /// Archives that earlier actions made, each with the place of a secret that is in it.
    pub archives_kept: Vec<(AbsolutePath, String)>,
    /// The host to which the standard output goes, when it is a connection.
    pub(crate) outlet: Option<String>,
    /// Whether the running command decodes what nobody has read.
    pub(crate) veiled: bool,
    /// The files of secrets of which the shell holds something in variables, since they were sourced or read into one.
    pub(crate) settings_held: BTreeSet<String>,
    /// What is known of how secrets are shown that are read.
    pub(crate) sweep: Sweep,
    /// Secrets that were read, and whether anything of what they hold was shown.
    pub(crate) shown_secrets: BTreeMap<AbsolutePath, bool>,
    /// The stage of a pipeline at the present point, where later ones leave nothing of what it prints.
    pub(crate) hidden: Option<Call>,
    /// Whether words, or the text of a file, came out of an output of which nothing is known: on whatever way they went on from there, a name
    /// that is not known may be one of them.
    pub(crate) has_unread_words: bool,
    /// Whether something looked up where a program of the guard is.
    pub(crate) guard_looked_up: bool,
    /// Whether shells of this command show what they read or run (`set -x`, `bash -v`).
    pub shows_commands: bool,
}

impl Default for SecretFlow {
    fn default() -> Self {
        Self {
            sources: BTreeMap::new(),
            origins: Origins::default(),
            secret_texts: Vec::new(),
            secret_names: BTreeMap::new(),
            guard_looked_up: false,
            listed_again: BTreeMap::new(),
            reshaped: BTreeSet::new(),
            cleaned: BTreeMap::new(),
            carried: BTreeSet::new(),
            ends: BTreeMap::new(),
            committed_ends: BTreeSet::new(),
            commits_shown: 0,
            stored: GitStore::default(),
            archives_made: Vec::new(),
            into_files: false,
            archives_kept: Vec::new(),
            outlet: None,
            veiled: false,
            settings_held: BTreeSet::new(),
            sweep: Sweep::NONE,
            shown_secrets: BTreeMap::new(),
            hidden: None,
            has_unread_words: false,
            shows_commands: false,
        }
    }
}
