//! What code takes from the person and hands to strangers, or fetches from strangers to run, as far as names and texts in it tell.
//!
//! Code calls libraries by the thousand, and nobody follows them all. What such code is up to shows all the same: a credential stands in it, or a
//! folder of the person, and a way out; an address of a stranger, and a function that loads what lies there. It takes two such things in one text
//! to count, for each of them alone is everyday code.
//!
//! | module | holds |
//! |---|---|
//! | `libraries` | libraries by what they are there for, and functions by what they do |
//! | `texts` | the texts, addresses and paths that stand in code |

mod libraries;
mod texts;

use crate::effect::{Depth, Effect, EffectKind, NetworkReach, Severity, Target};
use crate::interpreter::printed::ALL_VARIABLES;
use crate::interpreter::{Draft, Input, Machine, Output, Upload, Value};

use crate::path::AbsolutePath;

use checkrein_scripts::Language;

use super::network;
use libraries::{
    CIPHERS, COMMANDED, LIBRARIES, LOADERS, Libraries, OPEN_TO_ALL, PRINTS, PUTS, Purpose, READS,
    READS_SECRETS, SENDS, STARTS, TEXTS_OF_NAMES, TIMETABLES,
};
pub(super) use texts::{Private, private_place};

/// The greatest length of code that is looked over, in bytes: what is longer says too much for two words to belong together (ours).
const CODE: usize = 16 * 1024;

/// Adds, as possible, what code that stands on a command line, or that the session wrote, may take from the person, hand out, or fetch and run.
///
/// `language` is the one that it is in, where that is one that is followed; `before` is the number of effects before the code was followed: what it was found to change since then is looked at again.
pub(super) fn look_over(machine: &mut Machine<'_>, text: &str, language: Option<Language>, before: usize) {
    if text.len() > CODE {
        return;
    }
    encrypts_in_place(machine, text, before);
    changes_what_it_names(machine, text, before);
    machine.possibly(|machine| {
        opens_to_all(machine, text);
        let strangers = texts::strangers(text);
        fetches_and_loads(machine, text, &strangers);
        // What stands in the texts of such code is only said.
        let is_only_said = language == Some(Language::Python)
            && loaded(text, Purpose::Sender).next().is_none()
            && texts::reaches_nothing(text);
        if !is_only_said {
            hands_out(machine, text, &strangers);
        }
        takes(machine, text, &strangers);
    });
}

/// Adds what code in a language that nothing here follows shows of the credentials that it names.
pub(super) fn look_over_readers(machine: &mut Machine<'_>, text: &str) {
    if text.len() > CODE || !has_one(text, READS) || !has_one(text, PRINTS) {
        return;
    }
    let credential = texts::private(machine, text).into_iter().find_map(|private| match private {
        Private::Credential(path) => Some(path),
        Private::Personal(_) => None,
    });
    if let Some(path) = credential {
        machine.possibly(|machine| {
            let target = AbsolutePath::new(&path).map_or(Target::Unknown, Target::Path);
            let draft = Draft::new(EffectKind::SecretRead, target).severity(Severity::High);
            machine.add(draft.note("may show what it holds"));
        });
    }
}

/// Files that are deleted or changed and of which nobody knows which they are: those that the code names may be among them.
fn changes_what_it_names(machine: &mut Machine<'_>, text: &str, before: usize) {
    let unknown: Vec<EffectKind> = machine
        .effects_since(before)
        .filter(|effect| effect.target == Target::Unknown)
        .map(|effect| effect.kind)
        .filter(|kind| matches!(kind, EffectKind::FileDelete | EffectKind::FileModify))
        .collect();
    if unknown.is_empty() {
        return;
    }
    for private in texts::private(machine, text) {
        let path = Value::exact(private.path());
        machine.possibly(|machine| {
            if unknown.contains(&EffectKind::FileDelete) {
                machine.delete(&path, Depth::Recursive);
            } else {
                machine.effect(EffectKind::FileModify, &path);
            }
        });
    }
}

