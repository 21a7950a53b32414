//! One session of the engine.
//!
//! A connection runs one statement at a time, which `&mut self` enforces. Opening one costs
//! 0.13 ms, so every request has its own; settings are given when it is opened.

use std::ffi::{CString, c_char};

use crate::chdb::insert::Insert;
use crate::chdb::library::{Analysis, ConnectionHandle, Library};
use crate::chdb::outcome::Outcome;
use crate::chdb::parameters::{Parameters, escaped, unescaped};
use crate::exception::Exception;

/// What a statement may do to the store, as the engine's own parser sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Classification {
    /// How many statements the text holds; 0 if it does not parse.
    pub statements: u32,
    /// Whether all of them leave no trace.
    pub read_only: bool,
}

/// One session of the engine; runs one statement at a time.
#[derive(Debug)]
pub struct Connection {
    library: &'static Library,
    handle: *mut ConnectionHandle,
}

// SAFETY: a handle may be used from any thread, one at a time, which `&mut self` ensures.
unsafe impl Send for Connection {}
// SAFETY: everything that touches the handle takes `&mut self`; a shared reference can do nothing.
unsafe impl Sync for Connection {}

impl Connection {
    /// Opens a connection with the arguments of a `clickhouse` program; `None` if libchdb refuses.
    pub(super) fn open(library: &'static Library, arguments: impl Iterator<Item = String>) -> Option<Self> {
        let arguments: Vec<CString> = arguments.map(CString::new).collect::<Result<_, _>>().ok()?;
        let mut pointers: Vec<*mut c_char> = arguments.iter().map(|argument| argument.as_ptr().cast_mut()).collect();
        let count = i32::try_from(pointers.len()).ok()?;
        // SAFETY: `count` NUL-terminated strings that outlive the call, which copies them.
        let handle = unsafe { (library.chdb_connect)(count, pointers.as_mut_ptr()) };
        (!handle.is_null()).then_some(Self { library, handle })
    }

    fn raw(&self) -> ConnectionHandle {
        // SAFETY: the handle is not null (checked when made) and not closed (only Drop closes).
        unsafe { *self.handle }
    }

    /// Runs `text` and returns its whole result in `format`, where the text names none.
    ///
    /// # Errors
    ///
    /// The engine's exception.
    pub fn query(&mut self, text: &[u8], format: &str, parameters: &[(String, String)]) -> Result<Outcome, Exception> {
        let parameters = Parameters::new(parameters);
        // SAFETY: pointers and lengths of live slices; the call copies what it keeps.
        let result = unsafe {
            (self.library.chdb_query_with_params_n)(
                self.raw(),
                text.as_ptr().cast(),
                text.len(),
                format.as_ptr().cast(),
                format.len(),
                parameters.names.as_ptr(),
                parameters.name_lengths.as_ptr(),
                parameters.values.as_ptr(),
                parameters.value_lengths.as_ptr(),
                parameters.names.len(),
            )
        };
        // SAFETY: just returned, and nothing else has it.
        unsafe { Outcome::new(self.library, result) }
    }

    /// Runs `text` and returns its result as text without the final line feed.
    ///
    /// # Errors
    ///
    /// The engine's exception.
    pub fn text(&mut self, text: &str) -> Result<String, Exception> {
        let outcome = self.query(text.as_bytes(), "TSVRaw", &[])?;
        Ok(String::from_utf8_lossy(outcome.bytes()).trim_end_matches('\n').to_owned())
    }

    /// Runs `text` and returns the rows of its result that have so many `columns`: names may have tabs and line feeds.
    ///
    /// # Errors
    ///
    /// The engine's exception.
    pub fn rows(&mut self, text: &str, columns: usize) -> Result<Vec<Vec<String>>, Exception> {
        let outcome = self.query(text.as_bytes(), "TSV", &[])?;
        let lines = String::from_utf8_lossy(outcome.bytes()).into_owned();
        let split = |line: &str| line.split('\t').map(unescaped).collect::<Vec<_>>();
        Ok(lines.split_terminator('\n').map(split).filter(|row| row.len() == columns).collect())
    }

