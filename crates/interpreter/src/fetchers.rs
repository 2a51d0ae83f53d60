//! Programs that fetch files from elsewhere, and programs that make files of others.
//!
//! Where they write is told by their effects; here it is said which of them fetch, and from where.
//!
//! Sources: the manuals of gh 2 and glab 1.5x (`repo clone`, `release download`), Mercurial 6 (`hg help clone`), Subversion 1.14, Breezy 3, Fossil 2,
//! Darcs 2, CVS 1.12, Jujutsu 0.2x, degit 2, tiged 2, giget 1; rsync(1), scp(1), sftp(1), lftp(1); `aws s3 help` and `aws s3api get-object help`, s3cmd(1), s5cmd,
//! gsutil and `gcloud storage`, rclone(1), azcopy, mc, b2; `docker cp`, `podman cp`, `kubectl cp`, `lxc file pull`, `adb pull`, `multipass transfer`; curl(1),
//! wget(1), aria2c(1), axel(1), HTTPie, xh; GCC 14, Clang, rustc, go, javac, tsc, esbuild, gzip(1), xz(1), zstd(1), patchelf(1), strip(1).

use super::call::Call;
use super::value::Value;

/// A program that fetches files.
pub(crate) struct Fetcher {
    programs: &'static [&'static str],
    /// The words of which one series stands among those that are no options; without any, every call fetches.
    calls: &'static [&'static str],
    from: From,
}

