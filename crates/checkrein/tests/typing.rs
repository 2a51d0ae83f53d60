//! What stays open for typing, where no hook hears of what is typed (Codex).

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use serde_json::{Value as Json, json};
use support::TestEnvironment;
use support::client_calls::{answer, shell};

/// Types pieces into a terminal of Copilot that a command opened, one after the other in one session; whether the last was stopped.
fn typed(environment: &TestEnvironment, session: &str, opened: &str, pieces: &[&str]) -> bool {
    let call = |tool: &str, input: Json| {
        let payload = json!({ "sessionId": session, "timestamp": 1_795_340_742_719_u64, "cwd": environment.project(),
            "toolName": tool, "toolArgs": input });
        answer(environment, "copilot", &payload)
    };
    call("bash", json!({ "command": opened, "mode": "async", "shellId": "s1", "description": "open" }));
    let mut last = json!({});
    for piece in pieces {
        last = call("write_bash", json!({ "shellId": "s1", "input": piece, "delay": 1 }));
    }
    last != json!({})
}

#[test]
fn what_is_typed_in_pieces_is_one_text_in_the_program_that_reads_it() {
    let environment = TestEnvironment::new();
    environment.write("notes/a.txt", "the only copy");
    let home = environment.home();
    let removal = format!("shutil.rmtree('{}'){{enter}}", home.display());
    let python = format!("import shutil{{enter}}{removal}");
    for (number, (opened, pieces)) in [
        ("bash", vec!["rm -rf ", "~{enter}"]),
        ("bash", vec!["D=~{enter}", "rm -rf $D{enter}"]),
        ("bash", vec!["cd ~{enter}", "rm -rf *{enter}"]),
        ("bash", vec!["rm -rf ~/x", "\u{7f}\u{7f}\r"]),
        ("sh", vec!["if true; then{enter}", "rm -rf ~{enter}", "fi{enter}"]),
        ("python3", vec![python.as_str()]),
        ("python3", vec!["import shutil{enter}", removal.as_str()]),
        ("node", vec!["require('fs').rmSync(require('os').homedir(),{recursive:true}){enter}"]),
        ("psql app", vec!["DROP TABLE ", "users;{enter}"]),
    ]
    .into_iter()
    .enumerate()
    {
        // A line of which the last piece is refused is told by the piece that ends it, or by an earlier one.
        let stopped = (1..=pieces.len())
            .any(|count| typed(&environment, &format!("danger-{number}-{count}"), opened, &pieces[..count]));
        assert!(stopped, "{opened}: {pieces:?}");
    }
    for (number, (opened, pieces)) in [
        ("bash", vec!["ls ", "-l{enter}", "cd src{enter}", "ls{enter}"]),
        ("bash", vec!["npm init{enter}", "y", "{enter}"]),
        ("node", vec!["if (x) {\n", "  y()\n", "}\n"]),
        ("python3", vec!["x = 1{enter}", "print(x){enter}"]),
        ("psql app", vec!["select 1;{enter}"]),
        ("bash", vec!["\u{3}"]),
    ]
    .into_iter()
    .enumerate()
    {
        let session = format!("harmless-{number}");
        assert!(!typed(&environment, &session, opened, &pieces), "{opened}: {pieces:?}");
    }
}

