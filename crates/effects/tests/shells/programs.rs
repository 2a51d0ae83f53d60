//! Programs of the shell, made by chance: harmless by construction, since all that they do is to write files `M0`, `M1`, ... into the
//! folder in which they run, and never leave it upwards. Loops count to two, functions call only functions with greater numbers, so every program ends.

use std::fmt::Write as _;

/// Numbers that look like chance and are the same for the same seed (SplitMix64).
#[derive(Debug, Clone)]
pub(crate) struct Chance(u64);

impl Chance {
    /// The numbers of a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5DEE_CE66)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound.max(1) as u64).unwrap_or_default()
    }

    fn pick<'t>(&mut self, from: &[&'t str]) -> &'t str {
        from.get(self.below(from.len())).copied().unwrap_or(":")
    }
}

/// The language in which a program is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    /// All of bash.
    Bash,
    /// What POSIX says.
    Posix,
}

/// Whether commands occur of which it cannot be known whether they succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doubt {
    /// Only commands with known answers: what is called certain must happen.
    None,
    /// Also programs that are not there.
    Some,
}

/// A part of a program: texts with further parts between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    texts: Vec<String>,
    parts: Vec<Part>,
    /// Whether the parts stand between quotes.
    quoted: bool,
    /// Whether the parts can be left out one by one.
    list: bool,
}

impl Part {
    fn leaf(text: impl Into<String>) -> Self {
        Self { texts: vec![text.into()], parts: Vec::new(), quoted: false, list: false }
    }

    fn around(texts: &[&str], parts: Vec<Part>) -> Self {
        Self {
            texts: texts.iter().map(|text| (*text).to_owned()).collect(),
            parts,
            quoted: false,
            list: false,
        }
    }

    fn quoting(texts: &[&str], parts: Vec<Part>) -> Self {
        Self { quoted: true, ..Self::around(texts, parts) }
    }

    /// The text of the part.
    pub(crate) fn text(&self) -> String {
        let mut out = self.texts.first().cloned().unwrap_or_default();
        for (index, part) in self.parts.iter().enumerate() {
            let inner = part.text();
            if self.quoted {
                let _ = write!(out, "'{}'", inner.replace('\'', "'\\''"));
            } else {
                out.push_str(&inner);
            }
            match self.texts.get(index + 1) {
                Some(text) => out.push_str(text),
                None if self.list && index + 1 < self.parts.len() => out.push('\n'),
                None => {}
            }
        }
        out
    }

    /// Smaller programs, one step away.
    pub(crate) fn smaller(&self) -> Vec<Part> {
        let mut found = Vec::new();
        if !self.parts.is_empty() || self.texts.first().is_some_and(|text| text != ":") {
            found.push(Self::leaf(":"));
        }
        found.extend(self.parts.iter().cloned());
        if self.list {
            for index in 0..self.parts.len() {
                let mut less = self.clone();
                less.parts.remove(index);
                if !less.parts.is_empty() {
                    found.push(less);
                }
            }
        }
        for (index, part) in self.parts.iter().enumerate() {
            for smaller in part.smaller() {
                let mut changed = self.clone();
                if let Some(place) = changed.parts.get_mut(index) {
                    *place = smaller;
                }
                found.push(changed);
            }
        }
        found
    }
}

/// Makes programs.
struct Maker<'c> {
    chance: &'c mut Chance,
    language: Language,
    doubt: Doubt,
    marks: usize,
    names: usize,
    left: usize,
    /// Functions with smaller numbers may not be called here.
    from: usize,
}

/// The number of functions that a program may have.
const FUNCTIONS: usize = 4;

/// What stands in front of a program: without doubt every function is there, so that no call is one of a program that is not.
pub(crate) fn prelude(doubt: Doubt) -> String {
    match doubt {
        Doubt::Some => String::new(),
        Doubt::None => (1..=2 * FUNCTIONS + 2).fold(String::new(), |mut all, number| {
            let _ = writeln!(all, "f{number}() {{ :; }}");
            all
        }),
    }
}

