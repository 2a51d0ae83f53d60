//! What only the kernel of Linux can do: said where it is another one, and nothing is started.

use checkrein_engine::error::CommandError;

/// Why a command that starts programs within limits starts none here.
pub fn needs_linux(command: &str) -> CommandError {
    CommandError::user(
        format!(
            "`checkrein {command}` needs Linux: what it starts is held by the kernel, and this one offers no way"
        ),
        "nothing was started; reviews, snapshots, undo and sessions work here",
    )
}
