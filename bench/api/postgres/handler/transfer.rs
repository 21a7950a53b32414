//! A token transfer as JSON has it, with the objects of its addresses and its token.

use serde::Serialize;
use serde_json::{Value, json};
use tokio_postgres::Row;
use trawl_core::primitives::Address;

use super::hex;

/// One page with what belongs to it, in one statement. Numbers and times become text here: nowhere is that cheaper.
pub const PAGE: &str = "
    SELECT t.block_number, t.log_index, t.transaction_hash, t.block_hash,
        to_char(t.block_timestamp, 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"') AS timestamp,
        t.token_type, t.token_address, t.from_address, t.to_address, t.token_id::text AS token_id, t.value::text AS value,
        k.name AS token_name, k.symbol, k.decimals, k.total_supply::text AS total_supply,
        f.name AS from_name, coalesce(f.is_contract, false) AS from_contract, f.is_verified AS from_verified,
        r.name AS to_name, coalesce(r.is_contract, false) AS to_contract, r.is_verified AS to_verified,
        substring(x.input FOR 4) AS selector
    FROM (
        SELECT * FROM token_transfers
        WHERE address = $1 AND (block_number, log_index, batch_index) < ($2, $3, 0)
        ORDER BY block_number DESC, log_index DESC, batch_index DESC
        LIMIT 51
    ) AS t
    LEFT JOIN tokens k ON k.address = t.token_address
    LEFT JOIN addresses f ON f.address = t.from_address
    LEFT JOIN addresses r ON r.address = t.to_address
    LEFT JOIN transactions x ON x.block_number = t.block_number AND x.transaction_index = t.transaction_index
    ORDER BY t.block_number DESC, t.log_index DESC, t.batch_index DESC";

/// The members of an item of the list.
#[derive(Debug, Serialize)]
pub struct Transfer {
    transaction_hash: String,
    block_hash: String,
    block_number: i64,
    log_index: i32,
    timestamp: String,
    from: Party,
    to: Party,
    token: Token,
    token_type: String,
    total: Value,
    #[serde(rename = "type")]
    kind: &'static str,
    method: Option<String>,
}

#[derive(Debug, Serialize)]
struct Party {
    hash: String,
    implementation_name: Option<String>,
    name: Option<String>,
    ens_domain_name: Option<String>,
    metadata: Option<Value>,
    is_contract: bool,
    private_tags: [Value; 0],
    watchlist_names: [Value; 0],
    public_tags: [Value; 0],
    is_verified: Option<bool>,
    implementations: [Value; 0],
    proxy_type: Option<String>,
    is_scam: bool,
    reputation: &'static str,
}

#[derive(Debug, Serialize)]
struct Token {
    address_hash: String,
    address: String,
    name: Option<String>,
    symbol: Option<String>,
    decimals: Option<String>,
    #[serde(rename = "type")]
    kind: String,
    total_supply: Option<String>,
    holders_count: Option<String>,
    holders: Option<String>,
    exchange_rate: Option<String>,
    volume_24h: Option<String>,
    circulating_supply: Option<String>,
    circulating_market_cap: Option<String>,
    icon_url: Option<String>,
    reputation: &'static str,
}

impl Transfer {
    /// Reads a row of [`PAGE`].
    pub fn read(row: &Row) -> anyhow::Result<Self> {
        let token_type: String = row.try_get("token_type")?;
        let decimals: Option<String> = row.try_get::<_, Option<i32>>("decimals")?.map(|number| number.to_string());
        let total = if token_type == "ERC-20" {
            json!({"value": row.try_get::<_, String>("value")?, "decimals": decimals})
        } else {
            json!({"token_id": row.try_get::<_, Option<String>>("token_id")?, "token_instance": null})
        };
        let selector: Option<&[u8]> = row.try_get("selector")?;
        Ok(Self {
            transaction_hash: hex(row.try_get("transaction_hash")?),
            block_hash: hex(row.try_get("block_hash")?),
            block_number: row.try_get("block_number")?,
            log_index: row.try_get("log_index")?,
            timestamp: row.try_get("timestamp")?,
            from: Party::read(row, ["from_address", "from_name", "from_contract", "from_verified"])?,
            to: Party::read(row, ["to_address", "to_name", "to_contract", "to_verified"])?,
            token: Token::read(row, &token_type, decimals)?,
            token_type,
            total,
            kind: "token_transfer",
            // A handler that knows names would look the selector up in a table in memory.
            method: selector
                .map(|selector| if selector == [0xa9, 0x05, 0x9c, 0xbb] { "transfer".into() } else { hex(selector) }),
        })
    }
}

/// With the checksum of EIP-55.
fn checksummed(address: &[u8]) -> anyhow::Result<String> {
    Ok(Address::try_from(address)?.to_checksum(None))
}

impl Party {
    fn read(row: &Row, [address, name, contract, verified]: [&str; 4]) -> anyhow::Result<Self> {
        Ok(Self {
            hash: checksummed(row.try_get(address)?)?,
            implementation_name: None,
            name: row.try_get(name)?,
            ens_domain_name: None,
            metadata: None,
            is_contract: row.try_get(contract)?,
            private_tags: [],
            watchlist_names: [],
            public_tags: [],
            is_verified: row.try_get(verified)?,
            implementations: [],
            proxy_type: None,
            is_scam: false,
            reputation: "ok",
        })
    }
}

impl Token {
    fn read(row: &Row, token_type: &str, decimals: Option<String>) -> anyhow::Result<Self> {
        let address = checksummed(row.try_get("token_address")?)?;
        Ok(Self {
            address_hash: address.clone(),
            address,
            name: row.try_get("token_name")?,
            symbol: row.try_get("symbol")?,
            decimals,
            kind: token_type.to_owned(),
            total_supply: row.try_get("total_supply")?,
            holders_count: None,
            holders: None,
            exchange_rate: None,
            volume_24h: None,
            circulating_supply: None,
            circulating_market_cap: None,
            icon_url: None,
            reputation: "ok",
        })
    }
}
