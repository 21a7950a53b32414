//! Golden cases: `tests/cases/<endpoint>/<case>/{request,response.json}`, made by `tests/cases/make.py`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use xtask::{http, workspace};

use crate::chains::chain;

mod cases;

/// The folder of the cases of an endpoint.
pub fn folder(endpoint: &str) -> PathBuf {
    workspace::root().join("tests/cases").join(endpoint)
}

#[test]
fn every_case_is_listed() -> anyhow::Result<()> {
    let mut endpoints = names(&folder(""))?;
    endpoints.retain(|name| !name.contains('.'));
    ensure!(endpoints == sorted(cases::LISTED.iter().map(|(endpoint, _)| *endpoint)), "{endpoints:?}");
    for (endpoint, listed) in cases::LISTED {
        let found = names(&folder(endpoint))?;
        ensure!(found == sorted(listed.iter().copied()) && found.len() > 4, "{endpoint} has the cases {found:?}");
    }
    Ok(())
}

/// Expected answers are made by the script from the recorded chains, and never from our own output.
#[test]
#[ignore = "a minute of Python: runs with `cargo xtask test --slow`"]
fn cases_are_those_of_the_script() -> anyhow::Result<()> {
    let output = tempfile::tempdir()?;
    let made = Command::new("python3").arg(folder("make.py")).arg(output.path()).status()?;
    ensure!(made.success(), "{made}");
    for (endpoint, listed) in cases::LISTED {
        for case in *listed {
            for file in ["request", "response.json"] {
                let file = Path::new(endpoint).join(case).join(file);
                let [made, committed] = [output.path(), &folder("")].map(|root| fs::read(root.join(&file)));
                ensure!(made? == committed?, "{}: run tests/cases/make.py", file.display());
            }
        }
    }
    Ok(())
}

/// What a folder has, sorted.
pub fn names(folder: &Path) -> anyhow::Result<Vec<String>> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut names: Vec<String> =
        entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect::<anyhow::Result<_>>()?;
    names.sort();
    Ok(names)
}

/// A list of names as [`names`] has it.
pub fn sorted<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut names: Vec<String> = names.map(str::to_owned).collect();
    names.sort();
    names
}

/// Asks the API of a case's chain, and compares.
pub fn run(endpoint: &str, case: &str) -> anyhow::Result<()> {
    let case = folder(endpoint).join(case);
    let request = fs::read_to_string(case.join("request"))?;
    let expected: Value = serde_json::from_slice(&fs::read(case.join("response.json"))?)?;
    let [name, status, path] = request.split_whitespace().collect::<Vec<_>>()[..] else {
        anyhow::bail!("a request is `chain status path`");
    };
    let answer = http::get(&http::agent(), &format!("{}{path}", chain(name).api))?;
    ensure!(answer.status.to_string() == status, "status {}: {}", answer.status, answer.text());
    ensure!(answer.header("content-type") == "application/json; charset=utf-8", "{}", answer.header("content-type"));
    serde_json::from_slice::<UniqueKeys>(&answer.body).context("every key of an object stands there once")?;
    compare(&expected, &answer.json()?, "$")
}

/// Equal but for the last digit of a percentage, which depends on the order of two roundings.
pub fn compare(expected: &Value, found: &Value, at: &str) -> anyhow::Result<()> {
    match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => {
            let names = |object: &serde_json::Map<String, Value>| object.keys().cloned().collect::<Vec<_>>().join(", ");
            for (key, value) in expected {
                let found = found.get(key).with_context(|| format!("{at} has no {key}, only {}", names(found)))?;
                compare(value, found, &format!("{at}.{key}"))?;
            }
            ensure!(expected.len() == found.len(), "{at} has {} instead of {}", names(found), names(expected));
        }
        (Value::Array(expected), Value::Array(found)) => {
            ensure!(expected.len() == found.len(), "{at} has {} items instead of {}", found.len(), expected.len());
            for (position, (expected, found)) in expected.iter().zip(found).enumerate() {
                compare(expected, found, &format!("{at}[{position}]"))?;
            }
        }
        (Value::Number(expected), Value::Number(found)) if expected.is_f64() => {
            let (expected, found) = (expected.as_f64().unwrap_or(f64::NAN), found.as_f64().unwrap_or(f64::NAN));
            ensure!((expected - found).abs() <= expected.abs() * 1e-14, "{at} is {found} instead of {expected}");
        }
        _ => ensure!(expected == found, "{at} is {found} instead of {expected}"),
    }
    Ok(())
}

/// JSON in which no object has a key twice; serde alone would keep the last.
struct UniqueKeys;

impl<'de> Deserialize<'de> for UniqueKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Walk;
        impl<'de> Visitor<'de> for Walk {
            type Value = UniqueKeys;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("JSON")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<UniqueKeys, A::Error> {
                let mut seen = std::collections::HashSet::new();
                while let Some((key, UniqueKeys)) = map.next_entry::<String, UniqueKeys>()? {
                    if !seen.insert(key.clone()) {
                        return Err(A::Error::custom(format!("{key} stands there twice")));
                    }
                }
                Ok(UniqueKeys)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<UniqueKeys, A::Error> {
                while seq.next_element::<UniqueKeys>()?.is_some() {}
                Ok(UniqueKeys)
            }
            fn visit_bool<E>(self, _: bool) -> Result<UniqueKeys, E> {
                Ok(UniqueKeys)
            }
            fn visit_u64<E>(self, _: u64) -> Result<UniqueKeys, E> {
                Ok(UniqueKeys)
            }
            fn visit_i64<E>(self, _: i64) -> Result<UniqueKeys, E> {
                Ok(UniqueKeys)
            }
            fn visit_f64<E>(self, _: f64) -> Result<UniqueKeys, E> {
                Ok(UniqueKeys)
            }
            fn visit_str<E>(self, _: &str) -> Result<UniqueKeys, E> {
                Ok(UniqueKeys)
            }
            fn visit_unit<E>(self) -> Result<UniqueKeys, E> {
                Ok(UniqueKeys)
            }
        }
        deserializer.deserialize_any(Walk)
    }
}
