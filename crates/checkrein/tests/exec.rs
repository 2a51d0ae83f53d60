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
         && date -r c +%Y && echo ok > $TMPDIR/t && echo > /dev/null",
    );
    assert_eq!(said(&output), "");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "hi\n640\n2001\n");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn nothing_outside_the_scope_changes_whatever_is_tried() {
    let scene = Scene::new();
    let tries = [
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
    for script in tries {
        let output = scene.run(&["--write", "."], script);
        assert_ne!(output.status.code(), Some(0), "`{script}` went through");
        assert!(scene.is_untouched(), "`{script}` changed something outside");
    }
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

#[test]
fn only_what_is_named_is_read() {
    let scene = Scene::new();
    let output = scene.run(&["--read", "."], "cat README.md; cat ../outside");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "# project\n");
    assert!(said(&output).contains("cat may not read"), "{}", said(&output));
}

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
fn a_socket_in_the_file_system_is_reached_only_inside_the_scope() {
    let scene = Scene::new();
    let home = scene.environment.home();
    let _outside = UnixListener::bind(home.join("agent.sock")).unwrap();
    let _inside = UnixListener::bind(home.join("project/own.sock")).unwrap();
    let connect = |path: &str| {
        let program = "use IO::Socket::UNIX; exit(IO::Socket::UNIX->new(Peer => $ARGV[0]) ? 0 : 1)";
        let command = ["exec", "--write", ".", "--", "perl", "-e", program, path];
        scene.environment.checkrein(&command)
    };
    assert_eq!(connect("own.sock").status.code(), Some(0));
    let refused = connect("../agent.sock");
    assert_eq!(refused.status.code(), Some(1));
    assert!(said(&refused).contains("perl may not connect to the socket"), "{}", said(&refused));
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
