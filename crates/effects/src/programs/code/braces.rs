//! Braces in patterns of files, as libraries take them: `{a,b}` stands for either (Ruby, `Dir.glob`; PHP, `GLOB_BRACE`; Perl, "File::Glob"; node, `fs.glob`,
//! fast-glob 3).

/// The greatest number of patterns that one stands for (ours).
const PATTERNS: usize = 64;

/// The patterns without braces that one with braces stands for: itself where it has none, or more than are counted.
pub(crate) fn alternatives(pattern: &str) -> Vec<String> {
    let mut done = Vec::new();
    let mut open = vec![pattern.to_owned()];
    while let Some(next) = open.pop() {
        let Some((before, choices, behind)) = first_braces(&next) else {
            done.push(next);
            continue;
        };
        open.extend(choices.iter().rev().map(|choice| format!("{before}{choice}{behind}")));
        if open.len() + done.len() > PATTERNS {
            return vec![pattern.to_owned()];
        }
    }
    done
}

/// The first braces with a comma: what stands in front of them, between their commas, and behind them.
fn first_braces(text: &str) -> Option<(&str, Vec<&str>, &str)> {
    for (start, _) in text.match_indices('{') {
        let inner = text.get(start + 1..)?;
        let (mut depth, mut from, mut choices) = (0_usize, 0, Vec::new());
        for (at, letter) in inner.char_indices() {
            match letter {
                '{' => depth += 1,
                ',' if depth == 0 => {
                    choices.push(inner.get(from..at)?);
                    from = at + 1;
                }
                '}' if depth == 0 => {
                    choices.push(inner.get(from..at)?);
                    if choices.len() > 1 {
                        return Some((text.get(..start)?, choices, inner.get(at + 1..)?));
                    }
                    break;
                }
                '}' => depth -= 1,
                _ => {}
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::alternatives;

    #[test]
    fn braces_stand_for_each_of_their_parts() {
        assert_eq!(alternatives("a/{b,c}/*"), ["a/b/*", "a/c/*"]);
        assert_eq!(alternatives("{*,.[a-z]*}"), ["*", ".[a-z]*"]);
        assert_eq!(alternatives("{a,{b,c}}.{x,y}"), ["a.x", "a.y", "b.x", "b.y", "c.x", "c.y"]);
        for plain in ["*.rb", "{a}", "{a,b", "a}b,{"] {
            assert_eq!(alternatives(plain), [plain]);
        }
    }

    #[test]
    fn what_stands_for_too_many_stays_as_it_is() {
        let many = "{a,b}".repeat(8);
        assert_eq!(alternatives(&many), [many.as_str()]);
    }
}
