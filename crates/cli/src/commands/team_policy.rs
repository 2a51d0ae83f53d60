//! `checkrein policy key`, `sign`, `pin`, `update` and `unpin`: the policy of a team, which counts only as somebody signed it.

use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::Command;

use checkrein_engine::config_files;
use checkrein_engine::confirmed_configuration;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_engine::pinned_policy::{self, PinnedPolicy};
use checkrein_policy::{ConfigSource, Digest, Layer, LayerKind};
use checkrein_protocol::{AbsolutePath, Timestamp};

use super::{ExitStatus, OutputForm, Switch, for_people_only, unconfirmed};
use crate::api::{self, installation};
use crate::signature::{PolicySignature, SigningKey, VerifyingKey};
use crate::terminal::{Reply, confirm, print};

/// What is added to the name of a policy for its signature.
const SIGNATURE: &str = ".sig";

/// Makes a key, and writes it to a file that only this user reads.
pub fn key(environment: &HostEnvironment, to: &Path, output: OutputForm) -> Result<ExitStatus, CommandError> {
    for_people_only(environment, "policy key")?;
    let mut seed = [0; 32];
    let random = File::open("/dev/urandom").and_then(|mut source| source.read_exact(&mut seed));
    random.map_err(|error| CommandError::file("read", "/dev/urandom", &error))?;
    let key = SigningKey::of(seed);
    let written = OpenOptions::new().write(true).create_new(true).mode(0o600).open(to);
    written
        .and_then(|mut file| file.write_all(key.text().as_bytes()).and_then(|()| file.sync_all()))
        .map_err(|error| CommandError::file("write", to.display(), &error))?;
    tell_key(key.verifying(), &format!("wrote the secret key to {}", to.display()), to, output)
}

/// Signs a policy: the signature lies beside it.
pub fn sign(
    environment: &HostEnvironment,
    policy: &Path,
    key: &Path,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    for_people_only(environment, "policy sign")?;
    let text = read(policy)?;
    is_whole(&policy.display().to_string(), &text)?;
    let key = SigningKey::parse(&read(key)?).ok_or_else(|| {
        CommandError::user(
            format!("{} holds no secret key", key.display()),
            "`checkrein policy key --to FILE` makes one",
        )
    })?;
    let beside = format!("{}{SIGNATURE}", policy.display());
    let signature = key.sign(&text, environment.now());
    fs::write(&beside, signature.text()).map_err(|error| CommandError::file("write", &beside, &error))?;
    tell_key(key.verifying(), &format!("wrote {beside}"), Path::new(&beside), output)
}

/// Takes a policy from now on from a place, as long as this key has signed it.
pub fn pin(
    environment: &HostEnvironment,
    source: &str,
    key: &str,
    yes: Switch,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    for_people_only(environment, "policy pin")?;
    let key = VerifyingKey::parse(key).ok_or_else(|| {
        CommandError::user(
            format!("`{key}` is not a public key"),
            "write it as `checkrein policy sign` prints it, `ed25519:` and 64 digits",
        )
    })?;
    let source = whole_place(environment, source);
    take(environment, &source, key, None, yes, output)
}

/// Fetches the pinned policy again.
pub fn update(
    environment: &HostEnvironment,
    yes: Switch,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    for_people_only(environment, "policy update")?;
    let Some(pin) = pinned_policy::pinned(environment)? else { return Err(nothing_pinned()) };
    let key = VerifyingKey::parse(&pin.key).ok_or_else(nothing_pinned)?;
    take(environment, &pin.source, key, Some(&pin), yes, output)
}

/// Does without the policy of the team from now on.
pub fn unpin(
    environment: &HostEnvironment,
    yes: Switch,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    for_people_only(environment, "policy unpin")?;
    // One that is damaged can be forgotten too.
    if let Ok(None) = pinned_policy::pinned(environment) {
        return Err(nothing_pinned());
    }
    if yes == Switch::Off {
        match confirm("Do without the policy of the team from now on?") {
            Reply::Yes => {}
            reply => return unconfirmed(reply, output),
        }
    }
    pinned_policy::forget(environment)?;
    confirmed_configuration::confirm(environment)?;
    match output {
        OutputForm::Json => print(&api::line(&installation::PolicyUnpinned { pinned: false })?),
        OutputForm::Text => {
            print("the policy of the team does not count any more; new sessions begin without it");
        }
    }
    Ok(ExitStatus::Done)
}

