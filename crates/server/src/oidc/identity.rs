//! Whether an identity token (OpenID Connect Core 1.0, 3.1.3.7) is one that counts: signed by a key of the issuer, for this program, for this
//! login, now. Pure: text, keys and time in, an address or a fault out.

use std::fmt;

use checkrein_protocol::Timestamp;
use data_encoding::BASE64URL_NOPAD;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey,
};
use serde_json::Value as Json;

use super::text;

/// By how many seconds clocks may differ (ours).
const SKEW: u64 = 60;
/// The longest token that is looked at, in bytes (ours).
const LONGEST: usize = 64 * 1024;

/// What a token has to say.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expected<'a> {
    pub(super) issuer: &'a str,
    pub(super) client: &'a str,
    pub(super) nonce: &'a str,
    pub(super) now: Timestamp,
}

/// Why a token does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenFault {
    Form,
    Algorithm,
    UnknownKey,
    Signature,
    Issuer,
    Audience,
    Expired,
    FromTheFuture,
    Nonce,
    NoMail,
    MailNotVerified,
}

impl fmt::Display for TokenFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Form => "the identity cannot be read",
            Self::Algorithm => "the identity is not signed in a way that counts",
            Self::UnknownKey => "the issuer has no such key",
            Self::Signature => "the identity is not signed by the issuer",
            Self::Issuer => "the identity is of another issuer",
            Self::Audience => "the identity is for another program",
            Self::Expired => "the identity has expired",
            Self::FromTheFuture => "the identity is not valid yet",
            Self::Nonce => "the identity is of another login",
            Self::NoMail => "the identity has no mail address",
            Self::MailNotVerified => "the issuer has not verified the mail address",
        })
    }
}

/// How a token is signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SignedWith {
    Rs256,
    Es256,
    EdDsa,
}

impl SignedWith {
    /// `none` and what is signed with a shared secret count as nothing.
    fn of(name: &str) -> Option<Self> {
        match name {
            "RS256" => Some(Self::Rs256),
            "ES256" => Some(Self::Es256),
            "EdDSA" => Some(Self::EdDsa),
            _ => None,
        }
    }

    /// Whether a key is of the sort that signs so.
    fn fits(self, key: &Json) -> bool {
        let (sort, curve, name) = match self {
            Self::Rs256 => ("RSA", "", "RS256"),
            Self::Es256 => ("EC", "P-256", "ES256"),
            Self::EdDsa => ("OKP", "Ed25519", "EdDSA"),
        };
        text(key, "kty") == sort
            && text(key, "crv") == curve
            && (key["alg"].is_null() || text(key, "alg") == name)
            && (key["use"].is_null() || text(key, "use") == "sig")
    }

    fn is_signed(self, key: &Json, message: &[u8], signature: &[u8]) -> bool {
        let part = |name: &str| BASE64URL_NOPAD.decode(text(key, name).as_bytes()).unwrap_or_default();
        match self {
            Self::Rs256 => {
                let (modulus, exponent) = (part("n"), part("e"));
                let bare =
                    |bytes: &[u8]| bytes.iter().copied().skip_while(|byte| *byte == 0).collect::<Vec<u8>>();
                let key = RsaPublicKeyComponents { n: bare(&modulus), e: bare(&exponent) };
                key.verify(&RSA_PKCS1_2048_8192_SHA256, message, signature).is_ok()
            }
            Self::Es256 => {
                let point = [vec![4], part("x"), part("y")].concat();
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(message, signature).is_ok()
            }
            Self::EdDsa => UnparsedPublicKey::new(&ED25519, part("x")).verify(message, signature).is_ok(),
        }
    }
}

