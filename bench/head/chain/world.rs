//! Who and what there is on the generated chain: accounts with keys, token contracts, the genesis.

use alloy_consensus::crypto::secp256k1::{recover_signer_unchecked, sign_message};
use alloy_primitives::{Address, B256, address, b256, keccak256};
use anyhow::Context as _;
use serde_json::{Value, json};

/// Its number; no public chain's.
pub const CHAIN_ID: u64 = 7_357_001;
/// Accounts that send and receive.
pub const ACCOUNTS: usize = 2_000;
/// ERC-20 contracts. The first is in half of all transfers, the last in few.
pub const TOKENS: usize = 8;
/// What each account holds of each token, and of the coin, in block 0.
pub const ENDOWMENT: u128 = 1_000_000_000_000_000_000_000_000;
/// Who gets the fees.
pub const COINBASE: Address = address!("c0ffee254729296a45a3885639ac7e10f9d54979");
/// `keccak256("Transfer(address,address,uint256)")` of ERC-20.
pub const TRANSFER: B256 = b256!("ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef");
/// `keccak256("Sync(uint112,uint112)")` of Uniswap's pairs.
pub const SYNC: B256 = b256!("1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1");
/// Answers every call with the word at `keccak256(first argument . 0)`: `balanceOf`, whatever the selector.
pub const CODE: &str = "0x6004355f525f60205260405f20545f5260205ff3";

/// Accounts and contracts.
pub struct World {
    /// Keys of the accounts.
    pub secrets: Vec<B256>,
    /// Addresses of the accounts, by number.
    pub accounts: Vec<Address>,
    /// Where a token keeps the balance of each account.
    pub slots: Vec<B256>,
    /// The token contracts.
    pub tokens: Vec<Address>,
}

impl World {
    /// The same every time.
    pub fn new() -> anyhow::Result<Self> {
        let secrets: Vec<B256> = (0..ACCOUNTS).map(|number| keccak256(format!("account {number}"))).collect();
        let message = keccak256("who");
        let address = |secret: &B256| {
            let signature = sign_message(*secret, message)?;
            anyhow::Ok(recover_signer_unchecked(&signature, message)?)
        };
        let accounts: Vec<Address> = secrets.iter().map(address).collect::<anyhow::Result<_>>().context("a key")?;
        let slots = accounts.iter().map(|account| keccak256([account.into_word().0, [0; 32]].concat())).collect();
        let tokens = (0..TOKENS).map(|number| Address::from_word(keccak256(format!("token {number}")))).collect();
        Ok(Self { secrets, accounts, slots, tokens })
    }

    /// The genesis in geth's form.
    pub fn genesis(&self) -> Value {
        let endowment = format!("{ENDOWMENT:#x}");
        let mut alloc = serde_json::Map::new();
        for account in &self.accounts {
            alloc.insert(format!("{account:#x}"), json!({"balance": endowment}));
        }
        let word = format!("0x{ENDOWMENT:064x}");
        let storage: serde_json::Map<String, Value> =
            self.slots.iter().map(|slot| (format!("{slot:#x}"), json!(word))).collect();
        for token in &self.tokens {
            let account = json!({"balance": "0x0", "nonce": "0x1", "code": CODE, "storage": storage});
            alloc.insert(format!("{token:#x}"), account);
        }
        let blocks = ["homestead", "eip150", "eip155", "eip158", "byzantium", "constantinople", "petersburg"];
        let later = ["istanbul", "muirGlacier", "berlin", "london", "arrowGlacier", "grayGlacier"];
        let mut config: serde_json::Map<String, Value> =
            blocks.iter().chain(&later).map(|name| (format!("{name}Block"), json!(0))).collect();
        config.insert("chainId".into(), json!(CHAIN_ID));
        config.insert("terminalTotalDifficulty".into(), json!(0));
        config.insert("terminalTotalDifficultyPassed".into(), json!(true));
        config.insert("shanghaiTime".into(), json!(0));
        json!({"config": config, "alloc": alloc})
    }
}
