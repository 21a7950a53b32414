//! Stored rows of labels and ABIs as the values that pages show.

use trawl_core::primitives::abi::{KnownEvent, KnownFunction};
use trawl_json::addresses::address::{Labels, Tag, TokenLabel};
use trawl_json::vocabulary::Entry;
use trawl_query::labels::{KnownEntry, KnownLabel};

/// Bytes of a tag beside its texts.
const TAG_OVERHEAD: usize = 160;

/// Parses a stored entry; `None` if it cannot be used.
pub(super) fn parsed(row: &KnownEntry) -> Option<Entry> {
    match row.entry_type.as_str() {
        "event" => Some(Entry::Event(Box::new(KnownEvent::from_json(&row.entry).ok()?))),
        "error" => Some(Entry::Error(Box::new(KnownFunction::from_error(&row.entry).ok()?))),
        _ => {
            let known = KnownFunction::from_json(&row.entry).ok().map(Box::new);
            Some(Entry::Function(row.signature.split('(').next()?.into(), known))
        }
    }
}

/// Applies a row to the labels of its address.
pub(super) fn apply_label(labels: &mut Labels, label: KnownLabel) {
    match label.label_type.as_str() {
        "name" => labels.name = Some(label.value),
        "ens_domain_name" => labels.ens_domain_name = Some(label.value),
        "contract_name" => labels.contract_name = Some(label.value),
        "abi" => labels.abi = Some(label.generation),
        "source" => labels.source = Some(label.generation),
        "public_tag" => labels.tags.push(Tag {
            slug: label.slug,
            name: label.value,
            tag_type: label.tag_type,
            ordinal: label.ordinal,
            meta: label.meta,
        }),
        "token" => labels.token = Some(token(label)),
        // A type of a later release.
        _ => {}
    }
}

/// The load checked the members; any other content says nothing.
fn token(label: KnownLabel) -> TokenLabel {
    let members: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&label.meta).unwrap_or_default();
    let text = |name: &str| members.get(name)?.as_str().map(Into::into);
    TokenLabel {
        symbol: label.value,
        decimals: members.get("decimals").and_then(|decimals| decimals.as_u64()?.try_into().ok()),
        token_type: text("type"),
        icon_url: text("icon_url"),
    }
}

/// About how many bytes the texts of the labels take.
pub(super) fn size(labels: &Labels) -> usize {
    let token = labels.token.iter().map(|token| token.symbol.len() + token.icon_url.as_ref().map_or(0, String::len));
    let texts = [&labels.name, &labels.ens_domain_name, &labels.contract_name];
    let tags = labels.tags.iter().map(|tag| tag.slug.len() + tag.name.len() + tag.meta.len() + TAG_OVERHEAD);
    texts.into_iter().flatten().map(String::len).chain(tags).chain(token).sum()
}
