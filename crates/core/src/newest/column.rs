//! A column of the rows of a block: stored small, and quick to search.

use arrow::array::{Array, ArrayRef, AsArray, UInt32Array};
use arrow::buffer::NullBuffer;
use arrow::compute::take;
use arrow::datatypes::{DataType, UInt8Type, UInt32Type, UInt64Type};
use arrow::error::ArrowError;

/// Values of a column.
#[derive(Debug)]
pub(super) enum StoredColumn {
    /// One value that all rows have.
    Constant(ArrayRef),
    /// Bytes as codes in a list of distinct values: hashes, addresses, amounts, and texts that repeat.
    Sorted {
        /// The values, ascending.
        values: ArrayRef,
        /// For each row the code of its value.
        codes: Vec<u16>,
        /// The rows that have a value, if some have none.
        nulls: Option<NullBuffer>,
    },
    /// One value for each row.
    Plain(ArrayRef),
}

impl StoredColumn {
    /// Stores a column; copies its values.
    pub fn of(array: &ArrayRef) -> Result<Self, ArrowError> {
        if is_constant(array) {
            return Ok(Self::Constant(copy(array, vec![0])?));
        }
        if let Some(sorted) = sorted(array)? {
            return Ok(sorted);
        }
        // The array may be a slice of a larger buffer.
        Ok(Self::Plain(copy(array, (0..u32::try_from(array.len()).unwrap_or(u32::MAX)).collect())?))
    }

    /// The values of some rows.
    pub fn take(&self, rows: &[u32]) -> Result<ArrayRef, ArrowError> {
        match self {
            Self::Constant(value) => take(value, &UInt32Array::from(vec![0; rows.len()]), None),
            Self::Plain(values) => take(values, &UInt32Array::from(rows.to_vec()), None),
            Self::Sorted { values, codes, nulls } => {
                let code = |row: &u32| {
                    let is_null = nulls.as_ref().is_some_and(|nulls| nulls.is_null(*row as usize));
                    (!is_null).then(|| u32::from(codes[*row as usize]))
                };
                if nulls.is_some() {
                    return take(values, &rows.iter().map(code).collect::<UInt32Array>(), None);
                }
                let codes = rows.iter().map(|row| u32::from(codes[*row as usize]));
                take(values, &UInt32Array::from_iter_values(codes), None)
            }
        }
    }

    /// The bytes at `row`; none for NULL and for columns of numbers.
    pub fn bytes(&self, row: usize) -> Option<&[u8]> {
        match self {
            Self::Constant(value) => bytes(value, 0),
            Self::Plain(values) => bytes(values, row),
            Self::Sorted { values, codes, nulls } => {
                if nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
                    return None;
                }
                bytes(values, usize::from(codes[row]))
            }
        }
    }

    /// The number at `row`; none for NULL and for columns of bytes.
    pub fn number(&self, row: usize) -> Option<u64> {
        match self {
            Self::Constant(value) => number(value, 0),
            Self::Plain(values) => number(values, row),
            Self::Sorted { .. } => None,
        }
    }

    /// Whether a row has one of these ascending values.
    pub fn has_any(&self, candidates: &[Vec<u8>]) -> bool {
        match self {
            Self::Constant(_) => self.bytes(0).is_some_and(|value| has(candidates, value)),
            Self::Sorted { values, .. } => candidates.iter().any(|value| code_of(values, value).is_some()),
            Self::Plain(values) => {
                (0..values.len()).any(|row| bytes(values, row).is_some_and(|value| has(candidates, value)))
            }
        }
    }

    /// The rows that have a value, ascending.
    pub fn rows_with<'c>(&'c self, value: &'c [u8], rows: usize) -> Box<dyn Iterator<Item = usize> + 'c> {
        match self {
            Self::Constant(own) => {
                let has_it = bytes(own, 0) == Some(value);
                Box::new(0..if has_it { rows } else { 0 })
            }
            Self::Plain(_) => Box::new((0..rows).filter(move |row| self.bytes(*row) == Some(value))),
            Self::Sorted { values, codes, nulls } => match code_of(values, value) {
                None => Box::new(std::iter::empty()),
                Some(code) => {
                    let is_there = move |row: &usize| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(*row));
                    let rows = codes.iter().enumerate().filter(move |(_, own)| **own == code);
                    Box::new(rows.map(|(row, _)| row).filter(is_there))
                }
            },
        }
    }

    /// The values, each at least once; none for columns of numbers.
    pub fn distinct(&self) -> impl Iterator<Item = &[u8]> {
        let (Self::Constant(values) | Self::Plain(values) | Self::Sorted { values, .. }) = self;
        (0..values.len()).filter_map(|row| bytes(values, row))
    }

    /// For a list of distinct values: the codes of `candidates` in it, and the code of each row.
    pub fn codes_of(&self, candidates: &[Vec<u8>]) -> Option<(Vec<u16>, &[u16], Option<&NullBuffer>)> {
        let Self::Sorted { values, codes, nulls } = self else { return None };
        let found = candidates.iter().filter_map(|value| code_of(values, value)).collect();
        Some((found, codes, nulls.as_ref()))
    }

    /// Bytes in memory.
    pub fn size(&self) -> usize {
        match self {
            Self::Constant(values) | Self::Plain(values) => values.get_array_memory_size(),
            Self::Sorted { values, codes, nulls } => {
                let nulls = nulls.as_ref().map_or(0, |nulls| nulls.len() / 8);
                values.get_array_memory_size() + codes.capacity() * size_of::<u16>() + nulls
            }
        }
    }
}

