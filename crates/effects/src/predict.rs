//! From an action to its effects: the entry into this crate.

use crate::action::Action;
use crate::catalogue::BuiltIn;
use crate::effect::{Certainty, Effect, EffectKind, Severity, Target};
use crate::interpreter::{AnnouncedContent, Input, LeftOpen, Machine, Prediction, Value};
use crate::path::AbsolutePath;
use crate::tools::{Explained, Heard, Listener};
use crate::world::{FileText, World};
use crate::{
    added_settings, editor_settings, finalize, guard, programs, replaced_clients, run_on_opening, stake,
    tools,
};
use checkrein_catalogue::UserCatalogue;
use checkrein_protocol::{TerminalDeed, TerminalUse};

/// What an action would do in a world, with the built-in catalogue.
pub fn predict(action: &Action, world: &dyn World) -> Prediction {
    predict_with(action, world, &UserCatalogue::default())
}

/// What an action would do in a world, with entries of a user's own in front of the built-in catalogue.
pub fn predict_with(action: &Action, world: &dyn World, catalogue: &UserCatalogue) -> Prediction {
    let mut prediction = read(action, world, catalogue, 0);
    programs::processes::merge_counted(&mut prediction.effects);
    let wording = catalogue.wording();
    wording.put_on(&mut prediction.effects);
    replaced_clients::mark(&mut prediction.effects, world);
    stake::assess(&mut prediction.effects, world);
    wording.put_on(&mut prediction.effects);
    guard::mark(&mut prediction.effects, world);
    finalize::settle(&mut prediction.effects, world);
    wording.put_on(&mut prediction.effects);
    prediction
}

/// How deep calls within calls are followed (ours); no client makes any deeper.
const DEPTH: usize = 4;

/// The most directories in which the texts of one call are followed, beside that of the session (ours).
const MOST_DIRECTORIES: usize = 16;

/// What an action does by all that stands in it. Which of several fields a tool reads is known of those of clients alone: for the others,
/// each that it may read counts, so that no field hides what another one says.
fn read(action: &Action, world: &dyn World, catalogue: &UserCatalogue, depth: usize) -> Prediction {
    if let Some(text) = action.shell_text() {
        return with_opening(interpret(text, action, world, catalogue), text, action);
    }
    let mut ways = Vec::new();
    let (mut further, mut further_sql) = (Vec::new(), Vec::new());
    if !tools::is_settled(action, world) {
        for text in tools::powershell_texts(action) {
            ways.push(interpret_powershell(text, action, world, catalogue));
        }
        if let Some(typing) = tools::typing(action) {
            ways.push(conversation(
                tools::heard(typing, &world.history().terminals),
                action,
                world,
                catalogue,
            ));
        } else if ways.is_empty() {
            let texts = tools::shell_texts(action);
            further = tools::further_shell_texts(action);
            further.retain(|text| !texts.contains(text));
            let started = everywhere(&texts, action, world, catalogue);
            ways.extend(started.into_iter().map(|way| with_opening(way, &texts.join("\n"), action)));
        }
        let sql = tools::sql_texts(action);
        ways.extend(sql.iter().map(|sql| interpret_sql(sql, action, world, catalogue)));
        further_sql = tools::further_sql_texts(action);
        further_sql.retain(|text| !sql.contains(text));
        ways.extend(within(action, world, catalogue, depth));
    }
    let found = tools::search_line(action, world).map(|line| interpret(&line, action, world, catalogue));
    let explained = if ways.is_empty() { Explained::No } else { Explained::ByText };
    // They say not all that it does, and no other field hides them.
    ways.extend(everywhere(&further, action, world, catalogue));
    ways.extend(further_sql.iter().map(|sql| interpret_sql(sql, action, world, catalogue)));
    let announced = tools::announced(action, world);
    let mut effects = tools::tool_effects(action, world, explained);
    let hooks = announced.iter().filter_map(|(path, content)| match content {
        AnnouncedContent::Text(text) if run_on_opening::is_hook(path, world) => Some((path, text.as_str())),
        AnnouncedContent::Text(_)
        | AnnouncedContent::Link(_)
        | AnnouncedContent::Mode(_)
        | AnnouncedContent::Commit { .. } => None,
    });
    effects.extend(emptied_hooks(hooks, action, world, catalogue));
    for (path, content) in &announced {
        if let AnnouncedContent::Text(text) = content {
            effects.iter_mut().for_each(|effect| editor_settings::settle_effect(effect, path, text));
            if run_on_opening::is_hook(path, world) && runs_tasks_alone(text, action, world, catalogue) {
                effects.iter_mut().for_each(|effect| run_on_opening::note_tasks(effect, path));
            }
        }
    }
    // Of the line only that counts: the tool starts no shell, and what it reads beside is said already.
    let secrets = found.into_iter().flat_map(|found| found.effects);
    let secrets = secrets.filter(|effect| effect.kind == EffectKind::SecretRead);
    effects.extend(secrets.map(|effect| Effect { cause: action.tool.as_str().to_owned(), ..effect }));
    effects.extend(effects_on_opening(&announced, action, world, catalogue));
    effects.extend(effects_when_loaded(&announced, action, world, catalogue));
    if let Some(code) = tools::cell(action) {
        effects.extend(grave_effects(action, world, catalogue, |machine| {
            programs::follow_cell(machine, code);
        }));
    }
    let secret_marks = tools::secret_marks(action, world);
    ways.push(Prediction { effects, secret_marks, announced, ..Prediction::default() });
    Prediction::all(ways)
}

