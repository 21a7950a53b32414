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
/// The hashes of `messages`, in their order.
#[must_use]
pub fn keccak256_all(messages: &[&[u8]]) -> Vec<B256> {
    if !has_wide_registers() {
        return messages.iter().map(keccak256).collect();
    }
    let mut hashes = vec![B256::ZERO; messages.len()];
    // The longest first: what is left for the end is short, and no lane idles for long.
    let mut order: Vec<usize> = (0..messages.len()).collect();
    order.sort_unstable_by_key(|&position| std::cmp::Reverse(blocks(messages[position])));
    let mut left: usize = messages.iter().map(|message| blocks(message)).sum();
    // One that is longer than all others together can keep busy goes by itself.
    let alone = order.iter().take_while(|&&position| {
        let own = blocks(messages[position]);
        let is_alone = own * LANES > left;
        left -= own;
        is_alone
    });
    let alone = alone.count();
    for &position in &order[..alone] {
        hashes[position] = keccak256(messages[position]);
    }
    wide(messages, &order[alone..], &mut hashes);
    hashes
}

/// How many permutations a message takes.
fn blocks(message: &[u8]) -> usize {
    message.len() / RATE + 1
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

/// Hashes the messages of `order`; a lane that is through with one takes the next.
fn wide(messages: &[&[u8]], order: &[usize], hashes: &mut [B256]) {
    let mut state: State = [[0; LANES]; 25];
    let mut waiting = order.iter().copied();
    let next = |waiting: &mut dyn Iterator<Item = usize>| waiting.next().map(|position| (position, messages[position]));
    let mut lanes: [Option<(usize, &[u8])>; LANES] = std::array::from_fn(|_| next(&mut waiting));
    while lanes.iter().any(Option::is_some) {
        for (lane, (_, rest)) in lanes.iter().enumerate().filter_map(|(lane, taken)| Some((lane, (*taken)?))) {
            absorb(&mut state, lane, rest);
        }
        permute(&mut state);
        for (lane, taken) in lanes.iter_mut().enumerate() {
            match taken {
                Some((_, rest)) if rest.len() >= RATE => *rest = &rest[RATE..],
                Some((position, _)) => {
                    for (word, bytes) in hashes[*position].chunks_exact_mut(8).enumerate() {
                        bytes.copy_from_slice(&state[word][lane].to_le_bytes());
                    }
                    state.iter_mut().for_each(|word| word[lane] = 0);
                    *taken = next(&mut waiting);
                }
                None => {}
            }
        }
    }
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
    // SAFETY: only `wide` calls this, after `has_wide_registers` has seen the feature.
    unsafe { avx2::permutation(state) }
}

#[cfg(not(target_arch = "x86_64"))]
fn permute(_: &mut State) {
    unreachable!("without wide registers messages are hashed one by one")
}

/// The permutation of 1,600 bits on four states at once, a lane of all four in one register.
#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::{
        __m256i, _mm256_andnot_si256, _mm256_or_si256, _mm256_set1_epi64x, _mm256_slli_epi64, _mm256_srli_epi64,
        _mm256_xor_si256,
    };

    use super::{ROUND_CONSTANTS, State};

    macro_rules! rotate {
        ($word:expr, $by:literal) => {
            _mm256_or_si256(_mm256_slli_epi64::<$by>($word), _mm256_srli_epi64::<{ 64 - $by }>($word))
        };
    }

    /// ρ and π: every lane moves and turns by amounts of its own, written out so that they are constants.
    macro_rules! turn {
        ($from:ident, $to:ident, $($target:literal <- $source:literal by $by:literal),*) => {
            $($to[$target] = rotate!($from[$source], $by);)*
        };
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn permutation(state: &mut State) {
        // SAFETY: both are 25 times 32 bytes, and every bit pattern is valid in both.
        let mut lanes = unsafe { std::mem::transmute::<State, [__m256i; 25]>(*state) };
        for constant in ROUND_CONSTANTS {
            round(&mut lanes, constant.cast_signed());
        }
        // SAFETY: as above.
        *state = unsafe { std::mem::transmute::<[__m256i; 25], State>(lanes) };
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn round(a: &mut [__m256i; 25], constant: i64) {
        let mut c = [a[0]; 5];
        for x in 0..5 {
            let low = _mm256_xor_si256(_mm256_xor_si256(a[x], a[x + 5]), a[x + 10]);
            c[x] = _mm256_xor_si256(_mm256_xor_si256(low, a[x + 15]), a[x + 20]);
        }
        for x in 0..5 {
            let change = _mm256_xor_si256(c[(x + 4) % 5], rotate!(c[(x + 1) % 5], 1));
            for y in 0..5 {
                a[x + 5 * y] = _mm256_xor_si256(a[x + 5 * y], change);
            }
        }
        let mut b = [a[0]; 25];
        turn!(
            a, b,
            1 <- 6 by 44, 2 <- 12 by 43, 3 <- 18 by 21, 4 <- 24 by 14,
            5 <- 3 by 28, 6 <- 9 by 20, 7 <- 10 by 3, 8 <- 16 by 45,
            9 <- 22 by 61, 10 <- 1 by 1, 11 <- 7 by 6, 12 <- 13 by 25,
            13 <- 19 by 8, 14 <- 20 by 18, 15 <- 4 by 27, 16 <- 5 by 36,
            17 <- 11 by 10, 18 <- 17 by 15, 19 <- 23 by 56, 20 <- 2 by 62,
            21 <- 8 by 55, 22 <- 14 by 39, 23 <- 15 by 41, 24 <- 21 by 2
        );
        for y in 0..5 {
            for x in 0..5 {
                let others = _mm256_andnot_si256(b[(x + 1) % 5 + 5 * y], b[(x + 2) % 5 + 5 * y]);
                a[x + 5 * y] = _mm256_xor_si256(b[x + 5 * y], others);
            }
        }
        a[0] = _mm256_xor_si256(a[0], _mm256_set1_epi64x(constant));
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
            let expected: Vec<B256> = slices.iter().map(keccak256).collect();
            prop_assert_eq!(keccak256_all(&slices), expected);
        }
    }

    #[test]
    fn lengths_around_a_block() {
        let bytes = [7; 3 * RATE];
        let messages: Vec<&[u8]> = (0..bytes.len()).map(|length| &bytes[..length]).collect();
        let expected: Vec<B256> = messages.iter().map(keccak256).collect();
        assert_eq!(keccak256_all(&messages), expected);
    }
}
