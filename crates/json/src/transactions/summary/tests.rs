//! Sentences for synthetic transactions, one rule each, and no sentence where the proof is missing.

use alloy_primitives::keccak256;
use serde_json::{Value, json};

use super::calls::{APPROVE, DEPOSIT, WITHDRAW};
use super::*;
use crate::JsonWriter;
use crate::addresses::address::Addresses;
use crate::tokens::transfers::Tokens;
use crate::vocabulary::Vocabulary;
use trawl_core::primitives::{Address, U256};
use trawl_core::schema::TokenRow;

mod bridges;
mod parts;

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
        metadata: [COIN_A, COIN_B].into_iter().map(|address| (address, row(address).into())).collect(),
        ..Tokens::default()
    }
}

fn transfer(token: Address, from: Address, to: Address, value: u64) -> Transfer {
    Transfer { token_type: "ERC-20".into(), token, from, to, token_id: None, value: U256::from(value) }
}

/// Effects with the method name of well-known signatures.
fn named(effects: &TransactionEffects) -> TransactionEffects {
    let method = Vocabulary::default().method(effects.to.as_ref(), 0, &effects.input);
    TransactionEffects { method, ..effects.clone() }
}

fn sentence_of(effects: &TransactionEffects) -> Value {
    let tokens = tokens();
    let mut writer = JsonWriter::new();
    write_summaries(&mut writer, &summaries(&named(effects), &tokens), &Addresses::default(), &tokens);
    let answer: Value = serde_json::from_slice(&writer.into_bytes()).expect("valid JSON");
    let one = &answer["data"]["summaries"][0];
    // Clients require a value for every placeholder.
    let template = one["summary_template"].as_str().unwrap_or_default();
    for name in template.split('{').skip(1).filter_map(|rest| rest.split('}').next()) {
        assert!(name == "native" || !one["summary_template_variables"][name]["value"].is_null(), "{name} in {one}");
    }
    one.clone()
}

fn effects() -> TransactionEffects {
    TransactionEffects { from: SENDER, to: Some(OTHER), ..TransactionEffects::default() }
}

#[test]
fn plain_transactions_have_plain_sentences() {
    let native = sentence_of(&TransactionEffects { value: U256::from(1_500_000_000_000_000_000u64), ..effects() });
    assert_eq!(native["summary_template"], "{action_type} {amount} {native} to {to_address} by {sender_address}");
    assert_eq!(native["summary_template_variables"]["amount"], json!({"type": "currency", "value": "1.5"}));
    let sent =
        sentence_of(&TransactionEffects { transfers: vec![transfer(COIN_A, SENDER, OTHER, 2_000_001)], ..effects() });
    assert_eq!(sent["summary_template_variables"]["amount"]["value"], "2.000001");
    let minted =
        sentence_of(&TransactionEffects { transfers: vec![transfer(COIN_A, Address::ZERO, OTHER, 1)], ..effects() });
    assert_eq!(minted["summary_template_variables"]["action_type"]["value"], "Minted");
    let created = sentence_of(&TransactionEffects { to: None, created: Some(OTHER), ..effects() });
    assert_eq!(created["summary_template"], "{action_type} contract {contract} by {sender_address}");
    assert_eq!(sentence_of(&effects()), Value::Null);
}

/// The event of a trade, from a pool.
fn trade(pool: Address) -> Log {
    let topics = vec![keccak256("Swap(address,uint256,uint256,uint256,uint256,address)")];
    Log { emitter: pool, topics, data: Vec::new() }
}

fn action(sentence: &Value) -> &str {
    sentence["summary_template_variables"]["action_type"]["value"].as_str().unwrap_or_default()
}

#[test]
fn a_swap_is_one_token_for_another_and_nothing_else() {
    let (out, back) = (transfer(COIN_A, SENDER, OTHER, 5_000_000), transfer(COIN_B, OTHER, SENDER, 7));
    let swap = TransactionEffects {
        transfers: vec![out.clone(), back.clone()],
        input: vec![1, 2, 3, 4],
        logs: vec![trade(OTHER)],
        ..effects()
    };
    let sentence = sentence_of(&swap);
    assert_eq!(action(&sentence), "Swapped");
    assert_eq!(sentence["summary_template_variables"]["incoming_amount"]["value"], "0.000007");
    // More of the same assets is still one trade; a third asset is not.
    let twice = vec![out.clone(), back.clone(), transfer(COIN_A, SENDER, OTHER, 1)];
    let sentence = sentence_of(&TransactionEffects { transfers: twice, ..swap.clone() });
    assert_eq!(sentence["summary_template_variables"]["outgoing_amount"]["value"], "5.000001");
    let third = vec![out.clone(), back, transfer(OTHER, OTHER, SENDER, 1)];
    assert_eq!(action(&sentence_of(&TransactionEffects { transfers: third, ..swap.clone() })), "Called");
    // A reward for a deposit is no trade, even beside one: no pool sent it or received the deposit.
    assert_eq!(action(&sentence_of(&TransactionEffects { logs: Vec::new(), ..swap.clone() })), "Called");
    assert_eq!(action(&sentence_of(&TransactionEffects { logs: vec![trade(COIN_B)], ..swap.clone() })), "Called");
    let minted = vec![out, transfer(COIN_B, Address::ZERO, SENDER, 7)];
    let call = sentence_of(&TransactionEffects { transfers: minted, ..swap });
    assert_eq!(call["summary_template_variables"]["method"], json!({"type": "method", "value": "0x01020304"}));
}

