//! Reads of state and calls, drawn at random, against the node that made the scenario chain: the answers are the same.

use alloy_dyn_abi::{DynSolType, DynSolValue, Specifier as _};
use alloy_primitives::{Address, B256, I256, U256, keccak256};
use anyhow::ensure;
use serde_json::{Value, json};

use crate::dice::Dice;
use crate::env;
use crate::scenario::{Scenario, answers, scenario};

/// How many questions are put to both; more in the slow run.
const QUESTIONS: usize = 250;
const SLOW_QUESTIONS: usize = 10_000;
/// Questions in one message.
const BATCH: usize = 25;

/// Draws questions about a chain.
struct QuestionGenerator<'a>(&'a Scenario);

impl QuestionGenerator<'_> {
    fn anyone(&self, dice: &mut Dice) -> Address {
        let from = if dice.roll(2) == 0 { &self.0.contracts } else { &self.0.accounts };
        *dice.pick(from)
    }

    /// A value for a parameter: often one that means something to these contracts.
    fn value(&self, kind: &DynSolType, dice: &mut Dice) -> DynSolValue {
        match kind {
            DynSolType::Address => DynSolValue::Address(self.anyone(dice)),
            DynSolType::Bool => DynSolValue::Bool(dice.roll(2) == 0),
            DynSolType::Uint(bits) => {
                let small = [0, 1, 2, 3, 5, 100, 1_000_000, 1_000_000_000_000_000_000_u64];
                let number = U256::from(*dice.pick(&small));
                DynSolValue::Uint(
                    if dice.roll(9) == 0 { U256::MAX >> (256 - bits) } else { number & (U256::MAX >> (256 - bits)) },
                    *bits,
                )
            }
            DynSolType::Int(bits) => DynSolValue::Int(I256::try_from(dice.roll(9) as u64).unwrap_or_default(), *bits),
            DynSolType::FixedBytes(size) => {
                let mut word = B256::ZERO;
                word[..4].copy_from_slice(&[0x01, 0xff, 0xc9, 0xa7]);
                DynSolValue::FixedBytes(word, *size)
            }
            DynSolType::Bytes => DynSolValue::Bytes(vec![7; dice.roll(70)]),
            DynSolType::String => DynSolValue::String("x".repeat(dice.roll(40))),
            DynSolType::Array(inner) => {
                DynSolValue::Array((0..dice.roll(4)).map(|_| self.value(inner, dice)).collect())
            }
            DynSolType::FixedArray(inner, size) => {
                DynSolValue::FixedArray((0..*size).map(|_| self.value(inner, dice)).collect())
            }
            DynSolType::Tuple(members) => {
                DynSolValue::Tuple(members.iter().map(|kind| self.value(kind, dice)).collect())
            }
            _ => DynSolValue::Bool(false),
        }
    }

    fn input(&self, dice: &mut Dice) -> anyhow::Result<String> {
        let function = dice.pick(&self.0.functions);
        let values: Vec<DynSolValue> = function
            .inputs
            .iter()
            .map(|input| Ok(self.value(&input.resolve()?, dice)))
            .collect::<anyhow::Result<_>>()?;
        let encoded = DynSolValue::Tuple(values).abi_encode_params();
        Ok(alloy_primitives::hex::encode_prefixed([function.selector().as_slice(), &encoded].concat()))
    }

    fn question(&self, dice: &mut Dice) -> anyhow::Result<(&'static str, Value)> {
        let block = format!("{:#x}", dice.roll(self.0.blocks));
        let account = self.anyone(dice);
        Ok(match dice.roll(20) {
            0..3 => ("eth_getBalance", json!([account, block])),
            3..5 => ("eth_getTransactionCount", json!([account, block])),
            5 => ("eth_getCode", json!([account, block])),
            6..9 => ("eth_getStorageAt", json!([dice.pick(&self.0.contracts), self.slot(dice), block])),
            kind => {
                let mut call = json!({"from": dice.pick(&self.0.accounts), "to": dice.pick(&self.0.contracts), "data": self.input(dice)?});
                if dice.roll(8) == 0 {
                    call["value"] = json!(dice.pick(&["0x1", "0x3b9aca00", "0xde0b6b3a7640000"]));
                }
                (if kind < 16 { "eth_call" } else { "eth_estimateGas" }, json!([call, block]))
            }
        })
    }

    /// One of the first slots, or what a mapping there holds for an account.
    fn slot(&self, dice: &mut Dice) -> String {
        let first = B256::from(U256::from(dice.roll(8)));
        if dice.roll(2) == 0 {
            return first.to_string();
        }
        keccak256([dice.pick(&self.0.accounts).into_word().as_slice(), first.as_slice()].concat()).to_string()
    }
}

/// Results are the same; of errors, whether there is one, its code and its data, as each node has words of its own.
fn is_same(found: &Value, expected: &Value) -> bool {
    match (found.get("result"), expected.get("result")) {
        (Some(found), Some(expected)) => found == expected,
        (None, None) => {
            // Gas that runs out, an invalid instruction: -32000 in geth as here, -32603 in anvil.
            let is_halt = found["error"]["code"] == -32000 && expected["error"]["code"] == -32603;
            (is_halt || found["error"]["code"] == expected["error"]["code"])
                && found["error"]["data"] == expected["error"]["data"]
        }
        _ => false,
    }
}

#[test]
fn state_and_calls_equal_the_node() -> anyhow::Result<()> {
    let scenario = scenario();
    let (trawl, drawn) = (scenario.trawl(), QuestionGenerator(scenario));
    let count = if env::is_slow_run() { SLOW_QUESTIONS } else { QUESTIONS };
    let mut dice = Dice(5);
    let (mut differing, mut succeeded) = (Vec::new(), 0);
    for _ in 0..count / BATCH {
        let questions: Vec<_> = (0..BATCH).map(|_| drawn.question(&mut dice)).collect::<anyhow::Result<_>>()?;
        let (found, expected) = (answers(&trawl, &questions)?, answers(&scenario.node, &questions)?);
        for ((question, found), expected) in questions.iter().zip(&found).zip(&expected) {
            succeeded += usize::from(expected.get("result").is_some());
            if !is_same(found, expected) {
                differing.push(format!("{question:?}: {found} instead of {expected}"));
            }
        }
    }
    ensure!(
        differing.is_empty(),
        "{} of {count} differ: {:#?}",
        differing.len(),
        &differing[..differing.len().min(10)]
    );
    ensure!(succeeded > count / 2, "only {succeeded} questions have a result");
    Ok(())
}
