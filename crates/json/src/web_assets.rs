//! Assets that web explorers fetch besides their own files (docs/reference/web.md).

use std::collections::BTreeMap;

use serde_json::{Value, json};
use trawl_core::primitives::Address;

use super::JsonWriter;
use crate::contracts::source::ContractSource;
use crate::tokens::known_tokens::KnownToken;

/// The settings of the page: where its API and its data are, below `origin`.
#[must_use]
pub fn write_settings(origin: &str) -> Vec<u8> {
    let mut writer = JsonWriter::new();
    writer.object(|settings| {
        settings.key("erigonURL").string(&format!("{origin}/api/eth-rpc"));
        settings.key("assetsURLPrefix").string(&format!("{origin}/assets"));
        settings.key("sourcify").object(|sourcify| {
            sourcify.key("sources").object(|sources| {
                sources.key("Trawl").object(|source| {
                    source.key("url").string(&format!("{origin}/sourcify"));
                    source.key("backendFormat").string("RepositoryV1");
                });
            });
        });
    });
    writer.into_bytes()
}

/// A chain by its name and the symbol of its coin.
#[must_use]
pub fn write_chain(name: &str, symbol: &str) -> Vec<u8> {
    let mut writer = JsonWriter::new();
    writer.object(|chain| {
        chain.key("name").string(name);
        chain.key("nativeCurrency").object(|coin| {
            coin.key("name").string(symbol);
            coin.key("symbol").string(symbol);
            coin.key("decimals").number(18);
        });
        chain.key("faucets").array(|_| {});
    });
    writer.into_bytes()
}

/// The well-known tokens of a chain: `tokens` with `address`, `symbol` and `name`.
#[must_use]
pub fn write_known_tokens(known: &BTreeMap<Address, KnownToken>) -> Vec<u8> {
    let mut writer = JsonWriter::new();
    writer.object(|list| {
        list.key("tokens").array(|tokens| {
            for (address, token) in known {
                tokens.item().object(|object| {
                    object.key("address").string(&address.to_checksum(None));
                    object.key("symbol").string(token.symbol);
                    object.key("name").string(token.name);
                });
            }
        });
    });
    writer.into_bytes()
}

/// A contract's metadata in Sourcify's shape: its ABI, as entries of JSON, and what its source says of the compiler.
/// Without a source, compiler and settings are unknown.
#[must_use]
pub fn write_metadata(entries: &[String], source: Option<&ContractSource>) -> Vec<u8> {
    let stated = |text: fn(&ContractSource) -> &str| source.map(text).filter(|text| !text.is_empty());
    let mut writer = JsonWriter::new();
    writer.object(|metadata| {
        metadata.key("version").number(1);
        metadata.key("language").option(stated(|source| &source.language), JsonWriter::string);
        metadata.key("compiler").object(|compiler| {
            compiler.key("version").option(stated(|source| &source.compiler_version), JsonWriter::string);
        });
        metadata.key("sources").object(|sources| {
            for file in source.into_iter().flat_map(|source| &source.files) {
                sources.text_key(&file.path).object(|member| member.key("keccak256").hex(file.hash.as_slice()));
            }
        });
        let mut settings = source.map(|source| source.settings.clone()).unwrap_or_default();
        let target = source.filter(|source| !source.file_path.is_empty());
        let target = target.map_or_else(|| json!({}), |source| json!({ source.file_path.as_str(): source.name }));
        settings.insert("compilationTarget".into(), target);
        metadata.key("settings").raw(Value::Object(settings).to_string());
        metadata.key("output").object(|output| {
            output.key("abi").array(|abi| entries.iter().for_each(|entry| abi.item().raw(entry)));
            write_comments(output.key("userdoc"), "user");
            write_comments(output.key("devdoc"), "dev");
        });
    });
    writer.into_bytes()
}

/// The comments of a source as solc has them, of a source without any: readers look for the function that they show.
fn write_comments(writer: &mut JsonWriter, kind: &str) {
    writer.object(|comments| {
        comments.key("kind").string(kind);
        comments.key("methods").object(|_| {});
        comments.key("version").number(1);
    });
}
