//! libchdb made safe: the engine, its connections, results and insert streams.
//!
//! A connection runs one statement at a time, which `&mut self` says in the type. Opening one costs
//! 0.13 ms, so every request has its own; settings are given when it is opened.

use std::collections::HashSet;
use std::ffi::{CStr, CString, c_char};
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::chdb::library::{Analysis, ConnectionHandle, InsertHandle, Library, ResultHandle};
use crate::exception::Exception;

/// Why the engine did not start.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process holds the directory.
    #[error("{} is in use by another trawl-engine: stop that one, or give this one a --data-dir of its own", .0.display())]
    InUse(PathBuf),
    /// The directory cannot be made or locked.
    #[error("cannot use {} as data directory", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// libchdb refused.
    #[error("the engine could not open {}: is it a data directory of another program or of a newer engine?", .0.display())]
    Refused(PathBuf),
    /// The engine runs but does not answer.
    #[error("the engine does not answer: {0}")]
    Silent(#[from] Exception),
}

/// Settings that make the embedded engine answer as a server with default settings does.
const SERVER_LIKE: [(&str, &str); 3] =
    [("implicit_select", "0"), ("allow_introspection_functions", "0"), ("output_format_arrow_use_native_writer", "1")];

/// The one engine of this process.
#[derive(Debug)]
pub struct Engine {
    /// Lives as long as the process: the engine's threads outlive every handle.
    library: &'static Library,
    data_dir: PathBuf,
    /// Version as SQL `version()` gives it.
    pub version: String,
    /// Time zone as SQL `timezone()` gives it.
    pub timezone: String,
    settings: HashSet<String>,
    /// libchdb stops with its last connection, so one stays open as long as the engine; KILL runs on it.
    control: Mutex<Option<Connection>>,
    _lock: File,
}

impl Engine {
    /// Opens the store at `data_dir`, creating it if need be, and makes a directory in it this process's working
    /// directory. One engine a process: a second call fails.
    pub fn open(library: Library, data_dir: &Path) -> Result<Arc<Self>, OpenError> {
        let (data_dir, lock) = lock_directory(data_dir)?;
        enter_empty_directory(&data_dir)?;
        let library: &'static Library = Box::leak(Box::new(library));
        // Otherwise libchdb takes over SIGSEGV and its like, and Rust loses its stack overflow message.
        // SAFETY: no precondition; called before the first connection as the header asks.
        unsafe { (library.chdb_set_signal_handlers_enabled)(0) };
        let mut engine = Self {
            library,
            data_dir: data_dir.clone(),
            version: String::new(),
            timezone: String::new(),
            settings: HashSet::new(),
            control: Mutex::new(None),
            _lock: lock,
        };
        let mut control = engine.raw_connect(&[]).ok_or(OpenError::Refused(data_dir))?;
        engine.version = control.text("SELECT version()")?;
        engine.timezone = control.text("SELECT timezone()")?;
        engine.settings = control.text("SELECT name FROM system.settings")?.lines().map(str::to_owned).collect();
        engine.control = Mutex::new(Some(control));
        Ok(Arc::new(engine))
    }

    /// Opens a connection on which every statement runs with `settings`.
    pub fn connect(&self, settings: &[(String, String)]) -> Result<Connection, Exception> {
        for (name, value) in settings {
            if value.contains('\0') {
                return Err(Exception::bad_arguments(format!("the value of {name} holds a zero byte")));
            }
            if !self.settings.contains(name) {
                return Err(Exception::new(
                    115,
                    "UNKNOWN_SETTING",
                    format!(
                        "Setting {name} is neither a builtin setting nor started with the prefix 'SQL_' registered for user-defined settings"
                    ),
                ));
            }
        }
        self.raw_connect(settings).ok_or_else(|| self.why_refused(settings))
    }

    /// libchdb only says no; SET says why.
    fn why_refused(&self, settings: &[(String, String)]) -> Exception {
        let generic =
            || Exception::new(210, "NETWORK_ERROR", "the engine opens no further connection: it is shutting down");
        let Some(mut plain) = self.raw_connect(&[]) else { return generic() };
        settings.iter().find_map(|(name, value)| plain.set(name, Some(value)).err()).unwrap_or_else(generic)
    }

    fn raw_connect(&self, settings: &[(String, String)]) -> Option<Connection> {
        let server_like = SERVER_LIKE.iter().map(|(name, value)| format!("--{name}={value}"));
        let given = settings.iter().map(|(name, value)| format!("--{name}={value}"));
        let arguments: Vec<CString> = ["clickhouse".to_owned(), format!("--path={}", self.data_dir.display())]
            .into_iter()
            .chain(server_like)
            .chain(given)
            .map(CString::new)
            .collect::<Result<_, _>>()
            .ok()?;
        let mut pointers: Vec<*mut c_char> = arguments.iter().map(|argument| argument.as_ptr().cast_mut()).collect();
        let count = i32::try_from(pointers.len()).ok()?;
        // SAFETY: `count` NUL-terminated strings that outlive the call, which copies them.
        let handle = unsafe { (self.library.chdb_connect)(count, pointers.as_mut_ptr()) };
        (!handle.is_null()).then_some(Connection { library: self.library, handle })
    }

