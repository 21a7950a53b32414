//! The name of a cluster.

use std::sync::OnceLock;

/// The cluster that the tables of a database are on, `None` within for one server; empty until there are tables. A database keeps its
/// layout.
pub(in super::super) type ClusterName = OnceLock<Option<String>>;
