//! The leg of files: DuckDB over Parquet as cryo writes it, a thousand blocks a file.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use serde_json::{Value, json};
use xtask::{tools, workspace};

use crate::bed::TestBed;
use crate::client::FullAnswer;
use crate::{end, progress};

/// Blocks of a file.
const BLOCKS: u64 = 1000;

/// The columns that cryo writes for logs, in its order.
const ROWS: &str = "SELECT toUInt32(block_number) AS block_number, transaction_index, log_index, \
    CAST(transaction_hash AS String) AS transaction_hash, CAST(address AS String) AS address, \
    if(topics_count > 0, CAST(topic0 AS String), NULL) AS topic0, if(topics_count > 1, CAST(topic1 AS String), NULL) AS topic1, \
    if(topics_count > 2, CAST(topic2 AS String), NULL) AS topic2, if(topics_count > 3, CAST(topic3 AS String), NULL) AS topic3, \
    data, toUInt64(1) AS chain_id FROM logs_by_block \
    WHERE block_number BETWEEN {first:UInt64} AND {last:UInt64} ORDER BY block_number, log_index \
    SETTINGS output_format_parquet_compression_method = 'lz4', output_format_parquet_string_as_string = 0";

/// A Python that runs DuckDB. Dropping it ends it.
pub struct Duckdb {
    python: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Duckdb {
    /// Installs DuckDB from PyPI into a folder of its own and writes the files, unless that was done.
    pub fn start(bed: &TestBed, contract: &str) -> anyhow::Result<Self> {
        let script = workspace::root().join("bench/api/duckdb.py");
        let python = tools::python_in("bench/python", &workspace::root().join("bench/api/requirements.txt"))?;
        let files = write_files(bed)?;
        let mut command = Command::new(python);
        command.arg(script).arg(files).arg(contract);
        let mut python = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let questions = python.stdin.take().context("a pipe")?;
        let answers = BufReader::new(python.stdout.take().context("a pipe")?);
        Ok(Self { python, questions, answers })
    }

    fn ask(&mut self, question: &Value) -> anyhow::Result<Value> {
        writeln!(self.questions, "{question}")?;
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        let answer: Value = serde_json::from_str(&line).context("DuckDB's script ended")?;
        match answer.get("error") {
            None => Ok(answer),
            Some(error) => bail!("DuckDB: {error}"),
        }
    }

    /// All logs of the contract, read to their end in batches of Arrow.
    pub fn wide(&mut self, logs: f64) -> anyhow::Result<FullAnswer> {
        let answer = self.ask(&json!("wide"))?;
        let number = |name: &str| answer[name].as_f64().with_context(|| format!("no {name}"));
        ensure!(number("rows")? == logs, "DuckDB found {} of {logs} logs", answer["rows"]);
        Ok(FullAnswer {
            first_byte: number("first")?,
            total: number("total")?,
            bytes: number("bytes")? as u64,
            body: Vec::new(),
        })
    }

    /// Version of the `duckdb` module of Python.
    pub fn version(&mut self) -> anyhow::Result<String> {
        Ok(self.ask(&json!("version"))?["version"].as_str().unwrap_or_default().to_owned())
    }
}

impl Drop for Duckdb {
    fn drop(&mut self) {
        end(&mut self.python);
    }
}

/// Bytes of the files.
pub fn bytes(bed: &TestBed) -> anyhow::Result<f64> {
    let mut sum = 0;
    for file in std::fs::read_dir(folder(bed))? {
        sum += file?.metadata()?.len();
    }
    Ok(sum as f64)
}

fn folder(bed: &TestBed) -> PathBuf {
    bed.folder().join("parquet")
}

fn write_files(bed: &TestBed) -> anyhow::Result<PathBuf> {
    let (folder, mark) = (folder(bed), bed.folder().join("parquet-complete"));
    if mark.exists() {
        return Ok(folder);
    }
    progress("writing Parquet");
    std::fs::create_dir_all(&folder)?;
    for first in (0..=bed.last_block()).step_by(BLOCKS as usize) {
        let last = first + BLOCKS - 1;
        let file = folder.join(format!("ethereum__logs__{first:08}_to_{last:08}.parquet"));
        write_file(bed, &file, first, last)?;
    }
    std::fs::write(mark, "")?;
    // Files that were written a moment ago are written back while others are measured.
    std::thread::sleep(Duration::from_secs(1));
    Ok(folder)
}

fn write_file(bed: &TestBed, file: &Path, first: u64, last: u64) -> anyhow::Result<()> {
    let range = [("first", first.to_string()), ("last", last.to_string())];
    let mut rows = bed.store.reader(ROWS, &range, "Parquet")?;
    let mut file = std::fs::File::create(file)?;
    std::io::copy(&mut rows, &mut file)?;
    Ok(())
}
