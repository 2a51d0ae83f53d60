//! Whether a file is what a compressor made of certain bytes, and nothing else. What gzip packed is unpacked for that; of what the others pack
//! the sums tell that they write of what they were given (bzip2, xz, zstd, lz4, lzip), with the lengths, so that no decoder is needed.

use crate::sums;
use crate::unpacked::gunzipped;

const BZIP2: &[u8] = b"BZh";
const XZ: &[u8] = b"\xfd7zXZ\0";
const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";
const LZ4: &[u8] = b"\x04\x22\x4d\x18";
const LZIP: &[u8] = b"LZIP\x01";
const GZIP: &[u8] = b"\x1f\x8b";

/// Whether a file begins as what a compressor packed of which it can be told what it holds.
pub fn may_be_packed(bytes: &[u8]) -> bool {
    [BZIP2, XZ, ZSTD, LZ4, LZIP, GZIP].iter().any(|start| bytes.starts_with(start))
}

/// Whether a file is what a compressor made of just these bytes. One without a sum, such as `.lzma`, never is.
pub fn is_packed_from(packed: &[u8], plain: &[u8]) -> bool {
    let is_it = if packed.starts_with(GZIP) {
        Some(gunzipped(packed, plain.len()).is_some_and(|held| held == plain))
    } else if packed.starts_with(BZIP2) {
        is_bzip2(packed, plain)
    } else if packed.starts_with(XZ) {
        is_xz(packed, plain)
    } else if packed.starts_with(ZSTD) {
        is_zstd(packed, plain)
    } else if packed.starts_with(LZ4) {
        is_lz4(packed, plain)
    } else if packed.starts_with(LZIP) {
        is_lzip(packed, plain)
    } else {
        None
    };
    is_it == Some(true)
}

/// What begins a block of bzip2 and what ends a stream, as bits: they begin at no byte.
const BZIP2_BLOCK: u64 = 0x3141_5926_5359;
const BZIP2_END: u64 = 0x1772_4538_5090;

/// Each block of bzip2 begins with its sum, and the sum of these is at the end, behind which up to seven bits fill the last byte.
fn is_bzip2(packed: &[u8], plain: &[u8]) -> Option<bool> {
    let level = packed.get(3).filter(|level| (b'1'..=b'9').contains(level))? - b'0';
    let sums = sums::bzip2_sums(plain, usize::from(level));
    let all = sums.iter().fold(0_u32, |all, sum| all.rotate_left(1) ^ sum);
    let mut expected = sums.iter().copied();
    let mut bits = 0_u128;
    let body = packed.get(4..)?;
    for (place, byte) in body.iter().enumerate() {
        bits = bits << 8 | u128::from(*byte);
        for filled in (0..8).rev().filter(|_| place >= 9) {
            let seen = bits >> filled;
            let [.., a, b, c, d] = seen.to_be_bytes();
            let sum = u32::from_be_bytes([a, b, c, d]);
            match u64::try_from(seen >> 32 & 0xffff_ffff_ffff) {
                Ok(BZIP2_BLOCK) if expected.next() != Some(sum) => return Some(false),
                Ok(BZIP2_END) => {
                    return Some(place + 1 == body.len() && sum == all && expected.next().is_none());
                }
                Ok(_) | Err(_) => {}
            }
        }
    }
    None
}

