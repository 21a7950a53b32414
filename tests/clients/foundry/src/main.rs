//! Asks `/api` as cast and forge do, and prints what their types made of the answers. Usage: trawl-foundry-client
//! API_URL, then questions, one a line, as `ACTION ARGUMENT…`.

use std::io::BufRead as _;

use alloy_primitives::Address;
use anyhow::{Context as _, bail};
use foundry_block_explorers::Client;
use foundry_block_explorers::account::{InternalTxQueryOption, Sort, TokenQueryOption, TxListParams};
use serde_json::{Value, json};

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let url = std::env::args().nth(1).context("the address of the API")?;
    let client = Client::builder()
        .with_api_url(format!("{url}/v2/api?chainid=1"))?
        .with_url(url)?
        .with_api_key("key")
        .build()?;
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split(' ').collect();
        let answer = match call(&client, &words).await {
            Ok(answer) => answer,
            Err(error) => json!({"error": format!("{error:#}")}),
        };
        println!("{answer}");
    }
    Ok(())
}

async fn call(client: &Client, words: &[&str]) -> anyhow::Result<Value> {
    let [action, argument, ..] = words else { bail!("an action and an argument") };
    let address = || argument.parse::<Address>();
    let page = || TxListParams::new(0, 99_999_999, 0, 0, Sort::Asc);
    let of_account = || -> anyhow::Result<TokenQueryOption> { Ok(TokenQueryOption::ByAddress(address()?)) };
    Ok(match *action {
        "txlist" => json!(client.get_transactions(&address()?, Some(page())).await?),
        "txlistinternal" => {
            let option = InternalTxQueryOption::ByAddress(address()?);
            json!(client.get_internal_transactions(option, Some(page())).await?)
        }
        "tokentx" => json!(client.get_erc20_token_transfer_events(of_account()?, None).await?),
        "tokennfttx" => json!(client.get_erc721_token_transfer_events(of_account()?, None).await?),
        "token1155tx" => json!(client.get_erc1155_token_transfer_events(of_account()?, None).await?),
        "getminedblocks" => json!(client.get_mined_blocks(&address()?, None, None).await?),
        "balance" => json!(client.get_ether_balance_single(&address()?, None).await?),
        "getabi" => json!(client.contract_abi(address()?).await?),
        "getsourcecode" => json!(client.contract_source_code(address()?).await?),
        "getcontractcreation" => json!(client.contract_creation_data(address()?).await?),
        "getblocknobytime" => json!(client.get_block_by_timestamp(argument.parse()?, "before").await?),
        "gettxreceiptstatus" => json!(client.check_transaction_receipt_status(argument).await?),
        "getstatus" => json!(client.check_contract_execution_status(argument).await?),
        "gasoracle" => json!(format!("{:?}", client.gas_oracle().await?)),
        other => bail!("no action {other}"),
    })
}
