//! Comments of columns and tables in the statements of `sql/`: they may be corrected at any time, so checksums leave
//! them out, and `migrate` gives them to the tables that are there.

/// What begins a comment in a statement.
const COMMENT: &str = "COMMENT '";

/// The comments of a statement that creates a table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TableComments {
    /// That of the table itself; empty if it has none.
    pub table: String,
    /// Those of its columns, by name.
    pub columns: Vec<(String, String)>,
}

/// Reads the comments of a statement of `sql/tables`: that of a column is in its line, that of the table at the start
/// of one.
#[must_use]
pub fn comments(create: &str) -> TableComments {
    let mut found = TableComments::default();
    for line in statement_lines(create) {
        let Some((before, comment, _)) = split_comment(line) else { continue };
        match before.split_whitespace().next() {
            Some(column) => found.columns.push((column.to_owned(), comment)),
            None => found.table = comment,
        }
    }
    found
}

/// A line of a statement without its comment, and with one blank where there are several.
pub(super) fn without_comment(line: &str) -> String {
    let text = split_comment(line).map_or_else(|| line.to_owned(), |(before, _, after)| format!("{before} {after}"));
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The lines of a statement but for those that are comments of SQL.
pub(super) fn statement_lines(sql: &str) -> impl Iterator<Item = &str> {
    sql.lines().filter(|line| !line.starts_with("--"))
}

/// The text before a line's comment, the comment with its quotes undone, and the text behind it.
fn split_comment(line: &str) -> Option<(&str, String, &str)> {
    let (before, rest) = line.split_once(COMMENT)?;
    let mut text = String::new();
    let mut characters = rest.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        if character != '\'' {
            text.push(character);
        } else if characters.next_if(|(_, next)| *next == '\'').is_some() {
            text.push('\'');
        } else {
            return Some((before, text, &rest[at + 1..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_read_with_their_quotes() {
        let create = "-- logs: rows\nCREATE TABLE logs\n(\n    \
                      nonce  UInt64 COMMENT 'sender''s count, \"0\" too' CODEC(LZ4),\n    \
                      data   String\n)\nORDER BY nonce\nCOMMENT 'event logs';";
        let columns = vec![("nonce".to_owned(), "sender's count, \"0\" too".to_owned())];
        assert_eq!(comments(create), TableComments { table: "event logs".into(), columns });
        assert_eq!(without_comment("    nonce  UInt64 COMMENT 'a''b' CODEC(LZ4),"), "nonce UInt64 CODEC(LZ4),");
        assert_eq!(without_comment("COMMENT 'event logs';"), ";");
        assert_eq!(without_comment("    data   String"), "data String");
    }
}
