//! The statement of a view that shows another one as text and numbers, for programs that take no raw bytes and no
//! integers of 256 bits.
//!
//! Filters on its text are filters on that of the other view, so they use the same indexes.

/// Suffix of the database of text views.
pub const TEXT_DATABASE: &str = "_views";

/// A column of a view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceColumn {
    /// Name of the column in its `v_` view.
    pub name: String,
    /// Its type, as ClickHouse writes it.
    pub of: String,
    /// Comment of the column.
    pub comment: String,
}

/// A view of one row for each fact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceView {
    /// Its name, which begins with `v_`.
    pub name: String,
    /// The comment of the view.
    pub comment: String,
    /// Its columns, in their order.
    pub columns: Vec<SourceColumn>,
}

/// Views that only other views read.
const INNER: [&str; 2] = ["v_newest", "v_token_facts"];
/// The ending of columns of text, which stand beside those of bytes.
const TEXT: &str = "_hex";

/// A column as it is shown.
struct Column {
    name: String,
    of: String,
    expression: String,
    comment: String,
}

impl SourceView {
    /// The name of the view that shows this one; `None` if none does.
    #[must_use]
    pub fn shown_as(&self) -> Option<&str> {
        Self::shown_name(&self.name)
    }

    /// The same of a view of this name.
    #[must_use]
    pub fn shown_name(view: &str) -> Option<&str> {
        view.strip_prefix("v_").filter(|_| !INNER.contains(&view))
    }

    /// The statement that makes the text view of this view of `database`, or makes it anew; `None` if it has none.
    #[must_use]
    pub fn text_view(&self, database: &str) -> Option<String> {
        let columns: Vec<Column> = self.columns.iter().flat_map(|column| self.shown(column)).collect();
        let lines = |line: fn(&Column) -> String| columns.iter().map(line).collect::<Vec<_>>().join(",\n");
        let declared = lines(|column| {
            format!("    {} {} COMMENT {}", identifier(&column.name), column.of, literal(&column.comment))
        });
        let selected = lines(|column| format!("    {} AS {}", column.expression, identifier(&column.name)));
        (!columns.is_empty()).then_some(())?;
        Some(format!(
            "CREATE OR REPLACE VIEW {}.{}\n(\n{declared}\n)\nAS\nSELECT\n{selected}\nFROM {}.{} AS source\nCOMMENT {}",
            identifier(&format!("{database}{TEXT_DATABASE}")),
            identifier(self.shown_as()?),
            identifier(database),
            identifier(&self.name),
            literal(&self.comment)
        ))
    }

    /// What is shown of a column: nothing of text that stands beside bytes, as it replaces them, and of tuples.
    fn shown(&self, column: &SourceColumn) -> Vec<Column> {
        let SourceColumn { name, of, comment } = column;
        if name.ends_with(TEXT) {
            return Vec::new();
        }
        let read = format!("source.{}", identifier(name));
        let shown = |of: &str, expression: String, comment: String| Column {
            name: name.clone(),
            of: of.into(),
            expression,
            comment,
        };
        if let Some(item) = within(of, "Array") {
            let text = match plain(item) {
                bytes if bytes.starts_with("FixedString(") => "concat('0x', lower(hex(item)))",
                "UInt128" | "Int128" | "UInt256" | "Int256" => "toString(item)",
                "String" => "toValidUTF8(item)",
                small if is_small(small) => return vec![shown(of, read, comment.clone())],
                _ => return Vec::new(),
            };
            return vec![shown("Array(String)", format!("arrayMap(item -> {text}, {read})"), comment.clone())];
        }
        let is_nullable = of.contains("Nullable(");
        let or_null = |of: &str| if is_nullable { format!("Nullable({of})") } else { of.to_owned() };
        match plain(of) {
            bytes if bytes.starts_with("FixedString(") => {
                vec![shown(&or_null("String"), self.hex(name), as_text(comment))]
            }
            "String" if is_bytes(comment) => vec![shown(&or_null("String"), self.hex(name), as_text(comment))],
            // Few words, which are ours.
            "String" if of.contains("LowCardinality") => vec![shown(&or_null("String"), read, comment.clone())],
            "String" => vec![shown(&or_null("String"), format!("toValidUTF8({read})"), comment.clone())],
            // Ids are not added up, and a rounded id is another id.
            "UInt256" if is_id(name) => vec![shown(&or_null("String"), format!("toString({read})"), comment.clone())],
            "UInt128" | "Int128" | "UInt256" | "Int256" => {
                let rounded = format!("{comment}; rounded to about 15 digits, {name}_exact has all");
                let exact = format!("{comment}; all digits, as text");
                let exact = Column {
                    name: format!("{name}_exact"),
                    ..shown(&or_null("String"), format!("toString({read})"), exact)
                };
                vec![shown(&or_null("Float64"), format!("toFloat64({read})"), rounded), exact]
            }
            small if is_small(small) => vec![shown(of, read, comment.clone())],
            _ => Vec::new(),
        }
    }

