//! Programs that talk to hosts.
//!
//! | module | holds |
//! |---|---|
//! | `transfer` | curl, wget, httpie: requests, what they send and where they put the answer |
//! | `configured` | files of options for curl and wget |
//! | `serving` | servers that hand out files |
//! | `interception` | who gets what a call sends that is told another receiver than the address names |
//! | `told_to_run` | what a request tells a service of this machine to run |
//! | `streams` | netcat, socat: bytes between a host and something here |
//!
//! A request without local data is `network_request`, whatever its method; what sends files, standard input or text that is not
//! known is `data_upload`. The clients of places where repositories live are here too.

mod configured;
mod interception;
pub(crate) mod serving;
mod streams;
mod told_to_run;
mod transfer;

pub(crate) use streams::{netcat, socat, telnet};
pub(super) use transfer::remote_name;
pub(crate) use transfer::{curl, httpie, wget};

use crate::effect::{EffectKind, NetworkReach, Severity, Target};
use crate::interpreter::printed::ALL_VARIABLES;
use crate::interpreter::{Call, Draft, Exit, Input, Machine, Output, Upload, Value, secrets};

use crate::interpreter::known_hosts;
use crate::nature::Nature;

use super::cloud_words::destroys_beyond_lists;

/// Adds that a request tells a host elsewhere to delete something, where its method or its path says so.
/// Sources: RFC 9110, 9.3.5; Elasticsearch, "Delete by query"; InfluxDB, `/api/v2/delete`; CouchDB, `/{db}/_purge`.
pub(super) fn note_deletion(machine: &mut Machine<'_>, url: &Value, method: Option<&str>) {
    let address = url.known_start();
    if known_hosts::reach(&address) == NetworkReach::Local {
        return;
    }
    let path = address.split(['?', '#']).next().unwrap_or_default();
    let last = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default().replace('_', "-");
    let is_path_of_host = path.matches('/').count() > if path.contains("://") { 2 } else { 0 };
    let deletes = match method {
        Some("DELETE") => true,
        Some("POST" | "PUT") => {
            let words = last.trim_start_matches('-');
            // curl(1): an address may lack its scheme.
            is_path_of_host && !words.ends_with("-reset") && destroys_beyond_lists(words)
        }
        Some(_) | None => false,
    };
    if deletes {
        let target = url.as_exact().map_or(Target::Unknown, |text| Target::Service(text.to_owned()));
        machine.add(
            Draft::new(EffectKind::InfrastructureChange, target)
                .severity(Severity::High)
                .note("tells the host to delete it"),
        );
    }
}

/// What is known of the data that a request sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Sent {
    /// Nothing.
    Nothing,
    /// Text that stands in the command.
    Literal,
    /// Files, standard input, or text that is not known.
    Data,
}

/// Sends a request to a URL.
fn request(machine: &mut Machine<'_>, url: &Value, sent: Sent) {
    if let Some(text) = url.as_exact().filter(|text| known_hosts::is_metadata_service(text)) {
        let note = "the address at which a cloud machine hands out its credentials";
        machine.add(Draft::new(EffectKind::SecretRead, Target::Host(text.to_owned())).note(note));
    }
    let target = url.as_exact().map_or_else(|| url.known_start(), str::to_owned);
    if sends_strange_secret(machine, url, target) {
        return;
    }
    let from_file =
        |output: &Output| matches!(output, Output::Secret(_)) && secrets::variable_of(output).is_none();
    let carries_secret = machine.substituted().iter().any(from_file);
    // All variables are for nobody.
    let all = (machine.substituted().iter())
        .find(|output| {
            matches!(output, Output::Secret(_)) && secrets::variable_of(output) == Some(&ALL_VARIABLES[1..])
        })
        .cloned();
    if let Some(all) = all {
        note_secret_sent(machine, &all.into_input(), url);
    }
    let carried = carried(machine, url);
    match sent {
        Sent::Data => machine.host(url, Upload::Yes),
        Sent::Nothing | Sent::Literal if carries_secret => machine.host(url, Upload::Yes),
        Sent::Nothing | Sent::Literal if carried == Carried::OfUser => machine.host(url, Upload::Yes),
        Sent::Nothing if carried == Carried::OfProject => {
            let before = machine.effect_count();
            machine.host(url, Upload::No);
            machine.amend(before, |effect| {
                let is_strange = effect.reach == Some(NetworkReach::External);
                if effect.kind == EffectKind::NetworkRequest && is_strange {
                    effect.nature = Nature::TellsOthers;
                }
            });
        }
        Sent::Literal => {
            let Some(text) = url.as_exact() else {
                machine.host(url, Upload::No);
                return;
            };
            // A known host is known for reading only.
            let reach = match known_hosts::reach(text) {
                NetworkReach::Local => NetworkReach::Local,
                NetworkReach::Known | NetworkReach::External => NetworkReach::External,
            };
            let draft = Draft::new(EffectKind::NetworkRequest, Target::Host(text.to_owned())).reach(reach);
            machine.add(draft.nature(Nature::TellsOthers).note("may change something there"));
        }
        Sent::Nothing => machine.host(url, Upload::No),
    }
}

