//! Requests of every action on a recorded chain, and what the page of the documentation has of actions.

use anyhow::Context as _;
use serde_json::Value;
use xtask::workspace;

use super::transactions::lower;
use super::transfers::{Transfer, all};
use crate::chains::Chain;
use crate::transactions::{busiest, node_transactions};

/// A request: the action and its parameters.
pub struct Example {
    pub module: &'static str,
    pub action: &'static str,
    pub query: String,
}

impl Example {
    /// The whole query.
    pub fn text(&self) -> String {
        format!("module={}&action={}{}", self.module, self.action, self.query)
    }
}

/// The rows of the table below a heading, by cells, without its head.
pub fn documented(heading: &str) -> anyhow::Result<Vec<Vec<String>>> {
    let page = std::fs::read_to_string(workspace::root().join("docs/reference/etherscan.md"))?;
    let section = page.split(heading).nth(1).with_context(|| heading.to_owned())?;
    let lines: Vec<&str> =
        section.split("\n## ").next().unwrap_or_default().lines().filter(|line| line.starts_with("| ")).collect();
    let cells = |line: &&str| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect();
    Ok(lines[1..].iter().map(cells).collect())
}

/// The words of a cell that stand between backticks.
pub fn names(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// The actors of a chain.
struct Actors {
    accounts: Vec<String>,
    transaction: String,
    contracts: Vec<String>,
    emitter: String,
    topics: [String; 2],
    miner: String,
    receiver: String,
    head: u64,
}

fn actors(chain: &Chain) -> anyhow::Result<Actors> {
    let all = node_transactions(chain);
    let receipts = || all.values().map(|tx| &tx.receipt);
    let mut logs = receipts().flat_map(|receipt| receipt["logs"].as_array().into_iter().flatten());
    let log = logs.find(|log| log["topics"][1].is_string()).context("a log with topics")?;
    let last = chain.lines.last().context("a block")?;
    let withdrawals = chain.lines.iter().flat_map(|line| line["block"]["withdrawals"].as_array().into_iter().flatten());
    Ok(Actors {
        accounts: busiest(&all).into_iter().take(2).map(|(account, _)| account).collect(),
        transaction: lower(&all.values().next_back().context("a transaction")?.transaction["hash"]),
        contracts: receipts()
            .map(|receipt| lower(&receipt["contractAddress"]))
            .filter(|it| !it.is_empty())
            .take(3)
            .collect(),
        emitter: lower(&log["address"]),
        topics: [0, 1].map(|position| lower(&log["topics"][position])),
        miner: lower(&last["block"]["miner"]),
        receiver: withdrawals
            .map(|one| lower(&one["address"]))
            .next()
            .unwrap_or_else(|| format!("0x{}", "12".repeat(20))),
        head: chain.head(),
    })
}

/// Requests of all actions that read, but for those of contracts whose ABIs were loaded.
pub fn examples(chain: &Chain) -> anyhow::Result<Vec<Example>> {
    let actors = actors(chain)?;
    let mut examples = Vec::new();
    let mut add = |module, action, query: String| examples.push(Example { module, action, query });
    of_accounts(&actors, &mut add);
    of_chain(&actors, &mut add);
    let transfers = all(chain)?;
    for action in ["tokentx", "tokennfttx", "token1155tx"] {
        if let Some(transfer) = transfers.iter().find(|transfer| transfer.action == action) {
            of_token(action, &transfer.row, &mut add);
        }
    }
    if let Some(Transfer { row, .. }) = transfers.iter().rfind(|transfer| transfer.action == "tokentx") {
        let query = format!("&contractaddress={}&blockno={}", lower(&row["contractAddress"]), actors.head);
        add("account", "tokenbalancehistory", format!("{query}&address={}", lower(&row["to"])));
        add("stats", "tokensupplyhistory", query);
    }
    Ok(examples)
}

type Add<'a> = &'a mut dyn FnMut(&'static str, &'static str, String);

fn of_accounts(actors: &Actors, add: Add<'_>) {
    let (account, head) = (&actors.accounts[0], actors.head);
    let list = format!(
        "&address={account}&startblock=0&endblock={head}&start_timestamp=0&end_timestamp=9999999999&sort=desc&page=1&offset=50"
    );
    add("account", "balance", format!("&address={account}&tag={head}"));
    add("account", "balancemulti", format!("&address={}&tag=latest", actors.accounts.join(",")));
    add("account", "balancehistory", format!("&address={account}&blockno={}", head / 2));
    add("account", "txlist", format!("{list}&filterby=from"));
    add("account", "txlistinternal", list);
    add("account", "txlistinternal", format!("&startblock=0&endblock={head}"));
    add("account", "getminedblocks", format!("&address={}&blocktype=blocks&page=1&offset=20", actors.miner));
    add("account", "txsBeaconWithdrawal", format!("&address={}&sort=desc", actors.receiver));
    actors.accounts.iter().chain(&actors.contracts).for_each(|it| add("account", "fundedby", format!("&address={it}")));
}

fn of_chain(actors: &Actors, add: Add<'_>) {
    let (head, [event, topic]) = (actors.head, &actors.topics);
    add("contract", "getcontractcreation", format!("&contractaddresses={}", actors.contracts.join(",")));
    let logs = format!("&fromBlock=0&toBlock={head}&address={}&topic0={event}", actors.emitter);
    add("logs", "getLogs", format!("{logs}&topic1={topic}&topic0_1_opr=or&page=1&offset=100"));
    add("block", "getblocknobytime", "&timestamp=1700000100&closest=before".into());
    add("block", "getblockreward", format!("&blockno={head}"));
    add("block", "getblocktxnscount", format!("&blockno={head}"));
    add("block", "getblockcountdown", format!("&blockno={}", head + 100));
    add("transaction", "gettxreceiptstatus", format!("&txhash={}", actors.transaction));
    add("transaction", "getstatus", format!("&txhash={}", actors.transaction));
    add("transaction", "gettxinfo", format!("&txhash={}&index=0", actors.transaction));
    add("gastracker", "gasoracle", String::new());
    add("gastracker", "gasestimate", "&gasprice=900000000000".into());
    add("stats", "totalfees", "&date=2015-07-30".into());
    for action in DAILY {
        add("stats", action, "&startdate=1970-01-01&enddate=2023-12-31&sort=desc".into());
    }
}

/// The actions of days.
pub const DAILY: [&str; 13] = [
    "dailytx",
    "dailytxnfee",
    "dailyavgblocksize",
    "dailyavgblocktime",
    "dailyavggaslimit",
    "dailygasused",
    "dailynetutilization",
    "dailyavggasprice",
    "dailyavghashrate",
    "dailyavgnetdifficulty",
    "dailyblkcount",
    "dailyblockrewards",
    "dailyuncleblkcount",
];

fn of_token(action: &'static str, transfer: &Value, add: Add<'_>) {
    let (token, account) = (lower(&transfer["contractAddress"]), lower(&transfer["to"]));
    let (of_token, of_account) = (format!("&contractaddress={token}"), format!("&address={account}"));
    add("account", action, format!("{of_token}{of_account}&sort=asc"));
    add("account", action, of_token.clone());
    add("account", "tokenbalance", format!("{of_token}{of_account}&tag=latest"));
    add("account", "tokenlist", of_account.clone());
    add("account", "addresstokenbalance", format!("{of_account}&page=1&offset=10"));
    add("account", "addresstokennftbalance", format!("{of_account}&page=1&offset=10"));
    add("account", "addresstokennftinventory", format!("{of_token}{of_account}&page=1&offset=10"));
    for one in ["getToken", "tokeninfo", "tokenholdercount"] {
        add("token", one, of_token.clone());
    }
    for one in ["getTokenHolders", "tokenholderlist", "topholders"] {
        add("token", one, format!("{of_token}&page=1&offset=5"));
    }
    add("stats", "tokensupply", of_token);
}
