//! What `migrate --with-reader` makes on a ClickHouse server for people who read: a role, its settings profile, quota
//! and row policies.
//!
//! The embedded engine has readers of its own, and no directory of users.

use super::migrations::Step;

/// The statements, in the order in which they run. Each can be repeated, and none changes what is there.
pub const READER_ACCOUNT: &[Step] = &[
    Step { name: "role", sql: include_str!("../../../../sql/reader/role.sql") },
    Step { name: "grant_database", sql: include_str!("../../../../sql/reader/grant_database.sql") },
    Step { name: "own_statements", sql: include_str!("../../../../sql/reader/own_statements.sql") },
    Step { name: "all_statements", sql: include_str!("../../../../sql/reader/all_statements.sql") },
    Step { name: "grant_log", sql: include_str!("../../../../sql/reader/grant_log.sql") },
    Step { name: "profile", sql: include_str!("../../../../sql/reader/profile.sql") },
    Step { name: "quota", sql: include_str!("../../../../sql/reader/quota.sql") },
];
