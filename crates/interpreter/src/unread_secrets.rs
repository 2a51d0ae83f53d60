//! Secrets that a program gets by name of which nothing says what it does with the files that it is given.
//!
//! Nearly every program that reads a file shows something of it: what it makes of it, or the line that it does not understand. So such a
//! file is taken for shown, as possible, unless the catalogue says that the program shows nothing. What stands behind an option is mostly
//! used as what it is, a key or a configuration, and is not looked at here.

use super::call::Call;
use super::exit::Output;
use super::file_operations::Interest;
use super::machine::Machine;
use super::value::Value;

/// Programs that take further arguments out of a file that is named so, and complain of those that they do not know (GNU binutils 2.40 and
/// GCC 12, "Options that take a file"; `javac`, `java`, `rustc`, `clang` by their manuals).
const RESPONSE_FILES: &[&str] = &[
    "gcc",
    "g++",
    "cc",
    "c++",
    "cpp",
    "clang",
    "clang++",
    "ld",
    "gold",
    "lld",
    "ar",
    "as",
    "nm",
    "objcopy",
    "objdump",
    "ranlib",
    "readelf",
    "size",
    "strings",
    "strip",
    "addr2line",
    "elfedit",
    "javac",
    "java",
    "javadoc",
    "rustc",
    "rustdoc",
    "dotnet",
    "csc",
];
/// Options behind which a file stands whose lines a program goes through, naming those that it cannot use (iproute2 6.1, net-tools 2.10, BIND
/// 9.18, OpenSSH 9.2, file 5.44, mtr 0.95, fping 5.1, nmap 7.93, aria2 1.36).
const LISTS: &[(&[&str], &[&str])] = &[
    (&["ip", "bridge", "tc"], &["-b", "-batch", "--batch"]),
    (&["ss"], &["-F", "--filter"]),
    (&["arp", "ethers"], &["-f", "--file"]),
    (&["dig", "mdig", "delv", "ssh-keyscan", "file", "fping"], &["-f"]),
    (&["file"], &["--files-from"]),
    (&["fping"], &["--file"]),
    (&["mtr"], &["-F", "--filename"]),
    (&["nmap", "masscan"], &["-iL"]),
    (&["aria2c"], &["-i", "--input-file"]),
];
/// Parts of the names of options whose values are used as what they are (ours).
const USES: &[&str] = &[
    "key", "cert", "cred", "auth", "ident", "secret", "token", "pass", "conf", "env", "pem", "ca-", "cacert",
    "kube", "netrc", "defaults", "account", "profile",
];
/// What may stand in front of the name of a file (cURL, HTTPie and others; URLs of this machine).
const IN_FRONT: &[&str] = &["@", "file://localhost", "file://", "file:"];

/// Whether the file behind an option is used as what it is, a key or the program's own settings, by the name of the option.
pub fn is_used_as_it_is(option: &str) -> bool {
    USES.iter().any(|part| option.contains(part))
}

impl Machine<'_> {
    /// Reads a file as possible when it is a secret that an operand names; answers what is read of it.
    pub fn note_unread_secret(&mut self, operand: &Value) -> Output {
        if self.budget.guessing || self.away.is_some() {
            return Output::Nothing;
        }
        let file = match operand.as_exact() {
            Some(text) => {
                let bare = IN_FRONT.iter().find_map(|front| text.strip_prefix(front));
                bare.map_or_else(|| operand.clone(), Value::exact)
            }
            None => operand.clone(),
        };
        if !self.is_secret(&file) {
            return Output::Nothing;
        }
        self.possibly(|machine| machine.skim(&file))
    }

    /// As [`Machine::note_unread_secret`], for all operands of a program, which are among its words. The entry may lack an option whose value
    /// is taken for an operand then.
    pub fn note_unread_secrets(&mut self, words: &[Value], operands: &[Value]) -> Output {
        let is_use = |before: &Value| {
            let name = before.known_start();
            name.starts_with('-') && !name.contains('=') && is_used_as_it_is(&name)
        };
        let is_used = |operand: &Value| {
            words.windows(2).any(|pair| matches!(pair, [before, word] if word == operand && is_use(before)))
        };
        let shown: Vec<&Value> = operands.iter().filter(|operand| !is_used(operand)).collect();
        shown
            .into_iter()
            .fold(Output::Nothing, |read, operand| read.followed_by(self.note_unread_secret(operand)))
    }

    /// As [`Machine::note_unread_secret`], for all operands of a program that nothing is known of: words that are no options and follow none.
    pub(super) fn note_secrets_of_unknown(&mut self, words: &[Value]) -> Output {
        let mut read = Output::Nothing;
        let mut is_behind_option = false;
        for word in words {
            let is_option = word.known_start().starts_with('-');
            if !is_option && !is_behind_option {
                read = read.followed_by(self.note_unread_secret(word));
            }
            is_behind_option = is_option && !word.known_start().contains('=');
        }
        read
    }

    /// Reads the secrets that a call names as files of further arguments, or of lines that are gone through.
    pub(super) fn note_secrets_complained_of(&mut self, call: &Call) {
        let program = call.program.as_str();
        if RESPONSE_FILES.contains(&program) {
            for word in call.words.iter().filter(|word| word.known_start().starts_with('@')) {
                self.note_unread_secret(word);
            }
        }
        for (_, options) in LISTS.iter().filter(|(programs, _)| programs.contains(&program)) {
            for (word, next) in call.words.iter().zip(call.words.iter().skip(1).map(Some).chain([None])) {
                let Some(text) = word.as_exact() else { continue };
                if options.contains(&text) {
                    if let Some(file) = next {
                        self.note_unread_secret(file);
                    }
                    continue;
                }
                let attached = |option: &&str| {
                    let rest = text.strip_prefix(option)?;
                    let is_short = option.len() == 2 && !rest.starts_with('=');
                    if is_short { Some(rest) } else { rest.strip_prefix('=') }
                };
                if let Some(file) = options.iter().find_map(attached) {
                    self.note_unread_secret(&Value::exact(file));
                }
            }
        }
    }

    fn is_secret(&self, file: &Value) -> bool {
        matches!(self.look(file, Interest::Sort), Output::Secret(_))
    }
}
