//! What a command prints of its own text beside what it runs: `echo try 3; npm test`.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::normalise::ends;

/// The longest command of which that is looked for, in bytes, and the longest line that is taken for its own (ours).
const LONGEST_COMMAND: usize = 4 * 1024;
const LONGEST_LINE: usize = 200;

/// The output of a command without the lines in which nothing stands but words of the command itself, and a number that does not belong to
/// what it is about, and without those that say by which number it shuffled what it ran: a counter that goes up each time would make each result another one. `substance` is what of the command makes it the
/// command that it is.
pub fn without_own_numbers<'output>(
    output: &'output str,
    command: &str,
    substance: &str,
) -> Cow<'output, str> {
    let of_substance: BTreeSet<&str> = numbers(substance).collect();
    let own: BTreeSet<&str> = numbers(command).filter(|number| !of_substance.contains(number)).collect();
    if own.is_empty() || command.len() > LONGEST_COMMAND {
        return Cow::Borrowed(output);
    }
    let shuffles = command.contains("seed") || command.contains("shuffle");
    let is_own = |line: &str| {
        line.len() <= LONGEST_LINE
            && numbers(line).any(|number| own.contains(number))
            && (line.split_whitespace().all(|word| command.contains(word)) || shuffles && names_order(line))
    };
    let text = ends(output);
    if !text.lines().any(is_own) {
        return Cow::Borrowed(output);
    }
    Cow::Owned(text.lines().filter(|line| !is_own(line)).collect::<Vec<_>>().join("\n"))
}

/// Whether a line says by which number tests were shuffled: `Using --randomly-seed=3`, `Randomized with seed 3`, `-test.shuffle 3`.
fn names_order(line: &str) -> bool {
    let line = line.to_ascii_lowercase();
    line.contains("seed") || line.contains("shuffle")
}

fn numbers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_ascii_digit()).filter(|digits| !digits.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_of_the_commands_own_words_with_a_number_of_its_own_go() {
        for (command, substance, output, left) in [
            ("echo try 3; npm test", "(npm 'test')", "try 3\nFAIL\nError: boom", "FAIL\nError: boom"),
            ("N=7; echo \"== run $N ==\"; npm test", "(npm 'test')", "== run 7 ==\nFAIL", "FAIL"),
            ("echo 3; npm test", "(npm 'test')", "3 passed\n3", "3 passed"),
            ("ls a1 b2", "(ls a1 b2)", "a1\nb2", "a1\nb2"),
            (
                "pytest --randomly-seed=7",
                "(pytest)",
                "Using --randomly-seed=7\n7 failed\nseed 9",
                "7 failed\nseed 9",
            ),
            ("npm test -- --seed 7", "(npm 'test')", "> jest --seed 7\nSeed: 7\nFAIL", "FAIL"),
            ("echo try; npm test", "(npm 'test')", "try\n3 failed", "try\n3 failed"),
        ] {
            assert_eq!(without_own_numbers(output, command, substance), left, "{command}");
        }
    }
}