    /// Ends the statement `number`, if it still runs. Returns before it has ended.
    pub fn cancel(&self, number: u64) {
        self.cancel_all(&crate::execute::running::prefix(number));
    }

    /// Ends all statements whose `log_comment` starts so. Returns before they have ended.
    pub fn cancel_all(&self, comment: &str) {
        let mut control = self.control.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(control) = control.as_mut() else { return };
        let text = "KILL QUERY WHERE startsWith(Settings['log_comment'], {comment:String}) ASYNC";
        if let Err(error) = control.query(text.as_bytes(), "Null", &[("comment".into(), escaped(comment))]) {
            tracing::warn!(%error, comment, "could not cancel a statement");
        }
    }

    /// Closes the engine. Every connection must be closed before.
    ///
    /// libchdb 26.7.3 says that it did not stop whenever its store has a MergeTree table, at once and with every
    /// connection closed. Closing the last connection has flushed the tables by then, so this is no failure; but the
    /// process must then end without running C++ destructors under threads that may still be there.
    pub fn shutdown(&self) {
        drop(self.control.lock().unwrap_or_else(PoisonError::into_inner).take());
        // SAFETY: safe from any thread; does nothing while a connection is open.
        let stopped = unsafe { (self.library.chdb_shutdown)() == 0 };
        tracing::debug!(stopped, "the engine is closed");
    }
}

/// A name as SQL that means it and nothing else.
fn quoted_identifier(name: &str) -> String {
    format!("`{}`", name.replace('\\', "\\\\").replace('`', "\\`"))
}

/// A value in the text form of query parameters: tab-separated escapes.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('\n', "\\n").replace('\t', "\\t")
}

/// Makes and locks the directory. Its absolute path comes back: libchdb joins a relative one with itself.
fn lock_directory(path: &Path) -> Result<(PathBuf, File), OpenError> {
    let failed = |source| OpenError::Directory { path: path.into(), source };
    std::fs::create_dir_all(path).map_err(failed)?;
    let path = path.canonicalize().map_err(failed)?;
    let file = File::create(path.join("trawl-engine.lock")).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok((path, file)),
        Err(TryLockError::WouldBlock) => Err(OpenError::InUse(path)),
        Err(TryLockError::Error(error)) => Err(failed(error)),
    }
}

/// libchdb takes the name of an unknown table in `default` for a file in the working directory. Nobody means those.
fn enter_empty_directory(data_dir: &Path) -> Result<(), OpenError> {
    let path = data_dir.join("empty");
    let entered = std::fs::create_dir_all(&path).and_then(|()| std::env::set_current_dir(&path));
    entered.map_err(|source| OpenError::Directory { path, source })
}

/// What a statement did, for `X-ClickHouse-Summary`.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Stats {
    /// Rows read from storage.
    pub read_rows: u64,
    /// Bytes read from storage, uncompressed.
    pub read_bytes: u64,
    /// Rows written, those of materialized views included.
    pub written_rows: u64,
    /// Bytes written, uncompressed.
    pub written_bytes: u64,
    /// Rows of the result.
    pub result_rows: u64,
    /// Bytes of the result in memory.
    pub result_bytes: u64,
}

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
    fn raw(&self) -> ConnectionHandle {
        // SAFETY: the handle is not null (checked when made) and not closed (only Drop closes).
        unsafe { *self.handle }
    }

    /// Runs `text` and returns its whole result in `format`, where the text names none.
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
        Outcome { library: self.library, result }.checked()
    }

    /// Runs `text` and returns its result as text without the final line feed.
    pub fn text(&mut self, text: &str) -> Result<String, Exception> {
        let outcome = self.query(text.as_bytes(), "TSVRaw", &[])?;
        Ok(String::from_utf8_lossy(outcome.bytes()).trim_end_matches('\n').to_owned())
    }

    /// The statement `text` in the engine's own notation, without comments and with one way to write each thing; or
    /// what its parser has against it. Runs nothing.
    pub fn reformat(&mut self, text: &str) -> Result<String, Exception> {
        let question = "SELECT formatQuerySingleLine({text:String})";
        let outcome = self.query(question.as_bytes(), "TSVRaw", &[("text".into(), escaped(text))]);
        let outcome = outcome.map_err(|mut exception| {
            // The question is ours, and none of the client's business.
            if let Some((said, _)) = exception.message.split_once(": In scope ") {
                exception.message = format!("{said} (SYNTAX_ERROR)");
            }
            exception
        })?;
        Ok(String::from_utf8_lossy(outcome.bytes()).into_owned())
    }

    /// Sets `name` for this connection, or resets it to its default.
    pub fn set(&mut self, name: &str, value: Option<&str>) -> Result<(), Exception> {
        let value = match value {
            Some(value) => format!("'{}'", value.replace('\\', "\\\\").replace('\'', "\\'")),
            None => "DEFAULT".into(),
        };
        self.query(format!("SET {} = {value}", quoted_identifier(name)).as_bytes(), "Null", &[]).map(drop)
    }

    /// Makes `database` the current one.
    pub fn use_database(&mut self, database: &str) -> Result<(), Exception> {
        self.query(format!("USE {}", quoted_identifier(database)).as_bytes(), "Null", &[]).map(drop)
    }

    /// Asks the engine's parser what `text` would do. Runs nothing.
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
        let insert = Insert { library: self.library, stream, finished: false, _connection: self };
        match insert.error() {
            None => Ok(insert),
            Some(error) => Err(error),
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // SAFETY: closed once, here.
        unsafe { (self.library.chdb_close_conn)(self.handle) };
    }
}

