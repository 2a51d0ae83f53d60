//! `sh` is dash on one machine and bash on another: what either of them reaches is seen. The real shells say what that is.

#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

use checkrein_effects::predict;
use checkrein_facts::{HostPaths, RecordedWorld};
use checkrein_protocol::{AbsolutePath, Action, EffectKind};

/// Commands about which the shells differ: one fails where the other does not, or prints something else.
const COMMANDS: &[&str] = &[
    "[ a == a ]",
    "test a == a",
    "[ -v HOME ]",
    "[ -a /etc ]",
    "[[ a ]]",
    "[[ -n a && -n b ]]",
    "[[ a == a* ]]",
    "[[ abc =~ b ]]",
    "((1))",
    "((0))",
    "((1 < 2))",
    "let x=1",
    "let x=0",
    "declare x=1",
    "typeset x=1",
    "local -x y=1",
    "x+=b",
    "x=(a b)",
    "x[1]=b",
    "source /dev/null",
    ". /dev/null",
    "shopt -s nullglob",
    "pushd /",
    "popd",
    "dirs",
    "printf %q a",
    "printf -v x a",
    "printf '\\x41'",
    "read -a x </dev/null",
    "read -d x y </dev/null",
    "read -n 1 x </dev/null",
    "read </dev/null",
    "echo a | read -t 1 x",
    "mapfile x </dev/null",
    "set -o pipefail",
    "set -E",
    "set -o posix",
    "trap 'true' ERR",
    "trap 'true' DEBUG",
    "trap 'true' SIGINT",
    "trap 'true' RETURN",
    "export -f f",
    "export -n x",
    "export x=1",
    "readonly -a x",
    "unset -n x",
    "unset -f x",
    "exec -a b true",
    "exec -c true",
    "wait -n",
    "type -t ls",
    "type ls",
    "hash -t ls",
    "ulimit -a",
    "ulimit -u",
    "command -v ls",
    "command -x ls",
    "builtin true",
    "enable true",
    "caller",
    "compgen -k",
    "complete",
    "help",
    "history",
    "logout",
    "suspend -z",
    "disown",
    "time true",
    "time -p true",
    "coproc true",
    "function f { true; }",
    "select x in a; do break; done </dev/null",
    "true &>/dev/null",
    "false &>/dev/null",
    "true &>>/dev/null",
    "true >&/dev/null",
    "true |& true",
    "cat <<< a",
    "cat <(true)",
    "true > >(cat)",
    "exec {fd}>/dev/null",
    "echo ${x//a/b}",
    "echo ${x:0:2}",
    "echo ${!HOME}",
    "echo ${x^^}",
    "echo ${x@Q}",
    "echo ${#x[@]}",
    "echo ${x[0]}",
    "echo $((2**3))",
    "echo $((x++))",
    "echo $((16#ff))",
    "echo $[1+1]",
    "for ((i=0;i<1;i++)); do true; done",
    "case a in a) true ;& b) false ;; esac",
    "[ \"$BASH\" ]",
    "[ \"$RANDOM\" ]",
    "[ \"$UID\" ]",
    "[ \"$PIPESTATUS\" ]",
    "[ \"$BASH_VERSION\" ]",
    "[ \"$SECONDS\" ]",
    "[ \"$FUNCNAME\" ]",
    "[ -n \"$SHLVL\" ]",
    "[ \"$HOSTNAME\" ]",
    "[ \"$OSTYPE\" ]",
    "[ \"$(echo -e a)\" = a ]",
    "[ \"$(echo 'a\\tb')\" = 'a\\tb' ]",
    "[ \"$(echo -n a)\" = a ]",
    "[ \"$(echo -E a)\" = a ]",
    "[ \"$(echo -ne a)\" = a ]",
    "[ \"$(printf '%s' $'a')\" = a ]",
    "[ $'a\\'b' = a ]",
    "[ \"$(echo {a,b})\" = 'a b' ]",
    "[ \"$(echo {1..3})\" = '1 2 3' ]",
    "[ \"$(</etc/hostname)\" ]",
    "[ \"$(echo $\"a\")\" = a ]",
    "case b in [^a]) true ;; *) false ;; esac",
    "case - in [[:punct:]]) true ;; *) false ;; esac",
    "[ \"$(type -t cd)\" = builtin ]",
    "x=a :; [ \"$x\" ]",
    "x=a export y=b; [ \"$x\" ]",
    "x=a eval true; [ \"$x\" ]",
    "alias a=true\na",
    "alias a=false\na",
    "f() { return; }; x=a f; [ \"$x\" ]",
    "eval -- true",
    "cd -e /",
    "cd -- /",
    "umask -S",
    "umask -p",
    "shift 1 2",
    "break 1",
    "return 0",
    "getopts a x",
    "jobs -x true",
    "kill -l",
    "times",
    "fc -l",
    "bind -l",
    "print a",
    "set -- a; [ \"$1\" = a ]",
    "a-b() { true; }; a-b",
    "! ! true",
    "{ true; } |& true",
    "true;& true",
    "(( 1 # 2 ))",
    "[ a \\< b ]",
    "[ a -ef b ]",
    "[ ! a == a ]",
    "! [ a == a ]",
    "[ -t 0 ]",
    "[ -o errexit ]",
    "[ a = a -a b == b ]",
    "echo ~+ >/dev/null",
    "[ ~+ = '~+' ]",
    "PATH=/nosuch; [[ a ]]",
    "IFS=a; read x <<< bac",
    "test -N /etc/passwd",
    "unset BASH; [ \"$BASH\" ]",
    "trap - ERR",
    "set -o vi",
    "set +o posix",
];