#[test]
fn coins_are_a_side_of_a_swap_if_the_frames_prove_it() {
    let router = Address::repeat_byte(7);
    let bought = TransactionEffects {
        to: Some(router),
        value: U256::from(10),
        input: vec![1, 2, 3, 4],
        // The router wraps 9 and gives 1 back.
        transfers: vec![transfer(COIN_A, router, OTHER, 9), transfer(COIN_B, OTHER, SENDER, 7_000_000)],
        logs: vec![trade(OTHER), wrapping("Deposit", COIN_A, router, 9)],
        coins: Some(vec![
            CoinMove { from: router, to: COIN_A, value: U256::from(9) },
            CoinMove { from: router, to: SENDER, value: U256::from(1) },
        ]),
        ..effects()
    };
    let sentence = sentence_of(&bought);
    let template =
        "{action_type} {outgoing_amount} {native} for {incoming_amount} {incoming_token} by {sender_address}";
    assert_eq!(sentence["summary_template"], template);
    assert_eq!(sentence["summary_template_variables"]["outgoing_amount"]["value"], "0.000000000000000009");
    // Without frames, coins that came back are unknown: the value bounds what was given, if most of it was wrapped.
    let unseen = sentence_of(&TransactionEffects { coins: None, ..bought.clone() });
    let at_most =
        "{action_type} at most {outgoing_amount} {native} for {incoming_amount} {incoming_token} by {sender_address}";
    assert_eq!(unseen["summary_template"], at_most);
    assert_eq!(unseen["summary_template_variables"]["outgoing_amount"]["value"], "0.00000000000000001");
    let least = TransactionEffects { coins: None, value: U256::from(11), ..bought.clone() };
    assert_eq!(action(&sentence_of(&least)), "Called");
    let whole = TransactionEffects { coins: None, value: U256::from(9), ..bought.clone() };
    assert_eq!(sentence_of(&whole)["summary_template"], template);
    let sold = TransactionEffects {
        value: U256::ZERO,
        transfers: vec![transfer(COIN_B, SENDER, OTHER, 7), transfer(COIN_A, OTHER, router, 5)],
        logs: vec![trade(OTHER), wrapping("Withdrawal", COIN_A, router, 5)],
        coins: Some(vec![
            CoinMove { from: COIN_A, to: router, value: U256::from(5) },
            CoinMove { from: router, to: SENDER, value: U256::from(5) },
        ]),
        ..bought
    };
    let template =
        "{action_type} {outgoing_amount} {outgoing_token} for {incoming_amount} {native} by {sender_address}";
    assert_eq!(sentence_of(&sold)["summary_template"], template);
    // Coins that did not come from the pool may be unrelated.
    let other = vec![CoinMove { from: router, to: SENDER, value: U256::from(6) }];
    let unrelated = TransactionEffects { coins: Some(other), logs: vec![trade(OTHER)], ..sold.clone() };
    assert_eq!(action(&sentence_of(&unrelated)), "Called");
    // Without frames all that the called contract unwrapped bounds what came back; what another unwrapped does not.
    let unseen = TransactionEffects { coins: None, ..sold };
    let at_most =
        "{action_type} {outgoing_amount} {outgoing_token} for at most {incoming_amount} {native} by {sender_address}";
    assert_eq!(sentence_of(&unseen)["summary_template"], at_most);
    let stranger = Address::repeat_byte(8);
    let logs = vec![trade(OTHER), wrapping("Withdrawal", COIN_A, stranger, 5)];
    assert_eq!(action(&sentence_of(&TransactionEffects { logs, ..unseen })), "Called");
}

fn wrapping(event: &str, token: Address, account: Address, amount: u64) -> Log {
    let topics = vec![keccak256(format!("{event}(address,uint256)")), account.into_word()];
    Log { emitter: token, topics, data: U256::from(amount).to_be_bytes::<32>().to_vec() }
}

