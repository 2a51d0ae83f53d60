//! `checkrein exec`: what a command tries outside its scope fails, whatever it tries; what it does inside works.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::process::Output;
use std::time::{Duration, Instant};

use checkrein_testkit::not_run;
use support::TestEnvironment;

/// A project that may be changed and a file beside it that may not.
struct Scene {
    environment: TestEnvironment,
}

impl Scene {
    fn new() -> Self {
        let environment = TestEnvironment::new();
        fs::write(environment.home().join("outside"), "precious\n").unwrap();
        Self { environment }
    }

    fn outside(&self) -> PathBuf {
        self.environment.home().join("outside")
    }

    /// Runs a script that may change the project only.
    fn run(&self, options: &[&str], script: &str) -> Output {
        let command = ["--", "bash", "-c", script];
        self.environment.checkrein(&[&["exec", "--require"], options, &command].concat())
    }

    /// The same on a kernel without these calls: they fail with an error before it is asked.
    fn run_without(&self, calls: &[(u32, i32)], options: &[&str], script: &str) -> Output {
        let filters: Vec<String> = calls.iter().map(|(call, error)| format!("[{call}, {error}]")).collect();
        let program = format!("my @calls = ({}); {HIDE}", filters.join(", "));
        self.environment
            .command("perl")
            .args(["-e", &program, env!("CARGO_BIN_EXE_checkrein"), "exec"])
            .args(options)
            .args(["--", "bash", "-c", script])
            .output()
            .unwrap()
    }

    fn is_untouched(&self) -> bool {
        let outside = self.outside();
        let facts = fs::metadata(&outside).unwrap();
        let names = fs::read_dir(self.environment.home()).unwrap().count();
        fs::read_to_string(outside).unwrap() == "precious\n"
            && facts.permissions().mode() & 0o777 == 0o644
            && facts.modified().unwrap().elapsed().unwrap() < Duration::from_mins(10)
            && names == 2
    }
}

/// Puts a filter of seccomp around the program that it becomes: some calls fail.
const HIDE: &str = r#"
    my ($load, $equal, $return) = (0x20, 0x15, 0x06);
    my $filter = pack("SCCL", $load, 0, 0, 0);
    $filter .= pack("SCCL", $equal, 0, 1, $_->[0]) . pack("SCCL", $return, 0, 0, 0x00050000 | $_->[1]) for @calls;
    $filter .= pack("SCCL", $return, 0, 0, 0x7fff0000);
    my $program = pack("Sx6P", length($filter) / 8, $filter);
    my $prctl = `uname -m` =~ /x86_64/ ? 157 : 167;
    syscall($prctl, 38, 1, 0, 0, 0) == 0 or die "no new privileges: $!";
    syscall($prctl, 22, 2, $program) == 0 or die "filter: $!";
    exec @ARGV or die "exec: $!";
"#;

/// `landlock_create_ruleset`, the same everywhere.
const LANDLOCK: (u32, i32) = (444, 38);
/// `unshare`, forbidden as AppArmor does.
const UNSHARE: (u32, i32) = (if cfg!(target_arch = "x86_64") { 272 } else { 97 }, 1);

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn what_is_inside_the_scope_works_as_ever() {
    let scene = Scene::new();
    let output = scene.run(
        &["--write", "."],
        "mkdir d && echo hi > d/a && chmod 640 d/a && cp -p d/a d/b && mv d/b c && touch -d 2001-01-01 c && ln -s c l \
         && git add -A && git -c user.name=x -c user.email=x@localhost commit -qm second && rm -r d && cat c && stat -c %a c \
         && date -r c +%Y && echo ok > $TMPDIR/t && echo > /dev/null && perl -e 'open(my $t, \"+<\", \"/dev/ptmx\") and print \"terminal\\n\"' \
         && echo pipe | bash -c 'cat > out; echo x > /dev/stderr' 2>&1 | cat > /proc/self/fd/1",
    );
    assert_eq!(said(&output), "");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "hi\n640\n2001\nterminal\nx\n");
    assert_eq!(output.status.code(), Some(0));
}

