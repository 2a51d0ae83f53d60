//! Where values come from, and what is done with them.

use super::Maker;
use crate::shells::part::{Form, ProgramPart};

impl Maker<'_> {
    /// A command that gives something a value, or changes how values are read.
    pub(crate) fn giving(&mut self) -> ProgramPart {
        let bash = self.is_bash();
        let name = self.chance.pick(&["x", "y", "z", "x", "y"]);
        match self.chance.below(if bash { 32 } else { 15 }) {
            0..=3 => ProgramPart::around(&[&format!("{name}="), ""], vec![self.word(0)]),
            4 => {
                let start = self.chance.pick(&["export ", "readonly q", "export "]);
                ProgramPart::around(&[&format!("{start}{name}="), ""], vec![self.word(0)])
            }
            5 | 6 => ProgramPart::around(&["set -- ", ""], vec![self.several(0)]),
            7 => ProgramPart::leaf(self.chance.pick(&[
                "shift",
                "shift 2",
                "shift 0",
                "set --",
                "unset x",
                "unset -v y",
                "set -- \"$@\" a",
                "set -f",
                "set +f",
                "set -C",
                "set -u",
                "set -a",
                "set -n; :",
            ])),
            8 => ProgramPart::leaf(self.chance.pick(&[
                "IFS=:",
                "IFS=",
                "IFS=,",
                "IFS=' :'",
                "IFS=a",
                "unset IFS",
                "IFS=' \t\n'",
                "IFS=b:",
            ])),
            9 => {
                let read = self.reading();
                ProgramPart::around(&[&format!("{read} <<E\n"), "\nE"], vec![self.document()])
            }
            10 => {
                let read = self.reading();
                ProgramPart::around(
                    &[&format!("{read} <<'E'\n"), "\nE"],
                    vec![ProgramPart::word(
                        self.chance.pick(&["a b", "$x", "a\\b", "a:b c", " a ", "\\", "a\\\nb"]),
                    )],
                )
            }
            11 => ProgramPart::leaf(self.chance.pick(&[
                "read x <K1",
                "read -r x y <K2",
                "read x <nofile",
                "read x </dev/null",
                "read x <Ka",
                "{ read x; read y; } <K2",
                "IFS=: read x y <Kab",
                "getopts ab: x",
                "OPTIND=1",
            ])),
            12 => ProgramPart::around(
                &["while getopts ab: z ", "; do :; done"],
                vec![ProgramPart::word(self.chance.pick(&["-a", "-b 1", "-ab", "-c", "-a -b2 a", "a"]))],
            ),
            13 => ProgramPart::around(&[": $((", "))"], vec![self.expression(0)]),
            14 => ProgramPart::around(&[&format!("eval {name}="), ""], vec![self.word(0)]),
            15 | 16 => ProgramPart::around(&["a=(", ")"], vec![self.several(0)]),
            17 => {
                let start = self
                    .chance
                    .pick(&["a[1]=", "a+=(", "x+=", "a[0]+=", "a[x]=", "m[k]=", "a[-1]=", "x[1]=", "a="]);
                let end = if start.ends_with('(') { ")" } else { "" };
                ProgramPart::around(&[start, end], vec![self.word(0)])
            }
            18 => {
                ProgramPart::around(&["declare -A m=([k]=", " [a]=", ")"], vec![self.word(0), self.word(0)])
            }
            19 => {
                let start = self.chance.pick(&[
                    "declare -i x=",
                    "declare -u x=",
                    "declare -l y=",
                    "declare -x z=",
                    "declare x=",
                    "typeset y=",
                    "declare -c x=",
                    "declare -iu y=",
                ]);
                ProgramPart::around(&[start, ""], vec![self.word(0)])
            }
            20 => ProgramPart::leaf(self.chance.pick(&[
                "declare -n r=x",
                "r=y",
                "declare -n r=a",
                "unset -n r",
                "r=x",
                "unset 'a[0]'",
                "unset a",
                "declare -a a",
                "declare -A m",
                "unset m",
                "unset -v r",
                "declare -n r=1",
                "declare +i x",
            ])),
            21 | 22 => {
                let form =
                    self.chance.pick(&["%s", "%d", "'%s:'", "%q", "%b", "%03d", "'%s\\n'", "%c", "%s%s"]);
                ProgramPart::around(&[&format!("printf -v {name} {form} "), ""], vec![self.several(0)])
            }
            23 | 24 => {
                let read = self.reading();
                ProgramPart::around(&[&format!("{read} <<< "), ""], vec![self.word(0)])
            }
            25 => {
                let start = self.chance.pick(&[
                    "mapfile -t a",
                    "mapfile a",
                    "readarray -t a",
                    "mapfile -t -n1 a",
                    "mapfile -d: -t a",
                    "mapfile -t -O1 a",
                    "mapfile -ts1 a",
                ]);
                ProgramPart::around(&[&format!("{start} <<< "), ""], vec![self.word(0)])
            }
            26 => ProgramPart::around(&["mapfile -t a < <(", ")"], vec![self.output(1)]),
            27 => ProgramPart::around(&["read x < <(", ")"], vec![self.output(1)]),
            28 => ProgramPart::leaf(self.chance.pick(&[
                "shopt -s nullglob",
                "shopt -s failglob",
                "shopt -s dotglob",
                "shopt -s extglob",
                "shopt -s nocasematch",
                "shopt -s globstar",
                "shopt -s nocaseglob",
                "shopt -u nullglob",
                "shopt -s expand_aliases",
                "set +o braceexpand",
                "set -o posix",
                "shopt -s inherit_errexit",
                "shopt -s patsub_replacement",
            ])),
            29 => {
                let sign = self.chance.pick(&["let x=", "((y=", "((a[1]="]);
                let end = if sign.starts_with('(') { "))" } else { "" };
                ProgramPart::around(&[sign, end], vec![self.expression(1)])
            }
            30 => {
                let number = 1 + self.chance.below(3);
                ProgramPart::around(&[&format!("alias q{number}="), ""], vec![self.in_quotes(1)])
            }
            _ => ProgramPart::around(&["local x=", ""], vec![self.word(0)]),
        }
    }

    fn reading(&mut self) -> &'static str {
        if self.is_bash() {
            self.chance.pick(&[
                "read x",
                "read -r x",
                "read x y",
                "IFS=: read x y",
                "read -a a",
                "read -ra a",
                "IFS= read -r x",
                "IFS=, read -ra a",
                "read -d: x",
                "read -n1 x",
                "read",
                "read -N2 x",
                "read -r x y z",
            ])
        } else {
            self.chance.pick(&[
                "read x",
                "read -r x",
                "read x y",
                "IFS=: read x y",
                "IFS= read -r x",
                "read -r x y z",
            ])
        }
    }

    /// The text of a here-document of which the delimiter is bare.
    fn document(&mut self) -> ProgramPart {
        let lines = 1 + self.chance.below(2);
        let parts = (0..lines)
            .map(|_| {
                if self.chance.one_in(5) {
                    ProgramPart::word(self.chance.pick(&[
                        "a b", "\\$x", "'a'", "\"a\"", "a\\\nb", "a\\b", " a:b", "\\\\", "{a,b}", "*",
                    ]))
                } else {
                    let inner = self.in_quotes(0);
                    // As in quotes, without them.
                    ProgramPart::words(inner.parts, "")
                }
            })
            .collect();
        ProgramPart::words(parts, "\n")
    }

    /// A command that does something with values that shows.
    pub(crate) fn using(&mut self, depth: usize) -> ProgramPart {
        let bash = self.is_bash();
        let number = self.number();
        match self.chance.below(if bash { 40 } else { 30 }) {
            0..=2 => ProgramPart::around(&[&format!(": >M{number}"), ""], vec![self.word(0)]),
            3 | 4 => ProgramPart::around(
                &[&format!(": >M{number}\""), "\""],
                vec![self.in_quotes(0).parts.remove(0)],
            ),
            5..=7 => ProgramPart::around(&[&format!("touch -- M{number}"), ""], vec![self.word(0)]),
            8 | 9 => ProgramPart::around(&["rm -f -- K", ""], vec![self.word(0)]),
            10 => ProgramPart::around(
                &["for i in ", &format!("; do : >M{number}\"$i\"; done")],
                vec![self.several(0)],
            ),
            11 => ProgramPart::around(&["for i in ", "; do rm -f -- \"K$i\"; done"], vec![self.several(0)]),
            12 => ProgramPart::leaf(format!("for i; do : >M{number}$i; done")),
            13 | 14 => {
                let end = self.chance.pick(&["\n;;\n(*) ", "\n;;\n", "\n;;\n[ab]*) "]);
                let more = if end.ends_with(' ') { vec![self.mark()] } else { Vec::new() };
                let mut parts =
                    vec![self.word(1), self.pattern(0), ProgramPart::leaf(format!("echo >M{number}"))];
                let texts: Vec<&str> = if more.is_empty() {
                    vec!["case ", " in (", ") ", "\n;; esac"]
                } else {
                    vec!["case ", " in (", ") ", end, "\n;; esac"]
                };
                parts.extend(more);
                ProgramPart::around(&texts, parts)
            }
            15 | 16 => {
                let sign = self.chance.pick(&[" = ", " != ", " -eq ", " -lt ", " -ge "]);
                let parts = vec![self.in_quotes(0), self.in_quotes(0)];
                ProgramPart::around(&["[ ", sign, &format!(" ] && echo >M{number}")], parts)
            }
            17 => {
                let sign = self.chance.pick(&["", "-n ", "-z ", "! ", "-e ", "-d ", "-f "]);
                let end = self.chance.pick(&["&&", "||"]);
                ProgramPart::around(
                    &[&format!("[ {sign}"), &format!(" ] {end} echo >M{number}")],
                    vec![self.word(0)],
                )
            }
            18 => {
                let parts = vec![self.output(0)];
                ProgramPart::around(&["", &format!(" | while read -r l; do : >M{number}\"$l\"; done")], parts)
            }
            19 => ProgramPart::around(
                &["", &format!(" | while IFS=: read -r l k; do : >\"M{number}$k\"; done")],
                vec![self.output(0)],
            ),
            20 => ProgramPart::around(&["", &format!(" >M{number}")], vec![self.output(0)]),
            21 => ProgramPart::leaf(match self.chance.below(8) {
                0 => format!("exec 3>M{number}"),
                1 => format!("echo a 3>M{number} >&3"),
                2 => format!("cat >M{number} <<E\na $x\nE"),
                3 => format!("cat K1 | tee M{number}"),
                4 => format!("command touch M{number}"),
                5 => format!("{{ echo a; echo b >&2; }} >M{number} 2>&1"),
                6 => format!("echo >|M{number}"),
                _ => format!("echo >>M{number}"),
            }),
            22 => ProgramPart::around(&["eval ", ""], vec![ProgramPart::leaf(format!("echo >M{number}$x"))])
                .with(Form::Quoted),
            23 => {
                let start = self.chance.pick(&["x=", "y="]);
                let use_it = self.chance.pick(&[
                    "eval \"$x\"",
                    "$x",
                    "eval $y",
                    "sh -c \"$x\"",
                    "$y",
                    "sh -c \"$y\"",
                    "eval \"$x$y\"",
                    "echo \"$x\" | sh",
                    "eval \"$(echo \"$x\")\"",
                ]);
                let command = self.chance.pick(&[
                    "echo >",
                    "touch ",
                    "a=1 touch ",
                    "rm -f K1; touch ",
                    "echo a | tee ",
                ]);
                ProgramPart::around(
                    &[start, &format!("\n{use_it}")],
                    vec![ProgramPart::leaf(format!("{command}M{number}"))],
                )
                .with(Form::Quoted)
            }
            24 => ProgramPart::around(
                &[&format!("echo 'echo >M{number}' >s; "), ""],
                vec![ProgramPart::leaf(self.chance.pick(&[". ./s", "sh s", ". ./s a b", "sh <s", "sh ./s"]))],
            ),
            25 => ProgramPart::around(
                &["trap '", "' USR1; kill -USR1 $$"],
                vec![ProgramPart::leaf(format!("echo >M{number}"))],
            ),
            26 => {
                ProgramPart::around(&["echo ", &format!(" | xargs touch -- M{number}")], vec![self.word(0)])
            }
            27 => ProgramPart::around(
                &[&format!("x={} touch M{number}", self.chance.pick(&["1", "$y", "a"])), ""],
                vec![self.word(0)],
            ),
            28 => {
                let test = self.expression(0);
                ProgramPart::around(
                    &["if [ $((", &format!(")) -gt 1 ]; then echo >M{number}; fi")],
                    vec![test],
                )
            }
            29 => {
                let body = self.list(2, depth + 1);
                ProgramPart::around(
                    &["while read -r l; do ", "\ndone <<E\n", "\nE"],
                    vec![body, self.document()],
                )
            }
            30 | 31 => {
                let sign = self.chance.pick(&[" == ", " != ", " = ", " < ", " -eq "]);
                let left = self.word(0);
                let right = if sign == " < " || sign == " -eq " { self.word(0) } else { self.pattern(0) };
                ProgramPart::around(&["[[ ", sign, &format!(" ]] && echo >M{number}")], vec![left, right])
            }
            32 => {
                let end = self.chance.pick(&[
                    "a", "^a", "b$", "a.*", "[ab]+", "(a)(b)?", "^$", "\\.", "a|b", "$x", "\"$x\"", "'a'",
                    "^[0-9]+$",
                ]);
                let then = self.chance.pick(&["", "${BASH_REMATCH[0]}", "\"${BASH_REMATCH[1]}\""]);
                ProgramPart::around(
                    &["[[ ", &format!(" =~ {end} ]] && : >M{number}{then}")],
                    vec![self.word(0)],
                )
            }
            33 => {
                let sign = self.chance.pick(&["-n", "-z", "-v x -o -v zz ||", "-e", "!"]);
                let sign = if sign.starts_with("-v") { "-v x && -n" } else { sign };
                ProgramPart::around(
                    &[&format!("[[ {sign} "), &format!(" ]] || echo >M{number}")],
                    vec![self.word(0)],
                )
            }
            34 => ProgramPart::around(&["((", &format!(")) && echo >M{number}")], vec![self.expression(0)]),
            35 => ProgramPart::around(
                &[
                    "select i in ",
                    &format!("; do : >M{number}\"$i\"; break; done <<< {}", 1 + self.chance.below(2)),
                ],
                vec![self.several(0)],
            ),
            36 => ProgramPart::around(
                &["coproc { ", &format!("\n}}\nwait; echo >M{number}")],
                vec![self.output(0)],
            ),
            37 => {
                let end = self.chance.pick(&["echo", "printf %s", "cat <<<"]);
                ProgramPart::around(
                    &[&format!("while IFS= read -r l; do : >M{number}\"$l\"; done < <({end} "), ")"],
                    vec![self.word(0)],
                )
            }
            38 => ProgramPart::leaf(match self.chance.below(7) {
                0 => "q1".to_owned(),
                1 => "q2 a".to_owned(),
                2 => format!("builtin echo >M{number}"),
                3 => format!("type x >M{number}"),
                4 => format!("exec 3<>M{number}"),
                5 => format!("exec {{fd}}>M{number}; echo a >&$fd"),
                _ => format!("echo a &>M{number}"),
            }),
            _ => ProgramPart::around(
                &["trap ", " ", ""],
                vec![
                    ProgramPart::leaf(format!("'echo >M{number}'")),
                    ProgramPart::leaf(
                        self.chance.pick(&["DEBUG", "RETURN", "ERR", "EXIT", "CHLD", "- EXIT"]),
                    ),
                ],
            ),
        }
    }
}
