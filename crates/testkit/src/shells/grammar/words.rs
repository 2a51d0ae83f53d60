//! Words: quotes, expansions, patterns, arithmetic.

use super::Maker;
use crate::shells::part::{Form, ProgramPart};

/// How deep words may stand in words.
const DEEPEST: usize = 3;

impl Maker<'_> {
    /// A word.
    pub(crate) fn word(&mut self, depth: usize) -> ProgramPart {
        let count = 1 + self.chance.below(3);
        let mut pieces: Vec<ProgramPart> = (0..count).map(|_| self.piece(depth)).collect();
        if self.chance.one_in(24) {
            pieces.insert(0, ProgramPart::word("~"));
        }
        ProgramPart::words(pieces, "")
    }

    /// Some words.
    pub(crate) fn several(&mut self, depth: usize) -> ProgramPart {
        let count = 1 + self.chance.below(3);
        ProgramPart::words((0..count).map(|_| self.word(depth)).collect(), " ")
    }

    fn piece(&mut self, depth: usize) -> ProgramPart {
        let bash = self.is_bash();
        if depth > DEEPEST {
            return self.literal();
        }
        match self.chance.below(if bash { 26 } else { 19 }) {
            0..=2 => self.literal(),
            3 => ProgramPart::word(self.chance.pick(&[
                "'a b'", "' a'", "'a '", "'*'", "'K?'", "'a:b'", "'{a,b}'", "'~'", "'\\a'", "'\\\\'", "'$x'",
                "''", "'#'", "'a\nb'", "'\t'", "'[ab]'", "'a/b'", "'a.b.c'", "'%s'", "'\"'", "'`'",
                "'a b  c'", "'a,b;1'", "'1+1'", "'}'",
            ])),
            4..=6 => self.in_quotes(depth),
            7 => ProgramPart::word(
                self.chance
                    .pick(&["\\ ", "\\*", "\\\\", "\\a", "\\$", "\\\n", "\\'", "\\\"", "\\~", "\\{", "\\;"]),
            ),
            8..=10 => self.variable(),
            11..=14 => self.operation(depth),
            15 => self.arithmetic(depth),
            16 | 17 => self.substitution(depth),
            18 => ProgramPart::word(
                self.chance
                    .pick(&["K?", "K[12]", "K*", "d/*", "[!d]a", "K[!a]", "no*", "d/?1", "*b", "[K]b"]),
            ),
            19 => ProgramPart::word(self.chance.pick(&[
                "$'a\\tb'",
                "$'a\\nb'",
                "$'\\x41'",
                "$'\\101'",
                "$'it\\'s'",
                "$'a b'",
                "$'\\\\'",
                "$\"a b\"",
                "$'\\u61'",
                "$'\\e'",
                "$'a\\0b'",
                "$'\\cA'",
            ])),
            20 | 21 => {
                let parts = vec![self.piece(depth + 1), self.piece(depth + 1)];
                ProgramPart::word_around(&["{", ",", "}"], parts)
            }
            22 => ProgramPart::word(self.chance.pick(&[
                "{1..3}",
                "{a..c}",
                "{3..1..2}",
                "{01..3}",
                "{a,b}{1,2}",
                "{a}",
                "{}",
                "{a,}",
                "{,b}",
                "{1..}",
                "a{b,c",
                "{a,b}}",
                "{{a,b},1}",
                "{b..a}",
                "{1..a}",
                "{-1..1}",
            ])),
            23 | 24 => self.of_array(depth),
            _ => ProgramPart::word(
                self.chance.pick(&["@(K1|K2)", "!(K*)", "+([ab])", "?(a)b", "$[1+1]", "~+", "$_", "K@(a|b)"]),
            ),
        }
    }

    fn literal(&mut self) -> ProgramPart {
        ProgramPart::word(self.chance.pick(&[
            "a", "b", "1", "2", "ab", "a.b", "A", "a:b", "x=1", "-a", "a,b", "a/b", "%", "=", "aab", "10",
            "Ab", "a-b", "^", "@",
        ]))
    }

    /// A text in double quotes.
    pub(crate) fn in_quotes(&mut self, depth: usize) -> ProgramPart {
        let count = 1 + self.chance.below(3);
        let parts = (0..count).map(|_| self.quoted_piece(depth + 1)).collect();
        ProgramPart::word_around(&["\"", "\""], vec![ProgramPart::words(parts, "")])
    }

    fn quoted_piece(&mut self, depth: usize) -> ProgramPart {
        let bash = self.is_bash();
        if depth > DEEPEST {
            return self.literal();
        }
        match self.chance.below(if bash { 13 } else { 11 }) {
            0 => self.literal(),
            1 => ProgramPart::word(self.chance.pick(&[
                "a b", "  ", "*", "'", "'a'", "\\\"", "\\$x", "\\\\", "\\a", "~", "{a,b}", "\\\n", "a\nb",
                "\\`",
            ])),
            2..=4 => self.variable(),
            5..=7 => self.operation(depth),
            8 => self.arithmetic(depth),
            9 | 10 => self.substitution_plain(depth),
            _ => self.of_array(depth),
        }
    }

    fn variable(&mut self) -> ProgramPart {
        ProgramPart::word(self.chance.pick(&[
            "$x", "$y", "${x}", "${z}", "$1", "$2", "${1}", "$#", "$?", "$@", "$*", "${#x}", "$zz", "${10}",
            "$x", "$y", "$z", "$IFS",
        ]))
    }

    fn operation(&mut self, depth: usize) -> ProgramPart {
        let bash = self.is_bash();
        let name = if bash {
            self.chance.pick(&[
                "x", "y", "z", "x", "y", "1", "2", "@", "*", "a", "a[0]", "a[1]", "m[k]", "zz", "a[-1]", "r",
            ])
        } else {
            self.chance.pick(&["x", "y", "z", "x", "y", "1", "2", "zz"])
        };
        match self.chance.below(if bash { 9 } else { 4 }) {
            0 | 1 => {
                let sign = self.chance.pick(&[":-", "-", ":+", "+", ":=", "=", ":-", "-", ":?"]);
                ProgramPart::word_around(&[&format!("${{{name}{sign}"), "}"], vec![self.word(depth + 1)])
            }
            2 | 3 => {
                let sign = self.chance.pick(&["#", "##", "%", "%%"]);
                ProgramPart::word_around(&[&format!("${{{name}{sign}"), "}"], vec![self.pattern(depth + 1)])
            }
            4 | 5 => {
                let sign = self.chance.pick(&["/", "//", "/#", "/%"]);
                if self.chance.one_in(4) {
                    return ProgramPart::word_around(
                        &[&format!("${{{name}{sign}"), "}"],
                        vec![self.pattern(depth + 1)],
                    );
                }
                let parts = vec![self.pattern(depth + 1), self.word(depth + 1)];
                ProgramPart::word_around(&[&format!("${{{name}{sign}"), "/", "}"], parts)
            }
            6 => {
                let end = self.chance.pick(&[
                    "^", "^^", ",", ",,", "~", "~~", "@Q", "@U", "@L", "@u", "@E", "@A", "@a", "@P", "@K",
                    "@k", "^^[ab]", "^a",
                ]);
                ProgramPart::word(format!("${{{name}{end}}}"))
            }
            7 => {
                let end = self.chance.pick(&[
                    ":1", ":1:2", ": -2", ":0:1", ":1:-1", ":0", ":9", ":x", ":1+1", ": -2:1", ":0:0",
                ]);
                ProgramPart::word(format!("${{{name}{end}}}"))
            }
            _ => ProgramPart::word(self.chance.pick(&[
                "${!r}", "${!x}", "${!1}", "${!zz*}", "${!x@}", "${!a[@]}", "${#a[@]}", "${#1}", "${!#}",
                "${@: -1}",
            ])),
        }
    }

    fn of_array(&mut self, depth: usize) -> ProgramPart {
        match self.chance.below(3) {
            0 | 1 => ProgramPart::word(self.chance.pick(&[
                "$a",
                "${a[0]}",
                "${a[1]}",
                "${a[@]}",
                "${a[*]}",
                "${#a[@]}",
                "${#a[0]}",
                "${!a[@]}",
                "${a[@]:1}",
                "${a[@]:0:1}",
                "${a[@]: -1}",
                "${a[-1]}",
                "${a[$x]}",
                "${a[x]}",
                "${m[k]}",
                "${m[@]}",
                "${!m[@]}",
                "${#m[@]}",
                "${m[$x]}",
                "${@:1}",
                "${@:2:1}",
                "${*:1}",
                "${@:0:0}",
                "${a[@]^^}",
                "${a[@]@Q}",
                "${a[*]@Q}",
                "${a[@]:-a}",
                "${a[0]:-b}",
                "${a[@]+a}",
                "${b[@]}",
                "${a[1+0]}",
                "${@@Q}",
                "${a}",
                "${a[9]}",
                "${a[@]@A}",
                "${a[@]:1:1}",
            ])),
            _ => {
                let start =
                    self.chance.pick(&["${a[@]/", "${a[@]#", "${a[@]%", "${a[*]//", "${a[*]##", "${m[@]%%"]);
                ProgramPart::word_around(&[start, "}"], vec![self.pattern(depth + 1)])
            }
        }
    }

    /// A pattern that a text is compared with.
    pub(crate) fn pattern(&mut self, depth: usize) -> ProgramPart {
        if depth <= DEEPEST && self.chance.one_in(5) {
            return self.word(depth + 1).as_fragment();
        }
        let bash = self.is_bash();
        ProgramPart::word(self.chance.pick(&[
            "a",
            "*",
            "?",
            "a*",
            "*a",
            "*.",
            ".*",
            "*/",
            "/*",
            "[ab]",
            "[!a]",
            "[a-b]*",
            "\"*\"",
            "\\*",
            "$x",
            "\"$x\"",
            "'a'*",
            "b",
            "*b*",
            "1",
            "[[:upper:]]",
            "*:",
            ":*",
            "[",
            "??",
            "* ",
            "[0-9]",
            "\\?",
            "a|b",
            "''",
            if bash { "+(a)" } else { "a?" },
            if bash { "@(a|b)" } else { "?b" },
            if bash { "!(a)" } else { "[]]" },
        ]))
        .as_fragment()
    }

    /// An arithmetic expansion.
    fn arithmetic(&mut self, depth: usize) -> ProgramPart {
        ProgramPart::word_around(&["$((", "))"], vec![self.expression(depth)])
    }

    /// An arithmetic expression.
    pub(crate) fn expression(&mut self, depth: usize) -> ProgramPart {
        let bash = self.is_bash();
        if depth <= DEEPEST && self.chance.one_in(2) {
            let sign = self.chance.pick(&[
                "+",
                "-",
                "*",
                " / ",
                "%",
                "<<",
                "<",
                "==",
                "!=",
                "&&",
                "||",
                "&",
                "|",
                "^",
                " >= ",
                if bash { "," } else { "-" },
                if bash { "**" } else { "*" },
            ]);
            let parts = vec![self.expression(depth + 1), self.expression(depth + 1)];
            let texts = if self.chance.one_in(2) { ["(", sign, ")"] } else { ["", sign, ""] };
            return ProgramPart::word_around(&texts, parts).as_fragment();
        }
        ProgramPart::word(self.chance.pick(&[
            "1",
            "2",
            "0",
            "7",
            "x",
            "$x",
            "y",
            "z=2",
            "x+=1",
            "-3",
            "!x",
            "~1",
            "0x1f",
            "017",
            "${#x}",
            "x>1?2:3",
            "zz",
            "$#",
            " 3 ",
            "(x)",
            "y=x",
            "$(echo 2)",
            if bash { "x++" } else { "x" },
            if bash { "--y" } else { "y" },
            if bash { "2#101" } else { "5" },
            if bash { "a[0]" } else { "1" },
            if bash { "a[1]=3" } else { "1" },
            if bash { "08" } else { "9" },
        ]))
        .as_fragment()
    }

    /// A command substitution.
    fn substitution(&mut self, depth: usize) -> ProgramPart {
        if self.chance.one_in(4) {
            let parts = vec![self.output(depth)];
            return ProgramPart::word_around(&["", ""], parts).with(Form::Backticks);
        }
        self.substitution_plain(depth)
    }

    fn substitution_plain(&mut self, depth: usize) -> ProgramPart {
        if self.is_bash() && self.chance.one_in(8) {
            return ProgramPart::word(self.chance.pick(&["$(<K1)", "$(<Ka)", "$(<nofile)", "$(< KA)"]));
        }
        ProgramPart::word_around(&["$(", ")"], vec![self.output(depth)])
    }

    /// A command that prints.
    pub(crate) fn output(&mut self, depth: usize) -> ProgramPart {
        let bash = self.is_bash();
        match self.chance.below(8) {
            0..=2 => ProgramPart::around(&["echo ", ""], vec![self.several(depth + 1)]),
            3 | 4 => {
                let form = self.chance.pick(&[
                    "'%s'",
                    "'%s\\n'",
                    "%s-%s",
                    "'%d'",
                    "'%5s'",
                    "'%-3s|'",
                    "'%03d'",
                    "%x",
                    "%c",
                    "%b",
                    "'%%'",
                    "'a\\tb'",
                    "%.1s",
                    "%s\\n",
                    "'\\101'",
                    "'%s,' a",
                    if bash { "%q" } else { "%s" },
                    if bash { "'%b\\n'" } else { "%s" },
                ]);
                ProgramPart::around(&[&format!("printf {form} "), ""], vec![self.several(depth + 1)])
            }
            5 => ProgramPart::leaf(self.chance.pick(&[
                "cat K1",
                "cat K2",
                "cat Ka Kab",
                "cat nofile",
                "cat <K2",
                "head -n1 K2",
                "wc -l <K2",
                "ls d",
                "pwd",
                "basename a/b",
                "dirname a/b",
                "seq 2",
            ])),
            6 => ProgramPart::around(
                &["echo ", "; echo ", ""],
                vec![self.word(depth + 1), self.word(depth + 1)],
            ),
            _ => {
                let number = self.number();
                ProgramPart::around(&[&format!("echo >M{number}; echo "), ""], vec![self.word(depth + 1)])
            }
        }
    }
}