#[test]
fn what_stays_open_for_typing_is_refused_where_no_hook_hears_of_it() {
    let environment = TestEnvironment::new();
    environment.write("x.py", "print(1)\n");
    environment.write("x.sh", "ls\n");
    let stopped = |client: &str, folder: &str, command: &str| {
        let answer = answer(&environment, client, &shell(&environment, folder, "PreToolUse-Bash", command));
        answer["hookSpecificOutput"]["permissionDecisionReason"].as_str().map(str::to_owned)
    };
    let codex = |command: &str| stopped("codex", "codex", command);
    for open in [
        "bash",
        "sh -i",
        "zsh -l",
        "python3",
        "python3 -i x.py",
        "node",
        "perl",
        "psql",
        "psql -h localhost app",
        "mysql app",
        "sqlite3 app.db",
        "ssh example.com",
        "docker exec -it web sh",
        "docker run -it ubuntu",
        "kubectl exec -it pod -- bash",
        "tmux",
        "tmux new -s work",
        "screen",
        "script out.log",
        "expect",
        "irb",
        "gdb ./a.out",
        "vim notes.md",
        "less README.md",
        "git log | less",
        "man ls",
        "more README.md",
        "crontab -e",
        "visudo",
        "git commit",
        "git commit --amend",
        "git commit -a",
        "git -C src commit",
        "git rebase -i HEAD~2",
        "git tag -a v1",
        "git config --edit",
        "GIT_EDITOR=vim git commit",
        "env bash",
        "cd src && bash --norc",
        "exec bash",
        "su",
        "sudo -s",
        "if true; then bash; fi",
        // What is typed becomes a command.
        "while read l; do $l; done",
        "while read -r a b; do \"$a\" \"$b\"; done",
        "select x in a b; do $REPLY; done",
        "mapfile a; ${a[0]}",
        "source /dev/stdin",
        ". /dev/fd/0",
        "xargs rm -rf",
        "xargs -I{} sh -c '{}'",
        "awk '{system($0)}'",
        // Consoles, debuggers and shells of environments.
        "python3 -c 'import code; code.interact()'",
        "python3 -c 'breakpoint()'",
        "python3 -m pdb x.py",
        "pytest --pdb",
        "node inspect x.js",
        "rails console",
        "python manage.py shell",
        "flask shell",
        "php artisan tinker",
        "iex -S mix",
        "ghci",
        "stack ghci",
        "sbt console",
        "deno",
        "bun repl",
        "dotnet fsi",
        "jupyter console",
        "mongosh",
        "redis-cli",
        "terraform console",
        "nix-shell",
        "nix develop",
        "poetry shell",
        "pipenv shell",
        "devbox shell",
        "distrobox enter x",
        "multipass shell",
        "gcloud compute ssh x",
        "fly ssh console",
        // Editors and file managers.
        "ed",
        "nano a.txt",
        "mc",
        "ranger",
        "lazygit",
        "tig",
        "git add -p",
        "git checkout -p",
        "git commit -pm 'a change'",
        "git stash -p",
        "systemctl edit x",
        "claude",
        "gemini",
        // What is typed becomes a command, a name or a stream of commands.
        "$(head -1)",
        "`head -1`",
        "read f; cp /dev/null \"$f\"",
        "read f; cat \"$f\"",
        "PYTHONINSPECT=1 python3 -c 1",
        "adb shell",
        "minikube ssh",
        "docker attach x",
        "aws ssm start-session --target i-1",
        "kubectl debug -it x --image=busybox",
        "dc",
        "bc",
        "info bash",
        "make menuconfig",
        "git fast-import",
        "git cat-file --batch-command",
        "git difftool",
        "git mergetool",
        "rsync -a --files-from=- src/ dst/",
        "elixir -e 'Code.eval_string(IO.gets(\"\"))'",
        // The path of the standard input in the place of a script.
        "python3 /dev/stdin",
        "python3 -u /dev/fd/0",
        "node /proc/self/fd/0",
        "perl -w /dev/stdin",
        "ruby /dev/stdin",
        "php /dev/stdin",
        "bun -",
        "m4",
        "m4 -",
        "sed -f - README.md",
        "sed --file=- README.md",
        "tcc -run -",
        "gcc -xc - -o a && ./a",
        "go run /dev/stdin",
        "bpftrace -",
        "mysql < /dev/stdin",
        "sqlite3 x.db '.read /dev/stdin'",
        "perl -de0",
        "perl -d -e 0",
        "fakeroot",
        "linux64",
        "setarch x86_64",
        "parallel --pipe bash",
        "rvim x.py",
        "kubectl run x -it --image=a",
        "oc rsh p",
        "docker compose run --rm -it a",
    ] {
        let reason = codex(open).unwrap_or_else(|| panic!("`{open}` runs"));
        // Some are asked about for other reasons too.
        let is_said = reason.contains("stays open") || ["su", "sudo -s"].contains(&open);
        assert!(is_said, "{open}: {reason}");
    }
    for given in [
        "bash x.sh",
        "bash -c 'ls src'",
        "sh <<'END'\nls src\nEND",
        "echo 'ls src' | bash",
        "python3 x.py",
        "python3 -c 'print(1)'",
        "python3 - <<'END'\nprint(1)\nEND",
        "node -e 'console.log(1)'",
        "psql -c 'select 1'",
        "sqlite3 app.db 'select 1'",
        "ssh -T git@github.com",
        "tmux ls",
        "tmux new-session -d -s work 'ls'",
        "gdb -batch -ex bt ./a.out",
        "bash --version",
        "adb shell ls",
        "git log | head -1",
        "echo $(head -1 x.py)",
        "n=$(git rev-parse HEAD); echo $n",
        "git cat-file -p HEAD",
        "echo '1+1' | bc",
        "make test",
        "python3 --version",
        "cat README.md",
        "git log --oneline",
        "git log",
        "git diff",
        "git show HEAD",
        "git commit -m 'a change'",
        "git commit -am 'a change'",
        "git add -A",
        "git log -p -- add",
        "git stash show -p",
        "node -e 'require(\"readline\").createInterface({ input: require(\"fs\").createReadStream(\"x.py\") })'",
        "read -r -p 'Go on? ' answer",
        "ls | while read -r name; do echo \"$name\"; done",
        "find . -name '*.py' | xargs grep -n print",
        "xargs -a list.txt ls",
        "awk '{print $1}' x.py",
        "awk '{system(\"ls \" $1)}' list.txt",
        "python3 -m pytest",
        "redis-cli ping",
        "terraform plan",
        "nix develop -c make test",
        "nix-shell --run 'make test'",
        "poetry run pytest",
        "php artisan migrate:status",
        "rails routes",
        "claude -p 'say hello'",
        "git commit -mfixes",
        "git commit -Fmessage.txt",
        "git commit --amend --no-edit",
        "git commit --fixup HEAD",
        "GIT_EDITOR=true git commit --amend",
        "git -c core.editor=true commit --amend",
        "GIT_SEQUENCE_EDITOR=true git rebase -i HEAD~2",
        "git tag -a v1 -m 'the first'",
        "git tag v1",
        "git config user.name",
        "man ls | head -20",
        "man -k list",
        "man -P cat ls",
        "less README.md | head",
        "less --version",
        "crontab -l",
        "visudo -c",
        "python3 x.py /dev/stdin",
        "python3 -c 'print(1)' /dev/stdin",
        "perl -ne 'print' x.py",
        "perl -d:NYTProf x.pl",
        "m4 x.m4",
        "sed -f x.sed README.md",
        "gcc -xc -E - < x.c",
        "echo 'int main(){}' | gcc -xc - -o a",
        "setarch x86_64 ls",
        "linux64 ls",
        "fakeroot make test",
        "parallel echo ::: a b",
        "oc rsh p ls",
        "docker compose run --rm tests",
        "kubectl run x --image=a --dry-run=client -o yaml",
    ] {
        assert_eq!(codex(given), None, "{given}");
    }
    // Where nobody can type, nothing is lost.
    for closed in
        ["bash", "python3", "node", "psql", "tmux new -s work", "vim notes.md", "docker run -it ubuntu"]
    {
        assert_eq!(stopped("claude", "claude-code", closed), None, "{closed}");
    }
}
