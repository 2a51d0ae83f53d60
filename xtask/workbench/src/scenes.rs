//! What the pictures show: a project with something to lose, a session of an agent in it, and what the programs print about them.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use serde_json::{Value as Json, json};
use tempfile::TempDir;
use xtask::{build::target_directory, cargo, run};

/// What a terminal shows.
pub(crate) struct Scene {
    /// The name of the file of its picture.
    pub(crate) name: &'static str,
    /// What it shows, for who cannot see it.
    pub(crate) title: &'static str,
    /// Commands and what they print, with the escapes of colours.
    pub(crate) text: String,
}

/// How wide the terminal is, in characters: what still reads well in a column of a page.
const WIDTH: u16 = 100;

/// How many lines the screen of the interface has.
const ROWS: u16 = 24;

/// The most that is read of a terminal, in bytes.
const LONGEST: u64 = 1024 * 1024;

/// A part of the last call, by which the screen is known to be drawn.
const LAST_CALL: &str = "push --force origin main";

/// What stands before how long ago a session did something.
const AGE: &str = "at rest  ";

const SESSION: &str = "4f3c9a52-7d10-4c6e-9a35-0c1f5d1be2aa";

/// Runs the programs, and returns what they print.
pub(crate) fn scenes() -> Result<Vec<Scene>, String> {
    run(&mut cargo(&["build", "--quiet", "--package", "checkrein", "--bins"]))?;
    let stage = Stage::new().map_err(|error| format!("the project of the pictures: {error}"))?;
    let check = stage.shown(&["checkrein check 'for one in notes ../diary.md; do rm -r $one; done'"])?;
    stage.session()?;
    let log = stage.shown(&["checkrein log"])?;
    let watch = stage.watched().map_err(|error| format!("checkrein watch: {error}"))?;
    let undo = stage.shown(&["ls", "checkrein undo --yes", "ls"])?;
    Ok(vec![
        Scene { name: "check.svg", title: "checkrein check explains a destructive command", text: check },
        Scene { name: "log.svg", title: "checkrein log tells a session", text: log },
        Scene { name: "watch.svg", title: "checkrein watch shows sessions, calls and keys", text: watch },
        Scene { name: "undo.svg", title: "checkrein undo brings deleted files back", text: undo },
    ])
}

/// A home with a project in it.
struct Stage {
    home: TempDir,
}

impl Stage {
    fn new() -> Result<Self, String> {
        let home = tempfile::tempdir_in("/tmp").map_err(|error| error.to_string())?;
        let stage = Self { home };
        let project = stage.project();
        write(&project.join("README.md"), "# Shop\n")?;
        write(&project.join("src/cart.py"), "total = 0\n")?;
        stage.git(&["init", "--quiet", "-b", "main"])?;
        stage.git(&["add", "."])?;
        let author = ["-c", "user.name=dev", "-c", "user.email=dev@localhost"];
        stage.git(&[&author[..], &["commit", "--quiet", "-m", "the cart"]].concat())?;
        stage.git(&["init", "--quiet", "--bare", "../remote.git"])?;
        stage.git(&["remote", "add", "origin", "../remote.git"])?;
        stage.git(&["push", "--quiet", "origin", "main"])?;
        stage.git(&["checkout", "--quiet", "-b", "discount"])?;
        stage.git(&["push", "--quiet", "--set-upstream", "origin", "discount"])?;
        write(&project.join("notes/plan.md"), "ten percent from 50 euros on\n")?;
        write(&project.join("notes/coupon.md"), "a coupon\n")?;
        write(&stage.home().join("diary.md"), "do not lose this\n")?;
        Ok(stage)
    }

    fn home(&self) -> PathBuf {
        // The programs name things by their real path.
        fs::canonicalize(self.home.path()).unwrap_or_else(|_| self.home.path().to_owned())
    }

    fn project(&self) -> PathBuf {
        self.home().join("shop")
    }

    /// What an agent did, as its client tells the hook: a look, a deletion, a push that is made safer, one that is asked about.
    fn session(&self) -> Result<(), String> {
        self.tell("SessionStart", json!({"source": "startup"}))?;
        self.tell(
            "UserPromptSubmit",
            json!({"prompt": "add a discount to the cart, then tidy up and push"}),
        )?;
        self.call("toolu_01Vk", "cat src/cart.py", "cat src/cart.py")?;
        self.call("toolu_02Hq", "rm -rf notes", "rm -rf notes")?;
        let (wanted, runs) =
            ("git push --force origin discount", "git push --force-with-lease origin discount");
        self.call("toolu_03Zd", wanted, runs)?;
        self.tell("PreToolUse", call_fields("toolu_04Xw", "git push --force origin main"))?;
        self.tell("Stop", json!({"stop_hook_active": false, "last_assistant_message": "Done."}))
    }

    /// A call before and after it ran; `runs` is what the hook made of it.
    fn call(&self, id: &str, wanted: &str, runs: &str) -> Result<(), String> {
        self.tell("PreToolUse", call_fields(id, wanted))?;
        run(self.command("sh").args(["-c", runs]).stdout(Stdio::null()).stderr(Stdio::null()))?;
        let mut fields = call_fields(id, runs);
        if let Json::Object(fields) = &mut fields {
            fields.insert(
                "tool_response".to_owned(),
                json!({"stdout": "", "stderr": "", "interrupted": false}),
            );
        }
        self.tell("PostToolUse", fields)
    }

