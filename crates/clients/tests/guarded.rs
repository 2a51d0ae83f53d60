//! What decides about the hooks of a client is known as such wherever it lies, so that no agent writes it unasked.

use checkrein_facts::places;
use checkrein_protocol::AbsolutePath;

#[test]
fn the_files_of_every_client_are_among_what_watches() {
    let Some(home) = AbsolutePath::new("/home/dev") else { panic!("no home") };
    let is_known = |path: &&str| {
        AbsolutePath::new(&format!("/home/dev/proj/{path}")).is_some_and(|file| {
            places::watcher(&file).is_some() || places::persistence(&file, &home).is_some()
        })
    };
    let (known, unknown): (Vec<&str>, Vec<&str>) = checkrein_clients::project_guard().partition(is_known);
    assert!(unknown.is_empty(), "these would be written without a word: {unknown:?}");
    assert!(known.len() > 10, "only {known:?}");
}
