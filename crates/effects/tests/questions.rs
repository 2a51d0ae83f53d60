//! Which way a question about a value leads is what the real bash says: what runs there is seen, under every option of the shell too.

#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::process::{Command, Stdio};

use checkrein_effects::predict;
use checkrein_facts::VersionState;
use checkrein_protocol::EffectKind;
use checkrein_testkit::world::{bare, command, path};

/// Questions whose answers hang on an option of the shell.
const OPTIONAL: &[&str] = &[
    "x=aab; [ \"${x##+(a)}\" = aab ]",
    "x=aab; [ \"${x%%+(b)}\" = aab ]",
    "x=a; [ \"${x/@(a)/b}\" = a ]",
    "[[ a == @(a) ]]",
    "set -- {a,b}; [ $# = 1 ]",
    "set -- {1..3}; [ $# = 1 ]",
    "x=A; [ \"${x/a/}\" ]",
    "x=A; [ \"${x//a/}\" ]",
    "x=A; [ \"${x#a}\" ]",
    "[[ A =~ a ]]",
    "[[ A == a ]]",
    "case A in a) ;; *) false ;; esac",
    "[ A = a ]",
    "x=ab; [ \"${x/a/&&}\" = '&&b' ]",
    "x=ab; [ \"${x/a/&&}\" = aab ]",
    "x=ab; y='&'; [ \"${x/a/$y}\" = ab ]",
    "x=ab; y='\\&'; [ \"${x/a/$y}\" = '&b' ]",
    "set -- nosuch*; [ \"$1\" = 'nosuch*' ]",
    "set -- /et*; [ \"$1\" = '/et*' ]",
    "x=2 :; [ \"$x\" = 2 ]",
    "x='exit 3'; bash -c 'eval \"$x\"'",
    "[ \"$(echo 'a\\tb')\" = 'a\\tb' ]",
    "true | false | true",
    "false | true",
    "echo b | read x; [ \"$x\" = b ]",
    "x=1; (( x++ ))",
    "[ \"$nosuch\" ]",
    "x=$(false; echo a); [ \"$x\" = a ]",
    "cd ..; [ \"$PWD\" ]",
    "alias q=false\nq",
    "exec /nosuch/program",
    "f() { local q; [ \"${q-unset}\" = unset ]; }; q=1; f",
    "f() { local q; [ \"$q\" ]; }; q=1; f",
    "shift 5",
    ". /nosuch/file",
    "x=\"$(printf 'a b')\"; set -- $x; [ $# = 2 ]",
    "a=(1 2); [ \"${a[*]}\" = '1 2' ]",
    "[[ b > A ]]",
    "case B in [a-z]) ;; *) false ;; esac",
];

