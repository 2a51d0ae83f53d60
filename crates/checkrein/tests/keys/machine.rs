//! A machine whose clock is ahead, and that writes down what is forced to the disk.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use serde_json::Value as Json;

use crate::scene::Scene;

/// What stands between a program and the library of the system.
const BETWEEN: &str = r#"
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t which, struct timespec *now) {
    int done = (int)syscall(SYS_clock_gettime, which, now);
    const char *ahead = getenv("SECONDS_AHEAD");
    if (done == 0 && which == CLOCK_REALTIME && ahead) now->tv_sec += atol(ahead);
    return done;
}
static void note(void) {
    const char *place = getenv("FORCED");
    int file = place ? open(place, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
    if (file >= 0) { ssize_t written = write(file, "x", 1); (void)written; close(file); }
}
int fsync(int file) { note(); return (int)syscall(SYS_fsync, file); }
int fdatasync(int file) { note(); return (int)syscall(SYS_fdatasync, file); }
"#;

/// The library, made once; the linker that it needs is the one that made this test.
fn library() -> &'static PathBuf {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("keys-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let (source, library) = (folder.join("between.c"), folder.join("between.so"));
        fs::write(&source, BETWEEN).unwrap();
        let made = Command::new("cc").args(["-shared", "-fPIC", "-o"]).args([&library, &source]).status();
        assert!(made.unwrap().success(), "no library");
        library
    })
}

/// The machine of a scene.
pub struct Machine<'a> {
    scene: &'a Scene,
    ahead: u64,
}

impl<'a> Machine<'a> {
    pub fn new(scene: &'a Scene) -> Self {
        Self { scene, ahead: 0 }
    }

    /// With a clock that is ahead by so many seconds.
    #[must_use]
    pub fn ahead(self, seconds: u64) -> Self {
        Self { ahead: seconds, ..self }
    }

    fn place(&self) -> PathBuf {
        self.scene.at("forced")
    }

    /// What the hook answers here.
    pub fn hook(&self, payload: &[u8]) -> Json {
        let mut command = self.scene.environment.hook();
        command
            .env("LD_PRELOAD", library())
            .env("SECONDS_AHEAD", self.ahead.to_string())
            .env("FORCED", self.place())
            .stderr(Stdio::inherit());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(payload).unwrap();
        let output = child.wait_with_output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// How often something was forced to the disk.
    pub fn forced(&self) -> usize {
        fs::read(self.place()).unwrap_or_default().len()
    }
}
