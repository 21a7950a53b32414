//! The one engine of this process: its directory, its connections, its end.

use std::collections::HashSet;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::chdb::configuration::{Configuration, MODELER_ROLE, READER_ROLE};
use crate::chdb::connection::Connection;
use crate::chdb::damage::{BrokenParts, broken_parts, detach_altered_parts};
use crate::chdb::library::Library;
use crate::chdb::parameters::escaped;
use crate::chdb::pool::Pool;
use crate::chdb::query_cache::QueryCache;
use crate::chdb::room;
use crate::exception::Exception;
use crate::sql::log_comment;

/// Why the engine did not start.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process holds the directory.
    #[error("{} is in use by another trawl-engine: stop that one, or give this one a --data-dir of its own", .0.display())]
    InUse(PathBuf),
    /// The directory cannot be made or locked.
    #[error("cannot use {} as data directory", path.display())]
    Directory {
        /// Value of `--data-dir`.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// Definitions of tables are gone.
    #[error(
        "{files} have no content, as a full disk leaves them (or a loss of power): these are definitions of tables, \
         views or databases. Restore the data directory from a backup; or remove a file whose table was only just \
         being created"
    )]
    EmptyDefinitions {
        /// Paths of the files.
        files: String,
    },
    /// The configuration cannot be read or written.
    #[error("cannot configure the engine from {}", path.display())]
    Configuration {
        /// The file of `--config`, or the directory for the files that are made of it.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The reader's role is not there.
    #[error(
        "the file of --config replaces the users of the engine (`users_config`, `user_directories`), so it cannot have a --reader-user: {0}"
    )]
    NoRole(Exception),
    /// libchdb opened no connection to this directory.
    #[error(
        "the engine could not open {}; the line before this one has its reason. Does a table need the disks of a \
         --config file, is that file as it should be, is its object storage reachable, or is this the directory of \
         another program or of a newer engine?",
        .0.display()
    )]
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
    /// The file that libchdb is configured from.
    configuration: PathBuf,
    /// Version as SQL `version()` gives it.
    pub version: String,
    /// Time zone as SQL `timezone()` gives it.
    pub timezone: String,
    settings: HashSet<String>,
    /// libchdb stops with its last connection, so one stays open as long as the engine; KILL runs on it.
    control: Mutex<Option<Connection>>,
    /// Parts that were broken at the last check.
    broken: AtomicU64,
    /// Connections that queries reuse.
    pub pool: Pool,
    /// Answers of the parser about queries.
    pub understood: QueryCache,
    _lock: File,
}

impl Engine {
    /// Opens the store at `data_dir`, creating it if need be, and makes a directory in it this process's working
    /// directory. One engine a process: a second call fails.
    ///
    /// # Errors
    ///
    /// [`OpenError`], if the directory is in use or cannot be opened.
    pub fn open(library: Library, data_dir: &Path, configured: &Configuration) -> Result<Arc<Self>, OpenError> {
        let (data_dir, lock) = lock_directory(data_dir)?;
        // Before the working directory changes: the path of a file may be relative to it.
        let configuration = configured.write(&data_dir).map_err(|source| {
            let path = configured.file.clone().unwrap_or_else(|| data_dir.clone());
            OpenError::Configuration { path, source }
        })?;
        enter_empty_directory(&data_dir)?;
        require_definitions(&data_dir)?;
        let library: &'static Library = Box::leak(Box::new(library));
        // Otherwise libchdb takes over SIGSEGV and its like, and Rust loses its stack overflow message.
        // SAFETY: no precondition; called before the first connection as the header requires.
        unsafe { (library.chdb_set_signal_handlers_enabled)(0) };
        let mut engine = Self {
            library,
            data_dir: data_dir.clone(),
            configuration,
            version: String::new(),
            timezone: String::new(),
            settings: HashSet::new(),
            control: Mutex::new(None),
            broken: AtomicU64::default(),
            pool: Pool::default(),
            understood: QueryCache::default(),
            _lock: lock,
        };
        let mut control = engine.raw_connect(&[]).ok_or(OpenError::Refused(data_dir))?;
        engine.version = control.text("SELECT version()")?;
        engine.timezone = control.text("SELECT timezone()")?;
        engine.settings = control.text("SELECT name FROM system.settings")?.lines().map(str::to_owned).collect();
        engine.control = Mutex::new(Some(control));
        if configured.readable.is_some() {
            engine.connect_to_read(&[]).map_err(OpenError::NoRole)?;
        }
        Ok(Arc::new(engine))
    }

    /// Opens a connection on which every statement runs with `settings`.
    ///
    /// # Errors
    ///
    /// If a setting is unknown or does not take its value, or the engine is shutting down.
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

