//! Options behind which stands a file that a program writes, although their names do not say so, and beside what the entry of the program says.
//!
//! What stands there is written anew or changed, so it is saved before, and a place of the guard is refused.

/// Programs with the options that name a file which they write. Sources: the manual pages of the programs, gcc(1), clang(1), logrotate(8),
/// node(1), coverage.readthedocs.io, valgrind(1), openssl-rand(1), openssl-s_client(1), gpg(1), minisign(1), signify(1), ffmpeg(1),
/// headless Chromium, sphinx-build(1), aria2c(1), yt-dlp(1), socat(1), tar(1), patch(1), sdiff(1), m4(1), bison(1), tidy(1), gawk(1),
/// cmake(1), "Bazel command-line reference", mvn(1), ant(1), nasm(1), tsc, esbuild, webpack, rollup, ab(1), masscan(8), grype, gitleaks,
/// journalctl(1), atop(1), gnome-screenshot(1), flameshot(1), espeak(1), xorriso(1), qemu(1), mkcert, keytool(1).
const WRITING: &[(&[&str], &[&str])] = &[
    (
        &["gcc", "g++", "cc", "c++", "clang", "clang++"],
        &["-MF", "-MJ", "-aux-info", "-serialize-diagnostics", "--serialize-diagnostics", "-fprofile-note"],
    ),
    (&["logrotate"], &["-s", "--state", "-l", "--log"]),
    (&["coverage", "coverage3"], &["--data-file"]),
    (&["valgrind"], &["--xml-file", "--log-file"]),
    (&["openssl"], &["-writerand", "-keylogfile", "-msgfile"]),
    (&["gpg", "gpg2", "gpgsm"], &["--status-file", "--logger-file", "--attribute-file"]),
    (&["minisign", "signify", "signify-openbsd"], &["-x"]),
    (&["ffmpeg"], &["-progress", "-vstats_file"]),
    (
        &["chromium", "chromium-browser", "chrome", "google-chrome", "google-chrome-stable"],
        &["--print-to-pdf", "--screenshot", "--log-net-log"],
    ),
    (&["sphinx-build"], &["-w", "--warning-file"]),
    (&["aria2c"], &["-l", "--log"]),
    (&["yt-dlp", "youtube-dl"], &["--cookies"]),
    (&["socat"], &["-r", "-R", "-lf"]),
    (&["tar", "gtar", "bsdtar"], &["-g", "--listed-incremental"]),
    (&["patch", "gpatch"], &["-r", "--reject-file"]),
    (&["sdiff"], &["-o", "--output"]),
    (&["m4", "gm4"], &["--debugfile", "--error-output"]),
    (&["bison"], &["--defines", "--header", "--graph", "--html", "--xml", "--report-file"]),
    (&["tidy"], &["-f", "--file"]),
    (&["gawk", "awk"], &["--dump-variables", "--pretty-print", "--profile"]),
    (&["cmake"], &["--graphviz"]),
    (
        &["bazel", "bazelisk"],
        &["--build_event_json_file", "--build_event_binary_file", "--build_event_text_file", "--explain"],
    ),
    (&["mvn", "mvnd", "mvnw", "ant"], &["-l"]),
    (&["nasm", "yasm"], &["-l"]),
    (&["tsc"], &["--tsBuildInfoFile"]),
    (&["esbuild"], &["--metafile"]),
    (&["webpack"], &["--json"]),
    (&["rollup"], &["--file"]),
    (&["ab"], &["-g", "-e"]),
    (&["masscan"], &["-oJ", "-oX", "-oG", "-oL", "-oB", "-oD", "-oU"]),
    (&["grype"], &["--file"]),
    (&["gitleaks"], &["-r", "--report-path"]),
    (&["journalctl"], &["--cursor-file"]),
    (&["atop"], &["-w"]),
    (&["gnome-screenshot"], &["-f", "--file"]),
    (&["flameshot"], &["-p", "--path"]),
    (&["espeak", "espeak-ng"], &["-w"]),
    (&["xorriso"], &["-outdev", "-dev"]),
    (&["qemu-system-x86_64", "qemu-system-aarch64", "qemu-system-arm", "qemu-system-riscv64"], &["-D"]),
    (&["mkcert"], &["-cert-file", "-key-file", "-p12-file"]),
];

/// Options whose value may stand right behind them.
const ATTACHED: &[&str] = &["-MF", "-MJ"];

/// The file that a word of a call names as one which the program writes; `next` is the word behind it.
pub(super) fn file_written<'w>(program: &str, word: &'w str, next: Option<&'w str>) -> Option<&'w str> {
    let (_, options) = WRITING.iter().find(|(programs, _)| programs.contains(&program))?;
    if options.contains(&word) {
        return next.filter(|next| !next.starts_with('-'));
    }
    if let Some((name, value)) = word.split_once('=')
        && options.contains(&name)
    {
        return Some(value);
    }
    let attached = |option: &&&str| options.contains(option);
    ATTACHED.iter().filter(attached).find_map(|option| word.strip_prefix(option))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_behind_options_in_three_ways() {
        assert_eq!(file_written("gcc", "-MF", Some("a.d")), Some("a.d"));
        assert_eq!(file_written("gcc", "-MFa.d", None), Some("a.d"));
        assert_eq!(file_written("gpg", "--status-file=x", Some("y")), Some("x"));
        assert_eq!(file_written("gpg", "--status-fd", Some("2")), None);
        assert_eq!(file_written("ls", "-w", Some("80")), None);
        assert_eq!(file_written("tar", "-g", Some("--verbose")), None);
    }
}
