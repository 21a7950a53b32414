//! The envelope of the Etherscan-compatible interface: `{"status": …, "message": …, "result": …}`, all as text.

use super::{JsonWriter, Object};
use trawl_core::primitives::{Address, U256};

/// Writes an envelope.
#[must_use]
pub fn write_envelope(status: &str, message: &str, result: impl FnOnce(&mut JsonWriter)) -> Vec<u8> {
    let mut writer = JsonWriter::new();
    writer.object(|envelope| {
        envelope.key("status").string(status);
        envelope.key("message").string(message);
        result(envelope.key("result"));
    });
    writer.into_bytes()
}

/// Writes the balance of an account, in wei, as a member of a list.
pub fn write_balance(item: &mut Object<'_>, account: &Address, balance: U256) {
    item.key("account").string(&format!("{account:#x}"));
    item.key("balance").decimal_256(balance);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_in_a_result_is_text() {
        let written = write_envelope("1", "OK", |writer| {
            writer.array(|list| list.item().object(|item| write_balance(item, &Address::ZERO, U256::from(7))));
        });
        let zero = "0x0000000000000000000000000000000000000000";
        let expected = format!(r#"{{"status":"1","message":"OK","result":[{{"account":"{zero}","balance":"7"}}]}}"#);
        assert_eq!(String::from_utf8(written).expect("UTF-8"), expected);
    }
}
