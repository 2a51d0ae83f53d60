//! Weakenings and honest refactorings of tests, made for every language from one row: what each of them is, is known by how it is made.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on should panic")]

use checkrein_gates::{
    CodeOrigin, FindingWeight, GateText, SourceLanguage, TestText, examine_file, examine_tests,
};

/// How a language writes tests. `NAME` is put in place of a name, `BODY` of statements, `%a` and `%b` of numbers.
struct Row {
    language: &'static str,
    origin: CodeOrigin,
    /// What stands around the tests.
    file: (&'static str, &'static str),
    test: &'static str,
    exact: &'static str,
    loose: &'static str,
    hollow: &'static str,
    /// A statement that leaves the test.
    leave: &'static str,
    /// What makes a test no test, or one that is not run, as what is replaced by what.
    disarmed: &'static [(&'static str, &'static str)],
    /// Statements that assert the same for rows in a loop, if the language has a form that is read.
    table: &'static str,
}

const ROWS: [Row; 11] = [
    Row {
        language: "python",
        origin: CodeOrigin::Tests,
        file: ("from calc import mul\n\n", ""),
        test: "def test_NAME():\n    BODY\n",
        exact: "assert mul(%a, 3) == %b",
        loose: "assert mul(%a, 3) is not None",
        hollow: "assert mul(%a, 3) == %b or True",
        leave: "return",
        disarmed: &[
            ("def test_first", "def check_first"),
            ("def test_first", "def _test_first"),
            ("def test_first", "@pytest.mark.skip\ndef test_first"),
            ("def test_first", "@pytest.mark.xfail(strict=False)\ndef test_first"),
            ("def test_first():", "def test_first():\n    mul = lambda a, b: a * b"),
            ("from calc import mul\n", "from calc import mul\n__test__ = False\n"),
        ],
        table: "for a, b in [(1, 3), (2, 6)]:\n        assert mul(a, 3) == b",
    },
    Row {
        language: "javascript",
        origin: CodeOrigin::Tests,
        file: ("import { mul } from './calc';\n", ""),
        test: "test('NAME', () => {\n    BODY\n});\n",
        exact: "expect(mul(%a, 3)).toBe(%b);",
        loose: "expect(mul(%a, 3)).toBeDefined();",
        hollow: "expect(true).toBe(true);",
        leave: "return;",
        disarmed: &[
            ("test('first'", "test.skip('first'"),
            ("test('first'", "xtest('first'"),
            ("test('first'", "check('first'"),
            ("test('second'", "test.only('second'"),
            ("test('first', () => {", "test('first', () => {\n    const mul = (a, b) => a * b;"),
        ],
        table: "for (const [a, b] of [[1, 3], [2, 6]]) {\n        expect(mul(a, 3)).toBe(b);\n    }",
    },
    Row {
        language: "typescript",
        origin: CodeOrigin::Tests,
        file: ("import { mul } from './calc';\ndescribe('calc', () => {\n", "});\n"),
        test: "it('NAME', () => {\n    BODY\n});\n",
        exact: "expect(mul(%a, 3)).toEqual(%b);",
        loose: "expect(mul(%a, 3)).toEqual(expect.anything());",
        hollow: "expect(1).toEqual(1);",
        leave: "return;",
        disarmed: &[("it('first'", "it.skip('first'"), ("describe('calc'", "describe.skip('calc'")],
        table: "[[1, 3], [2, 6]].forEach(([a, b]) => {\n        expect(mul(a, 3)).toEqual(b);\n    });",
    },
    Row {
        language: "rust",
        origin: CodeOrigin::Product,
        file: ("#[cfg(test)]\nmod tests {\n", "}\n"),
        test: "#[test]\nfn NAME() {\n    BODY\n}\n",
        exact: "assert_eq!(mul(%a, 3), %b);",
        loose: "assert!(mul(%a, 3) > 0);",
        hollow: "assert!(true);",
        leave: "return;",
        disarmed: &[
            ("#[test]\nfn first", "fn first"),
            ("#[test]\nfn first", "#[test]\n#[ignore]\nfn first"),
            ("#[test]\nfn first", "#[cfg(any())]\n#[test]\nfn first"),
            ("#[cfg(test)]", "#[cfg(all(test, feature = \"never\"))]"),
        ],
        table: "for (a, b) in [(1, 3), (2, 6)] {\n        assert_eq!(mul(a, 3), b);\n    }",
    },
    Row {
        language: "go",
        origin: CodeOrigin::Tests,
        file: ("package calc\n\n", ""),
        test: "func TestNAME(t *testing.T) {\n    BODY\n}\n",
        exact: "if mul(%a, 3) != %b { t.Fatal(\"bad\") }",
        loose: "if mul(%a, 3) < 0 { t.Fatal(\"bad\") }",
        hollow: "if false { t.Fatal(\"bad\") }",
        leave: "return",
        disarmed: &[
            ("func Testfirst", "func testfirst"),
            ("func Testfirst(t *testing.T) {", "func Testfirst(t *testing.T) {\n    t.Skip()"),
            ("package calc", "//go:build never\n\npackage calc"),
        ],
        table: "for _, c := range []row{{1, 3}, {2, 6}} {\n        if mul(c.a, 3) != c.b { t.Fatal(\"bad\") }\n    }",
    },
    Row {
        language: "java",
        origin: CodeOrigin::Tests,
        file: ("class CalcTest {\n", "}\n"),
        test: "@Test void NAME() {\n    BODY\n}\n",
        exact: "assertEquals(%b, Calc.mul(%a, 3));",
        loose: "assertNotNull(Calc.mul(%a, 3));",
        hollow: "assertTrue(true);",
        leave: "return;",
        disarmed: &[("@Test void first", "void first"), ("@Test void first", "@Disabled\n@Test void first")],
        table: "for (int[] c : new int[][] {{1, 3}, {2, 6}}) {\n        assertEquals(c[1], Calc.mul(c[0], 3));\n    }",
    },
    Row {
        language: "csharp",
        origin: CodeOrigin::Tests,
        file: ("class CalcTest {\n", "}\n"),
        test: "[Test]\npublic void NAME() {\n    BODY\n}\n",
        exact: "Assert.AreEqual(%b, Calc.Mul(%a, 3));",
        loose: "Assert.IsNotNull(Calc.Mul(%a, 3));",
        hollow: "Assert.IsTrue(true);",
        leave: "return;",
        disarmed: &[
            ("[Test]\npublic void first", "public void first"),
            ("[Test]\npublic void first", "[Test]\n[Ignore]\npublic void first"),
        ],
        table: "",
    },
    Row {
        language: "ruby",
        origin: CodeOrigin::Tests,
        file: ("describe Calc do\n", "end\n"),
        test: "it \"NAME\" do\n    BODY\nend\n",
        exact: "expect(mul(%a, 3)).to eq(%b)",
        loose: "expect(mul(%a, 3)).not_to be_nil",
        hollow: "expect(1).to eq(1)",
        leave: "return",
        disarmed: &[("it \"first\"", "xit \"first\""), ("it \"first\" do", "it \"first\" do\n    skip")],
        table: "[[1, 3], [2, 6]].each do |a, b|\n        expect(mul(a, 3)).to eq(b)\n    end",
    },
    Row {
        language: "php",
        origin: CodeOrigin::Tests,
        file: ("<?php\nclass CalcTest extends TestCase {\n", "}\n"),
        test: "public function testNAME(): void {\n    BODY\n}\n",
        exact: "$this->assertSame(%b, mul(%a, 3));",
        loose: "$this->assertNotNull(mul(%a, 3));",
        hollow: "$this->assertTrue(true);",
        leave: "return;",
        disarmed: &[
            ("public function testfirst", "public function checkfirst"),
            (
                "public function testfirst(): void {",
                "public function testfirst(): void {\n    $this->markTestSkipped();",
            ),
        ],
        table: "foreach ([[1, 3], [2, 6]] as [$a, $b]) {\n        $this->assertSame($b, mul($a, 3));\n    }",
    },
    Row {
        language: "cpp",
        origin: CodeOrigin::Tests,
        file: ("#include \"calc.h\"\n", ""),
        test: "TEST(Calc, NAME) {\n    BODY\n}\n",
        exact: "EXPECT_EQ(mul(%a, 3), %b);",
        loose: "EXPECT_NE(mul(%a, 3), -1);",
        hollow: "EXPECT_TRUE(true);",
        leave: "return;",
        disarmed: &[
            ("TEST(Calc, first)", "void first()"),
            ("TEST(Calc, first) {", "TEST(Calc, first) {\n    GTEST_SKIP();"),
        ],
        table: "",
    },
    Row {
        language: "c",
        origin: CodeOrigin::Tests,
        file: ("#include \"calc.h\"\n", ""),
        test: "static void test_NAME(void) {\n    BODY\n}\n",
        exact: "assert(mul(%a, 3) == %b);",
        loose: "assert(mul(%a, 3) > 0);",
        hollow: "assert(1);",
        leave: "return;",
        disarmed: &[("void test_first", "void check_first")],
        table: "",
    },
];

