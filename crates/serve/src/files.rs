//! The limit of open files of this process: a connection is an open file, and a request may need another one.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Files that a connection needs: its own, and one for what its request asks of another server or file.
const FILES_OF_A_CONNECTION: u64 = 2;
/// Other files: logs, libraries, timers, connections that are being refused.
const OTHER_FILES: u64 = 128;

/// Raises the limit of open files as far as the system allows, and returns for how many of the `requested` connections
/// it suffices. Warns if they are fewer.
pub(crate) fn make_room_for(requested: u32) -> u32 {
    let Some(files) = raised() else { return requested };
    let room = connections_of(files);
    if room >= requested {
        return requested;
    }
    tracing::warn!(
        files,
        requested,
        room,
        "the limit of open files is too low for so many connections: fewer are accepted; raise it (ulimit -Hn, \
         LimitNOFILE)"
    );
    room
}

fn connections_of(files: u64) -> u32 {
    let room = files.saturating_sub(OTHER_FILES) / FILES_OF_A_CONNECTION;
    u32::try_from(room).unwrap_or(u32::MAX).max(1)
}

/// The limit after it was raised; `None` for none.
fn raised() -> Option<u64> {
    let limit = getrlimit(Resource::Nofile);
    let current = limit.current?;
    let most = Rlimit { current: limit.maximum, maximum: limit.maximum };
    if limit.maximum == Some(current) {
        return Some(current);
    }
    match setrlimit(Resource::Nofile, most) {
        Ok(()) => limit.maximum,
        Err(error) => {
            tracing::debug!(%error, "the limit of open files cannot be raised");
            Some(current)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_files_for_the_rest() {
        assert_eq!(connections_of(1_024), 448);
        assert_eq!(connections_of(1 << 20), 524_224);
        assert_eq!(connections_of(10), 1);
    }
}
