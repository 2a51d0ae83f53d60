//! `checkrein policy key`, `sign`, `pin`, `update` and `unpin`: the policy of a team, which counts only as somebody signed it.

mod fetch;
pub(super) mod overridden;

use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use checkrein_engine::config_files;
use checkrein_engine::confirmed_team_policy;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_engine::pinned_policy::{self, PinnedPolicy};
use checkrein_policy::{ConfigSource, Digest, Layer, LayerKind};
use checkrein_protocol::{AbsolutePath, Timestamp};

use super::{ExitStatus, OutputForm, Switch, for_people_only, unconfirmed};
use crate::api::{self, installation};
use crate::signature::{PolicySignature, SigningKey, VerifyingKey};
use crate::terminal::{Reply, confirm, log, print, print_exact};
use fetch::{fetch, read};

/// What is added to the name of a policy for its signature.
const SIGNATURE: &str = ".sig";
/// How far the clock of who signs may be ahead of ours, in milliseconds (ours): a policy of next year would keep every other one out.
const AHEAD: u64 = 24 * 60 * 60 * 1000;

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
    let pin = last_pinned(environment)?;
    let key = VerifyingKey::parse(&pin.key).ok_or_else(|| {
        CommandError::user(
            format!("`{}`, which is pinned, is not a public key", pin.key),
            "`checkrein policy pin PLACE --key KEY` pins the policy again",
        )
    })?;
    take(environment, &pin.source, key, Some(&pin), yes, output)
}

/// What the user pinned last: also where it was lost, damaged or forged since, which is said.
fn last_pinned(environment: &HostEnvironment) -> Result<PinnedPolicy, CommandError> {
    let found = pinned_policy::pinned(environment);
    match (found, confirmed_team_policy::changed(environment), confirmed_team_policy::pinned(environment)) {
        (_, Ok(Some(changed)), Some(confirmed)) => {
            log(&changed.in_words());
            Ok(confirmed)
        }
        (_, Ok(Some(changed)), None) => {
            Err(CommandError::user(changed.in_words(), "`checkrein policy unpin` removes it"))
        }
        (Ok(Some(pin)), _, _) => Ok(pin),
        (Ok(None), _, _) => Err(nothing_pinned()),
        (Err(mut error), _, _) => {
            error.hint = Some("`checkrein policy pin PLACE --key KEY` pins the policy again".to_owned());
            Err(error)
        }
    }
}

/// Does without the policy of the team from now on.
pub fn unpin(
    environment: &HostEnvironment,
    yes: Switch,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    for_people_only(environment, "policy unpin")?;
    // One that is damaged can be forgotten too.
    if let (Ok(None), Ok(None)) =
        (pinned_policy::pinned(environment), confirmed_team_policy::changed(environment))
    {
        return Err(nothing_pinned());
    }
    if yes == Switch::Off {
        match confirm("Do without the policy of the team from now on?") {
            Reply::Yes => {}
            reply => return unconfirmed(reply, output),
        }
    }
    pinned_policy::forget(environment)?;
    match output {
        OutputForm::Json => print_exact(&api::line(&installation::PolicyUnpinned { pinned: false })?),
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
    is_whole(source, &text)?;
    let pin = PinnedPolicy {
        source: source.to_owned(),
        key: key.to_string(),
        digest: Digest::of(&text).to_string(),
        signed: signature.signed.calendar().to_rfc3339(),
        signature: signature.text(),
    };
    is_no_replay(environment, &pin, signature.signed, before)?;
    let is_new = before.is_none_or(|before| !is_same(before, &pin));
    if is_new && yes == Switch::Off {
        if output == OutputForm::Text {
            let then = pinned_policy::text(environment).ok().flatten().unwrap_or_default();
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
    let is_kept = !is_new
        && before == Some(&pin)
        && pinned_policy::pinned(environment).is_ok_and(|kept| kept.as_ref() == before)
        && pinned_policy::text(environment).is_ok_and(|kept| kept.as_ref() == Some(&text))
        && confirmed_team_policy::changed(environment).is_ok_and(|changed| changed.is_none());
    if !is_kept {
        pinned_policy::keep(environment, &pin, &text)?;
    }
    match output {
        OutputForm::Json => print_exact(&api::line(&installation::PolicyPinned {
            source: pin.source,
            key: pin.key,
            digest: pin.digest,
            signed: pin.signed,
            changed: is_new,
        })?),
        OutputForm::Text if is_new => {
            print("it counts from now on; what it makes looser counts in new sessions");
        }
        OutputForm::Text if is_kept => print("the policy in force is the newest"),
        OutputForm::Text => {
            print("the policy that you pinned is the newest; what was kept of it was written anew");
        }
    }
    Ok(ExitStatus::Done)
}

/// Whether two pins name the same text of the same place, signed by the same key at the same time.
fn is_same(one: &PinnedPolicy, other: &PinnedPolicy) -> bool {
    let named = |pin: &PinnedPolicy| [&pin.source, &pin.key, &pin.digest, &pin.signed].map(ToOwned::to_owned);
    named(one) == named(other)
}

/// An error unless a policy is known to be newer than the one in force, or is that one.
fn is_no_replay(
    environment: &HostEnvironment,
    pin: &PinnedPolicy,
    signed: Timestamp,
    before: Option<&PinnedPolicy>,
) -> Result<(), CommandError> {
    let refused = |why: String, hint: &str| Err(CommandError::user(format!("{} {why}", pin.source), hint));
    if signed.0 > environment.now().0.saturating_add(AHEAD) {
        return refused(
            format!("was signed at {}, which is still to come", pin.signed),
            "nothing was changed; look at the clock here, and ask who signs it for one with the right time",
        );
    }
    let Some(before) = before else { return Ok(()) };
    let older = "nothing was changed; `checkrein policy pin` takes an older one on purpose";
    match Timestamp::from_rfc3339(&before.signed) {
        None => refused(
            format!("may be older than the policy in force, of which `{}` is not a time", before.signed),
            older,
        ),
        Some(known) if signed < known => {
            refused(format!("was signed at {}, before the policy that is in force", pin.signed), older)
        }
        // Signatures tell the second alone.
        Some(known) if signed == known && pin.digest != before.digest => refused(
            format!("was signed in the second of the policy in force ({}), and is another text", pin.signed),
            "nothing was changed; it cannot be told which is newer: ask who signs it to sign it again",
        ),
        Some(_) => Ok(()),
    }
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

fn nothing_pinned() -> CommandError {
    CommandError::user("no team policy is pinned", "`checkrein policy pin PLACE --key KEY` pins one")
}

fn tell_key(
    key: VerifyingKey,
    done: &str,
    file: &Path,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    match output {
        OutputForm::Json => print_exact(&api::line(&installation::PolicyKey {
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
