//! The same for requests from other machines: only who logged in there, and only by pages of ours.

use std::net::SocketAddr;

use axum::extract::Request;
use axum::http::{Method, header};
use checkrein_engine::answer_links::PATH;

use super::{Access, KeyKind, Refusal, STAY, Visitor, cookie, is_for_viewers};
use crate::assets::is_asset;
use crate::devices::{self, Role};
use crate::oidc::{self, Oidc};
use crate::outside::{self, LOGIN, PAIR};
use crate::password;
use crate::token::{Token, TokenDigest};

impl Access {
    /// Judges a request that came to an address of ours from wherever.
    pub(super) fn judge_outside(
        &self,
        request: &Request,
        own: SocketAddr,
    ) -> Result<Option<Visitor>, Refusal> {
        let outside = self.outside.as_ref().ok_or(Refusal::Host)?;
        let headers = request.headers();
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        if !outside.is_own_host(host, own) {
            return Err(Refusal::Host);
        }
        let path = request.uri().path();
        let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
        // Who comes by a code, a link or a bookmark brings nothing, and is shown a page.
        let is_door = matches!(path, LOGIN | oidc::BEGIN | oidc::BACK)
            || path.starts_with(PAIR)
            || path.starts_with(PATH);
        let origin = headers.get(header::ORIGIN).map(|origin| origin.to_str().unwrap_or_default());
        let is_own_origin = origin.map_or(is_read, |origin| origin == format!("https://{host}"));
        let site = headers.get("sec-fetch-site").map(|site| site.to_str().unwrap_or_default());
        let is_own_site = site.is_none_or(|site| matches!(site, "same-origin" | "none"));
        let is_opened = is_door && is_read;
        if !is_own_origin || (!is_own_site && !is_opened) {
            return Err(Refusal::Origin);
        }
        if is_door || is_asset(path) || path == "/healthz" {
            return Ok(None);
        }
        // They log in browsers of this machine, and pair devices: that is for who sits at it.
        if headers.contains_key(header::AUTHORIZATION) || matches!(path, "/v1/links" | "/v1/pairings") {
            return Err(Refusal::Elsewhere);
        }
        let shown = cookie(headers, outside::COOKIE).ok_or(Refusal::NoKey)?;
        let visitor = self.admitted(&shown).ok_or(Refusal::LoggedOut)?;
        if !is_read && !is_for_viewers(path) && visitor.role < Role::Approver {
            return Err(Refusal::Role);
        }
        Ok(Some(visitor))
    }

    /// Who shows this cookie, while they are not logged out.
    fn admitted(&self, shown: &str) -> Option<Visitor> {
        let outside = self.outside.as_ref()?;
        let (sort, rest) = shown.split_once('.')?;
        match sort {
            "d" => {
                let device = devices::shown_by(&outside.folder, rest)?;
                let by = KeyKind::Device { id: device.id, name: device.name };
                Some(Visitor { role: device.role, by, from: String::new() })
            }
            "p" => {
                let generation = password::generation(&password::hash(&outside.folder)?);
                let (given, signature) = rest.rsplit_once('.')?;
                let (_, since) = given.rsplit_once('.')?;
                let is_ours = self.is_signed(&format!("{generation}.{given}"), signature);
                let is_fresh = self.clock.now().0 < since.parse::<u64>().ok()?.saturating_add(STAY);
                let login = TokenDigest::of(shown);
                (is_ours && is_fresh && !self.ended.holds(login)).then(|| Visitor {
                    role: Role::Approver,
                    by: KeyKind::Password { generation, login },
                    from: String::new(),
                })
            }
            "o" => {
                let oidc = outside.oidc.as_ref()?;
                let (given, signature) = rest.rsplit_once('.')?;
                let mut parts = given.split('.');
                let (_, email, since, None) = (parts.next()?, parts.next()?, parts.next()?, parts.next())
                else {
                    return None;
                };
                let email = String::from_utf8(hex::decode(email).ok()?).ok()?;
                let is_ours = self.is_signed(&format!("{}.{given}", oidc.realm()), signature);
                let since: u64 = since.parse().ok()?;
                let is_fresh = self.clock.now().0 < since.saturating_add(oidc::STAY);
                let login = TokenDigest::of(shown);
                // Who is not listed any more is out.
                let role =
                    oidc.role_of(&email).filter(|_| is_ours && is_fresh && !self.ended.holds(login))?;
                Some(Visitor { role, by: KeyKind::Issuer { email, login }, from: String::new() })
            }
            _ => None,
        }
    }

    /// Returns the value of the cookie of who logged in at the issuer, and for how many seconds it counts.
    pub(crate) fn admit_by_issuer(&self, oidc: &Oidc, email: &str) -> std::io::Result<(String, u64)> {
        let given = format!("{}.{}.{}", Token::random()?.as_str(), hex::encode(email), self.clock.now().0);
        let signature = self.approver.signature(&format!("{}.{given}", oidc.realm()));
        Ok((format!("o.{given}.{signature}"), oidc::STAY / 1000))
    }

    /// Returns the value of the cookie of who gave the password with this hash, and for how many seconds it counts.
    pub(crate) fn admit_by_password(&self, hash: &str) -> std::io::Result<(String, u64)> {
        let given = format!("{}.{}", Token::random()?.as_str(), self.clock.now().0);
        let signature = self.approver.signature(&format!("{}.{given}", password::generation(hash)));
        Ok((format!("p.{given}.{signature}"), STAY / 1000))
    }

    /// Whether who began to read something may still read it.
    pub(crate) fn is_still_in(&self, visitor: &Visitor) -> bool {
        let folder = self.outside.as_ref().map(|outside| &outside.folder);
        match (&visitor.by, folder) {
            (KeyKind::Header, _) => true,
            (KeyKind::Cookie(login), _) | (KeyKind::Issuer { login, .. }, Some(_)) => {
                !self.ended.holds(*login)
            }
            (KeyKind::Device { .. } | KeyKind::Password { .. } | KeyKind::Issuer { .. }, None) => false,
            (KeyKind::Device { id, .. }, Some(folder)) => devices::is_paired(folder, id),
            (KeyKind::Password { generation, login }, Some(folder)) => {
                !self.ended.holds(*login)
                    && password::hash(folder).is_some_and(|hash| password::generation(&hash) == *generation)
            }
        }
    }
}