/// The mail address that a token vouches for, in small letters.
pub(super) fn verified(token: &str, keys: &Json, expected: &Expected<'_>) -> Result<String, TokenFault> {
    if token.len() > LONGEST {
        return Err(TokenFault::Form);
    }
    let mut parts = token.split('.');
    let (Some(head), Some(body), Some(signature), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(TokenFault::Form);
    };
    let bytes = |part: &str| BASE64URL_NOPAD.decode(part.as_bytes()).map_err(|_| TokenFault::Form);
    let read = |part: &str| -> Result<Json, TokenFault> {
        serde_json::from_slice(&bytes(part)?).map_err(|_| TokenFault::Form)
    };
    let header = read(head)?;
    let way = SignedWith::of(text(&header, "alg")).ok_or(TokenFault::Algorithm)?;
    // Extensions that have to be understood are not.
    if !header["crit"].is_null() {
        return Err(TokenFault::Algorithm);
    }
    let all = keys["keys"].as_array().map(Vec::as_slice).unwrap_or_default();
    let named = |key: &&Json| header["kid"].is_null() || key["kid"] == header["kid"];
    let fitting: Vec<&Json> = all.iter().filter(named).filter(|key| way.fits(key)).collect();
    if fitting.is_empty() {
        return Err(TokenFault::UnknownKey);
    }
    let message = token.get(..head.len() + 1 + body.len()).ok_or(TokenFault::Form)?;
    let signature = bytes(signature)?;
    if !fitting.into_iter().any(|key| way.is_signed(key, message.as_bytes(), &signature)) {
        return Err(TokenFault::Signature);
    }
    said(&read(body)?, expected)
}

