//! Headers of ten fields, as Celo had before Gingerbread: what they never had is left out, and what a source left out of
//! a longer one is refused.

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xtask::http;

use super::{load, write_dump};
use crate::env;

/// Block 19,042,560 of Celo without its transactions, as celo-blockchain gave it (`internal/ethapi/api.go`,
/// `RPCMarshalHeader`).
fn block() -> Value {
    let vanity = "d983010704846765746889676f312e31372e3133856c696e7578000000000000";
    let proposer = "f8ccc0c080b84177cdc8f22ff53bd1ed75f2a09b920957d7cbbc01a283c8eb40c7dcf96bbcd41434e06fa9ddafbe61e83d\
         ec0a2cb11d5435971242b4a25e6f129768b183e8886700";
    let committee = "f8418e325007fdf89adf7e7f7e2cfff8ffb05e98abf6071b03bd3b2d420188991b04c874a2cce546e299fef6fccb2b2d\
         c8828e42da4b3dffa483e5b7cf7e79807b8080";
    let of_parent = "f8418e3fffffffffffffffffffffffffffb06009638e885c0870c288f816403d0dd04055e4feb3b8e157dc0acdf5f0da\
         3b84636a4c997234969ace1a56084733840080";
    let bloom = "2833101222d26aa2000821a9c0a28529948200409056708002002108083a02408908988388a0c480003126\
         142e41a48c0190884321c43010005c8c0242209002379005102fc20c5e6941505a430a7da0085c115008f2\
         2f000010199042228c03000006300224d00420341400700408010e4107c09a001021601dc292043d930025\
         843c00830170c00400103002f840421a4500710111981a0434805400d6e8104223b8009121010d0301404a\
         88230c10380200107a2b00050020d18c44159440a0b024222425d2522142f12610eac0910c096127001539\
         11b0a8a510c01060a1da1303a546482c40008a0d282a80b30020402411100f2c00404c305555200035";
    json!({
        "number": "0x1229100",
        "hash": "0xf09d2d8cb7d4ac4c8b49b18030ce09c0be3a40a33a83bb627d27363513907240",
        "parentHash": "0x1469ec2ace32ba4f18a7abbc634cf13119a07167b65bc0a2319bb2513625d1c7",
        "miner": "0xaa397ca08bbebc31717f8ab2cea35320c51568e6",
        "stateRoot": "0x481088b07b8e111f532b8edb2d2881e1747f5d61248b28c096c120b010b336f2",
        "transactionsRoot": "0x4a1e09afdc7e40256ac262da49396fe7c5bae0b7d9f46e4bc1fe495ef6d8514b",
        "receiptsRoot": "0x7c0af0b3d3d9d750eb8dccffe633794583960b7e72bef95e33aaa0aaf09c58ac",
        "logsBloom": format!("0x{bloom}"),
        "gasUsed": "0x1063b1",
        "timestamp": "0x644eb9f3",
        "extraData": format!("0x{vanity}{proposer}{committee}{of_parent}"),
        "size": "0x5a3",
        "randomness": {"committed": format!("0x{}", "ab".repeat(32)), "revealed": format!("0x{}", "cd".repeat(32))},
        "transactions": [],
    })
}

#[test]
fn members_that_a_header_never_had_are_left_out() -> anyhow::Result<()> {
    let whole = block();
    let mut longer = block();
    // Without some columns of a longer header its hash is another one.
    longer["hash"] = json!(format!("0x{}", "77".repeat(32)));
    for (database, given) in [("ingest_short_header", &whole), ("ingest_longer_header", &longer)] {
        let database = &env::migrate(database)?;
        let line = json!({"block": given});
        let file = write_dump(&[line])?;
        let flags = ["--chain-id", "42220", "--from", "19042560", "--verify", "off"];
        load(database, &file.path().display().to_string(), &flags, 0)?;
        let api = env::start_api(database, &["--gaps", "serve"])?;
        let ask = |method: &str, params: Value| http::rpc(&http::agent(), &format!("{}/rpc", api.url), method, &params);
        let number = given["number"].as_str().context("a number")?;
        let found = ask("eth_getBlockByNumber", json!([number, true]))?;
        let of_header = ask("eth_getHeaderByNumber", json!([number]))?;
        let of_otterscan = ask("erigon_getHeaderByNumber", json!([number]))?;
        let shown: Value = http::get(&http::agent(), &format!("{}/api/v2/blocks/{}", api.url, 19_042_560))?.json()?;
        for unknown in ["difficulty", "gas_limit", "gas_used_percentage"] {
            ensure!(shown[unknown].is_null() && shown.get(unknown).is_some(), "{unknown}: {shown}");
        }
        if given == &whole {
            ensure!(found["result"] == whole, "{found}");
            let mut header = whole.clone();
            for member in ["transactions", "size"] {
                drop(header.as_object_mut().context("an object")?.remove(member));
            }
            ensure!(of_header["result"] == header, "{of_header}");
            ensure!(of_otterscan["result"] == header, "{of_otterscan}");
            ensure!(ask("eth_getUncleCountByBlockNumber", json!([number]))?["result"] == "0x0");
        } else {
            for refused in [found, of_header, of_otterscan] {
                ensure!(refused["error"]["code"] == -32002, "{refused}");
                ensure!(
                    refused["error"]["message"].as_str().is_some_and(|text| text.contains("gas_limit")),
                    "{refused}"
                );
            }
        }
        api.stop()?;
    }
    Ok(())
}
