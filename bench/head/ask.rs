//! Requests of clients at the head of a chain.

use std::sync::atomic::{AtomicU64, Ordering};

use alloy_primitives::{Address, B256};
use serde_json::{Value, json};

use crate::chain::Model;
use crate::chain::block::Account;
use crate::chain::world::{ACCOUNTS, TOKENS, World};

/// A request of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeadRequest {
    /// The page of the newest blocks.
    Blocks,
    /// A page of the blocks below one.
    BlocksBelow(u64),
    /// Token transfers of an address, newest first.
    Transfers(Account),
    /// Those below a block.
    TransfersBelow(Account, u64),
    /// Internal transactions of an address, newest first.
    Internal(Account),
    /// eth_getLogs of a contract, all blocks.
    AllLogs(u8),
    /// eth_getLogs of a contract from a height on.
    NewestLogs(u8, u64),
    /// eth_getLogs of a contract in a range of old blocks.
    OldLogs(u8, u64, u64),
    /// The newest block with whole transactions.
    FullBlock,
    /// The receipts of the newest block.
    Receipts,
    /// The logs of the newest block.
    BlockLogs,
    /// The coin balance of an account.
    Balance(Account),
    /// The token balance of an account: a call of its code.
    BalanceOf(u8, Account),
    /// 16 blocks up to a height in one batch.
    Batch(u64),
    /// All logs of a contract as a wide scan.
    Scan(u8),
    /// The logs of a transaction of the newest blocks.
    TransactionLogs(B256),
    /// A transaction of the newest blocks in a sentence; of its answer only that there is one is compared.
    Summary(B256),
}

/// A request over HTTP.
pub struct Request {
    /// Below the server's URL.
    pub path: String,
    /// Body of a POST; `None` for a GET.
    pub body: Option<Value>,
}

/// Blocks in a batch, and of the newest logs.
pub const WINDOW: u64 = 16;
/// Logs that the specification's endpoint answers at most.
pub const LOG_CAP: usize = 1_000;
/// Rows of a page.
pub const PAGE: usize = 50;

/// The highest block that the API showed to any client.
#[derive(Debug, Default)]
pub struct HighestBlock(AtomicU64);

impl HighestBlock {
    /// Height of the highest block that was shown; 0 before any.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// A block was shown.
    pub fn set(&self, number: u64) {
        self.0.store(number, Ordering::Relaxed);
    }
}

impl HeadRequest {
    /// One of the mix, of a busy address or a quiet one.
    pub fn any(random: &mut fastrand::Rng, seen: &HighestBlock, model: &Model) -> Self {
        let share = random.f64();
        let account = ((share * share * share * ACCOUNTS as f64) as Account).min(ACCOUNTS as Account - 1);
        let token = random.u8(0..TOKENS as u8);
        let (height, quiet) = (seen.get(), TOKENS as u8 - 1);
        match random.u32(0..100) {
            0..3 => Self::transaction(random, height, model).map_or(Self::Blocks, Self::TransactionLogs),
            3..5 => Self::transaction(random, height, model).map_or(Self::Blocks, Self::Summary),
            5..15 => Self::Blocks,
            15..27 => Self::Transfers(account),
            27..34 => Self::Internal(account),
            34..44 => Self::NewestLogs(token, height.saturating_sub(WINDOW - 1)),
            44..50 => Self::AllLogs(quiet),
            50..58 => Self::FullBlock,
            58..64 => Self::Receipts,
            64..69 => Self::BlockLogs,
            69..81 => Self::Balance(account),
            81..93 => Self::BalanceOf(token, account),
            93..98 => Self::Batch(height),
            _ => Self::Scan(quiet),
        }
    }

    /// A transaction of one of the newest blocks that the API showed.
    fn transaction(random: &mut fastrand::Rng, height: u64, model: &Model) -> Option<B256> {
        let block_index = model.on_branch(model.tip(), height.checked_sub(random.u64(0..WINDOW))?)?;
        random.choice(&model.at(block_index).transactions).copied()
    }

