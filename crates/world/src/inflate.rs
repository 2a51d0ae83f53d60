//! Decompressing what `deflate` packed (RFC 1951), as git objects (zlib) and `.gz` files hold it. Within bounds, and total: damaged
//! data gives nothing.
//!
//! Written here for the same reason as the index is: reading is all that is needed, and of small files.

/// How far back a repetition may reach.
const WINDOW: usize = 32 * 1024;
/// How much is gathered before it is handed on.
const CHUNK: usize = 64 * 1024;

/// Takes decompressed data, piece by piece.
pub(crate) trait Sink {
    /// Takes the next piece. Answers whether more is wanted.
    fn take(&mut self, piece: &[u8]) -> Wanted;
}

/// Whether more data is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Go on.
    More,
    /// It is enough.
    Enough,
}

/// Keeps everything up to a length.
struct Whole {
    data: Vec<u8>,
    limit: usize,
}

impl Sink for Whole {
    fn take(&mut self, piece: &[u8]) -> Wanted {
        self.data.extend_from_slice(piece);
        if self.data.len() > self.limit { Wanted::Enough } else { Wanted::More }
    }
}

/// What zlib packed; `None` when it is damaged or longer than `limit` bytes.
pub(crate) fn zlib(packed: &[u8], limit: usize) -> Option<Vec<u8>> {
    let mut whole = Whole { data: Vec::new(), limit };
    deflate(packed.get(2..)?, &mut whole)?;
    (whole.data.len() <= limit).then_some(whole.data)
}

/// What a gzip file holds, where that is all there is to it: nothing stands behind it, and no comment in front of it. `None` where it is
/// damaged or holds more than `limit` bytes.
pub(crate) fn gzip_alone(packed: &[u8], limit: usize) -> Option<Vec<u8>> {
    let (flags, start) = gzip_start(packed)?;
    if flags & (EXTRA | COMMENT) != 0 {
        return None;
    }
    let mut whole = Whole { data: Vec::new(), limit };
    let end = start + deflate(packed.get(start..)?, &mut whole)?;
    let [.., a, b, c, d] = packed.get(end..).filter(|rest| rest.len() == TRAILER)? else { return None };
    let length = u32::from_le_bytes([*a, *b, *c, *d]);
    let is_whole = whole.data.len() <= limit && u32::try_from(whole.data.len()) == Ok(length);
    is_whole.then_some(whole.data)
}

/// What zip packed without a header, of a known length.
pub(crate) fn packed_alone(packed: &[u8], length: usize) -> Option<Vec<u8>> {
    let mut whole = Whole { data: Vec::new(), limit: length };
    deflate(packed, &mut whole)?;
    (whole.data.len() == length).then_some(whole.data)
}

/// Hands what a gzip file holds to a sink; `None` when it is damaged.
pub(crate) fn gzip(packed: &[u8], sink: &mut dyn Sink) -> Option<()> {
    let (_, start) = gzip_start(packed)?;
    deflate(packed.get(start..)?, sink).map(|_| ())
}

/// A sum of the header of a gzip file.
const SUM: u8 = 2;
/// Fields that programs add.
const EXTRA: u8 = 4;
/// The name that a file had.
const NAME: u8 = 8;
/// Words for people.
const COMMENT: u8 = 16;
/// How many bytes stand behind what is packed: a sum, and the length.
const TRAILER: usize = 8;

/// The flags of a gzip file, and where what is packed begins.
fn gzip_start(packed: &[u8]) -> Option<(u8, usize)> {
    let flags = match packed {
        [0x1f, 0x8b, 8, flags, ..] => *flags,
        _ => return None,
    };
    let mut at = 10;
    if flags & EXTRA != 0 {
        let length = usize::from(u16::from_le_bytes([*packed.get(at)?, *packed.get(at + 1)?]));
        at += 2 + length;
    }
    for named in [NAME, COMMENT] {
        if flags & named != 0 {
            at += packed.get(at..)?.iter().position(|byte| *byte == 0)? + 1;
        }
    }
    if flags & SUM != 0 {
        at += 2;
    }
    Some((flags, at))
}

/// Bits, the lowest of each byte first.
struct Bits<'a> {
    data: &'a [u8],
    at: usize,
    held: u32,
    count: u32,
}

