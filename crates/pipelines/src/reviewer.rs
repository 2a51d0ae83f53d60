//! Families and ranks of models, and which reviewer may follow which.
//!
//! By rules over families, with a no for what is not known: lists of exact names let the next small model pass (upstream 3.10).

use serde::{Deserialize, Serialize};

use crate::endpoint::ModelEndpoint;
use crate::template::TextTemplate;

/// Who makes a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelFamily {
    /// Claude.
    Anthropic,
    /// GPT and the o series.
    OpenAi,
    /// Gemini.
    Google,
    /// Mistral, Codestral, Devstral.
    Mistral,
    /// Llama.
    Meta,
    /// Qwen.
    Alibaba,
    /// DeepSeek.
    DeepSeek,
    /// Grok.
    XAi,
    /// Kimi.
    Moonshot,
    /// GLM.
    Zhipu,
}

/// How much is expected of a model: of two the weaker may not stand in for the stronger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelRank {
    /// Small and fast ones: never reviewers.
    Small,
    /// Those for daily work.
    Standard,
    /// The strongest of a family.
    Flagship,
}

/// A model that is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskedModel {
    /// Its name.
    pub name: String,
    /// Who makes it.
    pub family: ModelFamily,
    /// How much is expected of it.
    pub rank: ModelRank,
}

/// How a reviewer is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReviewerTransport {
    /// A program and its arguments; the question is written to its standard input.
    Command(Vec<TextTemplate>),
    /// An address of its provider.
    Endpoint(ModelEndpoint),
}

/// Somebody who reviews.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelReviewer {
    /// The name in the file.
    pub name: String,
    /// How it is asked.
    pub transport: ReviewerTransport,
    /// The model that must answer.
    pub model: AskedModel,
}

impl ModelFamily {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Anthropic,
        Self::OpenAi,
        Self::Google,
        Self::Mistral,
        Self::Meta,
        Self::Alibaba,
        Self::DeepSeek,
        Self::XAi,
        Self::Moonshot,
        Self::Zhipu,
    ];

    /// Its word in a file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::Google => "google",
            Self::Mistral => "mistral",
            Self::Meta => "meta",
            Self::Alibaba => "alibaba",
            Self::DeepSeek => "deepseek",
            Self::XAi => "xai",
            Self::Moonshot => "moonshot",
            Self::Zhipu => "zhipu",
        }
    }

    /// The family of a model, by how its name begins after the name of a provider; `None` where that is not known.
    pub fn of_model(model: &str) -> Option<Self> {
        let name = bare(model);
        let begins = |words: &[&str]| words.iter().any(|word| name.starts_with(word));
        let is_o = name.strip_prefix('o').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        [
            (begins(&["claude", "opus", "sonnet", "haiku", "fable"]), Self::Anthropic),
            (begins(&["gpt", "chatgpt", "codex"]) || is_o, Self::OpenAi),
            (begins(&["gemini", "gemma"]), Self::Google),
            (begins(&["mistral", "codestral", "devstral", "magistral"]), Self::Mistral),
            (begins(&["llama"]), Self::Meta),
            (begins(&["qwen", "qwq"]), Self::Alibaba),
            (begins(&["deepseek"]), Self::DeepSeek),
            (begins(&["grok"]), Self::XAi),
            (begins(&["kimi"]), Self::Moonshot),
            (begins(&["glm"]), Self::Zhipu),
        ]
        .into_iter()
        .find_map(|(is_it, family)| is_it.then_some(family))
    }

    /// The family whose models a program works with by itself.
    pub fn of_program(program: &str) -> Option<Self> {
        match program.rsplit('/').next().unwrap_or_default() {
            "claude" => Some(Self::Anthropic),
            "codex" => Some(Self::OpenAi),
            "gemini" => Some(Self::Google),
            "qwen" => Some(Self::Alibaba),
            "vibe" => Some(Self::Mistral),
            "grok" => Some(Self::XAi),
            "kimi" => Some(Self::Moonshot),
            _ => None,
        }
    }
}

impl ModelRank {
    /// Those that a file may give to a model whose rank is not known.
    pub const GIVEN: [Self; 2] = [Self::Standard, Self::Flagship];

