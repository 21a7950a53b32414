//! User operations of ERC-4337 in the shapes of the API family (docs/reference/http-contract.md#user-operations).
//!
//! Numbers of 64 bits and more are texts of decimal digits, as its service writes them.

use crate::addresses::address::Addresses;
use crate::{JsonWriter, Object};
use trawl_core::primitives::user_operation::{EntryPoint, EntryPointVersion, OperationEvent, SubmittedOperation};
use trawl_core::primitives::{Address, B256, BlockNumber, Bytes, Timestamp, U256};

/// An operation as lists have it: what the event of its EntryPoint says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandledOperation {
    /// What its EntryPoint says of it.
    pub event: OperationEvent,
    /// Who handled it.
    pub entry_point: EntryPoint,
    /// Height of its block.
    pub block_number: BlockNumber,
    /// Position of the event in the block.
    pub log_index: u32,
    /// Position of its transaction in the block.
    pub transaction_index: u32,
    /// Hash of the transaction that has its bundle.
    pub transaction_hash: B256,
    /// Hash of its block.
    pub block_hash: B256,
    /// Time of its block.
    pub timestamp: Timestamp,
}

/// An operation by itself. What comes from the input of its bundle is none where that is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperationPage {
    /// What the event says.
    pub handled: HandledOperation,
    /// Which bundle of its transaction it is in, and which operation of the bundle it is.
    pub bundle_index: u32,
    /// Its position in the bundle.
    pub index: u32,
    /// Who was paid for the bundle.
    pub bundler: Option<Address>,
    /// What was sent.
    pub submitted: Option<SubmittedOperation>,
    /// The factory that made the wallet.
    pub factory: Option<Address>,
    /// What the call reverted with.
    pub revert_reason: Option<Bytes>,
    /// Who deposited for it: `wallet_balance`, `wallet_deposit`, `paymaster_sponsor` or `paymaster_hybrid`.
    pub sponsor: &'static str,
    /// Position in the block of the first log of the call, and how many there are.
    pub first_log: u32,
    /// How many logs the call has.
    pub logs: u32,
    /// The call as a JSON object, if it is known.
    pub decoded_call: Option<Vec<u8>>,
    /// The call that the wallet makes for it, if it is one.
    pub executed: Option<ExecutedCall>,
}

/// The call that a wallet makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecutedCall {
    /// Whom it calls.
    pub target: Address,
    /// Call data of that call.
    pub input: Bytes,
    /// The same as a JSON object, if it is known.
    pub decoded: Option<Vec<u8>>,
}

/// A bundle of operations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bundle {
    /// Hash of the transaction that has it.
    pub transaction_hash: B256,
    /// Who was paid for it; none where its input is not known.
    pub bundler: Option<Address>,
    /// Height of its block.
    pub block_number: BlockNumber,
    /// Which bundle of its transaction it is.
    pub bundle_index: u32,
    /// Time of its block.
    pub timestamp: Timestamp,
    /// How many operations it has.
    pub operations: u32,
}

/// A wallet that operations act for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wallet {
    /// Where it is.
    pub address: Address,
    /// What made it, if an operation did.
    pub creation: Option<WalletCreation>,
    /// How many operations it has; none if there are too many to count.
    pub operations: Option<u64>,
}

/// The operation that made a wallet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WalletCreation {
    /// The factory that it called.
    pub factory: Option<Address>,
    /// Hash of the transaction that made it.
    pub transaction_hash: B256,
    /// Hash of the operation that made it.
    pub operation_hash: B256,
    /// Time of its block.
    pub timestamp: Timestamp,
}

fn address(writer: &mut JsonWriter, address: Option<&Address>, addresses: &Addresses) {
    writer.option(address, |writer, address| addresses.write(writer, address));
}

impl HandledOperation {
    /// An item of a list.
    pub fn write(&self, writer: &mut JsonWriter, addresses: &Addresses) {
        writer.object(|item| {
            item.key("hash").fixed_hex(&self.event.hash);
            addresses.write(item.key("entry_point"), &self.entry_point.address);
            item.key("entry_point_version").string(self.entry_point.version.as_str());
            item.key("block_number").decimal(self.block_number);
            item.key("transaction_hash").fixed_hex(&self.transaction_hash);
            addresses.write(item.key("address"), &self.event.sender);
            item.key("timestamp").timestamp(self.timestamp);
            item.key("status").bool(self.event.is_success);
            item.key("fee").decimal_256(self.event.cost);
        });
    }
}