/// The index at the end of a stream of xz tells how long each block is, packed and unpacked; behind each stands its sum.
fn is_xz(packed: &[u8], plain: &[u8]) -> Option<bool> {
    const FRAME: usize = 12;
    let footer = packed.get(packed.len().checked_sub(FRAME)?..).filter(|footer| footer.ends_with(b"YZ"))?;
    let flags = packed.get(6..8)?;
    if footer.get(8..10)? != flags {
        return None;
    }
    let check = match flags {
        [0, 1] => 4,
        [0, 4] => 8,
        _ => return None,
    };
    let index_length = (small(footer.get(4..8)?)? as usize).checked_add(1)?.checked_mul(4)?;
    let index_start = packed.len().checked_sub(FRAME + index_length)?;
    let index = packed.get(index_start..index_start + index_length)?;
    let mut at = 1;
    let count = (index.first() == Some(&0)).then(|| varying(index, &mut at))??;
    let (mut place, mut rest) = (FRAME, plain);
    for _ in 0..count {
        let (block, length) = (varying(index, &mut at)?, varying(index, &mut at)?);
        let (own, behind) = rest.split_at_checked(length)?;
        // What fills a block up stands before its sum.
        let behind_block = place.checked_add(block.checked_next_multiple_of(4)?)?;
        let sum = packed.get(behind_block.checked_sub(check)?..behind_block)?;
        let is_own = match check {
            4 => sum == sums::crc32(own).to_le_bytes(),
            _ => sum == sums::crc64(own).to_le_bytes(),
        };
        if !is_own {
            return Some(false);
        }
        place = behind_block;
        rest = behind;
    }
    Some(rest.is_empty() && place == index_start)
}

/// A frame of zstd has a sum at its end where its head says so, as it does for the program.
fn is_zstd(packed: &[u8], plain: &[u8]) -> Option<bool> {
    let flags = *packed.get(4)?;
    let is_single = flags & 0x20 != 0;
    if flags & 0x04 == 0 {
        return None;
    }
    let dictionary = [0, 1, 2, 4].get(usize::from(flags & 3)).copied()?;
    let told = match (flags >> 6, is_single) {
        (0, false) => 0,
        (0, true) => 1,
        (1, _) => 2,
        (2, _) => 4,
        _ => 8,
    };
    let mut at = 5 + usize::from(!is_single) + dictionary;
    let length = packed.get(at..at + told)?;
    let length = length.iter().rev().fold(0_u64, |length, byte| length << 8 | u64::from(*byte));
    let length = if told == 2 { length + 256 } else { length };
    if told > 0 && length != plain.len() as u64 {
        return Some(false);
    }
    at += told;
    loop {
        let head =
            packed.get(at..at + 3)?.iter().rev().fold(0_usize, |head, byte| head << 8 | usize::from(*byte));
        let size = match head >> 1 & 3 {
            0 | 2 => head >> 3,
            1 => 1,
            _ => return None,
        };
        at = at.checked_add(3 + size)?;
        if head & 1 == 1 {
            break;
        }
    }
    let [a, b, c, d, ..] = sums::xxh64(plain).to_le_bytes();
    Some(packed.get(at..)? == [a, b, c, d])
}

/// A frame of lz4 has a sum at its end where its head says so, as it does for the program.
fn is_lz4(packed: &[u8], plain: &[u8]) -> Option<bool> {
    let flags = *packed.get(4)?;
    if flags >> 6 != 1 || flags & 0x04 == 0 {
        return None;
    }
    let has = |bit: u8, length: usize| if flags & bit == 0 { 0 } else { length };
    let mut at = 6 + has(0x08, 8) + has(0x01, 4) + 1;
    let behind = has(0x10, 4);
    loop {
        let size = small(packed.get(at..at.checked_add(4)?)?)? as usize & 0x7fff_ffff;
        at += 4;
        if size == 0 {
            break;
        }
        at = at.checked_add(size + behind)?;
    }
    Some(packed.get(at..)? == sums::xxh32(plain).to_le_bytes())
}

/// A member of lzip ends with the sum and the length of what it holds, and with its own length.
fn is_lzip(packed: &[u8], plain: &[u8]) -> Option<bool> {
    let end = packed.get(packed.len().checked_sub(20)?..)?;
    let (sum, lengths) = end.split_at_checked(4)?;
    let told = [(plain.len() as u64).to_le_bytes(), (packed.len() as u64).to_le_bytes()].concat();
    Some(lengths == told && sum == sums::crc32(plain).to_le_bytes())
}

fn small(bytes: &[u8]) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.try_into().ok()?))
}