/// A program of about `size` commands.
pub(crate) fn program(chance: &mut Chance, language: Language, doubt: Doubt, size: usize) -> Part {
    let mut maker = Maker { chance, language, doubt, marks: 0, names: 0, left: size, from: 0 };
    let mut list = maker.list(size, 0);
    let mark = maker.mark();
    list.parts.push(mark);
    list
}

impl Maker<'_> {
    fn mark(&mut self) -> Part {
        let number = self.marks;
        self.marks += 1;
        Part::leaf(format!("echo >M{number}"))
    }

    fn list(&mut self, most: usize, depth: usize) -> Part {
        let count = 1 + self.chance.below(most.clamp(1, 5));
        let parts = (0..count).map(|_| self.command(depth)).collect();
        Part { texts: vec![String::new()], parts, quoted: false, list: true }
    }

    fn body(&mut self, depth: usize) -> Part {
        let mut list = self.list(3, depth + 1);
        if self.chance.below(3) > 0 {
            let mark = self.mark();
            list.parts.push(mark);
        }
        list
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("n{}", self.names)
    }

    fn command(&mut self, depth: usize) -> Part {
        self.left = self.left.saturating_sub(1);
        if depth > 5 || self.left == 0 || self.chance.below(5) < 2 {
            return self.simple();
        }
        let bash = self.language == Language::Bash;
        match self.chance.below(if bash { 38 } else { 24 }) {
            0 => Part::around(&["{ ", "\n}"], vec![self.body(depth)]),
            1 => Part::around(&["( ", "\n)"], vec![self.body(depth)]),
            2 | 3 => {
                let between = self.chance.pick(&["\n} && {\n", "\n} || {\n"]);
                Part::around(&["{ ", between, "\n}"], vec![self.list(1, depth + 1), self.body(depth)])
            }
            4 => {
                let one = self.chance.pick(&["\n} && {\n", "\n} || {\n"]);
                let two = self.chance.pick(&["\n} && {\n", "\n} || {\n"]);
                let parts = vec![self.simple(), self.list(2, depth + 1), self.body(depth)];
                Part::around(&["{ ", one, two, "\n}"], parts)
            }
            5 => Part::around(&["if ", "\nthen ", "\nfi"], vec![self.list(1, depth + 1), self.body(depth)]),
            6 => Part::around(
                &["if ", "\nthen ", "\nelse ", "\nfi"],
                vec![self.list(1, depth + 1), self.body(depth), self.body(depth)],
            ),
            7 => Part::around(
                &["if ", "\nthen ", "\nelif ", "\nthen ", "\nfi"],
                vec![self.simple(), self.body(depth), self.simple(), self.body(depth)],
            ),
            8 => {
                let name = self.chance.pick(&["x", "y"]);
                Part::around(&[&format!("for {name} in 1 2; do "), "\ndone"], vec![self.body(depth)])
            }
            9 => {
                let name = self.name();
                let start = format!("{name}=0\nwhile [ $(({name}={name}+1)) -le 2 ]; do ");
                Part::around(&[&start, "\ndone"], vec![self.body(depth)])
            }
            10 => {
                let name = self.name();
                let start = format!("{name}=0\nuntil [ $(({name}={name}+1)) -gt 2 ]; do ");
                Part::around(&[&start, "\ndone"], vec![self.body(depth)])
            }
            11 => {
                let end = self.chance.pick(&["\n;;\n", if bash { "\n;&\n" } else { "\n;;\n" }]);
                let middle = format!("{end}(*) ");
                Part::around(
                    &["case \"$x\" in (1) ", &middle, "\n;; esac"],
                    vec![self.body(depth), self.body(depth)],
                )
            }
            12 | 13 => {
                let number = self.from.max(1) + self.chance.below(FUNCTIONS);
                let outer = std::mem::replace(&mut self.from, number + 1);
                let body = self.body(depth);
                self.from = outer;
                Part::around(&[&format!("f{number}() {{ "), "\n}"], vec![body])
            }
            14 => Part::around(&["{ ", "\n} | { ", "\n}"], vec![self.list(2, depth + 1), self.body(depth)]),
            15 => Part::around(&["x=$( ", "\n)"], vec![self.body(depth)]),
            16 => Part::around(&[": \"$( ", "\n)\""], vec![self.body(depth)]),
            17 => Part::quoting(&["eval ", ""], vec![self.body(depth)]),
            18 => Part::quoting(&["trap ", " EXIT"], vec![self.list(2, depth + 1)]),
            19 => Part::around(&["! { ", "\n}"], vec![self.list(2, depth + 1)]),
            20 => Part::around(&["{ ", "\n} &\nwait"], vec![self.body(depth)]),
            21 => {
                let (one, two) =
                    (self.chance.pick(&[" && ", " || "]), self.chance.pick(&[" && ", " || ", "\n", "; "]));
                let start = self.chance.pick(&["", "! ", "if ! "]);
                let end = if start == "if ! " { "; then :; fi" } else { "" };
                let parts = vec![self.simple(), self.simple(), self.mark()];
                Part::around(&[start, one, two, end], parts)
            }
            22 => {
                let trap = Part::quoting(&["trap ", " EXIT"], vec![self.list(2, depth + 1)]);
                Part::around(&["( ", "\n", "\n)"], vec![trap, self.list(2, depth + 1)])
            }
            23 => {
                let start = self.chance.pick(&["if ! ", "while ", "while ! ", "until "]);
                let question = self.chance.pick(&["cd d", "cd nodir", "[ -e M0 ]", "false", "echo >nodir/f"]);
                let (middle, end) =
                    if start == "if ! " { ("\nthen ", "\nfi") } else { ("\ndo ", "\nbreak\ndone") };
                let texts = [format!("{start}{question}{middle}"), end.to_owned()];
                // A `continue` in such a loop would never end.
                Part::around(&[&texts[0], &texts[1]], vec![self.mark()])
            }
            24 => Part::quoting(&["trap ", " ERR"], vec![self.simple()]),
            25 => {
                let name = self.name();
                Part::around(
                    &[&format!("for (({name}=0; {name}<2; {name}++)); do "), "\ndone"],
                    vec![self.body(depth)],
                )
            }
            26 => {
                let name = self.name();
                Part::around(
                    &[&format!("{name}=0\nwhile (({name}++ < 2)); do "), "\ndone"],
                    vec![self.body(depth)],
                )
            }
            27 => Part::around(&["y='a[$( ", "\necho 0)]'\n((y))"], vec![self.mark()]),
            28 => {
                let use_it = self.chance.pick(&[
                    "[[ $y -eq 0 ]]",
                    "let y",
                    ": \"${x:y}\"",
                    ": \"${b[y]}\"",
                    "declare -i z=y",
                    ": $((y+1))",
                    ": ${y@P}",
                    "printf -v \"$y\" 1",
                    "unset \"$y\"",
                    "test -v \"$y\"",
                    "read \"$y\" <<< 1",
                    ": ${!y}",
                ]);
                Part::around(&["y='a[$( ", &format!("\necho 0)]'\n{use_it}")], vec![self.mark()])
            }
            29 => Part::around(&["coproc { ", "\n}\nwait"], vec![self.list(2, depth + 1)]),
            30 => {
                // Another shell does not know the functions.
                let shell = if self.doubt == Doubt::Some { "bash -c " } else { "eval " };
                Part::quoting(&[shell, ""], vec![self.body(depth)])
            }
            31 => Part::around(&["time ", ""], vec![self.mark()]),
            32 => Part::around(&[": <( ", "\n)\nwait"], vec![self.mark()]),
            33 => {
                let end = self.name();
                let texts = [format!(": <<{end}\n$( "), format!("\n)\n{end}\n:")];
                Part::around(&[&texts[0], &texts[1]], vec![self.body(depth)])
            }
            34 => Part::around(&["a=( 1 2 \"$( ", "\n)\" )"], vec![self.body(depth)]),
            35 => Part::around(&["{ ", "\n} 2>/dev/null >nodir/f"], vec![self.body(depth)]),
            36 => {
                let use_it = self.chance.pick(&[
                    ": ${#zz}",
                    ": ${zz#a}",
                    ": ${zz/a/b}",
                    ": ${zz^}",
                    "[[ -v zz ]]",
                    ": \"${a[@]}\"",
                    ": \"${a[0]}\"",
                    ": ${zz:=1}",
                    ": ${zz+$1}",
                ]);
                Part::around(&["{ ", &format!("\n{use_it}\n}}")], vec![self.mark()])
            }
            _ => Part::around(&[": ${x:-$( ", "\n)}"], vec![self.mark()]),
        }
    }

    fn simple(&mut self) -> Part {
        let bash = self.language == Language::Bash;
        match self.chance.below(12) {
            0..=3 => self.mark(),
            4 => Part::leaf(self.chance.pick(&["true", "false", ":", "false", "true"])),
            5 => Part::leaf(self.chance.pick(&[
                "break",
                "continue",
                "break 2",
                "continue 2",
                "return",
                "return 1",
                "return 0",
                "exit",
                "exit 1",
                "exit 0",
                "break",
                "return",
            ])),
            6 => Part::leaf(self.chance.pick(&[
                "set -e",
                "set +e",
                "set -u",
                "set -e",
                if bash { "set -o pipefail" } else { "set +u" },
                "set -- 1 2",
                "shift",
                "trap - EXIT",
                if bash { "shopt -s lastpipe" } else { "set +e" },
            ])),
            7 => Part::leaf(self.chance.pick(&[
                "x=1",
                "x=",
                "x=2",
                "y=1",
                "unset x",
                "x=$y",
                "x=1 true",
                "x=$((x+1))",
                "HOME=1",
                if bash { "declare -i x=1+1" } else { "x=3" },
                if bash { "x+=1" } else { "x=4" },
                if bash { "local x=1" } else { "x=5" },
                if bash { "read x <<< 1" } else { "x=1" },
                if bash { "declare -u x=ab" } else { "x=2" },
                if bash { "((x++))" } else { "x=1" },
            ])),
            8 => Part::leaf(self.chance.pick(&[
                "[ \"$x\" = 1 ]",
                "[ -n \"$x\" ]",
                "[ -z \"$y\" ]",
                "[ $? -eq 0 ]",
                "[ $? = 1 ]",
                "[ -e M0 ]",
                "[ ! -f M1 ]",
                "test -d d",
                "[ $# -gt 0 ]",
                "[ -n \"${x-1}\" ]",
                if bash { "[[ $x == 1 ]]" } else { "[ 1 = 2 ]" },
                if bash { "((x))" } else { "[ 1 = 1 ]" },
                if bash { "[[ -z $zz && $x ]]" } else { "[ -z \"$zz\" ]" },
            ])),
            9 => {
                let number = self.from.max(1) + self.chance.below(FUNCTIONS);
                Part::leaf(format!("f{number}"))
            }
            10 => Part::leaf(self.chance.pick(&[
                "echo >nodir/f",
                "echo <nofile",
                "cd nodir",
                "cd d",
                "cd ./d",
                "echo >d",
                "> nodir/f",
                "exec 3<nofile",
                if bash { "logout" } else { "cd d" },
                if bash { "shopt -s execfail" } else { "cd d" },
                if bash { "pushd d >/dev/null" } else { "cd - >/dev/null" },
                if bash { "popd >/dev/null" } else { "cd d" },
            ])),
            _ if self.doubt == Doubt::Some => Part::leaf(self.chance.pick(&[
                "no_such_program",
                "no_such_program && exit",
                "no_such_program || exit",
                "no_such_program && x=1",
                "./none",
                "exec no_such_program",
                "no_such_program && return",
                "no_such_program && break",
                "no_such_program && f3() { :; }",
            ])),
            _ => self.mark(),
        }
    }
}
