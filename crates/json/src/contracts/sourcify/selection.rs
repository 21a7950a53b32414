//! The fields of a contract that a request of Sourcify's API names.

use std::collections::BTreeSet;

/// A member of the answer that a request can name.
struct Field {
    name: &'static str,
    /// Members that can be named alone, as `name.member`; none of a field that is one value.
    members: &'static [&'static str],
}

const fn value(name: &'static str) -> Field {
    Field { name, members: &[] }
}

/// The fields in the order of the answer (Sourcify's `apiv2.yaml`, `GET /v2/contract/{chainId}/{address}`).
const FIELDS: [Field; 21] = [
    value("creationMatch"),
    value("runtimeMatch"),
    value("verifiedAt"),
    value("matchId"),
    Field {
        name: "creationBytecode",
        members: &[
            "onchainBytecode",
            "recompiledBytecode",
            "sourceMap",
            "linkReferences",
            "cborAuxdata",
            "transformations",
            "transformationValues",
        ],
    },
    Field {
        name: "runtimeBytecode",
        members: &[
            "onchainBytecode",
            "recompiledBytecode",
            "sourceMap",
            "linkReferences",
            "cborAuxdata",
            "immutableReferences",
            "transformations",
            "transformationValues",
        ],
    },
    Field { name: "deployment", members: &["transactionHash", "blockNumber", "transactionIndex", "deployer"] },
    value("sources"),
    Field {
        name: "compilation",
        members: &["language", "compiler", "compilerVersion", "compilerSettings", "name", "fullyQualifiedName"],
    },
    value("abi"),
    value("metadata"),
    value("storageLayout"),
    value("transientStorageLayout"),
    value("userdoc"),
    value("devdoc"),
    value("sourceIds"),
    value("additionalInput"),
    value("stdJsonInput"),
    value("stdJsonOutput"),
    Field { name: "signatures", members: &["function", "event", "error"] },
    value("proxyResolution"),
];

/// The fields of every answer that does not omit them.
const MINIMAL: [&str; 4] = ["creationMatch", "runtimeMatch", "verifiedAt", "matchId"];

/// A field, or one of its members.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FieldPath {
    field: &'static str,
    /// Empty of a field that is one value.
    member: &'static str,
}

/// What a name of a request means: a field, all members of a field, or one of them; `None` if there is no such field.
#[must_use]
pub fn paths_of(name: &str) -> Option<Vec<FieldPath>> {
    let (name, member) = name.split_once('.').map_or((name, None), |(name, member)| (name, Some(member)));
    let field = FIELDS.iter().find(|field| field.name == name)?;
    let path = |member: &'static str| FieldPath { field: field.name, member };
    match member {
        Some(member) => Some(vec![path(field.members.iter().find(|known| **known == member)?)]),
        None if field.members.is_empty() => Some(vec![path("")]),
        None => Some(field.members.iter().map(|member| path(member)).collect()),
    }
}

/// The fields that an answer has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection(BTreeSet<FieldPath>);

impl Selection {
    /// Some fields, beside those of every answer.
    #[must_use]
    pub fn with(paths: impl IntoIterator<Item = FieldPath>) -> Self {
        Self(MINIMAL.into_iter().filter_map(paths_of).flatten().chain(paths).collect())
    }

    /// All fields but some.
    #[must_use]
    pub fn without(paths: impl IntoIterator<Item = FieldPath>) -> Self {
        let omitted: BTreeSet<FieldPath> = paths.into_iter().collect();
        let all = FIELDS.iter().filter_map(|field| paths_of(field.name)).flatten();
        Self(all.filter(|path| !omitted.contains(path)).collect())
    }

    /// Whether it has a field, or a member of it.
    #[must_use]
    pub fn has(&self, field: &str) -> bool {
        self.0.iter().any(|path| path.field == field)
    }

    /// The names of the fields, in the order of the answer.
    pub(super) fn fields(&self) -> impl Iterator<Item = &'static str> {
        FIELDS.iter().map(|field| field.name).filter(|name| self.has(name))
    }

    /// Whether a field is an object of members.
    pub(super) fn has_members(&self, field: &str) -> bool {
        self.members(field).next().is_some()
    }

    /// The selected members of a field, in the order of the answer.
    pub(super) fn members(&self, field: &str) -> impl Iterator<Item = &'static str> {
        let field = FIELDS.iter().find(|known| known.name == field);
        let path = |field: &Field, member: &'static str| FieldPath { field: field.name, member };
        field.into_iter().flat_map(move |field| {
            field.members.iter().copied().filter(move |member| self.0.contains(&path(field, member)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selected(names: &[&str]) -> Selection {
        Selection::with(names.iter().flat_map(|name| paths_of(name).expect("a field")))
    }

    #[test]
    fn a_field_is_all_of_its_members_or_some() {
        let one = selected(&["deployment.blockNumber", "abi"]);
        assert_eq!(
            one.fields().collect::<Vec<_>>(),
            ["creationMatch", "runtimeMatch", "verifiedAt", "matchId", "deployment", "abi"]
        );
        assert_eq!(one.members("deployment").collect::<Vec<_>>(), ["blockNumber"]);
        let whole = selected(&["deployment", "deployment.deployer"]);
        assert_eq!(whole.members("deployment").count(), 4);
        assert!(!whole.has_members("abi") && !whole.has("abi"));
        for wrong in
            ["", "Abi", "abi.", "abi.x", "deployment.", "deployment.x", "deployment.blockNumber.x", "all", "match"]
        {
            assert_eq!(paths_of(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn omitted_fields_are_left_out_of_all() {
        let omitted =
            ["deployment.deployer", "sources", "verifiedAt"].iter().filter_map(|name| paths_of(name)).flatten();
        let rest = Selection::without(omitted);
        assert_eq!(
            rest.members("deployment").collect::<Vec<_>>(),
            ["transactionHash", "blockNumber", "transactionIndex"]
        );
        assert!(!rest.has("sources") && !rest.has("verifiedAt") && rest.has("proxyResolution"));
        assert_eq!(Selection::without([]).fields().count(), FIELDS.len());
    }
}
