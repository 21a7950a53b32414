//! Any JSON as the parameters of eth_call: call, block, overrides of accounts and of the block. They are refused with a code
//! and a text, or, written again, read the same; then the call runs. Behind a zero byte comes the code that accounts have.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};
use trawl::rpc::fuzzed;

fuzz_target!(|input: &[u8]| -> Corpus {
    let (text, code) = match input.iter().position(|byte| *byte == 0) {
        Some(end) => (&input[..end], &input[end + 1..]),
        None => (input, &[][..]),
    };
    let Ok(params) = serde_json::from_slice::<Vec<serde_json::Value>>(text) else { return Corpus::Reject };
    if let Err((code, message)) = fuzzed::call(&params, code) {
        assert!(code == -32602 && !message.is_empty(), "{code} {message}");
    }
    Corpus::Keep
});
