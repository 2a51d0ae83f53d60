//! Texts in which the real bash runs what stands for MARK because a line takes it from a line before, because a trap runs, or because
//! somebody chose it.

/// How bash is told to remember lines and to put them in.
const SWITCHES: &[&str] = &[
    "set -o history -o histexpand",
    "set -H\nset -o history",
    "shopt -so history histexpand",
    "set -o history -H",
];

/// Lines that hold the mark and do not run it, each with lines that run what they hold.
const LINES: &[(&str, &[&str])] = &[
    (
        ": MARK",
        &[
            "!:1-$",
            "!:1*",
            "!*",
            "!!:1-$",
            "!-1:1-$",
            "!?MARK?:1-$",
            "!::1-$",
            "!!:s/: /true; /",
            "^: ^true; ^",
            "true && !*",
            "x=1 !*",
            "! !*",
            "{ !*; }",
            "( !* )",
            "if !*; then :; fi",
            "eval \"!*\"",
            "eval !*",
            "echo \"$(!*)\"",
            "nohup !*",
            "bash -c \"!*\"",
            "for i in 1; do !*; done",
            "f() { !*; }; f",
            "echo '!*' | cat; !*",
            "echo done! ; !*",
            ": \\!* ; !*",
            "!* # !!",
        ],
    ),
    (
        "echo MARK",
        &[
            "!:1-$",
            "^echo ^",
            "!!:s/echo//",
            "!e:1*",
            "!echo:1-$",
            "!! | bash",
            "bash <<< \"!*\"",
            "!!:gs/echo/eval/",
        ],
    ),
    (
        "true 'MARK'",
        &[
            "eval !$",
            "eval !^",
            "eval !:1",
            "!!:s/true/eval/",
            "^true^eval^",
            "bash -c !$",
            "eval !true:$",
            "sh -c !!:1",
        ],
    ),
    ("false && MARK", &["!:2-$", "!!:s/false/true/", "^false^true^", "^&&^||^", "!false:2-$", "!!:2*"]),
    ("for i in; do MARK; done", &["^in;^in 1;^", "!!:s/in;/in 1;/"]),
    ("history -s MARK", &["!!", "true; !!", "!-1"]),
];

/// Each of these lines behind each line before and each switch, given to a bash by an option, by its input and in a file.
pub(super) fn histories() -> Vec<String> {
    let mut texts = Vec::new();
    for switch in SWITCHES {
        for (before, lines) in LINES {
            for line in *lines {
                let text = format!("{switch}\n{before}\n{line}");
                texts.push(format!("bash -c '{}'", text.replace('\'', "'\\''")));
                texts.push(format!("bash <<'END'\n{text}\nEND"));
                texts.push(format!("cat > s.sh <<'END'\n{text}\nEND\nbash s.sh"));
            }
        }
    }
    texts
}

