//! Conditions with sets of addresses or hashes, which are several parameters where they are large.

use super::Select;
use trawl_core::newest::Predicate;
use trawl_core::statement::Parameter;

/// Most values of a parameter. A field of a form may have 128 KiB (`http_max_field_value_size`), which as many hashes
/// stay below.
const VALUES_PER_PARAMETER: usize = 1_000;

/// A condition on sets of values, with the parameters that hold them.
#[derive(Debug)]
pub struct SetCondition {
    text: String,
    test: Predicate,
    parameters: Vec<(String, Parameter)>,
}

impl SetCondition {
    /// A row has one of the values, at least one, in one of the columns. All values have the same length.
    pub fn among<V: AsRef<[u8]>>(columns: Vec<&'static str>, parameter: &str, values: &[V]) -> Self
    where
        for<'v> &'v [V]: Into<Parameter>,
    {
        let bytes = values.first().map_or(0, |value| value.as_ref().len());
        let name = |part: usize| match part {
            0 => parameter.to_owned(),
            part => format!("{parameter}_{part}"),
        };
        let sets: Vec<(String, &[V])> =
            values.chunks(VALUES_PER_PARAMETER).enumerate().map(|(part, set)| (name(part), set)).collect();
        let is_in = |column: &str, name: &str| format!("{column} IN {{{name}:Array(FixedString({bytes}))}}");
        let alternatives: Vec<String> =
            columns.iter().flat_map(|column| sets.iter().map(|(name, _)| is_in(column, name))).collect();
        let text = match alternatives.as_slice() {
            [one] => one.clone(),
            several => format!("({})", several.join(" OR ")),
        };
        let parameters = sets.into_iter().map(|(name, set)| (name, set.into())).collect();
        Self { text, test: Predicate::among_any(columns, values), parameters }
    }

    /// A condition without parameters holds too.
    pub fn and(self, text: &str, test: Predicate) -> Self {
        Self { text: format!("({} AND {text})", self.text), test: Predicate::AllOf(vec![self.test, test]), ..self }
    }

    /// This condition holds, or another.
    pub fn or(mut self, other: Self) -> Self {
        self.parameters.extend(other.parameters);
        Self {
            text: format!("({} OR {})", self.text, other.text),
            test: Predicate::AnyOf(vec![self.test, other.test]),
            ..self
        }
    }
}

impl Select {
    /// Keeps rows that have one of the values, at least one, in one of the columns. All values have the same length.
    pub fn among<V: AsRef<[u8]>>(self, columns: Vec<&'static str>, parameter: &str, values: &[V]) -> Self
    where
        for<'v> &'v [V]: Into<Parameter>,
    {
        self.set_condition(SetCondition::among(columns, parameter, values))
    }

    /// Adds a condition on sets of values.
    pub fn set_condition(self, SetCondition { text, test, parameters }: SetCondition) -> Self {
        let select = self.condition(text, test);
        parameters.into_iter().fold(select, |select, (name, set)| select.with(name, set))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloy_primitives::{Address, B256};
    use trawl_core::schema::LogRow;

    fn statement(values: usize) -> trawl_core::statement::Statement<LogRow> {
        let values: Vec<B256> = (0..values).map(|value| B256::with_last_byte(value.to_le_bytes()[0])).collect();
        let select = Select::default().among(vec!["topic1", "topic2"], "topics", &values);
        select.page("logs", "block_number", 1)
    }

    #[test]
    fn a_large_set_is_several_parameters() {
        let is_in = |column, name| format!("{column} IN {{{name}:Array(FixedString(32))}}");
        let one = format!("WHERE ({} OR {})", is_in("topic1", "topics"), is_in("topic2", "topics"));
        assert!(statement(1_000).sql.contains(&one), "{}", statement(1_000).sql);
        let large = statement(2_001);
        let topic2 = ["topics", "topics_1", "topics_2"].map(|name| is_in("topic2", name)).join(" OR ");
        assert!(large.sql.contains(&topic2), "{}", large.sql);
        let lengths: Vec<usize> = large
            .parameters
            .iter()
            .filter_map(|(_, value)| match value {
                Parameter::Hashes(hashes) => Some(hashes.len()),
                _ => None,
            })
            .collect();
        assert_eq!(lengths, [1_000, 1_000, 1]);
        assert!(large.parameters.iter().all(|(_, value)| value.escaped().is_none_or(|text| text.len() < 128 << 10)));
    }

    #[test]
    fn one_column_and_one_set_need_no_brackets() {
        let select = Select::default().among(vec!["address"], "addresses", &[Address::ZERO]);
        let sql = select.page::<LogRow>("logs", "block_number", 1).sql;
        assert!(sql.contains("WHERE address IN {addresses:Array(FixedString(20))}\n"), "{sql}");
    }
}