// Source: seed 001-67
#[test]
fn nothing_outside_the_scope_changes_whatever_is_tried() {
    let scene = Scene::new();
    for script in TRIES {
        let output = scene.run(&["--write", "."], script);
        assert_ne!(output.status.code(), Some(0), "`{script}` went through");
        assert!(scene.is_untouched(), "`{script}` changed something outside");
    }
}

/// Ways to change something outside; `crates/sandbox/tests/escapes` has those that no shell can try.
const TRIES: [&str; 20] = [
    "echo x > ../outside",
    "echo x >> ../outside",
    "ln -s ../outside l && echo x > l",
    "ln ../outside hard && echo x > hard",
    "mv ../outside .",
    "rm ../outside",
    "cp README.md ../copy",
    "mkdir ../folder",
    "truncate -s 0 ../outside",
    "chmod 777 ../outside",
    "chmod 777 /proc/self/cwd/../outside",
    "exec 5< ../outside && chmod 777 /proc/self/fd/5",
    "ln -s ../outside m && chmod 777 m",
    "touch -d 2001-01-01 ../outside",
    "chown 1:1 ../outside",
    "(setsid bash -c 'echo x > ../outside')",
    "cd .. && bash -c 'echo x > outside'",
    "echo x > /proc/$PPID/cwd/../outside",
    "mount --bind . ..",
    "unshare -Ur bash -c 'echo x > ../outside'",
];

/// Whether a view of the file system of one's own can be made here.
fn makes_views() -> bool {
    let made = std::process::Command::new("unshare").args(["-Ur", "-m", "true"]).output();
    made.is_ok_and(|output| output.status.success())
}

#[test]
fn without_landlock_the_same_holds_in_a_view_of_its_own() {
    if !makes_views() {
        return not_run("no user namespaces");
    }
    let scene = Scene::new();
    let run = |script| scene.run_without(&[LANDLOCK], &["--require", "--write", "."], script);
    let output = run(
        "mkdir d && echo hi > d/a && chmod 640 d/a && mv d/a c && touch -d 2001-01-01 c && git add -A && rm -r d && cat c \
         && echo ok > $TMPDIR/t && echo > /dev/null \
         && perl -e 'open(my $t, \"+<\", \"/dev/ptmx\") or die $!' && echo $TMPDIR",
    );
    assert_eq!(said(&output), "");
    let text = String::from_utf8(output.stdout).unwrap();
    let temporary = text.strip_prefix("hi\n").unwrap().trim();
    assert!(!PathBuf::from(temporary).exists(), "{temporary} is left behind");
    for script in TRIES {
        let output = run(script);
        assert_ne!(output.status.code(), Some(0), "`{script}` went through");
        assert!(scene.is_untouched(), "`{script}` changed something outside");
    }
    let text = said(&run("echo x > ../outside"));
    assert!(text.contains("bash may not change"), "{text}");
}

#[test]
fn keys_of_the_server_and_questions_are_not_seen() {
    let scene = Scene::new();
    let state = scene.environment.state();
    for folder in ["server", "approvals", "notices"] {
        fs::create_dir_all(state.join(folder)).unwrap();
        fs::write(state.join(folder).join("kept"), "secret\n").unwrap();
    }
    fs::write(state.join("other"), "other\n").unwrap();
    let mut ways: Vec<&[(u32, i32)]> = vec![&[]];
    if makes_views() {
        ways.push(&[LANDLOCK]);
    }
    for way in ways {
        for read in
            [&["--write", "."][..], &["--write", ".", "--read", state.parent().unwrap().to_str().unwrap()]]
        {
            for folder in ["server", "approvals", "notices"] {
                let script = format!("cat {}/{folder}/kept", state.display());
                let output = scene.run_without(way, read, &script);
                assert_ne!(output.status.code(), Some(0), "{folder} {way:?} {read:?}");
                assert!(output.stdout.is_empty(), "{folder}");
            }
        }
        // What lies beside them is read as before, and so is what the command makes itself.
        let script = format!("cat {}/other; echo new > n; cat n", state.display());
        let output = scene.run_without(way, &["--write", "."], &script);
        assert_eq!(String::from_utf8_lossy(&output.stdout), "other\nnew\n", "{}", said(&output));
    }
}

