//! Which options a lasting yes covers that its user did not see: those that say how much is done, what of it, and how it is shown.
//!
//! An option that is not listed may name a program, a file of settings, a server or a file to write, or switch off a check. Those that do are
//! too many to list, so each that is not known is a question of its own.
//!
//! Sources: the manuals of GNU make, coreutils, findutils, git 2.47, cargo, npm, pytest, Go, kubectl, docker, and of jest, vitest, mocha and
//! eslint.

/// Long options, folded, that mean the same to all programs that have them.
const LONG: &[&str] = &[
    "verbose",
    "quiet",
    "silent",
    "help",
    "version",
    "color",
    "colour",
    "colors",
    "nocolor",
    "stat",
    "shortstat",
    "numstat",
    "summary",
    "oneline",
    "graph",
    "decorate",
    "short",
    "long",
    "all",
    "nameonly",
    "namestatus",
    "porcelain",
    "patch",
    "cached",
    "staged",
    "since",
    "until",
    "after",
    "before",
    "author",
    "maxcount",
    "count",
    "limit",
    "reverse",
    "watch",
    "watchall",
    "nowatch",
    "jobs",
    "maxfail",
    "exitfirst",
    "failfast",
    "bail",
    "coverage",
    "ci",
    "runinband",
    "maxworkers",
    "workers",
    "numprocesses",
    "retries",
    "grep",
    "filter",
    "testnamepattern",
    "testpathpattern",
    "timeout",
    "testtimeout",
    "tb",
    "durations",
    "lf",
    "lastfailed",
    "ff",
    "failedfirst",
    "nocapture",
    "showoutput",
    "testthreads",
    "exact",
    "ignored",
    "includeignored",
    "release",
    "features",
    "allfeatures",
    "nodefaultfeatures",
    "workspace",
    "workspaces",
    "alltargets",
    "package",
    "bin",
    "bins",
    "lib",
    "example",
    "examples",
    "test",
    "tests",
    "bench",
    "doc",
    "locked",
    "offline",
    "frozen",
    "dryrun",
    "check",
    "tail",
    "head",
    "lines",
    "follow",
    "since",
    "timestamps",
    "selector",
    "allnamespaces",
    "ignorecase",
    "linenumber",
    "wordregexp",
    "keepgoing",
    "norun",
    "nofailfast",
    "maxwarnings",
    "list",
    "collectonly",
    "human",
    "humanreadable",
    "maxdepth",
];

/// Options of one program or subcommand: single letters, and names behind one hyphen.
const OF_PROGRAMS: &[(&[&str], &str, &[&str])] = &[
    (&["git", "log"], "spnwbiv", &[]),
    (&["git", "show"], "spwb", &[]),
    (&["git", "diff"], "spwb", &[]),
    (&["git", "status"], "sbuv", &[]),
    (&["git", "blame"], "wsel", &[]),
    (&["git", "branch"], "avr", &[]),
    (&["git", "grep"], "niwlc", &[]),
    (&["make"], "jknsBw", &[]),
    (&["npm"], "ws", &[]),
    (&["pnpm"], "w", &[]),
    (&["pytest"], "vqsxkmlnr", &[]),
    (&["cargo"], "vqpj", &[]),
    (&["ls"], "lahAtrSR1dFi", &[]),
    (&["grep"], "niwlcvEFHhABCrRoe", &[]),
    (&["rg"], "niwlcvFSABCe", &[]),
    (&["wc"], "lwcm", &[]),
    (&["mkdir"], "pv", &[]),
    (&["echo"], "neE", &[]),
    (&["sort"], "rnu", &[]),
    (&["diff"], "uwrqb", &[]),
    (&["head"], "nc", &[]),
    (&["tail"], "ncfF", &[]),
    (&["cat"], "nbsA", &[]),
    (&["du"], "hsdac", &[]),
    (&["df"], "hT", &[]),
    (&["ps"], "aefux", &[]),
    (&["kubectl", "get"], "Awl", &[]),
    (&["kubectl", "logs"], "flp", &[]),
    (&["docker", "ps"], "aqn", &[]),
    (&["docker", "logs"], "ftn", &[]),
    (
        &["find"],
        "",
        &[
            "name", "iname", "type", "size", "empty", "maxdepth", "mindepth", "mtime", "mmin", "newer",
            "print", "print0", "not", "o", "a", "prune",
        ],
    ),
    (
        &["go"],
        "v",
        &[
            "run", "count", "race", "short", "timeout", "bench", "benchmem", "cover", "failfast", "parallel",
            "v",
        ],
    ),
];

/// Long options, folded, that change how much is said and nothing else, in all programs that have them.
const LOOKS: &[&str] = &["verbose", "quiet", "silent", "color", "colour", "colors", "nocolor", "decorate"];

/// Single letters of the same, by the program. In others they mean other things: `npm publish -v` tells a version.
const LETTERS_OF_LOOKS: &[(&str, &str)] = &[
    ("git", "qv"),
    ("cargo", "qv"),
    ("npm", "s"),
    ("pnpm", "s"),
    ("yarn", "s"),
    ("pytest", "qv"),
    ("make", "s"),
    ("pip", "qv"),
    ("go", "v"),
];

/// Commands that show, whatever their harmless options are.
const SHOWING: &[&[&str]] = &[
    &["git", "log"],
    &["git", "show"],
    &["git", "diff"],
    &["git", "status"],
    &["git", "blame"],
    &["git", "grep"],
    &["ls"],
    &["grep"],
    &["rg"],
    &["kubectl", "get"],
    &["kubectl", "logs"],
    &["docker", "ps"],
    &["docker", "logs"],
];

