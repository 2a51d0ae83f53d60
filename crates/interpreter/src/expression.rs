//! Regular expressions as `grep` and `sed` read them, by backtracking within bounds.

/// The greatest number of steps of one search (ours).
const FUEL: usize = 100_000;
/// The longest line that is searched, in characters; longer ones are not known (ours).
const LINE: usize = 8_192;
/// The greatest nesting and length of an expression (ours).
const SIZE: usize = 200;

/// Whether an extended expression fits somewhere in a line, as `pkill` and `grep -E` read it. One that takes too long to find out counts
/// as if it did; one that cannot be read fits nowhere, as those programs refuse it.
pub fn fits(pattern: &str, line: &str) -> bool {
    let line: Vec<char> = line.chars().collect();
    let read = |text: &str| Expression::new(text, Dialect::Extended, LetterCase::Kept);
    read(pattern)
        .or_else(|| read(&without_idle_marks(pattern)))
        .is_some_and(|expression| !matches!(expression.find(&line, 0), Ok(None)))
}

/// Whether an extended expression fits a whole text; `None` when it cannot be read
/// here, or takes too long.
pub fn fits_whole(pattern: &str, text: &str, case: LetterCase) -> Option<bool> {
    let expression = Expression::new(&format!("^({pattern})$"), Dialect::Extended, case)?;
    let letters: Vec<char> = text.chars().collect();
    expression.find(&letters, 0).ok().map(|found| found.is_some())
}

/// An expression without the backslashes in front of letters that mean themselves all the same: `ho\ok`.
fn without_idle_marks(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut letters = pattern.chars().peekable();
    while let Some(letter) = letters.next() {
        let is_idle = letter == '\\'
            && letters.peek().is_some_and(|next| next.is_ascii_alphabetic() && !"bBwWsS".contains(*next));
        if !is_idle {
            out.push(letter);
            if letter == '\\' {
                out.extend(letters.next());
            }
        }
    }
    out
}

/// How operators are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// `\(`, `\|`, `\+`
    Basic,
    /// `(`, `|`, `+`
    Extended,
    /// No operators.
    Fixed,
}

/// Whether letters of both cases are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LetterCase {
    /// They differ.
    Kept,
    /// They are the same.
    Ignored,
}

/// An expression ready to be searched for.
#[derive(Debug, Clone)]
pub(crate) struct Expression {
    ways: Vec<Vec<Node>>,
    groups: usize,
    case: LetterCase,
}

#[derive(Debug, Clone)]
enum Node {
    Char(char),
    Any,
    Set { negated: bool, ranges: Vec<(char, char)> },
    Start,
    End,
    Boundary,
    Group { ways: Vec<Vec<Node>>, number: Option<usize> },
    Repeat { node: Box<Node>, least: usize, most: usize },
}

/// It takes too long to find out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NotKnown;

/// Where an expression was found: the whole, then its groups, in characters.
pub(crate) type Found = Vec<Option<(usize, usize)>>;

impl Expression {
    /// Reads an expression; `None` when it has operators that are not known here.
    pub(crate) fn new(text: &str, dialect: Dialect, case: LetterCase) -> Option<Self> {
        let chars: Vec<char> = text.chars().collect();
        if chars.len() > SIZE {
            return None;
        }
        if dialect == Dialect::Fixed {
            return Some(Self { ways: vec![chars.into_iter().map(Node::Char).collect()], groups: 0, case });
        }
        let mut reader = Reader { chars, place: 0, dialect, groups: 0 };
        let ways = reader.ways(0)?;
        if reader.place < reader.chars.len() {
            return None;
        }
        Some(Self { ways, groups: reader.groups, case })
    }

    /// The first match at or behind `from`, if there is one.
    pub(crate) fn find(&self, line: &[char], from: usize) -> Result<Option<Found>, NotKnown> {
        if line.len() > LINE {
            return Err(NotKnown);
        }
        let mut search = Search { line, case: self.case, fuel: FUEL, groups: vec![None; self.groups + 1] };
        for start in from..=line.len() {
            for way in &self.ways {
                search.groups.fill(None);
                let mut end = None;
                let hit = search.run(way, start, &mut |_, place| {
                    end = Some(place);
                    true
                });
                if hit {
                    let mut found = search.groups.clone();
                    if let Some(whole) = found.first_mut() {
                        *whole = end.map(|end| (start, end));
                    }
                    return Ok(Some(found));
                }
                if search.fuel == 0 {
                    return Err(NotKnown);
                }
            }
        }
        Ok(None)
    }

