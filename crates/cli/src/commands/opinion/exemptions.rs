//! The narrowest exemption from the rules that asked about a call: these effects alone, by this program.

use checkrein_engine::error::CommandError;
use checkrein_policy::Exemption;
use checkrein_protocol::{Action, ReviewRecord};

/// The greatest number of exemptions that are tried for one call (ours).
const MOST: usize = 12;

/// What rules have to overlook for a call to pass, and no more; empty where no such exemption lets it pass. `passes` judges the call with some.
pub(super) fn narrowest(
    review: &ReviewRecord,
    action: &Action,
    passes: impl Fn(&[Exemption]) -> Result<bool, CommandError>,
) -> Result<Vec<Exemption>, CommandError> {
    let asked = review.rules.iter().filter_map(|rule| rule.strip_suffix(": modify"));
    // What prevents a disaster is not overlooked for one call.
    let rules = asked.filter(|rule| rule.starts_with("confirm_"));
    let mut needed: Vec<Exemption> = Vec::new();
    for rule in rules {
        for exemption in review.effects.iter().filter_map(|effect| Exemption::narrowest(rule, action, effect))
        {
            if !needed.contains(&exemption) {
                needed.push(exemption);
            }
        }
    }
    if needed.is_empty() || needed.len() > MOST || !passes(&needed)? {
        return Ok(Vec::new());
    }
    // One after the other is left out, as long as the call passes without it.
    for place in (0..needed.len()).rev() {
        let mut fewer = needed.clone();
        fewer.remove(place);
        if !fewer.is_empty() && passes(&fewer)? {
            needed = fewer;
        }
    }
    Ok(needed)
}