/// What runs behind a command, or around it.
const AROUND: &[&str] = &[
    "@ && touch M1 || touch M2; touch M3",
    "@\ntouch M1",
    "(@) && touch M1; (@) || touch M2; if (@); then touch M3; else touch M4; fi; ! (@) && touch M5; x=$(@) && touch M6; touch M7",
    "f() { @; }; f || touch M1; until @; do touch M2; break; done; eval '@' || touch M3",
];

/// Texts that run something in one of the shells only.
const TEXTS: &[&str] = &[
    "[[ a || touch M1 ]]",
    "[[ a ; touch M1",
    "((touch M1))",
    "((touch M1) || true)",
    "touch {M1,M2}",
    "touch M{1..2}",
    "function f {\ntouch M1\n}",
    "function touch M1 || touch M2",
    "x=touch :; $x M1",
    "x=touch eval; $x M1",
    "alias x=touch\nx M1",
    "alias x=touch; x M1",
    "time touch M1",
    "coproc touch M1; wait",
    "select x in a\ndo touch M1; done",
    "touch M1 <<< a",
    "touch M1\ntouch M2 <<< a\ntouch M3",
    "touch M1; x=(a); touch M2",
    "touch M1\nx=(a)\ntouch M2",
    "true &>M1 && touch M2",
    "touch M1 &>/dev/null; touch M2",
    "cat <(touch M1)",
    "touch M1 |& cat",
    "echo 'touch M1\\ntouch M2' | sh",
    "echo 'true\\ntouch M1' | sh",
    "sh -c 'echo \"true\\ntouch M1\"' | bash",
    "echo -e 'touch M1' | sh",
    "echo -n 'touch M1' | sh",
    "x=$(echo -e 'touch M1'); $x",
    "for x in {a,b}; do touch M$x; done",
    "x=M1; touch ${x//1/2}",
    "x=M1; touch ${x/1/2}; touch M3",
    "(x=M1; touch ${x/1/2}); touch M3",
    "touch $'M1'",
    "touch $\"M1\"",
    "case M1 in $'M1') touch M1 ;; *) touch M2 ;; esac",
    "trap 'touch M1' ERR; false",
    "trap 'touch M1' EXIT; false",
    "trap 'touch M1' SIGTERM; kill -TERM $$",
    "trap 'touch M1' DEBUG; true",
    "f() { touch M1; }; export -f f; bash -c f",
    "source ./x || touch M1",
    "x=M1; touch ${x:0:1}9 || true",
    "n=x; x=M1; touch ${!n}",
    "touch M1 >&/dev/null",
    "let 'x=touch' || touch M1",
    "if [[ a ]]\nthen touch M1\nfi",
    "if true; then touch M1; fi; cat <<< a",
    "if true; then\ntouch M1\ncat <<< a\nfi\ntouch M2",
    "set -- M1; touch ${@:1:1}",
    "[ \"$BASH_VERSION\" ] && touch M1 || touch M2",
    "if [ -z \"$RANDOM\" ]; then touch M1; fi",
    "cat <<E | sh\ntouch M1\nE",
    "x='[[ a ]] || touch M1'; eval \"$x\"",
    "sh -c '[[ a ]] || touch M1'",
    "dash -c '[ a == a ] || touch M1'",
    "printf -v x M1; touch \"M2$x\"",
    "echo M1 | { read -a x; touch M9$x; }",
    "for ((;;)); do touch M1; break; done",
    "case a in a) touch M1 ;& b) touch M2 ;; esac",
    "{ touch M1; } &>/dev/null",
    "exec 3<<< a; touch M1",
    "touch M1 # &> [[",
    "x=a; x+=b; touch M$x",
    "readonly x=1; x=2; touch M1",
    "(readonly x=1; x=2; touch M1) || touch M2",
    "shift 5; touch M1",
    "(shift 5) || touch M1",
    "x=$((2**3)); touch M1",
    "(: $((2**3))) || touch M1",
    "local x=1; touch M1",
    "f() { local -x y=1; touch M1; }; f; touch M2",
];

