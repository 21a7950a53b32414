//! How many bytes FastLZ (level 1) makes of others, as the fee of Fjord counts them
//! (<https://specs.optimism.io/protocol/fjord/exec-engine.html>). Nothing is compressed; its blocks are only counted.

/// Entries of the table of positions, by a hash of the three bytes there.
const TABLE_SIZE: usize = 8192;
/// How far back a repetition may begin, in bytes.
const REACH: usize = 8191;
/// The last bytes are always written as they are.
const TAIL: usize = 13;
/// Most bytes of a run that is written as it is.
const MAX_LITERALS: usize = 32;
/// Most bytes of a repetition.
const MAX_MATCH: usize = 262;

/// The size after compression, in bytes.
pub(crate) fn compressed_size(input: &[u8]) -> u64 {
    let end = input.len().saturating_sub(TAIL);
    let mut positions = vec![0_usize; TABLE_SIZE];
    let (mut size, mut written, mut next) = (0, 0, 2);
    while let Some((at, earlier)) = repetition(input, &mut positions, next, end) {
        size += run(at - written);
        // Four bytes of the tail may still belong to the repetition.
        let last = (end + 9).min(input.len());
        let pairs = input[earlier + 3..].iter().zip(&input[at + 3..last]);
        let equal = pairs.take_while(|(one, other)| one == other).count();
        // The comparison counts the byte that ends it, if there is one.
        let is_ended = at + 3 + equal < last;
        let length = equal + usize::from(is_ended);
        size += block(length);
        for position in [at + length, at + length + 1] {
            positions[hash(three(input, position))] = position;
        }
        next = at + length + 2;
        written = next;
    }
    (size + run(input.len() - written)) as u64
}

/// The first position from one on whose three bytes were seen before within reach, and where; none before `end`.
fn repetition(input: &[u8], positions: &mut [usize], from: usize, end: usize) -> Option<(usize, usize)> {
    (from..end).find_map(|at| {
        let bytes = three(input, at);
        let earlier = std::mem::replace(&mut positions[hash(bytes)], at);
        (at + 1 < end && at - earlier <= REACH && bytes == three(input, earlier)).then_some((at, earlier))
    })
}

/// Bytes of a run that is written as it is: one more for each block of it.
fn run(length: usize) -> usize {
    length + length.div_ceil(MAX_LITERALS)
}

/// Bytes of the blocks of a repetition whose length, less three and with what ends it, is given.
fn block(length: usize) -> usize {
    let length = length.saturating_sub(1);
    3 * (length / MAX_MATCH) + if length % MAX_MATCH >= 6 { 3 } else { 2 }
}

fn three(input: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([input[at], input[at + 1], input[at + 2], 0])
}

fn hash(bytes: u32) -> usize {
    (bytes.wrapping_mul(2_654_435_769) >> 19) as usize & (TABLE_SIZE - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloy_primitives::hex;

    /// A call of a contract on OP Mainnet. That it takes 202 bytes is what the reference implementation counts.
    const CONTRACT_CALL: &[u8] = &hex!(
        "02f901550a758302df1483be21b88304743f94f80e51afb613d764fa61751affd3313c190a86bb870151bd62fd12adb8e41ef24f3f000000000000000000000000000000000000000000000000000000000000006e000000000000000000000000af88d065e77c8cc2239327c5edb3a432268e5831000000000000000000000000000000000000000000000000000000000003c1e5000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000a000000000000000000000000000000000000000000000000000000000000000148c89ed219d02f1a5be012c689b4f5b731827bebe000000000000000000000000c001a033fd89cb37c31b2cba46b6466e040c61fc9b2a3675a7f5f493ebd5ad77c497f8a07cdf65680e238392693019b4092f610222e71b7cec06449cb922b93b6a12744e"
    );

    #[test]
    fn sizes_are_those_of_fast_lz() {
        assert_eq!(compressed_size(&[]), 0);
        assert_eq!(compressed_size(&hex!("facade")), 4);
        assert_eq!(compressed_size(&[0; 1000]), 21);
        assert_eq!(compressed_size(&[0xff; 1000]), 21);
        assert_eq!(compressed_size(CONTRACT_CALL), 202);
    }

    #[test]
    fn any_length_has_a_size() {
        let bytes: Vec<u8> = (0..400_u32).map(|number| u8::try_from(number * number % 7).unwrap_or_default()).collect();
        for length in 0..bytes.len() {
            let size = compressed_size(&bytes[..length]);
            assert!(size <= run(length) as u64, "{length}");
        }
    }
}