#[test]
fn a_known_router_pays_whom_its_input_names() {
    let router: Address = "0x7a250d5630b4cf539739df2c5dacb4c659f2488d".parse().expect("an address");
    // swapExactTokensForETH(uint256,uint256,address[],address,uint256)
    let input = |payee: Address| {
        let words = [U256::from(7), U256::ZERO, U256::from(160), U256::from_be_slice(payee.as_slice()), U256::ZERO];
        [&[0x18, 0xcb, 0xaf, 0xe5][..], &words.map(|word| word.to_be_bytes::<32>()).concat()].concat()
    };
    let sold = TransactionEffects {
        chain_id: Some(1),
        to: Some(router),
        input: input(SENDER),
        transfers: vec![transfer(COIN_B, SENDER, OTHER, 7), transfer(COIN_A, OTHER, router, 5)],
        logs: vec![trade(OTHER), wrapping("Withdrawal", COIN_A, router, 5)],
        ..effects()
    };
    let exactly = "{action_type} {outgoing_amount} {outgoing_token} for {incoming_amount} {native} by {sender_address}";
    assert_eq!(sentence_of(&sold)["summary_template"], exactly);
    let gift = TransactionEffects { input: input(OTHER), ..sold.clone() };
    assert_eq!(action(&sentence_of(&gift)), "Called", "another account has the coins");
    let elsewhere = TransactionEffects { chain_id: Some(31337), ..sold };
    let template = sentence_of(&elsewhere)["summary_template"].clone();
    assert!(template.as_str().is_some_and(|template| template.contains("at most")), "{template}");
}

#[test]
fn a_tax_that_a_token_sells_is_no_trade_of_the_sender() {
    let vault = Address::repeat_byte(8);
    let taxed = TransactionEffects {
        to: Some(vault),
        input: vec![1, 2, 3, 4],
        transfers: vec![
            transfer(COIN_B, SENDER, vault, 90),
            transfer(COIN_B, SENDER, COIN_B, 10),
            transfer(COIN_B, COIN_B, OTHER, 10),
            transfer(COIN_A, OTHER, vault, 5),
        ],
        logs: vec![trade(OTHER), wrapping("Withdrawal", COIN_A, vault, 5)],
        ..effects()
    };
    assert_eq!(action(&sentence_of(&taxed)), "Called");
}

#[test]
fn amounts_without_decimals_are_units_of_an_address() {
    let unknown = Address::repeat_byte(0xd);
    let sent = sentence_of(&TransactionEffects { transfers: vec![transfer(unknown, SENDER, OTHER, 12)], ..effects() });
    assert_eq!(sent["summary_template"], "{action_type} {amount} units of {token} to {to_address} by {sender_address}");
    let variables = &sent["summary_template_variables"];
    assert_eq!(variables["amount"], json!({"type": "string", "value": "12"}));
    assert_eq!(variables["token"]["value"]["hash"], unknown.to_checksum(None));
    assert_eq!(variables["sender_address"]["value"]["hash"], SENDER.to_checksum(None));
}

#[test]
fn several_of_an_id_are_counted() {
    let several = Transfer { token_type: "ERC-1155".into(), value: U256::from(3), ..piece(OTHER, SENDER, 17) };
    let sentence = sentence_of(&TransactionEffects { transfers: vec![several], ..effects() });
    let template = "{action_type} {count} pieces of #{token_id} of {token} from {from_address} to {to_address} by {sender_address}";
    assert_eq!(sentence["summary_template"], template);
    assert_eq!(sentence["summary_template_variables"]["count"]["value"], "3");
}

#[test]
fn a_failed_transaction_has_one_sentence() {
    let template = |effects: &TransactionEffects| {
        let tokens = tokens();
        let mut writer = JsonWriter::new();
        write_summaries(&mut writer, &[failure(&named(effects))], &Addresses::default(), &tokens);
        let answer: Value = serde_json::from_slice(&writer.into_bytes()).expect("valid JSON");
        answer["data"]["summaries"][0]["summary_template"].as_str().unwrap_or_default().to_owned()
    };
    let called = TransactionEffects { input: [&APPROVE[..], &[0; 64]].concat(), value: U256::ONE, ..effects() };
    assert_eq!(
        template(&called),
        "{action_type} to call {method} on {contract} with {sent_amount} {native} by {sender_address}"
    );
    assert_eq!(template(&effects()), "{action_type} to transfer {amount} {native} to {to_address} by {sender_address}");
    let created = TransactionEffects { to: None, ..called };
    assert_eq!(template(&created), "{action_type} to create a contract by {sender_address}");
}

