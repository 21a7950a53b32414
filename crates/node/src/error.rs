//! Why nodes gave no answer.

/// Why nodes gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum NodeError {
    /// There can be no connection to this address.
    #[error("the address of a node cannot be used: {cause}")]
    Address {
        /// Why; without the address, which may hold a key.
        cause: String,
    },
    /// No node answers, or only with errors, however often it is called.
    #[error("node {node} cannot be reached: gave up on {what} after {attempts} attempts: {cause}")]
    Unreachable {
        /// Scheme, host and port; never the path, where keys live.
        node: String,
        /// What was called for.
        what: String,
        /// How often.
        attempts: u32,
        /// The last failure.
        cause: String,
    },
    /// Every node answers, and none has what is needed.
    #[error("node {node} does not give {what}: {cause}")]
    Refused {
        /// Scheme, host and port.
        node: String,
        /// What was called for.
        what: String,
        /// The last failure.
        cause: String,
    },
    /// Nodes that should stand in for each other are of different chains.
    #[error("node {node} is of chain {found} and the others are of chain {expected}")]
    Chains {
        /// Scheme, host and port.
        node: String,
        /// Its chain.
        found: u64,
        /// That of the first node.
        expected: u64,
    },
}
