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

/// The formats that have a content type of their own, by that type.
const CONTENT_TYPES: [(&str, &[&str]); 7] = [
    (
        "text/tab-separated-values; charset=UTF-8",
        &[
            "TabSeparated",
            "TSV",
            "TabSeparatedRaw",
            "TSVRaw",
            "Raw",
            "TabSeparatedWithNames",
            "TSVWithNames",
            "TabSeparatedWithNamesAndTypes",
            "TSVWithNamesAndTypes",
            "TabSeparatedRawWithNames",
            "TSVRawWithNames",
            "TabSeparatedRawWithNamesAndTypes",
            "TSVRawWithNamesAndTypes",
        ],
    ),
    ("text/csv; charset=UTF-8; header=absent", &["CSV"]),
    ("text/csv; charset=UTF-8; header=present", &["CSVWithNames", "CSVWithNamesAndTypes"]),
    (
        "application/json; charset=UTF-8",
        &[
            "JSON",
            "JSONStrings",
            "JSONCompact",
            "JSONCompactStrings",
            "JSONColumns",
            "JSONCompactColumns",
            "JSONColumnsWithMetadata",
            "JSONObjectEachRow",
        ],
    ),
    (
        "application/x-ndjson; charset=UTF-8",
        &[
            "JSONEachRow",
            "JSONLines",
            "NDJSON",
            "JSONStringsEachRow",
            "JSONCompactEachRow",
            "JSONCompactStringsEachRow",
            "JSONCompactEachRowWithNames",
            "JSONCompactEachRowWithNamesAndTypes",
            "JSONCompactStringsEachRowWithNames",
            "JSONCompactStringsEachRowWithNamesAndTypes",
            "JSONEachRowWithProgress",
            "JSONStringsEachRowWithProgress",
        ],
    ),
    ("application/xml; charset=UTF-8", &["XML"]),
    (
        "application/octet-stream",
        &[
            "Native",
            "RowBinary",
            "RowBinaryWithNames",
            "RowBinaryWithNamesAndTypes",
            "RowBinaryWithDefaults",
            "Parquet",
            "Arrow",
            "ArrowStream",
            "ORC",
            "Avro",
            "Protobuf",
            "CapnProto",
            "MsgPack",
            "BSONEachRow",
            "Npy",
        ],
    ),
];

/// The `Content-Type` of an answer in `format`, whose name may have any letter case; that of plain text for formats
/// that are not listed.
#[must_use]
pub fn content_type(format: &str) -> &'static str {
    let is_format = |(_, names): &&(_, &[&str])| names.iter().any(|name| name.eq_ignore_ascii_case(format));
    CONTENT_TYPES.iter().find(is_format).map_or("text/plain; charset=UTF-8", |(content_type, _)| content_type)
}
