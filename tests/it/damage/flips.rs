//! One flipped bit in any file of any part, and the engine started again: every answer is the same as before, or none.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::ensure;

use super::questions::{Question, questions};
use super::{Answer, api, ask, engine, is_right, stored};
use crate::dice::Dice;
use crate::env;

/// How many bits; more in the slow run.
const TRIALS: usize = 3;
const SLOW_TRIALS: usize = 200;

/// All files of parts below a folder, in order: `store/abc/<uuid of the table>/<part>/<file>`.
fn files(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<anyhow::Result<_>>()?;
    entries.sort();
    for entry in entries {
        if entry.is_dir() {
            if entry.file_name().is_none_or(|name| name != "detached") {
                files(&entry, depth + 1, found)?;
            }
        } else if depth == 4 && entry.metadata()?.len() > 0 {
            found.push(entry);
        }
    }
    Ok(())
}

/// A copy of a store.
fn copied(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let (entry, name) = {
            let entry = entry?;
            (entry.path(), entry.file_name())
        };
        let kind = entry.symlink_metadata()?.file_type();
        if kind.is_symlink() {
            let target = fs::read_link(&entry)?;
            symlink(target, to.join(name))?;
        } else if kind.is_dir() {
            copied(&entry, &to.join(name))?;
        } else {
            fs::copy(&entry, to.join(name))?;
        }
    }
    Ok(())
}

fn answers(folder: &Path, questions: &[Question]) -> Vec<Answer> {
    let nothing = || vec![Answer::Nothing; questions.len()];
    let Ok(engine) = engine(folder) else { return nothing() };
    let answers = match api(&engine.url) {
        Ok(api) => {
            let answers = questions.iter().map(|question| ask(&api.url, question)).collect();
            drop(api);
            answers
        }
        Err(_) => nothing(),
    };
    drop(engine);
    answers
}

#[test]
fn one_flipped_bit_gives_no_other_answer() -> anyhow::Result<()> {
    let folder = stored()?;
    let questions: Vec<Question> = questions()?.into_iter().step_by(env::amount(7, 1)).collect();
    let before = answers(folder.path(), &questions);
    let answered = before.iter().filter(|answer| !answer.is_error()).count();
    ensure!(answered > questions.len() / 2, "{answered} of {}: {before:?}", questions.len());
    let mut all = Vec::new();
    files(&folder.path().join("store"), 1, &mut all)?;
    let mut dice = Dice(20);
    let (mut wrong, mut same, mut refused) = (Vec::new(), 0, 0);
    let trials = if env::is_slow_run() { SLOW_TRIALS } else { TRIALS };
    for _ in 0..trials {
        let file = dice.pick(&all).strip_prefix(folder.path())?.to_owned();
        let copy = env::directory()?;
        copied(folder.path(), copy.path())?;
        let mut bytes = fs::read(copy.path().join(&file))?;
        let bit = dice.roll(bytes.len() * 8);
        bytes[bit / 8] ^= 1 << (bit % 8);
        fs::write(copy.path().join(&file), bytes)?;
        for (question, (before, after)) in questions.iter().zip(before.iter().zip(answers(copy.path(), &questions))) {
            if before == &after {
                same += 1;
            } else if is_right(before, &after) {
                refused += 1;
            } else {
                wrong.push(format!("bit {bit} of {}: {question:?}: {before:?} became {after:?}", file.display()));
            }
        }
    }
    eprintln!(
        "{trials} flipped bits in {} files: {same} answers the same, {refused} refused, {} wrong",
        all.len(),
        wrong.len()
    );
    ensure!(wrong.is_empty(), "{} wrong answers, for example {}", wrong.len(), wrong[..wrong.len().min(5)].join("\n"));
    Ok(())
}
