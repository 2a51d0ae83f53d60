//! Statements: what runs when, and what becomes of it.

use super::{FUNCTIONS, Leaning, Maker};
use crate::shells::grammar::Doubt;
use crate::shells::part::{Form, ProgramPart};

impl Maker<'_> {
    pub(crate) fn list(&mut self, most: usize, depth: usize) -> ProgramPart {
        let count = 1 + self.chance.below(most.clamp(1, 5));
        ProgramPart::list((0..count).map(|_| self.command(depth)).collect())
    }

    fn body(&mut self, depth: usize) -> ProgramPart {
        let mut list = self.list(3, depth + 1);
        if self.chance.below(3) > 0 {
            let mark = self.mark();
            list.parts.push(mark);
        }
        list
    }

    pub(crate) fn name(&mut self) -> String {
        self.names += 1;
        format!("n{}", self.names)
    }

    pub(crate) fn command(&mut self, depth: usize) -> ProgramPart {
        self.left = self.left.saturating_sub(1);
        if depth > 5 || self.left == 0 || self.chance.below(5) < 2 {
            return self.simple();
        }
        if self.leaning == Leaning::Values && self.chance.below(4) > 0 {
            return if self.chance.one_in(2) { self.using(depth) } else { self.giving() };
        }
        let bash = self.is_bash();
        match self.chance.below(if bash { 38 } else { 24 }) {
            0 => ProgramPart::around(&["{ ", "\n}"], vec![self.body(depth)]),
            1 => ProgramPart::around(&["( ", "\n)"], vec![self.body(depth)]),
            2 | 3 => {
                let between = self.chance.pick(&["\n} && {\n", "\n} || {\n"]);
                ProgramPart::around(&["{ ", between, "\n}"], vec![self.list(1, depth + 1), self.body(depth)])
            }
            4 => {
                let one = self.chance.pick(&["\n} && {\n", "\n} || {\n"]);
                let two = self.chance.pick(&["\n} && {\n", "\n} || {\n"]);
                let parts = vec![self.simple(), self.list(2, depth + 1), self.body(depth)];
                ProgramPart::around(&["{ ", one, two, "\n}"], parts)
            }
            5 => ProgramPart::around(
                &["if ", "\nthen ", "\nfi"],
                vec![self.list(1, depth + 1), self.body(depth)],
            ),
            6 => ProgramPart::around(
                &["if ", "\nthen ", "\nelse ", "\nfi"],
                vec![self.list(1, depth + 1), self.body(depth), self.body(depth)],
            ),
            7 => ProgramPart::around(
                &["if ", "\nthen ", "\nelif ", "\nthen ", "\nfi"],
                vec![self.simple(), self.body(depth), self.simple(), self.body(depth)],
            ),
            8 => {
                let name = self.chance.pick(&["x", "y"]);
                ProgramPart::around(&[&format!("for {name} in 1 2; do "), "\ndone"], vec![self.body(depth)])
            }
            9 => {
                let name = self.name();
                let start = format!("{name}=0\nwhile [ $(({name}={name}+1)) -le 2 ]; do ");
                ProgramPart::around(&[&start, "\ndone"], vec![self.body(depth)])
            }
            10 => {
                let name = self.name();
                let start = format!("{name}=0\nuntil [ $(({name}={name}+1)) -gt 2 ]; do ");
                ProgramPart::around(&[&start, "\ndone"], vec![self.body(depth)])
            }
            11 => {
                let end = self.chance.pick(&["\n;;\n", if bash { "\n;&\n" } else { "\n;;\n" }]);
                let middle = format!("{end}(*) ");
                ProgramPart::around(
                    &["case \"$x\" in (1) ", &middle, "\n;; esac"],
                    vec![self.body(depth), self.body(depth)],
                )
            }
            12 | 13 => {
                let number = self.from.max(1) + self.chance.below(FUNCTIONS);
                let outer = std::mem::replace(&mut self.from, number + 1);
                let body = self.body(depth);
                self.from = outer;
                ProgramPart::around(&[&format!("f{number}() {{ "), "\n}"], vec![body])
            }
            14 => ProgramPart::around(
                &["{ ", "\n} | { ", "\n}"],
                vec![self.list(2, depth + 1), self.body(depth)],
            ),
            15 => ProgramPart::around(&["x=$( ", "\n)"], vec![self.body(depth)]),
            16 => ProgramPart::around(&[": \"$( ", "\n)\""], vec![self.body(depth)]),
            17 => ProgramPart::around(&["eval ", ""], vec![self.body(depth)]).with(Form::Quoted),
            18 => ProgramPart::around(&["trap ", " EXIT"], vec![self.list(2, depth + 1)]).with(Form::Quoted),
            19 => ProgramPart::around(&["! { ", "\n}"], vec![self.list(2, depth + 1)]),
            20 => ProgramPart::around(&["{ ", "\n} &\nwait"], vec![self.body(depth)]),
            21 => {
                let (one, two) =
                    (self.chance.pick(&[" && ", " || "]), self.chance.pick(&[" && ", " || ", "\n", "; "]));
                let start = self.chance.pick(&["", "! ", "if ! "]);
                let end = if start == "if ! " { "; then :; fi" } else { "" };
                let parts = vec![self.simple(), self.simple(), self.mark()];
                ProgramPart::around(&[start, one, two, end], parts)
            }
            22 => {
                let trap = ProgramPart::around(&["trap ", " EXIT"], vec![self.list(2, depth + 1)])
                    .with(Form::Quoted);
                ProgramPart::around(&["( ", "\n", "\n)"], vec![trap, self.list(2, depth + 1)])
            }
            23 => {
                let start = self.chance.pick(&["if ! ", "while ", "while ! ", "until "]);
                let question = self.chance.pick(&["cd d", "cd nodir", "[ -e M0 ]", "false", "echo >nodir/f"]);
                let (middle, end) =
                    if start == "if ! " { ("\nthen ", "\nfi") } else { ("\ndo ", "\nbreak\ndone") };
                let texts = [format!("{start}{question}{middle}"), end.to_owned()];
                // A `continue` in such a loop would never end.
                ProgramPart::around(&[&texts[0], &texts[1]], vec![self.mark()])
            }
            24 => ProgramPart::around(&["trap ", " ERR"], vec![self.simple()]).with(Form::Quoted),
            25 => {
                let name = self.name();
                ProgramPart::around(
                    &[&format!("for (({name}=0; {name}<2; {name}++)); do "), "\ndone"],
                    vec![self.body(depth)],
                )
            }
            26 => {
                let name = self.name();
                ProgramPart::around(
                    &[&format!("{name}=0\nwhile (({name}++ < 2)); do "), "\ndone"],
                    vec![self.body(depth)],
                )
            }
            27 => ProgramPart::around(&["y='a[$( ", "\necho 0)]'\n((y))"], vec![self.mark()]),
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
                ProgramPart::around(&["y='a[$( ", &format!("\necho 0)]'\n{use_it}")], vec![self.mark()])
            }
            29 => ProgramPart::around(&["coproc { ", "\n}\nwait"], vec![self.list(2, depth + 1)]),
            30 => {
                // Another shell does not know the functions.
                let shell = if self.doubt == Doubt::Some { "bash -c " } else { "eval " };
                ProgramPart::around(&[shell, ""], vec![self.body(depth)]).with(Form::Quoted)
            }
            31 => ProgramPart::around(&["time ", ""], vec![self.mark()]),
            32 => ProgramPart::around(&[": <( ", "\n)\nwait"], vec![self.mark()]),
            33 => {
                let end = self.name();
                let texts = [format!(": <<{end}\n$( "), format!("\n)\n{end}\n:")];
                ProgramPart::around(&[&texts[0], &texts[1]], vec![self.body(depth)])
            }
            34 => ProgramPart::around(&["a=( 1 2 \"$( ", "\n)\" )"], vec![self.body(depth)]),
            35 => ProgramPart::around(&["{ ", "\n} 2>/dev/null >nodir/f"], vec![self.body(depth)]),
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
                ProgramPart::around(&["{ ", &format!("\n{use_it}\n}}")], vec![self.mark()])
            }
            _ => ProgramPart::around(&[": ${x:-$( ", "\n)}"], vec![self.mark()]),
        }
    }
}
