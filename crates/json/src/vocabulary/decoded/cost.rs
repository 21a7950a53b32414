//! The size of decoded data, computed before decoding.
//!
//! Offsets may point to the same bytes again and again, so that a few kilobytes become billions of values. An honest
//! encoder writes every value once, so a decoder reads about as many 32-byte words as there are.

use alloy_dyn_abi::DynSolType;

/// Whether decoding `data` as parameters of these types reads about as many words as the data has.
pub(crate) fn is_honest(types: &[DynSolType], data: &[u8]) -> bool {
    // Some encoders deduplicate equal parts.
    let mut left = 2 * (data.len() / 32) + 64;
    sequence(types.iter(), data, 0, &mut left).is_some()
}

/// Reads values one after another from `base` on; offsets count from there.
fn sequence<'t>(types: impl Iterator<Item = &'t DynSolType>, data: &[u8], base: usize, left: &mut usize) -> Option<()> {
    let mut head = base;
    for ty in types {
        if ty.is_dynamic() {
            spend(left, 1)?;
            pointed(ty, data, base.checked_add(length(data, head)?)?, left)?;
            head = head.checked_add(32)?;
        } else {
            let words = ty.minimum_words();
            spend(left, words)?;
            head = head.checked_add(words.checked_mul(32)?)?;
        }
    }
    Some(())
}

/// Reads a value at an offset.
fn pointed(ty: &DynSolType, data: &[u8], at: usize, left: &mut usize) -> Option<()> {
    let items = || at.checked_add(32);
    match ty {
        DynSolType::Bytes | DynSolType::String => spend(left, length(data, at)?.div_ceil(32).checked_add(1)?),
        DynSolType::Array(inner) => {
            spend(left, 1)?;
            repeated(inner, length(data, at)?, data, items()?, left)
        }
        DynSolType::FixedArray(inner, count) => repeated(inner, *count, data, at, left),
        DynSolType::Tuple(types) => sequence(types.iter(), data, at, left),
        _ => None,
    }
}

fn repeated(inner: &DynSolType, count: usize, data: &[u8], base: usize, left: &mut usize) -> Option<()> {
    if inner.is_dynamic() {
        // Checked before the loop, so that a length without items ends here.
        (count <= *left).then_some(())?;
        return sequence(std::iter::repeat_n(inner, count), data, base, left);
    }
    spend(left, count.checked_mul(inner.minimum_words().max(1))?)
}

fn spend(left: &mut usize, words: usize) -> Option<()> {
    *left = left.checked_sub(words)?;
    Some(())
}

/// The number in the word at a position.
fn length(data: &[u8], at: usize) -> Option<usize> {
    let word = data.get(at..at.checked_add(32)?)?;
    let (high, low) = word.split_at(24);
    high.iter().all(|byte| *byte == 0).then_some(())?;
    usize::try_from(u64::from_be_bytes(low.try_into().ok()?)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloy_dyn_abi::DynSolValue;
    use alloy_primitives::U256;

    fn words(numbers: &[u64]) -> Vec<u8> {
        numbers.iter().flat_map(|number| U256::from(*number).to_be_bytes::<32>()).collect()
    }

    #[test]
    fn lists_that_share_one_position_many_times_are_not_honest() {
        let ty: DynSolType = "uint256[][][]".parse().expect("a type");
        // A list of 100 lists, all of them the next one, which is 100 times the last.
        let mut numbers = vec![32, 100];
        numbers.extend([100 * 32; 100]);
        numbers.push(100);
        numbers.extend([100 * 32; 100]);
        numbers.push(100);
        numbers.extend([7; 100]);
        assert!(!is_honest(std::slice::from_ref(&ty), &words(&numbers)));
        assert!(!is_honest(&[ty], &words(&[32, u64::MAX])));
        let text: DynSolType = "bytes[]".parse().expect("a type");
        let mut shared = vec![32, 50];
        shared.extend([50 * 32; 50]);
        shared.push(64 * 32);
        shared.extend([0; 64]);
        assert!(!is_honest(&[text], &words(&shared)));
    }

    #[test]
    fn the_output_of_an_encoder_is_honest() {
        let ty: DynSolType = "(uint256[],string[2],(bytes,uint8)[],bytes32[3])".parse().expect("a type");
        let number = |number: u64| DynSolValue::Uint(U256::from(number), 256);
        let text = |length: usize| DynSolValue::String("x".repeat(length));
        let value = DynSolValue::Tuple(vec![
            DynSolValue::Array((0..200).map(number).collect()),
            DynSolValue::FixedArray(vec![text(0), text(100)]),
            DynSolValue::Array(vec![
                DynSolValue::Tuple(vec![
                    DynSolValue::Bytes(vec![1; 65]),
                    DynSolValue::Uint(U256::ZERO, 8)
                ]);
                40
            ]),
            DynSolValue::FixedArray(vec![DynSolValue::FixedBytes(alloy_primitives::B256::ZERO, 32); 3]),
        ]);
        let DynSolType::Tuple(types) = ty else { panic!("a tuple") };
        assert!(is_honest(&types, &value.abi_encode_params()));
        assert!(is_honest(&[], &[]));
    }
}
