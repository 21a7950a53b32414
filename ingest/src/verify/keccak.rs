//! Keccak-256 of many messages: four at a time where the processor has 256-bit registers.
//!
//! Trie leaves and transactions are independent messages of similar length, so four of them share one permutation. The
//! permutation is that of FIPS 202, <https://keccak.team/keccak_specs_summary.html>; single messages go through alloy.

use alloy_primitives::{B256, keccak256};

/// Bytes that one permutation of Keccak-256 takes in.
const RATE: usize = 136;
/// Messages that share a permutation.
const LANES: usize = 4;

const ROUND_CONSTANTS: [u64; 24] = [
    0x0000_0000_0000_0001,
    0x0000_0000_0000_8082,
    0x8000_0000_0000_808a,
    0x8000_0000_8000_8000,
    0x0000_0000_0000_808b,
    0x0000_0000_8000_0001,
    0x8000_0000_8000_8081,
    0x8000_0000_0000_8009,
    0x0000_0000_0000_008a,
    0x0000_0000_0000_0088,
    0x0000_0000_8000_8009,
    0x0000_0000_8000_000a,
    0x0000_0000_8000_808b,
    0x8000_0000_0000_008b,
    0x8000_0000_0000_8089,
    0x8000_0000_0000_8003,
    0x8000_0000_0000_8002,
    0x8000_0000_0000_0080,
    0x0000_0000_0000_800a,
    0x8000_0000_8000_000a,
    0x8000_0000_8000_8081,
    0x8000_0000_0000_8080,
    0x0000_0000_8000_0001,
    0x8000_0000_8000_8008,
];
/// Rotation of each step of ρ, in the order in which π visits the lanes.
const ROTATIONS: [u32; 24] =
    [1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 2, 14, 27, 41, 56, 8, 25, 43, 62, 18, 39, 61, 20, 44];
/// The lanes π visits, beginning after lane 1.
const PATH: [usize; 24] = [10, 7, 11, 17, 18, 3, 5, 16, 8, 21, 24, 4, 15, 23, 19, 13, 12, 2, 20, 14, 22, 9, 6, 1];

/// The hashes of `messages`, in their order.
#[must_use]
pub fn keccak256_all(messages: &[&[u8]]) -> Vec<B256> {
    if !has_wide_registers() {
        return messages.iter().map(keccak256).collect();
    }
    let mut hashes = vec![B256::ZERO; messages.len()];
    // Messages of one length in blocks share their permutations to the end.
    let mut order: Vec<usize> = (0..messages.len()).collect();
    order.sort_unstable_by_key(|&position| messages[position].len() / RATE);
    for four in order.chunks(LANES) {
        match <[usize; LANES]>::try_from(four) {
            Ok(four) => {
                let group = four.map(|position| messages[position]);
                for (position, hash) in four.into_iter().zip(wide(group)) {
                    hashes[position] = hash;
                }
            }
            Err(_) => four.iter().for_each(|&position| hashes[position] = keccak256(messages[position])),
        }
    }
    hashes
}

#[cfg(target_arch = "x86_64")]
fn has_wide_registers() -> bool {
    std::arch::is_x86_feature_detected!("avx2")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_wide_registers() -> bool {
    false
}

type State = [[u64; LANES]; 25];

/// Hashes four messages; those that are through wait for the longest.
fn wide(messages: [&[u8]; LANES]) -> [B256; LANES] {
    let mut state: State = [[0; LANES]; 25];
    let mut hashes = [B256::ZERO; LANES];
    let blocks = messages.map(|message| message.len() / RATE + 1);
    let longest = blocks.into_iter().max().unwrap_or(0);
    for block in 0..longest {
        for (lane, message) in messages.iter().enumerate().filter(|(lane, _)| block < blocks[*lane]) {
            absorb(&mut state, lane, &message[block * RATE..]);
        }
        permute(&mut state);
        for lane in (0..LANES).filter(|lane| block + 1 == blocks[*lane]) {
            for (word, bytes) in hashes[lane].chunks_exact_mut(8).enumerate() {
                bytes.copy_from_slice(&state[word][lane].to_le_bytes());
            }
        }
    }
    hashes
}

/// Takes in the next block of a message, padded if it is the last.
fn absorb(state: &mut State, lane: usize, rest: &[u8]) {
    let mut padded = [0; RATE];
    let block = match rest.first_chunk::<RATE>() {
        Some(block) => block,
        None => {
            padded[..rest.len()].copy_from_slice(rest);
            padded[rest.len()] ^= 0x01;
            padded[RATE - 1] ^= 0x80;
            &padded
        }
    };
    for (word, bytes) in block.as_chunks::<8>().0.iter().enumerate() {
        state[word][lane] ^= u64::from_le_bytes(*bytes);
    }
}

#[cfg(target_arch = "x86_64")]
fn permute(state: &mut State) {
    #[target_feature(enable = "avx2")]
    fn with_wide_registers(state: &mut State) {
        permutation(state);
    }
    // SAFETY: only `wide` calls this, after `has_wide_registers` has seen the feature.
    unsafe { with_wide_registers(state) }
}

#[cfg(not(target_arch = "x86_64"))]
fn permute(state: &mut State) {
    permutation(state);
}

#[inline(always)]
fn xor(a: [u64; LANES], b: [u64; LANES]) -> [u64; LANES] {
    std::array::from_fn(|lane| a[lane] ^ b[lane])
}

#[inline(always)]
fn rotate(a: [u64; LANES], by: u32) -> [u64; LANES] {
    a.map(|word| word.rotate_left(by))
}

/// Keccak-f[1600] on four states at once; the compiler keeps the four words of a lane in one register.
#[inline(always)]
fn permutation(state: &mut State) {
    for constant in ROUND_CONSTANTS {
        let parity: [[u64; LANES]; 5] =
            std::array::from_fn(|x| (1..5).fold(state[x], |sum, y| xor(sum, state[x + 5 * y])));
        for x in 0..5 {
            let change = xor(parity[(x + 4) % 5], rotate(parity[(x + 1) % 5], 1));
            for y in 0..5 {
                state[x + 5 * y] = xor(state[x + 5 * y], change);
            }
        }
        let mut moving = state[1];
        for (target, rotation) in PATH.into_iter().zip(ROTATIONS) {
            (moving, state[target]) = (state[target], rotate(moving, rotation));
        }
        for row in state.as_chunks_mut::<5>().0 {
            let before = *row;
            for x in 0..5 {
                row[x] = std::array::from_fn(|lane| {
                    before[x][lane] ^ (!before[(x + 1) % 5][lane] & before[(x + 2) % 5][lane])
                });
            }
        }
        state[0] = xor(state[0], [constant; LANES]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn equals_the_library(messages in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..700), 0..14)) {
            let slices: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
            let wanted: Vec<B256> = slices.iter().map(keccak256).collect();
            prop_assert_eq!(keccak256_all(&slices), wanted);
        }
    }

    #[test]
    fn lengths_around_a_block() {
        let bytes = [7; 3 * RATE];
        let messages: Vec<&[u8]> = (0..bytes.len()).map(|length| &bytes[..length]).collect();
        let wanted: Vec<B256> = messages.iter().map(keccak256).collect();
        assert_eq!(keccak256_all(&messages), wanted);
    }
}
