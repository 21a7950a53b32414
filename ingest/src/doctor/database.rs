//! ClickHouse and the database: version, clock, room, schema, rights, parts, damage, and how far readers are.

use std::time::{SystemTime, UNIX_EPOCH};

use trawl_core::store::{Head, MigrateError, Reader, StoreError, Writer};

use super::{Finding, StoredChain};

/// What the statements were tested with.
const TESTED_VERSION: (u32, u32) = (26, 7);
/// Clocks that differ by more make ages of blocks wrong.
const MAX_CLOCK_DIFFERENCE_MS: i64 = 5_000;
/// Less room is for a few days only.
const LITTLE_ROOM_BYTES: u64 = 20 << 30;
/// So little stops writing soon.
const NO_ROOM_BYTES: u64 = 1 << 30;
/// ClickHouse slows inserts down from 1,000 parts of a partition on.
const MANY_PARTS: u64 = 500;

/// Looks at the database, and says what chain it has. Nothing is changed.
pub async fn examine_database(reader: &Reader, writer: &Writer) -> (Vec<Finding>, StoredChain) {
    let mut findings = vec![];
    let facts = match writer.server_facts().await {
        Ok(facts) => facts,
        Err(error) => return (vec![unreachable(&error)], StoredChain::default()),
    };
    findings.push(version(&facts.version));
    findings.push(clock(facts.clock_ms));
    findings.push(room(writer).await);
    let schema = schema(writer.require_schema().await);
    let has_schema = schema.advice.is_empty();
    findings.push(schema);
    if !has_schema {
        return (findings, StoredChain::default());
    }
    findings.push(rights(writer).await);
    findings.extend(parts(writer).await);
    findings.push(damage(reader).await);
    let (readable, stored) = readable(reader).await;
    findings.push(readable);
    (findings, stored)
}

fn unreachable(error: &StoreError) -> Finding {
    let advice = if error.is_wrong_login() {
        "check user and password (--clickhouse-user, --clickhouse-password-file)"
    } else {
        "start trawl-engine or ClickHouse, or give its address (--clickhouse-url)"
    };
    Finding::wrong("clickhouse", trawl_core::error_chain(error), advice)
}

fn version(version: &str) -> Finding {
    let mut numbers = version.split('.').map_while(|number| number.parse::<u32>().ok());
    let found = numbers.next().zip(numbers.next());
    if found.is_some_and(|found| found >= TESTED_VERSION) {
        return Finding::fine("version", format!("ClickHouse {version}"));
    }
    let (major, minor) = TESTED_VERSION;
    Finding::warning(
        "version",
        format!("ClickHouse {version}"),
        format!("use {major}.{minor} or later: older ones are not tested"),
    )
}

fn clock(server_ms: i64) -> Finding {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    let difference = i64::try_from(now).unwrap_or(i64::MAX).saturating_sub(server_ms);
    let found = format!("{difference} ms between this machine's and ClickHouse's");
    if difference.abs() <= MAX_CLOCK_DIFFERENCE_MS {
        Finding::fine("clock", found)
    } else {
        Finding::warning("clock", found, "synchronize both with NTP: otherwise block ages and response times are wrong")
    }
}

async fn room(writer: &Writer) -> Finding {
    let room = match writer.least_room().await {
        Ok(room) => room,
        Err(StoreError::NotAllowed { .. }) => {
            let advice = "grant the account read access to `system.disks` to check this";
            return Finding::warning("room", "the account may not see the disks", advice);
        }
        Err(error) => return Finding::wrong("room", trawl_core::error_chain(&error), "see ClickHouse's log"),
    };
    let size = bytesize::ByteSize;
    let found = format!("{} of {} are free on the disk `{}`", size(room.free_bytes), size(room.total_bytes), room.name);
    let advice = "free disk space: docs/operate/sizing.md has the sizes of chains";
    match room.free_bytes {
        ..NO_ROOM_BYTES => Finding::wrong("room", found, advice),
        NO_ROOM_BYTES..LITTLE_ROOM_BYTES => Finding::warning("room", found, advice),
        LITTLE_ROOM_BYTES.. => Finding::fine("room", found),
    }
}

fn schema(checked: Result<(), MigrateError>) -> Finding {
    match checked {
        Ok(()) => Finding::fine("schema", "matches this program"),
        Err(error) => Finding::wrong("schema", trawl_core::error_chain(&error), "follow the instruction above"),
    }
}

async fn rights(writer: &Writer) -> Finding {
    match writer.insert_nothing().await {
        Ok(()) => Finding::fine("rights", "the account may write"),
        Err(error) => Finding::wrong(
            "rights",
            trawl_core::error_chain(&error),
            "use the owner's account, or add the grants in docs/operate/clickhouse-server.md",
        ),
    }
}

async fn parts(writer: &Writer) -> Option<Finding> {
    let (table, parts) = writer.most_parts().await.ok()??;
    let found = format!("{parts} in `{table}`, which has the most");
    Some(if parts < MANY_PARTS {
        Finding::fine("parts", found)
    } else {
        Finding::warning("parts", found, "let ClickHouse merge: fewer loads at once, larger batches (--batch-blocks)")
    })
}

async fn damage(reader: &Reader) -> Finding {
    match reader.damage().await {
        Ok(damage) if damage.blocks().is_empty() && damage.others.is_empty() => {
            Finding::fine("damage", "no committed row is missing")
        }
        Ok(damage) => Finding::wrong("damage", damage.to_string(), "run `trawl-ingest repair`"),
        Err(error) => Finding::wrong("damage", trawl_core::error_chain(&error), "see ClickHouse's log"),
    }
}

async fn readable(reader: &Reader) -> (Finding, StoredChain) {
    let head = match Head::load(reader).await {
        Ok(head) => head,
        Err(error) => {
            let finding = Finding::wrong("blocks", trawl_core::error_chain(&error), "see ClickHouse's log");
            return (finding, StoredChain::default());
        }
    };
    let finding = match head.number() {
        None => Finding::warning("blocks", "none is loaded", "run `trawl-ingest follow`, or `load`"),
        Some(number) => Finding::fine("blocks", format!("readable up to {number}")),
    };
    (finding, StoredChain { chain_id: head.chain_id, head: head.number() })
}
