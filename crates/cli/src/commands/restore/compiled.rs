//! Files that are known to be compiled from a source that stands beside them: whoever has the source has them again.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use checkrein_snapshot::{Node, Prepared, Step};

/// The length of what byte code of Python begins with.
const HEADER: usize = 16;

/// Whether what stands at the place of a step is byte code that Python made of the source that stands there now: it says of which time and
/// length that was. Source: PEP 552.
pub(super) fn is_compiled(prepared: &Prepared, step: &Step) -> bool {
    let Some(source) = source_of(step.path.as_path()) else { return false };
    let Some(Node::File { content, .. }) = &step.now else { return false };
    let (Ok(facts), Ok(code)) = (source.symlink_metadata(), prepared.content(content)) else { return false };
    facts.is_file() && tells(&code, facts.mtime(), facts.len())
}

/// The source of a file with byte code: `__pycache__/main.cpython-311.pyc` is made of `main.py`.
fn source_of(path: &Path) -> Option<PathBuf> {
    let directory = path.parent().filter(|directory| directory.ends_with("__pycache__"))?;
    let name = path.file_name()?.to_str()?.strip_suffix(".pyc")?;
    let end = name.find(".cpython-").or_else(|| name.find(".pypy"))?;
    Some(directory.parent()?.join(format!("{}.py", name.get(..end)?)))
}

/// Whether byte code says that its source was of this time and length.
fn tells(code: &[u8], modified: i64, length: u64) -> bool {
    let number =
        |at: usize| -> Option<u32> { Some(u32::from_le_bytes(code.get(at..at + 4)?.try_into().ok()?)) };
    // It counts in 32 bits, and goes round.
    let low = |number: u64| u32::try_from(number & u64::from(u32::MAX)).ok();
    code.len() > HEADER
        && code.get(2..4) == Some(b"\r\n")
        && number(4) == Some(0)
        && number(8) == low(modified.cast_unsigned())
        && number(12) == low(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn byte_code_tells_of_what_it_was_made() {
        let name = Path::new("/p/src/__pycache__/main.cpython-311.opt-1.pyc");
        assert_eq!(source_of(name), Some(PathBuf::from("/p/src/main.py")));
        for other in ["/p/src/main.cpython-311.pyc", "/p/src/__pycache__/main.txt", "/p/__pycache__/main.pyc"]
        {
            assert_eq!(source_of(Path::new(other)), None, "{other}");
        }
        let code = [
            &[0xa7, 0x0d, b'\r', b'\n', 0, 0, 0, 0][..],
            &7_u32.to_le_bytes(),
            &5_u32.to_le_bytes(),
            b"code",
        ];
        let code = code.concat();
        assert!(tells(&code, 7, 5) && tells(&code, 7 + (1 << 32), 5));
        assert!(!tells(&code, 8, 5) && !tells(&code, 7, 6) && !tells(b"text that somebody wrote", 7, 5));
        assert!(!tells(code.get(..HEADER).unwrap_or_default(), 7, 5));
    }
}
