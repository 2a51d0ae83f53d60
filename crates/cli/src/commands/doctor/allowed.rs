//! What `doctor` has to say about what is allowed beforehand.

use checkrein_engine::allowances::{self, Allowance, AllowedFor, Granted, GrantedState, MOST};
use checkrein_engine::environment::HostEnvironment;

use super::{Finding, finding};
use crate::terminal::{Health, counted, plain};

/// From which age on an allowance is asked about, in milliseconds (ours): half a year.
const OLD: u64 = 182 * 24 * 60 * 60 * 1000;

/// The findings about allowances that are damaged, very old or very broad; none where nothing is allowed.
pub(super) fn findings(environment: &HostEnvironment) -> Vec<Finding> {
    let all = match allowances::all(environment) {
        Ok(all) => all,
        Err(error) => {
            return vec![finding("allowed", Health::Doubtful, error.message, error.hint.as_deref())];
        }
    };
    let now = environment.now().0;
    let names = |wanted: &dyn Fn(&Granted) -> bool| -> Vec<String> {
        all.iter().filter(|one| wanted(one)).map(|one| plain(&one.name)).collect()
    };
    let lasts = |one: &Granted, wanted: &dyn Fn(&Allowance) -> bool| {
        let is_lasting = one.state == GrantedState::Lasting;
        one.allowance.as_ref().is_some_and(|allowance| is_lasting && wanted(allowance))
    };
    let damaged = names(&|one| matches!(one.state, GrantedState::Damaged(_)));
    let old = names(&|one| lasts(one, &|allowance| now.saturating_sub(allowance.at.0) > OLD));
    let broad = names(&|one| lasts(one, &|allowance| is_broad(allowance, environment)));
    let forget = "`checkrein allow --list` shows them, `checkrein allow --forget NAME` takes one back";
    let mut findings = Vec::new();
    for (names, what) in [
        (damaged, "damaged, and allows nothing"),
        (old, "allowed for more than half a year"),
        (broad, "allowed in your whole home directory or above it"),
    ] {
        if !names.is_empty() {
            let count = counted(names.len() as u64, "call");
            let detail = format!("{count} {what}: {}", shortened(&names));
            findings.push(finding("allowed", Health::Doubtful, detail, Some(forget)));
        }
    }
    if all.len() >= MOST {
        let detail = format!("{MOST} files or more, and only so many are looked at");
        findings.push(finding("allowed", Health::Doubtful, detail, Some(forget)));
    }
    findings
}

/// Whether an allowance holds in all projects of the user.
fn is_broad(allowance: &Allowance, environment: &HostEnvironment) -> bool {
    allowance.span == AllowedFor::Always
        && allowance.is_below
        && environment.home.is_within(&allowance.directory)
}

/// The first few names.
fn shortened(names: &[String]) -> String {
    const SHOWN: usize = 3;
    let first = names.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN { format!("{first} and {} more", names.len() - SHOWN) } else { first }
}
