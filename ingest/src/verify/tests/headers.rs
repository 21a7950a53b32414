//! Real headers of chains of which no whole block was found.

use alloy_primitives::B256;
use serde_json::{Value, json};
use trawl_chains::by_chain_id;

use super::super::header::block_hash;
use super::super::tolerance::unknown_header;
use crate::decode::decode;

/// Block 55,475,597 of the test network of BNB Smart Chain, since Maxwell.
fn chapel() -> Value {
    let bloom = "0x00000000400000000000004000002000000000000800000000000200000000000000108000000000000000000000\
         00001000000000000000000000000020000000000000008010000000000810000000201000000000000000000000\
         00000002000800200002000000000000010000000804000000100000000000100000000000000000000000000000\
         00000002000000000400000000008000000000000020020000002000002008000000020000000000000000000000\
         00800000000000000000000200000000000414000000000000000000000000100010400200000000001000000000\
         0000010000040000010000008000000000004101000000001000";
    let extra_data = "0xd88301050d846765746888676f312e32332e39856c696e757800000038469028f8b27fb86097ecebb7fe6367c2f8\
         5d8fae3eeef6b0f2d1fe572a8671e078259179fe7d72e6b216eb8ce017b281bcb5e7c837f4fa41095b7c7f8089be\
         29478774536b76f5dc63f404b943f184f8c58fc326979fc8dfebc3802cd8f762e1c2a4b169bbcdacaef84c84034e\
         7d8ba0dd0eaf7f4e73b61b6b232358e235ee879b8e321d7c8f976c4242db55275c80a284034e7d8ca0053e82c0a8\
         15b741826b338cb3fd1346a098ea0d69dcca5f56673731279be1db806e89d76116b905e9585ed4a1870491457cd0\
         8f1cfad09fcb89c0557bf5e7d7f420b8c480a6dfac71c9ac4454b459041626e4f539e912ccf5bf6392733307dcbc\
         00";
    json!({
        "hash": "0xc28a31508a6f9c7376bc49e9b28529e3316dbc4e23205eacfb552ca4c7aecc97",
        "parentHash": "0x053e82c0a815b741826b338cb3fd1346a098ea0d69dcca5f56673731279be1db",
        "miner": "0x90409f56966b5da954166eb005cb1a8790430ba1",
        "stateRoot": "0x1677499391845cd0e4913642a3f0353063771425a85ce440b3682e12b2c06757",
        "transactionsRoot": "0xd0dd7a6c34eed0e99104d34f21a11aa2cbe1cad2d7c2677db297fe921b870d6f",
        "receiptsRoot": "0x0dde1b798eff095db7ca4693cb1203d74da3430698e9acdc914fa7513e4d2127",
        "number": "0x34e7d8d",
        "gasLimit": "0x5e12647",
        "gasUsed": "0x5c027",
        "timestamp": "0x6855884d",
        "sha3Uncles": "0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347",
        "logsBloom": bloom, "extraData": extra_data, "difficulty": "0x2", "mixHash": B256::ZERO,
        "nonce": "0x0000000000000000", "baseFeePerGas": "0x0", "blobGasUsed": "0x0", "excessBlobGas": "0x0",
        "withdrawalsRoot": "0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421",
        "parentBeaconBlockRoot": B256::ZERO,
        "requestsHash": "0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "milliTimestamp": "0x1978e1c6cc8", "transactions": [], "uncles": [], "withdrawals": [],
    })
}

#[test]
fn a_real_header_of_bnb_smart_chain_has_its_hash() {
    let family = by_chain_id(97);
    let block = |header: Value| decode(&json!({"block": header}).to_string()).expect("a block");
    let whole = block(chapel());
    assert_eq!(block_hash(&whole.header, family), Ok(whole.header.hash));
    // So another hash is refused, but for fields that a later fork may have brought.
    assert_eq!(unknown_header(&whole, family), None);
    let mut later = chapel();
    later["nextForkField"] = "0x1".into();
    assert_eq!(unknown_header(&block(later.clone()), family), None, "it is not hashed");
    later["gasUsed"] = "0x1".into();
    assert_eq!(
        unknown_header(&block(later), family).as_deref(),
        Some("the header has fields of its own: nextForkField")
    );
}