/// Questions with one answer.
const PLAIN: &[&str] = &[
    "set - a; [ \"$1\" = a ]",
    "set -x - a; [ \"$1\" = a ]",
    "set -- a; set -; [ \"$1\" = a ]",
    "set a - b; [ \"$1\" = a ]",
    "set -u a b; [ \"$2\" = b ]",
    "set +u -- a; [ \"$1\" = a ]",
    "declare -i x=5; x+=3; [ $x = 8 ]",
    "x=5; declare -i x; x+=1; [ $x = 6 ]",
    "declare -i x=5; declare x+=3; [ $x = 8 ]",
    "declare -i x; x=2+3; [ $x = 5 ]",
    "declare -i x=5; x+=y; [ $x = 5 ]",
    "declare -u x=a; x+=b; [ $x = AB ]",
    "declare -l x=A; x+=B; [ $x = ab ]",
    "declare -ai a=(1+1 2); [ ${a[0]} = 2 ]",
    "declare -i a; a[0]=1+1; [ ${a[0]} = 2 ]",
    "[ 010 -eq 10 ]",
    "[ 010 -eq 8 ]",
    "[[ 010 -eq 8 ]]",
    "[[ 010 -eq 10 ]]",
    "test 08 -eq 8",
    "[[ 08 -eq 8 ]]",
    "[ ' 1' -eq 1 ]",
    "(( 010 == 8 ))",
    "f() { local x; declare -g x=5; }; f; [ \"$x\" = 5 ]",
    "f() { local x=1; declare -g x=5; [ $x = 1 ]; }; f",
    "f() { local x=1; g; [ $x = 2 ]; }; g() { x=2; }; f",
    "(echo $((1/0)))",
    "echo $((1/0))",
    "x=$((1/0))",
    "(( 1/0 ))",
    "let 1/0",
    "bash -c 'echo $((1/0)); true'",
    "bash -c '(( 1/0 )); true'",
    "bash -ec 'false; :'",
    "bash -ec 'false || :; :'",
    "bash -c 'set -e; false; :'",
    "bash -euc 'false; true'",
    "bash -o errexit -c 'false; true'",
    "bash +e -c 'false; true'",
    "bash -e +e -c 'false; true'",
    "sh -ec 'false; :'",
    "sh -c '. nosuch; :'",
    "sh -c '. ./nosuch; :'",
    "bash -c '. ./nosuch; :'",
    "bash -uc 'echo $nosuch; :'",
    "bash +B -c '[ {a,b} = \"{a,b}\" ]'",
    "bash +c false -c true",
    "./README.md; [ $? = 126 ]",
    "/etc; [ $? = 126 ]",
    "nosuch-program; [ $? = 127 ]",
    "false; [ $? = 1 ]",
    "(exit 3); [ $? = 3 ]",
    "[[ a == [[=a=]] ]]",
    "[[ b == [[=a=]] ]]",
    "[[ - == [[.-.]] ]]",
    "[[ - == [[.hyphen.]] ]]",
    "[[ a == [[.a.]-c] ]]",
    "[[ a == [![.a.]] ]]",
    "case - in [[.-.]]) ;; *) false ;; esac",
    "[[ ab =~ ^[[=a=]]b$ ]]",
    "[[ a- =~ ^a[[.hyphen.]]$ ]]",
    "a=(1 2 3); unset 'a[-1]'; [ ${#a[@]} = 2 ]",
    "a=(1 2 3); i=1; unset 'a[i]'; [ \"${a[1]-}\" = '' ]",
    "a=(1 2 3); unset 'a[0+1]'; [ ${#a[@]} = 2 ]",
    "a=(1 2 3); unset 'a[@]'; [ ${#a[@]} = 0 ]",
    "a=1; unset 'a[0]'; [ -z \"$a\" ]",
    "declare -n r=x; x=1; unset r; [ -z \"$x\" ]",
    "declare -n r=x; x=1; unset -n r; [ \"$x\" = 1 ]",
    "declare -n r=x; unset r; r=2; [ \"$x\" = 2 ]",
    "declare -n r='a[0]'; r=2; [ \"${a[0]}\" = 2 ]",
    "IFS=' :'; x='a : b'; set -- $x; [ $# = 2 ]",
    "IFS=':'; x='a::b'; set -- $x; [ $# = 3 ]",
    "IFS=': '; x=' a :: b '; set -- $x; [ $# = 3 ]",
    "IFS=':'; x='a:b:'; set -- $x; [ $# = 2 ]",
    "IFS=; x='a b'; set -- $x; [ $# = 1 ]",
    "IFS=$'\\n'; x=$'a b\\nc'; set -- $x; [ $# = 2 ]",
    "IFS=$'\\t:'; x=$'a\\t:\\tb'; set -- $x; [ $# = 2 ]",
    "IFS=' :' read x y z <<< 'a : b'; [ \"$y\" = b ]",
    "IFS=: read x y <<< 'a:b:'; [ \"$y\" = b ]",
    "IFS=: read x y <<< 'a::b'; [ \"$y\" = :b ]",
    "x=$'\\c?'; [ \"$x\" = $'\\x7f' ]",
    "x=$'\\ca'; [ \"$x\" = $'\\x01' ]",
    "x=$'\\x{41}'; [ \"$x\" = A ]",
    "x=$'\\x41'; [ \"$x\" = A ]",
    "x=$'\\u41'; [ \"$x\" = A ]",
    "x=$'\\101'; [ \"$x\" = A ]",
    "x=$'a\\?'; [ \"$x\" = 'a?' ]",
    "x=$'a\\q'; [ \"$x\" = 'a\\q' ]",
    "x=$(printf '\\?'); [ \"$x\" = '?' ]",
    "x=$(printf '\\\"'); [ \"$x\" = '\"' ]",
    "x=$(echo -e '\\?'); [ \"$x\" = '\\?' ]",
    "x=$(printf %b '\\?'); [ \"$x\" = '\\?' ]",
    "x=$(printf '\\x41'); [ \"$x\" = A ]",
    "x=$(sh -c 'echo \"a\\c\"; echo b'); [ \"$x\" = ab ]",
    "declare -A x; declare -a x",
    "declare -a x; declare -A x",
    "builtin ls",
    "builtin nosuch",
    "builtin cd /",
    "command -v nosuch",
    "printf -vx 'A'; [ \"$x\" = A ]",
    "printf -v x A; [ \"$x\" = A ]",
    "printf -v 'x[1]' A; [ \"${x[1]}\" = A ]",
    "printf -vx -- A; [ \"$x\" = A ]",
    "i=0; until (( ++i > 900 )); do (( i == 777 )) && r=1; done; [ \"$r\" ]",
    "i=0; while (( i++ < 900 )); do [ $i = 777 ] && r=1; done; [ \"$r\" ]",
    "for ((i=0;i<3000;i+=7)); do ((i==2331)) && r=1; done; [ \"$r\" ]",
    "i=0; while [ $i -lt 900 ]; do let i++; [ $i = 777 ] && r=1; done; [ \"$r\" ]",
    "i=0; while i=$((i+1)); [ $i -lt 900 ]; do [ $i = 777 ] && r=1; done; [ \"$r\" ]",
    "i=0; until [ $i -ge 900 ]; do : $((i++)); [ $i = 777 ] && r=1; done; [ \"$r\" ]",
    "x=; while [ ${#x} -lt 200 ]; do x+=a; [ ${#x} = 180 ] && r=1; done; [ \"$r\" ]",
    "a=(); while [ ${#a[@]} -lt 200 ]; do a+=(b); [ ${#a[@]} = 180 ] && r=1; done; [ \"$r\" ]",
    "set -- {1..200}; while [ $# -gt 0 ]; do shift; [ $# = 7 ] && r=1; done; [ \"$r\" ]",
    "for ((i=0;;i++)); do ((i==900)) && r=1; ((i>1000)) && break; done; [ \"$r\" ]",
    "for i in {1..900}; do (( n++ )); [ $n = 777 ] && r=1; done; [ \"$r\" ]",
    "i=0; while (( i++ < 900 )); do case $i in 777) r=1 ;; esac; done; [ \"$r\" ]",
    "i=0; while (( i++ < 30 )); do j=0; while (( j++ < 30 )); do [ $i$j = 2929 ] && r=1; done; done; [ \"$r\" ]",
    "case a in {) false ;; a) ;; }) false ;; esac",
    "case a in ({) false ;; (a) ;; (}) false ;; esac",
    "case { in a|{) ;; *) false ;; esac",
    "case a in b|{) false ;; a) ;; a|}) false ;; esac",
    "case if in if) ;; *) false ;; esac",
    "case a in (do) false ;; (a) ;; (done) false ;; esac",
    "alias q='echo '\nalias w='hi; x=1'\nq w; [ \"$x\" ]",
    "GLOBIGNORE='*etc'; set -- /et*; [ \"$1\" = '/et*' ]",
    "GLOBIGNORE=/etc; set -- /et*; [ \"$1\" = '/et*' ]",
    "POSIXLY_CORRECT=1; x=2 :; [ \"$x\" = 2 ]",
    "exec 3<<< A; read x <&3; [ \"$x\" = A ]",
    "x=abz; [ \"${x^z}\" = abz ]",
    "x=zab; [ \"${x^z}\" = Zab ]",
    "x=abc; [ \"${x^^[bc]}\" = aBC ]",
    "x='a\\tb'; [ \"${x@E}\" = $'a\\tb' ]",
    "x='a b'; [ \"${x@Q}\" = \"'a b'\" ]",
    "x=abc; [ \"${x: -1}\" = c ]",
    "x=a; [ \"${x@A}\" = \"x='a'\" ]",
    "set -- -x A; while getopts x: o; do :; done; [ \"$OPTARG\" = A ]",
    "set -- -x A; getopts x: o; [ \"$o\" = x ]",
    "let x=1,y=0",
    "(( 1, 0 ))",
    "x=08; (( x == 8 ))",
    "x=0x1f; (( x == 31 ))",
    "(( 2#101 == 5 ))",
    "(( 64#_ == 63 ))",
    "(( 1 ? 0 : 1 ))",
    "(( 5 % -3 == 2 ))",
    "(( 1 << 65 == 2 ))",
    "(( 9223372036854775807 + 1 < 0 ))",
    "(( 99999999999999999999 > 0 ))",
    "[ 1 -eq 1 ] 2>/nosuch/x",
    "! ! true",
    "time false",
];

