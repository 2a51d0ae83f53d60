//! Models that are asked over HTTP: the forms of Anthropic and OpenAI, which others speak too.

use serde_json::json;

/// How many tokens an answer may have where a form wants that said (ours): a verdict is far shorter, what a model thinks before it is not.
const ANSWER: u32 = 16_384;

/// Hosts to which a pipeline of anybody may send what is reviewed: those of the makers of models, as their documentation names them, and
/// two that pass questions on.
const PROVIDERS: [&str; 12] = [
    "api.anthropic.com",
    "api.openai.com",
    "generativelanguage.googleapis.com",
    "api.mistral.ai",
    "api.deepseek.com",
    "api.x.ai",
    "api.moonshot.ai",
    "api.z.ai",
    "api.llama.com",
    "dashscope-intl.aliyuncs.com",
    "openrouter.ai",
    "api.groq.com",
];

/// This machine.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// The form in which a model is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndpointForm {
    /// `/v1/messages` of Anthropic.
    Messages,
    /// `/v1/chat/completions` of OpenAI.
    ChatCompletions,
    /// `/v1/responses` of OpenAI.
    Responses,
}

/// Whose pipeline names an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndpointTrust {
    /// The user's own: any host.
    Own,
    /// Somebody's, such as that of a project: makers of models, and this machine.
    Foreign,
}

/// An address at which a model is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelEndpoint {
    /// The whole address.
    pub url: String,
    /// What is understood there.
    pub form: EndpointForm,
    /// The names of the credentials of which one is shown there, the next where one is refused; none is where there are none.
    pub keys: Vec<String>,
}

impl EndpointForm {
    /// The words of a file, each with its form.
    pub const WORDS: [(&'static str, Self); 3] = [
        ("messages", Self::Messages),
        ("chat_completions", Self::ChatCompletions),
        ("responses", Self::Responses),
    ];

    /// The form that is understood at an address, by the end of its path; `None` where that does not tell.
    fn of_url(url: &str) -> Option<Self> {
        let path = url.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
        let ends = [
            ("/messages", Self::Messages),
            ("/chat/completions", Self::ChatCompletions),
            ("/responses", Self::Responses),
        ];
        ends.into_iter().find_map(|(end, form)| path.ends_with(end).then_some(form))
    }
}

impl ModelEndpoint {
    /// An endpoint of a file. The form is told by the address where it is not given.
    ///
    /// # Errors
    ///
    /// It may not be asked, or nobody knows how; in words.
    pub fn read(
        url: &str,
        form: Option<EndpointForm>,
        keys: Vec<String>,
        trust: EndpointTrust,
    ) -> Result<Self, String> {
        let (scheme, rest) =
            url.split_once("://").ok_or_else(|| format!("`{url}` is no address: write https://..."))?;
        let is_plain =
            |letter: char| letter.is_ascii_graphic() && !matches!(letter, '\\' | '"' | '{' | '}' | '[' | ']');
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let is_ipv6 = authority.starts_with("[::1]");
        if !rest.strip_prefix("[::1]").unwrap_or(rest).chars().all(is_plain) || authority.contains('@') {
            return Err("an address has no spaces, quotes, brackets or passwords in it".to_owned());
        }
        let host = if is_ipv6 { "[::1]" } else { authority.split(':').next().unwrap_or_default() };
        let host = host.to_ascii_lowercase();
        if host.is_empty() {
            return Err(format!("`{url}` names no host"));
        }
        let is_here = LOOPBACK.contains(&host.as_str());
        match scheme {
            "https" => {}
            "http" if is_here => {}
            _ => return Err(format!("`{url}` is not asked: only https is, and http on this machine")),
        }
        match trust {
            EndpointTrust::Own => {}
            EndpointTrust::Foreign if is_here || PROVIDERS.contains(&host.as_str()) => {}
            EndpointTrust::Foreign => {
                return Err(format!(
                    "`{host}` is no maker of models that is known: only a pipeline of your own, in `pipelines` of your configuration, may send \
                     work there"
                ));
            }
        }
        let form = form.or_else(|| EndpointForm::of_url(url)).ok_or_else(|| {
            let words = EndpointForm::WORDS.map(|(word, _)| format!("`{word}`"));
            format!(
                "the address does not tell what is understood there: write `form`, one of {}",
                words.join(", ")
            )
        })?;
        Ok(Self { url: url.to_owned(), form, keys })
    }