fn test(row: &Row, name: &str, statements: &[String]) -> String {
    row.test.replace("NAME", name).replace("BODY", &statements.join("\n    "))
}

fn file(row: &Row, tests: &[String]) -> String {
    format!("{}{}{}", row.file.0, tests.join("\n"), row.file.1)
}

fn numbered(statement: &str, number: usize) -> String {
    statement.replace("%a", &number.to_string()).replace("%b", &(number * 3).to_string())
}

/// What is said of files before and now.
fn said(row: &Row, files: &[(Option<&str>, Option<&str>)]) -> Vec<FindingWeight> {
    let language = SourceLanguage::named(row.language).unwrap();
    let texts: Vec<TestText<'_>> = files
        .iter()
        .map(|(before, now)| TestText { language, before: *before, now: *now, origin: row.origin })
        .collect();
    examine_tests(&texts).into_iter().flat_map(|one| one.findings).map(|one| one.weight).collect()
}

/// Two tests with two assertions each.
fn before(row: &Row) -> (String, String, String) {
    let statements = |from: usize| [numbered(row.exact, from), numbered(row.exact, from + 1)];
    let (first, second) = (test(row, "first", &statements(1)), test(row, "second", &statements(3)));
    (file(row, &[first.clone(), second.clone()]), first, second)
}

