//! What goes wrong with calls to nodes: one call ([`failure`], with the [`kind`] of an error that a node returned), or
//! all attempts.

pub(crate) mod call;
pub(crate) mod failure;
pub(crate) mod kind;

/// Why a call to the nodes failed.
#[derive(Debug, thiserror::Error)]
pub enum NodeError {
    /// The address is invalid.
    #[error("the address of a node cannot be used: {cause}")]
    Address {
        /// The reason; without the address, which may hold a key.
        cause: String,
    },
    /// No node answers, or only with errors, after all attempts.
    #[error("node {node} cannot be reached: gave up on {what} after {attempts} attempts: {cause}")]
    Unreachable {
        /// Scheme, host and port; never the path, which may hold a key.
        node: String,
        /// The requested data.
        what: String,
        /// Number of attempts.
        attempts: u32,
        /// The last failure.
        cause: String,
    },
    /// Every node answers, and none has the requested data.
    #[error("node {node} does not return {what}: {cause}")]
    Refused {
        /// Scheme, host and port.
        node: String,
        /// The requested data.
        what: String,
        /// The last failure.
        cause: String,
    },
    /// Gateways do not let calls through to the nodes.
    #[error("node {node} does not return {what}: {cause}: check its address, and the key or account that it names")]
    Denied {
        /// Scheme, host and port.
        node: String,
        /// The requested data.
        what: String,
        /// The last failure.
        cause: String,
    },
    /// Every node answers, and none knows the block: the chain has another one by now, or the nodes lag.
    #[error("node {node} does not know {what}: {cause}")]
    UnknownBlock {
        /// Scheme, host and port.
        node: String,
        /// The requested data.
        what: String,
        /// The last failure.
        cause: String,
    },
    /// Every node that answers is of another chain.
    #[error("node {node} is foreign: {cause}")]
    Foreign {
        /// Scheme, host and port.
        node: String,
        /// What shows it.
        cause: String,
    },
    /// The caller stops.
    #[error("stopped while node {node} was queried for {what}")]
    Stopped {
        /// Scheme, host and port.
        node: String,
        /// The requested data.
        what: String,
    },
    /// The configured nodes are of different chains.
    #[error("node {node} is of chain {found} and the others are of chain {expected}")]
    Chains {
        /// Scheme, host and port.
        node: String,
        /// Chain id that this node returned.
        found: u64,
        /// That of the first node.
        expected: u64,
    },
}
