//! Why transactions failed (docs/reference/http-contract.md#activity).

use crate::addresses::address::Addresses;
use crate::{JsonWriter, Object};
use trawl_core::primitives::{Address, BlockNumber, U256};

/// Transactions that failed in the same way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The contract that they called; none for creations.
    pub contract: Option<Address>,
    /// The first four bytes of their input; none for creations and shorter inputs.
    pub selector: Option<[u8; 4]>,
    /// The function, if it is known.
    pub signature: Option<String>,
    /// Why they failed; none where call frames are not loaded.
    pub reason: Option<Reason>,
    /// Number of these transactions.
    pub transactions: u64,
    /// Gas that they used, and wei that they paid for it; none if that is not known of one.
    pub gas: Option<(U256, U256)>,
}

/// Why a transaction failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// The error message of the node.
    pub error: String,
    /// The first four bytes of what the code returned; none for less.
    pub selector: Option<[u8; 4]>,
    /// The message in it, if it has one that can be read.
    pub message: Option<String>,
}

/// The basis of the counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailureBasis {
    /// The number of all kinds of failures.
    pub groups: u64,
    /// The last block that was read; none if there is no such block.
    pub block_number: Option<BlockNumber>,
    /// Whether all requested blocks up to this one are loaded, and have the status of their transactions.
    pub is_complete: bool,
}

impl Failure {
    fn write(&self, item: &mut Object<'_>, addresses: &Addresses) {
        item.key("contract").option(self.contract.as_ref(), |writer, contract| addresses.write(writer, contract));
        item.key("method_id").option(self.selector, |writer, selector| writer.hex(&selector));
        item.key("signature").option(self.signature.as_deref(), JsonWriter::string);
        let reason = self.reason.as_ref();
        item.key("error").option(reason.map(|reason| reason.error.as_str()), JsonWriter::string);
        item.key("revert_id").option(reason.and_then(|reason| reason.selector), |writer, id| writer.hex(&id));
        item.key("message").option(reason.and_then(|reason| reason.message.as_deref()), JsonWriter::string);
        item.key("transactions_count").number(self.transactions);
        item.key("gas_used").option(self.gas.map(|gas| gas.0), JsonWriter::decimal_256);
        item.key("fees").option(self.gas.map(|gas| gas.1), JsonWriter::decimal_256);
    }
}

/// The most frequent failures.
#[must_use]
pub fn write_failures(failures: &[Failure], counted: &FailureBasis, addresses: &Addresses) -> Vec<u8> {
    let mut writer = JsonWriter::new();
    writer.object(|answer| {
        answer.key("items").array(|items| {
            failures.iter().for_each(|failure| items.item().object(|item| failure.write(item, addresses)));
        });
        answer.key("items_in_all").number(counted.groups);
        answer.key("block_number").option(counted.block_number, JsonWriter::number);
        answer.key("is_complete").bool(counted.is_complete);
    });
    writer.into_bytes()
}