/// What the claims of a token come to, once it is known who signed them.
fn said(claims: &Json, expected: &Expected<'_>) -> Result<String, TokenFault> {
    if text(claims, "iss") != expected.issuer {
        return Err(TokenFault::Issuer);
    }
    let is_for_us = match &claims["aud"] {
        Json::String(one) => one == expected.client,
        // One that is for others too was given to us by who it was made for.
        Json::Array(all) => {
            all.iter().any(|one| one == expected.client)
                && (all.len() == 1 || text(claims, "azp") == expected.client)
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Object(_) => false,
    };
    if !is_for_us || !(claims["azp"].is_null() || text(claims, "azp") == expected.client) {
        return Err(TokenFault::Audience);
    }
    let now = expected.now.0 / 1000;
    let moment = |name: &str| claims[name].as_f64().filter(|at| *at >= 0.0);
    let expires = moment("exp").ok_or(TokenFault::Expired)?;
    if now as f64 >= expires + SKEW as f64 {
        return Err(TokenFault::Expired);
    }
    // Each token says when it was made; from when on it counts need not stand there.
    for name in ["iat", "nbf"] {
        if name == "nbf" && claims[name].is_null() {
            continue;
        }
        if moment(name).ok_or(TokenFault::Form)? > (now + SKEW) as f64 {
            return Err(TokenFault::FromTheFuture);
        }
    }
    if text(claims, "nonce") != expected.nonce || expected.nonce.is_empty() {
        return Err(TokenFault::Nonce);
    }
    let email = text(claims, "email");
    if email.is_empty() || !email.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(TokenFault::NoMail);
    }
    if claims["email_verified"] != true {
        return Err(TokenFault::MailNotVerified);
    }
    Ok(email.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use ring::rand::SystemRandom;
    use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _};
    use serde_json::json;

    use super::*;

    const NOW: u64 = 1_800_000_000;

    fn expected() -> Expected<'static> {
        Expected {
            issuer: "https://id.example",
            client: "checkrein",
            nonce: "n1",
            now: Timestamp(NOW * 1000),
        }
    }

    fn claims() -> Json {
        json!({
            "iss": "https://id.example", "aud": "checkrein", "exp": NOW + 300, "iat": NOW, "nonce": "n1",
            "sub": "1", "email": "Ada@Example.org", "email_verified": true,
        })
    }

    struct Issuer {
        pair: EcdsaKeyPair,
        random: SystemRandom,
    }

    impl Issuer {
        fn new() -> Self {
            let random = SystemRandom::new();
            let way = &ECDSA_P256_SHA256_FIXED_SIGNING;
            let document = EcdsaKeyPair::generate_pkcs8(way, &random).unwrap();
            Self { pair: EcdsaKeyPair::from_pkcs8(way, document.as_ref(), &random).unwrap(), random }
        }

        fn keys(&self) -> Json {
            let point = self.pair.public_key().as_ref();
            let part = |range: std::ops::Range<usize>| BASE64URL_NOPAD.encode(&point[range]);
            json!({ "keys": [{ "kty": "EC", "crv": "P-256", "kid": "k1", "x": part(1..33), "y": part(33..65) }] })
        }

        fn token(&self, header: &Json, claims: &Json) -> String {
            let part = |value: &Json| BASE64URL_NOPAD.encode(value.to_string().as_bytes());
            let message = format!("{}.{}", part(header), part(claims));
            let signature = self.pair.sign(&self.random, message.as_bytes()).unwrap();
            format!("{message}.{}", BASE64URL_NOPAD.encode(signature.as_ref()))
        }

        fn says(&self, claims: &Json) -> Result<String, TokenFault> {
            let token = self.token(&json!({ "alg": "ES256", "kid": "k1" }), claims);
            verified(&token, &self.keys(), &expected())
        }
    }

    fn with(name: &str, value: Json) -> Json {
        let mut claims = claims();
        claims[name] = value;
        claims
    }

    #[test]
    fn what_the_issuer_signed_for_this_login_counts() {
        let issuer = Issuer::new();
        assert_eq!(issuer.says(&claims()), Ok("ada@example.org".to_owned()));
        let several = json!(["other", "checkrein"]);
        let mut both = with("aud", several.clone());
        both["azp"] = json!("checkrein");
        assert_eq!(issuer.says(&both), Ok("ada@example.org".to_owned()));
        assert_eq!(issuer.says(&with("aud", json!(["checkrein"]))), Ok("ada@example.org".to_owned()));
        assert_eq!(issuer.says(&with("exp", json!(NOW - SKEW + 1))), Ok("ada@example.org".to_owned()));
    }

    #[test]
    fn each_claim_is_looked_at() {
        let issuer = Issuer::new();
        for (name, value, fault) in [
            ("iss", json!("https://id.example/"), TokenFault::Issuer),
            ("iss", Json::Null, TokenFault::Issuer),
            ("aud", json!("other"), TokenFault::Audience),
            ("aud", json!(["other", "checkrein"]), TokenFault::Audience),
            ("aud", json!([]), TokenFault::Audience),
            ("aud", Json::Null, TokenFault::Audience),
            ("azp", json!("other"), TokenFault::Audience),
            ("exp", json!(NOW - SKEW), TokenFault::Expired),
            ("exp", Json::Null, TokenFault::Expired),
            ("exp", json!("tomorrow"), TokenFault::Expired),
            ("iat", json!(NOW + SKEW + 1), TokenFault::FromTheFuture),
            ("iat", Json::Null, TokenFault::Form),
            ("iat", json!("today"), TokenFault::Form),
            ("nbf", json!(NOW + SKEW + 1), TokenFault::FromTheFuture),
            ("nbf", json!("tomorrow"), TokenFault::Form),
            ("nonce", json!("n2"), TokenFault::Nonce),
            ("nonce", Json::Null, TokenFault::Nonce),
            ("email", Json::Null, TokenFault::NoMail),
            ("email", json!("ada@example.org\n"), TokenFault::NoMail),
            ("email_verified", json!(false), TokenFault::MailNotVerified),
            ("email_verified", json!("true"), TokenFault::MailNotVerified),
            ("email_verified", Json::Null, TokenFault::MailNotVerified),
        ] {
            assert_eq!(issuer.says(&with(name, value.clone())), Err(fault), "{name}: {value}");
        }
    }

    #[test]
    fn nothing_but_a_key_of_the_issuer_signs() {
        let (issuer, other) = (Issuer::new(), Issuer::new());
        let judge = |token: &str| verified(token, &issuer.keys(), &expected());
        let header = json!({ "alg": "ES256", "kid": "k1" });
        assert_eq!(judge(&other.token(&header, &claims())), Err(TokenFault::Signature));
        assert_eq!(
            judge(&issuer.token(&json!({ "alg": "ES256", "kid": "k2" }), &claims())),
            Err(TokenFault::UnknownKey)
        );
        for header in [
            json!({ "alg": "none" }),
            json!({ "alg": "None", "kid": "k1" }),
            json!({ "alg": "HS256", "kid": "k1" }),
            json!({ "kid": "k1" }),
            json!({ "alg": "ES256", "kid": "k1", "crit": ["b64"], "b64": false }),
        ] {
            assert_eq!(judge(&issuer.token(&header, &claims())), Err(TokenFault::Algorithm), "{header}");
        }
        // A key of another sort than the token says, and one that is for something else.
        assert_eq!(
            judge(&issuer.token(&json!({ "alg": "RS256", "kid": "k1" }), &claims())),
            Err(TokenFault::UnknownKey)
        );
        let mut keys = issuer.keys();
        keys["keys"][0]["use"] = json!("enc");
        let token = issuer.token(&header, &claims());
        assert_eq!(verified(&token, &keys, &expected()), Err(TokenFault::UnknownKey));
        // Another body under the same signature, no signature, and what is no token.
        let (message, signature) = token.rsplit_once('.').unwrap();
        let head = message.split('.').next().unwrap();
        let body = BASE64URL_NOPAD.encode(with("email", json!("eve@example.org")).to_string().as_bytes());
        assert_eq!(judge(&format!("{head}.{body}.{signature}")), Err(TokenFault::Signature));
        assert_eq!(judge(&format!("{message}.")), Err(TokenFault::Signature));
        for broken in ["", "a", "a.b", "..", &format!("{token}.x"), &"a".repeat(LONGEST + 1)] {
            assert_eq!(judge(broken), Err(TokenFault::Form), "{broken}");
        }
    }

    #[test]
    fn keys_of_edwards_curves_count() {
        let random = SystemRandom::new();
        let document = Ed25519KeyPair::generate_pkcs8(&random).unwrap();
        let pair = Ed25519KeyPair::from_pkcs8(document.as_ref()).unwrap();
        let x = BASE64URL_NOPAD.encode(pair.public_key().as_ref());
        let keys = json!({ "keys": [{ "kty": "OKP", "crv": "Ed25519", "x": x }] });
        let part = |value: &Json| BASE64URL_NOPAD.encode(value.to_string().as_bytes());
        let message = format!("{}.{}", part(&json!({ "alg": "EdDSA" })), part(&claims()));
        let signature = BASE64URL_NOPAD.encode(pair.sign(message.as_bytes()).as_ref());
        assert_eq!(
            verified(&format!("{message}.{signature}"), &keys, &expected()),
            Ok("ada@example.org".to_owned())
        );
    }

    /// Made with OpenSSL: a key of 2048 bits, and what it signed.
    const MODULUS: &str = "tuv1xbbUFE5bQyerV8sa71ijPfJY-UlnOqK-Q19ynlBwaYazkap-doj0eaASQhKmYI0YrRUf-x6plj5L7Ty1DAPz7qhoG80nbdVJ\
         6MlOlrLviAdwf3PwqjctOVf7GU-1yfnewiMTLkjvkmGJu_gOGM8JwymvQTtVsAtgDhJKs7hVAbJ9qdfvwsZU1wbmsJMAGhNevwBn\
         El0UqOVVmwBMmGKixiYq8A7cz1UOj3JVcjhKZ9vJJMMvWeQPvM58WOw8KA1DP94p4mnBO5ewFLxC0fUBp-2DOhmf9WXZv-miQXmp\
         Daz3T09fRO6IxBPb3TGgObq57WfrYjtJrio-iQet9Q";
    const SIGNATURE: &str = "YjaIYDjKmAYKbq1gE6DvwJl-18mKyFnWijvHpSeDWuIHJNCrAI_HaTFDIUfI59mibIECe8xzzAFQ-ST5UcaeH-ZsrrCbo4Pwcx5H\
         nGDAvFPx8cz5St0x9AAwZff9_qLdTVw-ipU2UVnbDIGj5Y3uqhO8GVaivYInW1ls_PyyPc8ITwDky4oQpZgvgT8hDd3W16aopAGC\
         g6TDEHIJXeg1FhmQDQ66xJeAeYs3kqKj6FTKF4SA8N9UJqYQy_dePr0mucavu1KW1B-twpMmEe_3DUZChAUSCDld1ZXxdXyQ29_y\
         LLQhnyCWdCn1kaSpfeVcglPyBvPLAgfzJxC42ZEkBg";

    #[test]
    fn a_signature_of_rsa_counts() {
        let key = json!({ "kty": "RSA", "n": MODULUS, "e": "AQAB" });
        let signature = BASE64URL_NOPAD.decode(SIGNATURE.as_bytes()).unwrap();
        assert!(SignedWith::Rs256.fits(&key));
        assert!(SignedWith::Rs256.is_signed(&key, b"a message", &signature));
        assert!(!SignedWith::Rs256.is_signed(&key, b"a massage", &signature));
        assert!(!SignedWith::Rs256.is_signed(&json!({ "kty": "RSA" }), b"a message", &signature));
    }
}