    /// Whether the line has a match; `None` when that is not known.
    pub(crate) fn matches(&self, line: &str) -> Option<bool> {
        let chars: Vec<char> = line.chars().collect();
        self.find(&chars, 0).ok().map(|found| found.is_some())
    }
}

struct Reader {
    chars: Vec<char>,
    place: usize,
    dialect: Dialect,
    groups: usize,
}

impl Reader {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.place + ahead).copied()
    }

    /// Takes an operator: bare in the extended dialect, with a backslash in the basic one.
    fn takes(&mut self, operator: char) -> bool {
        let escaped = self.peek(0) == Some('\\') && self.peek(1) == Some(operator);
        let found = match self.dialect {
            Dialect::Basic => escaped,
            Dialect::Extended | Dialect::Fixed => self.peek(0) == Some(operator),
        };
        if found {
            self.place += if self.dialect == Dialect::Basic { 2 } else { 1 };
        }
        found
    }

    fn at_end_of_way(&self) -> bool {
        let (first, second) = (self.peek(0), self.peek(1));
        match self.dialect {
            Dialect::Basic => first.is_none() || first == Some('\\') && matches!(second, Some(')' | '|')),
            Dialect::Extended | Dialect::Fixed => matches!(first, None | Some(')' | '|')),
        }
    }

    fn ways(&mut self, depth: usize) -> Option<Vec<Vec<Node>>> {
        if depth > 20 {
            return None;
        }
        let mut ways = vec![self.way(depth)?];
        while self.takes('|') {
            ways.push(self.way(depth)?);
        }
        Some(ways)
    }

    fn way(&mut self, depth: usize) -> Option<Vec<Node>> {
        let mut nodes = Vec::new();
        while !self.at_end_of_way() {
            let first = nodes.is_empty();
            let node = self.node(depth, first)?;
            let node = self.repeated(node)?;
            nodes.push(node);
        }
        Some(nodes)
    }

    fn node(&mut self, depth: usize, first: bool) -> Option<Node> {
        if self.takes('(') {
            let capturing = !(self.peek(0) == Some('?') && self.peek(1) == Some(':'));
            let number = if capturing {
                self.groups += 1;
                Some(self.groups)
            } else {
                self.place += 2;
                None
            };
            let ways = self.ways(depth + 1)?;
            return self.takes(')').then_some(Node::Group { ways, number });
        }
        let c = self.peek(0)?;
        self.place += 1;
        Some(match c {
            '.' => Node::Any,
            '^' if first || self.dialect == Dialect::Extended => Node::Start,
            '$' if self.at_end_of_way() || self.dialect == Dialect::Extended => Node::End,
            '*' if first => Node::Char('*'),
            '[' => self.set()?,
            '\\' => {
                let escaped = self.peek(0)?;
                self.place += 1;
                match escaped {
                    'n' => Node::Char('\n'),
                    't' => Node::Char('\t'),
                    'b' | '<' | '>' => Node::Boundary,
                    'w' => Node::Set { negated: false, ranges: word() },
                    'W' => Node::Set { negated: true, ranges: word() },
                    's' => Node::Set { negated: false, ranges: vec![(' ', ' '), ('\t', '\r')] },
                    'S' => Node::Set { negated: true, ranges: vec![(' ', ' '), ('\t', '\r')] },
                    'd' => Node::Set { negated: false, ranges: vec![('0', '9')] },
                    c if c.is_alphanumeric() => return None,
                    c => Node::Char(c),
                }
            }
            c => Node::Char(c),
        })
    }

    fn repeated(&mut self, node: Node) -> Option<Node> {
        let mut node = node;
        loop {
            let (least, most) = if self.peek(0) == Some('*') {
                self.place += 1;
                (0, usize::MAX)
            } else if self.takes('+') {
                (1, usize::MAX)
            } else if self.takes('?') {
                (0, 1)
            } else if self.takes('{') {
                let end =
                    self.chars.iter().skip(self.place).position(|c| matches!(c, '}' | '\\'))? + self.place;
                let inner: String = self.chars.get(self.place..end)?.iter().collect();
                self.place = end;
                if !self.takes('}') {
                    return None;
                }
                match inner.split_once(',') {
                    None => {
                        let count = inner.parse().ok()?;
                        (count, count)
                    }
                    Some((least, "")) => (least.parse().ok()?, usize::MAX),
                    Some((least, most)) => {
                        (if least.is_empty() { 0 } else { least.parse().ok()? }, most.parse().ok()?)
                    }
                }
            } else {
                return Some(node);
            };
            node = Node::Repeat { node: Box::new(node), least, most };
        }
    }

    fn set(&mut self) -> Option<Node> {
        let negated = self.peek(0) == Some('^');
        if negated {
            self.place += 1;
        }
        let start = self.place;
        let mut ranges = Vec::new();
        loop {
            let c = self.peek(0)?;
            if c == ']' && self.place > start {
                self.place += 1;
                return Some(Node::Set { negated, ranges });
            }
            if c == '[' && matches!(self.peek(1), Some('.' | '=')) {
                return None;
            }
            if c == '[' && self.peek(1) == Some(':') {
                let rest: String = self.chars.get(self.place + 2..)?.iter().collect();
                let name = rest.get(..rest.find(":]")?)?;
                ranges.extend(match name {
                    "alpha" => vec![('a', 'z'), ('A', 'Z')],
                    "digit" => vec![('0', '9')],
                    "alnum" => vec![('a', 'z'), ('A', 'Z'), ('0', '9')],
                    "upper" => vec![('A', 'Z')],
                    "lower" => vec![('a', 'z')],
                    "space" => vec![(' ', ' '), ('\t', '\r')],
                    "blank" => vec![(' ', ' '), ('\t', '\t')],
                    "xdigit" => vec![('0', '9'), ('a', 'f'), ('A', 'F')],
                    _ => return None,
                });
                self.place += 4 + name.chars().count();
                continue;
            }
            self.place += 1;
            if self.peek(0) == Some('-') && self.peek(1).is_some_and(|next| next != ']') {
                ranges.push((c, self.peek(1)?));
                self.place += 2;
            } else {
                ranges.push((c, c));
            }
        }
    }
}

