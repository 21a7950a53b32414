//! Where ClickHouse keeps backups: folders of its machine, and buckets that its configuration names.

use crate::store::{StoreError, Writer};

/// Where ClickHouse keeps a part of a backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BackupLocation {
    /// A folder of its machine.
    Folder(String),
    /// A path below the URL of a named collection, which also has the keys: they are in no statement
    /// (<https://clickhouse.com/docs/operations/named-collections>).
    Bucket {
        /// Name of the collection, of letters, digits and `_`.
        collection: String,
        /// Path below the URL.
        path: String,
    },
}

impl BackupLocation {
    /// What a BACKUP or RESTORE calls it, with its path as a parameter of that name. A collection cannot be a parameter
    /// there.
    pub(super) fn call(&self, parameter: &str) -> String {
        match self {
            Self::Folder(_) => format!("File({{{parameter}:String}})"),
            Self::Bucket { collection, .. } => {
                let name: String = collection.chars().filter(|of| of.is_ascii_alphanumeric() || *of == '_').collect();
                format!("S3({name}, {{{parameter}:String}})")
            }
        }
    }

    /// Path of the part.
    #[must_use]
    pub fn path(&self) -> &str {
        match self {
            Self::Folder(path) | Self::Bucket { path, .. } => path,
        }
    }

    fn collection(&self) -> &str {
        match self {
            Self::Folder(_) => "",
            Self::Bucket { collection, .. } => collection,
        }
    }
}

impl Writer {
    /// The names and texts of the objects of a bucket that match a pattern.
    ///
    /// # Errors
    ///
    /// If ClickHouse or the bucket cannot be reached, or refuses.
    pub async fn read_objects(&self, pattern: &BackupLocation) -> Result<Vec<(String, String)>, StoreError> {
        let sql = include_str!("../../../../../sql/queries/backup_texts.sql");
        Ok(self.of_bucket(sql, pattern).fetch_all().await?)
    }

    /// How many objects of a bucket match a pattern, and their bytes.
    ///
    /// # Errors
    ///
    /// If ClickHouse or the bucket cannot be reached, or refuses.
    pub async fn size_of_objects(&self, pattern: &BackupLocation) -> Result<(u64, u64), StoreError> {
        let sql = include_str!("../../../../../sql/queries/backup_size.sql");
        Ok(self.of_bucket(sql, pattern).fetch_one().await?)
    }

    /// The distinct names of the folders of the objects that match a pattern: of the one `above` levels above the end
    /// of their path, of which 1 is their own name.
    ///
    /// # Errors
    ///
    /// If ClickHouse or the bucket cannot be reached, or refuses.
    pub async fn parents_of_objects(&self, pattern: &BackupLocation, above: u8) -> Result<Vec<String>, StoreError> {
        let sql = include_str!("../../../../../sql/queries/backup_parents.sql");
        Ok(self.of_bucket(sql, pattern).param("above", above).fetch_all().await?)
    }

    /// Writes an object of one line; one that is there is refused.
    ///
    /// # Errors
    ///
    /// If ClickHouse or the bucket cannot be reached, or refuses.
    pub async fn write_object(&self, object: &BackupLocation, text: &str) -> Result<(), StoreError> {
        let sql = include_str!("../../../../../sql/queries/write_backup_text.sql");
        Ok(self.of_bucket(sql, object).param("text", text).execute().await?)
    }

    fn of_bucket(&self, sql: &str, at: &BackupLocation) -> clickhouse::query::Query {
        self.address.server().query_raw(sql).param("collection", at.collection()).param("path", at.path())
    }
}
