//! The policy of a team: whether what is kept of it is what the user pinned, and signed by the key that they pinned.

use checkrein_engine::config_files;
use checkrein_engine::confirmed_team_policy;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::pinned_policy;

use checkrein_world::find_workspace;

use super::{Finding, Health, finding};
use crate::commands::team_policy::overridden;
use crate::signature::{PolicySignature, VerifyingKey};

const CHECK: &str = "team policy";

/// What is found; nothing where no policy is pinned, and none was.
pub(super) fn findings(environment: &HostEnvironment) -> Vec<Finding> {
    let mut findings = Vec::new();
    match confirmed_team_policy::changed(environment) {
        Ok(None) => {}
        Ok(Some(changed)) => {
            let hint = Some(confirmed_team_policy::HINT);
            findings.push(finding(CHECK, Health::Broken, changed.in_words(), hint));
        }
        Err(error) => {
            findings.push(finding(CHECK, Health::Doubtful, error.message, error.hint.as_deref()));
        }
    }
    let update = Some("`checkrein policy update` in a terminal fetches and checks it again");
    match (pinned_policy::pinned(environment), pinned_policy::text(environment)) {
        (Ok(None), _) => {}
        (Ok(Some(pin)), Ok(Some(text))) => {
            let key = VerifyingKey::parse(&pin.key);
            let signature = PolicySignature::parse(&pin.signature);
            let (health, detail) = match (key, signature) {
                (None, _) => (Health::Broken, format!("`{}` is not a public key", pin.key)),
                (Some(_), Err(_)) if pin.signature.is_empty() => {
                    (Health::Doubtful, "an earlier version did not keep its signature".to_owned())
                }
                (Some(_), Err(wrong)) => (Health::Broken, format!("the text that is kept: {wrong}")),
                (Some(key), Ok(signature)) => match signature.check(&text, key) {
                    Ok(()) => {
                        (Health::Well, format!("{}, signed at {} by {}", pin.source, pin.signed, pin.key))
                    }
                    Err(wrong) => (Health::Broken, format!("the text that is kept: {wrong}")),
                },
            };
            let hint = if health == Health::Well { None } else { update };
            findings.push(finding(CHECK, health, detail, hint));
        }
        (Ok(Some(_)), Ok(None)) => {
            findings.push(finding(CHECK, Health::Broken, "its text is missing".to_owned(), update));
        }
        (Err(error), _) | (Ok(Some(_)), Err(error)) => {
            findings.push(finding(CHECK, Health::Broken, error.message, update));
        }
    }
    findings.extend(overridden_findings(environment));
    findings
}

/// What of it the user set otherwise: their word counts, and the team may not know of it.
fn overridden_findings(environment: &HostEnvironment) -> Vec<Finding> {
    let Ok(loaded) = config_files::load(environment, &find_workspace(&environment.cwd)) else {
        // That the configuration cannot be used is said elsewhere.
        return Vec::new();
    };
    let hint = Some("take the setting out of that file to follow the team, or ask who signs the policy");
    match overridden::overridden(environment, &loaded) {
        Ok(all) => {
            let of_one = |one| finding(CHECK, Health::Doubtful, overridden::in_words(environment, one), hint);
            all.iter().map(of_one).collect()
        }
        // What is wrong with the text is said already.
        Err(_) => Vec::new(),
    }
}
