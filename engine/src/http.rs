//! The HTTP interface.
//!
//! The [`server`] lets requests in at its [`door`], reads the [`request`], whose it is (`credentials`) and its [`body`], has the statement run, and
//! [`respond`]s: with a [`head`] and a whole body, or with a [`stream`] of the running query, which is
//! [cancelled](cancel) if the client goes away. [`changes`] tells who waits that a table was written to.

pub mod access_log;
pub mod body;
mod buffered_body;
pub mod cancel;
pub mod changes;
mod credentials;
pub mod door;
pub mod head;
pub mod metrics;
pub mod request;
pub mod respond;
pub mod server;
pub mod stream;
mod upload_permit;
mod write_receipt;