/// From where a call fetches.
enum From {
    /// From what a word names that is an address, or a place on another machine (`host:path`), which is said as an address with this scheme.
    Place(&'static str),
    /// From what the word behind the series names, below this address. A name without an owner is one of the user's own.
    Name(&'static str),
    /// From what one of these options names, below this address.
    Option(&'static [&'static str], &'static str),
    /// From there, or from the host that the call talks to.
    Always(&'static str),
}

const fn fetcher(programs: &'static [&'static str], calls: &'static [&'static str], from: From) -> Fetcher {
    Fetcher { programs, calls, from }
}

pub(crate) const FETCHERS: &[Fetcher] = &[
    fetcher(&["gh"], &["repo clone", "repo fork", "gist clone"], From::Name("https://github.com/")),
    fetcher(
        &["gh"],
        &["release download", "run download"],
        From::Option(&["-R", "--repo"], "https://github.com/"),
    ),
    fetcher(&["glab"], &["repo clone", "repo fork"], From::Name("https://gitlab.com/")),
    fetcher(
        &["glab"],
        &["release download", "job artifact"],
        From::Option(&["-R", "--repo"], "https://gitlab.com/"),
    ),
    fetcher(&["hub"], &["clone"], From::Name("https://github.com/")),
    fetcher(&["degit", "tiged", "giget", "gitpick"], &[], From::Name("https://github.com/")),
    fetcher(&["hg", "chg", "sl"], &["clone", "pull"], From::Place("https://")),
    fetcher(&["svn"], &["checkout", "co", "export", "switch", "sw"], From::Place("svn+ssh://")),
    fetcher(
        &["bzr", "brz"],
        &["branch", "checkout", "co", "get", "clone", "export", "pull"],
        From::Place("https://"),
    ),
    fetcher(&["fossil"], &["clone", "open"], From::Place("https://")),
    fetcher(&["darcs"], &["clone", "get", "pull"], From::Place("https://")),
    fetcher(&["jj"], &["git clone"], From::Place("https://")),
    fetcher(&["got", "pijul"], &["clone"], From::Place("https://")),
    fetcher(&["cvs"], &["checkout", "co", "export", "get"], From::Always("cvs://")),
    fetcher(&["p4"], &["clone", "sync"], From::Always("p4://")),
    fetcher(&["rsync", "scp", "sftp", "rcp", "pscp", "psftp"], &[], From::Place("ssh://")),
    fetcher(&["lftp", "lftpget", "ncftpget"], &[], From::Always("ftp://")),
    fetcher(
        &["aws", "awslocal", "aws2"],
        &["s3 cp", "s3 mv", "s3 sync", "s3api get-object"],
        From::Always("s3://"),
    ),
    fetcher(&["s3cmd"], &["get", "sync"], From::Always("s3://")),
    fetcher(&["s5cmd", "s4cmd"], &["cp", "get", "sync", "mv", "dsync"], From::Always("s3://")),
    fetcher(&["gsutil"], &["cp", "mv", "rsync"], From::Always("gs://")),
    fetcher(&["gcloud"], &["storage cp", "storage mv", "storage rsync"], From::Always("gs://")),
    fetcher(&["gcloud"], &["compute scp"], From::Place("ssh://")),
    fetcher(
        &["az"],
        &[
            "storage blob download",
            "storage blob download-batch",
            "storage file download",
            "storage file download-batch",
            "storage copy",
        ],
        From::Always("az://"),
    ),
    fetcher(&["azcopy"], &["copy", "cp", "sync"], From::Place("https://")),
    fetcher(&["rclone"], &["copy", "copyto", "copyurl", "sync", "move", "moveto"], From::Place("rclone://")),
    fetcher(&["mc", "mcli"], &["cp", "mirror", "get", "mv"], From::Always("s3://")),
    fetcher(
        &["b2"],
        &["download-file-by-name", "download-file-by-id", "sync", "file download"],
        From::Always("b2://"),
    ),
    fetcher(
        &["docker", "podman", "nerdctl"],
        &["cp", "container cp", "compose cp"],
        From::Place("docker://"),
    ),
    fetcher(&["docker-compose", "podman-compose"], &["cp"], From::Place("docker://")),
    fetcher(&["kubectl", "oc", "k3s"], &["cp", "rsync"], From::Place("kubectl://")),
    fetcher(&["lxc", "incus"], &["file pull"], From::Always("lxc://")),
    fetcher(&["multipass"], &["transfer"], From::Place("ssh://")),
    fetcher(&["adb"], &["pull"], From::Always("adb://")),
    fetcher(
        &["curl", "curlie", "wget", "wget2", "aria2c", "axel", "http", "https", "xh", "httrack"],
        &[],
        From::Place("https://"),
    ),
    fetcher(&["yt-dlp", "gdown"], &[], From::Place("https://")),
];

/// Programs of which the output is what they are given, in another form.
const MAKERS: &[(&[&str], &[&str])] = &[
    (
        &[
            "gcc", "g++", "cc", "c++", "clang", "clang++", "tcc", "gfortran", "rustc", "ld", "as", "ldc2",
            "dmd", "ghc",
        ],
        &[],
    ),
    (
        &["javac", "kotlinc", "scalac", "tsc", "esbuild", "swc", "babel", "cython", "nuitka", "pyinstaller"],
        &[],
    ),
    (&["go", "zig", "nim", "crystal", "odin", "v"], &["build", "build-exe", "c", "compile"]),
    (
        &[
            "gzip",
            "gunzip",
            "xz",
            "unxz",
            "bzip2",
            "bunzip2",
            "zstd",
            "unzstd",
            "lz4",
            "brotli",
            "uncompress",
        ],
        &[],
    ),
    // Where nothing among their words is elsewhere, they copy.
    (&["rsync", "rclone", "ditto", "robocopy", "xcopy"], &[]),
    (&["strip", "objcopy", "patchelf", "upx", "dos2unix", "iconv"], &[]),
];

/// Whether a program makes what it writes of the files among its words.
pub(crate) fn makes_of_words(call: &Call) -> bool {
    MAKERS
        .iter()
        .any(|(programs, calls)| programs.contains(&call.program.as_str()) && has_series(call, calls))
}

/// Whether what a program fetches is a directory.
pub(crate) fn brings_trees(call: &Call) -> bool {
    let is_copy = |fetcher: &&Fetcher| matches!(fetcher.from, From::Name(_)) && fetcher.fits(call);
    FETCHERS.iter().any(|fetcher| is_copy(&fetcher))
}

/// Whether what a program fetches may be a directory where its words could mean a file too.
pub(crate) fn may_bring_trees(call: &Call) -> bool {
    let from = FETCHERS.iter().find(|fetcher| fetcher.fits(call)).map(|fetcher| &fetcher.from);
    match from {
        Some(From::Place(scheme)) => *scheme != "https://" || call.program == "azcopy",
        Some(From::Always(_)) => true,
        Some(From::Name(_) | From::Option(..)) | None => false,
    }
}

/// Whether a call makes an environment of Python, with files that shells read (venv, "Creating virtual environments"; virtualenv; `uv venv`).
pub(crate) fn makes_environment(call: &Call) -> bool {
    match call.program.as_str() {
        "virtualenv" => true,
        "uv" => has_series(call, &["venv"]),
        program => program.starts_with("python") && has_series(call, &["venv", "virtualenv"]),
    }
}

impl Fetcher {
    /// Whether a call is one that fetches.
    pub(crate) fn fits(&self, call: &Call) -> bool {
        self.programs.contains(&call.program.as_str()) && has_series(call, self.calls)
    }

