//! A design document in Markdown: its sections, its tables, and the files that it says will change.

/// A design document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Design {
    /// Its headings, in order.
    pub sections: Vec<DesignSection>,
    /// Its tables, in order.
    pub tables: Vec<DesignTable>,
    /// The items of its lists, in order.
    pub items: Vec<DesignItem>,
    /// The files that it says will change, in order.
    pub files: Vec<DesignFile>,
    /// The numbers of its lines outside of fenced code.
    pub(crate) prose: Vec<usize>,
}

/// An item of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DesignItem {
    /// Its first line, counted from 1.
    pub line: usize,
    /// Its text on that line, without the sign before it.
    pub text: String,
}

/// A heading, and where what stands below it ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DesignSection {
    /// 1 for the title.
    pub level: usize,
    /// Without the signs before it.
    pub title: String,
    /// The line of the heading, counted from 1.
    pub line: usize,
    /// The last line before the next heading of this level or above.
    pub last_line: usize,
}

/// A table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DesignTable {
    /// The line of its head, counted from 1.
    pub line: usize,
    /// The cells of its head.
    pub head: Vec<String>,
    /// Its rows with their lines.
    pub rows: Vec<(usize, Vec<String>)>,
    /// Whether a line of dashes follows the head.
    pub is_ruled: bool,
}

/// A file that a design says will change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DesignFile {
    /// Its path, or a pattern of paths.
    pub path: String,
    /// What becomes of it.
    pub change: DesignChange,
    /// The line that says so, counted from 1.
    pub line: usize,
}

/// What becomes of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DesignChange {
    /// It is new.
    Added,
    /// It changes.
    Changed,
    /// It goes.
    Removed,
    /// The design does not say.
    Unsaid,
}

impl DesignChange {
    /// The change that a word stands for (upstream: add, create, modify, update, delete, remove).
    fn of_word(word: &str) -> Self {
        let lower = word.to_lowercase();
        let begins = |words: &[&str]| words.iter().any(|begin| lower.starts_with(begin));
        match () {
            () if begins(&["add", "create", "new"]) => Self::Added,
            () if begins(&["modif", "update", "change", "edit", "extend"]) => Self::Changed,
            () if begins(&["delete", "remove"]) => Self::Removed,
            () => Self::Unsaid,
        }
    }
}

/// A line of a document outside of fenced code.
struct Line<'t> {
    number: usize,
    text: &'t str,
}

impl Design {
    /// Reads a document. Every text is one.
    pub fn read(text: &str) -> Self {
        let lines = outside_of_fences(text);
        let sections = sections(&lines, text.lines().count());
        let tables = tables(&lines);
        let files = files(&lines, &sections, &tables);
        let items = lines.iter().filter_map(item).collect();
        let prose = lines.iter().map(|line| line.number).collect();
        Self { sections, tables, items, files, prose }
    }
}

fn outside_of_fences(text: &str) -> Vec<Line<'_>> {
    let mut fence: Option<&str> = None;
    let mut lines = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let trimmed = line.trim_start();
        let sign = ["```", "~~~"].into_iter().find(|sign| trimmed.starts_with(sign));
        match (fence, sign) {
            (None, Some(sign)) => fence = Some(sign),
            (Some(open), Some(sign)) if open == sign => fence = None,
            (None, None) => lines.push(Line { number, text: line }),
            (Some(_), _) => {}
        }
    }
    lines
}

