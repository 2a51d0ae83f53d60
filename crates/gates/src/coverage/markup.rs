//! The tags of an XML text, as far as reports need them: names, attributes, nesting. No entity is resolved but the five that XML has, and no
//! document type is read.

/// A tag that opens.
#[derive(Debug)]
pub(super) struct MarkupTag<'t> {
    /// The names of the elements around it and its own, outermost first.
    pub(super) path: Vec<&'t str>,
    attributes: &'t str,
}

impl MarkupTag<'_> {
    /// The value of an attribute.
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        let mut rest = self.attributes;
        while let Some((key, behind)) = rest.split_once('=') {
            let behind = behind.trim_start();
            let quote = behind.chars().next().filter(|sign| matches!(sign, '"' | '\''))?;
            let (value, next) = behind.get(1..)?.split_once(quote)?;
            if key.trim() == name {
                return Some(value);
            }
            rest = next;
        }
        None
    }

    /// The same as a number without a sign.
    pub(super) fn number(&self, name: &str) -> Option<u64> {
        self.attribute(name)?.trim().parse().ok()
    }

    /// Whether it stands below these, its own name last.
    pub(super) fn is(&self, path: &[&str]) -> bool {
        self.path.as_slice() == path
    }

    /// Whether its path ends so.
    pub(super) fn ends_with(&self, path: &[&str]) -> bool {
        self.path.ends_with(path)
    }
}

/// The deepest nesting that is followed (ours): reports have less than ten levels, groups of JaCoCo a few more.
const DEEPEST: usize = 64;

/// Goes through all tags that open. `None` where the text is not well formed: it may have been cut off.
pub(super) fn each_tag(text: &str, mut take: impl FnMut(&MarkupTag<'_>)) -> Option<()> {
    let mut path: Vec<&str> = Vec::new();
    let mut rest = text;
    let mut has_ended = false;
    while let Some((_, behind)) = rest.split_once('<') {
        if let Some(comment) = behind.strip_prefix("!--") {
            rest = comment.split_once("-->")?.1;
        } else if let Some(data) = behind.strip_prefix("![CDATA[") {
            rest = data.split_once("]]>")?.1;
        } else if behind.starts_with('?') {
            rest = behind.split_once("?>")?.1;
        } else if behind.starts_with('!') {
            rest = past_declaration(behind)?;
        } else if let Some(closed) = behind.strip_prefix('/') {
            let (name, next) = closed.split_once('>')?;
            if path.pop()? != name.trim() {
                return None;
            }
            has_ended = path.is_empty();
            rest = next;
        } else {
            let (inside, next) = split_tag(behind)?;
            let (inside, is_empty) = match inside.strip_suffix('/') {
                Some(inside) => (inside, true),
                None => (inside, false),
            };
            let end = inside.find(|sign: char| sign.is_ascii_whitespace()).unwrap_or(inside.len());
            let (name, attributes) = inside.split_at_checked(end)?;
            if has_ended || path.len() >= DEEPEST {
                return None;
            }
            path.push(name);
            let tag = MarkupTag { path, attributes };
            take(&tag);
            path = tag.path;
            if is_empty {
                path.pop();
                has_ended = path.is_empty();
            }
            rest = next;
        }
    }
    has_ended.then_some(())
}

/// A tag up to its end, and what follows. A sign in a value ends nothing.
fn split_tag(text: &str) -> Option<(&str, &str)> {
    let mut quote = None;
    for (place, sign) in text.char_indices() {
        match (quote, sign) {
            (None, '>') => return Some((text.get(..place)?, text.get(place + 1..)?)),
            (None, '"' | '\'') => quote = Some(sign),
            (Some(open), sign) if open == sign => quote = None,
            (None | Some(_), _) => {}
        }
    }
    None
}

/// What follows a declaration. Those of a document type stand between brackets inside of another.
fn past_declaration(text: &str) -> Option<&str> {
    let mut depth = 0_usize;
    for (place, sign) in text.char_indices() {
        match sign {
            '[' => depth += 1,
            ']' => depth = depth.checked_sub(1)?,
            '>' if depth == 0 => return text.get(place + 1..),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(text: &str) -> Option<Vec<String>> {
        let mut found = Vec::new();
        each_tag(text, |tag| {
            found.push(format!("{} {}", tag.path.join("/"), tag.attribute("b").unwrap_or("-")));
        })?;
        Some(found)
    }

    #[test]
    fn tags_are_found_with_what_is_around_them() {
        let text = "<?xml version='1.0'?>\n<!DOCTYPE a [<!ELEMENT a (b)>\n<!ELEMENT b (c)>]>\n<!-- <x> -->\n\
                    <a b = \"1 > 0\"><c a='2' b='3'/><![CDATA[<y>]]>text<d>\n</d></a>\n";
        assert_eq!(paths(text).unwrap(), ["a 1 > 0", "a/c 3", "a/d -"]);
    }

    #[test]
    fn what_is_cut_off_is_not_read() {
        for text in ["", "words", "<a", "<a>", "<a><b></a>", "</a>", "<a/><b/>", "<a b=\"1>", "<!-- <a/>"] {
            assert_eq!(paths(text), None, "{text}");
        }
        assert_eq!(paths(&"<a>".repeat(100)), None);
    }
}
