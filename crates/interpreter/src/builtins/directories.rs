//! Built-ins about the working directory and the stack of directories: `cd`, `pushd`, `popd`, `dirs`.

use crate::machine::Absence;
use crate::world::{Entry, Right};
use crate::{Done, Exit, Machine, Output, ShellDirectory, Status, Value};

pub(super) fn cd(machine: &mut Machine<'_>, words: &[Value]) -> Done {
    let operand = words
        .iter()
        .find(|word| !word.as_exact().is_some_and(|text| text.starts_with('-') && text.len() > 1));
    let before = machine.cwd_value();
    let value = match operand {
        None => machine.variable("HOME").unwrap_or(Value::Unknown),
        Some(word) if word.as_exact() == Some("-") => machine.variable("OLDPWD").unwrap_or(Value::Unknown),
        Some(word) => word.clone(),
    };
    let courses = words.iter().filter_map(Value::as_exact).filter(|text| text.starts_with('-'));
    let course = match courses.flat_map(str::chars).rfind(|letter| matches!(letter, 'P' | 'L')) {
        Some('P') => Course::Physical,
        Some(_) => Course::Logical,
        None => usual_course(machine),
    };
    let searched = by_search_path(machine, &value);
    let is_searched = searched != value;
    let mut status = go(machine, &value, course);
    let mut is_named = false;
    if machine.shell.options.cdable_vars
        && status != Status::Success
        && let Some(named) = value.as_exact().and_then(|name| machine.variable(name))
    {
        // What is no directory may be a variable that names one.
        is_named = true;
        status = match status {
            Status::Failure => go(machine, &named, course),
            Status::Success | Status::Unknown | Status::Open => {
                let elsewhere = machine.directory(&named);
                machine.shell.cwd = machine.shell.cwd.clone().join(&elsewhere);
                machine.shell.logical = None;
                Status::Open
            }
        };
    }
    // It says where it went when that is not what was written.
    let output = if (is_searched || is_named) && status != Status::Failure {
        match (machine.cwd_value(), status) {
            (Value::Exact(path), Status::Success) => Output::Text(Value::Exact(format!("{path}\n"))),
            _ => Output::Unknown,
        }
    } else {
        Output::Nothing
    };
    if status != Status::Failure {
        let before = match (status, machine.variable("OLDPWD")) {
            (Status::Unknown, Some(earlier)) => before.join(&earlier),
            _ => before,
        };
        machine.assign("OLDPWD", before);
    }
    Done::next(Exit { status, output })
}

/// The directory that `cd` finds by `CDPATH`: a name that does not begin with `/`, `.` or `..` is looked for in each of its places.
fn by_search_path(machine: &Machine<'_>, value: &Value) -> Value {
    let start = value.known_start();
    let is_own = matches!(start.split('/').next(), Some("" | "." | ".."));
    let Some(places) = machine.variable("CDPATH").filter(|_| !is_own) else { return value.clone() };
    let Some(places) = places.as_exact() else {
        // Where nothing is known of the places, it is only sure that the name may be here.
        return if machine.shell.variables.contains_key("CDPATH") { Value::Unknown } else { value.clone() };
    };
    let mut possible = Vec::new();
    for place in places.split(':') {
        let candidate = if place.is_empty() || place == "." {
            value.clone()
        } else {
            Value::exact(format!("{}/", place.trim_end_matches('/'))).followed_by(value)
        };
        match (machine.is_directory(&candidate), candidate.as_exact()) {
            (Some(true), _) if possible.is_empty() => return candidate,
            (Some(false), _) => {}
            (_, Some(text)) => possible.push(text.to_owned()),
            (_, None) => return Value::Unknown,
        }
    }
    if possible.is_empty() {
        return value.clone();
    }
    possible.extend(value.as_exact().map(str::to_owned));
    possible.dedup();
    Value::one_of(possible)
}

/// How a shell goes through `..`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Course {
    /// Back the way it came, also over a symbolic link.
    Logical,
    /// To the directory above, as the kernel does (`cd -P`).
    Physical,
}

/// The course that the options of the shell say.
fn usual_course(machine: &Machine<'_>) -> Course {
    if machine.shell.options.physical { Course::Physical } else { Course::Logical }
}

/// Whether a path leads through what the system tells of a process other than this one.
fn is_of_another_process(value: &Value) -> bool {
    let rest = value.as_exact().and_then(|text| text.strip_prefix("/proc/"));
    rest.is_some_and(|rest| rest.contains('/') && rest.starts_with(|letter: char| letter.is_ascii_digit()))
}

/// Whether each `..` in a path stands behind a directory.
fn goes_back_over_directories(machine: &Machine<'_>, value: &Value) -> bool {
    let text = value.as_exact().unwrap_or_default();
    text.match_indices("..").all(|(at, _)| {
        let (before, behind) = text.split_at(at);
        let is_part = matches!(behind.get(2..3), None | Some("" | "/")) && before.ends_with('/');
        !is_part || machine.is_directory(&Value::exact(before)) == Some(true)
    })
}

