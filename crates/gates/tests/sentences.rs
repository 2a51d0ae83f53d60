//! Sentences that are put together from parts, beside bodies that do little, in every language: a body is what the sentence beside it says.
//!
//! The parts are other ones than those of the rules wherever there are others, and each sentence stands in each carrier. Which subject it has is
//! drawn by a fixed seed.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on should panic")]

use checkrein_gates::{CodeOrigin, CodeVerdict, FindingWeight, Fragment, SourceLanguage, judge_fragment};

/// How much a body does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Does {
    /// It gives back a fixed value.
    Fixed,
    /// It gives back what it was given.
    Echo,
    /// It does one thing and gives back a value.
    Little,
}

/// `SAY` is the sentence, `NAME` the function.
const CARRIERS: [(SourceLanguage, Does, &str); 27] = [
    (SourceLanguage::Python, Does::Fixed, "def NAME(items):\n    # SAY\n    return 3\n"),
    (
        SourceLanguage::Python,
        Does::Echo,
        "class Ledger:\n    def NAME(self, items):\n        # SAY\n        return items\n",
    ),
    (
        SourceLanguage::Python,
        Does::Little,
        "async def NAME(items):\n    store.touch(items)\n    return True  # SAY\n",
    ),
    (SourceLanguage::Rust, Does::Fixed, "pub fn NAME(items: &[u8]) -> u32 {\n    // SAY\n    3\n}\n"),
    (
        SourceLanguage::Rust,
        Does::Echo,
        "impl Ledger {\n    fn NAME(&self, items: Vec<u8>) -> Vec<u8> {\n        items // SAY\n    }\n}\n",
    ),
    (
        SourceLanguage::Rust,
        Does::Little,
        "fn NAME(items: &[u8]) -> bool {\n    // SAY\n    STORE.touch(items);\n    true\n}\n",
    ),
    (
        SourceLanguage::JavaScript,
        Does::Fixed,
        "export const NAME = async (items) => {\n  // SAY\n  return 3;\n};\n",
    ),
    (
        SourceLanguage::JavaScript,
        Does::Little,
        "const table = {\n  NAME: function (items) {\n    store.touch(items);\n    return true; // SAY\n  },\n};\n",
    ),
    (
        SourceLanguage::TypeScript,
        Does::Echo,
        "export class Ledger {\n  NAME(items: number[]): number[] {\n    // SAY\n    return items;\n  }\n}\n",
    ),
    (
        SourceLanguage::TypeScript,
        Does::Little,
        "export function NAME(items: number[]): boolean {\n  /* SAY */\n  store.touch(items);\n  return true;\n}\n",
    ),
    (SourceLanguage::Go, Does::Fixed, "package a\n\nfunc NAME(items []int) int {\n\t// SAY\n\treturn 3\n}\n"),
    (
        SourceLanguage::Go,
        Does::Echo,
        "package a\n\nfunc (l *Ledger) NAME(items []int) []int {\n\treturn items // SAY\n}\n",
    ),
    (
        SourceLanguage::Go,
        Does::Little,
        "package a\n\nfunc NAME(items []int) error {\n\t// SAY\n\tstore.Touch(items)\n\treturn nil\n}\n",
    ),
    (
        SourceLanguage::Java,
        Does::Fixed,
        "class Ledger {\n    int NAME(List<Integer> items) {\n        // SAY\n        return 3;\n    }\n}\n",
    ),
    (
        SourceLanguage::Java,
        Does::Little,
        "class Ledger {\n    boolean NAME(List<Integer> items) {\n        store.touch(items);\n        return true; // SAY\n    }\n}\n",
    ),
    (SourceLanguage::C, Does::Fixed, "int NAME(const int *items)\n{\n    /* SAY */\n    return 3;\n}\n"),
    (
        SourceLanguage::C,
        Does::Little,
        "int NAME(const int *items)\n{\n    store_touch(items);\n    return 0; /* SAY */\n}\n",
    ),
    (
        SourceLanguage::Cpp,
        Does::Echo,
        "Items Ledger::NAME(Items items) const {\n    return items;  // SAY\n}\n",
    ),
    (
        SourceLanguage::Cpp,
        Does::Little,
        "bool Ledger::NAME(const Items& items) {\n    // SAY\n    store_.touch(items);\n    return true;\n}\n",
    ),
    (SourceLanguage::Ruby, Does::Fixed, "def NAME(items)\n  # SAY\n  3\nend\n"),
    (
        SourceLanguage::Ruby,
        Does::Little,
        "class Ledger\n  def NAME(items)\n    # SAY\n    store.touch(items)\n    true\n  end\nend\n",
    ),
    (
        SourceLanguage::Php,
        Does::Fixed,
        "<?php\nfunction NAME(array $items): int\n{\n    // SAY\n    return 3;\n}\n",
    ),
    (
        SourceLanguage::Php,
        Does::Little,
        "<?php\nclass Ledger\n{\n    public function NAME(array $items): bool\n    {\n        $this->store->touch($items);\n        return true; // SAY\n    }\n}\n",
    ),
    (
        SourceLanguage::CSharp,
        Does::Fixed,
        "class Ledger\n{\n    public int NAME(List<int> items)\n    {\n        // SAY\n        return 3;\n    }\n}\n",
    ),
    (
        SourceLanguage::CSharp,
        Does::Little,
        "class Ledger\n{\n    public bool NAME(List<int> items)\n    {\n        // SAY\n        store.Touch(items);\n        return true;\n    }\n}\n",
    ),
    (SourceLanguage::Shell, Does::Fixed, "NAME() {\n    # SAY\n    echo 3\n}\n"),
    (SourceLanguage::Shell, Does::Little, "NAME() {\n    # SAY\n    touch_store \"$1\"\n    return 0\n}\n"),
];