/// What the calls do that stand within a call, and the call itself with the objects that stand as texts among its arguments: which of the two a
/// tool reads is not known, so both count.
fn within(action: &Action, world: &dyn World, catalogue: &UserCatalogue, depth: usize) -> Vec<Prediction> {
    let unknown = |note: &str| {
        let effects = tools::not_known(action, world, note);
        Prediction { effects, ..Prediction::default() }
    };
    let unfolded = tools::unfolded(action);
    let not_known = unfolded.as_ref().and_then(|unfolded| unfolded.not_known);
    let mut inner = tools::inner_calls(action);
    inner.extend(unfolded.map(|unfolded| unfolded.action).filter(|unfolded| unfolded.input != action.input));
    if depth >= DEPTH && !inner.is_empty() {
        return vec![unknown("it holds calls within calls, deeper than is read")];
    }
    let followed = inner.iter().map(|inner| read(inner, world, catalogue, depth + 1));
    not_known.map(unknown).into_iter().chain(followed).collect()
}

/// With the program that a command leaves open for what is typed later.
fn with_opening(mut prediction: Prediction, text: &str, action: &Action) -> Prediction {
    if prediction.left_open == LeftOpen::Program {
        let terminal = tools::terminal(&action.input);
        let text = text.to_owned();
        prediction.terminal_uses = vec![TerminalUse { terminal, deed: TerminalDeed::Opened, text }];
    }
    prediction
}

/// What comes to a conversation with a program by what is typed now.
fn conversation(heard: Heard, action: &Action, world: &dyn World, catalogue: &UserCatalogue) -> Prediction {
    let mut ways = Vec::new();
    for way in heard.ways {
        let earlier = interpret(&way.earlier, action, world, catalogue);
        let mut now = interpret(&way.now, action, world, catalogue).beyond(&earlier);
        if matches!(way.listener, Listener::Guessed(_)) {
            // What it cannot be read as is nothing.
            now.effects.retain(|effect| {
                !matches!(
                    effect.kind,
                    EffectKind::Opaque | EffectKind::ProcessSpawn | EffectKind::DatastoreChange
                )
            });
            now.effects.iter_mut().for_each(|effect| effect.certainty = Certainty::Possible);
            now = Prediction { effects: now.effects, ..Prediction::default() };
        }
        ways.push(now);
    }
    let mut all = Prediction::all(ways);
    if let Some(note) = heard.not_known {
        all.effects.extend(tools::not_known(action, world, note));
    }
    Prediction { terminal_uses: vec![heard.used], ..all }
}