/// Where the kernel finds a directory that is not there by the text alone.
fn found_by_kernel(machine: &Machine<'_>, value: &Value, by_text: &ShellDirectory) -> Option<ShellDirectory> {
    let is_nothing = |place: &ShellDirectory| matches!(place, ShellDirectory::Here(path) if machine.entry(path) == Entry::Missing);
    if !is_nothing(by_text) {
        return None;
    }
    let physical = machine.directory(value);
    (physical != *by_text && !is_nothing(&physical)).then_some(physical)
}

/// The directory that a value names, with those beyond links of which it is not known whether they are there: unlike a program, a built-in is
/// not run once for each of them.
fn directory_in_every_way(machine: &mut Machine<'_>, value: &Value) -> ShellDirectory {
    let cause = std::mem::take(&mut machine.call.cause);
    let found = machine.directory(value);
    machine.call.cause = cause;
    found
}

/// Changes the directory, when that can work; answers whether it does.
fn go(machine: &mut Machine<'_>, value: &Value, course: Course) -> Status {
    let value = &by_search_path(machine, value);
    let base = machine.shell.logical.clone().or_else(|| machine.cwd().cloned());
    let logical = match (value.as_exact(), base, course) {
        (Some(text), Some(base), Course::Logical) if !text.is_empty() => Some(base.join(text)),
        (_, _, Course::Logical | Course::Physical) => None,
    };
    let by_text = match &logical {
        Some(path) => directory_in_every_way(machine, &Value::exact(path.as_str())),
        None => directory_in_every_way(machine, value),
    };
    // Where there is nothing by the way back over a link, bash goes as the kernel does, and dash stays.
    let by_kernel = logical.as_ref().and_then(|_| found_by_kernel(machine, value, &by_text));
    let is_by_kernel = by_kernel.is_some();
    let logical = logical.filter(|_| !is_by_kernel);
    let whereabouts = by_kernel.unwrap_or(by_text);
    let status = match &whereabouts {
        ShellDirectory::Here(path) => match machine.entry(path) {
            // bash refuses to go back over what is no directory, dash does not look.
            Entry::Directory if logical.is_some() && !goes_back_over_directories(machine, value) => {
                Status::Unknown
            }
            Entry::Directory if is_by_kernel => Status::Unknown,
            // What another process has for its root is shown to few.
            Entry::Directory | Entry::Symlink(_) | Entry::Unknown if is_of_another_process(value) => {
                Status::Open
            }
            // Whether there is something to be cloned is not known.
            Entry::Directory if machine.is_cloned_here(path) => Status::Unknown,
            Entry::Directory if machine.may(path, Right::Enter) => {
                machine.presume_entry(path);
                Status::Success
            }
            // It is closed now, and mostly then.
            Entry::Directory => Status::Open,
            Entry::Missing if machine.is_disturbed() || machine.may_be_otherwise(path) => Status::Unknown,
            Entry::Missing => {
                machine.absent = Some(Absence::Directory(whereabouts));
                return Status::Failure;
            }
            Entry::File(_) | Entry::Special => return Status::Failure,
            Entry::Symlink(_) | Entry::Unknown => Status::Unknown,
        },
        ShellDirectory::OneOf(_) | ShellDirectory::Below(_) | ShellDirectory::Unknown => Status::Unknown,
    };
    if matches!(status, Status::Unknown | Status::Open) {
        machine.came_from = Some(machine.shell.departure());
    }
    machine.shell.logical = match (&whereabouts, logical) {
        (ShellDirectory::Here(path), Some(logical)) if *path != logical => Some(logical),
        _ => None,
    };
    machine.shell.cwd = whereabouts;
    status
}

/// Which directory of the stack an operand names, counted from the working directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// This one.
    At(usize),
    /// One that is not there, or is not known.
    Elsewhere,
}

/// Which directory of the stack an operand names: `+1` from the working directory, `-0` from the bottom. `None` for the name of a directory.
fn place_on_stack(machine: &Machine<'_>, text: &str) -> Option<Place> {
    let number = text.get(1..)?.parse::<usize>().ok()?;
    let count = machine.shell.stack.len() + 1;
    let place = match text.chars().next()? {
        '+' => Some(number),
        '-' => count.checked_sub(number + 1),
        _ => return None,
    };
    Some(place.filter(|_| machine.shell.doubtful_stack == 0).map_or(Place::Elsewhere, Place::At))
}

/// The directory that `~N`, `~+N` and `~-N` stand for; `None` where there is none, so that the text stays as it is written.
pub(crate) fn on_stack(machine: &Machine<'_>, text: &str) -> Option<Value> {
    let signed = if text.starts_with(['+', '-']) { text.to_owned() } else { format!("+{text}") };
    let Place::At(place) = place_on_stack(machine, &signed)? else {
        return (machine.shell.doubtful_stack > 0).then_some(Value::Unknown);
    };
    if place == 0 {
        return Some(machine.cwd_value());
    }
    let place = machine.shell.stack.len().checked_sub(place)?;
    Some(match machine.shell.stack.get(place)? {
        ShellDirectory::Here(path) => Value::exact(path.as_str()),
        ShellDirectory::OneOf(paths) => {
            Value::one_of(paths.iter().map(|path| path.as_str().to_owned()).collect())
        }
        ShellDirectory::Below(_) | ShellDirectory::Unknown => Value::Unknown,
    })
}

