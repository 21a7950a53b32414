//! The values that frames show: a delegated call runs with the value of the frame above it, and shows that.

use trawl_core::primitives::{TransactionPosition, U256};
use trawl_core::schema::{Column, InternalTransactionView};

/// The values of frames that come in order of execution.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallValues {
    /// The transaction of the last frame.
    transaction: Option<TransactionPosition>,
    /// The path to the last frame.
    path: Vec<u32>,
    /// The values of the outermost frame and of those on the path, as far as they came.
    above: Vec<Option<U256>>,
}

impl CallValues {
    /// The value of the next frame; `None` of a delegated call if what is above it did not come.
    pub fn next(&mut self, frames: &InternalTransactionView<'_>, row: usize) -> Option<U256> {
        let (block_number, transaction_index) = (frames.block_number[row], frames.transaction_index[row].into());
        let transaction = TransactionPosition { block_number, transaction_index };
        let path = Vec::<u32>::own(Vec::<u32>::get(&frames.trace_address, row));
        let is_delegated = String::get(&frames.call_type, row) == "delegatecall";
        self.of(transaction, path, (!is_delegated).then(|| U256::get(&frames.value, row)))
    }

    /// The value of the frame of a transaction at a path, that has one of its `own` or shares that of the frame above.
    fn of(&mut self, transaction: TransactionPosition, path: Vec<u32>, own: Option<U256>) -> Option<U256> {
        if self.transaction != Some(transaction) {
            *self = Self { transaction: Some(transaction), ..Self::default() };
        }
        let shared = self.path.iter().zip(&path).take_while(|(last, next)| last == next).count();
        self.above.truncate(path.len().min(shared + 1));
        let value = own.or_else(|| self.above.get(path.len().checked_sub(1)?).copied().flatten());
        self.above.resize(path.len(), None);
        self.above.push(value);
        self.path = path;
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delegated_calls_show_the_value_of_the_frame_above() {
        let mut values = CallValues::default();
        let mut of = |index, path: &[u32], own: Option<u64>| {
            let transaction = TransactionPosition { block_number: 9, transaction_index: index };
            values.of(transaction, path.to_vec(), own.map(U256::from)).map(|value| value.to::<u64>())
        };
        for (index, path, own, shown) in [
            (0, &[][..], Some(7), Some(7)),
            (0, &[0], None, Some(7)),
            (0, &[0, 0], None, Some(7)),
            (0, &[0, 1], Some(3), Some(3)),
            (0, &[0, 1, 0], None, Some(3)),
            (0, &[1], None, Some(7)),
            // The frame above did not come: of this transaction, or at this path.
            (1, &[0], None, None),
            (1, &[2], Some(4), Some(4)),
            (1, &[2, 5], None, Some(4)),
            (1, &[3, 5], None, None),
            (1, &[3, 5, 0], None, None),
        ] {
            assert_eq!(of(index, path, own), shown, "{index} {path:?}");
        }
    }
}