    /// Name of its kind in reports.
    pub fn route(self) -> &'static str {
        match self {
            Self::Blocks => "`/blocks`",
            Self::BlocksBelow(_) => "`/blocks`, old blocks",
            Self::TransfersBelow(..) => "token transfers of an address, old blocks",
            Self::Transfers(_) => "token transfers of an address",
            Self::Internal(_) => "internal transactions of an address",
            Self::AllLogs(_) => "eth_getLogs of a contract, all blocks",
            Self::NewestLogs(..) => "eth_getLogs of a contract, newest 16 blocks",
            Self::OldLogs(..) => "eth_getLogs of a contract, old blocks",
            Self::FullBlock => "full newest block",
            Self::Receipts => "receipts of the newest block",
            Self::BlockLogs => "logs of the newest block",
            Self::Balance(_) => "eth_getBalance at latest",
            Self::BalanceOf(..) => "eth_call balanceOf at latest",
            Self::Batch(_) => "batch of 16 blocks",
            Self::Scan(_) => "wide scan of a contract",
            Self::TransactionLogs(_) => "logs of a new transaction",
            Self::Summary(_) => "summary of a new transaction",
        }
    }

    /// Path and body of the request.
    pub fn request(self, world: &World) -> Request {
        let account = |account: Account| world.accounts[account as usize];
        let token = |token: u8| world.tokens[usize::from(token)];
        let list = |account: Address, what: &str| Request {
            path: format!("/api/v2/addresses/{account:#x}/{what}"),
            body: None,
        };
        match self {
            Self::Blocks => Request { path: "/api/v2/blocks".into(), body: None },
            Self::BlocksBelow(block) => {
                Request { path: format!("/api/v2/blocks?block_number={block}&items_count={PAGE}"), body: None }
            }
            Self::TransfersBelow(of, block) => {
                list(account(of), &format!("token-transfers?block_number={block}&index=0&items_count={PAGE}"))
            }
            Self::Transfers(of) => list(account(of), "token-transfers"),
            Self::Internal(of) => list(account(of), "internal-transactions"),
            Self::Scan(of) => {
                let filter = format!("format=ndjson&fromBlock=0&toBlock=latest&address={:#x}", token(of));
                Request { path: format!("/api/v2/scan/logs?{filter}"), body: None }
            }
            Self::TransactionLogs(of) => Request { path: format!("/api/v2/transactions/{of:#x}/logs"), body: None },
            Self::Summary(of) => Request { path: format!("/api/v2/transactions/{of:#x}/summary"), body: None },
            Self::Batch(last) => {
                let call = |number| call("eth_getBlockByNumber", &json!([format!("{number:#x}"), false]), number);
                let calls = (last.saturating_sub(WINDOW - 1)..=last).map(call).collect();
                rpc(Value::Array(calls))
            }
            Self::AllLogs(of) => logs(json!("0x0"), json!("latest"), token(of)),
            Self::NewestLogs(of, from) => logs(json!(format!("{from:#x}")), json!("latest"), token(of)),
            Self::OldLogs(of, from, to) => logs(json!(format!("{from:#x}")), json!(format!("{to:#x}")), token(of)),
            Self::BlockLogs => one("eth_getLogs", &json!([{"fromBlock": "latest", "toBlock": "latest"}])),
            Self::FullBlock => one("eth_getBlockByNumber", &json!(["latest", true])),
            Self::Receipts => one("eth_getBlockReceipts", &json!(["latest"])),
            Self::Balance(of) => one("eth_getBalance", &json!([account(of), "latest"])),
            Self::BalanceOf(of, holder) => {
                let data = format!("0x70a08231{:0>64}", format!("{:x}", account(holder)));
                one("eth_call", &json!([{"to": token(of), "data": data}, "latest"]))
            }
        }
    }
}

fn logs(from: Value, to: Value, address: Address) -> Request {
    one("eth_getLogs", &json!([{"fromBlock": from, "toBlock": to, "address": address}]))
}

fn one(method: &str, parameters: &Value) -> Request {
    rpc(call(method, parameters, 1))
}

fn call(method: &str, parameters: &Value, id: u64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters})
}

fn rpc(body: Value) -> Request {
    Request { path: "/api/eth-rpc".into(), body: Some(body) }
}
