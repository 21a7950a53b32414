//! A transaction in a sentence (specification 2.9): rules over what it did, each saying only what is certain.
//!
//! Templates and variables follow the grammar of the behaviour reference, section 3.7. `{native}` is the chain's own
//! coin and needs no variable.

use alloy_primitives::keccak256;

use super::address::Addresses;
use super::signatures::method_name;
use super::token_transfers::Tokens;
use super::{JsonWriter, Object};
use crate::primitives::{Address, B256, U256};

/// What a transaction did, as far as the rules look at it. It succeeded.
#[derive(Debug, Clone, Default)]
pub struct Deed {
    /// Its sender.
    pub from: Address,
    /// Its recipient; none for a creation.
    pub to: Option<Address>,
    /// The contract it made.
    pub created: Option<Address>,
    /// Wei it carried.
    pub value: U256,
    /// Its input.
    pub input: Vec<u8>,
    /// All token transfers in it, in order.
    pub transfers: Vec<Transfer>,
    /// Its only log, if it has one and no more: emitter, topics and data.
    pub only_log: Option<(Address, Vec<B256>, Vec<u8>)>,
}

/// A token transfer of the transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transfer {
    /// `ERC-20`, `ERC-721` or `ERC-1155`.
    pub token_type: String,
    /// The token.
    pub token: Address,
    /// Who gave; zero for a mint.
    pub from: Address,
    /// Who received; zero for a burn.
    pub to: Address,
    /// Which token, where each is one of its own.
    pub token_id: Option<U256>,
    /// How much.
    pub value: U256,
}

/// A sentence: a template and the values of its placeholders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    template: &'static str,
    variables: Vec<(&'static str, Variable)>,
}

/// The value of a placeholder.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Variable {
    Text(String),
    /// Smallest units, and how many digits of them are behind the point.
    Amount(U256, u8),
    /// A token, and what its transfer looks like.
    Token(Address, String),
    Address(Address),
    Method(String),
}

/// `approve(address,uint256)`.
const APPROVE: [u8; 4] = [0x09, 0x5e, 0xa7, 0xb3];
/// `deposit()`.
const DEPOSIT: [u8; 4] = [0xd0, 0xe3, 0x0d, 0xb0];
/// `withdraw(uint256)`.
const WITHDRAW: [u8; 4] = [0x2e, 0x1a, 0x7d, 0x4d];
/// Digits of the chain's own coin behind the point.
const COIN: u8 = 18;

