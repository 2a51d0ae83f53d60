//! Which command of a call with many earned its verdict, for lists that have room for one. Nothing is decided by it.

use checkrein_protocol::{AbsolutePath, Action, Effect, ReviewRecord, VerdictKind};
use checkrein_shell::{Block, Command, Simple, Span, parse};

/// How much of a text is looked through (ours): what is longer is no list of commands that somebody reads in one line.
const READ: usize = 64 * 1024;

/// Returns the command of a call that its verdict is about, as it is written, with `…` for what stands before and behind it. `None` where
/// the call is fine or has one command only, or nothing tells which one it is.
pub fn culprit(review: &ReviewRecord) -> Option<String> {
    if review.verdict == VerdictKind::Ok {
        return None;
    }
    let action = Action { tool: review.tool.clone(), input: review.input.clone(), cwd: AbsolutePath::root() };
    let text = action.shell_text().filter(|text| text.len() <= READ)?.trim();
    let commands = commands(text);
    let mut gravest: Vec<&Effect> = review.effects.iter().collect();
    gravest
        .sort_by_key(|effect| std::cmp::Reverse((effect.kind.is_mutating(), effect.stake, effect.severity)));
    let place = gravest.into_iter().find_map(|effect| causing(&commands, text, effect))?;
    among(&commands, text, place)
}

/// Returns the first command of `text` that does not stand in `other` as it is written, with `…` for the rest: what a safer form changed.
pub fn changed_command(text: &str, other: &str) -> Option<String> {
    if text.len().max(other.len()) > READ {
        return None;
    }
    let commands = commands(text);
    let others = self::commands(other);
    let place = commands.iter().position(|one| {
        let own = written(text, one.span);
        !others.iter().any(|other_one| written(other, other_one.span) == own)
    })?;
    among(&commands, text, place)
}

/// One command of several, with `…` for the rest; `None` where it is the only one.
fn among(commands: &[Simple], text: &str, place: usize) -> Option<String> {
    if commands.len() < 2 {
        return None;
    }
    let own = written(text, commands.get(place)?.span);
    let before = if place > 0 { "… " } else { "" };
    let behind = if place + 1 < commands.len() { " …" } else { "" };
    Some(format!("{before}{own}{behind}"))
}

/// The command that an effect is of: the words of its cause stand in it, and the name of its target where one of several has it.
fn causing(commands: &[Simple], text: &str, effect: &Effect) -> Option<usize> {
    let cause: Vec<&str> = effect.cause.split_whitespace().collect();
    let does = |one: &Simple| {
        let own = written(text, one.span);
        let words: Vec<&str> = own.split_whitespace().map(bare).collect();
        !cause.is_empty() && cause.iter().all(|word| words.iter().any(|own| own == word))
    };
    let target = effect.target.text().unwrap_or_default();
    let name = target.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let names = |one: &Simple| !name.is_empty() && written(text, one.span).contains(name);
    let all = || commands.iter().enumerate();
    let both = all().find(|(_, one)| does(one) && names(one));
    // A redirection is caused by no program.
    let found = both.or_else(|| all().find(|(_, one)| does(one)));
    found.or_else(|| all().find(|(_, one)| names(one))).map(|(place, _)| place)
}

/// The name of a program without its folder and quotes.
fn bare(word: &str) -> &str {
    let word = word.trim_matches(['"', '\'', '\\']);
    word.rsplit('/').next().unwrap_or(word)
}

fn written(text: &str, span: Span) -> &str {
    text.get(span.start..span.end).unwrap_or_default().trim()
}

/// The simple commands of a text, in the order in which they stand there.
fn commands(text: &str) -> Vec<Simple> {
    let mut found = Vec::new();
    of_block(&parse(text).script, &mut found);
    found
}

fn of_block(block: &Block, found: &mut Vec<Simple>) {
    block.iter().for_each(|statement| of_command(&statement.command, found));
}

fn of_command(command: &Command, found: &mut Vec<Simple>) {
    match command {
        Command::Simple(simple) => found.push(simple.clone()),
        Command::Pipeline(pipeline) => {
            pipeline.stages.iter().for_each(|stage| of_command(&stage.command, found));
        }
        Command::AndOr(and_or) => {
            of_command(&and_or.first, found);
            and_or.rest.iter().for_each(|(_, command)| of_command(command, found));
        }
        Command::Subshell(block) | Command::Group(block) => of_block(block, found),
        Command::If(it) => {
            for (condition, body) in &it.branches {
                of_block(condition, found);
                of_block(body, found);
            }
            it.otherwise.iter().for_each(|block| of_block(block, found));
        }
        Command::For(it) | Command::Select(it) => of_block(&it.body, found),
        Command::CStyleFor(it) => of_block(&it.body, found),
        Command::While(it) => {
            of_block(&it.condition, found);
            of_block(&it.body, found);
        }
        Command::Case(it) => it.arms.iter().for_each(|arm| of_block(&arm.body, found)),
        Command::Function(it) => of_command(&it.body, found),
        Command::Coprocess(it) => of_command(&it.command, found),
        Command::Time(command) => of_command(command, found),
        Command::Redirected(it) => of_command(&it.command, found),
        Command::Test(_) | Command::Arithmetic(_) | Command::Opaque(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::changed_command;

    #[test]
    fn the_command_that_changed_is_named() {
        let (own, other) = ("cd a && git push --force-with-lease && ls", "cd a && git push --force && ls");
        assert_eq!(changed_command(own, other).as_deref(), Some("… git push --force-with-lease …"));
        assert_eq!(changed_command("git push", "git push --force"), None);
        assert_eq!(changed_command(own, own), None);
    }
}
