//! The database of views as text and numbers: nothing in it is bytes, filters on text use the indexes, and
//! another database of its name is left as it is.

use anyhow::{Context as _, ensure};
use xtask::workspace;

use super::keys::granules;
use crate::chains::{chain, dump};
use crate::clients::{python, succeeds};
use crate::env;

/// Types that a program without bytes and without numbers of 256 bits takes.
const TAKEN: [&str; 11] = [
    "Bool",
    "Date",
    "DateTime64(6, 'UTC')",
    "Float64",
    "String",
    "UInt8",
    "UInt16",
    "UInt32",
    "UInt64",
    "Int64",
    "Array(UInt32)",
];

#[test]
fn all_columns_are_text_and_numbers() -> anyhow::Result<()> {
    let database = format!("{}_views", chain("mainnet").name);
    let columns = format!(
        "SELECT table, name, type, comment FROM system.columns WHERE database = '{database}' ORDER BY table, position FORMAT TSVRaw"
    );
    let (mut views, mut count) = (std::collections::BTreeSet::new(), 0);
    for line in env::sql("default", &columns)?.lines() {
        let [view, name, of, comment]: [&str; 4] =
            line.split('\t').collect::<Vec<_>>().try_into().ok().context(line.to_owned())?;
        let inner = of.strip_prefix("Nullable(").and_then(|of| of.strip_suffix(')')).unwrap_or(of);
        let is_taken = TAKEN.contains(&inner) || of == "Array(String)";
        ensure!(is_taken && !comment.is_empty() && !name.ends_with("_hex"), "{view}.{name} {of} {comment}");
        // A token whose number is rounded is another token.
        ensure!(!["token_id", "tokenId", "id"].contains(&name) || inner == "String", "{view}.{name} {of}");
        views.insert(view.to_owned());
        count += 1;
    }
    ensure!(views.len() == 30 && count > 300, "{count} columns of {views:?}");
    for view in &views {
        // The test reads answers as UTF-8.
        env::sql(&database, &format!("SELECT * FROM {view} LIMIT 5")).with_context(|| view.clone())?;
    }
    Ok(())
}

#[test]
fn text_filters_read_the_same_granules() -> anyhow::Result<()> {
    let database = chain("mainnet").name;
    let texts = format!("{database}_views");
    let weth = "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2";
    for (text, bytes, table) in [
        (
            format!("SELECT data FROM logs_by_contract WHERE address = '{weth}'"),
            format!("SELECT data FROM v_logs_by_contract WHERE address = address('{weth}')"),
            "logs",
        ),
        (
            format!("SELECT value FROM transactions_by_address WHERE address = '{weth}'"),
            format!("SELECT value FROM v_transactions_by_address WHERE address = address('{weth}')"),
            "transactions_by_address",
        ),
        (
            format!("SELECT value FROM token_transfers_by_address WHERE address = '{weth}'"),
            format!("SELECT value FROM v_token_transfers_by_address WHERE address = address('{weth}')"),
            "token_transfers",
        ),
        (
            "SELECT hash FROM transactions WHERE block_number = 20000000".into(),
            "SELECT hash FROM v_transactions WHERE block_number = 20000000".into(),
            "transactions",
        ),
        (
            "SELECT `value` FROM erc20_transfers WHERE block_date = '2025-07-07'".into(),
            "SELECT `value` FROM v_erc20_transfers WHERE block_date = '2025-07-07'".into(),
            "logs_by_block",
        ),
    ] {
        let (left, all) = granules(&texts, table, &text)?;
        let (by_bytes, _) = granules(database, table, &bytes)?;
        ensure!(left <= by_bytes.max(1) && left < all, "{text}: {left} of {all}, {by_bytes} by bytes");
    }
    Ok(())
}

/// Holdings by text are ranges of their tables too.
#[test]
fn holders_are_found_by_text() -> anyhow::Result<()> {
    let database = "analysts_text_holders";
    let _database = env::migrate(database)?;
    let address = |of: &str| format!("CAST(substring(hex(MD5(toString({of}))), 1, 20) AS FixedString(20))");
    let insert = format!(
        "INSERT INTO token_balances (token_address, token_type, holder, block_number, balance) \
         SELECT {}, 'ERC-20', {}, 5, 7 FROM numbers(50000)",
        address("number % 300"),
        address("number + 1000000")
    );
    env::sql(database, &insert)?;
    env::commit(database, 9)?;
    let texts = format!("{database}_views");
    for (view, table, column) in
        [("token_holders", "token_balances", "token_address"), ("balances", "token_balances_by_holder", "holder")]
    {
        let one = env::sql(database, &format!("SELECT hex0x({column}) FROM {table} LIMIT 1 OFFSET 20000"))?;
        let (left, all) = granules(&texts, table, &format!("SELECT balance FROM {view} WHERE {column} = '{one}'"))?;
        ensure!(left <= 2 && all > 100, "{view}: {left} of {all}");
    }
    Ok(())
}

/// Two chains, one of which has the other's name and the ending: each keeps what is its own.
#[test]
fn a_database_of_somebody_else_stays() -> anyhow::Result<()> {
    let inner = env::migrate("analysts_text_views")?;
    let output = env::run(env::ingest("analysts_text", &["migrate"]), 0)?;
    let _outer = env::database("analysts_text");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(stderr.contains("views as text are not created in it"), "{stderr}");
    let count = |database: &str, kind: &str| {
        env::sql(
            "default",
            &format!("SELECT count() FROM system.tables WHERE database = '{database}' AND engine = '{kind}'"),
        )
    };
    ensure!(count(&inner, "View")? == "32" && count("analysts_text_views_views", "View")? == "30");
    // A view of an event comes and goes with its source, and one that is gone is dropped by the next run.
    let add = ["views", "add", "--event", "Moved(address indexed by, string name, bytes data)", "--name", "v_moved"];
    env::run(env::ingest(&inner, &add), 0)?;
    let columns = "SELECT groupArray((name, type)) FROM (SELECT name, type FROM system.columns WHERE database = 'analysts_text_views_views' AND table = 'moved' ORDER BY position LIMIT 3 OFFSET 7)";
    let columns = env::sql("default", columns)?;
    ensure!(columns == "[('by','String'),('name','String'),('data','String')]", "{columns}");
    env::sql(&inner, "DROP VIEW v_moved")?;
    env::run(env::ingest(&inner, &["migrate"]), 0)?;
    ensure!(count("analysts_text_views_views", "View")? == "30");
    Ok(())
}

#[test]
fn programs_read_every_view_whole() -> anyhow::Result<()> {
    let chain = chain("mainnet");
    let reader = env::reader();
    let mut command = python();
    command.arg(workspace::root().join("tests/clients/text_views_check.py"));
    command.args([env::store(), reader.user, reader.password, &format!("{}_views", chain.name), &dump(chain.name)]);
    succeeds(command)
}