#[test]
fn every_weakening_is_found() {
    let mut missed = Vec::new();
    let mut count = 0;
    for row in &ROWS {
        let (old, first, second) = before(row);
        let (one, two) = (numbered(row.exact, 1), numbered(row.exact, 2));
        let with = |statements: &[String]| file(row, &[test(row, "first", statements), second.clone()]);
        let mut weakened = vec![
            ("the test is gone", file(row, std::slice::from_ref(&second))),
            ("an assertion is gone", with(std::slice::from_ref(&one))),
            ("an assertion is hollow", with(&[one.clone(), row.hollow.to_owned()])),
            ("an assertion is loose", with(&[one.clone(), numbered(row.loose, 2)])),
            ("all are loose", with(&[numbered(row.loose, 1), numbered(row.loose, 2)])),
            ("it leaves at once", with(&[row.leave.to_owned(), one, two])),
        ];
        weakened.extend(row.disarmed.iter().map(|(from, to)| {
            assert!(old.contains(from), "{}: {from}", row.language);
            ("it is disarmed", old.replacen(from, to, 1))
        }));
        for (what, now) in weakened {
            count += 1;
            if !said(row, &[(Some(&old), Some(&now))]).contains(&FindingWeight::Error) {
                missed.push(format!("{}: {what}\n{now}", row.language));
            }
        }
        assert!(said(row, &[(Some(&old), Some(&old))]).is_empty(), "{}: {first}", row.language);
    }
    assert!(count > 80, "{count}");
    assert!(missed.is_empty(), "{} of {count}:\n\n{}", missed.len(), missed.join("\n"));
}

#[test]
fn honest_changes_pass() {
    let mut wrong = Vec::new();
    for row in &ROWS {
        let (old, first, second) = before(row);
        let (one, two) = (numbered(row.exact, 1), numbered(row.exact, 2));
        let split = [
            test(row, "first", std::slice::from_ref(&one)),
            test(row, "third", std::slice::from_ref(&two)),
            second.clone(),
        ];
        let both = [one.clone(), two.clone(), numbered(row.exact, 3), numbered(row.exact, 4)];
        let mut honest = vec![
            ("renamed", file(row, &[test(row, "products", &[one.clone(), two.clone()]), second.clone()])),
            ("in another order", file(row, &[second.clone(), first.clone()])),
            ("split in two", file(row, &split)),
            ("joined", file(row, &[test(row, "all", &both)])),
            (
                "one more",
                file(row, &[first.clone(), second.clone(), test(row, "third", &[numbered(row.exact, 9)])]),
            ),
            (
                "other values",
                file(
                    row,
                    &[
                        test(row, "first", &[numbered(row.exact, 11), numbered(row.exact, 12)]),
                        second.clone(),
                    ],
                ),
            ),
        ];
        if !row.table.is_empty() {
            let table = [row.table.to_owned()];
            honest.push(("a table", file(row, &[test(row, "first", &table), second.clone()])));
            honest.push((
                "a table in a test of another name",
                file(row, &[test(row, "rows", &table), second.clone()]),
            ));
        }
        for (what, now) in honest {
            let found = said(row, &[(Some(&old), Some(&now))]);
            if !found.is_empty() {
                wrong.push(format!("{}: {what}: {found:?}\n{now}", row.language));
            }
        }
        // Moved to another file, one of them or all.
        let (rest, moved) =
            (file(row, std::slice::from_ref(&second)), file(row, std::slice::from_ref(&first)));
        for files in [
            vec![(Some(old.as_str()), Some(rest.as_str())), (None, Some(&moved))],
            vec![(Some(&old), None), (None, Some(&old))],
        ] {
            let found = said(row, &files);
            if !found.is_empty() {
                wrong.push(format!("{}: moved: {found:?}", row.language));
            }
        }
    }
    assert!(wrong.is_empty(), "{}:\n\n{}", wrong.len(), wrong.join("\n"));
}

