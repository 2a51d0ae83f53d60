//! How much of the code tests cover, as what they print says it: the measure by which a loop gets on where all of its tests pass.

/// The share of covered code that an output tells, in thousandths of a percent; `None` where it tells none. Of several packages it is the mean.
/// Sources: the tables of coverage.py and llvm-cov (`TOTAL`) and of Istanbul (`All files`), `go test -cover` ("coverage: 85.0% of
/// statements"), pytest-cov ("Total coverage: 85.00%"), cargo-tarpaulin ("85.00% coverage"), and the gates ("80.00 % of lines").
pub fn coverage_told(output: &str) -> Option<u64> {
    let lines = || output.lines().map(str::trim);
    let total =
        lines().filter(|line| line.starts_with("TOTAL")).filter_map(|line| percents(line).pop()).next_back();
    let all_files = || {
        let line = lines().rfind(|line| line.starts_with("All files"))?;
        // Statements, branches, functions, lines.
        thousandths(line.split('|').nth(4)?.trim())
    };
    let named = || {
        let of_packages: Vec<u64> = lines()
            .filter(|line| line.to_lowercase().contains("coverage") || line.contains(" % of "))
            .filter_map(|line| percents(line).pop())
            .collect();
        let count = u64::try_from(of_packages.len()).ok().filter(|count| *count > 0)?;
        Some(of_packages.iter().sum::<u64>() / count)
    };
    total.or_else(all_files).or_else(named)
}

/// All shares of a line, in their order.
fn percents(line: &str) -> Vec<u64> {
    let before = |(at, _): (usize, &str)| {
        let text = line.get(..at)?.trim_end();
        let start =
            text.rfind(|sign: char| !(sign.is_ascii_digit() || sign == '.')).map_or(0, |last| last + 1);
        thousandths(text.get(start..)?)
    };
    line.match_indices('%').filter_map(before).collect()
}

/// A decimal number up to 100, in thousandths.
fn thousandths(text: &str) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let part: String = part.chars().chain("000".chars()).take(3).collect();
    let all = whole.parse::<u64>().ok().filter(|whole| *whole <= 100)? * 1000 + part.parse::<u64>().ok()?;
    (all <= 100_000).then_some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tools_print_tells_the_coverage() {
        for (output, wanted) in [
            ("Name Stmts Miss Cover\nshop.py 20 3 85%\nTOTAL 20 3 85%\n", Some(85_000)),
            (
                "File  | % Stmts | % Branch | % Funcs | % Lines |\nAll files | 90 | 50 | 100 | 85.71 | \n",
                Some(85_710),
            ),
            (
                "ok a 0.1s coverage: 80.0% of statements\nok b 0.1s coverage: 90.0% of statements",
                Some(85_000),
            ),
            ("FAIL Required test coverage of 90% not reached. Total coverage: 85.25%", Some(85_250)),
            ("85.00% coverage, 17/20 lines covered", Some(85_000)),
            ("80.00 % of lines", Some(80_000)),
            ("3 passed in 0.1s [100%]", None),
            ("coverage was not measured", None),
            ("coverage: 850% of statements", None),
        ] {
            assert_eq!(coverage_told(output), wanted, "{output}");
        }
    }
}
