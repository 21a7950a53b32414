//! Files that are cut off, edited or of another kind are refused by name.

use super::*;

pub fn copy_folder(from: &Path, to: &Path) -> anyhow::Result<()> {
    for entry in std::fs::read_dir(from)? {
        let path = entry?.path();
        // Fixtures may be read-only; a copy is written to.
        std::fs::write(to.join(path.file_name().context("a name")?), std::fs::read(&path)?)?;
    }
    Ok(())
}

pub fn edit(file: &Path, change: impl FnOnce(String) -> String) -> anyhow::Result<()> {
    Ok(std::fs::write(file, change(std::fs::read_to_string(file)?))?)
}

#[test]
fn damaged_files_are_refused() -> anyhow::Result<()> {
    const CSV: &str = "cryo/devchain-variants/csv";
    const LOGS: &str = "network_31337__logs__00000010_to_00000019.csv";
    const BLOCKS: &str = "network_31337__blocks__00000010_to_00000019.csv";
    let damages: [Damage; 10] = [
        (
            "--cryo",
            CSV,
            |folder| edit(&folder.join(TRANSACTIONS), |text| text.replacen(",to_address,", ",recipient,", 1)),
            "to_address holds nothing",
        ),
        (
            "--cryo",
            CSV,
            |folder| edit(&folder.join(LOGS), |text| text.replacen("\n10,0,1,", "\n10,9,1,", 1)),
            "a log of transaction 9",
        ),
        (
            "--cryo",
            CSV,
            |folder| edit(&folder.join(LOGS), |text| text.replacen("\n10,0,0,", "\n11,0,0,", 1)),
            "not in block order",
        ),
        (
            "--cryo",
            CSV,
            |folder| edit(&folder.join(TRANSACTIONS), |text| text.replacen(",58124,", ",58123,", 1)),
            "gas used",
        ),
        (
            "--cryo",
            CSV,
            |folder| edit(&folder.join(TRANSACTIONS), |text| text.replacen("0xc1e6", "0xc1e", 1)),
            "transaction_hash",
        ),
        (
            "--cryo",
            CSV,
            |folder| {
                edit(&folder.join(BLOCKS), |text| text.replacen(",31337\n", ",1\n", 2).replacen(",1\n", ",31337\n", 1))
            },
            "another chain",
        ),
        (
            "--cryo",
            CSV,
            |folder| {
                edit(&folder.join(BLOCKS), |text| {
                    text.lines().filter(|line| !line.contains(",12,36800")).collect::<Vec<_>>().join("\n")
                })
            },
            "block 12: no row for it",
        ),
        (
            "--cryo",
            CSV,
            |folder| {
                Ok(std::fs::copy(folder.join(BLOCKS), folder.join("n__blocks__x__00000019_to_00000020.csv"))
                    .map(drop)?)
            },
            "covers blocks that",
        ),
        (
            "--cryo",
            "cryo/devchain",
            |folder| {
                let file = folder.join("network_31337__transactions__00000000_to_00000091.parquet");
                let mut bytes = std::fs::read(&file)?;
                bytes[..30_000].fill(0xff);
                Ok(std::fs::write(file, bytes)?)
            },
            "transactions",
        ),
        (
            "--etl",
            "ethereum-etl/devchain-json",
            |folder| Ok(std::fs::remove_file(folder.join("transactions.json.gz"))?),
            "block 1: a receipt of transaction 0, which is not there",
        ),
    ];
    for (position, (flag, from, damage, words)) in damages.into_iter().enumerate() {
        let folder = env::directory()?;
        copy_folder(&workspace::fixture(from), folder.path())?;
        damage(folder.path())?;
        let database = format!("source_damaged_{position}");
        let _database = env::migrate(&database)?;
        let output = env::ingest(&database, &["load", flag, &folder.path().display().to_string()]).output()?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        ensure!(output.status.code() == Some(3) && text.contains(words), "{words}: {} {text}", output.status);
        let visible = env::sql(
            &database,
            "SELECT (SELECT sum(last_block - first_block + 1) FROM ingest_commits) = (SELECT count() FROM blocks)",
        )?;
        ensure!(visible == "1", "{words}: rows without a commit");
    }
    Ok(())
}
