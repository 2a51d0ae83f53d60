//! The exporters that are built in: syslog and a webhook, as the configuration names them.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::net::{TcpStream, ToSocketAddrs as _};
use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, UNIX_EPOCH};

use checkrein_engine::config_files::write_private;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_policy::Config;
use checkrein_protocol::{Record, RecordBody, Timestamp, VerdictKind};
use serde_json::{Value as Json, json};

use super::dead_letters::{self, AsideFor, Resent};
use crate::commands::notify::setting;

/// How long a connection may take, and each write (ours).
const PATIENCE: Duration = Duration::from_secs(5);
/// The longest message in one datagram, in bytes (ours): usual services take so much, and cut the rest.
const DATAGRAM: usize = 8 * 1024;
/// The facility `log audit` (RFC 5424, table 1).
const FACILITY: u8 = 13;
/// How often in a row a webhook may fail before its records are put aside (ours): by then some ten minutes have passed.
const TRIES: u32 = 8;

/// Where records go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Sink {
    /// To syslog, by a socket of this machine.
    LocalSyslog(PathBuf),
    /// To syslog, by TCP.
    RemoteSyslog(String),
    /// To a web server.
    Webhook(String),
    /// Nowhere: what is configured cannot be read.
    Unknown(String),
}

/// What became of some records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Delivery {
    /// They are where they belong.
    All,
    /// They are not wanted there, and stand aside.
    PutAside(String),
    /// It may go better later.
    Later(String),
}

/// The sinks of a configuration, each with its name.
pub(super) fn sinks(config: &Config) -> Vec<(&'static str, Sink)> {
    let syslog = config.audit.export.syslog.as_deref().map(|text| (SYSLOG, syslog(text)));
    let webhook = config.audit.export.webhook.as_deref().map(|text| (WEBHOOK, webhook(text)));
    syslog.into_iter().chain(webhook).collect()
}

/// The names under which they are listed and remembered; no plugin can be called so.
pub(super) const SYSLOG: &str = "checkrein.syslog";
pub(super) const WEBHOOK: &str = "checkrein.webhook";

fn syslog(text: &str) -> Sink {
    match text.split_once(':') {
        Some(("unix", path)) if path.starts_with('/') => Sink::LocalSyslog(PathBuf::from(path)),
        Some(("tcp", place))
            if place.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok()) =>
        {
            Sink::RemoteSyslog(place.to_owned())
        }
        _ => Sink::Unknown(format!(
            "`audit.export.syslog` is `{text}`, and not `unix:/PATH` or `tcp:HOST:PORT`"
        )),
    }
}

fn webhook(text: &str) -> Sink {
    let is_address = text.starts_with("https://") || text.starts_with("http://");
    if is_address && !text.chars().any(char::is_control) {
        Sink::Webhook(text.to_owned())
    } else {
        Sink::Unknown("`audit.export.webhook` is not an address".to_owned())
    }
}

impl Sink {
    /// Sends records of a session. `failed` is how often that failed in a row so far.
    pub(super) fn send(
        &self,
        environment: &HostEnvironment,
        session: &str,
        records: &[(Record, Json)],
        failed: u32,
    ) -> Delivery {
        let message = |(record, json): &(Record, Json)| message(session, record, json);
        match self {
            Self::Unknown(why) => Delivery::Later(why.clone()),
            Self::LocalSyslog(path) => {
                let send = || {
                    let socket = UnixDatagram::unbound()?;
                    socket.connect(path)?;
                    socket.set_write_timeout(Some(PATIENCE))?;
                    records.iter().try_for_each(|one| socket.send(short(session, one).as_bytes()).map(drop))
                };
                later(send(), &path.display().to_string())
            }
            Self::RemoteSyslog(place) => {
                let send = || {
                    let address = place
                        .to_socket_addrs()?
                        .next()
                        .ok_or_else(|| std::io::Error::other("it has no address"))?;
                    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
                    stream.set_write_timeout(Some(PATIENCE))?;
                    // Counted in octets (RFC 6587): a record holds line feeds only as they are escaped, and still none is relied on.
                    let mut all = String::new();
                    for one in records.iter().map(message) {
                        all.push_str(&one.len().to_string());
                        all.push(' ');
                        all.push_str(&one);
                    }
                    stream.write_all(all.as_bytes())?;
                    stream.flush()
                };
                later(send(), place)
            }
            Self::Webhook(address) => {
                let records_alone: Vec<&Json> = records.iter().map(|(_, json)| json).collect();
                let body = json!({ "session": session, "records": records_alone });
                let why = match post(environment, address, &body.to_string()) {
                    Ok(200..=299) => return Delivery::All,
                    Ok(status @ (408 | 425 | 429 | 500..=599)) => format!("the server answers {status}"),
                    Ok(status) => {
                        return put_aside(
                            environment,
                            session,
                            records,
                            (&format!("the server answers {status}"), AsideFor::Refusal),
                        );
                    }
                    Err(why) => why,
                };
                if failed + 1 >= TRIES {
                    return put_aside(environment, session, records, (&why, AsideFor::Silence));
                }
                Delivery::Later(why)
            }
        }
    }
}