    /// The statement `text` in the engine's own notation, without comments and with one way to write each thing; or
    /// its parser's error. Runs nothing.
    ///
    /// # Errors
    ///
    /// The parser's exception if `text` is no statement.
    pub fn reformat(&mut self, text: &str) -> Result<String, Exception> {
        let query = "SELECT formatQuerySingleLine({text:String})";
        let outcome = self.query(query.as_bytes(), "TSVRaw", &[("text".into(), escaped(text))]);
        let outcome = outcome.map_err(|mut exception| {
            // The rest quotes this program's own query, not the client's.
            if let Some((reason, _)) = exception.message.split_once(": In scope ") {
                exception.message = format!("{reason} (SYNTAX_ERROR)");
            }
            exception
        })?;
        Ok(String::from_utf8_lossy(outcome.bytes()).into_owned())
    }

    /// Sets `name` for this connection, or resets it to its default.
    ///
    /// # Errors
    ///
    /// The engine's exception if there is no such setting, or it does not take `value`.
    pub fn set(&mut self, name: &str, value: Option<&str>) -> Result<(), Exception> {
        let value = match value {
            Some(value) => format!("'{}'", value.replace('\\', "\\\\").replace('\'', "\\'")),
            None => "DEFAULT".into(),
        };
        self.query(format!("SET {} = {value}", quoted_identifier(name)).as_bytes(), "Null", &[]).map(drop)
    }

    /// Makes `database` the current one.
    ///
    /// # Errors
    ///
    /// The engine's exception if there is no such database.
    pub fn use_database(&mut self, database: &str) -> Result<(), Exception> {
        self.query(format!("USE {}", quoted_identifier(database)).as_bytes(), "Null", &[]).map(drop)
    }

    /// What `text` would do, according to the engine's parser. Runs nothing.
    pub fn classify(&mut self, text: &[u8]) -> Classification {
        let size = u32::try_from(size_of::<Analysis>()).expect("a struct of 16 bytes");
        let mut analysis = Analysis { struct_size: size, ..Analysis::default() };
        // SAFETY: pointers and lengths of live values; a null database means none.
        unsafe {
            (self.library.chdb_classify_query_n)(
                self.raw(),
                text.as_ptr().cast(),
                text.len(),
                std::ptr::null(),
                0,
                &raw mut analysis,
            );
        }
        Classification {
            statements: analysis.statement_count,
            read_only: analysis.query_class == 0 && analysis.statement_count > 0,
        }
    }

    /// Starts an INSERT whose data is appended in chunks. `text` has no FORMAT clause.
    ///
    /// # Errors
    ///
    /// The engine's exception if it refuses the statement.
    pub fn insert(
        &mut self,
        text: &[u8],
        format: &str,
        parameters: &[(String, String)],
    ) -> Result<Insert<'_>, Exception> {
        let parameters = Parameters::new(parameters);
        // SAFETY: as in `query`.
        let stream = unsafe {
            (self.library.chdb_stream_insert_with_params_n)(
                self.raw(),
                text.as_ptr().cast(),
                text.len(),
                format.as_ptr().cast(),
                format.len(),
                parameters.names.as_ptr(),
                parameters.name_lengths.as_ptr(),
                parameters.values.as_ptr(),
                parameters.value_lengths.as_ptr(),
                parameters.names.len(),
            )
        };
        // SAFETY: just opened on this connection, which the result borrows.
        unsafe { Insert::new(self.library, stream) }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // SAFETY: closed once, here.
        unsafe { (self.library.chdb_close_conn)(self.handle) };
    }
}

/// A name as SQL that means it and nothing else.
pub(super) fn quoted_identifier(name: &str) -> String {
    format!("`{}`", name.replace('\\', "\\\\").replace('`', "\\`"))
}