    /// What is sent there, as JSON.
    pub fn body(&self, model: &str, question: &str) -> String {
        let message = json!([{ "role": "user", "content": question }]);
        match self.form {
            EndpointForm::Messages => json!({ "model": model, "max_tokens": ANSWER, "messages": message }),
            EndpointForm::ChatCompletions => json!({ "model": model, "messages": message }),
            EndpointForm::Responses => json!({ "model": model, "input": question, "store": false }),
        }
        .to_string()
    }

    /// The headers that go along, the credential among them.
    pub fn headers(&self, key: Option<&str>) -> Vec<String> {
        let mut headers = vec!["content-type: application/json".to_owned()];
        match self.form {
            EndpointForm::Messages => {
                headers.push("anthropic-version: 2023-06-01".to_owned());
                headers.extend(key.map(|key| format!("x-api-key: {key}")));
            }
            EndpointForm::ChatCompletions | EndpointForm::Responses => {
                headers.extend(key.map(|key| format!("authorization: Bearer {key}")));
            }
        }
        headers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(url: &str, trust: EndpointTrust) -> Result<ModelEndpoint, String> {
        ModelEndpoint::read(url, None, Vec::new(), trust)
    }

    #[test]
    fn the_address_tells_the_form() {
        let form = |url| read(url, EndpointTrust::Foreign).map(|endpoint| endpoint.form);
        assert_eq!(form("https://api.anthropic.com/v1/messages"), Ok(EndpointForm::Messages));
        assert_eq!(form("https://openrouter.ai/api/v1/chat/completions"), Ok(EndpointForm::ChatCompletions));
        assert_eq!(form("https://api.openai.com/v1/responses/"), Ok(EndpointForm::Responses));
        assert!(form("https://api.openai.com/v1").is_err());
    }

    #[test]
    fn a_foreign_pipeline_sends_work_to_makers_of_models_alone() {
        for url in [
            "https://evil.example/v1/messages",
            "https://api.anthropic.com.evil.example/v1/messages",
            "https://api.anthropic.com@evil.example/v1/messages",
            "https://evil.example#api.anthropic.com/v1/messages",
            "https://evil.example?api.anthropic.com/v1/messages",
            "https://evil.example\\@api.anthropic.com/v1/messages",
        ] {
            assert!(read(url, EndpointTrust::Foreign).is_err(), "{url}");
        }
        for url in [
            "http://127.0.0.1:8080/v1/messages",
            "http://[::1]:8080/v1/messages",
            "https://API.openai.com/v1/responses",
        ] {
            assert!(read(url, EndpointTrust::Foreign).is_ok(), "{url}");
        }
        assert!(read("https://models.example/v1/messages", EndpointTrust::Own).is_ok());
    }

    #[test]
    fn nothing_goes_over_a_plain_line() {
        for url in [
            "http://api.anthropic.com/v1/messages",
            "file:///etc/passwd",
            "ftp://x/v1/messages",
            "x/v1/messages",
        ] {
            assert!(read(url, EndpointTrust::Own).is_err(), "{url}");
        }
        for url in [
            "https://a b/v1/messages",
            "https://x/\"\n/v1/messages",
            "https://{a,b}/v1/messages",
            "https:///v1/messages",
        ] {
            assert!(read(url, EndpointTrust::Own).is_err(), "{url:?}");
        }
    }

    #[test]
    fn each_form_shows_the_credential_in_its_own_way() {
        let of = |url| read(url, EndpointTrust::Own).unwrap();
        let anthropic = of("https://api.anthropic.com/v1/messages");
        assert!(anthropic.headers(Some("k")).contains(&"x-api-key: k".to_owned()));
        let openai = of("https://api.openai.com/v1/chat/completions");
        assert!(openai.headers(Some("k")).contains(&"authorization: Bearer k".to_owned()));
        assert!(!openai.headers(None).iter().any(|header| header.contains("authorization")));
        for endpoint in [anthropic, openai, of("https://api.openai.com/v1/responses")] {
            let body: serde_json::Value =
                serde_json::from_str(&endpoint.body("m", "is it \"right\"?")).unwrap();
            assert_eq!(body["model"], "m");
            assert!(body.to_string().contains("is it"));
        }
    }
}