/// Whose files the words of a request carry, by substitutions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Carried {
    /// Nobody's.
    Nothing,
    /// Those of the project, where they do not stand in the words as they are.
    OfProject,
    /// Those that a user keeps for themselves.
    OfUser,
}

/// Whose files the address, the headers, the name of the program and so on carry. A part of the project that is known stands in the words
/// as it is, and is judged there: a version, a name.
fn carried(machine: &Machine<'_>, url: &Value) -> Carried {
    if url.as_exact().is_some_and(|text| known_hosts::reach(text) == NetworkReach::Local) {
        return Carried::Nothing;
    }
    let place = machine.world().place();
    let of = |output: &Output| {
        let Output::Local(path) = output else { return Carried::Nothing };
        if path.starts_with("/proc/") || path.starts_with("/dev/") {
            return Carried::Nothing;
        }
        let Some(path) = machine.one_path_through(&Value::exact(path.as_str())) else {
            return Carried::Nothing;
        };
        if place.is_temporary(&path) {
            return Carried::Nothing;
        }
        if path.is_within(&place.workspace) {
            return if url.as_exact().is_none() { Carried::OfProject } else { Carried::Nothing };
        }
        // What is hidden belongs to programs, and is a secret where it is one.
        let own =
            path.relative_to(&place.home).is_some_and(|rest| !rest.starts_with('.') && !rest.is_empty());
        if own { Carried::OfUser } else { Carried::Nothing }
    };
    machine.substituted().iter().map(of).max().unwrap_or(Carried::Nothing)
}

/// Sends a request of code, as a client does that has the secret among its words.
pub(super) fn request_of_code(
    machine: &mut Machine<'_>,
    url: &Value,
    upload: Upload,
    secret: Option<&Output>,
) {
    let Some(secret) = secret else {
        machine.host(url, upload);
        return;
    };
    // All variables are for nobody, as where a client is given a list of them; what a file holds is told as such.
    if secrets::variable_of(secret).is_none_or(|name| name == &ALL_VARIABLES[1..]) {
        note_secret_sent(machine, &secret.clone().into_input(), url);
    }
    let sent = match upload {
        Upload::No => Sent::Nothing,
        Upload::Yes => Sent::Data,
    };
    machine.with_words_from(secret, |machine| request(machine, url, sent));
}

/// Sends what code writes to a connection, as netcat does with what comes in.
pub(super) fn send_from_code(machine: &mut Machine<'_>, host: &Value, secret: Option<&Output>) {
    if let Some(secret) = secret {
        note_secret_sent(machine, &secret.clone().into_input(), host);
    }
    machine.host(host, Upload::Yes);
}

/// Adds that a name is asked for in which local data stands: who answers for the domain hears it.
pub(super) fn tells_by_name(machine: &mut Machine<'_>) {
    let draft =
        Draft::new(EffectKind::DataUpload, Target::Host("names".to_owned())).reach(NetworkReach::External);
    machine.add(draft.severity(Severity::High).note("the name that is asked for carries local data"));
}

/// Adds that a secret among the words of the running command goes to a host that it does not belong to; whether there is one.
pub(super) fn sends_strange_secret(machine: &mut Machine<'_>, url: &Value, target: String) -> bool {
    let Some(name) = strange_secret(machine, url) else { return false };
    let draft = Draft::new(EffectKind::DataUpload, Target::Host(target)).reach(NetworkReach::External);
    machine.add(
        draft.severity(Severity::High).note(format!("sends the secret in `{name}`, which belongs elsewhere")),
    );
    true
}

/// A variable among the words of the running command whose secret belongs to a known service that the URL is not of.
fn strange_secret(machine: &Machine<'_>, url: &Value) -> Option<String> {
    let start = url.known_start();
    let is_outside = url.as_exact().is_some() || is_host_known(&start);
    if !is_outside || known_hosts::reach(&start) == NetworkReach::Local {
        return None;
    }
    let host = known_hosts::host_of(&start);
    machine
        .substituted()
        .iter()
        .filter_map(secrets::variable_of)
        .find(|name| host.contains('.') && secrets::owner(name).has(&host) == Some(false))
        .map(str::to_owned)
}

