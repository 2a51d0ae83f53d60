//! Files that reach a command whole on its standard input: `tar xz < FILE`, `cat FILE | tar xz`.

use super::call::{Call, Input};
use super::machine::Machine;
use crate::path::AbsolutePath;

/// Files that pass a redirection or a pipe as they are.
#[derive(Debug, Clone, Default)]
pub(crate) struct WholeFiles {
    /// What the present command is given on its standard input.
    pub(crate) given: Option<AbsolutePath>,
    /// What the last call wrote, and nothing else.
    pub(crate) written: Option<AbsolutePath>,
}

/// Programs that write the one file which they are given, unpacked where it is packed.
const PASSING: &[&str] = &["cat", "pv", "zcat", "gzcat", "bzcat", "xzcat", "zstdcat", "lz4cat"];
/// Programs that do so with an option.
const UNPACKING: &[&str] =
    &["gzip", "gunzip", "pigz", "unpigz", "bzip2", "bunzip2", "xz", "unxz", "zstd", "unzstd"];

impl Machine<'_> {
    /// The file that a call is given whole on its standard input, as it is or unpacked.
    pub fn whole_input(&self, call: &Call) -> Option<AbsolutePath> {
        let given = self.position.whole.given.as_ref()?;
        matches!(&call.input, Input::Local(place) if place == given.as_str()).then(|| given.clone())
    }

    /// The file that a call writes to its standard output whole, as it is or unpacked.
    pub(super) fn whole_output(&self, call: &Call) -> Option<AbsolutePath> {
        let program = call.program.as_str();
        let file = match call.words.as_slice() {
            [file] if PASSING.contains(&program) => file,
            [option, file] if UNPACKING.contains(&program) => {
                let unpacks = program.starts_with("un") || matches!(program, "gunzip" | "bunzip2");
                match option.as_exact()? {
                    "-dc" | "-cd" => file,
                    "-c" if unpacks => file,
                    _ => return None,
                }
            }
            _ => return None,
        };
        // An option, or the input.
        if file.known_start().starts_with('-') {
            return None;
        }
        self.one_path_through(file)
    }
}
