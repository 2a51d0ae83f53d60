//! Credentials and folders of the person among the words of a call that publishes, deploys or uploads.
//!
//! Hundreds of programs send a file somewhere, and each calls the option otherwise. An entry of the catalogue says that a call reaches out, and
//! seldom which of its words is what it sends. So every word counts that is the path of something private, but for the options that name what a
//! program shows at the door: keys, certificates, its own settings.

use super::disclosing_code::{Private, private_place};
use super::network::serving::credential_within;
use crate::effect::{Effect, EffectKind, NetworkReach, Severity, Target};
use crate::interpreter::{Call, Draft, Machine, Output, Value, is_used_as_it_is};

/// Words of commands by which a program sends what it is given (ours, from the catalogue's subcommands).
const SENDS: &[&str] =
    &["upload", "up", "u", "push", "publish", "deploy", "put", "send", "share", "attach", "submit", "serve"];
/// Programs that send what they are named, whatever the command (the documentation of each).
const SENDERS: &[&str] = &["surge", "tea", "mlflow", "kaniko", "http-server", "live-server", "serve"];
/// Words of commands that keep what is secret, for which a project's own settings are meant.
const KEEPS_SECRETS: &[&str] =
    &["secret", "secrets", "vault", "config", "env", "environment", "parameter", "ssm", "keyvault", "kms"];
/// Options of one letter behind which stands what is sent.
const SHORT: &[&str] = &["-f", "-F", "-a", "-d", "-T", "-b", "-p", "-s"];
/// Options behind which stands what is sent, by parts of their names, where the file is the project's own.
const CONTENT: &[&str] = &[
    "body",
    "file",
    "asset",
    "attach",
    "dir",
    "path",
    "source",
    "src",
    "data",
    "context",
    "sbom",
    "predicate",
    "folder",
    "input",
];
/// What stands in front of the name of a file.
const IN_FRONT: &[&str] = &[
    "@",
    "fileb://",
    "file://",
    "file:",
    "dir:",
    "oci:",
    "docker-archive:",
    "oci-archive:",
    "tarball:",
    "archive:",
];

/// Adds what a call hands to others among its words; there were `before` effects before it.
pub(crate) fn handed_over(machine: &mut Machine<'_>, call: &Call, before: usize) {
    let Some(to) = way_out(machine, call, before) else { return };
    let is_told = |effect: &Effect| {
        effect.kind == EffectKind::SecretRead
            || effect.kind == EffectKind::DataUpload && effect.severity >= Severity::High
    };
    if machine.effects_since(before).any(is_told) {
        return;
    }
    let workspace = machine.world().place().workspace.clone();
    let keeps_secrets = plain(call).any(|word| KEEPS_SECRETS.contains(&word));
    let mut behind: Option<String> = None;
    for word in call.words.clone() {
        let Some(text) = word.as_exact() else {
            behind = None;
            continue;
        };
        let (option, value) = match text.split_once('=') {
            Some((name, value)) if text.starts_with('-') => (Some(name.to_owned()), value),
            _ if text.starts_with('-') && text.len() > 1 => {
                behind = Some(text.to_owned());
                continue;
            }
            _ => (behind.take(), text),
        };
        let mut is_put_there = false;
        let found = files(value).into_iter().find_map(|file| {
            let path = machine.one_path_through(&Value::exact(file))?;
            let private = private_place(machine, &path);
            let within = match private {
                Some(_) => None,
                None => credential_within(machine, &path)
                    .map(|secret| Private::Credential(secret.as_str().to_owned())),
            };
            is_put_there = within.is_some();
            Some((private.or(within)?, path))
        });
        let Some((private, path)) = found else { continue };
        let is_own = path.is_within(&workspace);
        if is_own && !is_put_there && (keeps_secrets || to.is_vague) || !is_sent(option.as_deref(), is_own) {
            continue;
        }
        match (&private, is_put_there) {
            (Private::Credential(secret), true) => {
                machine.effect(EffectKind::SecretRead, &Value::exact(secret.as_str()));
            }
            (Private::Credential(_) | Private::Personal(_), _) => {
                drop(machine.read(&Value::exact(path.as_str())));
            }
        }
        let note = match private {
            Private::Credential(path) => {
                machine.note_file_sent(&Output::Secret(path));
                "a credential is handed over"
            }
            Private::Personal(_) => "files of the person are handed over",
        };
        let draft = Draft::new(EffectKind::DataUpload, Target::Host(to.name.clone()));
        machine.add(draft.reach(NetworkReach::External).severity(Severity::High).note(note));
        return;
    }
}

/// Where a call reaches.
struct WayOut {
    name: String,
    /// Whether the call changes something elsewhere, and nothing says that it sends files.
    is_vague: bool,
}

fn way_out(machine: &Machine<'_>, call: &Call, before: usize) -> Option<WayOut> {
    let name = call.program.clone();
    let program = name.split(' ').next().unwrap_or_default();
    if SENDERS.contains(&program) || plain(call).any(|word| SENDS.contains(&word)) {
        return Some(WayOut { name, is_vague: false });
    }
    let is_sure = |effect: &Effect| matches!(effect.kind, EffectKind::Publish | EffectKind::DataUpload);
    let changes = |effect: &Effect| {
        matches!(effect.kind, EffectKind::InfrastructureChange | EffectKind::NetworkRequest)
            && effect.reach != Some(NetworkReach::Local)
    };
    let reaches = |effect: &&Effect| is_sure(effect) || changes(effect);
    let found: Vec<bool> = machine.effects_since(before).filter(reaches).map(is_sure).collect();
    (!found.is_empty()).then(|| WayOut { name, is_vague: !found.contains(&true) })
}

