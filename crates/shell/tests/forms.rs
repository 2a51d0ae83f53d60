//! The forms of the language, each as a text and its outline.

#![allow(missing_docs, clippy::unwrap_used)]

use checkrein_shell::outline::outline;
use checkrein_shell::parse;

/// Every text must read as its outline; without problems unless the outline shows an opaque command.
fn read_as(table: &[(&str, &str)]) {
    for (text, expected) in table {
        let parsed = parse(text);
        let found = outline(&parsed.script);
        assert_eq!(&found, expected, "\nthe text was: {text}");
        assert_eq!(
            parsed.problems.is_empty(),
            !expected.contains("(opaque"),
            "{text}: {:?}",
            parsed.problems
        );
    }
}

#[test]
fn words_and_quoting() {
    read_as(&[
        ("rm -rf /", "(rm -rf /)"),
        (r#"A=1 B="$x" make -j4 'all tests'"#, r#"(A=1 B="$x" make -j4 'all tests')"#),
        (r#"\r\m -r"f" 'a b'c"#, r#"('rm' -r"f" 'a b'c)"#),
        (r"$'\x72\x6d' -rf $'\057'", "('rm' -rf '/')"),
        (r#"echo $"hello $USER""#, r#"(echo "hello $USER")"#),
        (r#"printf '%s' "a'b" 'a"b' a\'b"#, r#"(printf '%s' "a'b" 'a"b' a'''b)"#),
        ("echo a\\\nb c # comment $(rm)", "(echo ab c)"),
        ("echo \"a\\\nb\" 'a\\\nb'", "(echo \"ab\" 'a\\\nb')"),
        (r#"echo "\$x \a \"" \$x"#, r#"(echo "$x \a "" '$'x)"#),
        ("echo é \"日本\" \u{202e}rm", "(echo é \"日本\" \u{202e}rm)"),
        ("rm $HO\\\nME", "(rm $HOME)"),
        ("> x", "(>x)"),
        ("''", "('')"),
        (r#"echo a''b """#, r#"(echo a''b "")"#),
        (r"rm !(keep|me) @(a|b) [a-z]* ~/x \~/y", "(rm !(keep|me) @(a|b) [a-z]* ~/x '~'/y)"),
        (r"echo }x ]y {}z a}b {x} \{}", "(echo }x ]y {}z a}b {x} '{'})"),
    ]);
}

#[test]
fn braces() {
    read_as(&[
        ("rm -rf /{etc,usr/{bin,lib}} {1..3}", "(rm -rf /etc /usr/bin /usr/lib 1 2 3)"),
        ("{rm,-rf,/}", "(rm -rf /)"),
        (
            r#"echo '{a,b}' "{a,b}" \{a,b} {a} {} {a,"b,c"}"#,
            r#"(echo '{a,b}' "{a,b}" '{'a,b} {a} {} a "b,c")"#,
        ),
        (
            r"find . -name '*.o' -exec rm {} \; -o -exec ls {}\;",
            "(find . -name '*.o' -exec rm {} ';' -o -exec ls {}';')",
        ),
        ("A={a,b} export B={a,b}", "(A={a,b} export B={a,b})"),
        ("mv x{,.bak}", "(mv x x.bak)"),
        (r#"touch "$d"/{a,$(id)}"#, r#"(touch "$d"/a "$d"/$[(id)])"#),
        ("rm $HOM{E,X}/y $x{/a,/b}", "(rm $HOME/y $HOMX/y $x/a $x/b)"),
        ("for i in {01..03}; do :; done", "(for i in [01 02 03] [(:)])"),
        ("a=({x,y} z)", "(a=(x y z))"),
    ]);
}

#[test]
fn parameters() {
    read_as(&[
        (
            "echo ${x:-rm} ${!ref} ${p@Q} ${v^^} ${v,} ${#x} ${#a[@]} ${!a[@]} ${!pre*} ${a[i+1]} $1 ${10} $#",
            "(echo ${x:-rm} ${!ref} ${p@Q} ${v^^} ${v,} ${#x} ${#a[@]} ${!a[@]} ${!pre*} ${a[i+1]} $1 ${10} $#)",
        ),
        ("mv ${f%.txt}.md ${f%%.*} ${f#*/} ${f##*/}", "(mv ${f%.txt}.md ${f%%.*} ${f#*/} ${f##*/})"),
        (
            r#"echo ${f/a/b} ${f//$x/"$y"} ${f/#a} ${f/%b/c} ${f////_}"#,
            r#"(echo ${f/a/b} ${f//$x/"$y"} ${f/#a/<empty>} ${f/%b/c} ${f////_})"#,
        ),
        (
            "echo ${f:1:2} ${f: -1} ${@:2} ${f:$(id)} ${f:a?1:2:3}",
            "(echo ${f:1:2} ${f: -1} ${@:2} ${f:$(id)[(id)]} ${f:a?1:2:3})",
        ),
        (
            r#"echo "${x:-"a b"}" "${x:-'a'}" ${x:-'a b'} ${y:=$(id)} ${z:?no z} ${w+"$@"}"#,
            r#"(echo "${x:-"a b"}" "${x:-''a''}" ${x:-'a b'} ${y:=$[(id)]} ${z:?no z} ${w+"$@"})"#,
        ),
        (r#"echo "${x#'}'}" ${x:-\}}"#, r#"(echo "${x#'}'}" ${x:-'}'})"#),
        ("echo ${v^^[ab]} ${~x}", "(echo ${v^^[ab]} ${ other ~x})"),
        ("echo ${#} ${!} ${#-} ${-} ${$} ${?:-x}", "(echo $# $! ${#-} $- $$ ${?:-x})"),
    ]);
}

#[test]
fn substitutions() {
    read_as(&[
        (
            r#"echo $(cat $(find / -name "$(id -un).key"))"#,
            r#"(echo $[(cat $[(find / -name "$[(id -un)].key")])])"#,
        ),
        (r"echo `echo \`echo \\\`id\\\`\``", "(echo $[(echo $[(echo $[(id)])])])"),
        (r#"echo "today: $(date +%F) and `whoami`""#, r#"(echo "today: $[(date +%F)] and $[(whoami)]")"#),
        (r#"echo "`echo \"a $x\"`""#, r#"(echo "$[(echo "a $x")]")"#),
        ("echo ${ rm x; } ${| rm y; }", "(echo $[(rm x)] $[(rm y)])"),
        ("echo $((1 + x[$(id)])) $[2+2] $(( (1) ))", "(echo $((1 + x[$(id)]))[(id)] $((2+2)) $(( (1) )))"),
        (
            "echo $( (id) ) $((id) | (cat))",
            "(echo $[(subshell (id))] $[(| (subshell (id)) (subshell (cat)))])",
        ),
        ("(( i += $(wc -l <f) ))", "(arithmetic  i += $(wc -l <f) [(wc -l <f)])"),
        ("((rm a) | (rm b)); ((c))", "(subshell (| (subshell (rm a)) (subshell (rm b)))) (arithmetic c)"),
        ("diff <(sort a) >(tee b)", "(diff <[(sort a)] >[(tee b)])"),
        ("echo $(case x in a) ls;; (b) rm;; esac)", "(echo $[(case x (a [(ls)] ;;) (b [(rm)] ;;))])"),
        (r#"echo ${x:-${y:-`rm`}} "$(echo "$(rm)")""#, r#"(echo ${x:-${y:-$[(rm)]}} "$[(echo "$[(rm)]")]")"#),
        ("echo $(cat <<E\nit's )\nE\n)", "(echo $[(cat <<\"it's )\n\")])"),
    ]);
}

#[test]
fn lists() {
    read_as(&[
        ("cat a | grep b |& tee c", "(| (cat a) (grep b)& (tee c))"),
        ("make && make install || echo failed", "[(make) && (make install) || (echo failed)]"),
        ("! grep -q x f && rm f", "[(! (grep -q x f)) && (rm f)]"),
        ("ls | ! wc", "(| (ls) (! (wc)))"),
        ("! ! ls", "(ls)"),
        ("!", "(! ())"),
        ("time -p make | tee log", "(time (| (make) (tee log)))"),
        ("time", "(time ())"),
        ("sleep 1 & wait; a &", "(sleep 1)& (wait) (a)&"),
        ("a\n\n# comment\nb;", "(a) (b)"),
    ]);
}

#[test]
fn compounds() {
    read_as(&[
        ("(cd /tmp && rm -rf x)", "(subshell [(cd /tmp) && (rm -rf x)])"),
        ("{ ls; pwd; } > out 2>&1", "(redirected (group (ls) (pwd)) >out 2>&1)"),
        ("if a; then b; elif c; then d; else e; fi", "(if [(a)] [(b)] [(c)] [(d)] else [(e)])"),
        (r#"for f in *.c "$@" {a,b}; do cc "$f"; done"#, r#"(for f in [*.c "$@" a b] [(cc "$f")])"#),
        (r#"for arg; do echo "$arg"; done"#, r#"(for arg in arguments [(echo "$arg")])"#),
        (
            "for ((i = 0; i < $(nproc); i++)); do echo $i; done",
            "(for ((i = 0; i < $(nproc)[(nproc)]; i++)) [(echo $i)])",
        ),
        (
            r#"while read -r line; do echo "$line"; done < file"#,
            r#"(redirected (while [(read -r line)] [(echo "$line")]) <file)"#,
        ),
        ("until ping -c1 host; do sleep 1; done", "(until [(ping -c1 host)] [(sleep 1)])"),
        (
            r#"case $1 in start|"a b") a ;; *.c) b ;& [0-9]?) c ;;& *) d; esac"#,
            r#"(case $1 (start|"a b" [(a)] ;;) (*.c [(b)] ;&) ([0-9]? [(c)] ;;&) (* [(d)] ;;))"#,
        ),
        ("select x in a b; do echo $x; done", "(select x in [a b] [(echo $x)])"),
        (r#"f() { ls "$@"; }"#, r#"(function f (group (ls "$@")))"#),
        (
            r#"function ls { rm -rf "$1"; } 2>/dev/null"#,
            r#"(function ls (redirected (group (rm -rf "$1")) 2>/dev/null))"#,
        ),
        ("f() ( a ) >x; f", "(function f (redirected (subshell (a)) >x)) (f)"),
        ("coproc W { cat; }", "(coproc W (group (cat)))"),
        ("coproc cat", "(coproc COPROC (cat))"),
        ("if a; then b; fi | c && d", "[(| (if [(a)] [(b)]) (c)) && (d)]"),
    ]);
}

#[test]
fn conditions() {
    read_as(&[
        (
            "[[ -f $f && ! ( $a == b* || $c =~ ^a(b|c)$ ) ]]",
            "(test (and (-f $f) (not (or (== $a b*) (=~ $c ^a(b|c)$)))))",
        ),
        (r#"[[ $x -gt 3 || -z "$(id)" ]]"#, r#"(test (or (-gt $x 3) (-z "$[(id)]")))"#),
        ("[[ $x ]] && [[ -v a[1] ]]", "[(test $x) && (test (-v a[1]))]"),
        ("[ -f x ] && rm x", "[([ -f x ]) && (rm x)]"),
    ]);
}

#[test]
fn assignments() {
    read_as(&[
        (
            r#"a=(1 "b c" [5]=$(id) {x,y}) b[2]=z c+=(d) e+=f g="#,
            r#"(a=(1 "b c" [5]=$[(id)] x y) b[2]=z c+=(d) e+=f g=)"#,
        ),
        (r#"export PATH=$PATH:/x A B="$(id)""#, r#"(export PATH=$PATH:/x A B="$[(id)]")"#),
        (r#"declare -A m=([k]=v [l]="$(id)") n=1"#, r#"(declare -A m n=1 declares:m=([k]=v [l]="$[(id)]"))"#),
        ("X=1 return 2; local -r y=`id`", "(X=1 return 2) (local -r y=$[(id)])"),
        ("a[$(rm)]=1 b[x y]=2", "(a[$[(rm)]]=1 b[x y]=2)"),
        ("a=(\n x # it's; \n @(y|z) `id` \"(\"\n)", r#"(a=(x @(y|z) $[(id)] "("))"#),
    ]);
}

#[test]
fn redirections() {
    read_as(&[
        ("exec 3>&1 2>&- &>>log {fd}<>x >|y <&3", "(exec 3>&1 2>&- &>>log {fd}<>x >|y 0>&3)"),
        (r#"cmd >& both 2>&"$n" <<< "in $x" >&2 >&$fd"#, r#"(cmd &>both 2>&"$n" <<<"in $x" >&2 >&$fd)"#),
        ("> a < b >> c 2> d cmd e &> f", "(cmd e >a <b >>c 2>d &>f)"),
        (
            "cat <<EOF >out\nhome $HOME \\$5 $(id) `id` \"q\" \\q\nEOF",
            "(cat <<\"home $HOME $5 $[(id)] $[(id)] \"q\" \\q\n\" >out)",
        ),
        ("cat <<'EOF' | bash\nrm -rf \"$x\" `id`\nEOF", "(| (cat <<'rm -rf \"$x\" `id`\n') (bash))"),
        ("cat <<-EOF\n\ta\n\t\tb $x\n\tEOF\nls", "(cat <<\"a\nb $x\n\") (ls)"),
        ("cat <<A <<\\B\n$a\nA\n$b\nB\nrm c", "(cat <<\"$a\n\" <<'$b\n') (rm c)"),
        ("cat <<EOF\nunfinished $(rm)", r#"(cat <<"unfinished $[(rm)]")"#),
    ]);
}

#[test]
fn what_cannot_be_read() {
    read_as(&[
        ("ls\nls; done; rm -rf /\nid", "(ls) (ls) (opaque syntax `done; rm -rf /\nid`) (rm -rf /) (id)"),
        ("if true; then rm -rf /", "(opaque syntax `if true; then rm -rf /`)"),
        (r#"echo "abc $(rm -rf /"#, r#"(opaque syntax `echo "abc $(rm -rf /`)"#),
        ("ls; )", "(ls) (opaque syntax `)`)"),
        ("echo 'a", "(opaque syntax `echo 'a`)"),
        ("echo $(if)", "(echo $[(opaque syntax `if`)])"),
        ("x=(a\nrm b", "(opaque syntax `x=(a\nrm b`)"),
        ("x=( <<E )\nrm b\nE", "(opaque syntax `x=( <<E )\nrm b\nE`)"),
        ("declare x=(\nrm b", "(opaque syntax `declare x=(\nrm b`)"),
        ("((1 ${x:-a)); rm b", "(opaque syntax `((1 ${x:-a)); rm b`)"),
    ]);
}

/// A here-document that shells end elsewhere than the parser does would hide what stands behind it, so it is not read at all.
#[test]
fn here_documents_end_where_shells_end_them() {
    for text in [
        "cat <<E\\\nOF\nx\nEOF\nrm -rf x",
        "cat <<\"E\\\nOF\"\nx\nEOF\nrm -rf x",
        "cat <<$'EO\\x46'\nx\nEOF\nrm -rf x",
        "cat <<$\"EOF\"\nx\nEOF\nrm -rf x",
        "cat <<'E\nOF'\nx\nE\nOF\nrm -rf x",
        "cat <<\"E\\OF\"\nx\nE\\OF\nrm -rf x",
        "cat <<\"E\\\"F\"\nx\nE\"F\nrm -rf x",
        "cat <<EOF\nx\\\nEOF\n'\nEOF\nrm -rf x #'",
        "cat <<EOF\nx\nE\\\nOF\nrm -rf x\nEOF",
    ] {
        assert!(!parse(text).problems.is_empty(), "{text}: {}", outline(&parse(text).script));
    }
    for text in [
        "cat <<EOF\nx\nEOF\nrm -rf x",
        "cat <<-\\EOF\n\tx\\\n\tEOF\nrm -rf x",
        "cat <<'E F'\nx\nE F\nrm -rf x",
        "cat <<E\\\\OF\nx\nE\\OF\nrm -rf x",
        "cat <<EOF\nx\\\ny\nEOF\nrm -rf x",
        "cat <<'EOF'\nx\\\nEOF\nrm -rf x",
        "cat <<A - <<B\nx\nA\ny\nB\nrm -rf x",
    ] {
        let parsed = parse(text);
        assert!(parsed.problems.is_empty(), "{text}: {:?}", parsed.problems);
        assert!(outline(&parsed.script).contains("(rm -rf x)"), "{text}: {}", outline(&parsed.script));
    }
}

#[test]
fn numbers_behind_compound_commands() {
    let alike = |text: &str, other: &str| {
        let (one, two) = (parse(text), parse(other));
        assert!(one.problems.is_empty(), "{text}: {:?}", one.problems);
        assert_eq!(outline(&one.script), outline(&two.script).replace("7<y", "7<<<y"), "{text}");
    };
    for form in [
        "{ a; } 7<<<y",
        "( a ) 7<<<y | b",
        "a && { b; } 7<<<y && c",
        "a | { b; } 7<<<y | c",
        "x; while a; do b; done 7<<<y; z",
        "if a; then { b; } 7<<<y; fi",
        "{ a; } 7<<<y &",
        "{ a; }; 7<<<y b",
        "{ a; }\n7<<<y b",
    ] {
        alike(form, &form.replace("7<<<y", "7<y"));
    }
}
