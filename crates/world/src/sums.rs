//! Sums that tell contents from others, as compressors write them beside what they packed.

/// The sum of a file by the polynomial of Ethernet, with the lowest bit first: gzip, xz, lzip.
pub(crate) fn crc32(bytes: &[u8]) -> u32 {
    let table = table_32();
    let step = |sum: u32, byte: &u8| {
        let [low, ..] = sum.to_le_bytes();
        sum >> 8 ^ table.get(usize::from(low ^ byte)).copied().unwrap_or_default()
    };
    !bytes.iter().fold(u32::MAX, step)
}

fn table_32() -> [u32; 256] {
    let mut table = [0_u32; 256];
    for (start, entry) in (0_u32..).zip(&mut table) {
        *entry = (0..8).fold(start, |sum, _| if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 });
    }
    table
}

/// The sum of a file by the polynomial of ECMA-182: xz.
pub(crate) fn crc64(bytes: &[u8]) -> u64 {
    let mut table = [0_u64; 256];
    for (start, entry) in (0_u64..).zip(&mut table) {
        let shift = |sum: u64| if sum & 1 == 1 { sum >> 1 ^ 0xc96c_5795_d787_0f42 } else { sum >> 1 };
        *entry = (0..8).fold(start, |sum, _| shift(sum));
    }
    let step = |sum: u64, byte: &u8| {
        let [low, ..] = sum.to_le_bytes();
        sum >> 8 ^ table.get(usize::from(low ^ byte)).copied().unwrap_or_default()
    };
    !bytes.iter().fold(u64::MAX, step)
}

/// The sums that bzip2 writes: one for each block of what it packs, by the polynomial of Ethernet with the highest bit first. A block takes as
/// many bytes as fit into it when runs are written with their lengths. `level` is that of the program.
pub(crate) fn bzip2_sums(bytes: &[u8], level: usize) -> Vec<u32> {
    let mut table = [0_u32; 256];
    for (start, entry) in (0_u32..).zip(&mut table) {
        let shift = |sum: u32| if sum >> 31 == 1 { sum << 1 ^ 0x04c1_1db7 } else { sum << 1 };
        *entry = (0..8).fold(start << 24, |sum, _| shift(sum));
    }
    let step = |sum: u32, byte: u8| {
        let [high, ..] = sum.to_be_bytes();
        sum << 8 ^ table.get(usize::from(high ^ byte)).copied().unwrap_or_default()
    };
    let most = level * 100_000 - 19;
    let (mut sums, mut sum, mut filled) = (Vec::new(), u32::MAX, 0);
    let mut run: Option<(u8, usize)> = None;
    for byte in bytes {
        if filled >= most {
            sums.push(!std::mem::replace(&mut sum, u32::MAX));
            filled = 0;
        }
        match &mut run {
            Some((of, length)) if of == byte && *length < 255 => *length += 1,
            other => {
                if let Some((of, length)) = other.replace((*byte, 1)) {
                    sum = (0..length).fold(sum, |sum, _| step(sum, of));
                    filled += if length < 4 { length } else { 5 };
                }
            }
        }
    }
    if let Some((of, length)) = run {
        sums.push(!(0..length).fold(sum, |sum, _| step(sum, of)));
    }
    sums
}

const WIDE: [u64; 5] = [
    0x9e37_79b1_85eb_ca87,
    0xc2b2_ae3d_27d4_eb4f,
    0x1656_67b1_9e37_79f9,
    0x85eb_ca77_c2b2_ae63,
    0x27d4_eb2f_1656_67c5,
];

