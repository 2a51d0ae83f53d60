//! Exemptions: what one built-in rule overlooks, told by the kind of an effect, its target and the program that has it.

use std::fmt;

use checkrein_glob::{Glob, Style};
use checkrein_protocol::{Action, Depth, Effect, EffectKind, Stake, Target};

use crate::rules;

/// What stands between the target and the program.
const BY: &str = " by ";

/// Something that a built-in rule overlooks. The other rules look at it as before, and so do risk, tripwires and what is saved.
///
/// As a text: `confirm_outside_loss file_delete /home/dev/diary.md by rm`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exemption {
    /// The name of the rule.
    pub rule: &'static str,
    /// The kind of effect.
    pub kind: EffectKind,
    /// The target: a path, in which `*` and `?` stay within a name and `**` crosses names, or another target as it is written. Only what ends
    /// with `/**` means all that lies below a directory.
    pub target: String,
    /// The program that the call consists of, or the tool where the call runs none.
    pub program: String,
}

impl Exemption {
    /// Reads an exemption; `None` where the text is none, or names what cannot be exempt: a rule that is not built in, or the guard.
    pub fn parse(text: &str) -> Option<Self> {
        let (what, program) = text.trim().rsplit_once(BY)?;
        let (rule, rest) = what.split_once(' ')?;
        let (kind, target) = rest.trim_start().split_once(' ')?;
        let (target, program) = (target.trim(), program.trim());
        let rule = rules::find(rule)?.name;
        let kind = EffectKind::ALL.into_iter().find(|known| known.name() == kind)?;
        let is_word = !program.is_empty() && !program.contains(char::is_whitespace);
        let is_possible = kind != EffectKind::GuardTampering && !target.is_empty() && is_word;
        is_possible.then(|| Self { rule, kind, target: target.to_owned(), program: program.to_owned() })
    }

    /// The narrowest exemption from a rule for an effect of a call; `None` where there is none: its target is not known, it must never be
    /// lost, or the call is more than one plain command.
    pub fn narrowest(rule: &str, action: &Action, effect: &Effect) -> Option<Self> {
        let target = effect.target.text()?;
        if effect.target.path().is_some() && target.contains(['*', '?', '[', '\\']) {
            // As a pattern it would mean more than itself.
            return None;
        }
        let below = match effect.depth {
            Depth::Single => "",
            Depth::Recursive => "/**",
        };
        let program = program(action)?;
        let text =
            format!("{rule} {} {}{below}{BY}{program}", effect.kind.name(), target.trim_end_matches('/'));
        // What would be read otherwise than it is meant is no exemption, such as a target with a space at its end.
        Self::parse(&text)
            .filter(|exemption| exemption.covers(action, effect) && exemption.to_string() == text)
    }

    /// Whether an effect of a call is exempt.
    pub(crate) fn covers(&self, action: &Action, effect: &Effect) -> bool {
        effect.kind == self.kind
            && effect.stake != Stake::Critical
            && program(action) == Some(self.program.as_str())
            && self.is_about(effect)
    }

    fn is_about(&self, effect: &Effect) -> bool {
        match (&effect.target, effect.depth) {
            (Target::Path(path), Depth::Single) => {
                Glob::new(&self.target, Style::Setting).matches(path.as_str())
            }
            // A directory with all that it holds is more than its name.
            (Target::Path(path), Depth::Recursive) => {
                self.target.strip_suffix("/**").is_some_and(|directory| {
                    Glob::new(directory, Style::Setting).or_below().matches(path.as_str())
                })
            }
            (
                Target::Glob(text)
                | Target::Host(text)
                | Target::Process(text)
                | Target::Service(text)
                | Target::Reference(text),
                depth,
            ) => match depth {
                Depth::Single => *text == self.target,
                Depth::Recursive => self.target.strip_suffix("/**") == Some(text.trim_end_matches('/')),
            },
            (Target::Unknown, _) => false,
        }
    }
}

impl fmt::Display for Exemption {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {} {}{BY}{}", self.rule, self.kind.name(), self.target, self.program)
    }
}

/// The program that a call consists of: the first word of one plain command, or the name of a tool that runs no text of a shell. `None` where
/// the text is more than one plain command: which part of it has an effect is not known here.
fn program(action: &Action) -> Option<&str> {
    let Some(text) = action.shell_text() else { return Some(action.tool.as_str()) };
    let is_plain = |letter: char| !letter.is_control() && !";&|<>`$(){}\\".contains(letter);
    let first = text.split_whitespace().next()?;
    let is_name = !first.contains(['=', '\'', '"', '*', '?', '[', '~', '#', '!']);
    (text.trim().chars().all(is_plain) && is_name).then_some(first)
}

