//! What receipts of rollups have beside Ethereum's fields, where a file has columns for it.

use serde_json::{Map, Value};
use trawl_core::primitives::U256;

use crate::source::columns::cell::{Cell, CellError};
use crate::source::columns::facts::Facts;

/// The columns of Ethereum ETL (`ethereumetl/mappers/receipt_mapper.py`), in a file of receipts and in a stream, and
/// the names under which nodes give the same.
const AMOUNTS: [(&[&str], &str); 3] = [
    (&["receipt_l1_fee", "l1_fee"], "l1Fee"),
    (&["receipt_l1_gas_used", "l1_gas_used"], "l1GasUsed"),
    (&["receipt_l1_gas_price", "l1_gas_price"], "l1GasPrice"),
];
/// The same of a factor, which is no integer.
const SCALAR: (&[&str], &str) = (&["receipt_l1_fee_scalar", "l1_fee_scalar"], "l1FeeScalar");

/// The JSON of such fields as a node gives them; none if the row has none.
pub(super) fn rollup_fields(facts: &Facts<'_>) -> Result<Option<String>, CellError> {
    let mut members = Map::new();
    for (columns, name) in AMOUNTS {
        if let Some(amount) = facts.fact::<U256>(columns)?.value() {
            members.insert(name.into(), format!("{amount:#x}").into());
        }
    }
    if let Cell::Text(scalar) = facts.row().cell(SCALAR.0) {
        // Python writes a whole number with a zero behind the point, and nodes do not.
        members.insert(SCALAR.1.into(), scalar.strip_suffix(".0").unwrap_or(scalar).into());
    }
    Ok((!members.is_empty()).then(|| Value::Object(members).to_string()))
}
