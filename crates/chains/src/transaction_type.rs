//! Transaction types that Ethereum does not have.

use alloy_primitives::{Address, U256, address};
use serde_json::{Map, Value};

use crate::evidence::Evidence;
use crate::fields::{EncodingError, Field, quantity};
use crate::signer::KeySigned;

pub(crate) mod legacy;

/// The member of a receipt with the nonce of who sent a deposit
/// (<https://specs.optimism.io/protocol/deposits.html#deposit-receipt>).
pub(crate) const DEPOSIT_NONCE: &str = "depositNonce";

/// The member of a receipt with the version of what is hashed of it, since Canyon.
pub(crate) const DEPOSIT_RECEIPT_VERSION: &str = "depositReceiptVersion";
/// The only version there is (ethereum-optimism/specs, `protocol/deposits.md`).
const CANYON_VERSION: &str = "0x1";
/// Sends the deposit that begins every block, whose nonce is therefore the number of blocks before
/// (<https://specs.optimism.io/protocol/deposits.html#l1-attributes-depositor-account>).
const L1_ATTRIBUTES_DEPOSITOR: Address = address!("deaddeaddeaddeaddeaddeaddeaddeaddead0001");

/// The member of a receipt with the base fee in the token that pays for gas
/// (<https://github.com/celo-org/celo-proposals/blob/master/CIPs/cip-0064.md>).
pub(crate) const BASE_FEE: &str = "baseFee";

/// A transaction type of a family (EIP-2718): its byte, then the RLP of a list.
#[derive(Debug)]
pub struct FamilyTransactionType {
    /// The first byte of the encoding (EIP-2718).
    pub byte: u8,
    /// Name for readers, such as `deposit`.
    pub name: &'static str,
    /// What the list holds, in order.
    pub fields: &'static [Field],
    /// What is the same in all transactions of the type, and in no hash.
    pub constants: &'static [Constant],
    /// Where the sender comes from.
    pub sender: SenderRule,
    /// What its receipts hold beyond Ethereum's.
    pub receipt: ReceiptTail,
    /// What the encoding was tried on.
    pub evidence: Evidence,
    /// What its receipts were tried on: their encoding, price and contract.
    pub receipt_evidence: Evidence,
}

/// A member of a node's JSON that has one value in all transactions of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Constant {
    /// Name of the member in the node's JSON.
    pub name: &'static str,
    /// Its value, in lower case.
    pub value: &'static str,
}

/// What every node gives of a transaction, which follows from where it stands.
const OF_POSITION: [&str; 7] =
    ["hash", "type", "blockHash", "blockNumber", "blockTimestamp", "transactionIndex", "chainId"];
/// What every node gives of a receipt, which the receipts root covers or which is compared with what it follows from.
const OF_RECEIPTS: [&str; 15] = [
    "transactionHash",
    "transactionIndex",
    "type",
    "blockHash",
    "blockNumber",
    "blockTimestamp",
    "from",
    "to",
    "status",
    "root",
    "cumulativeGasUsed",
    "gasUsed",
    "effectiveGasPrice",
    "contractAddress",
    "logsBloom",
];

impl FamilyTransactionType {
    /// The members of a node's JSON of a transaction of this type that its hash does not cover.
    pub fn uncovered<'a>(&'a self, json: &'a Map<String, Value>) -> impl Iterator<Item = String> + 'a {
        let signature: &[&str] = match self.sender {
            SenderRule::Signature => &["v", "r", "s", "yParity"],
            SenderRule::Key(_) => &["signature"],
            SenderRule::Field | SenderRule::OneOf(_) | SenderRule::Unproven(_) => &[],
        };
        let covered = move |name: &str| {
            let is_field = self.fields.iter().any(|field| field.names.contains(&name));
            let is_ruled = name == "from"
                && matches!(self.sender, SenderRule::OneOf(_) | SenderRule::Signature | SenderRule::Key(_));
            let is_constant = self.constants.iter().any(|constant| constant.name == name);
            is_field || is_ruled || is_constant || OF_POSITION.contains(&name) || signature.contains(&name)
        };
        json.keys().filter(move |name| !covered(name)).cloned()
    }

    /// The members of a node's JSON of a receipt of this type that no root covers.
    pub fn uncovered_of_receipt<'a>(&'a self, json: &'a Map<String, Value>) -> impl Iterator<Item = String> + 'a {
        let tail = self.tail_of(json).unwrap_or_default();
        let is_covered =
            |name: &str| tail.iter().any(|field| field.names.contains(&name)) || OF_RECEIPTS.contains(&name);
        json.keys().filter(move |name| !is_covered(name)).cloned()
    }