impl Bits<'_> {
    fn take(&mut self, count: u32) -> Option<u32> {
        while self.count < count {
            self.held |= u32::from(*self.data.get(self.at)?) << self.count;
            self.at += 1;
            self.count += 8;
        }
        let value = self.held & ((1 << count) - 1);
        self.held >>= count;
        self.count -= count;
        Some(value)
    }

    /// The next symbol of a code.
    fn symbol(&mut self, code: &Code) -> Option<usize> {
        let (mut value, mut first, mut index) = (0_usize, 0_usize, 0_usize);
        for count in code.counts.iter().skip(1) {
            value |= usize::try_from(self.take(1)?).ok()?;
            if value < first + count {
                return code.symbols.get(index + value.checked_sub(first)?).copied();
            }
            index += count;
            first = (first + count) << 1;
            value <<= 1;
        }
        None
    }
}

/// A Huffman code: how many symbols have each length, and the symbols in order.
struct Code {
    counts: [usize; 16],
    symbols: Vec<usize>,
}

impl Code {
    fn new(lengths: &[u8]) -> Self {
        let mut counts = [0_usize; 16];
        let mut symbols = Vec::new();
        for length in 1..16_u8 {
            let of_length = lengths.iter().enumerate().filter(|(_, found)| **found == length);
            let before = symbols.len();
            symbols.extend(of_length.map(|(symbol, _)| symbol));
            if let Some(count) = counts.get_mut(usize::from(length)) {
                *count = symbols.len() - before;
            }
        }
        Self { counts, symbols }
    }
}

const LENGTHS: [(u16, u8); 29] = [
    (3, 0),
    (4, 0),
    (5, 0),
    (6, 0),
    (7, 0),
    (8, 0),
    (9, 0),
    (10, 0),
    (11, 1),
    (13, 1),
    (15, 1),
    (17, 1),
    (19, 2),
    (23, 2),
    (27, 2),
    (31, 2),
    (35, 3),
    (43, 3),
    (51, 3),
    (59, 3),
    (67, 4),
    (83, 4),
    (99, 4),
    (115, 4),
    (131, 5),
    (163, 5),
    (195, 5),
    (227, 5),
    (258, 0),
];
const DISTANCES: [(u16, u8); 30] = [
    (1, 0),
    (2, 0),
    (3, 0),
    (4, 0),
    (5, 1),
    (7, 1),
    (9, 2),
    (13, 2),
    (17, 3),
    (25, 3),
    (33, 4),
    (49, 4),
    (65, 5),
    (97, 5),
    (129, 6),
    (193, 6),
    (257, 7),
    (385, 7),
    (513, 8),
    (769, 8),
    (1025, 9),
    (1537, 9),
    (2049, 10),
    (3073, 10),
    (4097, 11),
    (6145, 11),
    (8193, 12),
    (12289, 12),
    (16385, 13),
    (24577, 13),
];
/// The order in which the lengths of the code for lengths are written.
const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/// What was unpacked and not handed on yet, with as much before it as repetitions may reach.
struct Out<'s> {
    data: Vec<u8>,
    given: usize,
    sink: &'s mut dyn Sink,
}

impl Out<'_> {
    fn settle(&mut self) -> Wanted {
        let wanted = self.sink.take(self.data.get(self.given..).unwrap_or_default());
        let keep = self.data.len().saturating_sub(WINDOW);
        self.data.drain(..keep);
        self.given = self.data.len();
        wanted
    }

    /// Hands on when enough has been gathered. Answers whether more is wanted.
    fn pause(&mut self) -> Wanted {
        if self.data.len() - self.given < CHUNK { Wanted::More } else { self.settle() }
    }
}

/// Unpacks, and returns how many bytes that took.
fn deflate(packed: &[u8], sink: &mut dyn Sink) -> Option<usize> {
    let mut bits = Bits { data: packed, at: 0, held: 0, count: 0 };
    let mut out = Out { data: Vec::new(), given: 0, sink };
    loop {
        let last = bits.take(1)? == 1;
        let wanted = match bits.take(2)? {
            0 => stored(&mut bits, &mut out)?,
            1 => {
                let mut lengths = [8_u8; 288];
                lengths.get_mut(144..256)?.fill(9);
                lengths.get_mut(256..280)?.fill(7);
                block(&mut bits, &Code::new(&lengths), &Code::new(&[5; 30]), &mut out)?
            }
            2 => {
                let (symbols, distances) = codes(&mut bits)?;
                block(&mut bits, &symbols, &distances, &mut out)?
            }
            _ => return None,
        };
        if last || wanted == Wanted::Enough {
            out.settle();
            return Some(bits.at.saturating_sub(usize::try_from(bits.count / 8).ok()?));
        }
    }
}

