//! Refuses blocks that contradict themselves or their neighbours, and says what was proven of the others. Pure.
//!
//! What a block's hash commits to is recomputed: the hash from the header, the roots from the bodies, the senders from
//! the signatures. What no hash covers is compared with what it follows from.

use trawl_core::schema::NotCheckable as NotCheckableRow;

use crate::block::{Block, Header};

pub mod blooms;
mod bodies;
mod header;
pub mod keccak;
pub mod links;
pub mod receipts;
mod structure;
#[cfg(test)]
mod tests;
pub mod traces;
mod transactions;
pub mod trie;

/// How much is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Everything.
    Full,
    /// That parts fit each other, and the hash and links of headers; no roots, no senders.
    Header,
    /// That parts fit each other, without which rows could not be written.
    Off,
}

macro_rules! checks {
    ($($(#[$meta:meta])* $Check:ident = $name:literal,)*) => {
        /// What can be checked of a block.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Check {
            $($(#[$meta])* $Check,)*
        }

        impl Check {
            /// Its name in messages and in `block_verdicts`.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$Check => $name,)*
                }
            }
        }
    };
}

checks! {
    /// Transactions count from 0 without a gap.
    TransactionIndex = "transaction index",
    /// As many receipts as transactions.
    ReceiptCount = "number of receipts",
    /// A receipt names its transaction.
    ReceiptTransaction = "transaction hash of a receipt",
    /// A receipt names its block.
    ReceiptBlock = "block hash of a receipt",
    /// A receipt's cumulative gas is the sum so far.
    CumulativeGas = "cumulative gas of a receipt",
    /// Logs count from 0 through the block without a gap.
    LogIndex = "log index",
    /// A log has at most four topics.
    LogTopics = "topics of a log",
    /// The header's gas is the sum of all.
    GasUsed = "gas used",
    /// As many uncle headers as hashes.
    UncleCount = "number of uncle headers",
    /// An uncle's header has the hash that is listed.
    UncleHash = "hash of an uncle",
    /// The block's hash is that of its header.
    HeaderHash = "header hash",
    /// It names the block below it.
    ParentHash = "parent hash",
    /// It is the one the block above it names.
    ChildLink = "hash known to the block above",
    /// Its total difficulty is that of the block below and its own.
    TotalDifficulty = "total difficulty",
    /// A transaction's hash is that of its bytes.
    TransactionHash = "transaction hash",
    /// A transaction's sender is who signed it.
    Sender = "sender",
    /// EIP-2718 transactions trie.
    TransactionsRoot = "transactions root",
    /// EIP-2718 receipts trie.
    ReceiptsRoot = "receipts root",
    /// The header's bloom filter is that of all logs.
    LogsBloom = "logs bloom",
    /// EIP-4895 withdrawals trie.
    WithdrawalsRoot = "withdrawals root",
    /// The hash over all uncle headers.
    UnclesHash = "uncles hash",
    /// The size is that of the encoded block.
    BlockSize = "block size",
    /// Of traces: block hash of a trace.
    TraceBlockHashTrace = "block hash of a trace",
    /// Of traces: contract of the outermost frame.
    TraceContractOutermostFrame = "contract of the outermost frame",
    /// Of traces: gas used by the outermost frame.
    TraceGasUsedOutermostFrame = "gas used by the outermost frame",
    /// Of traces: hash of the input of the outermost frame.
    TraceHashInputOutermostFrame = "hash of the input of the outermost frame",
    /// Of traces: number of traces.
    TraceNumberOfTraces = "number of traces",
    /// Of traces: outcome of the outermost frame.
    TraceOutcomeOutermostFrame = "outcome of the outermost frame",
    /// Of traces: outermost frames of a trace.
    TraceOutermostFramesTrace = "outermost frames of a trace",
    /// Of traces: path of a frame.
    TracePathFrame = "path of a frame",
    /// Of traces: recipient of the outermost frame.
    TraceRecipientOutermostFrame = "recipient of the outermost frame",
    /// Of traces: sender of the outermost frame.
    TraceSenderOutermostFrame = "sender of the outermost frame",
    /// Of traces: subtraces of a frame.
    TraceSubtracesFrame = "subtraces of a frame",
    /// Of traces: transaction hash of a trace.
    TraceTransactionHashTrace = "transaction hash of a trace",
    /// Of traces: type of the outermost frame.
    TraceTypeOutermostFrame = "type of the outermost frame",
    /// Of traces: value of the outermost frame.
    TraceValueOutermostFrame = "value of the outermost frame",
    /// Every transaction has its trace, a whole tree that fits transaction and receipt.
    Traces = "traces",
    /// Block 0 has the state that its allocation gives.
    GenesisState = "state root of the genesis allocation",
    /// EIP-7685.
    RequestsHash = "requests hash",
    /// The price paid is what signature and base fee give.
    EffectiveGasPrice = "effective gas price",
    /// A created contract has the address that sender and nonce give.
    ContractAddress = "contract address",
    /// EIP-4844: blob gas follows from the number of blobs.
    BlobGas = "blob gas",
    /// Of what is stored: its rows are those that it turns into.
    Rows = "stored rows",
    /// EIP-4844: the blob price follows from the header.
    BlobGasPrice = "blob gas price",
}

impl Check {
    /// Whether what the hash commits to rests on it: a block whose links, requests, size or sum of difficulties cannot
    /// be checked is proven all the same.
    fn proves_rows(self) -> bool {
        use Check::{BlockSize, ChildLink, ParentHash, RequestsHash, TotalDifficulty};
        !matches!(self, ParentHash | ChildLink | RequestsHash | BlockSize | TotalDifficulty)
    }
}

/// A block that is refused: which check, what was expected, what was found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("block {number} is refused: {}: expected {expected}, found {found}", check.name())]
pub struct VerifyError {
    /// Height of the block.
    pub number: u64,
    /// The check.
    pub check: Check,
    /// What the check asks for.
    pub expected: String,
    /// What the block has.
    pub found: String,
}

/// Why a check cannot run.
#[derive(Debug, Clone, PartialEq, Eq)]
struct NotCheckable(String);

/// What was checked of a block that is not refused.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outcome {
    held: Vec<Check>,
    not_checkable: Vec<(Check, String)>,
    /// Bytes of the encoded block, where all of it could be encoded.
    pub size: Option<u64>,
}