/// Questions about arrays, the stack of directories, and what cannot be changed.
const STATES: &[&str] = &[
    "a=(1 2); (( a[-1] == 2 ))",
    "a=(1 2 3); (( a[-4] ))",
    "a=(1 2 3); a[-1]=9; [ ${a[2]} = 9 ]",
    "a=(1 2 3); a[-1]=9; [ ${#a[@]} = 3 ]",
    "a=([-1]=3) 2>/dev/null; [ ${#a[@]} = 0 ]",
    "a=(1 2); a+=([-1]=3); [ ${a[1]} = 3 ]",
    "x=5; (( x[-1] == 5 ))",
    "let 'a[0]=4' 'a[1]=5'; let 'a[-1]++'; [ ${a[1]} = 6 ]",
    "a=(1 2); unset 'a[-1]'; [ ${#a[@]} = 1 ]",
    "a=(1 2); printf -v 'a[-1]' x; [ ${a[1]} = x ]",
    "a=(1 2); read 'a[-1]' <<< x; [ ${a[1]} = x ]",
    "a=(1 2); declare 'a[-1]=x'; [ ${a[1]} = x ]",
    "[ ${#PIPESTATUS[*]} = 1 ]",
    "true | true | true; (( ${#PIPESTATUS[@]} == 3 ))",
    "[ -z \"${DIRSTACK[1]}\" ]",
    "[ ${#GROUPS[@]} -gt 0 ]",
    "[ \"${!DIRSTACK[*]}\" = 0 ]",
    "[[ x =~ x ]]; [[ x =~ y ]]; [ \"${#BASH_REMATCH[@]}\" = 0 ]",
    "[[ x =~ (x) ]]; [ \"${#BASH_REMATCH[@]}\" = 2 ]",
    "pushd -n /tmp >/dev/null; popd >/dev/null; [ \"$PWD\" = /tmp ]",
    "pushd /tmp >/dev/null; pushd /usr >/dev/null; popd +1 >/dev/null; popd >/dev/null; [ \"$PWD\" != /tmp ]",
    "pushd /tmp >/dev/null; pushd /usr >/dev/null; pushd -0 >/dev/null; [ \"$PWD\" != /usr ]",
    "pushd /tmp >/dev/null; pushd /usr >/dev/null; [ ~1 = /tmp ]",
    "pushd /tmp >/dev/null; pushd /usr >/dev/null; [ ~-1 = /tmp ]",
    "pushd /tmp >/dev/null; [ ~+0 = /tmp ]",
    "pushd /tmp >/dev/null; [ ~3 = '~3' ]",
    "pushd /tmp >/dev/null; popd -n >/dev/null; popd >/dev/null 2>&1",
    "pushd /tmp >/dev/null; dirs -c; popd >/dev/null 2>&1",
    "pushd /tmp >/dev/null; [ \"$OLDPWD\" != \"$PWD\" ]",
    "CDPATH=/; x=$(cd usr); [ \"$x\" ]",
    "CDPATH=/; cd usr | grep -q usr",
    "shopt -s cdable_vars; d=/usr; x=$(cd d); [ \"$x\" ]",
    "shopt -s cdable_vars; d=/usr; cd d",
    "bash -c 'shopt -s failglob; : *.zzz; :'",
    "set -k; echo x=1 | grep -q x",
    "x=1; set -o posix; x=2 eval :; [ $x = 2 ]",
    "x=1; POSIXLY_CORRECT=1; x=2 :; [ $x = 2 ]",
    "x=1; set -o posix; set +o posix; x=2 :; [ $x = 1 ]",
    "x=1; shopt -so posix; x=2 export y; [ $x = 2 ]",
    "declare -i a[0]=1; a[0]+=4; [ ${a[0]} = 5 ]",
    "declare -i a=(1 2); a[1]+=3; [ ${a[1]} = 5 ]",
    "declare -iA m; m[k]=2; m[k]+=3; [ ${m[k]} = 5 ]",
    "declare -i x=2; x+=3; declare -i 'x[0]+=1'; [ $x = 6 ]",
    "readonly x=1; printf -v x 2",
    "readonly x=1; let x=2",
    "readonly x=1; (( x=2 ))",
    "readonly x=1; getopts a x 2>/dev/null -a; [ $? != 0 ]",
    "readonly x=1; mapfile x <<< a",
    "readonly x=1; for x in 2; do :; done",
    "readonly x=1; unset x",
    "readonly x=1; x=2 true",
    "readonly x=1; read -a x <<< 2",
    "readonly REPLY=1; read <<< 2",
    "sh -c 'readonly 1x; :'",
    "sh -c 'unset 1x; :'",
    "sh -c 'local 1x; :'",
    "sh -c 'eval \"if\"; :'",
    "sh -c 'readonly x=1; x=2; :'",
    "sh -c '. ./nosuch; :'",
    "sh -c 'shift 5; :'",
    "sh -c 'set -o nosuch; :'",
    "sh -c 'trap x nosuch; :'",
    "sh -c 'export x=$(false); :'",
];

