//! Where reverts began: a call that failed hands on what it reverted with, until one handles it or the transaction
//! fails.

use std::collections::HashMap;

use trawl_core::primitives::Address;

/// A call that failed, of one transaction.
#[derive(Debug, Clone, Copy)]
pub(super) struct FailedCall<'c> {
    /// Block and position of the transaction.
    pub transaction: (u64, u32),
    /// Which child at each depth, from the outermost call on.
    pub path: &'c [u32],
    /// Whose code ran; none of a creation.
    pub code: Option<Address>,
    /// What it reverted with.
    pub output: &'c [u8],
}

/// Calls that failed with the same, each because of the one below it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct RevertChains {
    /// The chain of each call.
    pub of_call: Vec<usize>,
    /// Of each chain the contracts whose code ran, from where the revert began outwards, each once.
    pub contracts: Vec<Vec<Address>>,
}

/// The transaction, the path, and the output.
type Key<'c> = ((u64, u32), &'c [u32], &'c [u8]);

impl RevertChains {
    /// Those of `calls`, which come in order of execution: one before those that it made.
    pub fn of(calls: &[FailedCall<'_>]) -> Self {
        let mut chains = Self { of_call: vec![0; calls.len()], contracts: Vec::new() };
        // Of the calls that failed with the same below one, the last made it fail.
        let mut last_below: HashMap<Key<'_>, usize> = HashMap::new();
        for (position, call) in calls.iter().enumerate().rev() {
            let below = last_below.get(&(call.transaction, call.path, call.output)).copied();
            let chain = below.unwrap_or_else(|| {
                chains.contracts.push(Vec::new());
                chains.contracts.len() - 1
            });
            chains.of_call[position] = chain;
            let contracts = &mut chains.contracts[chain];
            contracts.extend(call.code.filter(|code| !contracts.contains(code)));
            if let Some((_, above)) = call.path.split_last() {
                last_below.entry((call.transaction, above, call.output)).or_insert(chain);
            }
        }
        chains
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_revert_began_in_the_last_call_that_failed_with_the_same() {
        let call = |path: &'static [u32], code: u8, output: &'static [u8]| FailedCall {
            transaction: (1, 0),
            path,
            code: (code > 0).then(|| Address::repeat_byte(code)),
            output,
        };
        let calls = [
            call(&[], 1, b"deep"),
            // Failed with the same, and was caught: the one after it made the outermost fail.
            call(&[0], 2, b"deep"),
            call(&[1], 3, b"deep"),
            // Delegated by 3, and again below: each contract is named once.
            call(&[1, 0], 4, b"deep"),
            call(&[1, 0, 2], 3, b"deep"),
            // Failed with something else, and was caught.
            call(&[1, 0, 2, 0], 5, b"other"),
            call(&[2], 0, b"other"),
        ];
        let chains = RevertChains::of(&calls);
        let contracts: Vec<Vec<u8>> = chains
            .of_call
            .iter()
            .map(|chain| chains.contracts[*chain].iter().map(|contract| contract[0]).collect())
            .collect();
        let deep = vec![3, 4, 1];
        assert_eq!(contracts, [deep.clone(), vec![2], deep.clone(), deep.clone(), deep, vec![5], vec![]]);
        let elsewhere = FailedCall { transaction: (1, 1), ..calls[1] };
        assert_eq!(RevertChains::of(&[calls[0], elsewhere]).contracts.len(), 2, "of another transaction");
    }
}
