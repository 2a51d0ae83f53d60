//! What older versions wrote in another way.

use serde::{Deserialize, Deserializer};

use crate::effect::Effect;
use crate::effect_kind::EffectKind;
use crate::nature::Nature;

/// The effects of a review. Before there was a nature, that a process goes on after its command stood in the note alone.
pub(crate) fn effects<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Effect>, D::Error> {
    let mut effects = Vec::<Effect>::deserialize(deserializer)?;
    for effect in &mut effects {
        let is_left = effect.kind == EffectKind::ProcessSpawn && effect.note == "runs in the background";
        if effect.nature == Nature::Ordinary && is_left {
            effect.nature = Nature::Background;
        }
    }
    Ok(effects)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Record, RecordBody};

    /// As it was written before effects had a nature.
    const OLD: &str = r#"{"seq":2,"prev":"00","at":1700000000000,"body":{"type":"review","action_id":"a1","tool":"Bash","input":{"command":"sleep 9 &"},"cwd":"/w","verdict":"ok","decision":"allow","flagged":false,"risk":{"score":0.1,"level":"low","factors":["process_spawn"]},"rationality":{"score":1.0,"level":"high"},"effects":[{"kind":"process_spawn","target":{"process":"sleep"},"certainty":"certain","depth":"single","stake":"nothing","severity":"low","reversible":true,"reach":null,"cause":"","note":"runs in the background"},{"kind":"file_delete","target":{"path":"/w/a"},"certainty":"certain","depth":"single","stake":"recoverable","severity":"medium","reversible":true,"reach":null,"cause":"rm","note":"saved first"}],"rules":[],"reason":"","alternatives":[],"problems":[],"kind":"0000000000000001","exact":"0000000000000002","elapsed_us":900,"mode":"enforce"},"hash":"11"}"#;

    #[test]
    fn a_review_of_an_older_version_is_read() {
        let record: Record = serde_json::from_str(OLD).unwrap();
        let RecordBody::Review(review) = record.body else { panic!("no review") };
        let natures: Vec<Nature> = review.effects.iter().map(|effect| effect.nature).collect();
        assert_eq!(natures, [Nature::Background, Nature::Ordinary]);
        assert_eq!(review.verdict, crate::verdict::VerdictKind::Ok);
        let again = serde_json::to_value(&review.effects[1]).unwrap();
        assert_eq!(again.get("nature"), None, "what is ordinary is written as before");
        assert_eq!(again.get("saved"), None);
    }
}
