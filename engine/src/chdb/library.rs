//! Finds libchdb, loads it at run time and holds its C functions.
//!
//! The declarations follow the public header of chdb-core 26.7 (`programs/local/chdb.h`): result handles
//! are freed with `chdb_destroy_query_result`, and the `_n` calls take a pointer and a length.

use std::error::Error as _;
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::path::{Path, PathBuf};

use crate::chdb::elf::needed_length;

/// The engine release this program is built and tested against.
pub const SUPPORTED_VERSION: &str = "26.7.3";

/// The end of every error about a library that is missing or wrong.
const HOW_TO_GET_IT: &str = "run `cargo xtask engine` to fetch it, or name the file with --library";

/// Why libchdb could not be used.
#[derive(Debug, thiserror::Error)]
pub enum LibraryError {
    /// No file at any of the paths looked at.
    #[error("libchdb.so was not found (looked at {looked_at}): {HOW_TO_GET_IT}")]
    NotFound {
        /// Comma-separated paths, in the order tried.
        looked_at: String,
    },
    /// The file is not a loadable library for this machine.
    #[error("{} cannot be loaded as libchdb ({cause}): {HOW_TO_GET_IT}", path.display())]
    NotLoadable {
        /// Path of the file.
        path: PathBuf,
        /// The loader's reason.
        cause: String,
    },
    /// The file ends too early, as after a copy that was interrupted.
    #[error("{} is cut off: it has {found} bytes and needs {needed}: {HOW_TO_GET_IT}", path.display())]
    CutOff {
        /// Path of the file.
        path: PathBuf,
        /// Its length in bytes.
        found: u64,
        /// The length that its header needs.
        needed: u64,
    },
    /// The file is a library, but not this one.
    #[error("{} is not a libchdb that this program supports (it lacks `{symbol}`): {HOW_TO_GET_IT}", path.display())]
    NotThisLibrary {
        /// Path of the file.
        path: PathBuf,
        /// First function that is missing.
        symbol: &'static str,
    },
    /// libchdb is compiled for x86-64-v3 and would die of an illegal instruction.
    #[error("this CPU has no AVX2, which libchdb is compiled for: use a ClickHouse server instead (--clickhouse-url)")]
    CpuTooOld,
}

/// What `chdb_classify_query_n` reports; versioned by `struct_size`.
#[repr(C)]
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Analysis {
    pub struct_size: c_uint,
    pub statement_count: c_uint,
    pub flags: c_uint,
    pub query_class: c_uint,
}

macro_rules! functions {
    ($($name:ident: $signature:ty;)*) => {
        /// The C functions, resolved once. The library is never unloaded: its threads outlive any handle.
        #[derive(Debug)]
        pub struct Library {
            path: PathBuf,
            $(pub(crate) $name: $signature,)*
        }

        impl Library {
            /// Loads the library at `path` and resolves every function used here.
            ///
            /// # Errors
            ///
            /// [`LibraryError`], if the CPU, the file or one of its functions is wrong.
            pub fn load(path: &Path) -> Result<Self, LibraryError> {
                require_cpu()?;
                require_whole(path)?;
                // SAFETY: libchdb's initialisers have no precondition but the CPU checked above.
                let library = unsafe { libloading::Library::new(path) }.map_err(|error| {
                    LibraryError::NotLoadable { path: path.into(), cause: reason(path, &error) }
                })?;
                let library: &'static libloading::Library = Box::leak(Box::new(library));
                Ok(Self {
                    path: path.into(),
                    $($name: {
                        let symbol = stringify!($name);
                        // SAFETY: the type is the header's declaration of this name.
                        *unsafe { library.get::<$signature>(symbol) }.map_err(|_| {
                            LibraryError::NotThisLibrary { path: path.into(), symbol }
                        })?
                    },)*
                })
            }
        }
    };
}

pub(crate) type ConnectionHandle = *mut c_void;
pub(crate) type ResultHandle = *mut c_void;
pub(crate) type InsertHandle = *mut c_void;
type Text = *const c_char;