impl Outcome {
    /// Notes a check that ran and held.
    pub fn held(&mut self, check: Check) {
        if !self.held.contains(&check) {
            self.held.push(check);
        }
    }

    /// Notes a check that applies and cannot run.
    pub fn not_checkable(&mut self, check: Check, reason: &str) {
        self.held.retain(|held| *held != check);
        if self.not_checkable.iter().all(|(other, _)| *other != check) {
            self.not_checkable.push((check, reason.into()));
        }
    }

    /// Names of the checks that held, in the order they ran.
    #[must_use]
    pub fn checked(&self) -> Vec<String> {
        self.held.iter().map(|check| check.name().into()).collect()
    }

    /// Checks that could not run, with the reasons.
    #[must_use]
    pub fn impossible(&self) -> Vec<NotCheckableRow> {
        let row =
            |(check, reason): &(Check, String)| NotCheckableRow { check: check.name().into(), reason: reason.clone() };
        self.not_checkable.iter().map(row).collect()
    }

    /// The word for it in `block_verdicts`.
    #[must_use]
    pub fn verdict(&self, depth: Depth) -> &'static str {
        let is_whole = self.not_checkable.iter().all(|(check, _)| !check.proves_rows());
        match depth {
            Depth::Off => "unverified",
            Depth::Full if is_whole => "verified",
            Depth::Full | Depth::Header => "partial",
        }
    }
}

/// Compares two values of a block under the name of a check.
fn same<T: PartialEq + ToString>(block: &Block, check: Check, expected: &T, found: &T) -> Result<(), VerifyError> {
    if expected == found {
        return Ok(());
    }
    refuse(block, check, expected.to_string(), found.to_string())
}

fn refuse<T>(block: &Block, check: Check, expected: String, found: String) -> Result<T, VerifyError> {
    Err(VerifyError { number: block.header.number, check, expected, found })
}

/// Checks one block by itself. Links to its neighbours are checked where the order of blocks is known.
pub fn verify(block: &Block, depth: Depth) -> Result<Outcome, VerifyError> {
    let mut outcome = Outcome::default();
    structure::verify_structure(block, &mut outcome)?;
    if depth != Depth::Off {
        verify_header_hash(block, &block.header, &mut outcome)?;
    }
    if depth == Depth::Header {
        for check in ROOTS {
            outcome.not_checkable(check, "not asked for");
        }
    }
    if depth == Depth::Full {
        let length = transactions::verify_transactions(block, &mut outcome)?;
        outcome.size = length.and_then(|length| bodies::block_size(block, length));
        note_size(block, &mut outcome);
        match &block.receipts {
            Some(found) => {
                receipts::verify_derived(block, found, &mut outcome)?;
                receipts::verify_root(block, found, &mut outcome)?;
            }
            None => outcome.not_checkable(Check::ReceiptsRoot, "the source has no receipts"),
        }
        bodies::verify_withdrawals(block, &mut outcome)?;
        bodies::verify_uncles(block, &mut outcome)?;
        bodies::verify_requests(block, &mut outcome);
    }
    // Last, so that a forged transaction or receipt is named for what it is and not for its trace.
    if block.traces.is_some() && depth != Depth::Off {
        traces::verify_traces(block)?;
        outcome.held(Check::Traces);
    }
    Ok(outcome)
}

/// What [`Depth::Header`] leaves out.
const ROOTS: [Check; 7] = [
    Check::TransactionHash,
    Check::Sender,
    Check::TransactionsRoot,
    Check::ReceiptsRoot,
    Check::LogsBloom,
    Check::WithdrawalsRoot,
    Check::UnclesHash,
];

/// Nodes do not agree on how to count (anvil leaves out the list of withdrawals), so another size is no refusal.
fn note_size(block: &Block, outcome: &mut Outcome) {
    match (outcome.size, block.header.size) {
        (Some(ours), Some(theirs)) if ours == theirs => outcome.held(Check::BlockSize),
        (Some(ours), Some(theirs)) => {
            let reason = format!("the source counts {theirs} bytes, and the encoded block has {ours}");
            outcome.not_checkable(Check::BlockSize, &reason);
        }
        (None, Some(_)) => outcome.not_checkable(Check::BlockSize, "the block cannot be encoded"),
        (_, None) => {}
    }
}

/// A header with fields that Ethereum does not have may be hashed in a way of its chain's own.
fn verify_header_hash(block: &Block, header: &Header, outcome: &mut Outcome) -> Result<(), VerifyError> {
    match header::header_hash(header) {
        Err(NotCheckable(reason)) => outcome.not_checkable(Check::HeaderHash, &reason),
        Ok(found) if found != header.hash && !header.foreign.is_empty() => {
            let fields = header.foreign.join(", ");
            outcome.not_checkable(Check::HeaderHash, &format!("the header has fields of its own: {fields}"));
        }
        Ok(found) => {
            same(block, Check::HeaderHash, &header.hash, &found)?;
            outcome.held(Check::HeaderHash);
        }
    }
    Ok(())
}
