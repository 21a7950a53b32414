//! This process as a ClickHouse server.

use std::ffi::{CString, c_char, c_int};
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};

use super::{ServerFlags, configuration};
use crate::{engine_library, http};

/// `chdb_query_cmdline` of chdb-core's `chdb.h`: what `main` of `clickhouse local` is given.
type CommandLine = unsafe extern "C" fn(c_int, *mut *mut c_char) -> *mut std::ffi::c_void;

/// Serves until SIGTERM; prints `listening on URL` and `native protocol at PORT` once it does.
///
/// # Errors
///
/// If the library or the directory cannot be used.
pub fn serve(flags: &ServerFlags) -> anyhow::Result<ExitCode> {
    let directory = &flags.data_dir;
    std::fs::create_dir_all(directory).with_context(|| directory.display().to_string())?;
    // Its tables are in memory, and what is left of them on the disk keeps the logs from being made again.
    let left = directory.join("data/system");
    if left.exists() {
        std::fs::remove_dir_all(&left).with_context(|| left.display().to_string())?;
    }
    let (http_port, tcp_port) = (free_port(flags.http_port)?, free_port(flags.tcp_port)?);
    let arguments = arguments(directory, &configuration::write(flags)?, http_port, tcp_port)?;
    let command_line = load(&engine_library::ensure()?)?;
    let _terminal = terminal()?;
    std::thread::spawn(move || announce(http_port, tcp_port));
    let mut pointers: Vec<*mut c_char> = arguments.iter().map(|argument| argument.as_ptr().cast_mut()).collect();
    let count = c_int::try_from(pointers.len())?;
    // SAFETY: as many strings, each with its end, as are counted; they and the list outlive the call.
    unsafe { command_line(count, pointers.as_mut_ptr()) };
    Ok(ExitCode::SUCCESS)
}

/// The statement that never ends reads a pipe without a writer.
fn arguments(directory: &Path, configuration: &Path, http_port: u16, tcp_port: u16) -> anyhow::Result<Vec<CString>> {
    let pipe = directory.join("open");
    if !pipe.exists() {
        let path = CString::new(pipe.display().to_string())?;
        // SAFETY: a path with its end.
        ensure!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) } == 0, "{}: cannot make a pipe", pipe.display());
    }
    let query = format!(
        "SYSTEM START LISTEN TCP; SYSTEM START LISTEN HTTP; SELECT * FROM file('{}', 'LineAsString', 'a String')",
        pipe.canonicalize()?.display()
    );
    let list = [
        "clickhouse".to_owned(),
        format!("--config-file={}", configuration.display()),
        format!("--path={}", directory.display()),
        format!("--tcp_port={tcp_port}"),
        format!("--http_port={http_port}"),
        "--listen_host=127.0.0.1".to_owned(),
        // With it, and a terminal at standard input, a client that resets its connection does not end the process
        // (ClickHouse #115666).
        "--interactive".to_owned(),
        "--log-level=fatal".to_owned(),
        "--query".to_owned(),
        query,
    ];
    Ok(list.into_iter().map(CString::new).collect::<Result<_, _>>()?)
}

fn load(library: &Path) -> anyhow::Result<CommandLine> {
    let path = CString::new(library.display().to_string())?;
    // SAFETY: the library's initialisers have no precondition but the CPU, which `engine_library` knows.
    let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW) };
    ensure!(!handle.is_null(), "{} cannot be loaded", library.display());
    // SAFETY: a name with its end, in a library that is never unloaded.
    let symbol = unsafe { libc::dlsym(handle, c"chdb_query_cmdline".as_ptr()) };
    if symbol.is_null() {
        bail!("{} has no command line", library.display());
    }
    // SAFETY: the header declares this signature.
    Ok(unsafe { std::mem::transmute::<*mut std::ffi::c_void, CommandLine>(symbol) })
}

/// Puts a terminal at standard input; it lasts as long as what is returned.
fn terminal() -> anyhow::Result<OwnedFd> {
    use std::os::fd::FromRawFd as _;
    let (mut controller, mut terminal) = (0, 0);
    let (name, settings, size) = (std::ptr::null_mut(), std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: two numbers to write to; the rest may be null.
    let opened = unsafe { libc::openpty(&raw mut controller, &raw mut terminal, name, settings, size) };
    ensure!(opened == 0, "no terminal can be opened");
    // SAFETY: both were opened just now, and nothing else owns them.
    let (controller, terminal) = unsafe { (OwnedFd::from_raw_fd(controller), OwnedFd::from_raw_fd(terminal)) };
    // SAFETY: both are open.
    ensure!(unsafe { libc::dup2(terminal.as_raw_fd(), 0) } == 0, "standard input cannot be replaced");
    Ok(controller)
}

fn free_port(requested: u16) -> anyhow::Result<u16> {
    if requested != 0 {
        return Ok(requested);
    }
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// Says where it listens as soon as it answers.
fn announce(http_port: u16, tcp_port: u16) {
    let url = format!("http://127.0.0.1:{http_port}");
    let agent = http::agent();
    while !http::get(&agent, &format!("{url}/ping")).is_ok_and(|answer| answer.status == 200) {
        std::thread::sleep(Duration::from_millis(50));
    }
    println!("native protocol at {tcp_port}\nlistening on {url}");
}
