//! Settings of tables in the statements of `sql/`: those that may change at any time. Checksums leave them out, and
//! `migrate` gives them to the tables that are there.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::comments::statement_lines;

/// Settings of the layout of parts, which cannot change after a table is created.
const FIXED: [&str; 2] = ["index_granularity", "index_granularity_bytes"];

/// The settings of a statement of `sql/tables` that may change, by name.
#[must_use]
pub fn changeable_settings(create: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for (line, is_setting) in lines(create) {
        let setting = line.trim().trim_end_matches([',', ';']).split_once(" = ").filter(|_| is_setting);
        if let Some((name, value)) = setting.filter(|(name, _)| !FIXED.contains(name)) {
            found.insert(name.to_owned(), value.to_owned());
        }
    }
    found
}

/// The settings of a table as `system.tables.engine_full` has them, by name; of a `Replicated` one by the names that
/// other tables use.
#[must_use]
pub fn stored_settings(engine_full: &str) -> BTreeMap<String, String> {
    let settings = engine_full.split_once(" SETTINGS ").map_or("", |(_, settings)| settings);
    let pairs = settings.split(", ").filter_map(|pair| pair.split_once(" = "));
    pairs.map(|(name, value)| (plain_name(engine_full, name), value.to_owned())).collect()
}

/// The name of a setting on a table of this engine.
#[must_use]
pub fn name_on_engine(engine_full: &str, name: &str) -> String {
    let is_replicated = engine_full.starts_with("Replicated");
    name.strip_prefix("non_").filter(|_| is_replicated).unwrap_or(name).to_owned()
}

fn plain_name(engine_full: &str, name: &str) -> String {
    let is_other = engine_full.starts_with("Replicated") && name == "replicated_deduplication_window";
    if is_other { format!("non_{name}") } else { name.to_owned() }
}

/// The lines of a statement but for settings that may change and comments of SQL.
pub(super) fn fixed_lines(sql: &str) -> impl Iterator<Item = Cow<'_, str>> {
    let is_fixed = |line: &str| FIXED.iter().any(|name| line.trim().starts_with(&format!("{name} = ")));
    lines(sql).filter_map(move |(line, is_setting)| match is_setting {
        false => (line != SETTINGS).then_some(Cow::Borrowed(line)),
        // Whether others follow is no part of it.
        true => is_fixed(line).then(|| Cow::Borrowed(line.trim_end_matches(','))),
    })
}

const SETTINGS: &str = "SETTINGS";

/// The lines, each with whether it is a setting of a table: they are indented below the word.
fn lines(sql: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut is_inside = false;
    statement_lines(sql).map(move |line| {
        let is_setting = is_inside && line.starts_with("    ");
        is_inside = is_setting || line == SETTINGS;
        (line, is_setting)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const CREATE: &str = "CREATE TABLE logs\n(\n    data String\n)\nENGINE = MergeTree\nORDER BY data\nSETTINGS\n    \
                          index_granularity = 256,\n    non_replicated_deduplication_window = 1000,\n    \
                          fsync_after_insert = 1\nCOMMENT 'logs';";

    fn settings(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn settings_are_those_below_the_word() {
        let expected = settings(&[("non_replicated_deduplication_window", "1000"), ("fsync_after_insert", "1")]);
        assert_eq!(changeable_settings(CREATE), expected);
        assert_eq!(changeable_settings("SELECT 1\nWHERE\n    a = 1"), settings(&[]));
    }

    #[test]
    fn settings_of_a_table_are_read_whatever_its_engine() {
        let plain = "MergeTree ORDER BY k SETTINGS index_granularity = 256, non_replicated_deduplication_window = 9";
        let expected = settings(&[("index_granularity", "256"), ("non_replicated_deduplication_window", "9")]);
        assert_eq!(stored_settings(plain), expected);
        let replicated = "ReplicatedMergeTree('/p', 'r') ORDER BY k SETTINGS replicated_deduplication_window = 9";
        assert_eq!(stored_settings(replicated), settings(&[("non_replicated_deduplication_window", "9")]));
        let name = "non_replicated_deduplication_window";
        assert_eq!(name_on_engine(replicated, name), "replicated_deduplication_window");
        assert_eq!(name_on_engine(plain, name), name);
        assert_eq!(stored_settings("MergeTree ORDER BY k"), settings(&[]));
    }

    #[test]
    fn what_cannot_change_stays_in_the_statement() {
        let fixed = fixed_lines(CREATE).collect::<Vec<_>>().join("\n");
        assert!(fixed.ends_with("ORDER BY data\n    index_granularity = 256\nCOMMENT 'logs';"), "{fixed}");
    }
}
