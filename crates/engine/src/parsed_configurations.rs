//! Configurations that a process which stays has read already, by the texts that they were made of. Texts are read for each call; what is made of
//! the same texts is the same.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use checkrein_policy::{Config, FileHash, Layer, Standpoint};

use crate::error::CommandError;
use crate::rules::RuleTexts;

/// How many are kept (ours): a few workspaces, each with what its sessions began with.
const MOST: usize = 32;

/// Everything that a configuration is made of.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ConfigOrigin {
    pub(crate) texts: RuleTexts,
    pub(crate) variables: Layer,
    pub(crate) trusted: Vec<FileHash>,
    pub(crate) standpoint: Standpoint,
}

/// What was made so far, the newest first.
#[derive(Debug, Default)]
pub struct ParsedConfigurations(Mutex<VecDeque<(ConfigOrigin, Config)>>);

impl ParsedConfigurations {
    /// The configuration of this origin, made by `make` where it is not there yet. A failure is not kept.
    pub(crate) fn config(
        &self,
        origin: ConfigOrigin,
        make: impl FnOnce() -> Result<Config, CommandError>,
    ) -> Result<Config, CommandError> {
        let kept = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, config)) = kept().iter().find(|(known, _)| *known == origin) {
            return Ok(config.clone());
        }
        let config = make()?;
        let mut kept = kept();
        kept.push_front((origin, config.clone()));
        kept.truncate(MOST);
        Ok(config)
    }
}

#[cfg(test)]
mod tests {
    use checkrein_policy::{ConfigSource, LayerKind, Profile};

    use super::*;

    fn origin(text: &str) -> ConfigOrigin {
        let source = ConfigSource::File { name: "checkrein.yaml".to_owned(), text: text.to_owned() };
        ConfigOrigin {
            texts: RuleTexts::default(),
            variables: Layer { kind: LayerKind::Project, source },
            trusted: Vec::new(),
            standpoint: Standpoint::default(),
        }
    }

    #[test]
    fn the_same_texts_are_read_once_and_others_are_read() {
        let kept = ParsedConfigurations::default();
        let strict = || Ok(Config { profile: Profile::Strict, ..Config::default() });
        assert_eq!(kept.config(origin("a"), strict).unwrap().profile, Profile::Strict);
        let again = kept.config(origin("a"), || panic!("it is there"));
        assert_eq!(again.unwrap().profile, Profile::Strict);
        let other = kept.config(origin("b"), || Ok(Config::default()));
        assert_eq!(other.unwrap().profile, Profile::Interactive);
        for number in 0..MOST {
            kept.config(origin(&number.to_string()), || Ok(Config::default())).unwrap();
        }
        let gone = kept.config(origin("a"), || Ok(Config::default()));
        assert_eq!(gone.unwrap().profile, Profile::Interactive, "the oldest goes");
        assert!(kept.config(origin("c"), || Err(CommandError::user("no", "none"))).is_err());
        assert!(kept.config(origin("c"), || Ok(Config::default())).is_ok(), "a failure is not kept");
    }
}