/// An error that is raised whatever a function is given; `SAY` is its message.
const RAISED: [(SourceLanguage, &str); 10] = [
    (SourceLanguage::Python, "def NAME(items):\n    raise RuntimeError(\"SAY\")\n"),
    (SourceLanguage::Rust, "fn NAME(items: &[u8]) -> u32 {\n    panic!(\"SAY\")\n}\n"),
    (SourceLanguage::JavaScript, "const table = {\n  NAME: () => {\n    throw new Error('SAY');\n  },\n};\n"),
    (
        SourceLanguage::TypeScript,
        "class Ledger {\n  NAME(items: number[]): Promise<number> {\n    return Promise.reject(new Error('SAY'));\n  }\n}\n",
    ),
    (
        SourceLanguage::Go,
        "package a\n\nfunc NAME(items []int) (int, error) {\n\treturn 0, errors.New(\"SAY\")\n}\n",
    ),
    (
        SourceLanguage::Java,
        "class Ledger {\n    int NAME(List<Integer> items) {\n        throw new IllegalStateException(\"SAY\");\n    }\n}\n",
    ),
    (
        SourceLanguage::Cpp,
        "int Ledger::NAME(const Items& items) {\n    throw std::logic_error(\"SAY\");\n}\n",
    ),
    (SourceLanguage::Ruby, "def NAME(items)\n  raise 'SAY'\nend\n"),
    (
        SourceLanguage::Php,
        "<?php\nfunction NAME(array $items): int\n{\n    throw new LogicException('SAY');\n}\n",
    ),
    (
        SourceLanguage::CSharp,
        "class Ledger\n{\n    public int NAME(List<int> items) => throw new NotSupportedException(\"SAY\");\n}\n",
    ),
];

const NAMES: [&str; 5] = ["collect", "resolve", "merge_all", "pageOf", "weigh"];
const SUBJECTS: [&str; 6] =
    ["the exporter", "rounding", "the vendor's API", "signature handling", "the index", "retrying"];