/// Traps that run at another time than at the end of the shell.
pub(super) const TRAPS: &[&str] = &[
    "trap 'MARK' RETURN; . /dev/null",
    "trap 'MARK' RETURN\n. ./README.md 2>/dev/null",
    "f() { trap 'MARK' RETURN; }; f",
    "f() { trap 'MARK' RETURN; g() { :; }; g; }; f",
    "trap 'MARK' RETURN; f() { :; }; declare -ft f; f",
    "set -T; trap 'MARK' RETURN; f() { :; }; f",
    "set -o functrace; trap 'MARK' RETURN; f() { :; }; f",
    "shopt -s extdebug; trap 'MARK' RETURN; f() { :; }; f",
    "bash -T -c 'trap \"MARK\" RETURN; f() { :; }; f'",
    "f() { local d='MARK'; trap 'eval $d' RETURN; }; f",
    "trap 'd=\"MARK\"' RETURN; . /dev/null; $d",
    "trap 'f() { MARK; }' RETURN; . /dev/null; f",
    "set -m; trap 'trap - CHLD; MARK' CHLD; sleep 0.1 & wait",
    "trap 'trap - CHLD; MARK' CHLD; true | true; :",
    "trap 'trap - CHLD; MARK' SIGCHLD; (:); :",
    "trap 'd=\"MARK\"' CHLD; /bin/true; :; $d",
    "trap 'trap - CHLD; MARK' 17; /bin/true; :",
    "bash <<'END'\ntrap 'MARK' USR2\n(kill -USR2 $$)\n:\nEND",
    "bash <<'END'\ntrap 'MARK' USR2\nbash -c 'kill -USR2 $PPID'\n:\nEND",
    "bash <<'END'\ntrap 'MARK' USR2\nkill -USR2 $$ & wait\n:\nEND",
    "bash <<'END'\ntrap 'MARK' HUP\nenv kill -HUP $$\n:\nEND",
    "bash <<'END'\ntrap 'd=\"MARK\"' USR1\n(kill -USR1 $$)\n:\n$d\nEND",
    "bash <<'END'\ntrap 'MARK' USR1\nkill -s USR1 $$\n:\nEND",
    "bash <<'END'\ntrap 'MARK' SIGUSR1\nkill -10 $$\n:\nEND",
    "trap 'MARK' PIPE; exec 3> >(:); sleep 0.2; echo x >&3; :",
    "bash <<'END'\ntrap 'MARK' PIPE\nkill -PIPE $$\n:\nEND",
    "trap 'MARK' ERR; false; :",
    "trap 'd=\"MARK\"' DEBUG; :; $d",
    "sh -c 'trap \"MARK\" USR2; (kill -USR2 $$); :'",
    "dash -c 'trap \"trap - CHLD; MARK\" CHLD; /bin/true; :; :'",
    "dash -c 'trap \"MARK\" USR1; kill -USR1 $$ & wait; :'",
];

/// What is chosen from the words that a call was given.
pub(super) const SELECTIONS: &[&str] = &[
    "set -- a b; select x; do MARK; break; done <<< 1",
    "set -- a b\nselect x\ndo MARK; break\ndone <<< 1",
    "set -- MARK; select x; do $x; break; done <<< 1",
    "set -- 'MARK'; select x; do eval $x; break; done <<< 1",
    "f() { select x; do eval \"$x\"; break; done <<< 1; }; f 'MARK'",
    "set -- a 'MARK'; select x; do eval \"$x\"; break; done <<< 2",
    "set -- a; select x do MARK; break; done <<< 1",
    "set -- a; if true; then select x; do MARK; break; done <<< 1; fi",
    "set -- a; { select x; do MARK; break; done; } <<< 1",
    "set -- a; (select x; do MARK; break; done) <<< 1",
    "bash -c 'select x; do MARK; break; done' s a <<< 1",
    "set -- a; select x; do echo $REPLY; MARK; break; done < <(echo 1)",
    "set -- a; echo 1 | select x; do MARK; break; done",
];

/// What a local variable holds at its beginning, and what stays of what stands in front of a built-in.
pub(super) const SCOPES: &[&str] = &[
    "f() { local -I x; eval \"$x\"; }; x='MARK'; f",
    "f() { local -I x; $x; }; x='MARK' f",
    "dash -c 'f() { local x; eval \"$x\"; }; x=\"MARK\"; f'",
    "dash -c 'f() { local x; $x; }; x=\"MARK\"; f'",
    "dash -c 'x=\"MARK\" times >/dev/null; eval \"$x\"'",
    "dash -c 'x=\"MARK\" shift 0; eval \"$x\"'",
    "dash -c 'x=\"MARK\" export y; eval \"$x\"'",
    "dash -c 'x=\"MARK\" :; eval \"$x\"'",
    "set -o posix; x='MARK' :; eval \"$x\"",
    "shopt -s lastpipe; echo 'MARK' | read -r x; eval \"$x\"",
];