/// Has a web server take what it did not take before; how many records it took.
///
/// # Errors
///
/// What stands aside cannot be read or written.
pub(super) fn send_again(
    environment: &HostEnvironment,
    address: &str,
    which: Resent,
) -> Result<usize, CommandError> {
    let post_all = |session: &str, records: &[Json]| {
        let body = json!({ "session": session, "records": records });
        matches!(post(environment, address, &body.to_string()), Ok(200..=299))
    };
    dead_letters::send_again(environment, which, post_all)
        .map_err(|error| CommandError::file("send again", dead_letters::path(environment).display(), &error))
}

/// Since when records go to a sink: since it was configured, as far as the time of the configuration tells when it is first met.
///
/// # Errors
///
/// It cannot be written down.
pub(super) fn wanted_since(environment: &HostEnvironment, name: &str) -> Result<Timestamp, CommandError> {
    let place = environment.state_path.join("plugins/sinks.json");
    let text = checkrein_files::read_text(place.as_str(), checkrein_files::SMALL).unwrap_or_default();
    let mut known: BTreeMap<String, Timestamp> = serde_json::from_str(&text).unwrap_or_default();
    if let Some(since) = known.get(name) {
        return Ok(*since);
    }
    let written = fs::metadata(environment.configuration.join("config.yaml").as_str())
        .and_then(|facts| facts.modified())
        .ok()
        .and_then(|at| at.duration_since(UNIX_EPOCH).ok())
        .and_then(|at| u64::try_from(at.as_millis()).ok());
    let since = written.map_or_else(|| environment.now(), Timestamp);
    known.insert(name.to_owned(), since);
    let text = serde_json::to_vec(&known)
        .map_err(|error| CommandError::user(error.to_string(), "report this as a defect"))?;
    write_private(&place, &text)?;
    Ok(since)
}

fn later(sent: std::io::Result<()>, place: &str) -> Delivery {
    match sent {
        Ok(()) => Delivery::All,
        Err(error) => Delivery::Later(format!("{place}: {error}")),
    }
}

/// A record as a message of RFC 5424; its text is the record.
fn message(session: &str, record: &Record, json: &Json) -> String {
    let priority = FACILITY * 8 + severity(&record.body);
    let at = record.at.calendar().to_rfc3339();
    let kind = json["body"]["type"].as_str().unwrap_or("record");
    let host = rustix::system::uname();
    let host = host.nodename().to_str().ok().filter(|host| !host.is_empty()).unwrap_or("-");
    let process = std::process::id();
    // 32473 is the number for examples (RFC 5612): there is none for us.
    let data = format!("[record@32473 session=\"{}\" seq=\"{}\"]", escaped(session), record.seq);
    format!("<{priority}>1 {at} {} checkrein {process} {} {data} {json}", word(host, 255), word(kind, 32))
}

/// The same for a datagram: a record that is too long for one is named by its hash.
fn short(session: &str, (record, json): &(Record, Json)) -> String {
    let whole = message(session, record, json);
    if whole.len() <= DATAGRAM {
        return whole;
    }
    message(session, record, &named(record, json))
}

/// A record without its words, which its hash tells from all others.
fn named(record: &Record, json: &Json) -> Json {
    json!({
        "seq": record.seq,
        "body": { "type": json["body"]["type"] },
        "hash": record.hash,
        "cut": true,
    })
}

/// How grave a record is (RFC 5424, table 2).
fn severity(body: &RecordBody) -> u8 {
    const ALERT: u8 = 1;
    const ERROR: u8 = 3;
    const WARNING: u8 = 4;
    const NOTICE: u8 = 5;
    const INFORMATIONAL: u8 = 6;
    match body {
        RecordBody::Review(review) => match review.verdict {
            VerdictKind::Ok => INFORMATIONAL,
            VerdictKind::Nudge => NOTICE,
            VerdictKind::Escalate | VerdictKind::Block => WARNING,
            VerdictKind::Halt => ALERT,
        },
        RecordBody::Halted { .. } => ALERT,
        RecordBody::Failure { .. } | RecordBody::Repaired { .. } => ERROR,
        RecordBody::Unreviewed(_) | RecordBody::Unanswered(_) => WARNING,
        RecordBody::Issue(_) | RecordBody::Intervention(_) | RecordBody::Rollback(_) => NOTICE,
        _ => INFORMATIONAL,
    }
}

