//! Backups in a bucket: ClickHouse reads and writes the objects, with the keys of a named collection in its own
//! configuration. No key passes through this program.

use std::path::{Path, PathBuf};
use std::time::Duration;

use trawl_core::store::{BackupLocation, BackupPart, StoreError, Writer};

use super::chain::{Completion, StoredBackup};
use super::error::BackupError;
use super::manifest::{FILE, Manifest};

/// Begins the name of a path in a bucket.
const SCHEME: &str = "s3://";
/// Most backups that are listed below one path.
const MAX_LISTED: usize = 10_000;
/// How long a bucket may take to read or write a small object.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);
/// How long it may take to list its objects.
const LIST_TIMEOUT: Duration = Duration::from_secs(600);

/// A path below the URL of a named collection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupBucket {
    collection: String,
    /// Without `/` at its ends; empty for the URL itself.
    path: String,
    /// The same as it is written by people.
    shown: PathBuf,
}

impl BackupBucket {
    /// That of `s3://COLLECTION/PATH`; `None` of another text.
    ///
    /// # Errors
    ///
    /// If the collection is no name, or the path has characters that are patterns or separators of ClickHouse.
    pub(super) fn parse(text: &Path) -> Option<Result<Self, BackupError>> {
        let rest = text.to_str()?.strip_prefix(SCHEME)?;
        let (collection, path) = rest.split_once('/').unwrap_or((rest, ""));
        let is_name = collection.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && collection.chars().all(|of| of.is_ascii_alphanumeric() || of == '_');
        let path = path.trim_matches('/');
        let is_plain = |of: char| of.is_ascii_alphanumeric() || "-_./".contains(of);
        let is_path = path.chars().all(is_plain) && path.split('/').all(|segment| segment != "." && segment != "..");
        let is_valid = is_name && is_path && (path.is_empty() || !path.contains("//"));
        Some(if is_valid {
            Ok(Self::new(collection, path))
        } else {
            Err(BackupError::InvalidBucketPath { path: text.to_owned() })
        })
    }

    fn new(collection: &str, path: &str) -> Self {
        let shown = format!("{SCHEME}{collection}/{path}");
        Self { collection: collection.into(), path: path.into(), shown: shown.into() }
    }

    /// As people write it.
    pub(super) fn shown(&self) -> &Path {
        &self.shown
    }

    /// Whether it names a backup and not the bucket.
    pub(super) fn require_path(self) -> Result<Self, BackupError> {
        if self.path.is_empty() { Err(BackupError::InvalidBucketPath { path: self.shown }) } else { Ok(self) }
    }

    fn child(&self, name: &str) -> Self {
        let separator = if self.path.is_empty() { "" } else { "/" };
        Self::new(&self.collection, &format!("{}{separator}{name}", self.path))
    }

    fn object(&self, name: &str) -> BackupLocation {
        BackupLocation::Bucket { collection: self.collection.clone(), path: self.child(name).path }
    }

    /// Where a part of a backup is.
    pub(super) fn part(&self, part: BackupPart) -> BackupLocation {
        self.object(part.folder())
    }

    /// The manifest; `None` if there is none.
    pub(super) async fn manifest(&self, writer: &Writer) -> Result<Option<Manifest>, BackupError> {
        // A pattern, as a missing object of a plain name is an error.
        let texts = self.answer(writer.read_objects(&self.object("backup.jso?"))).await?;
        let Some((_, text)) = texts.into_iter().next() else { return Ok(None) };
        let path = self.child(FILE).shown;
        serde_json::from_str(&text).map(Some).map_err(|source| BackupError::Manifest { path, source })
    }

    /// Checks that nothing is there: ClickHouse cannot delete objects.
    pub(super) async fn require_room(&self, writer: &Writer) -> Result<(), BackupError> {
        let path = self.shown.clone();
        if self.manifest(writer).await?.is_some() {
            return Err(BackupError::Exists { path });
        }
        let (all, _) = self.listing(writer.size_of_objects(&self.object("**"))).await?;
        match all {
            0 => Ok(()),
            _ if self.objects_of_parts(writer).await? == all => Err(BackupError::Remains { path }),
            _ => Err(BackupError::Foreign { path }),
        }
    }