/// What puts work off whatever the body does, as long as it does little.
const PUT_OFF: [&str; 18] = [
    "SUBJECT goes in here at some point",
    "SUBJECT comes with phase 3",
    "a list stands in for the actual thing: SUBJECT",
    "whoever owns SUBJECT has to write this in the next sprint",
    "good enough for the unit tests",
    "keeps the tests green",
    "ran out of room before SUBJECT",
    "made-up numbers for the time being",
    "left out to keep this short: SUBJECT",
    "swap for the proper thing",
    "fake for now, SUBJECT isn't deployed",
    "will be replaced by the real one",
    "noch nicht fertig: SUBJECT",
    "à compléter",
    "pendiente: SUBJECT",
    "per ora va bene",
    "暂时这样",
    "пока без проверки",
];

/// What puts it off where the body computes nothing.
const PUT_OFF_WHERE_NOTHING_IS_DONE: [&str; 10] = [
    "SUBJECT hasn't been started",
    "SUBJECT follows later",
    "until SUBJECT lands",
    "SUBJECT needs wiring",
    "someone has to do SUBJECT",
    "SUBJECT still missing",
    "temporary",
    "not done: SUBJECT",
    "SUBJECT is planned",
    "simulated",
];

/// What explains code that is right as it is.
const EXPLAINED: [&str; 14] = [
    "closing twice is harmless",
    "the caller holds the lock",
    "zero means that there is no limit",
    "see RFC 9110, section 5",
    "the order of the keys does not matter",
    "SUBJECT is deliberately kept apart",
    "nobody reads it twice",
    "the same on every platform",
    "three, because the header has three lines",
    "already sorted",
    "guaranteed by SUBJECT",
    "safe: the buffer is never shared",
    "not needed on this platform",
    "the default of the specification",
];

const MESSAGES: [&str; 12] = [
    "SUBJECT: to be done",
    "SUBJECT will follow",
    "SUBJECT is still missing",
    "haven't gotten to SUBJECT",
    "work on SUBJECT has not started",
    "someone needs to write SUBJECT",
    "SUBJECT comes in the next release",
    "SUBJECT is on the roadmap",
    "SUBJECT hasn't been done",
    "SUBJECT isn't there yet",
    "kommt noch: SUBJECT",
    "todavía no: SUBJECT",
];

const REFUSALS: [&str; 8] = [
    "a range cannot be changed",
    "the collection is read-only",
    "SUBJECT is not available on this platform",
    "no instances",
    "use the other constructor instead",
    "SUBJECT was removed in version 3",
    "the key is wrong",
    "must not be called",
];

/// Numbers that look drawn, the same in each run.
struct Drawn(u64);

impl Drawn {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % below
    }

    fn fill(&mut self, carrier: &str, sentence: &str) -> String {
        let sentence = sentence.replace("SUBJECT", SUBJECTS[self.next(SUBJECTS.len())]);
        let quoted = sentence.replace('\'', if carrier.contains("'SAY'") { "\\'" } else { "'" });
        carrier.replace("SAY", &quoted).replace("NAME", NAMES[self.next(NAMES.len())])
    }
}

fn is_stub(language: SourceLanguage, code: &str) -> bool {
    let answer = judge_fragment(Fragment { language, code, origin: CodeOrigin::Product });
    answer.verdict == CodeVerdict::Stub
        && answer.findings.iter().any(|finding| finding.weight == FindingWeight::Error)
}

