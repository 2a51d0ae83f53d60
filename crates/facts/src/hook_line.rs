//! The command line by which a client asks the guard: what a pattern of command lines must not find.

/// The name of the hook program.
pub const HOOK_PROGRAM: &str = "checkrein-hook";

/// What the model and the user read when the hook gave no answer.
pub const NO_ANSWER: &str = "checkrein did not answer, so this is refused. The user should run `checkrein doctor`, or install checkrein \
                             for this account: https://github.com/checkrein/checkrein";

/// What takes up what the hook says.
pub const HEARD: &str = "o=$(";

/// The pattern of the shell for what the hook says: an object.
const OBJECT: &str = "'{'*'}'";

/// The command line around a call of a hook that refuses by exit status 2 and says why itself: it refuses too unless the hook answers. A client
/// gives it to `sh`.
pub fn refusing_status_line(call: &str) -> String {
    format!(
        r#"{HEARD}{call});case $?$o in 0{OBJECT})printf '%s\n' "$o";;2)exit 2;;*)echo '{NO_ANSWER}' >&2;exit 2;;esac"#
    )
}

/// The command line around a call of the hook that refuses unless it answers. A client gives it to `sh`.
pub fn refusing_line(call: &str) -> String {
    format!(
        r#"{HEARD}{call});case $?$o in 0{OBJECT})printf '%s\n' "$o";;*)echo '{NO_ANSWER}' >&2;exit 2;;esac"#
    )
}