/// Fetches, checks, shows, and keeps.
fn take(
    environment: &HostEnvironment,
    source: &str,
    key: VerifyingKey,
    before: Option<&PinnedPolicy>,
    yes: Switch,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    let text = fetch(source)?;
    let signature = PolicySignature::parse(&fetch(&format!("{source}{SIGNATURE}"))?);
    let signature =
        signature.and_then(|signature| signature.check(&text, key).map(|()| signature)).map_err(|wrong| {
            CommandError::user(format!("{source}: {wrong}"), "nothing was changed; ask who signs it")
        })?;
    let signed = signature.signed.calendar().to_rfc3339();
    if before
        .and_then(|pin| Timestamp::from_rfc3339(&pin.signed))
        .is_some_and(|known| signature.signed < known)
    {
        return Err(CommandError::user(
            format!("{source} was signed at {signed}, before the policy that is in force"),
            "nothing was changed; `checkrein policy pin` takes an older one on purpose",
        ));
    }
    is_whole(source, &text)?;
    let pin = PinnedPolicy {
        source: source.to_owned(),
        key: key.to_string(),
        digest: Digest::of(&text).to_string(),
        signed,
    };
    let is_new = before != Some(&pin);
    if is_new && yes == Switch::Off {
        if output == OutputForm::Text {
            let kept = pinned_policy::policy_file(environment);
            let then = fs::read_to_string(kept.as_str()).unwrap_or_default();
            print(&format!("{source}, signed at {} by {}", pin.signed, pin.key));
            print(
                similar::TextDiff::from_lines(&then, &text)
                    .unified_diff()
                    .context_radius(2)
                    .to_string()
                    .trim_end(),
            );
        }
        match confirm("Let this policy count for all your projects?") {
            Reply::Yes => {}
            reply => return unconfirmed(reply, output),
        }
    }
    if is_new {
        pinned_policy::keep(environment, &pin, &text)?;
        confirmed_configuration::confirm(environment)?;
    }
    match output {
        OutputForm::Json => print(&api::line(&installation::PolicyPinned {
            source: pin.source,
            key: pin.key,
            digest: pin.digest,
            signed: pin.signed,
            changed: is_new,
        })?),
        OutputForm::Text if is_new => {
            print("it counts from now on; what it makes looser counts in new sessions");
        }
        OutputForm::Text => print("the policy in force is the newest"),
    }
    Ok(ExitStatus::Done)
}

/// Whether a policy is right and stands alone: what it named besides would be signed by nobody.
fn is_whole(name: &str, text: &str) -> Result<(), CommandError> {
    let source = ConfigSource::File { name: name.to_owned(), text: text.to_owned() };
    let layer = Layer { kind: LayerKind::Managed, source };
    let loaded = checkrein_policy::load(&[layer], &[]).map_err(|errors| config_files::invalid(&errors))?;
    let config = loaded.config;
    let names_others =
        config.step_reviewer.rules.custom_rules_path.is_some() || !config.governance.blueprints.is_empty();
    if names_others {
        return Err(CommandError::user(
            format!(
                "{name} names other files (`custom_rules_path` or `blueprints`), which nobody signs with it"
            ),
            "write the rules into the policy itself",
        ));
    }
    Ok(())
}

/// A path as it means the same everywhere; an address as it is.
fn whole_place(environment: &HostEnvironment, source: &str) -> String {
    if source.contains("://") {
        return source.to_owned();
    }
    AbsolutePath::new(source).unwrap_or_else(|| environment.cwd.join(source)).to_string()
}

/// The text at a place. Addresses are fetched by `curl`, with nothing but a certificate that holds.
fn fetch(place: &str) -> Result<String, CommandError> {
    if !place.contains("://") {
        return read(Path::new(place));
    }
    let hint = "nothing was changed; an address begins with https://, and `curl` fetches it";
    if !place.starts_with("https://") {
        return Err(CommandError::user(
            format!("{place} is not fetched: it could be changed on the way"),
            hint,
        ));
    }
    let largest = checkrein_files::SMALL.to_string();
    let fetched = Command::new("curl")
        .args(["--proto", "=https", "--tlsv1.2", "--fail", "--silent", "--show-error", "--location"])
        .args(["--max-time", "30", "--max-filesize", &largest, "--", place])
        .output()
        .map_err(|error| CommandError::user(format!("cannot start `curl`: {error}"), hint))?;
    if !fetched.status.success() {
        let why = String::from_utf8_lossy(&fetched.stderr).trim().to_owned();
        return Err(CommandError::user(format!("cannot fetch {place}: {why}"), hint));
    }
    String::from_utf8(fetched.stdout)
        .map_err(|_| CommandError::user(format!("{place} is not text"), "nothing was changed"))
}

fn read(path: &Path) -> Result<String, CommandError> {
    checkrein_files::read_text(path, checkrein_files::SMALL)
        .map_err(|error| CommandError::file("read", path.display(), &error))
}

fn nothing_pinned() -> CommandError {
    CommandError::user("no policy of a team is pinned", "`checkrein policy pin PLACE --key KEY` pins one")
}

fn tell_key(
    key: VerifyingKey,
    done: &str,
    file: &Path,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    match output {
        OutputForm::Json => print(&api::line(&installation::PolicyKey {
            key: key.to_string(),
            file: file.display().to_string(),
        })?),
        OutputForm::Text => {
            print(done);
            print(&format!("public key: {key}"));
        }
    }
    Ok(ExitStatus::Done)
}
