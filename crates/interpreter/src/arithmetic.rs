//! Arithmetic of the shell on whole numbers.

/// What the names in an expression mean.
pub(crate) trait Names {
    /// The text of a variable; `None` when it is not known. An unset variable is empty.
    fn get(&mut self, name: &str) -> Option<String>;
    /// Assigns a variable; `None` when the value is not known.
    fn set(&mut self, name: &str, value: Option<i64>);
    /// Notes that the expression is in error: nothing can be divided by zero, and not every text is an expression.
    fn fails(&mut self);
    /// The text after the substitutions in it have run; `None` when it is not known.
    fn substituted(&mut self, text: &str) -> Option<String>;
}

/// The greatest nesting of an expression (ours).
const DEPTH: usize = 64;

/// The value of an expression; `None` when it is not known or not well formed. Assignments inside it take place.
pub(crate) fn evaluate(text: &str, names: &mut dyn Names) -> Option<i64> {
    evaluate_nested(text, names, 0)
}

fn evaluate_nested(text: &str, names: &mut dyn Names, depth: usize) -> Option<i64> {
    if depth > DEPTH {
        return None;
    }
    let substituted;
    let mut text = text;
    if super::again::holds_command(text) {
        substituted = names.substituted(text)?;
        text = &substituted;
        if super::again::holds_command(text) {
            return None;
        }
    }
    let Some(tokens) = tokens(text) else {
        names.fails();
        return None;
    };
    if tokens.is_empty() {
        return Some(0);
    }
    let mut reader = Reader { tokens, place: 0, names, depth, skip: 0, is_malformed: false };
    let value = reader.comma();
    if reader.is_malformed || reader.place < reader.tokens.len() {
        // What is assigned to, or what follows, is none that can be.
        reader.names.fails();
        return None;
    }
    value
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Number(i64),
    Name(String),
    Operator(&'static str),
}

/// Longest first, so that the first that fits is meant.
const OPERATORS: &[&str] = &[
    "<<=", ">>=", "**", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=", "-=", "*=", "/=",
    "%=", "&=", "|=", "^=", "+", "-", "*", "/", "%", "(", ")", "<", ">", "=", "!", "~", "&", "|", "^", "?",
    ":", ",",
];

fn tokens(text: &str) -> Option<Vec<Token>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if c.is_whitespace() || c == '"' {
            rest = rest.get(c.len_utf8()..)?;
        } else if c.is_ascii_digit() {
            let end = rest
                .find(|c: char| !(c.is_ascii_alphanumeric() || c == '#' || c == '@' || c == '_'))
                .unwrap_or(rest.len());
            found.push(Token::Number(number(rest.get(..end)?)?));
            rest = rest.get(end..)?;
        } else if c.is_ascii_alphabetic() || c == '_' {
            let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
            let end = end + subscript(rest.get(end..)?)?;
            let name = rest.get(..end)?;
            rest = rest.get(end..)?;
            found.push(Token::Name(name.to_owned()));
        } else {
            let operator = OPERATORS.iter().find(|operator| rest.starts_with(**operator))?;
            found.push(Token::Operator(operator));
            rest = rest.get(operator.len()..)?;
        }
    }
    Some(found)
}

/// The length of the subscript at the beginning, brackets included; `None` when it is not closed.
fn subscript(text: &str) -> Option<usize> {
    if !text.starts_with('[') {
        return Some(0);
    }
    let mut open = 0_usize;
    for (place, c) in text.char_indices() {
        match c {
            '[' => open += 1,
            ']' => open -= 1,
            _ => {}
        }
        if open == 0 {
            return Some(place + 1);
        }
    }
    None
}

fn number(text: &str) -> Option<i64> {
    if let Some((base, digits)) = text.split_once('#') {
        let base: u32 = base.parse().ok()?;
        return if (2..=36).contains(&base) { i64::from_str_radix(digits, base).ok() } else { None };
    }
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        return i64::from_str_radix(digits, 16).ok();
    }
    if text.len() > 1 && text.starts_with('0') {
        return i64::from_str_radix(text, 8).ok();
    }
    text.parse().ok()
}

struct Reader<'n> {
    tokens: Vec<Token>,
    place: usize,
    names: &'n mut dyn Names,
    depth: usize,
    /// Above zero inside a way that is not taken: assignments there do not happen.
    skip: usize,
    /// Whether something stands where it cannot.
    is_malformed: bool,
}