/// Options that name what is run.
const NAMING: &[&str] =
    &["bin", "bins", "example", "examples", "package", "workspace", "workspaces", "p", "w", "ws"];

/// An option without hyphens, signs between its words and value.
fn folded(text: &str) -> String {
    let name = text.split('=').next().unwrap_or_default();
    name.chars().filter(|letter| *letter != '-').map(|letter| letter.to_ascii_lowercase()).collect()
}

/// The name of an option: without its value, and without the number behind a letter.
pub(super) fn name(option: &str) -> &str {
    let name = option.split('=').next().unwrap_or(option);
    if name.starts_with("--") { name } else { name.trim_end_matches(|letter: char| letter.is_ascii_digit()) }
}

/// Whether a command that begins with these words shows something and does nothing, whatever its harmless options are.
pub(super) fn shows(leading: &[String]) -> bool {
    SHOWING.iter().any(|words| {
        leading.len() >= words.len() && leading.iter().zip(*words).all(|(one, other)| one == other)
    })
}

/// Whether an option changes only what is said, so that a command without it does the same.
pub(super) fn is_of_looks(leading: &[String], option: &str) -> bool {
    if shows(leading) && is_harmless(leading, option) {
        return true;
    }
    if let Some(long) = option.strip_prefix("--") {
        return LOOKS.contains(&folded(long).as_str());
    }
    let program = leading.first().and_then(|word| word.rsplit('/').next()).unwrap_or_default();
    let letters =
        LETTERS_OF_LOOKS.iter().find(|(name, _)| *name == program).map_or("", |(_, letters)| *letters);
    option
        .strip_prefix('-')
        .is_some_and(|short| !short.is_empty() && short.chars().all(|letter| letters.contains(letter)))
}

/// Whether a yes to a command that begins with these words covers an option that its user did not see.
pub(super) fn is_harmless(leading: &[String], option: &str) -> bool {
    if option == "--" {
        return true;
    }
    // `cargo run --bin other` runs another program.
    if leading.iter().any(|word| word == "run") && NAMING.contains(&folded(option).as_str()) {
        return false;
    }
    if let Some(long) = option.strip_prefix("--") {
        return LONG.contains(&folded(long).as_str());
    }
    let Some(short) = option.strip_prefix('-').filter(|short| !short.is_empty()) else { return false };
    // `head -5`
    if short.bytes().all(|byte| byte.is_ascii_digit()) {
        return true;
    }
    let begins = |words: &[&str]| {
        let place = leading.iter().position(|word| word.rsplit('/').next() == words.first().copied());
        let rest = place.and_then(|place| leading.get(place..)).unwrap_or_default();
        rest.len() >= words.len()
            && rest.iter().skip(1).zip(words.iter().skip(1)).all(|(one, other)| one == other)
    };
    let Some((_, letters, names)) = OF_PROGRAMS.iter().find(|(words, ..)| begins(words)) else {
        return false;
    };
    // Behind the letters stands a number at most: `-j4`.
    let plain = short.trim_end_matches(|letter: char| letter.is_ascii_digit());
    names.contains(&folded(short).as_str())
        || !plain.is_empty() && plain.chars().all(|letter| letters.contains(letter))
        || letters.contains(short)
}

#[cfg(test)]
mod tests {
    use super::is_harmless;

    #[test]
    fn what_names_a_program_a_file_a_server_or_weakens_a_check_is_not_harmless() {
        let words = |text: &str| -> Vec<String> { text.split(' ').map(str::to_owned).collect() };
        for (leading, options) in [
            ("kubectl get pods", "--kubeconfig --kubeconfig=/tmp/x --server --context -s -n --as --token"),
            ("helm upgrade app", "--post-renderer --kube-context --set -f --atomic"),
            ("pytest tests", "-p -c -o -pevil --rootdir --import-mode --override-ini"),
            ("docker compose up", "--env-file -f --project-directory"),
            ("git commit", "--amend --no-verify -n -a --exec -c --author-x"),
            ("git rebase main", "--exec -x -i"),
            ("npm test", "--script-shell --userconfig --registry --prefix -C"),
            ("cargo test", "--config --target-dir --manifest-path -Z"),
            ("curl url", "-k --insecure --proxy -o -x --config -K"),
            ("make all", "-f -C -I -E --eval --file"),
            ("go test", "-exec -toolexec -o -ldflags -modfile -overlay -C"),
            ("find src", "-exec -delete -fprint -ok -execdir -"),
            ("cargo run", "--bin --example -p --package"),
            ("npm run build", "-w --workspace"),
        ] {
            for option in options.split(' ') {
                assert!(!is_harmless(&words(leading), option), "{leading} {option}");
            }
        }
        for (leading, options) in [
            ("kubectl get pods", "-w -A --selector --all-namespaces"),
            ("pytest tests", "-v -q -k -x -n4 --maxfail=1 --tb=short"),
            ("uv run pytest", "-q -k --lf"),
            ("git log", "--stat -p -5 -n5 --oneline --since=x"),
            ("npm test", "-- --watch -w --silent --coverage"),
            ("cargo test", "-p --release --features --no-fail-fast -j4"),
            ("make all", "-j8 -k --jobs=3"),
            ("go test", "-run -v -count=1 -race"),
            ("find src", "-name -type -maxdepth"),
            ("mkdir made", "-p -pv"),
        ] {
            for option in options.split(' ') {
                assert!(is_harmless(&words(leading), option), "{leading} {option}");
            }
        }
    }
}
