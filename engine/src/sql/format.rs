//! Output formats: the content type a ClickHouse server announces for each.

use crate::exception::Exception;

/// Whether `name` has only letters, digits and underscores, and so can stand in a statement's text.
#[must_use]
pub fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// A server's error about a format it does not have.
#[must_use]
pub fn unknown_format(name: &str) -> Exception {
    Exception::new(73, "UNKNOWN_FORMAT", format!("Unknown format {name}"))
}

/// The `Content-Type` of an answer in `format`; formats not listed are opaque bytes, as on a server.
#[must_use]
pub fn content_type(format: &str) -> &'static str {
    match format {
        "TabSeparated"
        | "TSV"
        | "TabSeparatedRaw"
        | "TSVRaw"
        | "Raw"
        | "TabSeparatedWithNames"
        | "TSVWithNames"
        | "TabSeparatedWithNamesAndTypes"
        | "TSVWithNamesAndTypes"
        | "TabSeparatedRawWithNames"
        | "TSVRawWithNames"
        | "TabSeparatedRawWithNamesAndTypes"
        | "TSVRawWithNamesAndTypes" => "text/tab-separated-values; charset=UTF-8",
        "CSV" => "text/csv; charset=UTF-8; header=absent",
        "CSVWithNames" | "CSVWithNamesAndTypes" => "text/csv; charset=UTF-8; header=present",
        "JSON"
        | "JSONStrings"
        | "JSONCompact"
        | "JSONCompactStrings"
        | "JSONColumns"
        | "JSONCompactColumns"
        | "JSONColumnsWithMetadata"
        | "JSONObjectEachRow" => "application/json; charset=UTF-8",
        "JSONEachRow"
        | "JSONLines"
        | "NDJSON"
        | "JSONStringsEachRow"
        | "JSONCompactEachRow"
        | "JSONCompactStringsEachRow"
        | "JSONCompactEachRowWithNames"
        | "JSONCompactEachRowWithNamesAndTypes"
        | "JSONCompactStringsEachRowWithNames"
        | "JSONCompactStringsEachRowWithNamesAndTypes"
        | "JSONEachRowWithProgress"
        | "JSONStringsEachRowWithProgress" => "application/x-ndjson; charset=UTF-8",
        "XML" => "application/xml; charset=UTF-8",
        "Native"
        | "RowBinary"
        | "RowBinaryWithNames"
        | "RowBinaryWithNamesAndTypes"
        | "RowBinaryWithDefaults"
        | "Parquet"
        | "Arrow"
        | "ArrowStream"
        | "ORC"
        | "Avro"
        | "Protobuf"
        | "CapnProto"
        | "MsgPack"
        | "BSONEachRow"
        | "Npy" => "application/octet-stream",
        _ => "text/plain; charset=UTF-8",
    }
}
