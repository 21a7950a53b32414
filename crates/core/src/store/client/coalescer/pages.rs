//! Pages of several addresses as one statement: a statement costs more to plan than a page of rows to read.

use std::borrow::Cow;

use crate::primitives::BlockRange;
use crate::statement::{AddressPage, Parameter, Statement};

/// A page beside others: its blocks may be fewer than those of the page itself.
#[derive(Debug, Clone)]
pub struct PageMember {
    /// What is read if all its blocks are.
    pub page: AddressPage,
    /// The values of its placeholders.
    pub parameters: Vec<(Cow<'static, str>, Parameter)>,
    /// The blocks to read.
    pub blocks: BlockRange,
}

/// The first `limit` rows of each member, by address. The members have different addresses and are alike otherwise
/// ([`AddressPage::goes_with`]); there is one at least.
#[must_use]
pub fn pages_together<R>(members: &[PageMember], limit: u64) -> Statement<R> {
    let page = &members[0].page;
    let direction = if page.is_descending() { " DESC" } else { "" };
    let alternatives: Vec<String> =
        members.iter().enumerate().map(|(number, member)| member.alternative(number)).collect();
    let sql = format!(
        "SELECT {}\nFROM {}\nWHERE {}\nORDER BY address{direction}, {}\nLIMIT {{limit:UInt64}} BY address",
        page.columns,
        page.table,
        alternatives.join("\n  OR "),
        page.order,
    );
    let values = members.iter().enumerate().flat_map(|(number, member)| member.values(number));
    values.fold(Statement::page(sql).with("limit", limit), |statement, (name, value)| statement.with(name, value))
}

impl PageMember {
    /// Its conditions, with placeholders of its own.
    fn alternative(&self, number: usize) -> String {
        let rename = |text: String, (name, _): &(Cow<'static, str>, Parameter)| {
            text.replace(&format!("{{{name}:"), &format!("{{{name}_{number}:"))
        };
        let conditions = self.page.conditions.iter();
        let conditions: Vec<String> =
            conditions.map(|text| self.parameters.iter().fold(text.clone(), rename)).collect();
        format!("({})", conditions.join(" AND "))
    }

    /// The values of its placeholders.
    fn values(&self, number: usize) -> impl Iterator<Item = (String, Parameter)> {
        let value = move |(name, value): &(Cow<'static, str>, Parameter)| {
            let value = match name.as_ref() {
                "first" => self.blocks.first().into(),
                "last" => self.blocks.last().into(),
                _ => value.clone(),
            };
            (format!("{name}_{number}"), value)
        };
        self.parameters.iter().filter(|(name, _)| name != "limit").map(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::Address;

    fn member(byte: u8, last: u64) -> PageMember {
        let address = Address::repeat_byte(byte);
        let page = AddressPage {
            columns: "address, block_number".into(),
            table: "logs",
            conditions: vec![
                "address = {address:String}".into(),
                "block_number BETWEEN {first:UInt64} AND {last:UInt64}".into(),
            ],
            order: "block_number DESC, log_index DESC".into(),
            address,
            blocks: BlockRange::new(1, 9).expect("ordered"),
        };
        let parameters = vec![
            ("limit".into(), 5.into()),
            ("address".into(), (&address).into()),
            ("first".into(), 1.into()),
            ("last".into(), 9.into()),
        ];
        PageMember { page, parameters, blocks: BlockRange::new(1, last).expect("ordered") }
    }

    #[test]
    fn each_page_has_placeholders_of_its_own() {
        let statement: Statement<()> = pages_together(&[member(1, 9), member(2, 7)], 5);
        let expected = [
            "SELECT address, block_number",
            "FROM logs",
            "WHERE (address = {address_0:String} AND block_number BETWEEN {first_0:UInt64} AND {last_0:UInt64})",
            "  OR (address = {address_1:String} AND block_number BETWEEN {first_1:UInt64} AND {last_1:UInt64})",
            "ORDER BY address DESC, block_number DESC, log_index DESC",
            "LIMIT {limit:UInt64} BY address",
        ];
        assert_eq!(statement.sql.lines().collect::<Vec<_>>(), expected);
        let value = |name: &str| statement.parameters.iter().find(|(known, _)| known == name).map(|(_, value)| value);
        assert_eq!(value("last_0"), Some(&9.into()));
        assert_eq!(value("last_1"), Some(&7.into()), "fewer blocks than those of the page");
        assert_eq!(value("limit"), Some(&5.into()));
        assert_eq!(statement.parameters.len(), 7);
    }
}
