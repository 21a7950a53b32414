//! The names of well-known functions, by the first four bytes of their hash.
//!
//! The list is `sql/signatures/functions.txt`, one signature a line in the form the ABI specification hashes
//! (<https://docs.soliditylang.org/en/latest/abi-spec.html#function-selector>).

use std::collections::HashMap;
use std::sync::LazyLock;

use alloy_primitives::keccak256;
use trawl_core::primitives::abi::KnownFunction;

use super::packages;

static FUNCTIONS: LazyLock<HashMap<[u8; 4], &'static str>> = LazyLock::new(|| well_known_methods().collect());

/// The same with types, and with the names that packages give to parameters.
static KNOWN: LazyLock<HashMap<[u8; 4], KnownFunction>> = LazyLock::new(|| {
    let named: Vec<KnownFunction> = PARAMETERS.iter().filter_map(|line| KnownFunction::parse(line).ok()).collect();
    let known = |(selector, text): (&[u8; 4], &&str)| {
        let of_packages = packages::functions(*selector).iter();
        let is_same = |known: &&KnownFunction| known.function.signature() == **text;
        let known = named.iter().chain(of_packages).find(is_same).cloned();
        Some((*selector, known.or_else(|| KnownFunction::parse(text).ok())?))
    };
    FUNCTIONS.iter().filter_map(known).collect()
});

/// Parameters of functions that standards name differently, or packages not at all. `claim(uint256)` and
/// `mint(uint256)` mean something else in each contract.
const PARAMETERS: &[&str] = &[
    "transferFrom(address from, address to, uint256 amountOrTokenId)",
    "approve(address spender, uint256 amountOrTokenId)",
    "mint(address to, uint256 amountOrTokenId)",
    "mint(uint256)",
    "burn(uint256 amountOrTokenId)",
    "burn(address account, uint256 amountOrTokenId)",
    "safeMint(address to, uint256 tokenId)",
    "safeMint(address to, uint256 tokenId, bytes data)",
    "withdraw(uint256 amount)",
    "uri(uint256 id)",
    "onERC721Received(address operator, address from, uint256 tokenId, bytes data)",
    "onERC1155Received(address operator, address from, uint256 id, uint256 value, bytes data)",
    "onERC1155BatchReceived(address operator, address from, uint256[] ids, uint256[] values, bytes data)",
];

/// What well-known functions return, by type: ERC-20, 165, 721, 1155, 2981, 4626, proxies, pairs and pools of Uniswap.
const RESULTS: &[(&str, &[&str])] = &[
    (
        "bool",
        &[
            "transfer(address,uint256)",
            "transferFrom(address,address,uint256)",
            "approve(address,uint256)",
            "isApprovedForAll(address,address)",
            "supportsInterface(bytes4)",
            "hasRole(bytes32,address)",
            "paused()",
        ],
    ),
    ("string", &["name()", "symbol()", "tokenURI(uint256)", "uri(uint256)", "contractURI()"]),
    ("uint8", &["decimals()"]),
    ("bytes4", &["isValidSignature(bytes32,bytes)", "onERC721Received(address,address,uint256,bytes)"]),
    ("bytes32", &["DOMAIN_SEPARATOR()", "getRoleAdmin(bytes32)", "proxiableUUID()"]),
    (
        "address",
        &[
            "owner()",
            "pendingOwner()",
            "ownerOf(uint256)",
            "getApproved(uint256)",
            "implementation()",
            "admin()",
            "asset()",
            "token0()",
            "token1()",
            "factory()",
            "getPair(address,address)",
        ],
    ),
    (
        "uint256",
        &[
            "totalSupply()",
            "balanceOf(address)",
            "balanceOf(address,uint256)",
            "allowance(address,address)",
            "nonces(address)",
            "tokenByIndex(uint256)",
            "tokenOfOwnerByIndex(address,uint256)",
            "totalAssets()",
            "convertToShares(uint256)",
            "convertToAssets(uint256)",
            "maxDeposit(address)",
            "maxMint(address)",
            "maxWithdraw(address)",
            "maxRedeem(address)",
            "previewDeposit(uint256)",
            "previewMint(uint256)",
            "previewWithdraw(uint256)",
            "previewRedeem(uint256)",
            "deposit(uint256,address)",
            "mint(uint256,address)",
            "withdraw(uint256,address,address)",
            "redeem(uint256,address,address)",
        ],
    ),
    (
        "uint256[]",
        &[
            "balanceOfBatch(address[],uint256[])",
            "getAmountsOut(uint256,address[])",
            "getAmountsIn(uint256,address[])",
            "swapExactTokensForTokens(uint256,uint256,address[],address,uint256)",
            "swapTokensForExactTokens(uint256,uint256,address[],address,uint256)",
            "swapExactETHForTokens(uint256,address[],address,uint256)",
            "swapTokensForExactETH(uint256,uint256,address[],address,uint256)",
            "swapExactTokensForETH(uint256,uint256,address[],address,uint256)",
            "swapETHForExactTokens(uint256,address[],address,uint256)",
        ],
    ),
    ("uint112 reserve0, uint112 reserve1, uint32 blockTimestampLast", &["getReserves()"]),
    ("address receiver, uint256 royaltyAmount", &["royaltyInfo(uint256,uint256)"]),
    ("int256", &["latestAnswer()"]),
    (
        "uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound",
        &["latestRoundData()"],
    ),
    ("address[]", &["getOwners()"]),
];

