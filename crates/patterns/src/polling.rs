//! Polls: commands that ask how something that changes by itself is getting on, so that equal answers are to be expected.
//!
//! One program may ask and act: `docker ps` looks at what runs, `docker build` is a try like any other. The subcommands that only ask are
//! those of the references of the programs.

/// Programs that only tell how something that runs is getting on, whatever they are called with.
const ASK_ALWAYS: [&str; 23] = [
    "ps",
    "pgrep",
    "top",
    "ss",
    "netstat",
    "lsof",
    "journalctl",
    "squeue",
    "sacct",
    "qstat",
    "nvidia-smi",
    "nc",
    "ncat",
    "pg_isready",
    "ping",
    "ping6",
    "dig",
    "host",
    "nslookup",
    "getent",
    "pidof",
    "tasklist",
    "loginctl",
];

/// Subcommands that ask, where a program has others too. The second word is named where the first is a group; empty means any.
type Asking = (&'static str, &'static [&'static str]);

/// Of the command line of Docker, which Podman follows.
const CONTAINERS: &[Asking] = &[
    ("ps", &[]),
    ("logs", &[]),
    ("inspect", &[]),
    ("stats", &[]),
    ("top", &[]),
    ("events", &[]),
    ("wait", &[]),
    ("port", &[]),
    ("info", &[]),
    ("version", &[]),
    ("images", &[]),
    ("history", &[]),
    ("diff", &[]),
    ("search", &[]),
    ("container", &["ls", "list", "ps", "inspect", "logs", "stats", "top", "port", "wait", "diff"]),
    ("compose", &["ps", "ls", "logs", "top", "events", "images", "port", "wait", "stats", "version"]),
    ("image", &["ls", "list", "inspect", "history"]),
    ("network", &["ls", "list", "inspect"]),
    ("volume", &["ls", "list", "inspect"]),
    ("node", &["ls", "list", "ps", "inspect"]),
    ("service", &["ls", "list", "ps", "inspect", "logs"]),
    ("stack", &["ls", "list", "ps", "services"]),
    ("system", &["df", "events", "info"]),
    ("pod", &["ps", "ls", "list", "inspect", "logs", "stats", "top"]),
    ("healthcheck", &["run"]),
    ("buildx", &["ls", "inspect", "du"]),
];

/// Of `kubectl`.
const CLUSTER: &[Asking] = &[
    ("get", &[]),
    ("describe", &[]),
    ("logs", &[]),
    ("top", &[]),
    ("wait", &[]),
    ("events", &[]),
    ("version", &[]),
    ("cluster-info", &[]),
    ("api-resources", &[]),
    ("api-versions", &[]),
    ("explain", &[]),
    ("rollout", &["status", "history"]),
    ("auth", &["can-i", "whoami"]),
];

/// Of `systemctl`.
const SERVICES: &[Asking] = &[
    ("status", &[]),
    ("show", &[]),
    ("is-active", &[]),
    ("is-failed", &[]),
    ("is-enabled", &[]),
    ("is-system-running", &[]),
    ("list-units", &[]),
    ("list-unit-files", &[]),
    ("list-sockets", &[]),
    ("list-timers", &[]),
    ("list-jobs", &[]),
    ("list-dependencies", &[]),
];

/// Of `gh` and `glab`.
const FORGES: &[Asking] = &[
    ("run", &["view", "watch", "list", "ls"]),
    ("pr", &["view", "list", "ls", "checks", "status", "diff"]),
    ("mr", &["view", "list", "ls", "diff", "issues"]),
    ("ci", &["view", "status", "list", "ls", "get", "trace"]),
    ("pipeline", &["view", "status", "list", "ls", "get", "trace"]),
    ("job", &["view", "list", "ls", "trace"]),
    ("issue", &["view", "list", "ls", "status"]),
    ("workflow", &["view", "list", "ls"]),
    ("release", &["view", "list", "ls"]),
    ("repo", &["view", "list", "ls"]),
    ("cache", &["list", "ls"]),
    ("auth", &["status"]),
    ("search", &[]),
    ("status", &[]),
    ("api", &[]),
];

/// Of clients of data stores and queues: what asks whether the server is there.
const STORES: &[Asking] = &[
    ("ping", &[]),
    ("status", &[]),
    ("info", &[]),
    ("version", &[]),
    ("processlist", &[]),
    ("await_startup", &[]),
];

/// Of `terraform`, `tofu` and `pulumi`.
const STACKS: &[Asking] = &[
    ("show", &[]),
    ("output", &[]),
    ("version", &[]),
    ("providers", &[]),
    ("state", &["list", "show", "pull"]),
    ("stack", &["ls", "history", "output"]),
];

/// Of `helm` and `argocd`.
const RELEASES: &[Asking] = &[
    ("status", &[]),
    ("list", &[]),
    ("ls", &[]),
    ("history", &[]),
    ("get", &[]),
    ("version", &[]),
    ("app", &["get", "list", "wait", "history", "resources", "logs"]),
];

/// Of the tools of platforms that run applications.
const PLATFORMS: &[Asking] = &[
    ("ps", &[]),
    ("logs", &[]),
    ("status", &[]),
    ("list", &[]),
    ("ls", &[]),
    ("inspect", &[]),
    ("releases", &[]),
    ("deployments", &["list", "status", "get"]),
    ("deployment", &["list", "status", "get"]),
];

const ASK_SOMETIMES: [(&str, &[Asking]); 20] = [
    ("redis-cli", STORES),
    ("valkey-cli", STORES),
    ("mysqladmin", STORES),
    ("mariadb-admin", STORES),
    ("rabbitmqctl", STORES),
    ("terraform", STACKS),
    ("tofu", STACKS),
    ("pulumi", STACKS),
    ("helm", RELEASES),
    ("argocd", RELEASES),
    ("heroku", PLATFORMS),
    ("flyctl", PLATFORMS),
    ("fly", PLATFORMS),
    ("vercel", PLATFORMS),
    ("docker", CONTAINERS),
    ("podman", CONTAINERS),
    ("kubectl", CLUSTER),
    ("systemctl", SERVICES),
    ("gh", FORGES),
    ("glab", FORGES),
];

/// Whether a program of a command with this text tells how something that runs is getting on, each time that it is called.
pub(crate) fn asks(program: &str, command: &str) -> bool {
    if ASK_ALWAYS.contains(&program) {
        return true;
    }
    let Some((_, asking)) = ASK_SOMETIMES.iter().find(|(name, _)| *name == program) else { return false };
    let mut calls = command
        .split([';', '&', '|', '\n', '(', ')', '`'])
        .filter_map(|part| behind(program, part))
        .map(|words| only_asks(&words, asking))
        .peekable();
    calls.peek().is_some() && calls.all(|asks| asks)
}

/// The words behind a program, where a part of a command runs it.
fn behind<'a>(program: &str, part: &'a str) -> Option<Vec<&'a str>> {
    let mut words = part.split_whitespace().map(|word| word.trim_matches(['\'', '"']));
    words.find(|word| word.rsplit('/').next() == Some(program))?;
    Some(words.collect())
}