/// Nothing is known of the directory and of the stack any more.
fn lose_the_stack(machine: &mut Machine<'_>) -> Status {
    machine.shell.cwd = ShellDirectory::Unknown;
    machine.shell.logical = None;
    for place in &mut machine.shell.stack {
        *place = ShellDirectory::Unknown;
    }
    machine.shell.doubtful_stack = machine.shell.stack.len();
    Status::Open
}

/// Goes on with these directories, the first of which is the working directory.
fn stand_on(machine: &mut Machine<'_>, mut places: Vec<ShellDirectory>) {
    if places.is_empty() {
        return;
    }
    machine.shell.cwd = places.remove(0);
    machine.shell.logical = None;
    places.reverse();
    machine.shell.stack = places;
}

/// The working directory, and what is on the stack from the top on.
fn all_places(machine: &Machine<'_>) -> Vec<ShellDirectory> {
    std::iter::once(&machine.shell.cwd).chain(machine.shell.stack.iter().rev()).cloned().collect()
}

/// The words of `pushd` and `popd`: whether the shell stays where it is (`-n`), and the operand.
fn stack_words(words: &[Value]) -> (bool, Option<&Value>) {
    let stays = words.iter().any(|word| word.as_exact() == Some("-n"));
    let is_operand = |word: &&Value| !matches!(word.as_exact(), Some("-n" | "--"));
    (stays, words.iter().find(is_operand))
}

pub(super) fn pushd(machine: &mut Machine<'_>, words: &[Value]) -> Done {
    let before = machine.shell.cwd.clone();
    let (stays, operand) = stack_words(words);
    let place = operand.and_then(Value::as_exact).and_then(|text| place_on_stack(machine, text));
    let status = match (stays, operand, place) {
        (false, Some(_), Some(Place::At(place))) => {
            let mut places = all_places(machine);
            if place < places.len() {
                machine.assign("OLDPWD", machine.cwd_value());
                places.rotate_left(place);
                stand_on(machine, places);
                Status::Success
            } else {
                Status::Failure
            }
        }
        (true, Some(_), Some(_)) | (_, Some(_), Some(Place::Elsewhere)) => lose_the_stack(machine),
        (true, Some(word), None) => {
            let place = machine.directory(word);
            machine.shell.stack.push(place);
            Status::Success
        }
        (true, None, _) => Status::Open,
        (false, Some(word), None) => {
            let status = go(machine, word, usual_course(machine));
            if status != Status::Failure {
                machine.shell.stack.push(before);
            }
            status
        }
        (false, None, _) => {
            let status = from_stack(machine);
            if status != Status::Failure {
                machine.shell.stack.push(before);
            }
            status
        }
    };
    if status == Status::Open {
        // With nothing on the stack there was nothing to change places with.
        machine.shell.doubtful_stack = machine.shell.stack.len();
    }
    Done::next(Exit { status, output: Output::Unknown })
}

pub(super) fn popd(machine: &mut Machine<'_>, words: &[Value]) -> Done {
    let (stays, operand) = stack_words(words);
    let place = operand.and_then(Value::as_exact).and_then(|text| place_on_stack(machine, text));
    let status = match (stays, operand, place) {
        (false, None, _) => from_stack(machine),
        (_, Some(_), Some(Place::At(place))) if !stays => {
            let mut places = all_places(machine);
            if place < places.len() && places.len() > 1 {
                places.remove(place);
                let logical = machine.shell.logical.take();
                stand_on(machine, places);
                if place > 0 {
                    machine.shell.logical = logical;
                }
                Status::Success
            } else {
                Status::Failure
            }
        }
        (true, None, _) => match machine.shell.take_from_stack() {
            Some((_, true)) => Status::Success,
            Some((_, false)) => Status::Open,
            None => Status::Failure,
        },
        (_, Some(_), _) => lose_the_stack(machine),
    };
    Done::next(Exit {
        status,
        output: if status == Status::Failure { Output::Nothing } else { Output::Unknown },
    })
}

/// `dirs`: shows the stack, or empties it.
pub(super) fn dirs(machine: &mut Machine<'_>, words: &[Value]) -> Done {
    if words.iter().filter_map(Value::as_exact).any(|text| text.starts_with('-') && text.contains('c')) {
        machine.shell.stack.clear();
        machine.shell.doubtful_stack = 0;
    }
    Done::next(Exit { status: Status::Success, output: Output::Unknown })
}

/// Goes to the directory on top of the stack, when there is one.
fn from_stack(machine: &mut Machine<'_>) -> Status {
    match machine.shell.take_from_stack() {
        Some((place, true)) => {
            machine.shell.cwd = place;
            machine.shell.logical = None;
            Status::Success
        }
        Some((place, false)) => {
            machine.shell.cwd = machine.shell.cwd.clone().join(&place);
            machine.shell.logical = None;
            Status::Open
        }
        None => Status::Failure,
    }
}
