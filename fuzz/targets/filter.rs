//! Any JSON as the filter of eth_getLogs: it is refused with a code and a text, or, written again, reads the same.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};
use trawl::rpc::fuzzed;

fuzz_target!(|text: &[u8]| -> Corpus {
    let Ok(filter) = serde_json::from_slice(text) else { return Corpus::Reject };
    if let Err((code, message)) = fuzzed::filter(&filter) {
        assert!(code == -32602 && !message.is_empty(), "{code} {message}");
    }
    Corpus::Keep
});