/// Query parameters as parallel arrays of pointers, valid as long as the slice they come from.
struct Parameters {
    names: Vec<*const c_char>,
    name_lengths: Vec<usize>,
    values: Vec<*const c_char>,
    value_lengths: Vec<usize>,
}

impl Parameters {
    fn new(pairs: &[(String, String)]) -> Self {
        Self {
            names: pairs.iter().map(|(name, _)| name.as_ptr().cast()).collect(),
            name_lengths: pairs.iter().map(|(name, _)| name.len()).collect(),
            values: pairs.iter().map(|(_, value)| value.as_ptr().cast()).collect(),
            value_lengths: pairs.iter().map(|(_, value)| value.len()).collect(),
        }
    }
}

/// The result of a statement that succeeded.
#[derive(Debug)]
pub struct Outcome {
    library: &'static Library,
    result: ResultHandle,
}

// SAFETY: the result is plain memory owned by this handle.
unsafe impl Send for Outcome {}

impl Outcome {
    fn checked(self) -> Result<Self, Exception> {
        if self.result.is_null() {
            return Err(Exception::new(1002, "UNKNOWN_EXCEPTION", "the engine returned no result"));
        }
        // SAFETY: a live result.
        let error = unsafe { (self.library.chdb_result_error)(self.result) };
        if error.is_null() {
            return Ok(self);
        }
        // SAFETY: a NUL-terminated string owned by the result.
        Err(Exception::from_engine(&unsafe { CStr::from_ptr(error) }.to_string_lossy()))
    }

    /// The formatted result.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: a live result; the buffer has `length` bytes.
        unsafe {
            let length = (self.library.chdb_result_length)(self.result);
            let buffer = (self.library.chdb_result_buffer)(self.result);
            if length == 0 || buffer.is_null() { &[] } else { std::slice::from_raw_parts(buffer.cast(), length) }
        }
    }

    /// What the statement read and wrote.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let library = self.library;
        // SAFETY: a live result.
        unsafe {
            Stats {
                read_rows: (library.chdb_result_storage_rows_read)(self.result),
                read_bytes: (library.chdb_result_storage_bytes_read)(self.result),
                written_rows: (library.chdb_result_rows_written)(self.result),
                written_bytes: (library.chdb_result_bytes_written)(self.result),
                result_rows: (library.chdb_result_rows_read)(self.result),
                result_bytes: (library.chdb_result_bytes_read)(self.result),
            }
        }
    }
}

impl Drop for Outcome {
    fn drop(&mut self) {
        if !self.result.is_null() {
            // SAFETY: freed once, here.
            unsafe { (self.library.chdb_destroy_query_result)(self.result) };
        }
    }
}

/// An INSERT in progress. Dropping it without [`Insert::finish`] cancels it; blocks already written stay, as on a server.
#[derive(Debug)]
pub struct Insert<'connection> {
    library: &'static Library,
    stream: InsertHandle,
    finished: bool,
    _connection: &'connection mut Connection,
}

impl Insert<'_> {
    /// Hands over a chunk of data; blocks while the engine is behind. On an error, [`Insert::finish`] says which.
    #[must_use]
    pub fn append(&mut self, data: &[u8]) -> bool {
        // SAFETY: a live stream; the chunk is copied.
        unsafe { (self.library.chdb_stream_append)(self.stream, data.as_ptr().cast(), data.len()) == 0 }
    }

    /// Ends the data and waits until it is written.
    pub fn finish(mut self) -> Result<Stats, Exception> {
        self.finished = true;
        // SAFETY: a live stream, finalised once.
        let result = unsafe { (self.library.chdb_stream_done)(self.stream) };
        Outcome { library: self.library, result }.checked().map(|outcome| outcome.stats())
    }

    fn error(&self) -> Option<Exception> {
        // SAFETY: a live stream; the text belongs to it.
        unsafe {
            let error = (self.library.chdb_stream_insert_error)(self.stream);
            (!error.is_null()).then(|| Exception::from_engine(&CStr::from_ptr(error).to_string_lossy()))
        }
    }
}

impl Drop for Insert<'_> {
    fn drop(&mut self) {
        // SAFETY: cancelled and freed once, here.
        unsafe {
            if !self.finished {
                (self.library.chdb_stream_cancel_insert)(self.stream);
            }
            (self.library.chdb_destroy_insert_stream)(self.stream);
        }
    }
}