/// Whether the beginning of a URL holds the whole host.
fn is_host_known(start: &str) -> bool {
    start.find("://").and_then(|at| start.get(at + 3..)).is_some_and(|rest| rest.contains(['/', '?']))
}

/// Adds that a secret that came in on the standard input is read, when it goes to an outside host.
fn note_secret_sent(machine: &mut Machine<'_>, input: &Input, host: &Value) {
    let secret = match input {
        Input::Text(text) => machine.secret_held(text).unwrap_or(Output::Nothing),
        Input::Inherited | Input::Network(_) | Input::Secret(_) | Input::Local(_) | Input::Unknown => {
            Output::from_input(input)
        }
    };
    let address = host.known_start();
    let Some(name) = secrets::variable_of(&secret) else {
        if known_hosts::reach(&address) != NetworkReach::Local {
            machine.note_file_sent(&secret);
        }
        return;
    };
    let host = known_hosts::host_of(&address);
    if known_hosts::reach(&address) != NetworkReach::Local && secrets::owner(name).has(&host) != Some(true) {
        let target = Target::Service(format!("${name}"));
        machine.add(Draft::new(EffectKind::SecretRead, target).note("it is sent along"));
    }
}

/// `dig`, `ping` and their like: harmless, unless the name carries something out.
pub(crate) fn name_lookup(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let first = call.words.iter().filter_map(Value::as_exact).find(|word| !word.starts_with('-'));
    if call.program == "getent" && matches!(first, Some("shadow" | "gshadow")) {
        machine.read(&Value::exact(if first == Some("shadow") { "/etc/shadow" } else { "/etc/gshadow" }));
    }
    let carries = |output: &Output| matches!(output, Output::Secret(_));
    let from_output = !machine.substituted().is_empty();
    let is_built = |word: &Value| match word {
        // Something that a command printed stands in front of a domain.
        Value::Between { prefix, suffix } => {
            from_output && !prefix.starts_with(['-', '+', '@']) && suffix.starts_with('.') && suffix.len() > 2
        }
        Value::Exact(text) => text.contains('.') && text.split('.').any(is_encoded),
        Value::AnyOf(_) | Value::Glob(_) | Value::Unknown => false,
    };
    if machine.substituted().iter().any(carries) || call.words.iter().any(is_built) {
        tells_by_name(machine);
    }
    // Records of text say what their owner likes: commands, too.
    let asks_for_text = |word: &Value| {
        let word = word.as_exact().unwrap_or_default().to_ascii_lowercase();
        matches!(word.rsplit(['=', '-']).next(), Some("txt" | "any" | "ttxt"))
    };
    let domain = call
        .words
        .iter()
        .filter_map(Value::as_exact)
        .find(|word| word.contains('.') && !word.starts_with(['@', '-', '+']));
    match domain {
        Some(domain) if call.words.iter().any(asks_for_text) => {
            Exit::with(Output::Network(domain.to_owned()))
        }
        _ => Exit::unknown(),
    }
}

/// Whether a part of a name is data in base64: no name has such letters, or so many of them mixed.
fn is_encoded(label: &str) -> bool {
    let letters = label.trim_end_matches('=');
    let is_alphabet = letters.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '/'));
    let has = |wanted: fn(&char) -> bool| letters.chars().any(|c| wanted(&c));
    let is_mixed =
        || has(char::is_ascii_uppercase) && has(char::is_ascii_lowercase) && has(char::is_ascii_digit);
    is_alphabet && (label.ends_with('=') && letters.len() > 1 || letters.len() >= 16 && is_mixed())
}