/// XXH64 without a seed: zstd. Source: "xxHash fast digest algorithm", version 0.1.1.
pub(crate) fn xxh64(bytes: &[u8]) -> u64 {
    let [one, two, three, four, five] = WIDE;
    let round =
        |sum: u64, lane: u64| sum.wrapping_add(lane.wrapping_mul(two)).rotate_left(31).wrapping_mul(one);
    let stripes = bytes.chunks_exact(32);
    let mut rest = stripes.remainder();
    let mut sum = if bytes.len() < 32 {
        five
    } else {
        let mut sums = [one.wrapping_add(two), two, 0, 0_u64.wrapping_sub(one)];
        for stripe in stripes {
            for (sum, lane) in sums.iter_mut().zip(stripe.chunks_exact(8)) {
                *sum = round(*sum, long(lane));
            }
        }
        let [a, b, c, d] = sums;
        let joined = a
            .rotate_left(1)
            .wrapping_add(b.rotate_left(7))
            .wrapping_add(c.rotate_left(12))
            .wrapping_add(d.rotate_left(18));
        sums.iter().fold(joined, |sum, lane| (sum ^ round(0, *lane)).wrapping_mul(one).wrapping_add(four))
    };
    sum = sum.wrapping_add(bytes.len() as u64);
    while let Some((lane, behind)) = rest.split_at_checked(8) {
        sum = (sum ^ round(0, long(lane))).rotate_left(27).wrapping_mul(one).wrapping_add(four);
        rest = behind;
    }
    if let Some((lane, behind)) = rest.split_at_checked(4) {
        sum = (sum ^ long(lane).wrapping_mul(one)).rotate_left(23).wrapping_mul(two).wrapping_add(three);
        rest = behind;
    }
    for byte in rest {
        sum = (sum ^ u64::from(*byte).wrapping_mul(five)).rotate_left(11).wrapping_mul(one);
    }
    sum = (sum ^ sum >> 33).wrapping_mul(two);
    sum = (sum ^ sum >> 29).wrapping_mul(three);
    sum ^ sum >> 32
}

const NARROW: [u32; 5] = [0x9e37_79b1, 0x85eb_ca77, 0xc2b2_ae3d, 0x27d4_eb2f, 0x1656_67b1];

/// XXH32 without a seed: lz4. Source: "xxHash fast digest algorithm", version 0.1.1.
pub(crate) fn xxh32(bytes: &[u8]) -> u32 {
    let [one, two, three, four, five] = NARROW;
    let stripes = bytes.chunks_exact(16);
    let mut rest = stripes.remainder();
    let mut sum = if bytes.len() < 16 {
        five
    } else {
        let mut sums = [one.wrapping_add(two), two, 0, 0_u32.wrapping_sub(one)];
        for stripe in stripes {
            for (sum, lane) in sums.iter_mut().zip(stripe.chunks_exact(4)) {
                *sum = sum.wrapping_add(short(lane).wrapping_mul(two)).rotate_left(13).wrapping_mul(one);
            }
        }
        let [a, b, c, d] = sums;
        let joined = a.rotate_left(1).wrapping_add(b.rotate_left(7));
        joined.wrapping_add(c.rotate_left(12)).wrapping_add(d.rotate_left(18))
    };
    let [a, b, c, d, ..] = bytes.len().to_le_bytes();
    sum = sum.wrapping_add(u32::from_le_bytes([a, b, c, d]));
    while let Some((lane, behind)) = rest.split_at_checked(4) {
        sum = sum.wrapping_add(short(lane).wrapping_mul(three)).rotate_left(17).wrapping_mul(four);
        rest = behind;
    }
    for byte in rest {
        sum = sum.wrapping_add(u32::from(*byte).wrapping_mul(five)).rotate_left(11).wrapping_mul(one);
    }
    sum = (sum ^ sum >> 15).wrapping_mul(two);
    sum = (sum ^ sum >> 13).wrapping_mul(three);
    sum ^ sum >> 16
}

fn long(lane: &[u8]) -> u64 {
    lane.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

fn short(lane: &[u8]) -> u32 {
    lane.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values are those of the specifications, and of the programs.
    #[test]
    fn sums_are_those_of_the_specifications() {
        let check = b"123456789";
        assert_eq!(crc32(check), 0xcbf4_3926);
        assert_eq!(crc64(check), 0x995d_c9bb_df19_39fa);
        assert_eq!(bzip2_sums(check, 9), [0xfc89_1918]);
        assert_eq!(xxh64(b""), 0xef46_db37_51d8_e999);
        assert_eq!(xxh64(b"a"), 0xd24e_c4f1_a98c_6e5b);
        assert_eq!(xxh32(b""), 0x02cc_5d05);
        assert_eq!(xxh32(b"a"), 0x550d_7456);
    }
}
