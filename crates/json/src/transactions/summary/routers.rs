//! Recipients of coins that a known router unwraps, according to the input of its call.
//!
//! Call frames tell it of any contract; these rules stand in for them where they are not loaded, and only for contracts
//! whose code is known (`routers.txt`).

use std::collections::HashMap;
use std::sync::LazyLock;

use super::TransactionEffects;
use trawl_core::primitives::{Address, U256};

/// Whom a router pays the coins that it unwrapped at its end, and those that it did not use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Payees {
    /// Recipient of the coins that it unwrapped last; none if it unwraps nothing.
    pub unwrapped: Option<Address>,
    /// Recipient of the part of the value that it did not wrap; none if it keeps it.
    pub rest: Option<Address>,
}

/// How the input of a router is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Uniswap v2: a function a trade, the recipient an argument of it.
    Pair,
    /// Uniswap v3: several calls in one.
    Multicall,
    /// Universal Router: a byte a command, with an input each.
    Commands,
    /// Some functions, which pay the sender.
    Sender,
}

static ROUTERS: LazyLock<HashMap<(u64, Address), Form>> = LazyLock::new(|| {
    let lines = include_str!("routers.txt").lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(router).collect()
});

fn router(line: &str) -> Option<((u64, Address), Form)> {
    let mut words = line.split(' ');
    let (chain, address) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    let form = match words.next()? {
        "pair" => Form::Pair,
        "multicall" => Form::Multicall,
        "commands" => Form::Commands,
        "sender" => Form::Sender,
        _ => return None,
    };
    Some(((chain, address), form))
}

/// Whom the router that the transaction called pays; none if it called no known router, or in a way that is not known.
pub(crate) fn payees(effects: &TransactionEffects) -> Option<Payees> {
    let form = ROUTERS.get(&(effects.chain_id?, effects.to?))?;
    let (selector, arguments) = effects.input.split_first_chunk::<4>()?;
    match form {
        Form::Pair => pair(*selector, arguments, effects.from),
        Form::Multicall => calls(*selector, arguments, effects.from),
        Form::Commands => commands(*selector, arguments, effects.to?, effects.from),
        Form::Sender => sender(*selector, effects.from),
    }
}

/// Payees of Uniswap's <https://github.com/Uniswap/v2-periphery/blob/master/contracts/UniswapV2Router02.sol>.
fn pair(selector: [u8; 4], arguments: &[u8], sender: Address) -> Option<Payees> {
    match selector {
        // swapExactTokensForETH, the same with taxed tokens, swapTokensForExactETH: the recipient comes fourth.
        [0x18, 0xcb, 0xaf, 0xe5] | [0x79, 0x1a, 0xc9, 0x47] | [0x4a, 0x25, 0xd9, 0x4a] => {
            Some(Payees { unwrapped: Some(account(arguments, 96)?), rest: None })
        }
        // swapETHForExactTokens gives the rest back; swapExactETHForTokens, also with taxed tokens, wraps the whole
        // value.
        [0xfb, 0x3b, 0xdb, 0x41] => Some(Payees { unwrapped: None, rest: Some(sender) }),
        [0x7f, 0xf3, 0x6a, 0xb5] | [0xb6, 0xf9, 0xde, 0x95] => Some(Payees::default()),
        // swapExactTokensForTokens, the same with taxed tokens, swapTokensForExactTokens.
        [0x38, 0xed, 0x17, 0x39] | [0x5c, 0x11, 0xd7, 0x95] | [0x88, 0x03, 0xdb, 0xee] => Some(Payees::default()),
        _ => None,
    }
}

/// <https://github.com/Uniswap/v3-periphery> and swap-router-contracts: several calls, or one trade, which moves no coins
/// out of the router.
fn calls(selector: [u8; 4], arguments: &[u8], sender: Address) -> Option<Payees> {
    let list = match selector {
        // multicall(bytes[]), multicall(uint256,bytes[]), multicall(bytes32,bytes[]).
        [0xac, 0x96, 0x50, 0xd8] => byte_strings(arguments, 0)?,
        [0x5a, 0xe4, 0x01, 0xdc] | [0x1f, 0x04, 0x64, 0xd1] => byte_strings(arguments, 32)?,
        // exactInput and exactInputSingle of both routers.
        [0xc0, 0x4b, 0x8d, 0x59] | [0x41, 0x4b, 0xf3, 0x89] | [0xb8, 0x58, 0x18, 0x3f] | [0x04, 0xe4, 0x5a, 0xaf] => {
            return Some(Payees::default());
        }
        _ => return None,
    };
    let mut payees = Payees::default();
    for call in list {
        let (selector, arguments) = call.split_first_chunk::<4>()?;
        match *selector {
            // unwrapWETH9(uint256,address), unwrapWETH9(uint256), refundETH().
            [0x49, 0x40, 0x4b, 0x7c] => once(&mut payees.unwrapped, account(arguments, 32)?)?,
            [0x49, 0x61, 0x69, 0x97] => once(&mut payees.unwrapped, sender)?,
            [0x12, 0x21, 0x0e, 0x8a] => payees.rest = Some(sender),
            // unwrapWETH9WithFee, in both forms.
            [0x9b, 0x2c, 0x0a, 0x37] | [0xd4, 0xef, 0x38, 0xde] => return None,
            _ => {}
        }
    }
    Some(payees)
}