    /// The same for a reader: the connection can read the databases that a reader sees, and nothing else.
    ///
    /// # Errors
    ///
    /// As of [`Self::connect`].
    pub fn connect_to_read(&self, settings: &[(String, String)]) -> Result<Connection, Exception> {
        self.connect_as(READER_ROLE, settings)
    }

    /// The same for a modeler, whose connection can also change its own databases.
    ///
    /// # Errors
    ///
    /// As of [`Self::connect`].
    pub fn connect_to_model(&self, settings: &[(String, String)]) -> Result<Connection, Exception> {
        self.connect_as(MODELER_ROLE, settings)
    }

    fn connect_as(&self, role: &str, settings: &[(String, String)]) -> Result<Connection, Exception> {
        let mut connection = self.connect(settings)?;
        connection.query(format!("SET ROLE {role}").as_bytes(), "Null", &[])?;
        Ok(connection)
    }

    /// The tables that lack parts because their files are broken.
    ///
    /// # Errors
    ///
    /// The engine's exception if it cannot load its tables.
    pub fn broken_parts(&self) -> Result<Vec<BrokenParts>, Exception> {
        let found = broken_parts(&mut self.connect(&[])?)?;
        self.broken.store(found.iter().map(|table| table.parts.len() as u64).sum(), Ordering::Relaxed);
        Ok(found)
    }

    /// Sets parts that were altered on the disk aside, so that no answer has rows of them.
    ///
    /// # Errors
    ///
    /// The engine's exception if it cannot.
    pub fn detach_altered_parts(&self) -> Result<(), Exception> {
        detach_altered_parts(&mut self.connect(&[])?)
    }

    /// Checks that there is room for a statement that writes a definition.
    ///
    /// # Errors
    ///
    /// As of a full disk, if there is not.
    pub fn require_room(&self) -> Result<(), Exception> {
        room::require_room(&self.data_dir)
    }

    /// Number of broken parts at the last call of [`Self::broken_parts`].
    #[must_use]
    pub fn broken_count(&self) -> u64 {
        self.broken.load(Ordering::Relaxed)
    }

    /// libchdb refuses without a reason; SET gives one.
    fn why_refused(&self, settings: &[(String, String)]) -> Exception {
        let generic =
            || Exception::new(210, "NETWORK_ERROR", "the engine opens no more connections: it is shutting down");
        let Some(mut plain) = self.raw_connect(&[]) else { return generic() };
        settings.iter().find_map(|(name, value)| plain.set(name, Some(value)).err()).unwrap_or_else(generic)
    }

    fn raw_connect(&self, settings: &[(String, String)]) -> Option<Connection> {
        let server_like = SERVER_LIKE.iter().map(|(name, value)| format!("--{name}={value}"));
        let given = settings.iter().map(|(name, value)| format!("--{name}={value}"));
        let path = format!("--path={}", self.data_dir.display());
        let configuration = format!("--config-file={}", self.configuration.display());
        let arguments = ["clickhouse".to_owned(), path, configuration].into_iter();
        Connection::open(self.library, arguments.chain(server_like).chain(given))
    }

    /// Cancels the statement `number`, if it still runs. Returns before it has ended.
    pub fn cancel(&self, number: u64) {
        self.cancel_all(&log_comment::prefix(number));
    }

    /// Cancels all statements whose `log_comment` has this prefix. Returns before they have ended.
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
    /// libchdb 26.7.3 reports that it did not stop whenever its store has a MergeTree table, at once and with every
    /// connection closed. Closing the last connection has flushed the tables by then, so this is no failure; but the
    /// process must then end without running C++ destructors under threads that may still be there.
    pub fn shutdown(&self) {
        self.pool.empty();
        drop(self.control.lock().unwrap_or_else(PoisonError::into_inner).take());
        // SAFETY: safe from any thread; does nothing while a connection is open.
        let stopped = unsafe { (self.library.chdb_shutdown)() == 0 };
        tracing::debug!(stopped, "the engine is closed");
    }
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

/// Refuses a store that libchdb could not open.
fn require_definitions(data_dir: &Path) -> Result<(), OpenError> {
    let empty = room::empty_definitions(data_dir)
        .map_err(|source| OpenError::Directory { path: data_dir.to_owned(), source })?;
    let files = empty.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(", ");
    if files.is_empty() { Ok(()) } else { Err(OpenError::EmptyDefinitions { files }) }
}

/// libchdb takes the name of an unknown table in `default` for a file in the working directory, so that one is
/// empty.
fn enter_empty_directory(data_dir: &Path) -> Result<(), OpenError> {
    let path = data_dir.join("empty");
    let entered = std::fs::create_dir_all(&path).and_then(|()| std::env::set_current_dir(&path));
    entered.map_err(|source| OpenError::Directory { path, source })
}