/// A way for others to command this machine, or to reach it through a tunnel.
fn opens_to_all(machine: &mut Machine<'_>, text: &str) {
    let commands = has_one(text, COMMANDED) && has_one(text, OPEN_TO_ALL);
    let tunnel = loaded(text, Purpose::Tunnel).next();
    if commands {
        add_upload(machine, "whoever asks", "lets others command this machine");
    }
    if let Some((_, name)) = tunnel {
        add_upload(machine, name, "opens a tunnel to this machine");
    }
}

/// What is fetched from a stranger and loaded as code.
fn fetches_and_loads(machine: &mut Machine<'_>, text: &str, strangers: &[String]) {
    if has_one(text, LOADERS)
        && let Some(address) = strangers.iter().find(|address| address.contains("://"))
    {
        machine.runs_from_network(address);
    }
    if has_one(text, TEXTS_OF_NAMES) && has_one(text, STARTS) {
        machine.runs_from_network("names");
    }
}

/// Credentials, and folders of the person, that go to strangers.
fn hands_out(machine: &mut Machine<'_>, text: &str, strangers: &[String]) {
    let senders: Vec<(&Libraries, &str)> = loaded(text, Purpose::Sender).collect();
    let way_out = strangers.first().map(String::as_str);
    if way_out.is_none() && senders.is_empty() {
        return;
    }
    let sends = has_one(text, SENDS) || !senders.is_empty();
    for private in texts::private(machine, text) {
        let is_own =
            |(library, _): &(&Libraries, &str)| library.own.iter().any(|own| private.path().contains(own));
        let is_needed = senders.iter().any(is_own) && !has_one(text, PUTS);
        let host = match (way_out, senders.iter().find(|sender| !is_own(sender))) {
            (Some(address), _) if !is_needed => address,
            (_, Some((_, name))) => name,
            (Some(address), None) if has_one(text, PUTS) => address,
            (_, None) => continue,
        };
        match private {
            Private::Credential(path) => {
                let secret = Output::Secret(path);
                machine.note_file_sent(&secret);
                add_upload(machine, host, "may send a credential there");
            }
            Private::Personal(_) if sends => add_upload(machine, host, "may send files of the person there"),
            Private::Personal(_) => {}
        }
        return;
    }
    if let Some(address) = way_out.filter(|_| texts::names_whole_environment(text)) {
        let secret = Output::Secret(ALL_VARIABLES.to_owned());
        network::request_of_code(machine, &Value::exact(address), Upload::Yes, Some(&secret));
    }
}

/// What is taken from the person by libraries that are there for that.
fn takes(machine: &mut Machine<'_>, text: &str, strangers: &[String]) {
    let sends = !strangers.is_empty() || loaded(text, Purpose::Sender).next().is_some();
    let shows = has_one(text, PRINTS);
    for library in LIBRARIES {
        let Some(name) = texts::name_loaded(text, library) else { continue };
        let host = strangers.first().map_or(name, String::as_str);
        match library.purpose {
            Purpose::Keys if listens(text) => machine.unread("it listens to what is typed"),
            Purpose::Recorder if sends => add_upload(machine, host, "may send what is seen or heard here"),
            Purpose::Clipboard if sends => add_upload(machine, host, "may send what was copied"),
            Purpose::Passwords if shows || sends => {
                let target = Target::Service(name.to_owned());
                machine.add(
                    Draft::new(EffectKind::SecretRead, target).note("reads passwords that a person keeps"),
                );
            }
            Purpose::Keys
            | Purpose::Recorder
            | Purpose::Clipboard
            | Purpose::Passwords
            | Purpose::Sender
            | Purpose::Tunnel => {}
        }
    }
    if (shows || sends)
        && let Some(name) = READS_SECRETS.iter().find(|name| text.contains(**name))
    {
        let target = Target::Service((*name).to_owned());
        machine.add(Draft::new(EffectKind::SecretRead, target).note("reads the values of secrets"));
    }
    if has_one(text, TIMETABLES) {
        let words = [Value::exact("crontab"), Value::exact("-")];
        machine.run_words(&words, Input::Unknown);
    }
}