/// What the texts do in the directory of the session, and in each that stands beside them: which of these a tool heeds is not known.
fn everywhere(
    texts: &[String],
    action: &Action,
    world: &dyn World,
    catalogue: &UserCatalogue,
) -> Vec<Prediction> {
    if texts.is_empty() {
        return Vec::new();
    }
    let directories = tools::directories(action, world);
    let is_followed = directories.len() <= MOST_DIRECTORIES;
    let moved = directories.into_iter().take(MOST_DIRECTORIES).map(|cwd| Action { cwd, ..action.clone() });
    let all: Vec<Action> = std::iter::once(action.clone()).chain(moved).collect();
    let one = |action: &Action| -> Vec<Prediction> {
        texts.iter().map(|text| interpret(text, action, world, catalogue)).collect()
    };
    let mut ways: Vec<Prediction> = all.iter().flat_map(one).collect();
    if !is_followed {
        let effects = tools::not_known(action, world, "it names more directories than are looked at");
        ways.push(Prediction { effects, ..Prediction::default() });
    }
    ways
}

fn interpret(text: &str, action: &Action, world: &dyn World, catalogue: &UserCatalogue) -> Prediction {
    let mut machine = Machine::new(world, catalogue, &BuiltIn, &action.cwd);
    machine.run_all(&Value::exact(text));
    machine.settle_sweeps(text);
    added_settings::settle(&mut machine);
    editor_settings::settle(&mut machine);
    run_on_opening::settle(&mut machine);
    for (hook, text) in run_on_opening::hooks(&machine) {
        if runs_tasks_alone(&text, action, world, catalogue) {
            machine.amend(0, |effect| run_on_opening::note_tasks(effect, &hook));
        }
    }
    let hooks = run_on_opening::hooks(&machine);
    let mut prediction = machine.into_prediction();
    let written = hooks.iter().map(|(path, text)| (path, text.as_str()));
    prediction.effects.extend(emptied_hooks(written, action, world, catalogue));
    let mut loaded = effects_when_loaded(&prediction.announced, action, world, catalogue);
    loaded.retain(|effect| {
        !prediction.effects.iter().any(|one| (one.kind, &one.target) == (effect.kind, &effect.target))
    });
    prediction.effects.extend(loaded);
    prediction
}

/// Whether a hook would do nothing now but read and start what the project starts.
fn runs_tasks_alone(text: &str, action: &Action, world: &dyn World, catalogue: &UserCatalogue) -> bool {
    let mut machine = Machine::new(world, catalogue, &BuiltIn, &action.cwd);
    machine.run_all(&Value::exact(text));
    let prediction = machine.into_prediction();
    let is_task = |effect: &Effect| matches!(effect.kind, EffectKind::ProcessSpawn | EffectKind::FileRead);
    prediction.problems.is_empty()
        && !prediction.programs.is_empty()
        && prediction.effects.iter().all(is_task)
}

/// Hooks of git of the project that started something, and do no more once they are written so: what the project checks is not checked any more.
fn emptied_hooks<'h>(
    hooks: impl Iterator<Item = (&'h AbsolutePath, &'h str)>,
    action: &Action,
    world: &dyn World,
    catalogue: &UserCatalogue,
) -> Vec<Effect> {
    /// Programs that check nothing.
    const IDLE: &[&str] = &["echo", "printf", "true", ":", "exit", "cat", "cd", "set", ".", "source"];
    let checks = |text: &str| {
        let mut machine = Machine::new(world, catalogue, &BuiltIn, &action.cwd);
        machine.run_all(&Value::exact(text));
        let prediction = machine.into_prediction();
        !prediction.problems.is_empty()
            || prediction.programs.iter().any(|program| !IDLE.contains(&program.as_str()))
    };
    let emptied = hooks.filter(|(path, text)| {
        matches!(world.text(path), FileText::Whole(before) if checks(&before)) && !checks(text)
    });
    let told = emptied.map(|(path, _)| {
        let target = Target::Service("checks of the project".to_owned());
        let mut effect = Effect::new(EffectKind::SystemModification, target);
        effect.severity = Severity::High;
        effect.note = format!("`{}` checks nothing any more", path.name().unwrap_or_default());
        effect
    });
    told.collect()
}

