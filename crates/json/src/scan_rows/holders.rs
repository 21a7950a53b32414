//! Holders of a token as CSV with the columns of Blockscout (docs/reference/scans.md#exports-of-a-token).

use super::csv_line::Line;
use crate::JsonWriter;
use crate::amount::decimal;
use trawl_core::primitives::{Address, U256};

/// The columns of holders.
pub const HOLDERS: &str = "HolderAddress,Balance\r\n";

/// Writes a holder and what it has in whole tokens; nothing where `decimals` are not known.
pub fn write_holder(out: &mut JsonWriter, holder: Address, held: U256, decimals: Option<u8>) {
    let mut line = Line::new(out);
    line.address(holder);
    line.text(&decimals.map(|decimals| decimal(held, decimals)).unwrap_or_default());
    line.end();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn balances_are_in_whole_tokens() {
        let mut out = JsonWriter::new();
        let holder = Address::repeat_byte(0x11);
        write_holder(&mut out, holder, U256::from(1_500_000), Some(6));
        write_holder(&mut out, holder, U256::from(3), Some(0));
        write_holder(&mut out, holder, U256::from(3), None);
        let address = holder.to_checksum(None);
        let expected = format!("{address},1.5\r\n{address},3\r\n{address},\r\n");
        assert_eq!(String::from_utf8(out.into_bytes()).expect("text"), expected);
    }
}
