//! The cursor of what a transaction changes of balances.

use crate::error::Problem;
use crate::http::query::{Kind, ParameterGroup, Query, fixed_hex};
use crate::rest::cursor::Cursor;
use trawl_core::primitives::Address;
use trawl_json::Object;
use trawl_json::transactions::state_changes::ChangedToken;

/// A position in the list: coins before tokens.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::rest) struct StateChangeCursor {
    /// 0 to 3 for coins: sender, recipient, who gets the fees, others; 4 for tokens.
    rank: u8,
    /// Whose balance it is.
    pub address: Address,
    /// The token; `None` for coins.
    pub token: Option<ChangedToken>,
}

/// The rank of tokens.
const TOKENS: u8 = 4;

impl StateChangeCursor {
    /// The position of coins.
    pub fn of_coins(rank: u8, address: Address) -> Self {
        Self { rank: rank.min(TOKENS - 1), address, token: None }
    }

    /// The position of a token.
    pub fn of_token(address: Address, token: ChangedToken) -> Self {
        Self { rank: TOKENS, address, token: Some(token) }
    }

    /// Whether coins may come after it.
    pub fn is_of_coins(&self) -> bool {
        self.rank < TOKENS
    }

    fn text(&self) -> String {
        let token = self.token.as_ref().map(|token| {
            let id = token.id.map(|id| format!("_{id}")).unwrap_or_default();
            format!("_{:#x}_{}{id}", token.address, token.token_type)
        });
        format!("{}_{:#x}{}", self.rank, self.address, token.unwrap_or_default())
    }

    /// `RANK_ADDRESS`, or `4_ADDRESS_TOKEN_STANDARD` and perhaps `_ID`.
    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('_');
        let rank = parts.next()?.parse().ok().filter(|rank| *rank <= TOKENS)?;
        let address = fixed_hex(parts.next()?)?;
        let token = match (rank, parts.next()) {
            (TOKENS, Some(token)) => {
                let (address, token_type) = (fixed_hex(token)?, parts.next()?.to_owned());
                let id = parts.next().map(|id| id.parse().ok());
                Some(ChangedToken { address, token_type, id: id.map_or(Some(None), |id| id.map(Some))? })
            }
            (TOKENS, None) | (_, Some(_)) => return None,
            (_, None) => None,
        };
        parts.next().is_none().then_some(Self { rank, address, token })
    }
}

impl Cursor for StateChangeCursor {
    const PARAMETERS: ParameterGroup = &[("state_changes", Kind::Text)];

    fn read(query: &Query) -> Result<Option<Self>, Problem> {
        let read =
            |text| Self::parse(text).ok_or_else(|| Problem::invalid_parameter("state_changes", "Invalid cursor"));
        query.text("state_changes").map(read).transpose()
    }

    fn write(&self, next: &mut Object<'_>, count: u64) {
        next.key("items_count").number(count);
        next.key("state_changes").string(&self.text());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trawl_core::primitives::U256;

    #[test]
    fn cursors_are_read_as_they_were_written() {
        let token = |id: Option<u64>| ChangedToken {
            address: Address::repeat_byte(2),
            token_type: "ERC-1155".into(),
            id: id.map(U256::from),
        };
        let address = Address::repeat_byte(1);
        let cursors = [
            StateChangeCursor::of_coins(2, address),
            StateChangeCursor::of_token(address, token(None)),
            StateChangeCursor::of_token(address, token(Some(7))),
        ];
        assert!(cursors.is_sorted());
        for cursor in cursors {
            assert_eq!(StateChangeCursor::parse(&cursor.text()), Some(cursor));
        }
        for bad in [
            "",
            "x",
            "0",
            "4_0x0101010101010101010101010101010101010101",
            "5_0x0101010101010101010101010101010101010101",
        ] {
            assert_eq!(StateChangeCursor::parse(bad), None, "{bad}");
        }
    }
}
