//! Forges whose API opens a pull request: where that is, what is asked, and what the answer says.

use serde_json::{Value as Json, json};

use crate::endpoint::EndpointTrust;

/// The forges that a pipeline of anybody may show a credential, with what they understand: host, form, address of the API.
const KNOWN: [(&str, ForgeForm, &str); 4] = [
    ("github.com", ForgeForm::GitHub, "https://api.github.com"),
    ("gitlab.com", ForgeForm::GitLab, "https://gitlab.com/api/v4"),
    ("codeberg.org", ForgeForm::Forgejo, "https://codeberg.org/api/v1"),
    ("gitea.com", ForgeForm::Forgejo, "https://gitea.com/api/v1"),
];

/// This machine.
const LOOPBACK: [&str; 3] = ["http://127.0.0.1:", "http://localhost:", "http://[::1]:"];

/// What a forge understands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForgeForm {
    /// The REST API of GitHub.
    GitHub,
    /// That of GitLab, version 4.
    GitLab,
    /// That of Gitea and Forgejo, version 1.
    Forgejo,
}

impl ForgeForm {
    /// The words of a file, each with its form.
    pub const WORDS: [(&'static str, Self); 3] =
        [("github", Self::GitHub), ("gitlab", Self::GitLab), ("forgejo", Self::Forgejo)];
}

/// What a file says of the API of a forge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForgeAccess {
    form: Option<ForgeForm>,
    api: Option<String>,
    /// The name of the credential that is shown there.
    pub credential: String,
}

/// The API of the forge at which a repository lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForgeApi {
    form: ForgeForm,
    /// The address of the API, without a slash at its end.
    pub address: String,
    owner: String,
    repository: String,
}

/// A branch that is to be merged into another one.
#[derive(Debug, Clone, Copy)]
pub struct ForgeRequest<'a> {
    /// The branch.
    pub head: &'a str,
    /// The branch into which it is to be merged.
    pub base: &'a str,
    /// The title.
    pub title: &'a str,
    /// The text.
    pub text: &'a str,
}

impl ForgeAccess {
    /// What a file says.
    ///
    /// # Errors
    ///
    /// It may not be asked; in words.
    pub fn read(
        form: Option<ForgeForm>,
        api: Option<String>,
        credential: String,
        trust: EndpointTrust,
    ) -> Result<Self, String> {
        if let Some(address) = &api {
            let is_plain =
                address.chars().all(|letter| letter.is_ascii_graphic() && !"\\\"{}@?#".contains(letter));
            let is_here = LOOPBACK.iter().any(|start| address.starts_with(start));
            if !is_plain || !(is_here || address.starts_with("https://")) {
                return Err(format!("`{address}` is not asked: only https is, and http on this machine"));
            }
            let is_known = is_here || KNOWN.iter().any(|(_, _, known)| known == address);
            if trust == EndpointTrust::Foreign && !is_known {
                return Err(format!(
                    "`{address}` is not a forge that is known: only a pipeline of your own, in `pipelines` of your configuration, may name it"
                ));
            }
            if form.is_none() {
                return Err("an `api` needs `forge`: github, gitlab or forgejo".to_owned());
            }
        }
        Ok(Self { form, api, credential })
    }

