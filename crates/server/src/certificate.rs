//! The certificate of the server: made at the first start that needs one, kept, and made anew before it ends or when the server is to be
//! reached by other names. Nobody but us signs it, so people compare its fingerprint.

use std::fmt::Write as _;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use checkrein_engine::clock::Clock;
use checkrein_files::Forced;
use checkrein_protocol::Timestamp;
use rcgen::{CertificateParams, DnType, ExtendedKeyUsagePurpose, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use sha2::{Digest as _, Sha256};

/// How long a certificate counts, in days: browsers take none that counts longer than 398.
const DAYS: u64 = 397;
/// How long before its end it is made anew, in days (ours).
const EARLY: u64 = 30;
const DAY: u64 = 24 * 60 * 60 * 1000;
/// The longest file of a key or a certificate, in bytes (ours).
const LONGEST: u64 = 64 * 1024;

/// The SHA-256 digest of a certificate, as browsers show it: pairs of hexadecimal digits with colons between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fingerprint(String);

impl Fingerprint {
    fn of(certificate: &CertificateDer<'_>) -> Self {
        let pairs: Vec<String> =
            Sha256::digest(certificate).iter().map(|byte| format!("{byte:02X}")).collect();
        Self(pairs.join(":"))
    }

    /// One that is of no certificate.
    #[cfg(test)]
    pub(crate) fn for_tests() -> Self {
        Self(["AB"; 32].join(":"))
    }

    /// As browsers show it.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Without what is between the digits, as it stands in a link.
    pub(crate) fn in_link(&self) -> String {
        self.0.replace(':', "").to_ascii_lowercase()
    }
}

/// Where key and certificate lie, and for which names the certificate is.
#[derive(Debug)]
pub(crate) struct Certificates {
    folder: PathBuf,
    names: Vec<String>,
    clock: Arc<dyn Clock>,
    current: Mutex<Current>,
}

#[derive(Debug, Clone)]
struct Current {
    until: Timestamp,
    fingerprint: Fingerprint,
    config: Arc<ServerConfig>,
}

impl Certificates {
    /// The certificate in a folder, for these names. It is made where there is none, and where the one that is there is for others or ends soon.
    pub(crate) fn kept(folder: &Path, mut names: Vec<String>, clock: Arc<dyn Clock>) -> io::Result<Self> {
        names.sort();
        names.dedup();
        let current = Mutex::new(current(folder, &names, clock.now())?);
        Ok(Self { folder: folder.to_owned(), names, clock, current })
    }

    /// What a connection is greeted with. A server that runs for a year has a new certificate by then.
    pub(crate) fn config(&self) -> Arc<ServerConfig> {
        let now = self.clock.now();
        let mut kept = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if is_ending(kept.until, now) {
            // Where none can be made, the old one is as good as it gets.
            if let Ok(fresh) = current(&self.folder, &self.names, now) {
                *kept = fresh;
            }
        }
        Arc::clone(&kept.config)
    }

    /// The fingerprint of the certificate.
    pub(crate) fn fingerprint(&self) -> Fingerprint {
        self.current.lock().unwrap_or_else(PoisonError::into_inner).fingerprint.clone()
    }
}

fn is_ending(until: Timestamp, now: Timestamp) -> bool {
    now.0.saturating_add(EARLY * DAY) >= until.0
}

fn key_file(folder: &Path) -> PathBuf {
    folder.join("tls.key")
}

fn certificate_file(folder: &Path) -> PathBuf {
    folder.join("tls.crt")
}

fn current(folder: &Path, names: &[String], now: Timestamp) -> io::Result<Current> {
    if let Some(kept) = read(folder, names, now) {
        return Ok(kept);
    }
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let key = match checkrein_files::read_text(key_file(folder), LONGEST) {
        Ok(text) => KeyPair::from_pem(&text).ok(),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Err(error),
        Err(_) => None,
    };
    // The key stays, so that who trusts it goes on to.
    let key = if let Some(key) = key {
        key
    } else {
        let fresh = KeyPair::generate().map_err(io::Error::other)?;
        let pem = fresh.serialize_pem();
        checkrein_files::replace(&key_file(folder), pem.as_bytes(), 0o600, Forced::Name)?;
        fresh
    };
    let text = made(&key, names, now)?;
    checkrein_files::replace(&certificate_file(folder), text.as_bytes(), 0o600, Forced::Name)?;
    read(folder, names, now).ok_or_else(|| io::Error::other("the certificate that was made cannot be read"))
}

/// A certificate with what is asked of it later, in lines before it: who reads certificates passes over them.
fn made(key: &KeyPair, names: &[String], now: Timestamp) -> io::Result<String> {
    let mut asked = CertificateParams::new(names.to_vec()).map_err(io::Error::other)?;
    let day = |time: u64| -> io::Result<_> {
        let calendar = Timestamp(time).calendar();
        let year = i32::try_from(calendar.year).map_err(io::Error::other)?;
        let part = |number: u64| u8::try_from(number).map_err(io::Error::other);
        Ok(rcgen::date_time_ymd(year, part(calendar.month)?, part(calendar.day)?))
    };
    // Whole days, from the one before: clocks of phones differ.
    let until = (now.0 / DAY + DAYS - 1) * DAY;
    asked.not_before = day(now.0.saturating_sub(DAY))?;
    asked.not_after = day(until)?;
    asked.distinguished_name.push(DnType::CommonName, "checkrein");
    asked.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let certificate = asked.self_signed(key).map_err(io::Error::other)?;
    let mut text = String::new();
    let _ = writeln!(text, "until: {until}\nnames: {}", names.join(" "));
    text.push_str(&certificate.pem());
    Ok(text)
}

/// The key and the certificate that lie there, where they fit each other and these names, and the certificate does not end soon.
fn read(folder: &Path, names: &[String], now: Timestamp) -> Option<Current> {
    let text = checkrein_files::read_text(certificate_file(folder), LONGEST).ok()?;
    let said = |name: &str| text.lines().find_map(|line| line.strip_prefix(name));
    let until = Timestamp(said("until: ")?.parse().ok()?);
    if said("names: ")? != names.join(" ") || is_ending(until, now) {
        return None;
    }
    let certificate = CertificateDer::from_pem_slice(text.as_bytes()).ok()?;
    let key = checkrein_files::read(key_file(folder), LONGEST).ok()?;
    let key = PrivateKeyDer::from_pem_slice(&key).ok()?;
    let fingerprint = Fingerprint::of(&certificate);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .ok()?
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .ok()?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Some(Current { until, fingerprint, config: Arc::new(config) })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[derive(Debug)]
    struct At(std::sync::atomic::AtomicU64);

    impl Clock for At {
        fn now(&self) -> Timestamp {
            Timestamp(self.0.load(std::sync::atomic::Ordering::Relaxed))
        }
    }

    const BEGIN: u64 = 20_000 * DAY;

    #[test]
    fn it_is_kept_and_made_anew_before_it_ends_and_for_other_names() {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(At(BEGIN.into()));
        let kept = |names: &[&str]| {
            let names = names.iter().map(|name| (*name).to_owned()).collect();
            Certificates::kept(folder.path(), names, clock.clone()).unwrap()
        };
        let first = kept(&["192.168.1.5", "desk.example"]);
        for name in ["tls.key", "tls.crt"] {
            let facts = std::fs::metadata(folder.path().join(name)).unwrap();
            assert_eq!(facts.permissions().mode() & 0o777, 0o600, "{name}");
        }
        let key = std::fs::read(folder.path().join("tls.key")).unwrap();
        assert_eq!(first.fingerprint().as_str().len(), 32 * 3 - 1);
        assert_eq!(first.fingerprint().in_link().len(), 64);
        // The order of the names is nobody's business.
        assert_eq!(kept(&["desk.example", "192.168.1.5"]).fingerprint(), first.fingerprint());
        let other = kept(&["192.168.1.6"]);
        assert_ne!(other.fingerprint(), first.fingerprint());
        // While it runs, too.
        let before = other.config();
        clock.0.store(BEGIN + (DAYS - EARLY - 3) * DAY, std::sync::atomic::Ordering::Relaxed);
        assert!(Arc::ptr_eq(&before, &other.config()));
        let old = other.fingerprint();
        clock.0.store(BEGIN + (DAYS - EARLY) * DAY, std::sync::atomic::Ordering::Relaxed);
        assert!(!Arc::ptr_eq(&before, &other.config()));
        assert_ne!(old, other.fingerprint());
        assert_eq!(std::fs::read(folder.path().join("tls.key")).unwrap(), key, "the key stays");
        // What is not a key is replaced.
        std::fs::write(folder.path().join("tls.key"), "short").unwrap();
        assert_ne!(kept(&["192.168.1.6"]).fingerprint(), other.fingerprint());
    }
}