    /// Gives the hook a payload of Claude Code.
    fn tell(&self, event: &str, fields: Json) -> Result<(), String> {
        let mut payload = json!({
            "session_id": SESSION, "transcript_path": "", "cwd": self.project(), "hook_event_name": event,
            "permission_mode": "default",
        });
        if let (Json::Object(all), Json::Object(more)) = (&mut payload, fields) {
            all.extend(more);
        }
        let mut hook = self
            .command(programs().join("checkrein-hook"))
            .arg("claude")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .map_err(|error| format!("the hook: {error}"))?;
        if let Some(mut input) = hook.stdin.take() {
            input.write_all(payload.to_string().as_bytes()).map_err(|error| format!("the hook: {error}"))?;
        }
        hook.wait().map(|_| ()).map_err(|error| format!("the hook: {error}"))
    }

    /// The commands with what they print, as on one terminal.
    fn shown(&self, commands: &[&str]) -> Result<String, String> {
        let mut text = String::new();
        for (place, command) in commands.iter().enumerate() {
            if place > 0 {
                text.push('\n');
            }
            let _ = writeln!(text, "\u{1b}[32m$\u{1b}[0m \u{1b}[1m{command}\u{1b}[0m");
            text.push_str(&self.at_a_terminal(command).map_err(|error| format!("{command}: {error}"))?);
        }
        Ok(text.replace(&*self.home().to_string_lossy(), "~").trim_end().to_owned())
    }

    fn at_a_terminal(&self, command: &str) -> std::io::Result<String> {
        let (terminal, mut child) = self.begun(command, 200)?;
        let mut printed = Vec::new();
        // The end of a terminal that nobody holds any more is an error and not an end.
        drop(terminal.take(LONGEST).read_to_end(&mut printed));
        child.wait()?;
        Ok(String::from_utf8_lossy(&printed).replace('\r', ""))
    }

    /// The screen of `checkrein watch` once it shows the calls of the session.
    fn watched(&self) -> std::io::Result<String> {
        let (mut terminal, mut child) = self.begun("checkrein watch", ROWS)?;
        let mut screen = vt100::Parser::new(ROWS, WIDTH, 0);
        let mut bytes = [0; 4096];
        while !screen.screen().contents().contains(LAST_CALL) {
            let count = terminal.read(&mut bytes)?;
            screen.process(bytes.get(..count).unwrap_or_default());
        }
        terminal.write_all(b"q")?;
        drop(terminal.take(LONGEST).read_to_end(&mut Vec::new()));
        child.wait()?;
        Ok(written(screen.screen()).trim_end().to_owned())
    }

    /// A command at a terminal of this many lines, and the other end of that.
    fn begun(&self, command: &str, rows: u16) -> std::io::Result<(File, Child)> {
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
        grantpt(&terminal)?;
        unlockpt(&terminal)?;
        let name = ptsname(&terminal, Vec::new())?;
        let line: OwnedFd = rustix::fs::open(&name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty())?;
        tcsetwinsize(&line, Winsize { ws_row: rows, ws_col: WIDTH, ws_xpixel: 0, ws_ypixel: 0 })?;
        let mut shell = self.command("sh");
        shell.args(["-c", command]);
        shell.stdin(line.try_clone()?).stdout(line.try_clone()?).stderr(line);
        Ok((File::from(terminal), shell.spawn()?))
    }

    fn git(&self, arguments: &[&str]) -> Result<(), String> {
        run(self.command("git").args(arguments))
    }

    /// A command with nothing but this home in its environment.
    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("HOME", self.home())
            .env("USER", "dev")
            .env("TERM", "xterm-256color")
            .env("LC_ALL", "C.UTF-8")
            .env("PATH", format!("{}:{path}", programs().display()))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .current_dir(self.project());
        command
    }
}

/// A screen as text with the escapes of its colours, and ages that stand still.
fn written(screen: &vt100::Screen) -> String {
    let mut text = String::new();
    for row in 0..ROWS {
        let (mut before, mut read) = (String::new(), String::new());
        for cell in (0..WIDTH).filter_map(|column| screen.cell(row, column)) {
            let style = style(cell);
            if style != before {
                let _ = write!(text, "\u{1b}[0m{style}");
                before = style;
            }
            let shown = match cell.contents() {
                "" => " ",
                seconds if read.ends_with(AGE) && seconds.starts_with(|one: char| one.is_ascii_digit()) => {
                    "2"
                }
                other => other,
            };
            text.push_str(shown);
            read.push_str(shown);
        }
        text.push_str("\u{1b}[0m\n");
    }
    text
}

/// The escapes of how a cell looks.
fn style(cell: &vt100::Cell) -> String {
    let colour = |colour: vt100::Color, normal: u8, bright: u8| match colour {
        vt100::Color::Default => String::new(),
        vt100::Color::Idx(number @ 0..8) => format!("\u{1b}[{}m", normal + number),
        vt100::Color::Idx(number @ 8..16) => format!("\u{1b}[{}m", bright + number - 8),
        vt100::Color::Idx(number) => format!("\u{1b}[{};5;{number}m", normal + 8),
        vt100::Color::Rgb(red, green, blue) => format!("\u{1b}[{};2;{red};{green};{blue}m", normal + 8),
    };
    let mut style = colour(cell.fgcolor(), 30, 90) + &colour(cell.bgcolor(), 40, 100);
    for (is_so, code) in [(cell.bold(), 1), (cell.dim(), 2), (cell.underline(), 4), (cell.inverse(), 7)] {
        if is_so {
            let _ = write!(style, "\u{1b}[{code}m");
        }
    }
    style
}

/// The folder of the programs as cargo builds them for tests.
fn programs() -> PathBuf {
    target_directory().join("debug")
}

fn call_fields(id: &str, command: &str) -> Json {
    json!({"tool_name": "Bash", "tool_use_id": id, "tool_input": {"command": command}})
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(path, text))
        .map_err(|error| format!("{}: {error}", path.display()))
}
