//! Secrets that a search through a tree prints: lines of files that nobody named.

use crate::path::AbsolutePath;
use crate::places;
use crate::world::{Entry, Listing, VersionState};
use crate::{Call, Machine, Output, Value, secrets};

use super::searching::Search;
use super::showing::{SEARCHING, Showing, showing};
use super::sight::Sight;

/// The secret whose lines a search through directories or files prints, as the output that carries it; `None` when there is none, or the search
/// tells names and numbers only.
///
/// The text of the files is compared with the patterns, so that a search for something else is none for secrets.
pub fn found_secret(machine: &mut Machine<'_>, call: &Call) -> Option<Output> {
    if call.program == "diff" {
        return differing_secret(machine, call);
    }
    if !SEARCHING.contains(&call.program.as_str()) {
        return None;
    }
    let mut search = Search::new(call);
    search.extended |= call.program == "rg" || search.perl;
    let sight = Sight::of(call, &search);
    if search.names || search.other_names || search.count || search.quiet || search.patterns.is_empty() {
        return None;
    }
    let here = [Value::exact(".")];
    let roots = if search.files().is_empty() { here.to_vec() } else { search.files().to_vec() };
    for root in &roots {
        for aim in machine.paths_through(root) {
            let Some(root) = aim.target.path() else { continue };
            if machine.entry(root) != Entry::Directory {
                // Of names alone nothing is shown.
                let shows_lines = matches!(showing(call), Showing::ChosenLines | Showing::Everything);
                let is_secret = shows_lines
                    && places::credential(root, &machine.world().place().home).is_some()
                    && !places::is_for_tests(root, machine.world());
                if is_secret && shows_secret(machine, &search, root) {
                    return Some(machine.carry(&root.clone()));
                }
                continue;
            }
            let Some(sight) = &sight else { continue };
            let found = machine.credentials_within(root, &[]).into_iter().find(|path| {
                sight.reaches(machine, root, path)
                    && search.takes(root, path)
                    && shows_secret(machine, &search, path)
            });
            if let Some(path) = found {
                return Some(machine.carry(&path));
            }
        }
    }
    None
}

/// The secret of which `diff -r` prints lines: one that stands in both directories, or in either where what is missing counts as empty.
fn differing_secret(machine: &mut Machine<'_>, call: &Call) -> Option<Output> {
    let words: Vec<&str> = call.words.iter().filter_map(Value::as_exact).collect();
    let has = |letter: char, name: &str| {
        words.iter().any(|word| {
            *word == name || word.starts_with('-') && !word.starts_with("--") && word.contains(letter)
        })
    };
    if !has('r', "--recursive") || has('q', "--brief") {
        return None;
    }
    let takes_missing = has('N', "--new-file") || has('P', "--unidirectional-new-file");
    let roots: Vec<AbsolutePath> = words
        .iter()
        .filter(|word| !word.starts_with('-'))
        .filter_map(|word| machine.paths_through(&Value::exact(*word)).first()?.target.path().cloned())
        .filter(|root| machine.entry(root) == Entry::Directory)
        .collect();
    let [first, second] = roots.as_slice() else { return None };
    let found = [(first, second), (second, first)].into_iter().find_map(|(root, other)| {
        machine.credentials_within(root, &[]).into_iter().find(|path| {
            takes_missing
                || path
                    .relative_to(root)
                    .is_some_and(|below| matches!(machine.entry(&other.join(below)), Entry::File(_)))
        })
    })?;
    Some(machine.carry(&found))
}

/// The names of files of the workspace that a search with `-r` finds, when the configuration of git and of the guard is not among them: it
/// is left out, or none of it fits. `None` where that is not known. What other data of git fit is not told apart from other files.
pub(super) fn names_in_workspace(machine: &Machine<'_>, search: &Search) -> Option<Output> {
    if search.inverted || search.other_names {
        return None;
    }
    if search.files().is_empty() && !search.is_recursive() {
        return None;
    }
    let here = [Value::exact(".")];
    let roots = if search.files().is_empty() { &here[..] } else { search.files() };
    let place = machine.world().place();
    let mut first = None;
    for root in roots {
        let aims = machine.paths_through(root);
        let [aim] = aims.as_slice() else { return None };
        let root = aim.target.path()?;
        if !root.is_within(&place.workspace) || root.parts().any(|part| part == ".git") {
            return None;
        }
        let may_be_found = |path: &AbsolutePath| {
            path.is_within(root) && search.takes(root, path) && may_fit(machine, search, path)
        };
        if control_files(machine)?.iter().any(may_be_found) {
            return None;
        }
        first.get_or_insert_with(|| root.clone());
    }
    first.map(|root| Output::Local(root.as_str().to_owned()))
}