#[cfg(test)]
mod tests {
    use checkrein_protocol::{AbsolutePath, ToolName};
    use serde_json::json;

    use super::*;

    fn call(command: &str) -> Action {
        Action {
            tool: ToolName(ToolName::SHELL.to_owned()),
            input: json!({ "command": command }),
            cwd: AbsolutePath::root(),
        }
    }

    fn deletion(path: &str, depth: Depth) -> Effect {
        let target = Target::Path(AbsolutePath::new(path).unwrap());
        Effect { depth, ..Effect::new(EffectKind::FileDelete, target) }
    }

    #[test]
    fn an_exemption_is_a_text_and_back() {
        for text in [
            "confirm_outside_loss file_delete /home/dev/my diary.md by rm",
            "confirm_upload data_upload https://api.example.com/v1 by curl",
            "confirm_outside_write file_modify /home/dev/stand by me/** by Write",
        ] {
            assert_eq!(Exemption::parse(text).unwrap().to_string(), text);
        }
        for text in [
            "",
            "confirm_outside_loss",
            "confirm_outside_loss file_delete /home/dev/diary.md",
            "confirm_outside_loss file_delete by rm",
            "confirm_outside_loss file_delete /home/dev/diary.md by ",
            "confirm_outside_loss file_delete /home/dev/diary.md by git push",
            "confirm_nothing file_delete /home/dev/diary.md by rm",
            "confirm_outside_loss delete /home/dev/diary.md by rm",
            "protect_guard guard_tampering /home/dev/x by rm",
        ] {
            assert_eq!(Exemption::parse(text), None, "{text}");
        }
    }

    #[test]
    fn the_narrowest_exemption_is_about_one_effect_of_one_plain_command() {
        let one = deletion("/home/dev/diary.md", Depth::Single);
        let exemption = Exemption::narrowest("confirm_outside_loss", &call("rm ../diary.md"), &one).unwrap();
        assert_eq!(exemption.to_string(), "confirm_outside_loss file_delete /home/dev/diary.md by rm");
        assert!(exemption.covers(&call("rm -f /home/dev/diary.md"), &one));
        for other in [
            "rm ../diary.md; rm ../diary.md",
            "sudo rm ../diary.md",
            "X=1 rm ../diary.md",
            "rm ../diary.md && ls",
            "rm $(echo ../diary.md)",
            "rm ../diary.md &",
            "echo a\nrm ../diary.md",
            "unlink ../diary.md",
            "\"rm\" ../diary.md",
            "",
        ] {
            assert!(!exemption.covers(&call(other), &one), "{other}");
        }
        for other in [
            deletion("/home/dev/diary.md", Depth::Recursive),
            deletion("/home/dev/diary.md/x", Depth::Single),
            deletion("/home/dev/diary", Depth::Single),
            Effect { kind: EffectKind::FileModify, ..one.clone() },
            Effect { stake: Stake::Critical, ..one.clone() },
            Effect { target: Target::Unknown, ..one.clone() },
        ] {
            assert!(!exemption.covers(&call("rm ../diary.md"), &other), "{other:?}");
        }
    }

    #[test]
    fn a_directory_is_exempt_with_what_it_holds_only_where_that_is_said() {
        let whole = deletion("/home/dev/old", Depth::Recursive);
        let remove = call("rm -r ../old");
        let exemption = Exemption::narrowest("confirm_outside_loss", &remove, &whole).unwrap();
        assert_eq!(exemption.target, "/home/dev/old/**");
        assert!(exemption.covers(&remove, &whole));
        assert!(exemption.covers(&remove, &deletion("/home/dev/old/a", Depth::Recursive)));
        assert!(!exemption.covers(&remove, &deletion("/home/dev", Depth::Recursive)));
        let names = Exemption::parse("confirm_outside_loss file_delete /home/dev/old/* by rm").unwrap();
        assert!(names.covers(&remove, &deletion("/home/dev/old/a", Depth::Single)));
        assert!(!names.covers(&remove, &deletion("/home/dev/old/a", Depth::Recursive)));
        // A name with a star would mean more than itself.
        let star = deletion("/home/dev/old/a*", Depth::Single);
        let narrowest = Exemption::narrowest("confirm_outside_loss", &remove, &star);
        assert_eq!(narrowest, None);
    }
}