/// <https://docs.uniswap.org/contracts/universal-router/technical-reference>: `execute(bytes,bytes[])`, with a deadline too.
fn commands(selector: [u8; 4], arguments: &[u8], router: Address, sender: Address) -> Option<Payees> {
    if ![[0x24, 0x85, 0x6b, 0xc3], [0x35, 0x93, 0x56, 0x4c]].contains(&selector) {
        return None;
    }
    let list = byte_string(arguments, offset(arguments, 0)?)?;
    let inputs = byte_strings(arguments, 32)?;
    let mut payees = Payees::default();
    for (command, input) in list.iter().zip(inputs.iter().copied()) {
        match command & 0x3f {
            // Trades with v3 and v2, permits and tokens from the sender, wrapping.
            0x00..=0x03 | 0x08..=0x0b | 0x0d => {}
            // What the router has of a token, or a part of it, goes to somebody. The coin is the zero address.
            0x04..=0x06 if account(input, 0).is_some_and(|token| !token.is_zero()) => {}
            // Coins go to an account: 1 stands for the sender, 2 for the router.
            0x0c => {
                let named = account(input, 0)?;
                let payee = match U256::from_be_slice(named.as_slice()) {
                    one if one == U256::ONE => sender,
                    two if two == U256::from(2) => router,
                    _ => named,
                };
                once(&mut payees.unwrapped, payee)?;
            }
            _ => return None,
        }
    }
    (list.len() == inputs.len()).then_some(payees)
}

/// `unoswap` and `uniswapV3Swap` of 1inch: all that comes out goes to the sender, who gives the whole value.
fn sender(selector: [u8; 4], sender: Address) -> Option<Payees> {
    let known =
        [[0x2e, 0x95, 0xb6, 0xc8], [0x05, 0x02, 0xb1, 0xc5], [0xe4, 0x49, 0x02, 0x2e], [0x83, 0x80, 0x0a, 0x8e]];
    known.contains(&selector).then_some(Payees { unwrapped: Some(sender), rest: None })
}

/// Notes the only payee; two would share what is not known.
fn once(payee: &mut Option<Address>, found: Address) -> Option<()> {
    payee.replace(found).is_none().then_some(())
}

fn word(data: &[u8], at: usize) -> Option<&[u8; 32]> {
    data.get(at..)?.first_chunk()
}

fn account(data: &[u8], at: usize) -> Option<Address> {
    let word = word(data, at)?;
    word[..12].iter().all(|byte| *byte == 0).then(|| Address::from_slice(&word[12..]))
}

fn offset(data: &[u8], at: usize) -> Option<usize> {
    usize::try_from(U256::from_be_bytes(*word(data, at)?)).ok()
}

fn byte_string(data: &[u8], at: usize) -> Option<&[u8]> {
    let start = at.checked_add(32)?;
    data.get(start..start.checked_add(offset(data, at)?)?)
}

/// The list of byte strings whose position stands at `at`.
fn byte_strings(data: &[u8], at: usize) -> Option<Vec<&[u8]>> {
    let list = offset(data, at)?;
    let start = list.checked_add(32)?;
    let count = offset(data, list)?;
    // Each has an offset, so more do not fit.
    if count > data.len() / 32 {
        return None;
    }
    (0..count).map(|item| byte_string(data, start.checked_add(offset(data, start.checked_add(32 * item)?)?)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_a_router() {
        let lines = include_str!("routers.txt").lines().filter(|line| !line.starts_with('#')).count();
        assert_eq!(ROUTERS.len(), lines);
    }

    #[test]
    fn hostile_inputs_name_no_payee() {
        let to = "0x3fc91a3afd70395cd496c647d5a6cc9d4b2b7fad".parse().expect("an address");
        let mut effects = TransactionEffects { chain_id: Some(1), to: Some(to), ..TransactionEffects::default() };
        for input in ["", "3593564c", &format!("3593564c{}", "ff".repeat(96)), &format!("3593564c{}", "00".repeat(40))]
        {
            effects.input = alloy_primitives::hex::decode(input).expect("hex");
            let named = payees(&effects);
            assert!(named.is_none_or(|payees| payees == Payees::default()), "{input}: {named:?}");
        }
    }
}