    /// The API for a repository at the address of a remote.
    ///
    /// # Errors
    ///
    /// The address names no repository of a forge that is known; in words.
    pub fn api(&self, remote: &str) -> Result<ForgeApi, String> {
        let (host, path) =
            place(remote).ok_or_else(|| "the remote names no repository of a forge".to_owned())?;
        let known = KNOWN.iter().find(|(known, _, _)| *known == host);
        let (form, address) = match (&self.api, known) {
            (Some(address), _) => (self.form, address.clone()),
            (None, Some((_, form, address))) => (Some(self.form.unwrap_or(*form)), (*address).to_owned()),
            (None, None) => {
                return Err(format!("`{host}` is not a forge that is known: write `forge` and `api`"));
            }
        };
        let form = form.ok_or_else(|| "nothing says what the forge understands".to_owned())?;
        let path = path.trim_matches('/').trim_end_matches(".git");
        let (owner, repository) =
            path.rsplit_once('/').ok_or_else(|| "the remote names no repository of a forge".to_owned())?;
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./".contains(letter);
        let is_nested = owner.contains('/') && form != ForgeForm::GitLab;
        let leads_out = path.split('/').any(|part| part.is_empty() || part.starts_with('.'));
        if !path.chars().all(is_plain) || is_nested || leads_out {
            return Err(format!("`{path}` is not a repository of a forge"));
        }
        Ok(ForgeApi {
            form,
            address: address.trim_end_matches('/').to_owned(),
            owner: owner.to_owned(),
            repository: repository.to_owned(),
        })
    }
}

/// The host and the path of an address of a server: `https://HOST/PATH`, `ssh://USER@HOST/PATH`, `USER@HOST:PATH`.
fn place(remote: &str) -> Option<(String, String)> {
    let (authority, path) = match remote.split_once("://") {
        Some((_, rest)) => rest.split_once('/')?,
        None => remote.split_once(':')?,
    };
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = host.split(':').next().unwrap_or_default().to_ascii_lowercase();
    (!host.is_empty()).then(|| (host, path.to_owned()))
}

impl ForgeApi {
    /// Where pull requests of the repository are, to be asked for and made.
    pub fn collection(&self) -> String {
        let Self { address, owner, repository, .. } = self;
        match self.form {
            ForgeForm::GitHub | ForgeForm::Forgejo => format!("{address}/repos/{owner}/{repository}/pulls"),
            ForgeForm::GitLab => {
                let project = format!("{owner}/{repository}").replace('/', "%2F");
                format!("{address}/projects/{project}/merge_requests")
            }
        }
    }

    /// Where the open ones of a branch are.
    pub fn open_ones(&self, head: &str) -> String {
        let (all, owner, branch) = (self.collection(), &self.owner, head.replace('/', "%2F"));
        match self.form {
            ForgeForm::GitHub => format!("{all}?state=open&head={owner}:{branch}"),
            ForgeForm::GitLab => format!("{all}?state=opened&source_branch={branch}"),
            ForgeForm::Forgejo => format!("{all}?state=open&limit=50"),
        }
    }

    /// The headers that go along, the credential among them.
    pub fn headers(&self, credential: &str) -> Vec<String> {
        let own = match self.form {
            ForgeForm::GitHub => vec![
                format!("authorization: Bearer {credential}"),
                "accept: application/vnd.github+json".to_owned(),
                "x-github-api-version: 2022-11-28".to_owned(),
            ],
            ForgeForm::GitLab => vec![format!("private-token: {credential}")],
            ForgeForm::Forgejo => vec![format!("authorization: token {credential}")],
        };
        own.into_iter()
            .chain(["content-type: application/json".to_owned(), "user-agent: checkrein".to_owned()])
            .collect()
    }

    /// What is sent to make one, as JSON.
    pub fn body(&self, request: &ForgeRequest<'_>) -> String {
        let ForgeRequest { head, base, title, text } = request;
        match self.form {
            ForgeForm::GitHub | ForgeForm::Forgejo => {
                json!({ "title": title, "head": head, "base": base, "body": text })
            }
            ForgeForm::GitLab => json!({
                "title": title, "source_branch": head, "target_branch": base, "description": text,
            }),
        }
        .to_string()
    }

