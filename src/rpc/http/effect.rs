//! What a call does, as far as the other calls of its batch are concerned.

use serde_json::value::RawValue;

use crate::rpc::methods::served_name;
use crate::rpc::protocol::endpoint::Endpoint;
use crate::rpc::protocol::envelope::Call;

/// What a call does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// It reads tables, and may be made before its turn, and twice.
    Reads,
    /// It changes what the server or a node has of its client, so later calls may depend on it.
    Changes,
    /// Neither: it needs no table, computes, or is none that is served.
    None,
}

impl Effect {
    /// The effect of a call at an endpoint.
    pub fn of(text: &RawValue, endpoint: Endpoint) -> Self {
        let (_, Ok(call)) = Call::read(text, endpoint) else { return Self::None };
        match served_name(endpoint, &call.method) {
            Some(
                "eth_newFilter"
                | "eth_newBlockFilter"
                | "eth_newPendingTransactionFilter"
                | "eth_getFilterChanges"
                | "eth_getFilterLogs"
                | "eth_uninstallFilter"
                | "eth_subscribe"
                | "eth_unsubscribe"
                | "eth_sendRawTransaction",
            ) => Self::Changes,
            // It computes.
            Some("eth_getProof") | None => Self::None,
            Some("trace_block" | "trace_transaction") => Self::Reads,
            Some(name) if name.starts_with("eth_get") => Self::Reads,
            Some(_) => Self::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_are_those_of_tables() {
        let of = |method: &str| {
            let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":[]}}"#);
            let call: Box<RawValue> = serde_json::from_str(&text).expect("JSON");
            Effect::of(&call, Endpoint::Node)
        };
        for method in ["eth_getLogs", "eth_getBlockByNumber", "eth_getBalance", "trace_block"] {
            assert_eq!(of(method), Effect::Reads, "{method}");
        }
        for method in ["eth_getFilterChanges", "eth_newFilter", "eth_sendRawTransaction"] {
            assert_eq!(of(method), Effect::Changes, "{method}");
        }
        for method in ["eth_call", "eth_chainId", "eth_getProof", "eth_getNothing", "debug_traceCall"] {
            assert_eq!(of(method), Effect::None, "{method}");
        }
    }
}
