//! Settings put into a configuration file without touching what stands there: lines are added, none is changed.

/// A setting as it is to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::commands) struct PresetSetting<'a> {
    /// Its path: `limits.dollars`.
    pub(in crate::commands) path: &'a str,
    /// Its value as YAML.
    pub(in crate::commands) value: &'a str,
    /// Why it is set, in one line.
    pub(in crate::commands) comment: &'a str,
}

/// The text with these settings added; `None` where a section is written in a form that takes no further lines, such as `limits: {dollars: 5}`.
/// The caller looks whether the result says what it should.
pub(in crate::commands) fn with_settings(text: &str, settings: &[&PresetSetting<'_>]) -> Option<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for setting in settings {
        add(&mut lines, setting)?;
    }
    Some(lines.join("\n") + "\n")
}

fn add(lines: &mut Vec<String>, setting: &PresetSetting<'_>) -> Option<()> {
    let names: Vec<&str> = setting.path.split('.').collect();
    let (key, sections) = names.split_last()?;
    let (mut from, mut to, mut indent) = (0, lines.len(), 0);
    for (depth, section) in sections.iter().enumerate() {
        let is_it = |line: &&String| {
            margin(line) == indent
                && line
                    .trim_start()
                    .strip_prefix(section)
                    .is_some_and(|rest| rest.trim_start().starts_with(':'))
        };
        let Some(at) = lines.get(from..to)?.iter().position(|line| is_it(&line)).map(|at| from + at) else {
            return insert(lines, (from, to), indent, sections.get(depth..)?, key, setting);
        };
        let after = lines.get(at)?.trim_start().strip_prefix(section)?.trim_start().strip_prefix(':')?.trim();
        if !after.is_empty() && !after.starts_with('#') {
            return None;
        }
        from = at + 1;
        to = (from..to)
            .find(|at| lines.get(*at).is_some_and(|line| holds(line) && margin(line) <= indent))
            .unwrap_or(to);
        let first = lines.get(from..to)?.iter().find(|line| holds(line));
        indent = first.map_or(indent + 2, |line| margin(line));
    }
    insert(lines, (from, to), indent, &[], key, setting)
}

/// Puts the rest of a path behind the last line of a region that holds something.
fn insert(
    lines: &mut Vec<String>,
    (from, to): (usize, usize),
    indent: usize,
    sections: &[&str],
    key: &str,
    setting: &PresetSetting<'_>,
) -> Option<()> {
    let is_top = indent == 0;
    let last = lines.get(from..to)?.iter().rposition(|line| holds(line)).map(|at| from + at + 1);
    let mut place = if is_top { to } else { last.unwrap_or(from) };
    let mut put = |line: String| {
        lines.insert(place, line);
        place += 1;
    };
    if is_top && to > 0 {
        put(String::new());
    }
    let mut blanks = indent;
    for section in sections {
        put(format!("{}{section}:", " ".repeat(blanks)));
        blanks += 2;
    }
    put(format!("{}# {}", " ".repeat(blanks), setting.comment));
    put(format!("{}{key}: {}", " ".repeat(blanks), setting.value));
    Some(())
}

fn margin(line: &str) -> usize {
    line.chars().take_while(|c| *c == ' ').count()
}

/// Whether a line says something: it is neither empty nor a comment.
fn holds(line: &str) -> bool {
    let text = line.trim();
    !text.is_empty() && !text.starts_with('#')
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOLLARS: PresetSetting<'static> =
        PresetSetting { path: "limits.dollars", value: "5", comment: "why" };
    const CHANNELS: PresetSetting<'static> = PresetSetting {
        path: "interventions.emergency_stop.notification_channels",
        value: "[desktop]",
        comment: "whom",
    };

    #[test]
    fn a_setting_goes_into_the_section_that_is_there() {
        let text = "# mine\nlimits:   # few\n    tokens: 7\n\n# about the mode\nmode: observe\n";
        assert_eq!(
            with_settings(text, &[&DOLLARS]).as_deref(),
            Some(
                "# mine\nlimits:   # few\n    tokens: 7\n    # why\n    dollars: 5\n\n# about the mode\nmode: observe\n"
            )
        );
    }

    #[test]
    fn sections_that_are_missing_are_made() {
        assert_eq!(
            with_settings("", &[&DOLLARS, &CHANNELS]).as_deref(),
            Some(
                "limits:\n  # why\n  dollars: 5\n\ninterventions:\n  emergency_stop:\n    # whom\n    notification_channels: [desktop]\n"
            )
        );
        assert_eq!(
            with_settings("interventions:\n  cooldown_seconds: 3\n", &[&CHANNELS]).as_deref(),
            Some(
                "interventions:\n  cooldown_seconds: 3\n  emergency_stop:\n    # whom\n    notification_channels: [desktop]\n"
            )
        );
    }

    #[test]
    fn what_stands_on_one_line_is_left_alone() {
        assert_eq!(with_settings("limits: {tokens: 7}\n", &[&DOLLARS]), None);
        assert_eq!(with_settings("interventions: false\n", &[&CHANNELS]), None);
    }
}