    /// The address of the pull request of a branch, in an answer that holds one or a list; `None` where it holds none.
    pub fn address_of(&self, answer: &str, head: &str) -> Option<String> {
        let answer: Json = serde_json::from_str(answer).ok()?;
        let branch = |one: &Json| match self.form {
            ForgeForm::GitHub | ForgeForm::Forgejo => one.pointer("/head/ref").cloned(),
            ForgeForm::GitLab => one.get("source_branch").cloned(),
        };
        let key = match self.form {
            ForgeForm::GitHub | ForgeForm::Forgejo => "html_url",
            ForgeForm::GitLab => "web_url",
        };
        let of = |one: &Json| {
            (branch(one)?.as_str()? == head).then(|| one[key].as_str().map(str::to_owned)).flatten()
        };
        match &answer {
            Json::Array(all) => all.iter().find_map(of),
            one => of(one),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(
        api: Option<&str>,
        form: Option<ForgeForm>,
        trust: EndpointTrust,
    ) -> Result<ForgeAccess, String> {
        ForgeAccess::read(form, api.map(str::to_owned), "forge".to_owned(), trust)
    }

    #[test]
    fn the_remote_tells_the_forge() {
        let known = access(None, None, EndpointTrust::Foreign).unwrap();
        for (remote, collection) in [
            ("git@github.com:acme/app.git", "https://api.github.com/repos/acme/app/pulls"),
            ("https://user:word@github.com/acme/app", "https://api.github.com/repos/acme/app/pulls"),
            ("ssh://git@GITHUB.com:22/acme/app.git", "https://api.github.com/repos/acme/app/pulls"),
            ("https://gitlab.com/a/b/c.git", "https://gitlab.com/api/v4/projects/a%2Fb%2Fc/merge_requests"),
            ("https://codeberg.org/acme/app.git", "https://codeberg.org/api/v1/repos/acme/app/pulls"),
        ] {
            assert_eq!(known.api(remote).map(|api| api.collection()), Ok(collection.to_owned()), "{remote}");
        }
        for remote in [
            "https://github.com.evil.example/acme/app",
            "https://github.com/acme/../app",
            "https://github.com/acme/app?x=/y",
            "https://github.com/a/b/c",
            "https://github.com/app",
            "/srv/git/app.git",
        ] {
            assert!(known.api(remote).is_err(), "{remote}");
        }
    }

    #[test]
    fn a_credential_goes_to_known_forges_alone() {
        let own = Some("https://git.acme.example/api/v1");
        let form = Some(ForgeForm::Forgejo);
        assert!(access(own, form, EndpointTrust::Foreign).is_err());
        assert!(access(own, None, EndpointTrust::Own).is_err());
        let api = access(own, form, EndpointTrust::Own).unwrap().api("git@git.acme.example:a/b.git").unwrap();
        assert_eq!(api.collection(), "https://git.acme.example/api/v1/repos/a/b/pulls");
        for api in ["http://git.acme.example", "https://a@b", "https://a\"b", "file:///etc/passwd"] {
            assert!(access(Some(api), form, EndpointTrust::Own).is_err(), "{api}");
        }
    }

    #[test]
    fn an_answer_tells_the_address_of_the_branch_that_was_asked_about() {
        let known = access(None, None, EndpointTrust::Foreign).unwrap();
        let github = known.api("git@github.com:acme/app.git").unwrap();
        let all = r#"[{"head": {"ref": "other"}, "html_url": "https://x/1"}, {"head": {"ref": "b"}, "html_url": "https://x/2"}]"#;
        assert_eq!(github.address_of(all, "b"), Some("https://x/2".to_owned()));
        assert_eq!(github.address_of("[]", "b"), None);
        assert_eq!(github.address_of(r#"{"message": "Bad credentials"}"#, "b"), None);
        let gitlab = known.api("https://gitlab.com/a/b").unwrap();
        let one = r#"{"source_branch": "b", "web_url": "https://x/3"}"#;
        assert_eq!(gitlab.address_of(one, "b"), Some("https://x/3".to_owned()));
        let body = gitlab.body(&ForgeRequest { head: "b", base: "main", title: "t", text: "say \"x\"" });
        assert!(body.contains("source_branch") && serde_json::from_str::<Json>(&body).is_ok());
    }
}