fn reached(folder: &Path, shell: &str, language: &str, number: usize, text: &str) -> BTreeSet<String> {
    let scratch = folder.join(format!("{shell}{language}{number}"));
    std::fs::create_dir(&scratch).unwrap();
    let mut child = Command::new("timeout")
        .args(["10", shell, "-c", text])
        .current_dir(&scratch)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("LC_ALL", language)
        .env("HOME", &scratch)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // What runs beside the shell has ended when nobody can write there any more.
    std::io::copy(child.stderr.as_mut().unwrap(), &mut std::io::sink()).unwrap();
    child.wait().unwrap();
    let names =
        std::fs::read_dir(&scratch).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with('M')).collect()
}

/// The marks that are foreseen; `None` where the reading says that it did not see all.
fn foreseen(command: &str) -> Option<BTreeSet<String>> {
    let root = AbsolutePath::root().join("scratch");
    let place = HostPaths::new(root.clone(), root.clone());
    let world = RecordedWorld::complete(place).with_directory(&AbsolutePath::root().join("etc"));
    let prediction = predict(&Action::command(command, root), &world);
    let mut marks = BTreeSet::new();
    for effect in prediction.effects {
        match (effect.kind, effect.target.text()) {
            (EffectKind::Opaque, _) | (EffectKind::FileCreate | EffectKind::FileModify, None) => return None,
            (EffectKind::FileCreate | EffectKind::FileModify, Some(path)) => {
                marks.insert(path.rsplit('/').next().unwrap().to_owned());
            }
            _ => {}
        }
    }
    Some(marks)
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

fn texts() -> Vec<String> {
    let generated = COMMANDS.iter().flat_map(|command| {
        AROUND
            .iter()
            .filter(move |around| !around.contains('\'') || !command.contains('\''))
            .map(move |around| around.replace('@', command))
    });
    generated.chain(TEXTS.iter().map(|text| (*text).to_owned())).collect()
}

#[test]
fn what_either_shell_reaches_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let mut lost = Vec::new();
    let (mut apart, mut unread) = (0, 0);
    for (number, text) in texts().iter().enumerate() {
        let first = reached(folder.path(), "bash", "C", number, text);
        let second = reached(folder.path(), "dash", "C", number, text);
        apart += usize::from(first != second);
        let Some(seen) = foreseen(&format!("sh -c {}", quoted(text))) else {
            unread += 1;
            continue;
        };
        for (shell, marks) in [("bash", first), ("dash", second)] {
            let missed: Vec<&String> = marks.difference(&seen).collect();
            if !missed.is_empty() {
                lost.push(format!("{shell}: {missed:?}: {text}"));
            }
        }
    }
    assert!(lost.is_empty(), "{} lost:\n{}", lost.len(), lost.join("\n"));
    assert!(apart > 300, "the shells differ about only {apart}");
    assert!(unread < texts().len() / 10, "{unread} of {} could not be read", texts().len());
}