impl Reader<'_> {
    /// Gives up on what no shell takes for an expression.
    fn refuse(&mut self) -> Option<i64> {
        self.place = usize::MAX;
        self.is_malformed = true;
        None
    }

    fn takes(&mut self, operator: &str) -> bool {
        let found = matches!(self.tokens.get(self.place), Some(Token::Operator(known)) if *known == operator);
        if found {
            self.place += 1;
        }
        found
    }

    fn deeper<T>(&mut self, work: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if self.depth > DEPTH {
            self.place = usize::MAX;
            return None;
        }
        self.depth += 1;
        let answer = work(self);
        self.depth -= 1;
        answer
    }

    fn comma(&mut self) -> Option<i64> {
        let mut value = self.assignment();
        while self.takes(",") {
            value = self.assignment();
        }
        value
    }

    fn assignment(&mut self) -> Option<i64> {
        let name = match (self.tokens.get(self.place), self.tokens.get(self.place.saturating_add(1))) {
            (Some(Token::Name(name)), Some(Token::Operator(operator)))
                if operator.ends_with('=') && !matches!(*operator, "==" | "!=" | "<=" | ">=") =>
            {
                Some((name.clone(), *operator))
            }
            _ => None,
        };
        let Some((name, operator)) = name else { return self.deeper(Self::choice) };
        self.place += 2;
        let right = self.deeper(Self::assignment);
        let value = if operator == "=" {
            right
        } else {
            let left = self.value_of(&name);
            let binary = operator.trim_end_matches('=');
            match (left, right) {
                (Some(left), Some(right)) => compute(binary, left, right),
                _ => None,
            }
        };
        self.assign(&name, value);
        value
    }

    fn choice(&mut self) -> Option<i64> {
        let condition = self.binary(0);
        if !self.takes("?") {
            return condition;
        }
        let taken = condition.map(|value| value != 0);
        self.skip += usize::from(taken == Some(false));
        let first = self.deeper(Self::assignment);
        self.skip -= usize::from(taken == Some(false));
        if !self.takes(":") {
            return self.refuse();
        }
        self.skip += usize::from(taken == Some(true));
        let second = self.deeper(Self::assignment);
        self.skip -= usize::from(taken == Some(true));
        match taken {
            Some(true) => first,
            Some(false) => second,
            None if first == second => first,
            None => None,
        }
    }

    fn binary(&mut self, level: usize) -> Option<i64> {
        const LEVELS: &[&[&str]] = &[
            &["||"],
            &["&&"],
            &["|"],
            &["^"],
            &["&"],
            &["==", "!="],
            &["<=", ">=", "<", ">"],
            &["<<", ">>"],
            &["+", "-"],
            &["*", "/", "%"],
        ];
        let Some(operators) = LEVELS.get(level) else { return self.power() };
        let mut left = self.binary(level + 1);
        loop {
            let Some(operator) = operators.iter().find(|operator| self.takes(operator)) else { return left };
            let skipped = matches!((*operator, left), ("&&", Some(0)))
                || *operator == "||" && left.is_some_and(|value| value != 0);
            self.skip += usize::from(skipped);
            let right = self.binary(level + 1);
            self.skip -= usize::from(skipped);
            left = match (*operator, left, right) {
                ("&&", Some(0), _) | ("&&", _, Some(0)) => Some(0),
                ("||", Some(one), _) | ("||", _, Some(one)) if one != 0 => Some(1),
                ("/" | "%", _, Some(0)) => {
                    if self.skip == 0 {
                        self.names.fails();
                    }
                    None
                }
                (operator, Some(left), Some(right)) => compute(operator, left, right),
                _ => None,
            };
        }
    }

    fn power(&mut self) -> Option<i64> {
        let base = self.unary();
        if self.takes("**") {
            let exponent = self.deeper(Self::power);
            return match (base, exponent) {
                (Some(base), Some(exponent)) => base.checked_pow(u32::try_from(exponent).ok()?),
                _ => None,
            };
        }
        base
    }

    fn unary(&mut self) -> Option<i64> {
        if self.takes("++") || self.takes("--") {
            let step = if self.tokens.get(self.place.saturating_sub(1)) == Some(&Token::Operator("++")) {
                1
            } else {
                -1
            };
            let Some(Token::Name(name)) = self.tokens.get(self.place).cloned() else {
                let value = self.deeper(Self::unary);
                return value;
            };
            self.place += 1;
            let value = self.value_of(&name).and_then(|value| value.checked_add(step));
            self.assign(&name, value);
            return value;
        }
        for operator in ["!", "~", "-", "+"] {
            if self.takes(operator) {
                let value = self.deeper(Self::unary)?;
                return match operator {
                    "!" => Some(i64::from(value == 0)),
                    "~" => Some(!value),
                    "-" => value.checked_neg(),
                    _ => Some(value),
                };
            }
        }
        self.primary()
    }

    fn primary(&mut self) -> Option<i64> {
        let token = self.tokens.get(self.place).cloned();
        match token {
            Some(Token::Number(value)) => {
                self.place += 1;
                Some(value)
            }
            Some(Token::Name(name)) => {
                self.place += 1;
                let value = self.value_of(&name);
                let step = if self.takes("++") {
                    1
                } else if self.takes("--") {
                    -1
                } else {
                    return value;
                };
                self.assign(&name, value.and_then(|value| value.checked_add(step)));
                value
            }
            Some(Token::Operator("(")) => {
                self.place += 1;
                let value = self.deeper(Self::comma);
                if !self.takes(")") {
                    return self.refuse();
                }
                value
            }
            Some(Token::Operator(_)) | None => self.refuse(),
        }
    }

    fn value_of(&mut self, name: &str) -> Option<i64> {
        let text = self.names.get(name)?;
        let text = text.trim();
        if text.is_empty() {
            return Some(0);
        }
        if let Ok(value) = text.parse::<i64>()
            && !(text.len() > 1 && text.starts_with('0'))
        {
            return Some(value);
        }
        evaluate_nested(text, self.names, self.depth + 8)
    }

    fn assign(&mut self, name: &str, value: Option<i64>) {
        if self.skip == 0 {
            self.names.set(name, value);
        }
    }
}

