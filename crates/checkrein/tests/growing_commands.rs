//! The hook answers commands that grow within bounded memory and time, and what it did not follow to the end counts as the worst. Nothing of
//! these commands is run. The kernel counts the memory of a process from that of the one which started it, so this test has a program of its
//! own, and hands payloads over in files.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs::{self, File};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use support::memory::{MOST, peak};
use support::{TestEnvironment, decision, shell_call};

/// Within what time a client has its answer: it waits for 30 seconds, and lets the call run then.
const TIME: Duration = Duration::from_secs(20);

/// What is written into a file, so that it weighs something.
const LONG: usize = 30_000;

/// What loops do, with the name of something for each turn in place of `N`.
const BODIES: [&str; 15] = [
    "echo x > fN",
    "cat > fN <<E\nN TEXT\nE",
    "echo N TEXT >> log",
    "l+=(\"N\"); echo \"${l[@]}\" > fN",
    "m[N]=TEXT",
    "s=\"$s$s N\"; echo \"$s\" > fN",
    "eval \"vN=TEXT\"",
    "eval \"fN() { echo x > f; }\"; fN",
    "if foo; then echo x > fN; else echo y > gN; fi",
    "foo && continue 2; echo x > fN",
    "echo N | sed s/1/2/ | tee fN | cat > gN",
    "(cd dN; echo TEXT > f)",
    "w N",
    "x=$(echo $x$x; echo N); echo \"$x\" > fN",
    "sh -c 'echo x > fN'",
];

/// The loops around them.
const LOOPS: [(&str, &str); 4] = [
    (
        "for a in $(seq 1 40); do for b in $(seq 1 40); do for c in $(seq 1 40); do BODY\ndone; done; done",
        "$a$b$c",
    ),
    ("for a in {1..40}{1..40}; do for b in {1..40}{1..40}; do BODY\ndone; done", "$a$b"),
    (
        "i=0; while [ $i -lt 40 ]; do j=0; while [ $j -lt 90 ]; do BODY\nj=$((j+1)); done; i=$((i+1)); done",
        "$i$j",
    ),
    ("for ((i=0;i<90;i++)); do for ((j=0;j<90;j++)); do for k in big/*; do BODY\ndone; done; done", "$i$j$k"),
];

/// What grows without such loops.
fn others() -> Vec<String> {
    let line = |number: usize| format!("foo{number} || echo {number} > f{number}");
    let words = "{a,b,c,d,e,f,g,h}".repeat(6);
    vec![
        "touch {1..100}{1..100}{1..100}".to_owned(),
        format!("for x in 1 2 3 4 5 6 7 8 9; do for y in 1 2 3 4 5 6 7 8 9; do cp {words} d$x$y; done; done"),
        "f() { [ $1 -gt 0 ] && { f $(($1-1)); f $(($1-1)); echo x > f$1; }; }; f 40".to_owned(),
        "x=:; for i in $(seq 30); do x=\"$x;$x\"; done; eval \"$x\"".to_owned(),
        "e='echo x > f$RANDOM'; for i in 1 2 3 4 5 6 7 8; do e=\"eval '$e'; $e\"; done; eval \"$e\""
            .to_owned(),
        "for a in big/*; do for b in big/*; do for c in big/*; do cat $a $b >> $c; done; done; done"
            .to_owned(),
        "rm -f big/* big/*; cp -r big/* out; mv big/* out".to_owned(),
        (0..3000).map(line).collect::<Vec<_>>().join("\n"),
    ]
}

fn growers() -> Vec<String> {
    let text = "y".repeat(LONG);
    let of_loop = |(around, name): (&str, &str)| {
        let body = |body: &&str| {
            let body = body.replace('N', name).replace("TEXT", &text);
            format!("declare -A m; l=(); s=x; w() {{ echo x > f$1; }}; {}", around.replace("BODY", &body))
        };
        BODIES.iter().map(body).collect::<Vec<_>>()
    };
    LOOPS.into_iter().flat_map(of_loop).chain(others()).collect()
}

#[test]
fn a_command_that_grows_is_answered_within_bounded_memory_and_time() {
    // Two at a time, each in a home of its own: together they take a minute and a half.
    let growers = growers();
    std::thread::scope(|scope| {
        let [one, other] = [0, 1].map(|first| {
            scope.spawn({
                let growers = &growers;
                move || answered(growers.iter().skip(first).step_by(2))
            })
        });
        one.join().unwrap();
        other.join().unwrap();
    });
}

fn answered<'grower>(growers: impl Iterator<Item = &'grower String>) {
    let environment = TestEnvironment::new();
    let big = environment.project().join("big");
    fs::create_dir(&big).unwrap();
    (0..400).for_each(|number| fs::write(big.join(format!("{number}.txt")), "text").unwrap());
    for (number, grower) in growers.enumerate() {
        // What stands behind it is not passed over.
        let command = format!("{grower}\nrm -rf ~");
        let shown: String = grower.replace(&"y".repeat(LONG), "TEXT").chars().take(300).collect();
        let call = shell_call("one", &command, json!({}));
        let path = environment.home().join("payload");
        fs::write(&path, environment.payload(&format!("s{number}"), "PreToolUse", call)).unwrap();
        let began = Instant::now();
        let output = environment.hook().stdin(File::open(path).unwrap()).output().unwrap();
        let answer: Json = serde_json::from_slice(&output.stdout).unwrap();
        assert!(peak() < MOST, "{shown}: {} MiB", peak());
        assert!(began.elapsed() < TIME, "{shown}: {:?}", began.elapsed());
        assert!(matches!(decision(&answer), Some("ask" | "deny")), "{shown}: {answer}");
    }
}