/// Options of the shell, switched on and off.
fn settings() -> Vec<String> {
    let ask = |text: &str| {
        let told = Command::new("bash").args(["--norc", "-c", text]).output().unwrap();
        String::from_utf8(told.stdout).unwrap().split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    // What ends the shell at once, or waits for a user, says nothing about a question.
    let is_about_values = |name: &String| !matches!(name.as_str(), "noexec" | "onecmd" | "emacs" | "vi");
    let short = ask("shopt | cut -f1").into_iter().flat_map(|name| {
        [format!("shopt -s {name}"), format!("shopt -u {name}"), format!("shopt -qs {name}")]
    });
    let long = ask("set -o | cut -f1")
        .into_iter()
        .filter(is_about_values)
        .flat_map(|name| [format!("set -o {name}"), format!("set +o {name}"), format!("shopt -so {name}")]);
    let letters =
        "aefhkmuvxBCEHPT".chars().flat_map(|letter| [format!("set -{letter}"), format!("set +{letter}")]);
    short.chain(long).chain(letters).collect()
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Which of the texts with a mark in them come to it, in bash.
fn reached(texts: &[String]) -> BTreeSet<usize> {
    let mut script = String::from("exec 9>&1\n");
    for (number, text) in texts.iter().enumerate() {
        let text = quoted(&text.replace("MARK", &format!("echo {number} >&9")));
        writeln!(script, "( eval {text} ) </dev/null >/dev/null 2>&1").unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("home")).unwrap();
    std::fs::write(folder.path().join("home/README.md"), "x\n").unwrap();
    std::fs::write(folder.path().join("script"), script).unwrap();
    let bash = Command::new("bash")
        .args(["--norc", "--noprofile", "../script"])
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", folder.path().join("home"))
        .current_dir(folder.path().join("home"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    String::from_utf8_lossy(&bash.stdout).lines().filter_map(|line| line.parse().ok()).collect()
}

/// A question with what is to run when it is answered, either way.
fn both_ways(question: &str) -> [String; 2] {
    [format!("{question} && MARK"), format!("{question} || MARK")]
}

fn lost(texts: &[String], ran: &BTreeSet<usize>) -> Vec<String> {
    let world = bare()
        .with_directory(&path("/etc"))
        .with_directory(&path("/tmp"))
        .with_directory(&path("/usr"))
        .with_file(&path("README.md"), "x\n", VersionState::TrackedClean);
    ran.iter()
        .filter_map(|number| texts.get(*number))
        .map(|text| text.replace("MARK", "rm -rf /usr/lib"))
        .filter(|text| {
            let effects = predict(&command(text), &world).effects;
            !effects.iter().any(|effect| matches!(effect.kind, EffectKind::FileDelete | EffectKind::Opaque))
        })
        .collect()
}

#[test]
fn what_bash_reaches_behind_a_question_is_seen() {
    let texts: Vec<String> = OPTIONAL
        .iter()
        .chain(PLAIN)
        .chain(STATES)
        .flat_map(|question| {
            let inside = both_ways(&format!("f() {{\n{question}\n}}\nf"));
            let below = both_ways(&format!("bash -c {}", quoted(question)));
            both_ways(question).into_iter().chain(inside).chain(below).chain([format!("{question}\nMARK")])
        })
        .collect();
    let ran = reached(&texts);
    assert!(ran.len() > texts.len() / 3, "bash ran only {} of {}", ran.len(), texts.len());
    let lost = lost(&texts, &ran);
    assert!(lost.is_empty(), "{} are lost:\n{}", lost.len(), lost.join("\n--\n"));
}

/// Of all options of the shell those are tried that bash says change an answer.
#[test]
fn an_option_of_the_shell_that_changes_an_answer_is_followed() {
    let settings = settings();
    let plain: Vec<String> = OPTIONAL.iter().flat_map(|question| both_ways(question)).collect();
    let usual = reached(&plain);
    let of_setting = |setting: &String| -> Vec<String> {
        OPTIONAL.iter().flat_map(|question| both_ways(&format!("{setting}\n{question}"))).collect()
    };
    let texts: Vec<String> = settings.iter().flat_map(of_setting).collect();
    let changed: BTreeSet<usize> =
        reached(&texts).into_iter().filter(|number| !usual.contains(&(number % plain.len()))).collect();
    assert!(changed.len() > 40, "the options change only {} answers", changed.len());
    let lost = lost(&texts, &changed);
    assert!(lost.is_empty(), "{} are lost:\n{}", lost.len(), lost.join("\n--\n"));
}
