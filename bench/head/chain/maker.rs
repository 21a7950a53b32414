//! Makes blocks that hold in every check: signed transactions, roots, blooms, hashes, links, state differences.

use std::sync::Arc;
use std::time::Instant;

use alloy_consensus::crypto::secp256k1::sign_message;
use alloy_consensus::proofs::{calculate_receipt_root, calculate_transaction_root};
use alloy_consensus::{
    EMPTY_ROOT_HASH, Eip658Value, Header, Receipt, ReceiptEnvelope, SignableTransaction, TxEip1559, TxEnvelope,
};
use alloy_primitives::{B64, B256, Bloom, Bytes, TxKind, U256, keccak256};

use super::block::{Account, Asset, Block, Event, Inner, Log};
use super::draft::{BASE_FEE, Draft, GAS, GAS_LIMIT, TIP};
use super::state::State;
use super::texts;
use super::world::{ACCOUNTS, CHAIN_ID, COINBASE, TOKENS, World};

/// How much is in a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Transactions of the block.
    pub transactions: usize,
    /// Logs of the block.
    pub logs: usize,
}

/// Makes one block after another, or on an earlier one.
pub struct Maker {
    world: Arc<World>,
    state: State,
    random: fastrand::Rng,
    made: u64,
}

impl Maker {
    /// At the genesis.
    pub fn new(world: Arc<World>) -> Self {
        Self { world, state: State::new(), random: fastrand::Rng::with_seed(1), made: 0 }
    }

    /// Takes the newest block back.
    pub fn take_back(&mut self) {
        self.state.take_back();
    }

    /// The block after `parent`, which is the newest that was made and not taken back.
    pub fn make(&mut self, parent: Option<(usize, &Block)>, size: Size) -> anyhow::Result<Block> {
        self.made += 1;
        self.state.begin();
        let mut logs = Vec::with_capacity(size.logs);
        let mut drafts = Vec::with_capacity(size.transactions);
        for position in 0..size.transactions {
            let until = (position + 1) * size.logs / size.transactions;
            drafts.push(self.draft(position as u32, until, &mut logs)?);
        }
        let receipts = receipts(&self.world, &drafts, &logs);
        let blooms: Vec<Bloom> = receipts.iter().map(|receipt| *receipt.logs_bloom()).collect();
        let header = self.header(parent.map(|(_, block)| block), &drafts, &receipts, &blooms);
        let hash = header.hash_slow();
        let inner = drafts.iter().enumerate().filter_map(|(position, draft)| {
            draft.inner.map(|(to, value)| Inner { transaction: position as u32, to, value })
        });
        let mut logs_of: [Vec<u32>; TOKENS] = Default::default();
        for (position, log) in logs.iter().enumerate() {
            logs_of[usize::from(log.token)].push(position as u32);
        }
        let (short, texts) = texts::of(&self.world, (hash, &header), &drafts, &logs, &blooms);
        Ok(Block {
            number: header.number,
            hash,
            parent: parent.map(|(ordinal, _)| ordinal),
            transactions: drafts.iter().map(|draft| *draft.envelope.tx_hash()).collect(),
            inner: inner.collect(),
            holdings: self.state.changed(),
            logs,
            logs_of,
            short,
            texts: Some(Arc::new(texts)),
            shown: Instant::now(),
            left: None,
        })
    }

    /// A few accounts are in many transactions, and most in few.
    fn account(&mut self) -> Account {
        let share = self.random.f64();
        ((share * share * share * ACCOUNTS as f64) as Account).min(ACCOUNTS as Account - 1)
    }

    /// The first token half of the time, the last in one of 128 transfers.
    fn token(&mut self) -> u8 {
        (self.random.u32(1..1 << (TOKENS - 1)).leading_zeros() as usize - (32 - (TOKENS - 1))).min(TOKENS - 1) as u8
    }