/// What the settings that a tool writes would run.
fn effects_on_opening(
    announced: &[(AbsolutePath, AnnouncedContent)],
    action: &Action,
    world: &dyn World,
    catalogue: &UserCatalogue,
) -> Vec<Effect> {
    let texts = announced.iter().filter_map(|(path, content)| match content {
        AnnouncedContent::Text(text)
            if run_on_opening::is_meant(path) || run_on_opening::is_run_by_client(world, path) =>
        {
            Some((path, text))
        }
        AnnouncedContent::Text(_)
        | AnnouncedContent::Link(_)
        | AnnouncedContent::Mode(_)
        | AnnouncedContent::Commit { .. } => None,
    });
    let mut texts = texts.peekable();
    if texts.peek().is_none() {
        return Vec::new();
    }
    let mut machine = Machine::new(world, catalogue, &BuiltIn, &action.cwd);
    for (path, text) in texts {
        run_on_opening::follow(&mut machine, path, text);
        run_on_opening::follow_client(&mut machine, path, Some(text));
    }
    machine.into_prediction().effects
}

/// What files that a tool of the project loads by their name would do beyond it, as far as the texts that were there before would not.
fn effects_when_loaded(
    announced: &[(AbsolutePath, AnnouncedContent)],
    action: &Action,
    world: &dyn World,
    catalogue: &UserCatalogue,
) -> Vec<Effect> {
    let follow = |path: &AbsolutePath, text: &str| {
        grave_effects(action, world, catalogue, |machine| programs::follow_written(machine, path, text))
    };
    let mut all = Vec::new();
    for (path, content) in announced {
        let AnnouncedContent::Text(text) = content else { continue };
        if !programs::is_loaded(path) || run_on_opening::is_meant(path) {
            continue;
        }
        let mut effects = follow(path, text);
        if let (false, FileText::Whole(before)) = (effects.is_empty(), world.text(path)) {
            let known = follow(path, &before);
            effects.retain(|effect| {
                !known.iter().any(|one| (one.kind, &one.target) == (effect.kind, &effect.target))
            });
        }
        all.extend(effects);
    }
    all
}

/// What work on a machine of its own tells, but for what is only of weight while something runs: nothing does yet.
fn grave_effects(
    action: &Action,
    world: &dyn World,
    catalogue: &UserCatalogue,
    work: impl FnOnce(&mut Machine<'_>),
) -> Vec<Effect> {
    let mut machine = Machine::new(world, catalogue, &BuiltIn, &action.cwd);
    work(&mut machine);
    let mut effects = machine.into_prediction().effects;
    effects.retain(|effect| {
        !matches!(effect.kind, EffectKind::ProcessSpawn | EffectKind::Opaque | EffectKind::NetworkRequest)
    });
    effects
}

/// The text of PowerShell that a tool runs, as if the program did.
fn interpret_powershell(
    text: String,
    action: &Action,
    world: &dyn World,
    catalogue: &UserCatalogue,
) -> Prediction {
    let mut machine = Machine::new(world, catalogue, &BuiltIn, &action.cwd);
    let text = Value::exact(text);
    machine.run_words(&[Value::exact("pwsh"), Value::exact("-Command"), text], Input::Inherited);
    machine.into_prediction()
}

/// SQL that a tool hands to its database, as if a client program did.
fn interpret_sql(sql: &str, action: &Action, world: &dyn World, catalogue: &UserCatalogue) -> Prediction {
    let mut machine = Machine::new(world, catalogue, &BuiltIn, &action.cwd);
    machine.run_words(&[Value::exact("psql"), Value::exact("-c"), Value::exact(sql)], Input::Inherited);
    machine.into_prediction()
}