/// A block that is not packed.
fn stored(bits: &mut Bits<'_>, out: &mut Out<'_>) -> Option<Wanted> {
    (bits.held, bits.count) = (0, 0);
    let length = u16::from_le_bytes([*bits.data.get(bits.at)?, *bits.data.get(bits.at + 1)?]);
    let start = bits.at + 4;
    bits.at = start + usize::from(length);
    out.data.extend_from_slice(bits.data.get(start..bits.at)?);
    Some(out.pause())
}

/// The codes that a block brings along.
fn codes(bits: &mut Bits<'_>) -> Option<(Code, Code)> {
    let mut count = |width, least: usize| Some(usize::try_from(bits.take(width)?).ok()? + least);
    let (symbols, distances, written) = (count(5, 257)?, count(5, 1)?, count(4, 4)?);
    let mut lengths = [0_u8; 19];
    for place in ORDER.iter().take(written) {
        *lengths.get_mut(*place)? = u8::try_from(bits.take(3)?).ok()?;
    }
    let code = Code::new(&lengths);
    let mut lengths: Vec<u8> = Vec::with_capacity(symbols + distances);
    while lengths.len() < symbols + distances {
        let (value, times) = match bits.symbol(&code)? {
            16 => (*lengths.last()?, 3 + bits.take(2)?),
            17 => (0, 3 + bits.take(3)?),
            18 => (0, 11 + bits.take(7)?),
            length => (u8::try_from(length).ok()?, 1),
        };
        lengths.extend(std::iter::repeat_n(value, usize::try_from(times).ok()?));
    }
    let behind = lengths.get(symbols..symbols + distances)?;
    Some((Code::new(lengths.get(..symbols)?), Code::new(behind)))
}

fn block(bits: &mut Bits<'_>, symbols: &Code, distances: &Code, out: &mut Out<'_>) -> Option<Wanted> {
    loop {
        match bits.symbol(symbols)? {
            byte @ 0..256 => out.data.push(u8::try_from(byte).ok()?),
            256 => return Some(Wanted::More),
            symbol => {
                let (length, extra) = *LENGTHS.get(symbol - 257)?;
                let length = usize::from(length) + usize::try_from(bits.take(u32::from(extra))?).ok()?;
                let (distance, extra) = *DISTANCES.get(bits.symbol(distances)?)?;
                let distance = usize::from(distance) + usize::try_from(bits.take(u32::from(extra))?).ok()?;
                let from = out.data.len().checked_sub(distance)?;
                for place in from..from + length {
                    let byte = *out.data.get(place)?;
                    out.data.push(byte);
                }
            }
        }
        if out.pause() == Wanted::Enough {
            return Some(Wanted::Enough);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    /// What the real gzip makes of data.
    fn packed(data: &[u8], level: &str) -> Vec<u8> {
        let mut child = Command::new("gzip")
            .args(["-c", level])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        let data = data.to_vec();
        let writer = std::thread::spawn(move || input.write_all(&data).unwrap());
        let packed = child.wait_with_output().unwrap().stdout;
        writer.join().unwrap();
        packed
    }

    fn unpacked(packed: &[u8]) -> Option<Vec<u8>> {
        let mut whole = Whole { data: Vec::new(), limit: 16 * 1024 * 1024 };
        gzip(packed, &mut whole).map(|()| whole.data)
    }

    #[test]
    fn what_gzip_packs_comes_back() {
        let mut noise = 7_u32;
        let mut next = || {
            noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (noise >> 24) as u8
        };
        let random: Vec<u8> = (0..200_000).map(|_| next()).collect();
        let text: Vec<u8> = (0..300_000).map(|_| b"abcdef\n "[usize::from(next()) % 8]).collect();
        let zeros = vec![0; 500_000];
        for data in [&b""[..], b"x", &random, &text, &zeros] {
            for level in ["-1", "-6", "-9"] {
                assert_eq!(
                    unpacked(&packed(data, level)).as_deref(),
                    Some(data),
                    "{} bytes {level}",
                    data.len()
                );
            }
        }
    }

    #[test]
    fn damaged_data_gives_nothing_and_ends() {
        let whole = packed(&b"some text, some text, some other text".repeat(50), "-6");
        for cut in 0..whole.len() - 8 {
            assert_eq!(unpacked(&whole[..cut]), None, "{cut}");
        }
        for place in 10..whole.len() {
            let mut changed = whole.clone();
            changed[place] ^= 0x55;
            let _ = unpacked(&changed);
        }
    }
}