    /// The address from which it fetches; `host` says whom the call talks to. `None` where it fetches from nowhere else.
    pub(crate) fn address(&self, call: &Call, host: impl FnOnce() -> Option<String>) -> Option<String> {
        let words = || call.words.iter().filter_map(Value::as_exact);
        match &self.from {
            From::Place(scheme) => words().find_map(|word| place_elsewhere(word, scheme)),
            From::Name(start) => {
                let behind = self.series(call).map_or(0, |series| series.split(' ').count());
                let name = words().filter(|word| !word.starts_with('-')).nth(behind)?;
                if name.contains("://") || name.starts_with("git@") {
                    return Some(name.to_owned());
                }
                let name = name.rsplit_once(':').map_or(name, |(_, name)| name);
                name.contains('/').then(|| format!("{start}{name}"))
            }
            From::Option(options, start) => {
                let at = words().position(|word| options.contains(&word))?;
                let name = words().nth(at + 1)?;
                Some(format!("{start}{name}"))
            }
            From::Always(scheme) => {
                let named = words().find(|word| word.starts_with(scheme)).map(str::to_owned);
                named
                    .or_else(|| host().map(|host| format!("{scheme}{host}")))
                    .or_else(|| Some((*scheme).to_owned()))
            }
        }
    }

    fn series(&self, call: &Call) -> Option<&'static str> {
        self.calls.iter().copied().find(|series| stands_in(call, series))
    }
}

/// Whether one of these series of words stands among those of a call; none at all is met by every call.
pub fn has_series(call: &Call, all: &[&str]) -> bool {
    all.is_empty() || all.iter().any(|series| stands_in(call, series))
}

/// Whether the words of a series stand in a call in their order, with options between them.
fn stands_in(call: &Call, series: &str) -> bool {
    let mut plain = call.words.iter().filter_map(Value::as_exact).filter(|word| !word.starts_with('-'));
    series.split(' ').all(|wanted| plain.any(|word| word == wanted))
}

/// What a word says of a place elsewhere: an address, `user@host:path`, `host:path`, `name:path`.
fn place_elsewhere(word: &str, scheme: &str) -> Option<String> {
    if word.starts_with('-') || word.starts_with('/') || word.starts_with('.') {
        return None;
    }
    if word.contains("://") {
        return (!word.starts_with("file:")).then(|| word.to_owned());
    }
    let (host, path) = word.split_once(':')?;
    let is_drive = host.len() == 1;
    (!host.contains('/') && !host.is_empty() && !is_drive)
        .then(|| format!("{scheme}{host}/{}", path.trim_start_matches('/')))
}