/// The sentence for a deed; none if no rule fits.
#[must_use]
pub fn summary(deed: &Deed, tokens: &Tokens) -> Option<Summary> {
    let say = |template, variables: Vec<(&'static str, Variable)>| Some(Summary { template, variables });
    let action = |text: &str| ("action_type", Variable::Text(text.into()));
    let Some(to) = deed.to else {
        let created = deed.created?;
        return say(
            "{action_type} contract {contract}",
            vec![action("Created"), ("contract", Variable::Address(created))],
        );
    };
    if let [transfer] = deed.transfers.as_slice() {
        return of_transfer(transfer, deed, tokens);
    }
    if !deed.transfers.is_empty() {
        return swap(deed, tokens).or_else(|| call(deed, to));
    }
    if deed.input.is_empty() {
        return (!deed.value.is_zero()).then(|| Summary {
            template: "{action_type} {amount} {native} to {to_address}",
            variables: vec![
                action("Transferred"),
                ("amount", Variable::Amount(deed.value, COIN)),
                ("to_address", Variable::Address(to)),
            ],
        });
    }
    approval(deed, to, tokens).or_else(|| wrap(deed, to)).or_else(|| call(deed, to))
}

fn of_transfer(transfer: &Transfer, deed: &Deed, tokens: &Tokens) -> Option<Summary> {
    let (action, ends): (&str, &[(&'static str, Address)]) = match (transfer.from.is_zero(), transfer.to.is_zero()) {
        (true, true) => return None,
        (true, false) => ("Minted", &[("to_address", transfer.to)]),
        (false, true) => ("Burned", &[]),
        (false, false) if transfer.from == deed.from => ("Transferred", &[("to_address", transfer.to)]),
        (false, false) => ("Transferred", &[("from_address", transfer.from), ("to_address", transfer.to)]),
    };
    let mut variables = vec![("action_type", Variable::Text(action.into()))];
    let what = match (transfer.token_id, tokens.decimals(&transfer.token)) {
        (Some(id), _) => {
            variables.push(("token_id", Variable::Text(id.to_string())));
            0
        }
        (None, Some(decimals)) => {
            variables.push(("amount", Variable::Amount(transfer.value, decimals)));
            1
        }
        // Without decimals an amount would be a guess.
        (None, None) => 2,
    };
    variables.push(("token", Variable::Token(transfer.token, transfer.token_type.clone())));
    variables.extend(ends.iter().map(|(name, address)| (*name, Variable::Address(*address))));
    let template = match (what, ends.len()) {
        (0, 0) => "{action_type} {token_id} of {token}",
        (0, 1) => "{action_type} {token_id} of {token} to {to_address}",
        (0, _) => "{action_type} {token_id} of {token} from {from_address} to {to_address}",
        (1, 0) => "{action_type} {amount} {token}",
        (1, 1) => "{action_type} {amount} {token} to {to_address}",
        (1, _) => "{action_type} {amount} {token} from {from_address} to {to_address}",
        (_, 0) => "{action_type} {token}",
        (_, 1) => "{action_type} {token} to {to_address}",
        (_, _) => "{action_type} {token} from {from_address} to {to_address}",
    };
    Some(Summary { template, variables })
}

/// The sender gave one token and received another, and nothing else went to or from it.
fn swap(deed: &Deed, tokens: &Tokens) -> Option<Summary> {
    let mine: Vec<&Transfer> =
        deed.transfers.iter().filter(|transfer| transfer.from == deed.from || transfer.to == deed.from).collect();
    let [given, taken] = mine.as_slice() else { return None };
    let (given, taken) = if given.from == deed.from { (given, taken) } else { (taken, given) };
    let is_swap = given.from == deed.from
        && taken.to == deed.from
        && given.token != taken.token
        && deed.value.is_zero()
        && [given, taken]
            .iter()
            .all(|transfer| transfer.token_type == "ERC-20" && !transfer.from.is_zero() && !transfer.to.is_zero());
    if !is_swap {
        return None;
    }
    Some(Summary {
        template: "{action_type} {outgoing_amount} {outgoing_token} for {incoming_amount} {incoming_token}",
        variables: vec![
            ("action_type", Variable::Text("Swapped".into())),
            ("outgoing_amount", Variable::Amount(given.value, tokens.decimals(&given.token)?)),
            ("outgoing_token", Variable::Token(given.token, given.token_type.clone())),
            ("incoming_amount", Variable::Amount(taken.value, tokens.decimals(&taken.token)?)),
            ("incoming_token", Variable::Token(taken.token, taken.token_type.clone())),
        ],
    })
}

fn approval(deed: &Deed, token: Address, tokens: &Tokens) -> Option<Summary> {
    let arguments = deed.input.strip_prefix(&APPROVE)?;
    // What an approval is of, only its log tells: an allowance of ERC-20 has its amount in the data.
    let (emitter, topics, data) = deed.only_log.as_ref()?;
    let spender = Address::from_slice(arguments.get(12..32)?);
    let said = [keccak256("Approval(address,address,uint256)"), deed.from.into_word(), spender.into_word()];
    if *emitter != token || *topics != said || data.len() != 32 || arguments.len() != 64 {
        return None;
    }
    let amount = U256::from_be_slice(data);
    let decimals = tokens.decimals(&token);
    let mut variables = vec![("action_type", Variable::Text("Approved".into()))];
    let template = match decimals {
        // No supply comes near half of all numbers: it means without limit.
        _ if amount >= U256::ONE << 255 => {
            variables.push(("amount", Variable::Text("unlimited".into())));
            "{action_type} {amount} {token} for {spender_address}"
        }
        Some(decimals) => {
            variables.push(("amount", Variable::Amount(amount, decimals)));
            "{action_type} {amount} {token} for {spender_address}"
        }
        None => "{action_type} {token} for {spender_address}",
    };
    variables.push(("token", Variable::Token(token, "ERC-20".into())));
    variables.push(("spender_address", Variable::Address(spender)));
    Some(Summary { template, variables })
}

/// Coin into its wrapped form, or back: the contract's only log says the same account and amount.
fn wrap(deed: &Deed, token: Address) -> Option<Summary> {
    let (emitter, topics, data) = deed.only_log.as_ref()?;
    let said = |event: &str| *topics == [keccak256(event), deed.from.into_word()];
    let amount = (*emitter == token && data.len() == 32).then(|| U256::from_be_slice(data))?;
    let is_wrapped =
        deed.input == DEPOSIT && said("Deposit(address,uint256)") && amount == deed.value && !amount.is_zero();
    let is_unwrapped = deed.input.len() == 36
        && deed.input.starts_with(&WITHDRAW)
        && said("Withdrawal(address,uint256)")
        && U256::from_be_slice(&deed.input[4..]) == amount
        && deed.value.is_zero();
    let (action, template) = match (is_wrapped, is_unwrapped) {
        (true, _) => ("Wrapped", "{action_type} {amount} {native} into {token}"),
        (_, true) => ("Unwrapped", "{action_type} {amount} {token} into {native}"),
        _ => return None,
    };
    Some(Summary {
        template,
        variables: vec![
            ("action_type", Variable::Text(action.into())),
            ("amount", Variable::Amount(amount, COIN)),
            ("token", Variable::Token(token, "ERC-20".into())),
        ],
    })
}

fn call(deed: &Deed, to: Address) -> Option<Summary> {
    let method = method_name(&deed.input)?;
    Some(Summary {
        template: "{action_type} {method} on {contract}",
        variables: vec![
            ("action_type", Variable::Text("Called".into())),
            ("method", Variable::Method(method)),
            ("contract", Variable::Address(to)),
        ],
    })
}

/// Every address a deed's sentence may show.
pub fn shown(deed: &Deed) -> Vec<Address> {
    let of_transfers = deed.transfers.iter().flat_map(|transfer| [transfer.token, transfer.from, transfer.to]);
    let spender = deed.input.get(16..36).map(Address::from_slice);
    let ends = [deed.to, deed.created, spender].into_iter().flatten();
    of_transfers.chain(ends).collect()
}

/// Writes the answer: a list of at most one sentence.
pub fn write_summaries(writer: &mut JsonWriter, summary: Option<&Summary>, (addresses, tokens): (&Addresses, &Tokens)) {
    writer.object(|answer| {
        answer.key("success").bool(true);
        answer.key("data").object(|data| {
            data.key("summaries").array(|summaries| {
                if let Some(summary) = summary {
                    summaries.item().object(|object| {
                        object.key("summary_template").string(summary.template);
                        object.key("summary_template_variables").object(|variables| {
                            for (name, variable) in &summary.variables {
                                variables.key(name).object(|object| write(object, variable, addresses, tokens));
                            }
                        });
                    });
                }
            });
        });
    });
}

fn write(object: &mut Object<'_>, variable: &Variable, addresses: &Addresses, tokens: &Tokens) {
    match variable {
        Variable::Text(text) => {
            object.key("type").string("string");
            object.key("value").string(text);
        }
        Variable::Amount(amount, decimals) => {
            object.key("type").string("currency");
            object.key("value").string(&decimal(*amount, *decimals));
        }
        Variable::Token(token, token_type) => {
            object.key("type").string("token");
            tokens.write(object.key("value"), token, token_type);
        }
        Variable::Address(address) => {
            object.key("type").string("address");
            addresses.write(object.key("value"), address);
        }
        Variable::Method(method) => {
            object.key("type").string("method");
            object.key("value").string(method);
        }
    }
}

/// An amount with its point, without zeros that say nothing.
fn decimal(amount: U256, decimals: u8) -> String {
    let digits = format!("{amount:0>width$}", width = usize::from(decimals) + 1);
    let (whole, fraction) = digits.split_at(digits.len() - usize::from(decimals));
    let fraction = fraction.trim_end_matches('0');
    if fraction.is_empty() { whole.into() } else { format!("{whole}.{fraction}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::TokenRow;
    use serde_json::{Value, json};

    const SENDER: Address = Address::repeat_byte(1);
    const OTHER: Address = Address::repeat_byte(2);
    const COIN_A: Address = Address::repeat_byte(0xa);
    const COIN_B: Address = Address::repeat_byte(0xb);

    fn tokens() -> Tokens {
        let row = |address: Address| TokenRow {
            address,
            block_number: 1,
            token_type: "ERC-20".into(),
            name: None,
            symbol: Some("T".into()),
            decimals: Some(6),
            total_supply: None,
        };
        Tokens {
            told: [COIN_A, COIN_B].into_iter().map(|address| (address, row(address))).collect(),
            ..Tokens::default()
        }
    }

    fn transfer(token: Address, from: Address, to: Address, value: u64) -> Transfer {
        Transfer { token_type: "ERC-20".into(), token, from, to, token_id: None, value: U256::from(value) }
    }

    fn told(deed: &Deed) -> Value {
        let tokens = tokens();
        let mut writer = JsonWriter::new();
        write_summaries(&mut writer, summary(deed, &tokens).as_ref(), (&Addresses::default(), &tokens));
        let answer: Value = serde_json::from_slice(&writer.into_bytes()).expect("valid JSON");
        let one = &answer["data"]["summaries"][0];
        // Every placeholder has a value, as clients demand.
        let template = one["summary_template"].as_str().unwrap_or_default();
        for name in template.split('{').skip(1).filter_map(|rest| rest.split('}').next()) {
            assert!(name == "native" || !one["summary_template_variables"][name]["value"].is_null(), "{name} in {one}");
        }
        one.clone()
    }

    fn deed() -> Deed {
        Deed { from: SENDER, to: Some(OTHER), ..Deed::default() }
    }

    #[test]
    fn plain_deeds_have_plain_sentences() {
        let native = told(&Deed { value: U256::from(1_500_000_000_000_000_000u64), ..deed() });
        assert_eq!(native["summary_template"], "{action_type} {amount} {native} to {to_address}");
        assert_eq!(native["summary_template_variables"]["amount"], json!({"type": "currency", "value": "1.5"}));
        let sent = told(&Deed { transfers: vec![transfer(COIN_A, SENDER, OTHER, 2_000_001)], ..deed() });
        assert_eq!(sent["summary_template_variables"]["amount"]["value"], "2.000001");
        let minted = told(&Deed { transfers: vec![transfer(COIN_A, Address::ZERO, OTHER, 1)], ..deed() });
        assert_eq!(minted["summary_template_variables"]["action_type"]["value"], "Minted");
        let created = told(&Deed { to: None, created: Some(OTHER), ..deed() });
        assert_eq!(created["summary_template"], "{action_type} contract {contract}");
        assert_eq!(told(&deed()), Value::Null);
    }

    #[test]
    fn a_swap_is_one_token_for_another_and_nothing_else() {
        let (out, back) = (transfer(COIN_A, SENDER, OTHER, 5_000_000), transfer(COIN_B, OTHER, SENDER, 7));
        let input = vec![1, 2, 3, 4];
        let swap = told(&Deed { transfers: vec![out.clone(), back.clone()], input: input.clone(), ..deed() });
        assert_eq!(swap["summary_template_variables"]["action_type"]["value"], "Swapped");
        assert_eq!(swap["summary_template_variables"]["incoming_amount"]["value"], "0.000007");
        let more = vec![out.clone(), back, transfer(COIN_B, SENDER, OTHER, 1)];
        let call = told(&Deed { transfers: more, input: input.clone(), ..deed() });
        assert_eq!(call["summary_template_variables"]["action_type"]["value"], "Called");
        let minted = vec![out, transfer(COIN_B, Address::ZERO, SENDER, 7)];
        let call = told(&Deed { transfers: minted, input, ..deed() });
        assert_eq!(call["summary_template_variables"]["method"], json!({"type": "method", "value": "0x01020304"}));
    }

    #[test]
    fn coins_are_wrapped_where_the_log_says_the_same() {
        let log = |event: &str, amount: u64| {
            let topics = vec![keccak256(event), SENDER.into_word()];
            Some((OTHER, topics, U256::from(amount).to_be_bytes::<32>().to_vec()))
        };
        let wrapped = Deed {
            value: U256::from(9),
            input: DEPOSIT.to_vec(),
            only_log: log("Deposit(address,uint256)", 9),
            ..deed()
        };
        assert_eq!(told(&wrapped)["summary_template_variables"]["action_type"]["value"], "Wrapped");
        let other = Deed { only_log: log("Deposit(address,uint256)", 8), ..wrapped.clone() };
        assert_eq!(told(&other)["summary_template_variables"]["action_type"]["value"], "Called");
        let stranger = Deed { only_log: log("Paid(address,uint256)", 9), ..wrapped };
        assert_eq!(told(&stranger)["summary_template_variables"]["action_type"]["value"], "Called");
        let input = [&WITHDRAW[..], &U256::from(9).to_be_bytes::<32>()].concat();
        let back = Deed { input, only_log: log("Withdrawal(address,uint256)", 9), ..deed() };
        assert_eq!(told(&back)["summary_template"], "{action_type} {amount} {token} into {native}");
    }

    #[test]
    fn an_approval_is_what_its_log_says() {
        let spender = Address::repeat_byte(9);
        let input = [&APPROVE[..], spender.into_word().as_slice(), &U256::MAX.to_be_bytes::<32>()].concat();
        let log = |owner: Address, amount: U256| {
            let topics = vec![keccak256("Approval(address,address,uint256)"), owner.into_word(), spender.into_word()];
            Some((COIN_A, topics, amount.to_be_bytes::<32>().to_vec()))
        };
        let approved = Deed { to: Some(COIN_A), input, only_log: log(SENDER, U256::MAX), ..deed() };
        let sentence = told(&approved);
        assert_eq!(sentence["summary_template"], "{action_type} {amount} {token} for {spender_address}");
        assert_eq!(sentence["summary_template_variables"]["amount"]["value"], "unlimited");
        let some = Deed { only_log: log(SENDER, U256::from(1_500_000)), ..approved.clone() };
        assert_eq!(told(&some)["summary_template_variables"]["amount"]["value"], "1.5");
        let other = Deed { only_log: log(OTHER, U256::MAX), ..approved };
        assert_eq!(told(&other)["summary_template_variables"]["method"]["value"], "approve");
    }

    #[test]
    fn amounts_have_their_point() {
        assert_eq!(decimal(U256::from(1), 18), "0.000000000000000001");
        assert_eq!(decimal(U256::from(100), 2), "1");
        assert_eq!(decimal(U256::from(105), 2), "1.05");
        assert_eq!(decimal(U256::ZERO, 6), "0");
        assert_eq!(decimal(U256::from(42), 0), "42");
    }
}