fn sections(lines: &[Line<'_>], last: usize) -> Vec<DesignSection> {
    let mut sections: Vec<DesignSection> = Vec::new();
    for line in lines {
        let level = line.text.bytes().take_while(|byte| *byte == b'#').count();
        let title = line.text.get(level..).unwrap_or_default();
        if !(1..=6).contains(&level) || !title.starts_with([' ', '\t']) {
            continue;
        }
        let title = title.trim().trim_end_matches('#').trim().to_owned();
        for open in sections.iter_mut().filter(|open| open.last_line == last && open.level >= level) {
            open.last_line = line.number - 1;
        }
        sections.push(DesignSection { level, title, line: line.number, last_line: last });
    }
    sections
}

fn tables(lines: &[Line<'_>]) -> Vec<DesignTable> {
    let mut tables: Vec<DesignTable> = Vec::new();
    let mut open: Option<DesignTable> = None;
    let mut next = 0;
    for line in lines {
        let is_row = line.text.trim_start().starts_with('|');
        if !is_row || line.number != next {
            tables.extend(open.take());
        }
        if !is_row {
            continue;
        }
        next = line.number + 1;
        let cells = cells(line.text);
        match &mut open {
            None => {
                let table = DesignTable { line: line.number, head: cells, rows: Vec::new(), is_ruled: false };
                open = Some(table);
            }
            Some(table) if table.rows.is_empty() && !table.is_ruled && is_rule(&cells) => {
                table.is_ruled = true;
            }
            Some(table) => table.rows.push((line.number, cells)),
        }
    }
    tables.extend(open);
    tables
}

/// The cells of a row; a bar behind a backslash or in code is text.
fn cells(row: &str) -> Vec<String> {
    let row = row.trim();
    let row = row.strip_prefix('|').unwrap_or(row);
    let mut cells = vec![String::new()];
    let (mut is_escaped, mut is_code) = (false, false);
    for sign in row.chars() {
        match sign {
            '|' if !is_escaped && !is_code => cells.push(String::new()),
            sign => {
                is_code ^= sign == '`';
                cells.iter_mut().last().into_iter().for_each(|cell| cell.push(sign));
            }
        }
        is_escaped = sign == '\\' && !is_escaped;
    }
    if cells.last().is_some_and(|cell| cell.trim().is_empty()) && cells.len() > 1 {
        cells.pop();
    }
    cells.iter().map(|cell| cell.trim().to_owned()).collect()
}

fn is_rule(cells: &[String]) -> bool {
    let is_dashes = |cell: &String| {
        let inner = cell.trim_start_matches(':').trim_end_matches(':');
        !inner.is_empty() && inner.bytes().all(|byte| byte == b'-')
    };
    cells.iter().all(is_dashes)
}

/// The files of tables with a column of files, and else of lists below a heading that speaks of files.
fn files(lines: &[Line<'_>], sections: &[DesignSection], tables: &[DesignTable]) -> Vec<DesignFile> {
    let mut files: Vec<DesignFile> = tables.iter().flat_map(files_of_table).collect();
    if files.is_empty() {
        let about = sections.iter().filter(|section| speaks_of_files(&section.title));
        let ranges: Vec<_> = about.map(|section| section.line..=section.last_line).collect();
        let listed = lines.iter().filter(|line| ranges.iter().any(|range| range.contains(&line.number)));
        files.extend(listed.filter_map(file_of_item));
    }
    let mut seen = std::collections::HashSet::new();
    files.retain(|file| seen.insert(file.path.clone()));
    files
}

/// The item of a list that begins in a line: behind a sign, or behind a number with a dot.
fn item(line: &Line<'_>) -> Option<DesignItem> {
    let text = line.text.trim_start();
    let sign = ["- ", "* ", "+ "].into_iter().find_map(|sign| text.strip_prefix(sign));
    let numbered = || {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let rest = text.get(digits..)?;
        (digits > 0).then(|| rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") ")))?
    };
    let text = sign.or_else(numbered)?.trim();
    let text = ["[ ] ", "[x] ", "[X] "].into_iter().find_map(|mark| text.strip_prefix(mark)).unwrap_or(text);
    Some(DesignItem { line: line.number, text: text.to_owned() })
}

fn speaks_of_files(title: &str) -> bool {
    let lower = title.to_lowercase();
    lower.split(|sign: char| !sign.is_alphanumeric()).any(|word| matches!(word, "files" | "file" | "paths"))
}

fn files_of_table(table: &DesignTable) -> Vec<DesignFile> {
    let column = |names: &[&str]| {
        table.head.iter().position(|cell| names.contains(&cell.to_lowercase().trim_matches('*')))
    };
    let Some(path) = column(&["file", "files", "path", "paths", "file path", "filename"]) else {
        return Vec::new();
    };
    let change = column(&["change", "change type", "type", "action", "status", "operation"]);
    let file = |(line, cells): &(usize, Vec<String>)| {
        let word = change.and_then(|at| cells.get(at)).map_or("", String::as_str);
        let path = path_of(cells.get(path)?)?;
        // A directory is named for what lies in it.
        let is_directory = word.to_lowercase().contains("(directory)");
        let path = if is_directory { format!("{}/**", path.trim_end_matches('/')) } else { path };
        Some(DesignFile { path, change: DesignChange::of_word(word), line: *line })
    };
    table.rows.iter().filter_map(file).collect()
}

fn file_of_item(line: &Line<'_>) -> Option<DesignFile> {
    let item = line.text.trim_start();
    let item = ["- ", "* ", "+ "].into_iter().find_map(|sign| item.strip_prefix(sign))?;
    let (before, path) = match item.split_once('`') {
        Some((before, rest)) => (before, rest.split('`').next()?),
        None => ("", item.split_whitespace().next()?.trim_end_matches([':', ',', '.'])),
    };
    let change = [before, item.rsplit_once('`').map_or("", |(_, after)| after)]
        .into_iter()
        .flat_map(|words| words.split(|sign: char| !sign.is_alphabetic()))
        .map(DesignChange::of_word)
        .find(|change| *change != DesignChange::Unsaid);
    let path = path_of(path)?;
    Some(DesignFile { path, change: change.unwrap_or(DesignChange::Unsaid), line: line.number })
}

/// The path in a cell: without code signs, emphasis, the target of a link, or a remark behind it.
fn path_of(cell: &str) -> Option<String> {
    let cell = cell.trim();
    let cell = match cell.split_once('`') {
        Some((_, rest)) => rest.split('`').next()?,
        None => cell.strip_prefix('[').and_then(|rest| rest.split(']').next()).unwrap_or(cell),
    };
    let path = cell.trim_matches('*').split_whitespace().next()?.trim_start_matches("./");
    let has_form = path.contains(['/', '.', '*']) || path.chars().all(|sign| sign.is_ascii_alphanumeric());
    (has_form && !path.contains("://")).then(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_stand_in_a_table() {
        let design = Design::read(
            "# 12 - Loading\n\n## 2. Changes\n\n### 2.1 Files Changed\n\n| File | Change Type | Description |\n|---|---|---|\n\
             | `src/load.rs` | Add | reads \\| parses |\n| src/main.rs | Modify | calls it |\n| `tests` | Add (Directory) | |\n\
             | [docs/a.md](docs/a.md) | Delete | |\n\n## 3. More\n",
        );
        let files: Vec<_> =
            design.files.iter().map(|file| (file.path.as_str(), file.change, file.line)).collect();
        assert_eq!(
            files,
            [
                ("src/load.rs", DesignChange::Added, 9),
                ("src/main.rs", DesignChange::Changed, 10),
                ("tests/**", DesignChange::Added, 11),
                ("docs/a.md", DesignChange::Removed, 12),
            ]
        );
        assert_eq!(design.sections[2].title, "2.1 Files Changed");
        assert_eq!((design.sections[1].line, design.sections[1].last_line), (3, 13));
    }

    #[test]
    fn files_stand_in_a_list_where_there_is_no_table() {
        let design = Design::read(
            "# Loading\n\n- not/this.rs\n\n## Files\n\n- `src/load.rs`: new, reads\n- Modify `src/main.rs`\n\n## Other\n- src/no.rs\n",
        );
        let files: Vec<_> = design.files.iter().map(|file| (file.path.as_str(), file.change)).collect();
        assert_eq!(files, [("src/load.rs", DesignChange::Added), ("src/main.rs", DesignChange::Changed)]);
    }

    #[test]
    fn what_stands_in_fences_is_no_part_of_it() {
        let design = Design::read("# A\n\n```md\n## B\n| File |\n|---|\n| x.rs |\n```\n");
        assert_eq!((design.sections.len(), design.tables.len(), design.files.len()), (1, 0, 0));
    }
}
