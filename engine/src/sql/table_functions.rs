//! Table functions by what they reach: those that a modeler's tables and views may call, and the others.

use crate::sql::lexer::Token;

/// Table functions that a table or view of a modeler may not call. The engine's owner may read a view too, and what a
/// view calls runs with the rights of who reads it.
const REFUSED_FUNCTIONS: [&str; 86] = [
    "arrowstream",
    "azureBlobStorage",
    "azureBlobStorageCluster",
    "cluster",
    "clusterAllReplicas",
    "cosn",
    "deltaLake",
    "deltaLakeAzure",
    "deltaLakeAzureCluster",
    "deltaLakeCluster",
    "deltaLakeLocal",
    "deltaLakeS3",
    "deltaLakeS3Cluster",
    "dictionary",
    "eval",
    "executable",
    "file",
    "fileCluster",
    "filesystem",
    "fuzzJSON",
    "fuzzQuery",
    "gcs",
    "hdfs",
    "hdfsCluster",
    "hudi",
    "hudiCluster",
    "iceberg",
    "icebergAzure",
    "icebergAzureCluster",
    "icebergCluster",
    "icebergHDFS",
    "icebergHDFSCluster",
    "icebergLocal",
    "icebergLocalCluster",
    "icebergS3",
    "icebergS3Cluster",
    "input",
    "jdbc",
    "loop",
    "merge",
    "mergeTreeAnalyzeIndexes",
    "mergeTreeAnalyzeIndexesUUID",
    "mergeTreeIndex",
    "mergeTreeProjection",
    "mergeTreeTextIndex",
    "mongodb",
    "mysql",
    "odbc",
    "oss",
    "paimon",
    "paimonAzure",
    "paimonAzureCluster",
    "paimonCluster",
    "paimonHDFS",
    "paimonHDFSCluster",
    "paimonLocal",
    "paimonS3",
    "paimonS3Cluster",
    "postgresql",
    "prometheusQuery",
    "prometheusQueryRange",
    "redis",
    "remote",
    "remoteSecure",
    "s3",
    "s3Cluster",
    "sqlite",
    "timeSeriesData",
    "timeSeriesMetrics",
    "timeSeriesSamples",
    "timeSeriesSelector",
    "timeSeriesTags",
    "url",
    "urlCluster",
    "viewIfPermitted",
    "ytsaurus",
    // What older and newer releases have.
    "arrowFlight",
    "arrowflight",
    "python",
    "Python",
    "hive",
    "meiliMatch",
    "meilisearch",
    "nats",
    "kafka",
    "dataLake",
];

/// Whether `token` names one of them.
#[must_use]
pub fn is_refused(token: &Token) -> bool {
    REFUSED_FUNCTIONS.iter().any(|name| token.names(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::lexer::Lexer;

    /// Table functions that a statement of a view or table may call, as they reach nothing that its reader may not
    /// read.
    const TABLE_FUNCTIONS: [&str; 14] = [
        "SQLStandardValues",
        "format",
        "generateRandom",
        "generateSeries",
        "generate_series",
        "null",
        "numbers",
        "numbers_mt",
        "primes",
        "values",
        "view",
        "viewExplain",
        "zeros",
        "zeros_mt",
    ];

    #[test]
    fn functions_that_reach_nothing_may_be_called() {
        let refused = |name: &str| Lexer::new(name.as_bytes()).next().is_some_and(|token| is_refused(&token));
        assert!(!TABLE_FUNCTIONS.into_iter().any(refused) && refused("url") && refused("`S3`"));
    }
}
