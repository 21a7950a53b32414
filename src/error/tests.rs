//! The words of problems, and what programs read in them.

use serde_json::json;
use trawl_core::store::StoreError;

use super::*;

#[test]
fn exceeded_limits_ask_for_a_narrower_query() {
    for code in [159, 241, 158, 307] {
        let problem = Problem::from(StoreError::Refused { code, message: "Code: …".into() });
        assert_eq!((problem.status().as_u16(), problem.code()), (500, -32005));
        assert_eq!(problem.message(), "The query exceeds the limits of this server: narrow it");
    }
}

/// The text is reth's and Infura's, which clients read the range from.
#[test]
fn a_query_with_too_many_results_names_the_range_that_fits() {
    let problem = Problem::TooManyRows { limit: 20_000, fitting: BlockRange::new(1, 100).expect("ordered") };
    assert_eq!(problem.code(), -32005);
    let infura = "query returned more than 20000 results. Try with this block range [0x1, 0x64].";
    assert_eq!(problem.message(), format!("query exceeds max results 20000, retry with the range 1-100: {infura}"));
    assert_eq!(problem.data(), Some(json!({"limit": 20_000, "from": "0x1", "to": "0x64"})));
    let fitting = BlockRange::new(0xbd_e5f8, 0xbd_e6ff).expect("ordered");
    for problem in [
        Problem::TooManyRows { limit: 20_000, fitting },
        Problem::TooManyBlocks { selectors: "address and topics", limit: 10_000, fitting },
        Problem::TooManyLogs { reason: Limit::Message, fitting },
        Problem::TooManyLogs { reason: Limit::Statement, fitting },
    ] {
        assert!(problem.message().contains("query exceeds max "), "{}", problem.message());
        assert!(problem.message().contains(", retry with the range 12445176-12445439: "), "{}", problem.message());
        assert!(
            problem.message().ends_with(" Try with this block range [0xBDE5F8, 0xBDE6FF]."),
            "{}",
            problem.message()
        );
        assert_eq!(problem.data().expect("a range")["to"], "0xbde6ff");
    }
}

#[test]
fn missing_blocks_are_named_for_programs() {
    let problem = Problem::BlocksMissing(vec![BlockRange::new(1, 15).expect("ordered"), BlockRange::single(20)]);
    assert_eq!(problem.to_string(), "blocks 1-15, 20 are not indexed");
    let missing = json!([{"fromBlock": "0x1", "toBlock": "0xf"}, {"fromBlock": "0x14", "toBlock": "0x14"}]);
    assert_eq!(problem.data(), Some(json!({"missing": missing})));
}