/// The same by selector, as functions whose parameters are the results.
static RETURNED: LazyLock<HashMap<[u8; 4], KnownFunction>> = LazyLock::new(|| {
    let of_type = |(results, functions): &(&str, &'static [&'static str])| {
        let known = KnownFunction::parse(&format!("results({results})"));
        functions
            .iter()
            .filter_map(move |text| Some((selector(text), known.as_ref().ok()?.clone())))
            .collect::<Vec<_>>()
    };
    RESULTS.iter().flat_map(of_type).collect()
});

/// What the well-known function with this selector returns, as the parameters of a function.
pub(crate) fn well_known_results(selector: [u8; 4]) -> Option<&'static KnownFunction> {
    RETURNED.get(&selector)
}

/// Functions with a name in any letter case, well-known ones first, then those that packages declare: selector and
/// name of each.
#[must_use]
pub fn functions_named(name: &str) -> Vec<([u8; 4], &'static str)> {
    let name_of = |signature: &'static str| signature.split('(').next().unwrap_or(signature);
    let well_known = well_known_methods().map(|(selector, signature)| (selector, name_of(signature)));
    let mut found: Vec<_> = well_known.filter(|(_, known)| known.eq_ignore_ascii_case(name)).collect();
    let mut others: Vec<_> = packages::function_names().filter(|(_, known)| known.eq_ignore_ascii_case(name)).collect();
    others.retain(|(selector, _)| !FUNCTIONS.contains_key(selector));
    others.sort_unstable();
    others.dedup();
    found.extend(others);
    found
}

/// The well-known function with this selector.
pub(crate) fn well_known_function(selector: [u8; 4]) -> Option<&'static KnownFunction> {
    KNOWN.get(&selector)
}

/// The well-known functions in the order of their list, each with its selector.
pub fn well_known_methods() -> impl Iterator<Item = ([u8; 4], &'static str)> {
    let signatures = include_str!("../../../../sql/signatures/functions.txt").lines().filter(|line| !line.is_empty());
    signatures.map(|signature| (selector(signature), signature))
}

fn selector(signature: &str) -> [u8; 4] {
    let [first, second, third, fourth, ..] = keccak256(signature).0;
    [first, second, third, fourth]
}

/// The well-known function with this selector, else the only one that packages declare: its name and types.
#[must_use]
pub fn well_known_signature(selector: [u8; 4]) -> Option<String> {
    let of_packages = || packages::function(selector).map(|known| known.function.signature());
    FUNCTIONS.get(&selector).map(|text| (*text).to_owned()).or_else(of_packages)
}

/// The name of the well-known function with this selector.
pub(crate) fn well_known(selector: [u8; 4]) -> Option<&'static str> {
    FUNCTIONS.get(&selector)?.split('(').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_functions_have_names() {
        assert_eq!(well_known([0xa9, 0x05, 0x9c, 0xbb]), Some("transfer"));
        assert_eq!(well_known([0x23, 0xb8, 0x72, 0xdd]), Some("transferFrom"));
        assert_eq!(well_known([1, 2, 3, 4]), None);
    }

    #[test]
    fn known_functions_have_types_and_parameters_have_names() {
        assert_eq!(KNOWN.len(), FUNCTIONS.len());
        let is_unnamed =
            |known: &&KnownFunction| known.function.inputs.iter().any(|parameter| parameter.name.is_empty());
        let mut unnamed: Vec<String> =
            KNOWN.values().filter(is_unnamed).map(|known| known.function.signature()).collect();
        unnamed.sort_unstable();
        assert_eq!(unnamed, ["claim(uint256)", "mint(uint256)"]);
        for line in PARAMETERS {
            let known = KnownFunction::parse(line).unwrap_or_else(|error| panic!("{line}: {error}"));
            assert!(FUNCTIONS.contains_key(&known.function.selector().0), "{line}");
        }
    }

    #[test]
    fn results_are_those_of_known_functions() {
        let functions: Vec<&&str> = RESULTS.iter().flat_map(|(_, functions)| functions.iter()).collect();
        assert_eq!(RETURNED.len(), functions.len());
        for text in functions {
            assert!(FUNCTIONS.contains_key(&selector(text)), "{text}");
        }
    }

    #[test]
    fn functions_are_found_by_their_names() {
        let found = functions_named("TRANSFER");
        assert_eq!(found.first(), Some(&([0xa9, 0x05, 0x9c, 0xbb], "transfer")));
        let of_packages = functions_named("fulfillBasicOrder");
        assert_eq!(of_packages.first().map(|(_, name)| *name), Some("fulfillBasicOrder"));
        assert_eq!(functions_named("noSuchFunctionAnywhere"), []);
    }

    #[test]
    fn no_two_signatures_share_a_selector() {
        let lines =
            include_str!("../../../../sql/signatures/functions.txt").lines().filter(|line| !line.is_empty()).count();
        assert_eq!(FUNCTIONS.len(), lines);
    }
}
