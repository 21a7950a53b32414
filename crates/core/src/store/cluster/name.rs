//! The name of a cluster.

use std::sync::OnceLock;

/// The cluster that the tables of a database are on. It holds `None` for one server, and is empty until there are
/// tables. A database keeps its layout.
pub(in super::super) type ClusterName = OnceLock<Option<String>>;