/// Whether a file may be among those in which a search finds something.
fn may_fit(machine: &Machine<'_>, search: &Search, path: &AbsolutePath) -> bool {
    let text = machine.text(path);
    match (machine.entry(path), text.as_exact()) {
        (Entry::Missing, _) => false,
        _ if search.perl || search.obscure || search.inverted || search.other_names => true,
        (Entry::File(_), Some(text)) => text.lines().any(|line| search.fits(line) != Some(false)),
        _ => true,
    }
}

/// Whether a search of git through what it keeps of the work tree may find something in what watches over the work there.
pub(super) fn finds_control_file(machine: &Machine<'_>, search: &Search) -> bool {
    let root = &machine.world().place().workspace;
    let in_tree = |path: &AbsolutePath| !path.parts().any(|part| part == ".git") && path.is_within(root);
    let is_kept = |path: &AbsolutePath| {
        !matches!(machine.world().version(path), VersionState::Untracked | VersionState::Ignored)
    };
    control_files(machine).is_none_or(|all| {
        all.iter().any(|path| in_tree(path) && is_kept(path) && may_fit(machine, search, path))
    })
}

/// What in the workspace makes git or a client run something, or watches over them; `None` when it cannot be listed.
pub(super) fn control_files(machine: &Machine<'_>) -> Option<Vec<AbsolutePath>> {
    let place = machine.world().place();
    let mut all: Vec<AbsolutePath> = place
        .guarded
        .iter()
        .filter(|guarded| guarded.path.is_within(&place.workspace))
        .map(|guarded| guarded.path.clone())
        .collect();
    let Some(repository) = machine.world().repository(&place.workspace) else { return Some(all) };
    all.push(repository.directory.join("config"));
    let hooks = repository.directory.join("hooks");
    match machine.children(&hooks) {
        Listing::Names(names) => {
            // git runs no samples.
            let hook = |name: &String| (!name.ends_with(".sample")).then(|| hooks.join(name));
            all.extend(names.iter().filter_map(hook));
        }
        Listing::Unknown if machine.entry(&hooks) == Entry::Missing => {}
        Listing::Unknown => return None,
    }
    Some(all)
}

/// Whether a line of a file that holds a secret fits, as far as that is known.
fn shows_secret(machine: &Machine<'_>, search: &Search, path: &AbsolutePath) -> bool {
    let text = machine.text(path);
    let Some(text) = text.as_exact() else { return false };
    let is_list = path.name().is_some_and(places::environment_file);
    let fits = |line: &str| search.fits(line) != Some(search.inverted);
    // What stands around a line that fits is printed too.
    let around = search.is_strange() && text.lines().any(fits);
    text.lines().any(|line| (around || fits(line)) && (!is_list || holds_secret(line)))
}

/// Whether a line of settings (`NAME=value`) holds a secret: by the name, or because the value is an address with a password.
fn holds_secret(line: &str) -> bool {
    let line = line.trim_start().trim_start_matches("export ");
    let Some((name, value)) = line.split_once('=').filter(|_| !line.starts_with('#')) else { return false };
    let has_password = value.split_once("://").is_some_and(|(_, rest)| {
        let host = rest.split('/').next().unwrap_or_default();
        host.rsplit_once('@').is_some_and(|(user, _)| user.contains(':'))
    });
    !value.trim().is_empty() && (secrets::is_secret_name(name.trim()) || has_password)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_settings_hold_secrets_by_name_or_by_an_address_with_a_password() {
        for line in ["API_KEY=abc", "export DB_PASSWORD='x'", "DATABASE_URL=postgres://app:pw@db/app"] {
            assert!(holds_secret(line), "{line}");
        }
        for line in ["PORT=80", "# API_KEY=abc", "API_KEY=", "DATABASE_URL=postgres://db/app", "text"] {
            assert!(!holds_secret(line), "{line}");
        }
    }
}
