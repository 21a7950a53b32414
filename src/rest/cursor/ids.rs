//! Cursors of lists of single ids of tokens.

use super::{Cursor, missing};
use crate::error::Problem;
use crate::http::query::{Kind, ParameterGroup, Query};
use trawl_core::primitives::U256;
use trawl_json::Object;
use trawl_query::tokens::instances::IdKey;

/// The cursor of the ids of a token, which descend.
pub(crate) struct InstanceCursor(pub U256);

impl Cursor for InstanceCursor {
    const PARAMETERS: ParameterGroup = &[("unique_token", Kind::Amount)];

    fn read(query: &Query) -> Result<Option<Self>, Problem> {
        Ok(query.amount("unique_token").map(Self))
    }

    fn write(&self, next: &mut Object<'_>, count: u64) {
        next.key("items_count").number(count);
        next.key("unique_token").decimal_256(self.0);
    }
}

/// The cursor of the ids that an address has: in the order of the tokens and ids.
pub(crate) struct IdCursor(pub IdKey);

impl Cursor for IdCursor {
    const PARAMETERS: ParameterGroup =
        &[("token_contract_address_hash", Kind::Address), ("token_id", Kind::Amount), ("token_type", Kind::Standards)];

    fn read(query: &Query) -> Result<Option<Self>, Problem> {
        let token = query.address("token_contract_address_hash");
        let (id, standard) = (query.amount("token_id"), query.standards("token_type").first().copied());
        match (token, id, standard) {
            (None, None, None) => Ok(None),
            (Some(token), Some(id), Some(standard)) => Ok(Some(Self(IdKey { token, standard: standard.into(), id }))),
            (None, ..) => Err(missing("token_contract_address_hash")),
            (_, None, _) => Err(missing("token_id")),
            (.., None) => Err(missing("token_type")),
        }
    }

    fn write(&self, next: &mut Object<'_>, count: u64) {
        next.key("items_count").number(count);
        next.key("token_contract_address_hash").string(&self.0.token.to_checksum(None));
        next.key("token_id").decimal_256(self.0.id);
        next.key("token_type").string(&self.0.standard);
    }
}