    /// The nonce that its sender had, where receipts of this type name it (`depositNonce`, since Regolith), whether or
    /// not the receipts root covers it.
    #[must_use]
    pub fn nonce_in_receipt(&self, receipt: &Map<String, Value>) -> Option<u64> {
        let ReceiptTail::Shown(fields) = self.receipt else { return None };
        let field = fields.iter().find(|field| field.names.contains(&DEPOSIT_NONCE))?;
        quantity(field.value(receipt)?).and_then(|nonce| u64::try_from(nonce).ok())
    }

    /// The same where the receipts root covers it: since Canyon.
    #[must_use]
    pub fn proven_nonce(&self, receipt: &Map<String, Value>) -> Option<u64> {
        self.tail_of(receipt).and_then(|_| self.nonce_in_receipt(receipt))
    }

    /// The receipt of a deposit with nonce and version, where a node leaves out one of them or both; `None` if it has
    /// both, or the nonce is not known. Whether both are hashed, the receipts root tells: before Canyon they are not.
    #[must_use]
    pub fn receipt_with_version(
        &self,
        transaction: &Map<String, Value>,
        receipt: &Map<String, Value>,
        nonce: DepositNonce,
    ) -> Option<Map<String, Value>> {
        let ReceiptTail::Shown(fields) = self.receipt else { return None };
        let mut whole = receipt.clone();
        for field in fields.iter().filter(|field| field.value(receipt).is_none()) {
            let name = *field.names.first()?;
            let value = match name {
                DEPOSIT_NONCE => nonce.of(transaction)?,
                DEPOSIT_RECEIPT_VERSION => CANYON_VERSION.into(),
                _ => return None,
            };
            whole.insert(name.to_owned(), value);
        }
        (whole != *receipt).then_some(whole)
    }

    /// What is hashed at the end of a receipt beyond Ethereum's fields; `None` if it does not show all of it.
    fn tail_of(&self, receipt: &Map<String, Value>) -> Option<&'static [Field]> {
        match self.receipt {
            ReceiptTail::Shown(fields) if fields.iter().all(|field| field.value(receipt).is_some()) => Some(fields),
            ReceiptTail::Shown(_) | ReceiptTail::Nothing => None,
        }
    }

    /// The base fee of a transaction that pays for gas in a token, in that token: its receipt names it (CIP-64).
    #[must_use]
    pub fn base_fee_in_receipt(&self, receipt: &Map<String, Value>) -> Option<U256> {
        let field = self.tail_of(receipt)?.iter().find(|field| field.names.contains(&BASE_FEE))?;
        quantity(field.value(receipt)?)
    }

    /// Whether it pays nothing for its gas: it signs no price.
    #[must_use]
    pub fn is_free(&self) -> bool {
        let prices = ["maxFeePerGas", "gasPrice"];
        !self.fields.iter().flat_map(|field| field.names).any(|name| prices.contains(name))
    }
}

/// What tells the nonce of a deposit whose receipt does not name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DepositNonce {
    /// The `nonce` of the transaction, which nodes copy from the receipt.
    Transaction,
    /// The same, but for the deposit that begins every block: the height of the block below, on a chain that was of the
    /// OP stack from its first block.
    Below(u64),
}

impl DepositNonce {
    fn of(self, transaction: &Map<String, Value>) -> Option<Value> {
        let from = transaction.get("from").and_then(Value::as_str).and_then(|from| from.parse::<Address>().ok());
        match self {
            Self::Below(height) if from == Some(L1_ATTRIBUTES_DEPOSITOR) => Some(format!("{height:#x}").into()),
            Self::Transaction | Self::Below(_) => transaction.get("nonce").filter(|nonce| !nonce.is_null()).cloned(),
        }
    }
}

/// Where the sender of a transaction comes from.
#[derive(Debug, Clone, Copy)]
pub enum SenderRule {
    /// A field, which the transaction's hash covers.
    Field,
    /// Always one of these addresses, which no field that is hashed holds.
    OneOf(&'static [Address]),
    /// The signature, whose parity, `r` and `s` end the list.
    Signature,
    /// The signature, of a key of one of several kinds, as the family writes it at the end of the list.
    Key(SignWithKey),
    /// It does not follow from what nodes give: the reason.
    Unproven(&'static str),
}

/// Gives the signature of a transaction, from its JSON and the list so far.
pub type SignWithKey = fn(&Map<String, Value>, &[u8]) -> Result<KeySigned, EncodingError>;

/// Fields at the end of a receipt as it is hashed.
#[derive(Debug, Clone, Copy)]
pub enum ReceiptTail {
    /// None: the receipt is as Ethereum's.
    Nothing,
    /// These, in the blocks whose receipts show all of them.
    Shown(&'static [Field]),
}