fn row(language: &str) -> &'static Row {
    ROWS.iter().find(|row| row.language == language).unwrap()
}

#[test]
fn a_test_that_goes_with_its_code_is_nothing_to_say() {
    let row = row("python");
    let (old, _, second) = before(row);
    let rest = file(row, &[second]);
    let language = SourceLanguage::named("python").unwrap();
    let code = |now| TestText {
        language,
        before: Some("def mul(a, b):\n    return a * b\n\n\ndef add(a, b):\n    return a + b\n"),
        now: Some(now),
        origin: CodeOrigin::Product,
    };
    let tests = TestText { language, before: Some(&old), now: Some(&rest), origin: CodeOrigin::Tests };
    let count =
        |files: &[TestText<'_>]| examine_tests(files).into_iter().flat_map(|one| one.findings).count();
    assert_eq!(count(&[code("def add(a, b):\n    return a + b\n"), tests]), 0);
    // The code is still there.
    assert_eq!(
        count(&[code("def mul(a, b):\n    return b * a\n\n\ndef add(a, b):\n    return a + b\n"), tests]),
        1
    );
}

#[test]
fn a_second_test_of_the_same_name_replaces_the_first() {
    let row = row("python");
    let (old, ..) = before(row);
    let now = format!("{old}\n\ndef test_first():\n    assert mul\n");
    assert_eq!(said(row, &[(Some(&old), Some(&now))]), [FindingWeight::Error]);
}

#[test]
fn rows_of_a_table_count() {
    let row = row("python");
    let table = |rows: &str| {
        format!("@pytest.mark.parametrize('a, b', {rows})\ndef test_mul(a, b):\n    assert mul(a, 3) == b\n")
    };
    let old = table("[(1, 3), (2, 6), (3, 9)]");
    for rows in ["[]", "[(1, 3)]"] {
        assert_eq!(said(row, &[(Some(&old), Some(&table(rows)))]), [FindingWeight::Error], "{rows}");
    }
    for rows in ["[(1, 3), (2, 6), (3, 9), (4, 12)]", "ROWS", "[(5, 15), (6, 18), (7, 21)]"] {
        assert!(said(row, &[(Some(&old), Some(&table(rows)))]).is_empty(), "{rows}");
    }
}

#[test]
fn a_skip_that_says_why_and_a_new_condition_are_warnings() {
    let row = row("python");
    let (old, ..) = before(row);
    for mark in [
        "@pytest.mark.skip(reason='flaky')",
        "@pytest.mark.skipif(True, reason='flaky')",
        "@pytest.mark.skipif(sys.platform == 'win32', reason='paths')",
    ] {
        let now = old.replacen("def test_first", &format!("{mark}\ndef test_first"), 1);
        assert_eq!(said(row, &[(Some(&old), Some(&now))]), [FindingWeight::Warning], "{mark}");
    }
}

#[test]
fn assertions_in_a_function_of_the_file_count() {
    let row = row("python");
    let (old, _, second) = before(row);
    let now = format!(
        "def product(a, b):\n    assert mul(a, 3) == b\n\n\n{}",
        file(row, &[test(row, "first", &["product(1, 3)".to_owned(), "product(2, 6)".to_owned()]), second])
    );
    assert!(said(row, &[(Some(&old), Some(&now))]).is_empty());
}

#[test]
fn a_test_that_is_gone_is_allowed_with_a_reason() {
    let row = row("python");
    let (old, _, second) = before(row);
    let now = format!(
        "{}# checkrein: allow weakened_test: the doctest of `mul` has the same cases\n",
        file(row, &[second])
    );
    assert!(said(row, &[(Some(&old), Some(&now))]).is_empty());
}

#[test]
fn a_file_that_is_not_understood_does_not_excuse_itself() {
    let file = |text| GateText {
        language: SourceLanguage::named("python").unwrap(),
        text,
        changed: None,
        origin: CodeOrigin::Product,
    };
    let text = "# checkrein: allow not_parsed: agreed with the team\ndef parse(t:\n    raise ((\n}}}\n";
    let fails = |one: &checkrein_gates::GateFinding| one.weight == FindingWeight::Error;
    assert!(examine_file(file(text)).findings.iter().any(fails));
}