fn word() -> Vec<(char, char)> {
    vec![('a', 'z'), ('A', 'Z'), ('0', '9'), ('_', '_')]
}

struct Search<'t> {
    line: &'t [char],
    case: LetterCase,
    fuel: usize,
    groups: Found,
}

impl Search<'_> {
    /// Whether the nodes match from `place` on and `then` holds behind them.
    fn run(&mut self, nodes: &[Node], place: usize, then: &mut dyn FnMut(&mut Self, usize) -> bool) -> bool {
        if self.fuel == 0 {
            return false;
        }
        self.fuel -= 1;
        let Some((node, rest)) = nodes.split_first() else { return then(self, place) };
        match node {
            Node::Start => place == 0 && self.run(rest, place, then),
            Node::End => place == self.line.len() && self.run(rest, place, then),
            Node::Boundary => {
                let is_word = |c: Option<&char>| c.is_some_and(|c| c.is_alphanumeric() || *c == '_');
                let before = place.checked_sub(1).and_then(|before| self.line.get(before));
                is_word(before) != is_word(self.line.get(place)) && self.run(rest, place, then)
            }
            Node::Char(_) | Node::Any | Node::Set { .. } => {
                self.fits(node, place) && self.run(rest, place + 1, then)
            }
            Node::Group { ways, number } => {
                for way in ways {
                    let before = number.and_then(|number| self.groups.get(number).copied());
                    let hit = self.run(way, place, &mut |search, end| {
                        if let Some(group) = number.and_then(|number| search.groups.get_mut(number)) {
                            *group = Some((place, end));
                        }
                        search.run(rest, end, then)
                    });
                    if hit {
                        return true;
                    }
                    if let (Some(number), Some(before)) = (number, before)
                        && let Some(group) = self.groups.get_mut(*number)
                    {
                        *group = before;
                    }
                }
                false
            }
            Node::Repeat { node, least, most } => self.repeat(node, *least, *most, place, rest, then),
        }
    }

    fn repeat(
        &mut self,
        node: &Node,
        least: usize,
        most: usize,
        place: usize,
        rest: &[Node],
        then: &mut dyn FnMut(&mut Self, usize) -> bool,
    ) -> bool {
        if matches!(node, Node::Char(_) | Node::Any | Node::Set { .. }) {
            // Greedy without recursion: as many as there are, then fewer.
            let mut count = 0;
            while count < most && self.fits(node, place + count) {
                count += 1;
            }
            loop {
                if count < least {
                    return false;
                }
                if self.run(rest, place + count, then) {
                    return true;
                }
                if count == 0 || self.fuel == 0 {
                    return false;
                }
                count -= 1;
            }
        }
        if most > 0 {
            let hit = self.run(std::slice::from_ref(node), place, &mut |search, end| {
                end > place && search.repeat(node, least.saturating_sub(1), most - 1, end, rest, then)
            });
            if hit {
                return true;
            }
        }
        least == 0 && self.run(rest, place, then)
    }

    fn fits(&self, node: &Node, place: usize) -> bool {
        let Some(c) = self.line.get(place).copied() else { return false };
        let folded = |c: char| if self.case == LetterCase::Ignored { c.to_ascii_lowercase() } else { c };
        match node {
            Node::Char(wanted) => folded(*wanted) == folded(c),
            Node::Any => true,
            Node::Set { negated, ranges } => {
                let inside = ranges.iter().any(|(low, high)| {
                    (*low..=*high).contains(&c)
                        || self.case == LetterCase::Ignored
                            && ((*low..=*high).contains(&c.to_ascii_lowercase())
                                || (*low..=*high).contains(&c.to_ascii_uppercase()))
                });
                inside != *negated
            }
            Node::Start | Node::End | Node::Boundary | Node::Group { .. } | Node::Repeat { .. } => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, dialect: Dialect, line: &str) -> Option<(usize, usize)> {
        let chars: Vec<char> = line.chars().collect();
        Expression::new(text, dialect, LetterCase::Kept)
            .unwrap()
            .find(&chars, 0)
            .unwrap()
            .and_then(|found| found[0])
    }

    #[test]
    fn expressions_are_found_as_by_grep() {
        assert_eq!(found("a.c", Dialect::Basic, "xabcx"), Some((1, 4)));
        assert_eq!(found("^a*$", Dialect::Basic, "aaa"), Some((0, 3)));
        assert_eq!(found("(ab|cd)+", Dialect::Extended, "xabcdab"), Some((1, 7)));
        assert_eq!(found("\\(ab\\)\\{2\\}", Dialect::Basic, "xababx"), Some((1, 5)));
        assert_eq!(found("a+", Dialect::Basic, "aa+"), Some((1, 3)));
        assert_eq!(found("[^0-9]+$", Dialect::Extended, "12ab"), Some((2, 4)));
        assert_eq!(found("\\bend\\b", Dialect::Extended, "the end."), Some((4, 7)));
        assert_eq!(found("[[:digit:]]x?y", Dialect::Extended, "a7y"), Some((1, 3)));
        assert_eq!(found("a", Dialect::Fixed, "bbb"), None);
        assert!(Expression::new("(a", Dialect::Extended, LetterCase::Kept).is_none());
        assert!(Expression::new("\\1", Dialect::Basic, LetterCase::Kept).is_none());
    }

    #[test]
    fn groups_are_remembered() {
        let chars: Vec<char> = "IMG_001.JPG".chars().collect();
        let expression = Expression::new("^IMG_\\(.*\\)\\.JPG$", Dialect::Basic, LetterCase::Kept).unwrap();
        assert_eq!(expression.find(&chars, 0).unwrap().unwrap()[1], Some((4, 7)));
    }

    #[test]
    fn hostile_expressions_end() {
        let expression = Expression::new("(a*)*(a*)*(a*)*b", Dialect::Extended, LetterCase::Kept).unwrap();
        assert_ne!(expression.matches(&"a".repeat(300)), Some(true));
        assert_eq!(expression.matches(&"a".repeat(5000)), None);
    }
}