/// Who says bash gets bash: nothing that only the other shell reaches is asked about.
#[test]
fn a_shell_that_is_named_is_read_as_itself() {
    for text in [
        "((touch M1))",
        "[[ a || b ]] || touch M1",
        "touch {a,b}; [ a == a ] || touch M1",
        "[[ a ]] || touch M1",
    ] {
        let seen = foreseen(&format!("bash -c {}", quoted(text))).unwrap_or_else(|| panic!("{text}"));
        assert!(!seen.contains("M1"), "{text}: {seen:?}");
    }
}

/// What one letter is, which class it has and how it is sorted is for the language of the shell to say.
#[test]
fn what_runs_in_any_language_is_seen() {
    let questions = [
        "case é in [[:alpha:]]) ;; *) false ;; esac",
        "case é in [a-z]) ;; *) false ;; esac",
        "case é in ?) ;; *) false ;; esac",
        "case é in ??) ;; *) false ;; esac",
        "case É in [[:upper:]]) ;; *) false ;; esac",
        "case xé in x[!a]) ;; *) false ;; esac",
        "[[ é == [[:alpha:]] ]]",
        "[[ é =~ ^.$ ]]",
        "[[ é =~ ^[[:alpha:]]$ ]]",
        "x=é; [ ${#x} = 2 ]",
        "x=é; [ ${#x} = 1 ]",
        "x=é; [ \"${x^^}\" = é ]",
        "x=É; [ \"${x,,}\" = é ]",
        "x=é; [ \"${x^}\" = é ]",
        "x=éa; [ \"${x:1}\" = a ]",
        "x=éa; [ \"${x:0:2}\" = é ]",
        "x=éa; [ \"${x#?}\" = a ]",
        "x=éa; [ \"${x#??}\" = a ]",
        "x=aé; [ \"${x%?}\" = a ]",
        "x=é; [ \"${x//[[:alpha:]]/a}\" = a ]",
        "x=é; [ \"${x//?/a}\" = aa ]",
        "declare -u x=é; [ \"$x\" = é ]",
        "[[ é > z ]]",
        "[[ B < a ]]",
        "[[ B > a ]]",
        "x=é; read -n 1 y <<< $x; [ \"$y\" = é ]",
        "[ \"$(printf '%.1s' é)\" = é ]",
    ];
    let folder = tempfile::tempdir().unwrap();
    let mut lost = Vec::new();
    let mut apart = 0;
    for (number, question) in questions.iter().enumerate() {
        let text = format!("{question} && touch M1 || touch M2");
        let plain = reached(folder.path(), "bash", "C", number, &text);
        let wide = reached(folder.path(), "bash", "C.UTF-8", number, &text);
        apart += usize::from(plain != wide);
        let Some(seen) = foreseen(&text) else { continue };
        lost.extend(
            plain.union(&wide).filter(|mark| !seen.contains(*mark)).map(|mark| format!("{mark}: {question}")),
        );
    }
    assert!(lost.is_empty(), "{} lost:\n{}", lost.len(), lost.join("\n"));
    assert!(apart > 10, "the languages differ about only {apart}");
}