    /// Its word in a file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Small => "small",
            Self::Standard => "standard",
            Self::Flagship => "flagship",
        }
    }

    /// The rank of a model by the words of its name; `None` where they do not tell.
    fn of_model(family: ModelFamily, model: &str) -> Option<Self> {
        /// Words for small and fast models, whoever makes them.
        const SMALL: [&str; 16] = [
            "flash",
            "lite",
            "mini",
            "nano",
            "haiku",
            "small",
            "tiny",
            "fast",
            "instant",
            "micro",
            "spark",
            "ministral",
            "air",
            "turbo",
            "gemma",
            "8b",
        ];
        let name = bare(model);
        let words: Vec<&str> = name.split(['-', '_', '.', ' ', ':', '@']).collect();
        let has = |word: &str| words.contains(&word);
        if words.iter().any(|word| SMALL.contains(word)) {
            return Some(Self::Small);
        }
        match family {
            ModelFamily::Anthropic if has("opus") || has("fable") => Some(Self::Flagship),
            ModelFamily::Anthropic if has("sonnet") => Some(Self::Standard),
            ModelFamily::OpenAi | ModelFamily::Google if has("pro") => Some(Self::Flagship),
            ModelFamily::OpenAi if name.starts_with("gpt-5") => Some(Self::Flagship),
            ModelFamily::OpenAi if name.starts_with("gpt-4") => Some(Self::Standard),
            ModelFamily::OpenAi if name.starts_with("o3") => Some(Self::Standard),
            ModelFamily::Mistral if has("large") => Some(Self::Flagship),
            ModelFamily::Mistral if has("medium") => Some(Self::Standard),
            ModelFamily::Anthropic
            | ModelFamily::OpenAi
            | ModelFamily::Google
            | ModelFamily::Mistral
            | ModelFamily::Meta
            | ModelFamily::Alibaba
            | ModelFamily::DeepSeek
            | ModelFamily::XAi
            | ModelFamily::Moonshot
            | ModelFamily::Zhipu => None,
        }
    }
}

impl AskedModel {
    /// A model by its name. Family and rank are given where the name does not tell them; they do not change what it tells.
    ///
    /// # Errors
    ///
    /// It may not review, or is not known; in words.
    pub fn read(name: &str, family: Option<ModelFamily>, rank: Option<ModelRank>) -> Result<Self, String> {
        let family = match (ModelFamily::of_model(name), family) {
            (Some(told), Some(given)) if told != given => {
                return Err(format!("`{name}` is a model of {}, not of {}", told.name(), given.name()));
            }
            (told, given) => told.or(given),
        };
        let family = family.ok_or_else(|| {
            format!("nobody knows whose model `{name}` is: write `family`, or ask for another model")
        })?;
        let rank = match (ModelRank::of_model(family, name), rank) {
            (Some(ModelRank::Small), _) => {
                return Err(format!("`{name}` is a small model, and these do not review"));
            }
            (Some(told), Some(given)) if given > told => {
                return Err(format!("`{name}` is a {} model, not a {} one", told.name(), given.name()));
            }
            (told, given) => given.or(told),
        };
        let rank = rank.ok_or_else(|| {
            format!("the rank of `{name}` is not known: write `rank: standard` or `rank: flagship`")
        })?;
        Ok(Self { name: name.to_owned(), family, rank })
    }

    /// Whether an answer of the model of this name is one of the model that was asked for: the same name, or the same with a date behind it.
    pub fn is_answered_by(&self, model: &str) -> bool {
        let (asked, told) = (bare(&self.name), bare(model));
        let date = |rest: &str| {
            let digits: String = rest.chars().filter(|letter| *letter != '-').collect();
            rest.starts_with('-') && digits.len() == 8 && digits.bytes().all(|byte| byte.is_ascii_digit())
        };
        told == asked || told.strip_prefix(asked.as_str()).is_some_and(date)
    }
}

impl ModelReviewer {
    /// A model, asked by the client of its maker in the form in which that says which model answered.
    ///
    /// # Errors
    ///
    /// It may not review, or its maker has no client that is known; in words.
    pub fn by_client(model: &str) -> Result<Self, String> {
        let asked = AskedModel::read(model, None, None)?;
        let words: &[&str] = match asked.family {
            ModelFamily::Anthropic => &["claude", "-p", "--output-format", "json", "--model", "${model}"],
            ModelFamily::OpenAi => {
                &["codex", "exec", "--sandbox", "read-only", "--skip-git-repo-check", "-m", "${model}", "-"]
            }
            ModelFamily::Google => &["gemini", "--output-format", "json", "-m", "${model}"],
            ModelFamily::Mistral
            | ModelFamily::Meta
            | ModelFamily::Alibaba
            | ModelFamily::DeepSeek
            | ModelFamily::XAi
            | ModelFamily::Moonshot
            | ModelFamily::Zhipu => {
                return Err(format!("no client is known that asks `{model}`: describe it in a file"));
            }
        };
        let words = words.iter().map(|word| TextTemplate::read(word)).collect::<Result<Vec<_>, _>>();
        let words = words.map_err(|_| format!("`{model}` cannot be asked"))?;
        Ok(Self {
            // It names a folder of what is asked.
            name: model.replace(['/', '\\'], "-"),
            transport: ReviewerTransport::Command(words),
            model: asked,
        })
    }
}

/// Of reviewers in their order those that may review what these families wrote: of another family, and none weaker than the first of
/// them, so that what stands in is no less.
pub fn eligible_reviewers<'a>(
    named: &[&'a ModelReviewer],
    authors: &[ModelFamily],
) -> Vec<&'a ModelReviewer> {
    let others: Vec<&ModelReviewer> =
        named.iter().copied().filter(|reviewer| !authors.contains(&reviewer.model.family)).collect();
    let Some(first) = others.first().map(|first| first.model.rank) else { return Vec::new() };
    others.into_iter().filter(|reviewer| reviewer.model.rank >= first).collect()
}

