//! Golden cases: `tests/cases/<endpoint>/<case>/{request,response.json}`, made by `tests/cases/make.py`.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, ensure};
use libtest_mimic::Trial;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use xtask::{http, workspace};

use crate::chains::chain;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    let endpoints = [
        "blocks",
        "transaction_logs",
        "address_withdrawals",
        "block_withdrawals",
        "address_internal_transactions",
        "address_token_transfers",
        "raw_trace",
    ];
    for endpoint in endpoints {
        let folder = workspace::root().join("tests/cases").join(endpoint);
        let cases: Vec<_> =
            fs::read_dir(&folder).expect("the cases").map(|entry| entry.expect("a case").path()).collect();
        assert!(cases.len() > 4, "{endpoint} has too few cases");
        for case in cases {
            let name = case.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            trials.push(trial(format!("golden::{endpoint}::{name}"), move || run(&case)));
        }
    }
    trials
}

fn run(case: &Path) -> anyhow::Result<()> {
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
