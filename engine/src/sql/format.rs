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

/// The `Content-Type` of an answer in `format`, whose name may have any letter case; formats not listed are opaque bytes, as on a server.
#[must_use]
pub fn content_type(format: &str) -> &'static str {
    match format.to_ascii_lowercase().as_str() {
        "tabseparated"
        | "tsv"
        | "tabseparatedraw"
        | "tsvraw"
        | "raw"
        | "tabseparatedwithnames"
        | "tsvwithnames"
        | "tabseparatedwithnamesandtypes"
        | "tsvwithnamesandtypes"
        | "tabseparatedrawwithnames"
        | "tsvrawwithnames"
        | "tabseparatedrawwithnamesandtypes"
        | "tsvrawwithnamesandtypes" => "text/tab-separated-values; charset=UTF-8",
        "csv" => "text/csv; charset=UTF-8; header=absent",
        "csvwithnames" | "csvwithnamesandtypes" => "text/csv; charset=UTF-8; header=present",
        "json"
        | "jsonstrings"
        | "jsoncompact"
        | "jsoncompactstrings"
        | "jsoncolumns"
        | "jsoncompactcolumns"
        | "jsoncolumnswithmetadata"
        | "jsonobjecteachrow" => "application/json; charset=UTF-8",
        "jsoneachrow"
        | "jsonlines"
        | "ndjson"
        | "jsonstringseachrow"
        | "jsoncompacteachrow"
        | "jsoncompactstringseachrow"
        | "jsoncompacteachrowwithnames"
        | "jsoncompacteachrowwithnamesandtypes"
        | "jsoncompactstringseachrowwithnames"
        | "jsoncompactstringseachrowwithnamesandtypes"
        | "jsoneachrowwithprogress"
        | "jsonstringseachrowwithprogress" => "application/x-ndjson; charset=UTF-8",
        "xml" => "application/xml; charset=UTF-8",
        "native"
        | "rowbinary"
        | "rowbinarywithnames"
        | "rowbinarywithnamesandtypes"
        | "rowbinarywithdefaults"
        | "parquet"
        | "arrow"
        | "arrowstream"
        | "orc"
        | "avro"
        | "protobuf"
        | "capnproto"
        | "msgpack"
        | "bsoneachrow"
        | "npy" => "application/octet-stream",
        _ => "text/plain; charset=UTF-8",
    }
}
