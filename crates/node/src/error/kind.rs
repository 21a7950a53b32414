//! The meaning of a node's error object: codes differ between clients, so messages are read.
//!
//! They are those of geth, Erigon, Nethermind, Reth, Besu, anvil, OpenEthereum and of gateways in front of them.

use crate::error::call::{CallError, METHOD_NOT_FOUND};

/// What an error object means for the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The request or its response is too large.
    TooLarge,
    /// A rate limit is exceeded.
    RateLimited,
    /// The node does not have the method, or does not offer it to this caller.
    NoMethod,
    /// The node has pruned what the call needs of such an old block.
    Pruned,
    /// The node does not know the block.
    UnknownBlock,
    /// The node does not accept the request or its parameters.
    WrongCall,
    /// The node cannot put the parts of a block together.
    Inconsistent,
    /// Another error, which may pass.
    Other,
}

/// Limit exceeded, by <https://eips.ethereum.org/EIPS/eip-1474>.
const LIMIT_EXCEEDED: i64 = -32005;
/// Requested resource not found, by EIP-1474: of a call about a block the block, where the node says no more.
const RESOURCE_NOT_FOUND: (i64, &str) = (-32001, "resource not found");
/// Method not supported, by EIP-1474.
const NOT_SUPPORTED: i64 = -32004;
/// Nodes written with jsonrpsee (Reth and others): the response is larger than they send.
const OVERSIZED_RESPONSE: i64 = -32008;
/// Pruned history, by <https://eips.ethereum.org/EIPS/eip-4444> and the execution APIs.
const PRUNED_HISTORY: i64 = 4444;
/// JSON-RPC: request and parameters that the node does not take. Gateways use it for methods outside the subscription.
const NOT_TAKEN: [i64; 2] = [-32600, -32602];

/// In place of the code, by gateways and nodes without the right module.
const NO_METHOD: [&str; 9] = [
    "does not exist/is not available",
    "method not found",
    "method not supported",
    "method is not available",
    "method is not supported",
    "unsupported method",
    "not whitelisted",
    "not available on the free tier",
    "is disabled",
];

/// Of nodes without old state, old traces or old blocks.
const PRUNED: [&str; 22] = [
    "missing trie node",
    "historical state",
    "historic state",
    "state history",
    "state histories",
    "historical data",
    "history has been pruned",
    "pruned",
    "pruning",
    "old data not available",
    "world state unavailable",
    "state unavailable",
    "state is not available",
    "state not available",
    "state is unavailable",
    "no state available",
    "no state found",
    "no historical",
    "trace is not available",
    "trace unavailable",
    "archive",
    "lowest height",
];

/// Of nodes that do not know a block. Transactions and accounts are not found in the same words, so the block is named.
const UNKNOWN_BLOCK: [&str; 15] = [
    "unknown block",
    "unknown header",
    "header not found",
    "header for hash not found",
    "header could not be found",
    "not currently canonical",
    "not canonical",
    "no canonical",
    "canonical hash not found",
    "blockoutofrange",
    "block height is",
    "block out of range",
    "beyond current head",
    "cannot query unfinalized data",
    "invalid block height",
];

/// Of nodes whose parts of a block do not fit each other: Bor and Erigon, of blocks with a state sync.
const INCONSISTENT: [&str; 2] = ["length mismatch", "less receipts than expected"];

/// Between "block" and one of these stands at most the number or hash.
const NOT_FOUND: [&str; 6] =
    ["not found", "could not be found", "cannot be found", "cannot find", "does not exist", "not available"];

impl CallError {
    /// The kind of the error. There is no standard code for most kinds.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        let message = self.message.to_lowercase();
        let mentions = |phrases: &[&str]| phrases.iter().any(|phrase| message.contains(phrase));
        match self.code {
            _ if is_too_large(self.code, &message) => ErrorKind::TooLarge,
            LIMIT_EXCEEDED => ErrorKind::RateLimited,
            _ if mentions(&["rate limit", "too many requests"]) => ErrorKind::RateLimited,
            METHOD_NOT_FOUND | NOT_SUPPORTED => ErrorKind::NoMethod,
            // Names of methods have "block" in them.
            _ if mentions(&NO_METHOD) || (message.contains("method") && mentions(&NOT_FOUND)) => ErrorKind::NoMethod,
            PRUNED_HISTORY => ErrorKind::Pruned,
            _ if mentions(&PRUNED) => ErrorKind::Pruned,
            _ if mentions(&INCONSISTENT) => ErrorKind::Inconsistent,
            _ if mentions(&UNKNOWN_BLOCK) || (message.contains("block") && mentions(&NOT_FOUND)) => {
                ErrorKind::UnknownBlock
            }
            code if code == RESOURCE_NOT_FOUND.0 && mentions(&[RESOURCE_NOT_FOUND.1]) => ErrorKind::UnknownBlock,
            code if NOT_TAKEN.contains(&code) || mentions(&["not supported", "not traceable"]) => ErrorKind::WrongCall,
            _ => ErrorKind::Other,
        }
    }
}