/// Some values in memory of their own, no more than they need.
fn copy(array: &ArrayRef, rows: Vec<u32>) -> Result<ArrayRef, ArrowError> {
    let mut values = take(array, &UInt32Array::from(rows), None)?;
    values.shrink_to_fit();
    Ok(values)
}

/// Whether ascending values contain one.
pub(super) fn has(values: &[Vec<u8>], value: &[u8]) -> bool {
    values.binary_search_by(|own| own.as_slice().cmp(value)).is_ok()
}

fn is_constant(array: &ArrayRef) -> bool {
    let others = array.len() - 1;
    array.slice(0, others).to_data() == array.slice(1, others).to_data()
}

/// A column of bytes as a list of its distinct values; none where that would not be smaller or is of no use.
fn sorted(array: &ArrayRef) -> Result<Option<StoredColumn>, ArrowError> {
    let is_fixed = matches!(array.data_type(), DataType::FixedSizeBinary(_));
    if !is_fixed && *array.data_type() != DataType::Binary {
        return Ok(None);
    }
    let value = |row: u32| bytes(array, row as usize).unwrap_or_default();
    let all = 0..u32::try_from(array.len()).unwrap_or(u32::MAX);
    let mut rows: Vec<u32> = all.filter(|row| array.is_valid(*row as usize)).collect();
    rows.sort_unstable_by_key(|row| value(*row));
    let mut firsts: Vec<u32> = Vec::new();
    let mut codes = vec![0u16; array.len()];
    for row in rows {
        if firsts.last().is_none_or(|last| value(*last) != value(row)) {
            firsts.push(row);
        }
        let Ok(code) = u16::try_from(firsts.len() - 1) else { return Ok(None) };
        codes[row as usize] = code;
    }
    if !is_fixed && firsts.len() * 2 > codes.len() {
        return Ok(None);
    }
    let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0).map(|nulls| nulls.iter().collect());
    let values = copy(array, firsts)?;
    Ok(Some(StoredColumn::Sorted { values, codes, nulls }))
}

fn code_of(values: &ArrayRef, value: &[u8]) -> Option<u16> {
    let (mut low, mut high) = (0, values.len());
    while low < high {
        let middle = low.midpoint(high);
        match bytes(values, middle)?.cmp(value) {
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Equal => return u16::try_from(middle).ok(),
            std::cmp::Ordering::Greater => high = middle,
        }
    }
    None
}

fn bytes(array: &ArrayRef, row: usize) -> Option<&[u8]> {
    if array.is_null(row) {
        return None;
    }
    match array.data_type() {
        DataType::FixedSizeBinary(_) => Some(array.as_fixed_size_binary().value(row)),
        DataType::Binary => Some(array.as_binary::<i32>().value(row)),
        _ => None,
    }
}

fn number(array: &ArrayRef, row: usize) -> Option<u64> {
    if array.is_null(row) {
        return None;
    }
    match array.data_type() {
        DataType::UInt8 => Some(array.as_primitive::<UInt8Type>().value(row).into()),
        DataType::UInt32 => Some(array.as_primitive::<UInt32Type>().value(row).into()),
        DataType::UInt64 => Some(array.as_primitive::<UInt64Type>().value(row)),
        _ => None,
    }
}