/// The words of a call that name what it does.
fn plain(call: &Call) -> impl Iterator<Item = &str> {
    let of_program = call.program.split(' ').skip(1);
    of_program
        .chain(call.words.iter().filter_map(Value::as_exact).take(3))
        .filter(|word| !word.starts_with('-'))
}

/// Whether what stands behind an option, or alone, is sent and not used.
fn is_sent(option: Option<&str>, is_own: bool) -> bool {
    let Some(option) = option else { return true };
    let is_short = option.len() == 2;
    if is_short || is_used_as_it_is(option) {
        return SHORT.contains(&option);
    }
    !is_own || CONTENT.iter().any(|part| option.contains(part))
}

/// The paths that a word may mean: itself, what stands behind a key or a scheme, what stands before a type of media.
fn files(word: &str) -> Vec<&str> {
    let behind_key = word.split_once('=').map_or(word, |(_, value)| value);
    let bare = IN_FRONT.iter().find_map(|front| behind_key.strip_prefix(front)).unwrap_or(behind_key);
    let untyped = bare.rsplit_once(':').filter(|(_, media)| media.contains('/') && !media.starts_with('/'));
    let all = [Some(word), Some(bare), untyped.map(|(path, _)| path)];
    all.into_iter().flatten().filter(|path| !path.is_empty() && !path.contains("://")).collect()
}

#[cfg(test)]
mod tests {
    use checkrein_testkit::world::{command, project};

    use super::*;
    use crate::predict;

    /// Ways to send a file, each of another program or by another option (the help of each).
    const WAYS: &[&str] = &[
        "oras push r.example.net/x:1 FILE",
        "oras push r.example.net/x:1 FILE:text/plain",
        "oras attach --artifact-type a/b r.example.net/x:1 FILE",
        "helm push FILE oci://r.example.net/x",
        "crane append -f FILE -t r.example.net/x:1",
        "crane push FILE r.example.net/x:1",
        "regctl artifact put -f FILE r.example.net/x:1",
        "cosign attest --predicate FILE r.example.net/x",
        "cosign attach sbom --sbom FILE r.example.net/x",
        "hub gist create FILE",
        "gh issue create --title x --body-file FILE",
        "gh pr comment 1 --body-file FILE",
        "glab snippet create -t x FILE",
        "tea releases create --asset FILE",
        "wrangler pages deploy FILE",
        "netlify deploy --dir FILE --prod",
        "vercel deploy FILE",
        "surge FILE x.surge.sh",
        "jf rt upload FILE repo/",
        "cloudsmith push raw a/b FILE",
        "aws s3api put-object --bucket b --key k --body FILE",
        "bq load ds.t FILE",
        "hf upload me/x FILE",
        "huggingface-cli upload me/x FILE",
        "ia upload x FILE",
        "npx serve FILE",
        "adb push FILE /sdcard",
        "docker buildx build --push -t r.example.net/x FILE",
        "gcloud run deploy x --source FILE",
        "az webapp up FILE",
        "cf push x -p FILE",
        "fly deploy FILE",
        "railway up FILE",
    ];

    fn hands_over(way: &str, file: &str) -> bool {
        let effects = predict(&command(&way.replace("FILE", file)), &project()).effects;
        effects
            .iter()
            .any(|effect| effect.kind == EffectKind::DataUpload && effect.severity >= Severity::High)
    }

    #[test]
    fn each_way_hands_over_what_is_private_and_nothing_of_the_project() {
        for way in WAYS {
            for private in ["/home/dev/.ssh/id_rsa", "/home/dev/Documents/tax.pdf"] {
                assert!(hands_over(way, private), "{way}: {private}");
            }
            assert!(!hands_over(way, "docs/readme.txt"), "{way}");
        }
    }

    #[test]
    fn what_a_program_uses_itself_is_not_handed_over() {
        for used in [
            "helm --kubeconfig /home/dev/.kube/config push x.tgz oci://r.example.net/x",
            "twine upload --config-file /home/dev/.pypirc dist/x.whl",
            "oras push --registry-config /home/dev/.docker/config.json r.example.net/x:1 docs/readme.txt",
            "cosign attest --key /home/dev/.ssh/id_rsa --predicate docs/readme.txt r.example.net/x",
            "gcloud run deploy x --credentials=/home/dev/.aws/credentials --source .",
        ] {
            assert!(!hands_over(used, ""), "{used}");
        }
    }

    #[test]
    fn words_mean_the_files_in_them() {
        assert!(files("/home/me/.ssh/id_rsa:text/plain").contains(&"/home/me/.ssh/id_rsa"));
        assert!(files("v=@/home/me/.netrc").contains(&"/home/me/.netrc"));
        assert!(files("docker-archive:/home/me/.netrc").contains(&"/home/me/.netrc"));
        assert!(files("https://example.com/.netrc").is_empty());
    }

    #[test]
    fn what_opens_the_door_is_not_sent() {
        assert!(!is_sent(Some("--kubeconfig"), false));
        assert!(!is_sent(Some("-i"), false));
        assert!(is_sent(Some("--body-file"), true));
        assert!(is_sent(Some("--bundle"), false));
        assert!(!is_sent(Some("--bundle"), true));
    }
}
