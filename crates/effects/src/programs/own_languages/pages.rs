//! TeX, PostScript, and the prefixes of ImageMagick.

use crate::effect::Depth;
use crate::interpreter::{Call, Input, Machine, Value};

use super::{may_run, path, sources, texts};

/// Programs that read TeX (TeX Live 2024).
const TEX: &[&str] = &[
    "tex",
    "etex",
    "pdftex",
    "xetex",
    "luatex",
    "luahbtex",
    "latex",
    "pdflatex",
    "xelatex",
    "lualatex",
    "dvilualatex",
    "context",
    "texi2dvi",
    "texi2pdf",
    "latexmk",
    "tectonic",
    "uplatex",
    "platex",
    "ptex",
];
/// Commands of TeX whose argument is a file that becomes part of the text: plain TeX, LaTeX 2e, `verbatim`, `listings`, `fancyvrb`, `catchfile`.
const TEX_READS: &[&str] = &[
    "\\input",
    "\\include",
    "\\verbatiminput",
    "\\lstinputlisting",
    "\\VerbatimInput",
    "\\inputminted",
    "\\openin",
    "\\CatchFileDef",
    "\\includepdf",
];
/// Commands that a shell runs: TeX Live, "web2c", `\write18`; `shellesc`; `texosquery`.
const TEX_RUNS: &[&str] = &["\\write18", "\\ShellEscape", "\\DelayedShellEscape"];
/// Lua in TeX: LuaTeX 1.18, "Lua interpreter"; `luacode`.
const TEX_LUA: &[&str] = &["\\directlua", "\\latelua", "\\luaexec", "\\luadirect"];
/// Interpreters of PostScript (Ghostscript 10).
const POSTSCRIPT: &[&str] = &["gs", "ghostscript", "ps2pdf", "ps2ps", "eps2eps", "ps2epsi", "gsc"];
/// The programs of ImageMagick 7 and GraphicsMagick 1.3.
const MAGICK: &[&str] = &[
    "magick",
    "convert",
    "identify",
    "montage",
    "composite",
    "mogrify",
    "compare",
    "stream",
    "conjure",
    "gm",
    "import",
];
/// Formats and prefixes that show a text as an image (ImageMagick, "Supported Formats", "Command-line Processing": filename references).
const MAGICK_TEXTS: &[&str] =
    &["text:", "txt:", "label:@", "caption:@", "pango:@", "@", "mvg:", "svg:", "inline:@"];

pub(super) fn run(machine: &mut Machine<'_>, call: &Call, program: &str) {
    if TEX.contains(&program) {
        for text in texts(call).into_iter().chain(sources_of_tex(machine, call)) {
            tex(machine, &text);
        }
    }
    if POSTSCRIPT.contains(&program) {
        for text in texts(call) {
            postscript(machine, &text);
        }
    }
    if MAGICK.contains(&program) {
        for word in call.words.iter().filter_map(Value::as_exact) {
            magick(machine, word);
        }
    }
}

/// The texts of the sources that a call of TeX names, where it may run commands.
fn sources_of_tex(machine: &Machine<'_>, call: &Call) -> Vec<String> {
    let is_told = |word: &str| {
        word.trim_start_matches('-').starts_with("shell-escape") || word.ends_with("enable-write18")
    };
    if call.words.iter().filter_map(Value::as_exact).any(is_told) {
        sources(machine, call)
    } else {
        Vec::new()
    }
}

fn tex(machine: &mut Machine<'_>, text: &str) {
    if !text.contains('\\') {
        return;
    }
    for name in TEX_READS {
        for argument in behind(text, name) {
            let argument = argument.trim_start_matches(['=', ' ']);
            if let Some(command) = argument.strip_prefix('|') {
                may_run(machine, command.trim_matches('"'));
            } else {
                let file = path(machine, argument.trim_matches('"'));
                drop(machine.read(&file));
            }
        }
    }
    for name in TEX_RUNS {
        for command in behind(text, name) {
            may_run(machine, &command);
        }
    }
    for name in TEX_LUA {
        for code in behind(text, name) {
            let words = [Value::exact("lua"), Value::exact("-e"), Value::Exact(code)];
            machine.possibly(|machine| machine.run_words(&words, Input::Inherited));
        }
    }
    for file in behind(text, "\\openout") {
        if let Some((_, file)) = file.split_once('=') {
            let file = path(machine, file.trim());
            machine.possibly(|machine| machine.write(&file));
        }
    }
}

