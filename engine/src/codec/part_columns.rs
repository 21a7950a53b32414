//! The two lists of columns that a part has: `columns.txt` with names and types, and `columns_substreams.txt` with
//! names and files. ClickHouse has checksums of neither, reads the first, and gives a column that it does not find its
//! default. A name that was altered on the disk is in one of them only, whatever became of the table since.

use std::path::Path;
use std::time::SystemTime;
use std::{fs, io};

/// A column of the part in `folder` that only one of its two lists has. `None` also for a part without the second list:
/// one of another form, one that is being removed, or one on another disk.
///
/// # Errors
///
/// If a file is there and cannot be read.
pub fn altered_column(folder: &Path) -> io::Result<Option<String>> {
    let read = |name: &str| match fs::read(folder.join(name)) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    };
    match (read("columns.txt")?, read("columns_substreams.txt")?) {
        (Some(typed), Some(listed)) => Ok(difference(&typed, &listed)),
        _ => Ok(None),
    }
}

/// When the data of `column` in the part in `folder` was written; a mutation of other columns leaves it as it is.
/// `None` if its file is not found.
pub fn written_at(folder: &Path, column: &str) -> Option<SystemTime> {
    let modified = |name: &str| folder.join(name).metadata().and_then(|file| file.modified()).ok();
    let listed = || fs::read_to_string(folder.join("columns_substreams.txt")).ok();
    modified("data.bin").or_else(|| modified(&format!("{}.bin", first_file(&listed()?, column)?)))
}

/// The first file of `column` according to the second list, without its ending.
fn first_file(listed: &str, column: &str) -> Option<String> {
    let name = column.replace('\\', "\\\\").replace('`', "\\`");
    let mut lines = listed.lines();
    lines.find(|line| {
        line.split_once(" for column ").is_some_and(|(_, rest)| leading_name(rest) == Some(name.as_str()))
    })?;
    Some(lines.next()?.trim_start().to_owned())
}

/// The first column that is not in both texts at the same position.
fn difference(typed: &str, listed: &str) -> Option<String> {
    let typed: Vec<&str> = typed.lines().filter_map(leading_name).collect();
    let listed: Vec<&str> =
        listed.lines().filter_map(|line| leading_name(line.split_once(" for column ")?.1)).collect();
    let differ = |(left, right): (&&str, &&str)| left != right;
    let at = match typed.iter().zip(&listed).position(differ) {
        None if typed.len() == listed.len() => return None,
        None => typed.len().min(listed.len()),
        Some(at) => at,
    };
    [&typed, &listed].iter().find_map(|names| names.get(at)).map(|name| (*name).to_owned())
}

/// The name in backquotes at the beginning of `text`, as it is written there.
fn leading_name(text: &str) -> Option<&str> {
    let rest = text.strip_prefix('`')?;
    let mut is_escaped = false;
    let end = rest.find(|character| {
        let is_end = character == '`' && !is_escaped;
        is_escaped = character == '\\' && !is_escaped;
        is_end
    })?;
    Some(&rest[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    const TYPED: &str =
        "columns format version: 1\n3 columns:\n`k` UInt64\n`a\\`b` Array(String)\n`_row_exists` UInt8\n";
    const LISTED: &str = "columns substreams version: 1\n3 columns:\n1 substreams for column `k`:\n\tk\n2 substreams for \
                          column `a\\`b`:\n\ta%60b.size0\n\ta%60b\n1 substreams for column `_row_exists`:\n\t_row_exists\n";

    #[test]
    fn names_that_agree_are_as_they_were_written() {
        assert_eq!(difference(TYPED, LISTED), None);
    }

    #[test]
    fn each_column_has_a_first_file() {
        assert_eq!(first_file(LISTED, "k").as_deref(), Some("k"));
        assert_eq!(first_file(LISTED, "a`b").as_deref(), Some("a%60b.size0"));
        assert_eq!(first_file(LISTED, "absent"), None);
    }

    #[test]
    fn a_name_in_one_list_only_is_found() {
        assert_eq!(difference(&TYPED.replace("`k`", "`j`"), LISTED).as_deref(), Some("j"));
        assert_eq!(difference(&TYPED.replace("_row_exists", "_row_exiets"), LISTED).as_deref(), Some("_row_exiets"));
        assert_eq!(difference(&TYPED.replace("`_row_exists` UInt8\n", ""), LISTED).as_deref(), Some("_row_exists"));
        assert_eq!(difference(TYPED, &LISTED.replace("`k`", "`o`")).as_deref(), Some("k"));
    }
}