    /// A transaction in ten sends coins, one makes an inner call that does, the others move tokens.
    fn draft(&mut self, position: u32, until: usize, logs: &mut Vec<Log>) -> anyhow::Result<Draft> {
        let (sender, to, token) = (self.account(), self.account(), self.token());
        let amount = u128::from(self.random.u64(1..1 << 40));
        let (first, coinbase) = (logs.len(), self.state.coinbase);
        let nonce = self.state.use_nonce(sender);
        let kind = self.random.u32(0..10);
        let mut changes = Vec::new();
        let fee = u128::from(GAS) * (BASE_FEE + TIP);
        let value = if kind < 2 { amount } else { 0 };
        self.change(Asset::Coin, sender, &mut changes, |held| held - fee - value);
        self.state.coinbase += u128::from(GAS) * TIP;
        if value > 0 {
            self.change(Asset::Coin, to, &mut changes, |held| held + value);
        }
        // A plain payment leaves its logs to the next transaction.
        while kind > 0 && logs.len() < until {
            let token = if logs.len() == first { token } else { self.token() };
            let event = self.event(logs.len() - first, (sender, to), amount, token, &mut changes);
            logs.push(Log { token, transaction: position, event });
        }
        let selector = [0xa9, 0x05, 0x9c, 0xbb];
        let recipient = self.world.accounts[to as usize];
        let words = [recipient.into_word().0, U256::from(amount).to_be_bytes::<32>()].concat();
        let input: Bytes = if kind == 0 { Bytes::new() } else { [&selector[..], &words].concat().into() };
        let called = if kind == 0 { recipient } else { self.world.tokens[usize::from(token)] };
        let unsigned = TxEip1559 {
            chain_id: CHAIN_ID,
            nonce,
            gas_limit: GAS_LIMIT,
            max_fee_per_gas: 2 * BASE_FEE,
            max_priority_fee_per_gas: TIP,
            to: TxKind::Call(called),
            value: U256::from(value),
            access_list: Default::default(),
            input: input.clone(),
        };
        let signature = sign_message(self.world.secrets[sender as usize], unsigned.signature_hash())?;
        let envelope = TxEnvelope::from(unsigned.into_signed(signature));
        let inner = (kind == 1).then_some((to, value));
        Ok(Draft {
            sender,
            envelope,
            input,
            to: called,
            value,
            inner,
            logs: (first, logs.len()),
            changes,
            nonce,
            recipient_nonce: self.state.nonce(to),
            coinbase,
        })
    }

    /// Two of three logs are transfers, the first between the two sides.
    fn event(
        &mut self,
        ordinal: usize,
        (from, to): (Account, Account),
        amount: u128,
        token: u8,
        changes: &mut Vec<(Asset, Account, u128, u128)>,
    ) -> Event {
        let (from, to) = match ordinal % 3 {
            0 => (from, to),
            1 => (to, self.account()),
            _ => return Event::Sync { amount: amount + ordinal as u128 },
        };
        self.change(Asset::Token(token), from, changes, |held| held - amount);
        self.change(Asset::Token(token), to, changes, |held| held + amount);
        Event::Transfer { from, to, amount }
    }

    fn change(
        &mut self,
        asset: Asset,
        account: Account,
        changes: &mut Vec<(Asset, Account, u128, u128)>,
        to: impl FnOnce(u128) -> u128,
    ) {
        let before = self.state.holding(asset, account);
        let after = to(before);
        self.state.set(asset, account, after);
        match changes.iter_mut().find(|change| (change.0, change.1) == (asset, account)) {
            Some(change) => change.3 = after,
            None => changes.push((asset, account, before, after)),
        }
    }

    fn header(
        &self,
        parent: Option<&Block>,
        drafts: &[Draft],
        receipts: &[ReceiptEnvelope],
        blooms: &[Bloom],
    ) -> Header {
        let envelopes: Vec<&TxEnvelope> = drafts.iter().map(|draft| &draft.envelope).collect();
        let number = parent.map_or(0, |parent| parent.number + 1);
        // Block 0 commits to no state, as those of development nodes do.
        let state_root = if number == 0 { EMPTY_ROOT_HASH } else { keccak256(self.made.to_be_bytes()) };
        Header {
            parent_hash: parent.map_or(B256::ZERO, |parent| parent.hash),
            beneficiary: COINBASE,
            state_root,
            transactions_root: calculate_transaction_root(&envelopes),
            receipts_root: calculate_receipt_root(receipts),
            logs_bloom: blooms.iter().fold(Bloom::ZERO, |all, bloom| all | *bloom),
            number,
            gas_limit: 60_000_000,
            gas_used: GAS * drafts.len() as u64,
            timestamp: 1_700_000_000 + number,
            extra_data: Bytes::copy_from_slice(&self.made.to_be_bytes()),
            nonce: B64::ZERO,
            base_fee_per_gas: Some(BASE_FEE as u64),
            withdrawals_root: Some(EMPTY_ROOT_HASH),
            ..Header::default()
        }
    }
}

fn receipts(world: &World, drafts: &[Draft], logs: &[Log]) -> Vec<ReceiptEnvelope> {
    let log = |log: &Log| {
        let data = alloy_primitives::LogData::new_unchecked(log.topics(world), log.data());
        alloy_primitives::Log { address: world.tokens[usize::from(log.token)], data }
    };
    let mut used = 0;
    let receipt = |draft: &Draft| {
        used += GAS;
        let logs = logs[draft.logs.0..draft.logs.1].iter().map(log).collect();
        let receipt = Receipt { status: Eip658Value::Eip658(true), cumulative_gas_used: used, logs };
        ReceiptEnvelope::Eip1559(receipt.with_bloom())
    };
    drafts.iter().map(receipt).collect()
}