impl OperationPage {
    /// The whole object.
    pub fn write(&self, writer: &mut JsonWriter, addresses: &Addresses) {
        let (handled, event, sent) = (&self.handled, &self.handled.event, self.submitted.as_ref());
        writer.object(|item| {
            item.key("hash").fixed_hex(&event.hash);
            addresses.write(item.key("sender"), &event.sender);
            item.key("nonce").fixed_hex(&B256::from(event.nonce));
            self.write_call(item);
            self.write_limits(item);
            item.key("signature").option(sent, |writer, sent| writer.hex(&sent.signature));
            item.key("raw").option(sent, |writer, sent| write_raw(writer, sent, handled.entry_point.version));
            let aggregation = sent.and_then(|sent| sent.aggregation.as_ref());
            item.key("aggregator").option(aggregation, |writer, by| writer.string(&by.aggregator.to_checksum(None)));
            item.key("aggregator_signature").option(aggregation, |writer, by| writer.hex(&by.signature));
            addresses.write(item.key("entry_point"), &handled.entry_point.address);
            item.key("entry_point_version").string(handled.entry_point.version.as_str());
            item.key("transaction_hash").fixed_hex(&handled.transaction_hash);
            item.key("block_number").decimal(handled.block_number);
            item.key("block_hash").fixed_hex(&handled.block_hash);
            address(item.key("bundler"), self.bundler.as_ref(), addresses);
            item.key("bundle_index").number(self.bundle_index.into());
            item.key("index").number(self.index.into());
            address(item.key("factory"), self.factory.as_ref(), addresses);
            address(item.key("paymaster"), event.paymaster.as_ref(), addresses);
            item.key("status").bool(event.is_success);
            item.key("revert_reason").option(self.revert_reason.as_ref(), |writer, reason| writer.hex(reason));
            item.key("gas_price").decimal_256(event.gas_price());
            item.key("gas_used").decimal_256(event.gas_used);
            item.key("sponsor_type").string(self.sponsor);
            item.key("user_logs_start_index").number(self.first_log.into());
            item.key("user_logs_count").number(self.logs.into());
            item.key("fee").decimal_256(event.cost);
            item.key("consensus").bool(true);
            item.key("timestamp").timestamp(handled.timestamp);
            address(item.key("execute_target"), self.executed.as_ref().map(|call| &call.target), addresses);
        });
    }

    fn write_call(&self, item: &mut Object<'_>) {
        let (sent, executed) = (self.submitted.as_ref(), self.executed.as_ref());
        item.key("call_data").option(sent, |writer, sent| writer.hex(&sent.call_data));
        item.key("decoded_call_data").option(self.decoded_call.as_deref(), JsonWriter::raw);
        item.key("execute_call_data").option(executed, |writer, call| writer.hex(&call.input));
        let decoded = executed.and_then(|call| call.decoded.as_deref());
        item.key("decoded_execute_call_data").option(decoded, JsonWriter::raw);
    }

    fn write_limits(&self, item: &mut Object<'_>) {
        let sent = self.submitted.as_ref();
        let version = self.handled.entry_point.version;
        for (name, value) in [
            ("call_gas_limit", sent.map(|sent| sent.call_gas_limit)),
            ("verification_gas_limit", sent.map(|sent| sent.verification_gas_limit)),
            ("pre_verification_gas", sent.map(|sent| sent.pre_verification_gas)),
            ("max_fee_per_gas", sent.map(|sent| sent.max_fee_per_gas)),
            ("max_priority_fee_per_gas", sent.map(|sent| sent.max_priority_fee_per_gas)),
            ("gas", sent.map(|sent| sent.gas(version))),
        ] {
            item.key(name).option(value, JsonWriter::decimal_256);
        }
    }
}

/// The operation as the EntryPoint of its version takes it.
fn write_raw(writer: &mut JsonWriter, sent: &SubmittedOperation, version: EntryPointVersion) {
    let number = |raw: &mut Object<'_>, name: &str, value: U256| raw.key(name).decimal_256(value);
    writer.object(|raw| {
        raw.key("sender").string(&sent.sender.to_checksum(None));
        number(raw, "nonce", sent.nonce);
        raw.key("init_code").hex(&sent.init_code);
        raw.key("call_data").hex(&sent.call_data);
        if version == EntryPointVersion::V06 {
            number(raw, "call_gas_limit", sent.call_gas_limit);
            number(raw, "verification_gas_limit", sent.verification_gas_limit);
            number(raw, "pre_verification_gas", sent.pre_verification_gas);
            number(raw, "max_fee_per_gas", sent.max_fee_per_gas);
            number(raw, "max_priority_fee_per_gas", sent.max_priority_fee_per_gas);
        } else {
            raw.key("account_gas_limits").fixed_hex(&sent.account_gas_limits());
            number(raw, "pre_verification_gas", sent.pre_verification_gas);
            raw.key("gas_fees").fixed_hex(&sent.gas_fees());
        }
        raw.key("paymaster_and_data").hex(&sent.paymaster_and_data);
        raw.key("signature").hex(&sent.signature);
    });
}

impl Bundle {
    /// An item of the list.
    pub fn write(&self, writer: &mut JsonWriter, addresses: &Addresses) {
        writer.object(|item| {
            item.key("transaction_hash").fixed_hex(&self.transaction_hash);
            address(item.key("bundler"), self.bundler.as_ref(), addresses);
            item.key("block_number").decimal(self.block_number);
            item.key("bundle_index").number(self.bundle_index.into());
            item.key("timestamp").timestamp(self.timestamp);
            item.key("total_ops").number(self.operations.into());
        });
    }
}

impl Wallet {
    /// The object of the wallet.
    pub fn write(&self, writer: &mut JsonWriter, addresses: &Addresses) {
        let creation = self.creation.as_ref();
        writer.object(|item| {
            addresses.write(item.key("address"), &self.address);
            address(item.key("factory"), creation.and_then(|made| made.factory.as_ref()), addresses);
            item.key("creation_transaction_hash")
                .option(creation, |writer, made| writer.fixed_hex(&made.transaction_hash));
            item.key("creation_op_hash").option(creation, |writer, made| writer.fixed_hex(&made.operation_hash));
            item.key("creation_timestamp").option(creation, |writer, made| writer.timestamp(made.timestamp));
            item.key("total_ops").option(self.operations, JsonWriter::number);
        });
    }
}

/// A paymaster, and how many operations it paid for; none if there are too many to count.
pub fn write_paymaster(writer: &mut JsonWriter, paymaster: &Address, operations: Option<u64>, addresses: &Addresses) {
    writer.object(|item| {
        addresses.write(item.key("address"), paymaster);
        item.key("total_ops").option(operations, JsonWriter::number);
    });
}
