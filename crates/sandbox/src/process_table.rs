//! What macOS tells of single processes, where Linux has `/proc`.

use std::ffi::{c_int, c_void};
use std::mem::{MaybeUninit, size_of};
use std::ptr::{from_mut, null_mut};

/// The longest that is read of how a process was started, in bytes (`ARG_MAX` of macOS).
const LONGEST: usize = 1024 * 1024;

/// `PROC_PIDT_SHORTBSDINFO` of `sys/proc_info.h`: the one that every user may ask of every process.
const SHORT: c_int = 13;
/// `PROC_PIDTBSDINFO`.
const WHOLE: c_int = 3;
/// `PROC_FLAG_CONTROLT`: it has a controlling terminal.
const HAS_TERMINAL: u32 = 2;
/// `SZOMB`: it has ended, and nobody has waited for it.
const ENDED: u32 = 5;

/// A process among the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedProcess {
    /// The process above it; 0 for the first.
    pub parent: i32,
    /// Whether it has a controlling terminal.
    pub has_terminal: bool,
    /// Its name, at most 16 bytes of it.
    pub name: String,
}

/// How a process was started.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StartedWith {
    /// Its arguments, the name of the program first.
    pub words: Vec<Vec<u8>>,
    /// Its environment, as `NAME=value`.
    pub environment: Vec<Vec<u8>>,
}

/// `struct proc_bsdshortinfo` of `sys/proc_info.h`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Short {
    number: u32,
    parent: u32,
    group: u32,
    status: u32,
    name: [u8; 16],
    flags: u32,
    users: [u32; 6],
    reserved: u32,
}

/// The process with this number; `None` when there is none.
pub fn listed(number: i32) -> Option<ListedProcess> {
    let found: Short = ask(number, SHORT)?;
    let end = found.name.iter().position(|byte| *byte == 0).unwrap_or(found.name.len());
    Some(ListedProcess {
        parent: i32::try_from(found.parent).ok()?,
        has_terminal: found.flags & HAS_TERMINAL != 0,
        name: String::from_utf8_lossy(found.name.get(..end)?).into_owned(),
    })
}

/// When a process started, in microseconds since 1970; `None` when there is none of this number, only its remains, or one of another user.
pub fn start_of(number: i32) -> Option<u64> {
    let found: libc::proc_bsdinfo = ask(number, WHOLE)?;
    (found.pbi_status != ENDED)
        .then(|| found.pbi_start_tvsec.saturating_mul(1_000_000) + found.pbi_start_tvusec)
}

/// How a process was started; `None` when there is none, or one of another user.
pub fn started_with(number: i32) -> Option<StartedWith> {
    let mut bytes = vec![0_u8; LONGEST];
    let mut name = [libc::CTL_KERN, libc::KERN_PROCARGS2, number];
    let mut length = bytes.len();
    // SAFETY: three numbers of the name are there, and the system writes at most `length` bytes into as many that are ours.
    #[expect(unsafe_code, reason = "no safe crate asks for it")]
    let result = unsafe {
        libc::sysctl(name.as_mut_ptr(), 3, bytes.as_mut_ptr().cast(), from_mut(&mut length), null_mut(), 0)
    };
    if result != 0 {
        return None;
    }
    parse(bytes.get(..length)?)
}

/// The number of arguments, the path of the program, zeros, the arguments, the environment: each text with a zero behind it.
fn parse(bytes: &[u8]) -> Option<StartedWith> {
    let (count, rest) = bytes.split_first_chunk::<4>()?;
    let count = usize::try_from(i32::from_ne_bytes(*count)).ok()?;
    let path = rest.iter().position(|byte| *byte == 0)?;
    let rest = rest.get(path..)?;
    let start = rest.iter().position(|byte| *byte != 0)?;
    let mut texts = rest.get(start..)?.split(|byte| *byte == 0).map(<[u8]>::to_vec);
    let words = texts.by_ref().take(count).collect();
    Some(StartedWith { words, environment: texts.take_while(|text| !text.is_empty()).collect() })
}

/// One question about a process, answered by a structure that the system fills.
#[expect(unsafe_code, reason = "no safe crate asks for it")]
fn ask<T: Copy>(number: i32, what: c_int) -> Option<T> {
    let mut found = MaybeUninit::<T>::zeroed();
    let length = c_int::try_from(size_of::<T>()).ok()?;
    // SAFETY: the system writes at most `length` bytes, and that is how many there are.
    let written = unsafe { libc::proc_pidinfo(number, what, 0, found.as_mut_ptr().cast::<c_void>(), length) };
    // SAFETY: both structures are of numbers alone, for which all bytes are values, and the system has filled all of it.
    (written == length).then(|| unsafe { found.assume_init() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_and_environment_are_told_apart() {
        let mut bytes = 2_i32.to_ne_bytes().to_vec();
        bytes.extend(b"/bin/sh\0\0\0\0sh\0-c\0HOME=/Users/a b\0A=\0\0rest");
        let found = parse(&bytes).unwrap();
        assert_eq!(found.words, [b"sh".to_vec(), b"-c".to_vec()]);
        assert_eq!(found.environment, [b"HOME=/Users/a b".to_vec(), b"A=".to_vec()]);
        assert_eq!(parse(&bytes[..3]), None);
    }

    #[test]
    fn this_process_is_told_of() {
        let own = i32::try_from(std::process::id()).unwrap();
        let listed = listed(own).unwrap();
        assert_eq!(u32::try_from(listed.parent).unwrap(), std::os::unix::process::parent_id());
        assert!(start_of(own).is_some() && !started_with(own).unwrap().words.is_empty());
    }
}
