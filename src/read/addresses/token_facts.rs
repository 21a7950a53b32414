//! The metadata of a token: that of its contract, else that of the bundled list, else that of labels.

use std::sync::Arc;

use trawl_core::primitives::Address;
use trawl_core::schema::TokenRow;
use trawl_json::addresses::address::{Labels, TokenLabel};
use trawl_json::tokens::known_tokens::{KnownToken, known_token};

/// The metadata of a token: each member is that of the contract in `row`, else of the bundled list, else of a label
/// (docs/reference/http-contract.md#tokens). `None` if none of them has the token.
pub(crate) fn token_facts(
    address: Address,
    row: Option<&Arc<TokenRow>>,
    labels: Option<&Arc<Labels>>,
    chain_id: Option<u64>,
) -> Option<Arc<TokenRow>> {
    let known = chain_id.and_then(|chain| known_token(chain, &address));
    let label = labels.and_then(|labels| labels.token.as_ref());
    if known.is_none() && label.is_none() {
        return row.cloned();
    }
    let name = labels.filter(|labels| labels.token.is_some()).and_then(|labels| labels.name.clone());
    Some(Arc::new(merged(address, row, known, label, name)))
}

fn merged(
    address: Address,
    row: Option<&Arc<TokenRow>>,
    known: Option<KnownToken>,
    label: Option<&TokenLabel>,
    name: Option<String>,
) -> TokenRow {
    let row = row.map(|row| TokenRow::clone(row));
    let (block_number, total_supply) = row.as_ref().map_or((0, None), |row| (row.block_number, row.total_supply));
    let of_contract = |member: fn(&TokenRow) -> Option<String>| row.as_ref().and_then(member);
    let token_type = of_contract(|row| Some(row.token_type.clone()))
        .or_else(|| known.map(|_| "ERC-20".into()))
        .or_else(|| label?.token_type.clone());
    TokenRow {
        address,
        block_number,
        token_type: token_type.unwrap_or_default(),
        name: of_contract(|row| row.name.clone()).or_else(|| Some(known?.name.into())).or(name),
        symbol: of_contract(|row| row.symbol.clone())
            .or_else(|| Some(known?.symbol.into()))
            .or_else(|| Some(label?.symbol.clone())),
        decimals: row
            .as_ref()
            .and_then(|row| row.decimals)
            .or_else(|| Some(known?.decimals))
            .or_else(|| label?.decimals),
        total_supply,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_contract_counts_before_the_list_and_the_list_before_labels() {
        let usdc: Address = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48".parse().expect("an address");
        let token = TokenLabel {
            symbol: "LABEL".into(),
            decimals: Some(9),
            token_type: Some("ERC-1155".into()),
            icon_url: None,
        };
        let labels = Arc::new(Labels { name: Some("Labelled".into()), token: Some(token), ..Labels::default() });
        let row = |name: Option<&str>, decimals| TokenRow {
            address: usdc,
            block_number: 7,
            token_type: "ERC-20".into(),
            name: name.map(Into::into),
            symbol: None,
            decimals,
            total_supply: None,
        };
        let facts = |row: Option<TokenRow>, labels: Option<&Arc<Labels>>, chain| {
            let token = token_facts(usdc, row.map(Arc::new).as_ref(), labels, chain)?;
            Some((token.name.clone()?, token.symbol.clone()?, token.decimals?, token.token_type.clone()))
        };
        let texts = |name: &str, symbol: &str, decimals, standard: &str| {
            Some((name.to_owned(), symbol.to_owned(), decimals, standard.to_owned()))
        };
        assert_eq!(facts(None, None, Some(1)), texts("USD Coin", "USDC", 6, "ERC-20"));
        assert_eq!(facts(None, Some(&labels), Some(1)), texts("USD Coin", "USDC", 6, "ERC-20"));
        assert_eq!(facts(None, Some(&labels), Some(2)), texts("Labelled", "LABEL", 9, "ERC-1155"));
        assert_eq!(facts(Some(row(Some("Own"), None)), Some(&labels), Some(2)), texts("Own", "LABEL", 9, "ERC-20"));
        assert_eq!(facts(Some(row(None, Some(0))), Some(&labels), Some(1)), texts("USD Coin", "USDC", 0, "ERC-20"));
        assert_eq!(token_facts(usdc, None, None, Some(2)), None);
    }
}
