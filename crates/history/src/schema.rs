//! The tables, and how an older database becomes a newer one.

/// Applied one after the other. The number of the last one is the `user_version` of the database.
/// One that was released is never changed; what a new release needs is a new one at the end.
pub(crate) const MIGRATIONS: [(u32, &str); 3] = [
    (1, include_str!("schema/1-studies.sql")),
    (2, include_str!("schema/2-changes.sql")),
    (3, include_str!("schema/3-writer.sql")),
];

/// The version of the tables that this release knows.
pub(crate) const NEWEST: u32 = 3;