/// A value of structured data (RFC 5424, 6.3.3).
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace(']', "\\]")
}

/// A word of the head: printable ASCII.
fn word(text: &str, longest: usize) -> String {
    text.chars().filter(char::is_ascii_graphic).take(longest).collect()
}

/// Posts a body; the status of the answer. `curl` sends it, as it sends notices.
fn post(environment: &HostEnvironment, address: &str, body: &str) -> Result<u16, String> {
    let place = environment.state_path.join(&format!("plugins/outgoing-{}.json", std::process::id()));
    write_private(&place, body.as_bytes()).map_err(|error| error.message)?;
    let settings = [
        setting("url", address),
        setting("header", "Content-Type: application/json"),
        setting("header", "Expect:"),
        setting("data-binary", &format!("@{place}")),
    ];
    let asked = curl(&settings.join("\n"));
    drop(fs::remove_file(place.as_str()));
    asked
}

fn curl(settings: &str) -> Result<u16, String> {
    let mut child = Command::new("curl")
        .args(["--disable", "--silent", "--show-error", "--max-time", "15", "--proto", "=http,https"])
        .args(["--output", "/dev/null", "--write-out", "%{http_code}", "--config", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("`curl` cannot be started: {error}"))?;
    if let Some(mut input) = child.stdin.take() {
        // Who does not read it says so by its end.
        drop(input.write_all(settings.as_bytes()));
    }
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    let status = String::from_utf8_lossy(&output.stdout).trim().parse::<u16>().unwrap_or(0);
    if status == 0 {
        let why = String::from_utf8_lossy(&output.stderr);
        return Err(checkrein_engine::text::one_line(why.trim(), 200));
    }
    Ok(status)
}

fn put_aside(
    environment: &HostEnvironment,
    session: &str,
    records: &[(Record, Json)],
    (why, aside_for): (&str, AsideFor),
) -> Delivery {
    let path = dead_letters::path(environment);
    match dead_letters::put_aside(environment, session, records, (why, aside_for)) {
        Ok(()) => Delivery::PutAside(format!("{why}; its records stand in `{}`", path.display())),
        Err(error) => Delivery::Later(format!("{why}; and `{}` cannot be written: {error}", path.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use checkrein_protocol::{RecordHash, Timestamp};

    fn record(text: &str) -> (Record, Json) {
        let body = RecordBody::Prompt { text: text.to_owned() };
        let hash = RecordHash("ab".to_owned());
        let record = Record { seq: 7, prev: hash.clone(), at: Timestamp(1_700_000_000_000), body, hash };
        let json = serde_json::to_value(&record).unwrap();
        (record, json)
    }

    #[test]
    fn a_message_has_the_form_of_the_standard() {
        let (one, json) = record("line\nfeed");
        let text = message("a\"b]c", &one, &json);
        // <PRI>VERSION TIMESTAMP HOSTNAME APP-NAME PROCID MSGID STRUCTURED-DATA MSG
        let words: Vec<&str> = text.splitn(7, ' ').collect();
        assert_eq!(words[0], "<110>1");
        assert_eq!(words[1], "2023-11-14T22:13:20Z");
        assert_eq!(words[3], "checkrein");
        assert_eq!(words[5], "prompt");
        let (data, rest) = words[6].split_once("] ").unwrap();
        assert_eq!(data, "[record@32473 session=\"a\\\"b\\]c\" seq=\"7\"");
        assert_eq!(serde_json::from_str::<Json>(rest).unwrap(), json);
        assert!(!text.contains('\n'));
    }

    #[test]
    fn what_is_too_long_for_a_datagram_is_named_by_its_hash() {
        let text = short("s", &record(&"x".repeat(DATAGRAM)));
        assert!(
            text.len() < 400 && text.contains("\"hash\":\"ab\"") && text.contains("\"cut\":true"),
            "{text}"
        );
        assert!(!short("s", &record("x")).contains("\"cut\""));
    }

    #[test]
    fn sinks_are_read_as_they_are_written() {
        assert_eq!(syslog("unix:/dev/log"), Sink::LocalSyslog("/dev/log".into()));
        assert_eq!(
            syslog("tcp:logs.example.com:6514"),
            Sink::RemoteSyslog("logs.example.com:6514".to_owned())
        );
        for wrong in ["", "/dev/log", "unix:dev/log", "tcp:host", "tcp:host:http", "udp:host:514"] {
            assert!(matches!(syslog(wrong), Sink::Unknown(_)), "{wrong}");
        }
        assert!(matches!(webhook("ftp://example.com"), Sink::Unknown(_)));
        assert!(matches!(webhook("https://example.com/\nx"), Sink::Unknown(_)));
    }
}