fn is_too_large(code: i64, message: &str) -> bool {
    let mentions = |phrases: &[&str]| phrases.iter().any(|phrase| message.contains(phrase));
    let batch = message.contains("batch") && mentions(&["large", "limit", "size", "many", "exceed"]);
    let response = mentions(&["response", "body", "result", "content"])
        && mentions(&["too large", "too big", "size exceeded", "size limit"]);
    batch || response || code == OVERSIZED_RESPONSE
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The messages are those in the sources of the clients.
    #[test]
    fn errors_of_clients_are_classified() {
        use ErrorKind::{Inconsistent, NoMethod, Other, Pruned, RateLimited, TooLarge, UnknownBlock, WrongCall};
        for (expected, code, message) in [
            // geth
            (Pruned, -32000, "missing trie node 5f1c (path ) state 0x5f1c is not available, not found"),
            (Pruned, -32000, "required historical state unavailable (reexec=128)"),
            (Pruned, -32000, "historical state 5f1c is not available"),
            (Pruned, -32000, "state histories haven't been fully indexed yet"),
            (Pruned, 4444, "pruned history unavailable"),
            (UnknownBlock, -32000, "header not found"),
            (UnknownBlock, -32000, "header for hash not found"),
            (UnknownBlock, -32000, "hash is not currently canonical"),
            (UnknownBlock, -32000, "block 0x8d62…8f0a not found"),
            (UnknownBlock, -32000, "block #17 not found"),
            (WrongCall, -32000, "genesis is not traceable"),
            (Other, -32000, "transaction not found"),
            (Other, -32000, "execution timeout"),
            // Erigon
            (Pruned, -32000, "old data not available due to pruning"),
            (Pruned, -32000, "history has been pruned for this block"),
            (UnknownBlock, -32000, "no canonical header for block 17"),
            (UnknownBlock, -32000, "block not found: 17"),
            // Nethermind
            (Pruned, -32002, "No state available for block 17 (0x8d62…8f0a)"),
            (UnknownBlock, -32001, "Block 0x8d62…8f0a could not be found"),
            (UnknownBlock, -32001, "Cannot find block 17"),
            // Reth
            (Pruned, -32603, "state at block #17 is pruned"),
            (Pruned, -32603, "no state found for block 0x8d62…8f0a"),
            (UnknownBlock, -32001, "block not found: 0x11"),
            (UnknownBlock, -32000, "unknown block"),
            // Besu
            (Pruned, -32000, "World state unavailable"),
            (UnknownBlock, -32000, "Block not found"),
            // anvil, and others with the words of EIP-1474
            (UnknownBlock, -32001, "Resource not found"),
            (UnknownBlock, -32001, "Requested resource not found"),
            (Other, -32001, "transaction not found"),
            // Bor, Erigon on Polygon
            (Inconsistent, -32000, "receipts length mismatch: 3 vs 2"),
            (Inconsistent, -32000, "block has less receipts than expected: 2 < 3, block: 17"),
            // Avalanche, HyperEVM
            (UnknownBlock, -32000, "cannot query unfinalized data"),
            (UnknownBlock, -32603, "invalid block height: 17"),
            // anvil, OpenEthereum, Cosmos chains
            (UnknownBlock, -32602, "BlockOutOfRangeError: block height is 5 but requested was 9"),
            (Pruned, -32000, "This request is not supported because your node is running with state pruning."),
            (Pruned, -32000, "height 5 is not available, lowest height is 9"),
            // gateways
            (NoMethod, -32600, "trace_block is not available on the Free tier"),
            (NoMethod, -32000, "Unsupported method: trace_block"),
            (NoMethod, -32000, "Method debug_traceBlockByHash not found"),
            (NoMethod, -32601, "the method trace_block does not exist/is not available"),
            (Pruned, -32002, "project ID does not have access to archive state"),
            (RateLimited, -32005, "daily request count exceeded, request rate limited"),
            (RateLimited, -32000, "Too Many Requests"),
            (TooLarge, -32008, "Response is too big"),
            (WrongCall, -32602, "invalid argument 0"),
            (Other, -32000, "internal error: database unavailable"),
        ] {
            assert_eq!(CallError { code, message: message.into() }.kind(), expected, "{message}");
        }
    }
}
