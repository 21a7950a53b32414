//! Connections that are reused between statements, because opening and closing one costs a small statement a tenth of
//! its time.
//!
//! A connection comes here only after a query that left no trace in it, and serves only requests that would open the
//! same one: same user, same settings, same database.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::account::Role;
use crate::chdb::connection::Connection;

/// Most idle connections in the pool; each takes about 130 kB. The one that was idle longest is closed first.
const MAX_IDLE: usize = 64;

/// What two requests must share to share a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Purpose {
    /// Role of its user.
    pub role: Role,
    /// The user's name, which is in its comment.
    pub user: String,
    /// Its settings, in the order in which they were given.
    pub settings: Vec<(String, String)>,
    /// Current database of the connection.
    pub database: String,
}

/// A connection for requests of one purpose.
#[derive(Debug)]
pub struct PooledConnection {
    /// What requests must share to get this connection.
    pub purpose: Purpose,
    /// Open connection to the engine.
    pub connection: Connection,
    /// Its number in the `log_comment` of all its statements.
    pub number: u64,
    /// How often the pool was emptied before it was opened.
    emptied: u64,
}

/// The idle connections.
#[derive(Debug, Default)]
pub struct Pool(Mutex<IdleConnections>);

#[derive(Debug, Default)]
struct IdleConnections {
    /// The one that was used last is at the end.
    connections: Vec<PooledConnection>,
    emptied: u64,
}

impl Pool {
    /// Takes the connection for `purpose` that was used last.
    #[must_use]
    pub fn take(&self, purpose: &Purpose) -> Option<PooledConnection> {
        let mut idle = self.idle();
        let at = idle.connections.iter().rposition(|connection| connection.purpose == *purpose)?;
        Some(idle.connections.remove(at))
    }

    /// A connection that was opened for `purpose` and may be returned, unless the pool is emptied before.
    #[must_use]
    pub fn opened(&self, purpose: Purpose, connection: Connection, number: u64) -> PooledConnection {
        PooledConnection { purpose, connection, number, emptied: self.idle().emptied }
    }

    /// Returns a connection whose last statement was a query that succeeded.
    pub fn give(&self, connection: PooledConnection) {
        let mut idle = self.idle();
        if connection.emptied != idle.emptied {
            return;
        }
        // Dropped after the lock.
        let _oldest = (idle.connections.len() >= MAX_IDLE).then(|| idle.connections.remove(0));
        idle.connections.push(connection);
        drop(idle);
    }

    /// Closes the idle connections, and those in use when they are returned: their database may be gone.
    pub fn empty(&self) {
        let mut idle = self.idle();
        idle.emptied += 1;
        let connections = std::mem::take(&mut idle.connections);
        drop(idle);
        drop(connections);
    }

    fn idle(&self) -> MutexGuard<'_, IdleConnections> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
