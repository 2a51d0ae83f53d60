//! Code of a folder that a client runs as soon as it is started there, before any hook: the settings of its own runtime name it.

use checkrein_clients::ClientAdapter;
use checkrein_effects::names_code;
use checkrein_facts::RunByClient;
use checkrein_protocol::AbsolutePath;

/// The event in the ledger: such a file was there when a session began.
pub const FOUND: &str = "checkrein.run_by_client";

/// Returns the files that a client reads so, for who judges calls.
pub(crate) fn facts(client: &ClientAdapter) -> Vec<RunByClient> {
    let fact = |(file, key): &(&str, &str)| RunByClient {
        file: (*file).to_owned(),
        key: (*key).to_owned(),
        client: client.title.to_owned(),
    };
    client.places.runs.iter().map(fact).collect()
}

/// Returns what is to be said about a folder in which a client would run code of such a file; `None` where it would not. A clause.
pub fn found(client: &ClientAdapter, folder: &AbsolutePath) -> Option<String> {
    facts(client).into_iter().find_map(|one| {
        let file = folder.join(&one.file);
        let text = checkrein_files::read_text(file.as_str(), checkrein_files::SMALL).ok()?;
        names_code(&text, &one.key).then(|| {
            format!(
                "{}: {} runs what its `{}` names when it is started here, before any hook",
                file, one.client, one.key
            )
        })
    })
}
