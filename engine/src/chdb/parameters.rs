//! Query parameters as libchdb takes them.

use std::ffi::c_char;

/// Query parameters as parallel arrays of pointers, valid as long as the slice they come from.
pub(super) struct Parameters {
    pub(super) names: Vec<*const c_char>,
    pub(super) name_lengths: Vec<usize>,
    pub(super) values: Vec<*const c_char>,
    pub(super) value_lengths: Vec<usize>,
}

impl Parameters {
    pub(super) fn new(pairs: &[(String, String)]) -> Self {
        Self {
            names: pairs.iter().map(|(name, _)| name.as_ptr().cast()).collect(),
            name_lengths: pairs.iter().map(|(name, _)| name.len()).collect(),
            values: pairs.iter().map(|(_, value)| value.as_ptr().cast()).collect(),
            value_lengths: pairs.iter().map(|(_, value)| value.len()).collect(),
        }
    }
}

/// A value in the text form of query parameters: tab-separated escapes.
pub(super) fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('\n', "\\n").replace('\t', "\\t")
}