#[test]
fn a_comment_says_what_the_body_beside_it_is() {
    let mut drawn = Drawn(19);
    let mut wrong = Vec::new();
    for (language, does, carrier) in CARRIERS {
        let put_off = PUT_OFF.iter().chain(match does {
            Does::Fixed => PUT_OFF_WHERE_NOTHING_IS_DONE.as_slice(),
            Does::Echo | Does::Little => &[],
        });
        for (sentence, wanted) in
            put_off.map(|one| (one, true)).chain(EXPLAINED.iter().map(|one| (one, false)))
        {
            let code = drawn.fill(carrier, sentence);
            if is_stub(language, &code) != wanted {
                wrong.push(format!("{}: {code}", if wanted { "missed" } else { "false alarm" }));
            }
        }
    }
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_message_says_what_the_function_is() {
    let mut drawn = Drawn(20);
    let mut wrong = Vec::new();
    for (language, carrier) in RAISED {
        for (sentence, wanted) in
            MESSAGES.iter().map(|one| (one, true)).chain(REFUSALS.iter().map(|one| (one, false)))
        {
            let code = drawn.fill(carrier, sentence);
            if is_stub(language, &code) != wanted {
                wrong.push(format!("{}: {code}", if wanted { "missed" } else { "false alarm" }));
            }
        }
    }
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// A function that prints that it did what it is called after, and does nothing else.
#[test]
fn a_claim_of_work_that_was_not_done_is_found() {
    let claims = [
        (SourceLanguage::Shell, "upload() {\n    echo \"Uploaded $1\"\n}\n", true),
        (SourceLanguage::Shell, "announce() {\n    echo \"Announced $1\"\n}\n", false),
        (SourceLanguage::Python, "def send(mail):\n    print(f\"Sent {mail}\")\n", true),
        (SourceLanguage::Python, "def log_sent(mail):\n    print(f\"Sent {mail}\")\n", false),
        (
            SourceLanguage::Java,
            "class A {\n    void save(User user) {\n        System.out.println(\"Saved \" + user);\n    }\n}\n",
            true,
        ),
        (
            SourceLanguage::Java,
            "class A {\n    void onSaved(User user) {\n        System.out.println(\"Saved \" + user);\n    }\n}\n",
            false,
        ),
        (
            SourceLanguage::Go,
            "package a\n\nfunc build() {\n\tfmt.Println(\"Build finished successfully\")\n}\n",
            true,
        ),
        (
            SourceLanguage::Go,
            "package a\n\nfunc build() error {\n\tfmt.Println(\"Build finished\")\n\treturn run()\n}\n",
            false,
        ),
        (SourceLanguage::JavaScript, "function deploy(app) {\n  console.log(`Deployed ${app}`);\n}\n", true),
        (SourceLanguage::JavaScript, "function remove(app) {\n  console.log('nothing removed');\n}\n", false),
    ];
    for (language, code, wanted) in claims {
        assert_eq!(is_stub(language, code), wanted, "{code}");
    }
}

/// The code that would do the work stands in a comment, or a comment in the block that is tried.
#[test]
fn code_that_was_taken_out_is_found() {
    let programs = [
        (
            SourceLanguage::Shell,
            "upload() {\n    # scp \"$1\" backup@storage:/backups/\n    echo \"done\"\n}\n",
            true,
        ),
        (
            SourceLanguage::JavaScript,
            "async function charge(amount) {\n  // const answer = await fetch(url, { body: amount });\n  // return answer.json();\n  return { id: 'ch_1', amount, status: 'paid' };\n}\n",
            true,
        ),
        (
            SourceLanguage::Python,
            "def charge(amount):\n    # answer = client.post(url, amount)\n    # return answer.json()\n    return {\"id\": \"ch_1\"}\n",
            true,
        ),
        (
            SourceLanguage::Python,
            "def charge(amount):\n    # answer = client.post(url, amount)\n    # return answer.json()\n    return client.charge(amount).result()\n",
            false,
        ),
        (
            SourceLanguage::Php,
            "<?php\nfunction import(string $file): int\n{\n    try {\n        // parse $file\n    } catch (Throwable $error) {\n        report($error);\n    }\n\n    return run();\n}\n",
            true,
        ),
        (
            SourceLanguage::Java,
            "class A {\n    int read(String file) {\n        try {\n            // parse the file\n            return parse(file);\n        } catch (IOException error) {\n            return -1;\n        }\n    }\n}\n",
            false,
        ),
    ];
    for (language, code, wanted) in programs {
        assert_eq!(is_stub(language, code), wanted, "{code}");
    }
}
