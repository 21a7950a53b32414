//! The source code of a contract, in the forms in which services, compilers and tools give it.

use std::path::Path;

use serde_json::{Map, Value};

mod explorer;
mod files;
mod metadata;
mod record;
mod sourcify;

pub(super) use explorer::{is_etherscan, of_etherscan};
pub use record::{ContractSource, MatchType, SourceRecord, Verifier};
pub(super) use record::{FoundSource, MAX_BYTES, MAX_FILES};

/// The source in an answer of a service, an artifact of a compiler or the record of a deployment, which is in `file`.
/// The error names what is wrong.
pub(super) fn of_artifact(object: &Map<String, Value>, file: &Path) -> Result<FoundSource, String> {
    if object.get("compilation").is_some_and(Value::is_object) {
        return sourcify::read(object);
    }
    if object.get("source_code").is_some_and(Value::is_string) {
        return explorer::of_blockscout(object);
    }
    metadata::read(object, file)
}
