//! What can be checked of a block, each check under its name.

macro_rules! checks {
    ($($(#[$meta:meta])* $Check:ident = $name:literal,)*) => {
        /// What can be checked of a block.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Check {
            $($(#[$meta])* $Check,)*
        }

        impl Check {
            /// The names of all, and of the failure to read a block at all.
            #[must_use]
            pub fn names() -> Vec<&'static str> {
                vec!["decode", $($name,)*]
            }

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
    /// The hash over the requests of the execution layer (EIP-7685).
    RequestsHash = "requests hash",
    /// What the JSON of a chain's own transaction type repeats of block and transaction.
    RepeatedField = "repeated field",
    /// Fields of a chain's own that no hash covers.
    OwnFields = "fields of the chain's own",
    /// Transactions that stand in no root.
    OutsideRoots = "transactions outside of the roots",
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
    /// be checked is proven all the same, and so is one with fields or transactions that its chain hashes nowhere.
    pub(super) fn proves_rows(self) -> bool {
        use Check::{BlockSize, ChildLink, OutsideRoots, OwnFields, ParentHash, RequestsHash, TotalDifficulty};
        let proves_none = [ParentHash, ChildLink, RequestsHash, BlockSize, TotalDifficulty, OwnFields, OutsideRoots];
        !proves_none.contains(&self)
    }
}
