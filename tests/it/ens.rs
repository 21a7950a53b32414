//! Names of ENS by calls on loaded state: a registry and a resolver that were deployed on a local node, and names that
//! were set there, of which some lead back to their address and others do not.

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xtask::http;

use crate::env;
use crate::user_operations::{DATABASE, operations};

fn get(url: &str) -> anyhow::Result<Value> {
    http::get(&http::agent(), url)?.json()
}

fn name_of(api: &str, address: &str) -> anyhow::Result<Value> {
    let page = get(&format!("{api}/api/v2/addresses/{address}"))?;
    ensure!(page["hash"] == address, "{page}");
    Ok(page["ens_domain_name"].clone())
}

fn redirect(api: &str, text: &str) -> anyhow::Result<Value> {
    Ok(get(&format!("{api}/api/v2/search/check-redirect?q={text}"))?["parameter"].clone())
}

/// The registry as a flag.
fn registry() -> anyhow::Result<&'static str> {
    operations().expected["registry"].as_str().context("a registry")
}

#[test]
fn a_name_is_shown_where_it_leads_back_to_its_address() -> anyhow::Result<()> {
    let expected = &operations().expected;
    let server = env::start_api(DATABASE, &["--ens-registry", registry()?])?;
    let api = server.url.as_str();
    let primary = expected["primary"].as_object().context("names")?;
    ensure!(primary.len() == 2);
    for (address, name) in primary {
        ensure!(name_of(api, address)? == *name, "{address}: {}", name_of(api, address)?);
    }
    // Somebody else's name, one in capitals, one without an address, one that was moved, one that is no name.
    let unverified = expected["unverified"].as_array().context("addresses")?;
    ensure!(unverified.len() == 5);
    for address in unverified {
        let address = address.as_str().context("an address")?;
        ensure!(name_of(api, address)?.is_null(), "{address}: {}", name_of(api, address)?);
    }
    ensure!(name_of(api, expected["forward"]["moved.eth"].as_str().context("an address")?)?.is_null());
    Ok(())
}

#[test]
fn names_are_found_by_search() -> anyhow::Result<()> {
    let expected = &operations().expected;
    let server = env::start_api(DATABASE, &["--ens-registry", registry()?])?;
    let api = server.url.as_str();
    for (name, address) in expected["forward"].as_object().context("names")? {
        ensure!(redirect(api, name)? == *address, "{name}: {}", redirect(api, name)?);
        ensure!(redirect(api, &name.to_uppercase())? == *address, "{name}");
        let found = get(&format!("{api}/api/v2/search?q={name}"))?;
        let item = &found["items"][0];
        ensure!(item["ens_info"]["name"] == *name && item["address_hash"] == *address, "{found}");
        ensure!(item["ens_info"]["address_hash"] == *address && item["name"] == *name, "{found}");
    }
    for none in ["never.eth", "eth", "alice.eth.", "al_ice.eth", "%D0%B0lice.eth", "alice..eth", "alice.eth%20pay"] {
        ensure!(redirect(api, none)?.is_null(), "{none}: {}", redirect(api, none)?);
    }
    Ok(())
}

/// Lists look nothing up: they have what the page of an address verified a short time ago.
#[test]
fn lists_show_names_that_were_verified() -> anyhow::Result<()> {
    let expected = &operations().expected;
    let server = env::start_api(DATABASE, &["--ens-registry", registry()?, "--cache-size", "0"])?;
    let api = server.url.as_str();
    let owner = expected["forward"]["alice.eth"].as_str().context("an address")?;
    let names = || -> anyhow::Result<Vec<Value>> {
        let list = get(&format!("{api}/api/v2/addresses/{owner}/transactions?filter=from"))?;
        let items = list["items"].as_array().context("items")?;
        ensure!(!items.is_empty() && items.iter().all(|item| item["from"]["hash"] == owner), "{list}");
        Ok(items.iter().map(|item| item["from"]["ens_domain_name"].clone()).collect())
    };
    ensure!(names()?.iter().all(Value::is_null), "{:?}", names()?);
    ensure!(name_of(api, owner)? == "alice.eth");
    ensure!(names()?.iter().all(|name| name == "alice.eth"), "{:?}", names()?);
    Ok(())
}

#[test]
fn without_a_registry_there_are_no_names() -> anyhow::Result<()> {
    let expected = &operations().expected;
    let owner = expected["forward"]["alice.eth"].as_str().context("an address")?;
    // The registry of Ethereum has no code on this chain.
    let off = env::start_api(DATABASE, &["--ens-registry", "off"])?;
    for api in [operations().api.as_str(), off.url.as_str()] {
        ensure!(name_of(api, owner)?.is_null() && redirect(api, "alice.eth")?.is_null());
    }
    // A contract that is no registry, and an account.
    for strange in [&expected["resolver"], &expected["entryPoints"]["07"], &expected["accounts"][0]] {
        let server = env::start_api(DATABASE, &["--ens-registry", strange.as_str().context("an address")?])?;
        ensure!(name_of(&server.url, owner)?.is_null() && redirect(&server.url, "alice.eth")?.is_null());
    }
    let chain = &crate::chains::chain("mainnet").api;
    ensure!(redirect(chain, "alice.eth")? == json!(null), "state is not loaded there");
    Ok(())
}