functions! {
    chdb_version: unsafe extern "C" fn() -> Text;
    chdb_set_signal_handlers_enabled: unsafe extern "C" fn(c_int);
    chdb_connect: unsafe extern "C" fn(c_int, *mut *mut c_char) -> *mut ConnectionHandle;
    chdb_close_conn: unsafe extern "C" fn(*mut ConnectionHandle);
    chdb_shutdown: unsafe extern "C" fn() -> c_int;
    chdb_query_with_params_n: unsafe extern "C" fn(
        ConnectionHandle, Text, usize, Text, usize, *const Text, *const usize, *const Text, *const usize, usize,
    ) -> ResultHandle;
    chdb_stream_insert_with_params_n: unsafe extern "C" fn(
        ConnectionHandle, Text, usize, Text, usize, *const Text, *const usize, *const Text, *const usize, usize,
    ) -> InsertHandle;
    chdb_stream_append: unsafe extern "C" fn(InsertHandle, *const c_void, usize) -> c_int;
    chdb_stream_done: unsafe extern "C" fn(InsertHandle) -> ResultHandle;
    chdb_stream_cancel_insert: unsafe extern "C" fn(InsertHandle);
    chdb_stream_insert_error: unsafe extern "C" fn(InsertHandle) -> Text;
    chdb_destroy_insert_stream: unsafe extern "C" fn(InsertHandle);
    chdb_classify_query_n: unsafe extern "C" fn(ConnectionHandle, Text, usize, Text, usize, *mut Analysis) -> c_int;
    chdb_destroy_query_result: unsafe extern "C" fn(ResultHandle);
    chdb_result_buffer: unsafe extern "C" fn(ResultHandle) -> *mut c_char;
    chdb_result_length: unsafe extern "C" fn(ResultHandle) -> usize;
    chdb_result_error: unsafe extern "C" fn(ResultHandle) -> Text;
    chdb_result_rows_read: unsafe extern "C" fn(ResultHandle) -> u64;
    chdb_result_bytes_read: unsafe extern "C" fn(ResultHandle) -> u64;
    chdb_result_storage_rows_read: unsafe extern "C" fn(ResultHandle) -> u64;
    chdb_result_storage_bytes_read: unsafe extern "C" fn(ResultHandle) -> u64;
    chdb_result_rows_written: unsafe extern "C" fn(ResultHandle) -> u64;
    chdb_result_bytes_written: unsafe extern "C" fn(ResultHandle) -> u64;
}

impl Library {
    /// Loads `named`, or else the first file that exists among [`candidates`].
    ///
    /// # Errors
    ///
    /// [`LibraryError`], if there is no file, or the one found cannot be used.
    pub fn find(named: Option<&Path>) -> Result<Self, LibraryError> {
        let candidates = match named {
            Some(path) => vec![path.to_path_buf()],
            None => candidates(),
        };
        match candidates.iter().find(|path| path.is_file()) {
            Some(path) => Self::load(path),
            None => Err(LibraryError::NotFound {
                looked_at: candidates.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", "),
            }),
        }
    }

    /// The file this was loaded from.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The release of the library, for example `26.7.3`.
    #[must_use]
    pub fn version(&self) -> String {
        // SAFETY: returns a static NUL-terminated string.
        unsafe { std::ffi::CStr::from_ptr((self.chdb_version)()) }.to_string_lossy().into_owned()
    }
}

/// Where the library is looked for when no flag names it, best first: `CHDB_LIB`, beside the program,
/// the folder `cargo xtask engine` fills, the system's.
#[must_use]
pub fn candidates() -> Vec<PathBuf> {
    let file = if cfg!(target_os = "macos") { "libchdb.dylib" } else { "libchdb.so" };
    let mut candidates: Vec<PathBuf> = std::env::var_os("CHDB_LIB").map(PathBuf::from).into_iter().collect();
    if let Ok(program) = std::env::current_exe()
        && let Some(folder) = program.parent()
    {
        candidates.push(folder.join(file));
        // As an archive of Trawl has them, wherever it was unpacked.
        candidates.push(folder.join("../lib/trawl").join(file));
    }
    let data_home = std::env::var_os("XDG_DATA_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".local/share")));
    if let Some(data_home) = data_home {
        // The npm package names the file libchdb.so on every platform.
        candidates.push(data_home.join("trawl/engine").join(SUPPORTED_VERSION).join("libchdb.so"));
    }
    candidates.push(PathBuf::from("/usr/local/lib/trawl").join(file));
    candidates
}

/// Why the loader refused: its own text, which is the cause of "dlopen failed", without the path that it starts with.
fn reason(path: &Path, error: &libloading::Error) -> String {
    let text = error.source().map_or_else(|| error.to_string(), ToString::to_string);
    let own = text.strip_prefix(&*path.to_string_lossy()).and_then(|rest| rest.strip_prefix(": "));
    own.map_or_else(|| text.clone(), str::to_owned)
}

fn require_whole(path: &Path) -> Result<(), LibraryError> {
    let failed = |error: std::io::Error| LibraryError::NotLoadable { path: path.into(), cause: error.to_string() };
    // The loader looks for a name without a folder elsewhere, and names what it does not find.
    let Ok(found) = path.metadata().map(|file| file.len()) else { return Ok(()) };
    match needed_length(path).map_err(failed)? {
        Some(needed) if found < needed => Err(LibraryError::CutOff { path: path.into(), found, needed }),
        _ => Ok(()),
    }
}

fn require_cpu() -> Result<(), LibraryError> {
    #[cfg(target_arch = "x86_64")]
    if !std::arch::is_x86_feature_detected!("avx2") {
        return Err(LibraryError::CpuTooOld);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn a_file_that_is_no_library_is_refused_with_the_loaders_reason_and_the_remedy() {
        if require_cpu().is_err() {
            return;
        }
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/src/lib.rs");
        let error = Library::load(Path::new(file)).expect_err("text is no library").to_string();
        assert!(error.starts_with(&format!("{file} cannot be loaded as libchdb (")), "{error}");
        assert!(error.contains("header") || error.contains("too short"), "no reason: {error}");
        assert!(error.contains("`cargo xtask engine`"), "{error}");
        assert_eq!(error.matches(file).count(), 1, "{error}");
    }
}
