//! Messages to L1 in REST (docs/reference/http-contract.md#messages-to-l1).

use trawl_chains::{MessageLog, MessageMember, MessageSource, Word};
use trawl_core::primitives::{Address, Timestamp, U256};
use trawl_core::schema::LogView;

use crate::JsonWriter;
use crate::addresses::address::Addresses;
use crate::logs::topic_hashes;

/// A message with the `members` of its list. `sender`: who sent its transaction, if that is known.
pub fn write_rest_message(
    writer: &mut JsonWriter,
    members: &[MessageMember],
    logs: &LogView<'_>,
    row: usize,
    sender: Option<(&Address, &Addresses)>,
) {
    let topics = topic_hashes(logs, row);
    let log = MessageLog { topics: &topics, data: logs.data.value(row) };
    writer.object(|message| {
        for member in members {
            let value = message.key(member.key);
            match member.source {
                MessageSource::TransactionHash => value.fixed_hex(logs.transaction_hash.bytes(row)),
                MessageSource::TransactionSender => {
                    value.option(sender, |value, (sender, addresses)| addresses.write(value, sender));
                }
                MessageSource::BlockNumber => value.number(logs.block_number[row]),
                MessageSource::BlockTime => value.timestamp(Timestamp::from_micros(logs.block_timestamp[row])),
                MessageSource::OnL1 => value.null(),
                of_log => write_value(value, &log, of_log),
            }
        }
    });
}

/// A value of the log itself; null if the log is shorter.
fn write_value(writer: &mut JsonWriter, log: &MessageLog<'_>, source: MessageSource) {
    match source {
        MessageSource::Amount(word) => writer.option(log.number(word), JsonWriter::decimal_256),
        MessageSource::Integer(word) => write_integer(writer, log.number(word)),
        MessageSource::VersionedNonce(word) => write_integer(writer, log.nonce(word).map(|nonce| nonce.nonce)),
        MessageSource::NonceVersion(word) => {
            writer.option(log.nonce(word), |writer, nonce| writer.number(nonce.version.into()));
        }
        MessageSource::Account(word) => {
            writer.option(account(log, word), |writer, account| writer.string(&account.to_checksum(None)));
        }
        MessageSource::Bytes(position) => writer.option(log.bytes(position), JsonWriter::hex),
        MessageSource::TransactionHash
        | MessageSource::TransactionSender
        | MessageSource::BlockNumber
        | MessageSource::BlockTime
        | MessageSource::OnL1 => writer.null(),
    }
}

/// A JSON number, or decimal text where it has more than 64 bits.
fn write_integer(writer: &mut JsonWriter, number: Option<U256>) {
    writer.option(number, |writer, number| match u64::try_from(number) {
        Ok(number) => writer.number(number),
        Err(_) => writer.decimal_256(number),
    });
}

/// The address in a word; `None` if the word is no address.
fn account(log: &MessageLog<'_>, word: Word) -> Option<Address> {
    let word = log.word(word)?;
    word[..12].iter().all(|byte| *byte == 0).then(|| Address::from_slice(&word[12..]))
}