/// The argument behind each use of a command: in braces, or to the next blank. Braces in it are its own.
fn behind(text: &str, name: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices(name) {
        let rest = text.get(at + name.len()..).unwrap_or_default();
        if rest.starts_with(char::is_alphabetic) {
            continue;
        }
        let mut rest = rest.trim_start();
        if let Some(options) = rest.strip_prefix('[') {
            rest = options.split_once(']').map_or("", |(_, rest)| rest);
        }
        let Some(inner) = rest.strip_prefix('{') else {
            let is_quoted = rest.trim_start_matches('|').starts_with('"');
            let end = if is_quoted {
                rest.match_indices('"').nth(1).map(|(at, _)| at + 1)
            } else {
                rest.find(|c: char| c.is_whitespace() || matches!(c, '\\' | '}'))
            };
            found.extend(rest.get(..end.unwrap_or(rest.len())).map(str::to_owned));
            continue;
        };
        let mut depth = 1;
        let end = inner.char_indices().find(|(_, letter)| {
            match letter {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        found.extend(end.and_then(|(at, _)| inner.get(..at)).map(str::to_owned));
    }
    found.retain(|argument| !argument.is_empty());
    found
}

/// What PostScript does to files, by the operator behind a text: PostScript Language Reference, 3rd edition, "File Operators"; Ghostscript, `%pipe%`.
fn postscript(machine: &mut Machine<'_>, text: &str) {
    for (_, command) in text.match_indices("%pipe%").map(|(at, mark)| (at, text.get(at + mark.len()..))) {
        let command = command.unwrap_or_default();
        may_run(machine, command.split(')').next().unwrap_or(command));
    }
    let mut rest = text;
    let mut before = None;
    while let Some((_, behind)) = rest.split_once('(') {
        let Some((inner, after)) = behind.split_once(')') else { return };
        let word = after.split_whitespace().next().unwrap_or_default();
        let file = path(machine, inner);
        match word {
            "deletefile" => machine.delete(&file, Depth::Single),
            "renamefile" => {
                if let Some(old) = before.take() {
                    let words = [Value::exact("mv"), old, file.clone()];
                    machine.run_words(&words, Input::Inherited);
                }
            }
            "run" | "runlibfile" => drop(machine.read(&file)),
            "file" => {
                if let Some(opened) = before.take() {
                    if inner.starts_with('r') {
                        drop(machine.read(&opened));
                    } else {
                        machine.possibly(|machine| machine.write(&opened));
                    }
                }
            }
            _ => {}
        }
        before = Some(file);
        rest = after;
    }
}

/// What a word means to ImageMagick besides an image.
fn magick(machine: &mut Machine<'_>, word: &str) {
    if let Some(file) = word.strip_prefix("ephemeral:") {
        let file = path(machine, file);
        machine.delete(&file, Depth::Single);
    }
    if word.strip_prefix("msl:").is_some_and(|file| !file.is_empty()) {
        machine.unread("runs a script of ImageMagick, which reads, writes and removes files");
    }
    if let Some(command) = word.strip_prefix('|') {
        may_run(machine, command);
    }
    for start in MAGICK_TEXTS {
        if let Some(file) = word.strip_prefix(start).filter(|file| !file.is_empty()) {
            let file = path(machine, file);
            drop(machine.read(&file));
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::behind;

    #[test]
    fn arguments_of_commands_are_found() {
        assert_eq!(behind("\\immediate\\write18{rm -rf {x}}", "\\write18"), ["rm -rf {x}"]);
        assert_eq!(behind("\\input .env", "\\input"), [".env"]);
        assert_eq!(behind("\\input|\"ls -l\" x", "\\input"), ["|\"ls -l\""]);
        assert_eq!(behind("\\lstinputlisting[language=C]{a.c}", "\\lstinputlisting"), ["a.c"]);
        assert!(behind("\\inputencoding{utf8}", "\\input").is_empty());
    }
}