    /// How many objects are of parts of a backup at this path: others are of other backups, or of something else.
    async fn objects_of_parts(&self, writer: &Writer) -> Result<u64, BackupError> {
        let mut sum = 0;
        for part in BackupPart::ALL {
            let objects = self.object(&format!("{}/**", part.folder()));
            sum += self.listing(writer.size_of_objects(&objects)).await?.0;
        }
        Ok(sum)
    }

    /// Makes a backup of the objects: all its parts are there.
    pub(super) async fn finish(&self, writer: &Writer, manifest: &Manifest) -> Result<(), BackupError> {
        let path = self.child(FILE).shown;
        let text = serde_json::to_string(manifest).map_err(|source| BackupError::Manifest { path, source })?;
        self.answer(writer.write_object(&self.object(FILE), &text)).await
    }

    /// The backups right below this path, oldest first; after them those that were not completed.
    pub(super) async fn list(&self, writer: &Writer) -> Result<Vec<StoredBackup>, BackupError> {
        let mut names = self.listing(writer.parents_of_objects(&self.object("*/*/.backup"), 3)).await?;
        names.extend(self.listing(writer.parents_of_objects(&self.object("*/backup.jso?"), 2)).await?);
        names.sort_unstable();
        names.dedup();
        if names.len() > MAX_LISTED {
            return Err(BackupError::TooMany { path: self.shown.clone(), limit: MAX_LISTED });
        }
        let mut listed = Vec::new();
        for name in names {
            let child = self.child(&name);
            let (_, size_bytes) = self.listing(writer.size_of_objects(&child.object("**"))).await?;
            let completion = match child.manifest(writer).await {
                Ok(Some(manifest)) => Completion::Whole(manifest),
                Ok(None) => Completion::Unfinished,
                Err(error) => Completion::Unreadable(error),
            };
            listed.push(StoredBackup { path: child.shown, completion, size_bytes });
        }
        listed.sort_by_key(|backup| match &backup.completion {
            Completion::Whole(manifest) => manifest.created_at,
            Completion::Unreadable(_) | Completion::Unfinished => u64::MAX,
        });
        Ok(listed)
    }

    /// The answer of a bucket about one object.
    async fn answer<T>(&self, statement: impl Future<Output = Result<T, StoreError>>) -> Result<T, BackupError> {
        self.within(ANSWER_TIMEOUT, statement).await
    }

    /// The answer of a bucket whose objects are listed, a thousand at a time.
    async fn listing<T>(&self, statement: impl Future<Output = Result<T, StoreError>>) -> Result<T, BackupError> {
        self.within(LIST_TIMEOUT, statement).await
    }

    /// ClickHouse asks a bucket that is away for many minutes.
    async fn within<T>(
        &self,
        limit: Duration,
        statement: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, BackupError> {
        match tokio::time::timeout(limit, statement).await {
            Ok(answer) => answer.map_err(|error| super::error::of_bucket(error, &self.collection)),
            Err(_) => Err(BackupError::Silent { path: self.shown.clone(), limit }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_in_buckets_are_told_from_folders_and_patterns_are_refused() {
        let parse = |text: &str| BackupBucket::parse(Path::new(text));
        assert!(parse("/var/backup").is_none() && parse("s3:/a").is_none());
        let path = parse("s3://offsite/trawl/2026-11-22/").expect("a bucket").expect("a path");
        assert_eq!((path.collection.as_str(), path.path.as_str()), ("offsite", "trawl/2026-11-22"));
        assert_eq!(path.shown(), Path::new("s3://offsite/trawl/2026-11-22"));
        for text in
            ["s3://", "s3://a b/c", "s3://1a/c", "s3://a/*", "s3://a/{b}", "s3://a/../b", "s3://a/b//c", "s3://a/'"]
        {
            assert!(matches!(parse(text), Some(Err(BackupError::InvalidBucketPath { .. }))), "{text}");
        }
        assert!(parse("s3://offsite").is_some_and(|path| path.is_ok_and(|path| path.require_path().is_err())));
    }
}
