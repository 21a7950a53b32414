//! The formats of answers.

use crate::error::Problem;

/// How the rows of an answer are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextFormat {
    /// A JSON value a line: names and types, rows as texts, progress, and how it ended. Of the page.
    Lines,
    Csv,
    Tsv,
    Parquet,
}

impl TextFormat {
    /// That of the parameter `format`, the only one beside keys.
    pub fn of_request(query: &str) -> Result<Self, Problem> {
        let mut format = Self::Lines;
        for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
            format = match (&*name, &*value) {
                ("format", "json") => Self::Lines,
                ("format", "csv") => Self::Csv,
                ("format", "tsv") => Self::Tsv,
                ("format", "parquet") => Self::Parquet,
                ("format", _) => return Err(Problem::invalid_parameter("format", "is one of json, csv, tsv, parquet")),
                ("apikey" | "key", _) => format,
                (other, _) => return Err(Problem::invalid_parameter(other, format!("Unexpected field: {other}"))),
            };
        }
        Ok(format)
    }

    /// As ClickHouse calls it (<https://clickhouse.com/docs/interfaces/formats>).
    pub fn name(self) -> &'static str {
        match self {
            Self::Lines => "JSONCompactStringsEachRowWithProgress",
            Self::Csv => "CSVWithNames",
            Self::Tsv => "TabSeparatedWithNamesAndTypes",
            Self::Parquet => "Parquet",
        }
    }

    pub fn media_type(self) -> &'static str {
        match self {
            Self::Lines => "application/x-ndjson",
            Self::Csv => "text/csv; charset=utf-8",
            Self::Tsv => "text/tab-separated-values; charset=utf-8",
            Self::Parquet => "application/vnd.apache.parquet",
        }
    }

    /// The name of the file, where a browser should keep it.
    pub fn file(self) -> Option<&'static str> {
        match self {
            Self::Lines => None,
            Self::Csv => Some("attachment; filename=\"rows.csv\""),
            Self::Tsv => Some("attachment; filename=\"rows.tsv\""),
            Self::Parquet => Some("attachment; filename=\"rows.parquet\""),
        }
    }

    /// Whether an answer that begins so is of this format: a statement may have named another one, and of none of it
    /// there is nothing.
    pub fn begins(self, beginning: &[u8]) -> bool {
        match self {
            Self::Lines => {
                beginning.is_empty()
                    || [&b"{\"meta\":"[..], b"{\"progress\":"].iter().any(|start| beginning.starts_with(start))
            }
            Self::Parquet => beginning.starts_with(b"PAR1"),
            Self::Csv | Self::Tsv => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_is_one_that_is_known() {
        assert_eq!(TextFormat::of_request(""), Ok(TextFormat::Lines));
        assert_eq!(TextFormat::of_request("format=parquet&key=a"), Ok(TextFormat::Parquet));
        for wrong in ["format=Vertical", "query=x", "format=csv&user=ana"] {
            assert!(TextFormat::of_request(wrong).is_err(), "{wrong}");
        }
        assert!(TextFormat::Lines.begins(b"{\"progress\":{") && !TextFormat::Lines.begins(b"1\n"));
    }
}
