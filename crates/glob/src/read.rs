//! From the text of a pattern to its signs.

use super::{Reach, Sign, Style};

/// What a `[` means that no `]` follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unclosed {
    /// Itself.
    Literal,
    /// The pattern fits nothing.
    Never,
}

impl Unclosed {
    fn sign(self) -> Sign {
        match self {
            Self::Literal => Sign::Character('['),
            Self::Never => Sign::Never,
        }
    }
}

/// How `[...]` is read.
#[derive(Debug, Clone, Copy)]
struct Classes {
    unclosed: Unclosed,
    escape: bool,
}

impl Style {
    fn reach(self) -> Reach {
        match self {
            Self::Shell | Self::Gitignore | Self::Setting | Self::Carried => Reach::Name,
            Self::Pathspec | Self::Find | Self::Word => Reach::Path,
        }
    }

    fn classes(self) -> Option<Classes> {
        match self {
            Self::Shell | Self::Pathspec | Self::Find => {
                Some(Classes { unclosed: Unclosed::Literal, escape: false })
            }
            Self::Gitignore => Some(Classes { unclosed: Unclosed::Never, escape: true }),
            Self::Setting | Self::Carried | Self::Word => None,
        }
    }

    fn has_escapes(self) -> bool {
        matches!(self, Self::Gitignore | Self::Pathspec | Self::Find)
    }

    /// Whether `**/` may stand for no directory.
    fn has_directories(self) -> bool {
        matches!(self, Self::Shell | Self::Gitignore | Self::Pathspec | Self::Setting | Self::Carried)
    }

    /// Whether `/**` at the end means what stands before it, too.
    fn means_itself(self) -> bool {
        matches!(self, Self::Shell | Self::Setting)
    }
}

/// The signs of a pattern.
pub(super) fn read(pattern: &str, style: Style) -> Vec<Sign> {
    let text: Vec<char> = pattern.chars().collect();
    let mut signs = Vec::with_capacity(text.len());
    let mut place = 0;
    while let Some(character) = text.get(place) {
        let rest = text.get(place..).unwrap_or_default();
        let begins = place == 0 || text.get(place - 1) == Some(&'/');
        place += match character {
            '*' if begins && style.has_directories() && rest.starts_with(&['*', '*', '/']) => {
                // Several in a row mean no more than one.
                if signs.last() != Some(&Sign::Directories) {
                    signs.push(Sign::Directories);
                }
                3
            }
            '*' if begins && style.has_directories() && rest == ['*', '*'] => {
                last_stars(&mut signs, style);
                2
            }
            '*' => {
                let run = rest.iter().take_while(|character| **character == '*').count();
                let crosses = run > 1 && style == Style::Carried;
                signs.push(Sign::Many(if crosses { Reach::Path } else { style.reach() }));
                run
            }
            '?' if style != Style::Word => {
                signs.push(Sign::One(style.reach()));
                1
            }
            '[' => {
                let read = style.classes().map(|classes| {
                    class(rest, classes, style.reach()).unwrap_or_else(|| (classes.unclosed.sign(), 1))
                });
                let (sign, length) = read.unwrap_or((Sign::Character('['), 1));
                signs.push(sign);
                length
            }
            '\\' if style.has_escapes() => {
                signs.push(rest.get(1).map_or(Sign::Never, |escaped| Sign::Character(*escaped)));
                2
            }
            character => {
                signs.push(Sign::Character(*character));
                1
            }
        };
    }
    signs
}

/// `**` as the last name.
fn last_stars(signs: &mut Vec<Sign>, style: Style) {
    if style.means_itself() {
        match signs.last() {
            // The slash is there only where something follows.
            Some(Sign::Character('/')) => {
                signs.pop();
                signs.push(Sign::Below);
            }
            Some(_) | None => signs.push(Sign::Many(Reach::Path)),
        }
    } else {
        signs.push(Sign::One(Reach::Path));
        signs.push(Sign::Many(Reach::Path));
    }
}

/// The class at the beginning of a text, and how long it is; `None` where it does not end.
fn class(text: &[char], classes: Classes, reach: Reach) -> Option<(Sign, usize)> {
    let mut place = 1;
    let is_negated = matches!(text.get(place), Some('!' | '^'));
    if is_negated {
        place += 1;
    }
    let first = place;
    let mut ranges = Vec::new();
    loop {
        let low = match *text.get(place)? {
            ']' if place > first => break,
            '/' if reach == Reach::Name => return None,
            '\\' if classes.escape => {
                place += 1;
                *text.get(place)?
            }
            other => other,
        };
        match (text.get(place + 1), text.get(place + 2)) {
            (Some('-'), Some(high)) if *high != ']' => {
                ranges.push((low, *high));
                place += 3;
            }
            _ => {
                ranges.push((low, low));
                place += 1;
            }
        }
    }
    Some((Sign::Class { ranges, holds: !is_negated, reach }, place + 1))
}