#[test]
fn coins_of_a_call_are_summarized() {
    let called = TransactionEffects { value: U256::from(10), input: vec![1, 2, 3, 4], ..effects() };
    assert_eq!(
        sentence_of(&called)["summary_template"],
        "{action_type} {method} on {contract} with {sent_amount} {native} by {sender_address}"
    );
    let paid = vec![CoinMove { from: OTHER, to: SENDER, value: U256::from(3) }];
    let claimed = TransactionEffects { value: U256::ZERO, coins: Some(paid), ..called };
    let sentence = sentence_of(&claimed);
    assert_eq!(
        sentence["summary_template"],
        "{action_type} {method} on {contract} for {received_amount} {native} by {sender_address}"
    );
    assert_eq!(sentence["summary_template_variables"]["received_amount"]["value"], "0.000000000000000003");
}

fn piece(from: Address, to: Address, id: u64) -> Transfer {
    let token = Address::repeat_byte(0xc);
    Transfer { token_type: "ERC-721".into(), token, from, to, token_id: Some(U256::from(id)), value: U256::ONE }
}

/// The event of Seaport, as it is hashed.
fn order() -> Log {
    let event = "OrderFulfilled(bytes32,address,address,address,(uint8,address,uint256,uint256)[],(uint8,address,uint256,uint256,address)[])";
    let topics = vec![keccak256(event)];
    assert_eq!(topics[0].to_string(), "0x9d9af8e38d66c62e2c12f0225249fd9d721c54b83f48d9352c97c6cacdcb6f31");
    Log { emitter: Address::repeat_byte(7), topics, data: Vec::new() }
}

#[test]
fn a_sale_is_a_piece_for_a_payment_at_a_market() {
    let market = Address::repeat_byte(7);
    let bought = TransactionEffects {
        to: Some(market),
        value: U256::from(100),
        input: vec![1, 2, 3, 4],
        transfers: vec![piece(OTHER, SENDER, 5)],
        logs: vec![order()],
        coins: Some(vec![
            CoinMove { from: market, to: OTHER, value: U256::from(80) },
            CoinMove { from: market, to: SENDER, value: U256::from(10) },
        ]),
        ..effects()
    };
    let sentence = sentence_of(&bought);
    assert_eq!(
        sentence["summary_template"],
        "{action_type} #{token_id} of {token} for {amount} {native} from {from_address} by {sender_address}"
    );
    assert_eq!(sentence["summary_template_variables"]["amount"]["value"], "0.00000000000000009");
    // Without the market, the payment or the frames it is a transfer.
    assert_eq!(action(&sentence_of(&TransactionEffects { logs: Vec::new(), ..bought.clone() })), "Transferred");
    assert_eq!(action(&sentence_of(&TransactionEffects { coins: Some(Vec::new()), ..bought.clone() })), "Transferred");
    assert_eq!(action(&sentence_of(&TransactionEffects { coins: None, ..bought.clone() })), "Transferred");
    let sold = TransactionEffects {
        value: U256::ZERO,
        transfers: vec![
            piece(SENDER, OTHER, 5),
            transfer(COIN_A, OTHER, SENDER, 2_000_000),
            transfer(COIN_A, SENDER, market, 500_000),
        ],
        coins: None,
        ..bought
    };
    let sentence = sentence_of(&sold);
    let template =
        "{action_type} #{token_id} of {token} for {amount} {payment_token} to {to_address} by {sender_address}";
    assert_eq!((action(&sentence), sentence["summary_template"].as_str()), ("Sold", Some(template)));
    assert_eq!(sentence["summary_template_variables"]["amount"]["value"], "1.5");
}

#[test]
fn a_mint_has_the_price_of_the_frames() {
    let minted =
        TransactionEffects { value: U256::from(6), transfers: vec![piece(Address::ZERO, SENDER, 5)], ..effects() };
    assert_eq!(
        sentence_of(&minted)["summary_template"],
        "{action_type} #{token_id} of {token} to {to_address} by {sender_address}"
    );
    let paid = TransactionEffects { coins: Some(Vec::new()), ..minted };
    assert_eq!(
        sentence_of(&paid)["summary_template"],
        "{action_type} #{token_id} of {token} for {amount} {native} by {sender_address}"
    );
    let two = TransactionEffects {
        transfers: vec![piece(Address::ZERO, SENDER, 5), piece(Address::ZERO, SENDER, 6)],
        ..paid
    };
    let sentence = sentence_of(&two);
    assert_eq!(
        sentence["summary_template"],
        "{action_type} {count} pieces of {token} for {amount} {native} by {sender_address}"
    );
    assert_eq!(sentence["summary_template_variables"]["count"]["value"], "2");
    let gift =
        TransactionEffects { transfers: vec![piece(Address::ZERO, OTHER, 5), piece(Address::ZERO, OTHER, 6)], ..two };
    assert_eq!(
        sentence_of(&gift)["summary_template"],
        "{action_type} {count} pieces of {token} to {to_address} by {sender_address}"
    );
}