/// The name of a model without that of a provider or a region in front, in small letters.
fn bare(model: &str) -> String {
    let name = model.trim().to_ascii_lowercase();
    let last = name.rsplit('/').next().unwrap_or_default();
    last.rsplit_once("anthropic.").map_or(last, |(_, rest)| rest).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reviewer(model: &str) -> ModelReviewer {
        ModelReviewer {
            name: model.to_owned(),
            transport: ReviewerTransport::Command(Vec::new()),
            model: AskedModel::read(model, None, None).unwrap(),
        }
    }

    // Source: seed 004-55
    #[test]
    fn small_and_unknown_models_do_not_review() {
        for forbidden in [
            "gemini-2.5-flash",
            "gemini-3.1-flash-preview",
            "gemini-2.5-flash-lite",
            "claude-haiku-4-5",
            "gpt-5-mini",
            "gpt-5.1-codex-mini",
            "o4-mini",
            "google/gemini-4-flash-pro",
            "mistral-small-2603",
        ] {
            assert!(AskedModel::read(forbidden, None, Some(ModelRank::Flagship)).is_err(), "{forbidden}");
        }
        for unknown in ["wizard-9", "gemini-4-ultra", "deepseek-v4", "gpt-3.5"] {
            assert!(AskedModel::read(unknown, None, None).is_err(), "{unknown}");
        }
        assert!(AskedModel::read("deepseek-v4", None, Some(ModelRank::Standard)).is_ok());
        let own = AskedModel::read("wizard-9", Some(ModelFamily::Meta), Some(ModelRank::Standard));
        assert_eq!(own.unwrap().family, ModelFamily::Meta);
        // What a name tells is not talked away.
        assert!(AskedModel::read("claude-opus-4-8", Some(ModelFamily::Google), None).is_err());
        assert!(AskedModel::read("claude-sonnet-5", None, Some(ModelRank::Flagship)).is_err());
    }

    #[test]
    fn a_model_is_asked_by_the_client_of_its_maker() {
        for (model, program) in
            [("claude-opus-4-8", "claude"), ("gpt-5.2", "codex"), ("gemini-3-pro", "gemini")]
        {
            let reviewer = ModelReviewer::by_client(model).unwrap();
            let ReviewerTransport::Command(words) = &reviewer.transport else { panic!("{model}") };
            let values =
                crate::TemplateValues([("model".to_owned(), model.to_owned())].into_iter().collect());
            let words: Vec<String> = words.iter().map(|word| word.word(&values).unwrap()).collect();
            assert_eq!(ModelFamily::of_program(program), Some(reviewer.model.family));
            assert!(words[0] == program && words.contains(&model.to_owned()), "{words:?}");
        }
        assert!(ModelReviewer::by_client("gemini-3-flash").is_err());
        assert!(ModelReviewer::by_client("mistral-large-3").unwrap_err().contains("in a file"));
    }

    // Source: seed 004-54
    #[test]
    fn an_answer_comes_from_the_model_or_from_another() {
        let asked = AskedModel::read("claude-opus-4-8", None, None).unwrap();
        for same in
            ["claude-opus-4-8", "Claude-Opus-4-8", "claude-opus-4-8-20260401", "anthropic/claude-opus-4-8"]
        {
            assert!(asked.is_answered_by(same), "{same}");
        }
        for other in
            ["claude-opus-4", "claude-opus-4-80", "claude-haiku-4-5", "claude-opus-4-8-fast", "", "opus"]
        {
            assert!(!asked.is_answered_by(other), "{other}");
        }
    }

    // Source: seed 004-56
    #[test]
    fn what_stands_in_is_of_another_family_and_no_weaker() {
        let all = ["claude-opus-4-8", "gemini-3-pro", "gpt-4.1", "gpt-5-pro"].map(reviewer);
        let named: Vec<&ModelReviewer> = all.iter().collect();
        let chosen = |authors: &[ModelFamily]| -> Vec<String> {
            eligible_reviewers(&named, authors).into_iter().map(|one| one.name.clone()).collect()
        };
        assert_eq!(chosen(&[ModelFamily::Anthropic]), ["gemini-3-pro", "gpt-5-pro"]);
        assert_eq!(chosen(&[ModelFamily::Google]), ["claude-opus-4-8", "gpt-5-pro"]);
        let all_but_one = [ModelFamily::Anthropic, ModelFamily::Google];
        assert_eq!(chosen(&all_but_one), ["gpt-4.1", "gpt-5-pro"]);
        assert!(chosen(&[ModelFamily::Anthropic, ModelFamily::Google, ModelFamily::OpenAi]).is_empty());
    }
}