/// A number of as many bytes as it takes, seven bits each.
fn varying(bytes: &[u8], at: &mut usize) -> Option<usize> {
    let mut number = 0_usize;
    for place in 0..9 {
        let byte = *bytes.get(*at)?;
        *at += 1;
        number |= usize::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use std::process::Command;

    /// Whether a program is on this machine: which compressors are differs.
    fn is_there(program: &str) -> bool {
        Command::new("sh").args(["-c", &format!("command -v {program}")]).output().unwrap().status.success()
    }

    fn packed_by(directory: &Path, command: &str, plain: &[u8]) -> Vec<u8> {
        std::fs::write(directory.join("plain"), plain).unwrap();
        let done =
            Command::new("sh").args(["-c", &format!("{command} < plain")]).current_dir(directory).output();
        let done = done.unwrap();
        assert!(done.status.success(), "{command}");
        done.stdout
    }

    /// Bytes in which some stand once and some in long runs.
    fn bytes(length: usize) -> Vec<u8> {
        let mut state = 7_u32;
        let mut made = Vec::new();
        while made.len() < length {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let byte = state.to_le_bytes()[3];
            let count = if byte < 8 { 1 + state as usize % 700 } else { 1 };
            made.extend(std::iter::repeat_n(byte, count));
        }
        made.truncate(length);
        made
    }

    #[test]
    fn the_product_of_each_compressor_is_told() {
        let directory = tempfile::tempdir().unwrap();
        let mut tried = 0;
        let contents: Vec<Vec<u8>> =
            [0, 1, 3, 4, 15, 16, 31, 32, 33, 300, 70_000, 250_000].into_iter().map(bytes).collect();
        for command in [
            "gzip -c",
            "gzip -nc9",
            "bzip2 -c",
            "bzip2 -c1",
            "xz -c",
            "xz -c --check=crc32",
            "xz -c --block-size=4096",
            "zstd -qc",
            "zstd -qc19",
            "zstd -qc --no-content-size",
            "lz4 -qc",
            "lz4 -qc --content-size -BX",
            "lzip -c",
        ] {
            if !is_there(command.split(' ').next().unwrap()) {
                continue;
            }
            for plain in &contents {
                let packed = packed_by(directory.path(), command, plain);
                assert!(may_be_packed(&packed), "{command}");
                assert!(is_packed_from(&packed, plain), "{command}: {}", plain.len());
                let mut other = plain.clone();
                if let Some(last) = other.last_mut() {
                    *last ^= 1;
                }
                other.push(b'x');
                assert!(!is_packed_from(&packed, &other), "{command}: {}", plain.len());
                let _ = other.pop();
                assert!(plain.is_empty() || !is_packed_from(&packed, &other), "{command}: {}", plain.len());
                let twice = [packed.clone(), packed.clone()].concat();
                assert!(!is_packed_from(&twice, plain), "{command}: {}", plain.len());
                assert!(!is_packed_from(&[&packed[..], b"mine"].concat(), plain), "{command}");
                for cut in [1, 2, 5, packed.len() / 2, packed.len() - 1] {
                    let shorter = packed.get(..packed.len().saturating_sub(cut)).unwrap();
                    assert!(!is_packed_from(shorter, plain), "{command}: {} without {cut}", plain.len());
                }
            }
            tried += 1;
        }
        assert!(tried > 1);
    }

    #[test]
    fn what_tells_no_sum_is_not_told() {
        let directory = tempfile::tempdir().unwrap();
        for command in
            ["zstd -qc --no-check", "lz4 -qc --no-frame-crc", "xz -c --check=none", "xz -c --format=lzma"]
        {
            if is_there(command.split(' ').next().unwrap()) {
                let packed = packed_by(directory.path(), command, b"text\n");
                assert!(!is_packed_from(&packed, b"text\n"), "{command}");
            }
        }
        for start in [BZIP2, XZ, ZSTD, LZ4, LZIP, GZIP] {
            for length in 0..40 {
                let damaged = [start, &vec![0xff; length]].concat();
                assert!(!is_packed_from(&damaged, b""), "{damaged:?}");
            }
        }
    }
}