/// `gh api`, `glab api`: a request to the place where repositories live.
pub(crate) fn hosting_api(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    let fields: Vec<Value> = arguments.values(&["-f", "--raw-field", "-F", "--field"]).cloned().collect();
    let input = arguments.value(&["--input"]).cloned();
    let endpoint = arguments.operands.first().cloned().unwrap_or(Value::Unknown);
    let given = arguments.value(&["-X", "--method"]);
    let method = match given {
        Some(value) => value.as_exact().map(str::to_ascii_uppercase),
        None if fields.is_empty() && input.is_none() => Some("GET".to_owned()),
        None => Some("POST".to_owned()),
    };
    if let Some(file) = &input {
        machine.read(file);
    }
    for field in &fields {
        if let Some((_, path)) = field.as_exact().and_then(|text| text.split_once("=@")) {
            machine.read(&Value::exact(path));
        }
    }
    let is_graphql = endpoint.as_exact() == Some("graphql");
    let asks_only = is_graphql
        && !fields.iter().any(|field| field.known_start().contains("mutation"))
        && fields.iter().all(|field| !field.known_start().is_empty());
    match method.as_deref() {
        Some("GET" | "HEAD") => {}
        Some("DELETE") => machine.effect(EffectKind::InfrastructureDestroy, &endpoint),
        _ if asks_only && input.is_none() => {}
        Some(_) => {
            let why = grave_call(&endpoint, &fields);
            let target = endpoint.as_exact().map_or(Target::Unknown, |text| Target::Service(text.to_owned()));
            match why {
                Some((kind, note)) => {
                    machine.add(Draft::new(kind, target).severity(Severity::High).note(note));
                }
                // Comments, issues, files, dispatches: others read what is written there.
                None => machine
                    .add(Draft::new(EffectKind::InfrastructureChange, target).nature(Nature::TellsOthers)),
            }
        }
        None => machine.possibly(|machine| machine.effect(EffectKind::InfrastructureDestroy, &endpoint)),
    }
    Exit::unknown()
}

/// What a changing call to the place where repositories live does that is asked about.
/// Sources: GitHub, "REST API endpoints" and the mutations of its GraphQL schema; GitLab, "REST API resources".
fn grave_call(endpoint: &Value, fields: &[Value]) -> Option<(EffectKind, &'static str)> {
    const DOORS: &[&str] = &[
        "access_tokens",
        "collaborators",
        "deploy_keys",
        "deploy_tokens",
        "gpg_keys",
        "invitations",
        "keys",
        "members",
        "memberships",
        "outside_collaborators",
        "protected_branches",
        "protection",
        "rulesets",
        "share",
        "ssh_signing_keys",
        "transfer",
    ];
    let text = endpoint.known_start();
    let mut parts = text.split(['/', '?']);
    if parts.clone().any(|part| part == "hooks") {
        return Some((
            EffectKind::Persistence,
            "tells another host of everything that happens there from now on",
        ));
    }
    let sets = |field: &Value, wanted: &str| field.known_start() == wanted;
    if text.contains("/git/refs/") && fields.iter().any(|field| sets(field, "force=true")) {
        return Some((
            EffectKind::VcsHistoryRewrite,
            "replaces what the branch holds, commits of others included",
        ));
    }
    if text.contains("/actions/workflows/") && text.ends_with("/disable") {
        return Some((EffectKind::InfrastructureChange, "the checks of the workflow no longer run"));
    }
    if parts.any(|part| DOORS.contains(&part)) {
        return Some((EffectKind::InfrastructureChange, "changes who may do what"));
    }
    let says = |field: &Value, wanted: &[&str]| {
        let field = field.known_start();
        wanted.iter().any(|wanted| field == *wanted)
    };
    if fields.iter().any(|field| says(field, &["private=false", "visibility=public"])) {
        return Some((EffectKind::InfrastructureChange, "makes it public"));
    }
    if fields.iter().any(|field| says(field, &["archived=true", "has_issues=false"])) {
        return Some((EffectKind::InfrastructureChange, "closes it to those who work in it"));
    }
    let mutations = fields.iter().map(Value::known_start).filter(|field| field.contains("mutation"));
    let destroys = mutations.into_iter().any(|field| {
        field.split(|c: char| !c.is_alphanumeric()).any(|word| {
            ["delete", "remove", "archive", "transfer", "revoke"].iter().any(|verb| {
                word.strip_prefix(verb).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
            })
        })
    });
    destroys.then_some((EffectKind::InfrastructureDestroy, "calls a mutation that takes something away"))
}

/// `gh repo clone`, `glab repo clone`.
pub(crate) fn repository_clone(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let host = if call.program.starts_with("gl") { "gitlab.com" } else { "github.com" };
    machine.host(&Value::exact(host), Upload::No);
    let named = call
        .arguments
        .operand(0)
        .and_then(|text| text.trim_end_matches('/').rsplit('/').next())
        .map(|name| name.trim_end_matches(".git"));
    let place = match (call.arguments.operands.get(1), named) {
        (Some(place), _) => place.clone(),
        (None, Some(name)) => Value::exact(name),
        (None, None) => Value::Unknown,
    };
    for aim in machine.paths(&place) {
        machine.add(Draft::at(EffectKind::FileCreate, aim).recursive());
    }
    Exit::silent()
}