/// What is written in place by code that encrypts: whoever lost the key has lost it all.
fn encrypts_in_place(machine: &mut Machine<'_>, text: &str, before: usize) {
    if !has_one(text, CIPHERS) {
        return;
    }
    let workspace = machine.world().place().workspace.clone();
    let is_outside = |target: &Target| match target {
        Target::Path(path) => !path.is_within(&workspace),
        Target::Glob(pattern) => !pattern.starts_with(workspace.as_str()),
        Target::Host(_)
        | Target::Process(_)
        | Target::Service(_)
        | Target::Reference(_)
        | Target::Unknown => false,
    };
    let is_written = |effect: &Effect| effect.kind == EffectKind::FileModify && is_outside(&effect.target);
    if machine.effects_since(before).any(is_written) {
        machine.unread(
            "it encrypts files of the person in their place, and whoever lacks the key has lost them",
        );
    }
}

fn add_upload(machine: &mut Machine<'_>, host: &str, note: &str) {
    let draft =
        Draft::new(EffectKind::DataUpload, Target::Host(host.to_owned())).reach(NetworkReach::External);
    machine.add(draft.severity(Severity::High).note(note));
}

/// Whether code waits for keys: what only sends them listens to nobody.
fn listens(text: &str) -> bool {
    has_one(
        text,
        &[
            "Listener",
            "on_press",
            ".on(",
            "hook",
            "record(",
            "read_loop",
            "listen",
            "InputDevice",
            "addListener",
        ],
    )
}

/// The libraries of a purpose that code loads, with the name by which it does.
fn loaded(text: &str, purpose: Purpose) -> impl Iterator<Item = (&'static Libraries, &'static str)> {
    let of_purpose = LIBRARIES.iter().filter(move |library| library.purpose == purpose);
    of_purpose.filter_map(move |library| Some((library, texts::name_loaded(text, library)?)))
}

/// The addresses in code of hosts that nobody knows.
pub(super) fn foreign_addresses(text: &str) -> Vec<String> {
    texts::strangers(text)
}

fn has_one(text: &str, names: &[&str]) -> bool {
    names.iter().any(|name| text.contains(name))
}

#[cfg(test)]
mod tests {
    use super::{LIBRARIES, Purpose};
    use crate::effect::{Effect, EffectKind};
    use crate::predict;
    use checkrein_testkit::world::{command, project};

    fn effects(code: &str) -> Vec<Effect> {
        predict(&command(&format!("python3 - <<'E'\n{code}\nE")), &project()).effects
    }

    fn sends(code: &str) -> bool {
        effects(code).iter().any(|effect| effect.kind == EffectKind::DataUpload)
    }

    /// Code that loads a library: by its module, else by a call of what is only in it.
    fn loading(library: &super::Libraries, name: &str) -> String {
        if library.modules.contains(&name) { format!("import {name}") } else { format!("x = {name}()") }
    }

    #[test]
    fn each_sender_carries_a_folder_of_the_person_and_no_sender_counts_alone() {
        let mut tried = 0;
        for library in LIBRARIES.iter().filter(|library| library.purpose == Purpose::Sender) {
            for name in library.modules.iter().chain(library.functions) {
                let loads = loading(library, name);
                assert!(sends(&format!("{loads}\nq.f('~/Documents/tax.pdf')")), "{name}");
                assert!(!sends(&format!("{loads}\nq.f('docs/readme.txt')")), "{name} alone");
                tried += 1;
            }
        }
        assert!(tried > 100, "{tried}");
        assert!(!sends("q.f('~/Documents/tax.pdf')"), "a folder alone");
    }

    #[test]
    fn a_library_uses_the_credentials_of_its_service_and_puts_them_nowhere() {
        for (module, path) in [("boto3", "~/.aws/credentials"), ("paramiko", "~/.ssh/id_rsa")] {
            assert!(!sends(&format!("import {module}\nq.f('{path}')")), "{module}");
            assert!(sends(&format!("import {module}\nq.put('{path}')\nh = '203.0.113.4'")), "{module}");
        }
    }
}