#[test]
fn temporary_files_stay_where_the_command_may_write_anyway() {
    let scene = Scene::new();
    scene.environment.write("tmp/.keep", "");
    let mut command = scene.environment.command(env!("CARGO_BIN_EXE_checkrein"));
    command.env("TMPDIR", scene.environment.project().join("tmp"));
    let script = "echo kept > $(mktemp -p \"$TMPDIR\" for-later.XXXXXX)";
    let output = command.args(["exec", "--write", ".", "--", "bash", "-c", script]).output().unwrap();
    assert_eq!(said(&output), "");
    let names = fs::read_dir(scene.environment.project().join("tmp")).unwrap();
    let kept =
        names.filter(|name| name.as_ref().unwrap().file_name().to_string_lossy().starts_with("for-later."));
    assert_eq!(kept.count(), 1);
}

#[test]
fn what_is_about_to_end_is_not_left_behind() {
    let scene = Scene::new();
    let output = scene.run(&["--write", "."], "(sleep 0.03; echo tidied > tidied) > /dev/null 2>&1 &");
    assert_eq!(said(&output), "");
    assert!(scene.environment.project().join("tidied").exists());
}

#[test]
fn what_this_machine_does_not_hold_is_said_before_and_required_is_refused() {
    let scene = Scene::new();
    let calls = [LANDLOCK, UNSHARE];
    let output = scene.run_without(&calls, &["--write", "."], "echo ran");
    let text = said(&output);
    assert!(
        text.starts_with("checkrein: this kernel does not hold: writes outside the scope (no Landlock, and "),
        "{text}"
    );
    assert!(text.contains("user namespaces"), "{text}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "ran\n");
    let output = scene.run_without(&calls, &["--require", "--write", "."], "echo ran");
    assert_eq!((output.status.code(), output.stdout.len()), (Some(125), 0));
    assert!(said(&output).contains("hint: without `--require`"), "{}", said(&output));
    // What is read cannot be limited in a view of its own.
    if makes_views() {
        let output = scene.run_without(&[LANDLOCK], &["--require", "--read", "."], "echo ran");
        assert_eq!((output.status.code(), output.stdout.len()), (Some(125), 0));
        assert!(said(&output).contains("reads outside the scope"), "{}", said(&output));
    }
}

#[test]
fn refusals_are_what_was_refused_in_words_and_as_data() {
    let scene = Scene::new();
    let script = "echo x > ../outside; chmod 700 ../outside; kill 1; chroot . true; (exec 3<>/dev/tcp/127.0.0.1/9); exit 0";
    let stable = |output: &Output| {
        let home = scene.environment.home();
        said(output)
            .lines()
            .filter(|line| line.contains("checkrein:") || line.starts_with('{'))
            .collect::<Vec<_>>()
            .join("\n")
            .replace(home.to_str().unwrap(), "~")
    };
    insta::assert_snapshot!(stable(&scene.run(&["--write", "."], script)), @r"
    checkrein: bash may not change ~/outside (`--write ~/outside` would allow it)
    checkrein: bash may not open a TCP socket (`--net loopback` or `--net HOST:PORT` would allow it)
    checkrein: bash may not send a signal to process 1, which it did not start
    checkrein: chmod may not change mode, owner or times of ~/outside (`--write ~/outside` would allow it)
    checkrein: chroot may not change its root folder (chroot)
    ");
    insta::assert_snapshot!(stable(&scene.run(&["--json", "--write", "."], script)), @r#"{"schema":"checkrein/exec-end/1","status":0,"ended_by":"itself","refused":[{"program":"bash","refused":"bash may not change ~/outside","allowed_by":["--write ~/outside"]},{"program":"bash","refused":"bash may not open a TCP socket","allowed_by":["--net loopback","--net HOST:PORT"]},{"program":"bash","refused":"bash may not send a signal to process 1, which it did not start","allowed_by":[]},{"program":"chmod","refused":"chmod may not change mode, owner or times of ~/outside","allowed_by":["--write ~/outside"]},{"program":"chroot","refused":"chroot may not change its root folder (chroot)","allowed_by":[]}],"refused_more":0,"left_behind":0,"still_there":0,"put_back":[]}"#);
}

#[test]
fn a_file_grows_to_its_limit_and_no_further() {
    let scene = Scene::new();
    let script = "trap '' XFSZ; head -c 3000000 /dev/zero > large; stat -c %s large";
    let output = scene.run(&["--write", ".", "--file-size", "1M"], script);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "1048576\n");
}

#[test]
fn a_refusal_says_what_was_tried_and_what_would_allow_it() {
    let scene = Scene::new();
    let output =
        scene.run(&["--write", "."], "echo x > ../outside; echo x > ../new; chmod 700 ../outside; true");
    let home = scene.environment.home();
    let text = said(&output).replace(home.to_str().unwrap(), "~");
    for line in [
        "checkrein: bash may not change ~/outside (`--write ~/outside` would allow it)",
        "checkrein: bash may not change ~/new (`--write ~` would allow it)",
        "checkrein: chmod may not change mode, owner or times of ~/outside (`--write ~/outside` would allow it)",
    ] {
        assert!(text.contains(line), "`{line}` is missing in:\n{text}");
    }
    assert_eq!(output.status.code(), Some(0), "the status is that of the command");
}

// Source: seed 001-67
#[test]
fn only_what_is_named_is_read() {
    let scene = Scene::new();
    let output = scene.run(&["--read", "."], "cat README.md; cat ../outside");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "# project\n");
    assert!(said(&output).contains("cat may not read"), "{}", said(&output));
}

// Source: seed 001-68
#[test]
fn the_network_is_who_was_named() {
    let scene = Scene::new();
    let server = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = server.local_addr().unwrap().port();
    let connect = format!("exec 3<>/dev/tcp/127.0.0.1/{port}");
    let goes = |net: &[&str], script: &str| scene.run(net, script).status.success();
    assert!(!goes(&[], &connect), "without a word nobody");
    assert!(goes(&["--net", "loopback"], &connect));
    assert!(goes(&["--net", &format!("127.0.0.1:{port}")], &connect));
    assert!(!goes(&["--net", &format!("192.0.2.1:{port}")], &connect), "another host on the same port");
    assert!(!goes(&["--net", "127.0.0.1:9"], &connect), "another port on the same host");
    assert!(goes(&["--net", "open"], &connect));
    let abroad = scene.run(&["--net", "loopback"], "exec 3<>/dev/tcp/192.0.2.1/80");
    assert!(
        said(&abroad).contains("bash may not connect to 192.0.2.1:80 (`--net 192.0.2.1:80` would allow it)")
    );
    let datagram = scene.run(&["--net", "loopback"], "echo x > /dev/udp/127.0.0.1/9");
    assert!(said(&datagram).contains("bash may not open a UDP socket"), "{}", said(&datagram));
}

#[test]
fn a_socket_in_the_file_system_is_reached_only_where_the_command_listens_or_it_is_named() {
    let scene = Scene::new();
    let home = scene.environment.home();
    let _outside = UnixListener::bind(home.join("agent.sock")).unwrap();
    // Another program may listen where the command can write, as terminal multiplexers do in `/tmp`.
    let _inside = UnixListener::bind(home.join("project/theirs.sock")).unwrap();
    let connect = |path: &str, options: &[&str]| {
        let program = "use IO::Socket::UNIX; exit(IO::Socket::UNIX->new(Peer => $ARGV[0]) ? 0 : 1)";
        let command = [&["exec", "--write", "."], options, &["--", "perl", "-e", program, path]].concat();
        scene.environment.checkrein(&command)
    };
    for path in ["../agent.sock", "theirs.sock"] {
        let refused = connect(path, &[]);
        assert_eq!(refused.status.code(), Some(1), "{path}");
        assert!(said(&refused).contains("perl may not connect to the socket"), "{}", said(&refused));
    }
    assert_eq!(connect("theirs.sock", &["--write", "theirs.sock"]).status.code(), Some(0));
    let own = "use IO::Socket::UNIX; my $one = IO::Socket::UNIX->new(Local => 'own.sock', Listen => 1) or exit 2; exit(IO::Socket::UNIX->new(Peer => 'own.sock') ? 0 : 1)";
    let inside = scene.environment.checkrein(&["exec", "--write", ".", "--", "perl", "-e", own]);
    assert_eq!(inside.status.code(), Some(0), "{}", said(&inside));
}

#[test]
fn nothing_is_left_of_a_command_that_leaves_something_behind() {
    let scene = Scene::new();
    let output =
        scene.run(&["--write", "."], "(setsid bash -c 'trap \"\" TERM HUP; echo $$ > pid; sleep 60') & while [ ! -s pid ]; do sleep .01; done");
    assert_eq!(output.status.code(), Some(0));
    assert!(said(&output).contains("left behind"), "{}", said(&output));
    let pid = fs::read_to_string(scene.environment.project().join("pid")).unwrap();
    assert!(!PathBuf::from(format!("/proc/{}", pid.trim())).exists());
}

#[test]
fn a_fork_bomb_does_not_grow_past_its_limit_and_is_ended() {
    let scene = Scene::new();
    let started = Instant::now();
    let output = scene.run(&["--processes", "30", "--time", "2s"], "f() { f | f & }; f; sleep 60");
    assert_eq!(output.status.code(), Some(124));
    assert!(said(&output).contains("30 processes are there"), "{}", said(&output));
    assert!(started.elapsed() < Duration::from_mins(1));
}

#[test]
fn a_memory_bomb_is_ended_also_when_it_is_several_processes() {
    let scene = Scene::new();
    let script = "for i in 1 2 3 4; do perl -e '$x = \"x\" x (60 << 20); sleep 60' & done; wait";
    let output = scene.run(&["--memory", "150M", "--time", "50s"], script);
    assert_eq!(output.status.code(), Some(124));
    assert!(said(&output).contains("of memory"), "{}", said(&output));
}

// Source: seed 002-36
#[test]
fn a_limit_that_the_kernel_holds_is_named_when_it_is_reached() {
    let scene = Scene::new();
    let longer = "head -c 3000000 /dev/zero > large";
    let run = |options: &[&str], program: &[&str]| {
        let output =
            scene.environment.checkrein(&[&["exec", "--write", "."], options, &["--"], program].concat());
        (output.status.code(), said(&output))
    };
    for (options, program, words) in [
        // The command itself, and one that its shell waited for.
        (["--cpu", "1s"], &["sha256sum", "/dev/zero"][..], "`--cpu`"),
        (["--cpu", "1s"], &["bash", "-c", "sha256sum /dev/zero; exit"], "`--cpu`"),
        (["--file-size", "1M"], &["head", "-c", "3000000", "/dev/zero"], ""),
        (["--file-size", "1M"], &["bash", "-c", longer], "`--file-size`"),
    ] {
        let (status, told) = run(&options, program);
        if words.is_empty() {
            assert_eq!(status, Some(0), "what is no file has no length");
        } else {
            assert_eq!(status, Some(124), "{program:?} {told}");
            assert!(told.contains(words), "{told}");
        }
    }
    // Nobody limited it: the status is that of the command.
    assert_eq!(run(&["--time", "50s"], &["bash", "-c", "exit 152"]).0, Some(152));
}

#[test]
fn the_status_tells_what_happened() {
    let scene = Scene::new();
    let status =
        |arguments: &[&str]| scene.environment.checkrein(&[&["exec"], arguments].concat()).status.code();
    assert_eq!(status(&["--", "bash", "-c", "exit 7"]), Some(7));
    assert_eq!(status(&["--", "bash", "-c", "kill -TERM $$"]), Some(143));
    assert_eq!(status(&["--", "no-such-program"]), Some(127));
    assert_eq!(status(&["--", "./README.md"]), Some(126));
    assert_eq!(status(&["--write", "/no/such/place", "--", "true"]), Some(125));
    assert_eq!(status(&["--time", "100ms", "--", "sleep", "60"]), Some(124));
}

#[test]
fn secrets_stay_behind_when_asked_and_temporary_files_go() {
    let scene = Scene::new();
    let run = |options: &[&str]| {
        let command = ["--", "bash", "-c", "echo \"key=$SECRET_KEY\"; echo $TMPDIR; echo x > $TMPDIR/x"];
        scene
            .environment
            .command(env!("CARGO_BIN_EXE_checkrein"))
            .args([&["exec"], options, &command].concat())
            .env("SECRET_KEY", "s3cr3t")
            .output()
            .unwrap()
    };
    assert!(String::from_utf8_lossy(&run(&[]).stdout).contains("key=s3cr3t"));
    let output = run(&["--clean-environment"]);
    let text = String::from_utf8(output.stdout).unwrap();
    let (key, folder) = text.split_once('\n').unwrap();
    assert_eq!(key, "key=");
    assert!(folder.contains("checkrein-exec-") && !PathBuf::from(folder.trim()).exists());
}

#[test]
fn a_command_that_ignores_the_keyboard_is_ended_by_the_second_interrupt() {
    let scene = Scene::new();
    let ready = scene.environment.project().join("ready");
    let mut child = scene
        .environment
        .command(env!("CARGO_BIN_EXE_checkrein"))
        .args(["exec", "--write", ".", "--", "sh", "-c", "trap '' INT; touch ready; sleep 60; touch lived"])
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let started = Instant::now();
    let pid = child.id().to_string();
    while child.try_wait().unwrap().is_none() {
        assert!(started.elapsed() < Duration::from_secs(30), "it does not end");
        if ready.exists() {
            assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(String::from_utf8_lossy(&output.stderr).contains("signal 2 asked for it"));
}

#[test]
fn limits_that_let_nothing_run_are_mistakes() {
    let scene = Scene::new();
    for (options, words) in
        [(["--memory", "1"], "less than 1 MB"), (["--processes", "0"], "none for the command")]
    {
        let output = scene.run(&options, "true");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(125) && said.contains(words), "{options:?}: {said}");
    }
}

#[test]
fn temporary_files_go_whatever_their_modes_and_however_deep_they_are() {
    let scene = Scene::new();
    let place = scene.environment.home().join("temporary");
    fs::create_dir(&place).unwrap();
    let script = "mkdir $TMPDIR/locked && touch $TMPDIR/locked/file && chmod 0 $TMPDIR/locked && cd $TMPDIR && \
        for i in $(seq 30); do mkdir $(printf 'd%.0s' $(seq 200)) && cd d*; done; echo made";
    let output = scene
        .environment
        .command(env!("CARGO_BIN_EXE_checkrein"))
        .env("TMPDIR", &place)
        .args(["exec", "--write", ".", "--", "bash", "-c", script])
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "made\n", "{output:?}");
    assert_eq!(fs::read_dir(&place).unwrap().count(), 0);
}

/// What a command inside a scope did to the places of the guard is taken back, whatever it did; ordinary settings of git stay.
#[test]
fn what_guards_a_project_is_as_it_was_afterwards() {
    let scene = Scene::new();
    let environment = &scene.environment;
    environment.succeed(&["init", "--yes"]);
    let project = environment.project();
    let hook = project.join(".git/hooks/pre-push");
    let read = |name: &str| fs::read_to_string(project.join(name)).ok();
    let names =
        [".claude/settings.local.json", ".mcp.json", "checkrein.yaml", ".git/config", ".git/hooks/pre-push"];
    let before = names.map(read);
    let scripts = [
        "rm .claude/settings.local.json; echo '{}' > .mcp.json; echo 'mode: observe' > checkrein.yaml",
        "mv .claude .elsewhere; echo '[core] hooksPath = x' >> .git/config",
        "mv .claude .elsewhere; mkdir .other; echo '{}' > .other/settings.local.json; ln -s .other .claude",
        "printf '#!/bin/sh\\n' > .git/hooks/pre-push; chmod +x .git/hooks/pre-push",
        "rm -rf .git/hooks; ln -s ../src .git/hooks; mkfifo checkrein.yaml",
        "rm -rf .git/hooks .git/config; mkdir .git/config; (sleep 0.1; echo '{}' > .claude/settings.json) &",
        "chmod 777 .claude/settings.local.json; mkdir -p .claude/settings.json/x; kill -9 $$",
    ];
    for script in scripts {
        let output = scene.run(&["--write", "."], script);
        let said = said(&output);
        assert!(said.contains("put back `"), "{script}: {said}");
        assert_eq!(names.map(read), before, "{script}: {said}");
        assert!(!hook.exists() && project.join(".git/hooks").is_dir(), "{script}");
        assert!(!fs::symlink_metadata(project.join(".claude")).unwrap().file_type().is_symlink(), "{script}");
        let mode = fs::metadata(project.join(names[0])).unwrap().permissions().mode();
        assert_eq!(mode & 0o022, 0, "{script}");
    }
    // Without the rights of a directory above nothing in it can be looked at or put back, but for the administrator.
    let shut = [".", ".claude", ".git"].map(|name| project.join(name));
    let mode_of = |path: &PathBuf| fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777;
    let modes = shut.each_ref().map(mode_of);
    for script in [
        "echo evil > .claude/settings.local.json; chmod 500 .claude",
        "echo 'mode: observe' > checkrein.yaml; chmod 500 .",
        "echo evil > .git/config; chmod 000 .git",
        "chmod 000 .claude .git .",
    ] {
        let said = said(&scene.run(&["--write", "."], script));
        assert!(said.contains("its rights back"), "{script}: {said}");
        assert!(!said.contains("NOT"), "{script}: {said}");
        assert_eq!(shut.each_ref().map(mode_of), modes, "{script}: {said}");
        assert_eq!(names.map(read), before, "{script}: {said}");
    }
    // Work as ever, and what is granted by itself.
    let output = scene.run(&["--write", "."], "git config branch.main.remote origin && echo x > src/new");
    assert!(output.status.success() && !said(&output).contains("put back"), "{}", said(&output));
    assert!(read(".git/config").unwrap().contains("remote = origin") && read("src/new").is_some());
    let granted = ["--write", ".", "--write", ".git/hooks"];
    assert!(!said(&scene.run(&granted, "echo > .git/hooks/pre-push")).contains("put back"));
    assert!(hook.exists());
}

/// What System V has processes share under a number, as the kernel lists it.
fn shared_under(key: u32) -> Vec<&'static str> {
    let is_there = |kind: &&str| {
        let list = fs::read_to_string(format!("/proc/sysvipc/{kind}")).unwrap_or_default();
        list.lines().any(|line| line.split_whitespace().next() == Some(key.to_string().as_str()))
    };
    ["shm", "sem", "msg"].into_iter().filter(is_there).collect()
}

#[test]
fn what_system_v_shares_goes_with_the_command_that_made_it() {
    let scene = Scene::new();
    let key = 0x0dd0_0000 | std::process::id();
    let script = format!(
        "perl -e 'shmget({key}, 4096, 01600) // die; semget({key}, 1, 01600) // die; msgget({key}, 01600) // die'; grep -c ' {key} ' /proc/sysvipc/shm /proc/sysvipc/sem /proc/sysvipc/msg"
    );
    let output = scene.run(&[], &script);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(said.matches(":1").count(), 3, "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(shared_under(key), Vec::<&str>::new());
}

#[test]
fn memory_of_system_v_that_no_process_has_any_more_counts() {
    let scene = Scene::new();
    let key = 0x0dd8_0000 | std::process::id();
    let script = format!(
        r#"exec perl -e '$m = shmget({key}, 80 << 20, 01600); $c = "x" x (1 << 20); shmwrite($m, $c, $_ << 20, 1 << 20) for 0..79; sleep 20'"#
    );
    let output = scene.run(&["--memory", "50M"], &script);
    assert_eq!(output.status.code(), Some(124), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(shared_under(key), Vec::<&str>::new());
}
