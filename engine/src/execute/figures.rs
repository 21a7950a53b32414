//! Figures of the tables of the system, and what is counted of statements.

use std::sync::{Arc, Mutex, TryLockError};

use crate::chdb::engine::Engine;
use crate::exception::Exception;

/// Disks, parts, what goes on now, and what has gone on since the start; each row has a kind, a name and two numbers.
/// <https://clickhouse.com/docs/operations/system-tables>
const FIGURES: &str = "\
SELECT 'disk', name, toString(free_space), toString(total_space) FROM system.disks
UNION ALL SELECT 'parts', if(active, 'active', 'inactive'), toString(count()), toString(sum(bytes_on_disk))
FROM system.parts GROUP BY active
UNION ALL SELECT 'now', metric, toString(value), '0' FROM system.metrics
WHERE metric IN ('MemoryTracking', 'Merge', 'PartMutation')
UNION ALL SELECT 'so far', event, toString(value), '0' FROM system.events
WHERE event IN ('Merge', 'MergedRows', 'InsertedRows', 'InsertedBytes', 'SelectedRows', 'SelectedBytes')";

/// Reads the tables of the system, once at a time.
#[derive(Debug)]
pub struct SystemTables {
    engine: Arc<Engine>,
    reading: Mutex<()>,
}

impl SystemTables {
    /// Those of an engine.
    #[must_use]
    pub fn new(engine: Arc<Engine>) -> Self {
        Self { engine, reading: Mutex::default() }
    }

    /// Shows what they say; false if they cannot be read, or another thread is still at it. Blocks.
    #[must_use]
    pub fn show(&self) -> bool {
        let _reading = match self.reading.try_lock() {
            Ok(reading) => reading,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return false,
        };
        match self.rows() {
            Ok(rows) => {
                show(&rows);
                true
            }
            Err(error) => {
                tracing::warn!(%error, "system tables cannot be read, so metrics are out of date");
                false
            }
        }
    }

    fn rows(&self) -> Result<Vec<Vec<String>>, Exception> {
        let limit = ("max_execution_time".to_owned(), "2".to_owned());
        self.engine.connect(&[limit])?.rows(FIGURES, 4)
    }
}

/// Counts a request that is answered with an error.
pub(crate) fn count_error(exception: &Exception) {
    const AUTHENTICATION_FAILED: i32 = 516;
    metrics::counter!("trawl_engine_errors_total", "code" => exception.code.to_string()).increment(1);
    if exception.code == AUTHENTICATION_FAILED {
        metrics::counter!("trawl_engine_logins_refused_total").increment(1);
    }
}

fn show(rows: &[Vec<String>]) {
    // Parts of a state that none is in have no row.
    let (mut parts, mut running) = ([0.0, 0.0], 0.0);
    for row in rows {
        let [kind, name, first, second] = row.as_slice() else { continue };
        let value = first.parse::<f64>().unwrap_or_default();
        match (kind.as_str(), name.as_str()) {
            ("disk", name) => {
                let size: f64 = second.parse().unwrap_or_default();
                metrics::gauge!("trawl_engine_disk_free_bytes", "disk" => name.to_owned()).set(value);
                metrics::gauge!("trawl_engine_disk_size_bytes", "disk" => name.to_owned()).set(size);
            }
            ("parts", "active") => {
                parts[0] = value;
                metrics::gauge!("trawl_engine_parts_bytes").set(second.parse::<f64>().unwrap_or_default());
            }
            ("parts", _) => parts[1] = value,
            ("now", "MemoryTracking") => metrics::gauge!("trawl_engine_memory_tracked_bytes").set(value),
            ("now", _) => running += value,
            (_, event) => show_event(event, first.parse().unwrap_or_default()),
        }
    }
    metrics::gauge!("trawl_engine_parts", "state" => "active").set(parts[0]);
    metrics::gauge!("trawl_engine_parts", "state" => "inactive").set(parts[1]);
    metrics::gauge!("trawl_engine_merges_running").set(running);
}

fn show_event(event: &str, value: u64) {
    match event {
        "Merge" => metrics::counter!("trawl_engine_merges_total").absolute(value),
        "MergedRows" => metrics::counter!("trawl_engine_merged_rows_total").absolute(value),
        "InsertedRows" => metrics::counter!("trawl_engine_inserted_rows_total").absolute(value),
        "InsertedBytes" => metrics::counter!("trawl_engine_inserted_bytes_total").absolute(value),
        "SelectedRows" => metrics::counter!("trawl_engine_selected_rows_total").absolute(value),
        "SelectedBytes" => metrics::counter!("trawl_engine_selected_bytes_total").absolute(value),
        _ => {}
    }
}