/// Whether the subcommand among these words is one that asks. The word behind an option may be its value.
fn only_asks(words: &[&str], asking: &[Asking]) -> bool {
    let is_option = |word: &str| word.starts_with('-');
    let mut after_option = false;
    for (index, word) in words.iter().enumerate() {
        if is_option(word) {
            after_option = !word.contains('=');
            continue;
        }
        if let Some((_, second)) = asking.iter().find(|(name, _)| name == word) {
            let mut rest = words.iter().skip(index + 1).filter(|word| !is_option(word));
            return second.is_empty() || rest.any(|word| second.contains(word));
        }
        if !after_option {
            return false;
        }
        after_option = false;
    }
    false
}

/// Whether what a failed call said tells that what it asks about is not done yet (ours): it was answered.
pub(crate) fn says_not_yet(error: &str) -> bool {
    /// What programs say of what is under way, in lower case.
    const NOT_YET: [&str; 9] = [
        "pending",
        "in progress",
        "in_progress",
        "queued",
        "waiting",
        "not ready",
        "activating",
        "starting",
        "still running",
    ];
    let lower = error.to_ascii_lowercase();
    NOT_YET.iter().any(|word| lower.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_asks_and_what_acts() {
        for (program, command, expected) in [
            ("docker", "docker ps -a", true),
            ("docker", "docker --context x logs web", true),
            ("docker", "docker compose -f a.yaml ps", true),
            ("docker", "timeout 60 /usr/bin/docker wait web", true),
            ("docker", "bash -c 'docker ps'", true),
            ("docker", "docker build .", false),
            ("docker", "docker run alpine ps", false),
            ("docker", "docker compose up -d", false),
            ("docker", "docker compose -f a.yaml up -d", false),
            ("docker", "docker compose exec web pytest", false),
            ("docker", "docker build . && docker ps", false),
            ("kubectl", "kubectl -n prod get pods", true),
            ("kubectl", "kubectl rollout status deploy/x", true),
            ("kubectl", "kubectl rollout restart deploy/x", false),
            ("kubectl", "kubectl apply -f a.yaml", false),
            ("kubectl", "kubectl exec pod -- make", false),
            ("gh", "gh run view 4711", true),
            ("gh", "gh pr checks 3 | tail", true),
            ("gh", "gh pr create --fill", false),
            ("gh", "gh run rerun 4711", false),
            ("systemctl", "systemctl --user is-active x", true),
            ("systemctl", "systemctl restart x", false),
            ("nc", "nc -z localhost 80", true),
            ("make", "make", false),
            ("pg_isready", "until pg_isready -h db; do sleep 5; done", true),
            ("redis-cli", "redis-cli -h db ping", true),
            ("redis-cli", "redis-cli -h db flushall", false),
            ("mysqladmin", "mysqladmin -u root status", true),
            ("mysqladmin", "mysqladmin shutdown", false),
            ("terraform", "terraform show", true),
            ("terraform", "terraform apply", false),
            ("terraform", "terraform state rm a", false),
            ("helm", "helm status web", true),
            ("helm", "helm upgrade web .", false),
            ("heroku", "heroku ps -a web", true),
            ("heroku", "heroku ps:restart -a web", false),
        ] {
            assert_eq!(asks(program, command), expected, "{command}");
        }
    }

    #[test]
    fn what_is_under_way_is_not_done_yet() {
        assert!(says_not_yet("Exit code 8\nbuild\tpending\t0"));
        assert!(says_not_yet("error: timed out waiting for the condition on pods/x"));
        assert!(!says_not_yet("curl: (7) Failed to connect: Connection refused"));
    }
}