fn compute(operator: &str, left: i64, right: i64) -> Option<i64> {
    Some(match operator {
        "+" => left.wrapping_add(right),
        "-" => left.wrapping_sub(right),
        "*" => left.wrapping_mul(right),
        "/" => left.checked_div(right)?,
        "%" => left.checked_rem(right)?,
        "<<" => left.checked_shl(u32::try_from(right).ok()?)?,
        ">>" => left.checked_shr(u32::try_from(right).ok()?)?,
        "&" => left & right,
        "|" => left | right,
        "^" => left ^ right,
        "==" => i64::from(left == right),
        "!=" => i64::from(left != right),
        "<" => i64::from(left < right),
        ">" => i64::from(left > right),
        "<=" => i64::from(left <= right),
        ">=" => i64::from(left >= right),
        "&&" => i64::from(left != 0 && right != 0),
        "||" => i64::from(left != 0 || right != 0),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[derive(Default)]
    struct Table(BTreeMap<String, Option<i64>>);

    impl Names for Table {
        fn get(&mut self, name: &str) -> Option<String> {
            match self.0.get(name) {
                Some(value) => value.map(|value| value.to_string()),
                None => Some(String::new()),
            }
        }

        fn substituted(&mut self, _: &str) -> Option<String> {
            None
        }

        fn fails(&mut self) {}

        fn set(&mut self, name: &str, value: Option<i64>) {
            self.0.insert(name.to_owned(), value);
        }
    }

    #[test]
    fn expressions_have_the_values_of_the_shell() {
        let mut names = Table::default();
        for (text, value) in [
            ("1 + 2 * 3", 7),
            ("(1+2)*3", 9),
            ("2**3**2", 512),
            ("7/2", 3),
            ("-7 % 3", -1),
            ("0x10 + 010", 24),
            ("2#101", 5),
            ("x = 4, x += 2", 6),
            ("x++ + x", 13),
            ("x > 3 ? 1 : 0", 1),
            ("!x", 0),
            ("1 && 0 || 1", 1),
            ("unset_one", 0),
            ("", 0),
            ("5 & 3 | 8", 9),
        ] {
            assert_eq!(evaluate(text, &mut names), Some(value), "{text}");
        }
        assert_eq!(evaluate("1/0", &mut names), None);
        assert_eq!(evaluate("1 +", &mut names), None);
        assert_eq!(evaluate("0 && (y = 1)", &mut names), Some(0));
        assert!(!names.0.contains_key("y"));
        names.set("u", None);
        assert_eq!(evaluate("u + 1", &mut names), None);
        assert_eq!(evaluate(&"(".repeat(5000), &mut names), None);
    }
}