    /// The 0x text of a column of bytes: that of the view, if it has it.
    fn hex(&self, name: &str) -> String {
        let beside = format!("{name}{TEXT}");
        if self.columns.iter().any(|column| column.name == beside) {
            return format!("source.{}", identifier(&beside));
        }
        format!("concat('0x', lower(hex(source.{})))", identifier(name))
    }
}

/// Whether a number is the name of something, such as a token.
fn is_id(name: &str) -> bool {
    name == "id" || name.ends_with("_id") || name.ends_with("Id")
}

/// Types that every program takes.
fn is_small(of: &str) -> bool {
    ["Bool", "Date", "Float64", "UInt8", "UInt16", "UInt32", "UInt64", "Int8", "Int16", "Int32", "Int64"].contains(&of)
        || of.starts_with("DateTime64(")
}

/// A type without what says that a value may be missing or that values are few.
fn plain(of: &str) -> &str {
    match within(of, "Nullable").or_else(|| within(of, "LowCardinality")) {
        Some(inner) => plain(inner),
        None => of,
    }
}

/// What stands in the brackets of a type.
fn within<'a>(of: &'a str, outer: &str) -> Option<&'a str> {
    of.strip_prefix(outer)?.strip_prefix('(')?.strip_suffix(')')
}

/// Whether a comment says that a text is bytes: views say so at its end or before a half sentence, those of events give
/// the type.
fn is_bytes(comment: &str) -> bool {
    comment.split([',', ';']).any(|part| part.trim() == "bytes")
}

/// The comment of bytes, for their text.
fn as_text(comment: &str) -> String {
    match comment.replace(", bytes", ", 0x text") {
        same if same == comment => format!("{comment}; 0x text"),
        changed => changed,
    }
}

/// A name as SQL.
fn identifier(name: &str) -> String {
    format!("`{}`", name.replace('\\', "\\\\").replace('`', "\\`"))
}

/// A text as SQL.
fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(columns: &[(&str, &str, &str)]) -> SourceView {
        let column = |(name, of, comment): &(&str, &str, &str)| SourceColumn {
            name: (*name).into(),
            of: (*of).into(),
            comment: (*comment).into(),
        };
        SourceView { name: "v_x".into(), comment: "rows' own".into(), columns: columns.iter().map(column).collect() }
    }

    #[test]
    fn bytes_are_text_and_large_numbers_are_two_columns() {
        let shown = view(&[
            ("hash", "FixedString(32)", "its hash, bytes"),
            ("hash_hex", "String", "its hash, 0x text"),
            ("to", "Nullable(FixedString(20))", "address indexed"),
            ("data", "String", "call data, bytes"),
            ("name", "Nullable(String)", "its name"),
            ("kind", "LowCardinality(String)", "kind"),
            ("value", "Nullable(UInt256)", "wei"),
            ("token_id", "UInt256", "token"),
            ("uncles", "Array(FixedString(32))", "uncles"),
            ("list", "Array(Tuple(UInt64, UInt64))", "list"),
            ("at", "DateTime64(6, 'UTC')", "time"),
        ]);
        let expected = "\
CREATE OR REPLACE VIEW `a_views`.`x`
(
    `hash` String COMMENT 'its hash, 0x text',
    `to` Nullable(String) COMMENT 'address indexed; 0x text',
    `data` String COMMENT 'call data, 0x text',
    `name` Nullable(String) COMMENT 'its name',
    `kind` String COMMENT 'kind',
    `value` Nullable(Float64) COMMENT 'wei; rounded to about 15 digits, value_exact has all',
    `value_exact` Nullable(String) COMMENT 'wei; all digits, as text',
    `token_id` String COMMENT 'token',
    `uncles` Array(String) COMMENT 'uncles',
    `at` DateTime64(6, 'UTC') COMMENT 'time'
)
AS
SELECT
    source.`hash_hex` AS `hash`,
    concat('0x', lower(hex(source.`to`))) AS `to`,
    concat('0x', lower(hex(source.`data`))) AS `data`,
    toValidUTF8(source.`name`) AS `name`,
    source.`kind` AS `kind`,
    toFloat64(source.`value`) AS `value`,
    toString(source.`value`) AS `value_exact`,
    toString(source.`token_id`) AS `token_id`,
    arrayMap(item -> concat('0x', lower(hex(item))), source.`uncles`) AS `uncles`,
    source.`at` AS `at`
FROM `a`.`v_x` AS source
COMMENT 'rows\\' own'";
        assert_eq!(shown.text_view("a").as_deref(), Some(expected));
    }

    #[test]
    fn names_cannot_end_what_they_stand_in() {
        let shown = view(&[("a`b\\", "UInt8", "it's \\")]).text_view("d`").expect("a column");
        assert!(shown.contains("`d\\`_views`.`x`") && shown.contains("source.`a\\`b\\\\` AS `a\\`b\\\\`"), "{shown}");
        assert!(shown.contains("COMMENT 'it\\'s \\\\'"), "{shown}");
    }

    #[test]
    fn views_without_anything_to_show_have_none() {
        assert_eq!(view(&[("a_hex", "String", "")]).text_view("a"), None);
        for name in ["v_newest", "v_token_facts", "other"] {
            assert_eq!(SourceView { name: name.into(), ..view(&[("a", "UInt8", "")]) }.text_view("a"), None);
        }
    }
}
