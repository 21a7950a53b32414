//! The table of actions agrees with the page of the documentation, with the description of the API, and with itself.

use std::collections::BTreeSet;

use super::super::action::{Action, Work};
use super::super::params::all as parameters;
use super::super::params::parameter::{OF_EVERY_ACTION, Parameter, Presence};
use super::super::proxy::Argument;
use super::all;
use super::groups::{PAGE, WINDOW};

const PAGE_OF_DOCS: &str = include_str!("../../../docs/reference/etherscan.md");
const DESCRIPTION: &str = include_str!(concat!(env!("OUT_DIR"), "/openapi.json"));

/// The cells of the rows of the table below a heading, without its head.
fn rows(heading: &str) -> Vec<Vec<&'static str>> {
    let section = PAGE_OF_DOCS.split(heading).nth(1).unwrap_or_else(|| panic!("no heading {heading}"));
    let section = section.split("\n## ").next().unwrap_or_default();
    let lines = section.lines().filter(|line| line.starts_with('|')).skip(2);
    lines.map(|line| line.trim_matches('|').split('|').map(str::trim).collect()).collect()
}

/// The words of a cell that stand between backticks.
fn names(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// A parameter as the page writes it.
fn written(parameter: &Parameter) -> String {
    let names: Vec<String> = [parameter.name].iter().chain(parameter.aliases).map(|name| format!("`{name}`")).collect();
    let names = names.join("/");
    match parameter.presence {
        Presence::Required => format!("**{names}**"),
        Presence::Optional => names,
        Presence::WithoutEffect => format!("({names})"),
    }
}

/// The parameters of an action as the page writes them.
fn cell(action: &Action) -> String {
    let of_group = |group: &&[Parameter]| match *group {
        WINDOW => "[blocks and page](#lists)".to_owned(),
        PAGE => "[page](#lists)".to_owned(),
        group => group.iter().map(written).collect::<Vec<_>>().join(", "),
    };
    action.parameters.iter().map(of_group).collect::<Vec<_>>().join(", ")
}

fn is_refused(action: &&Action) -> bool {
    matches!(action.work, Work::Refuse(_))
}

#[test]
fn actions_and_their_parameters_are_those_of_the_page() {
    let listed: BTreeSet<(String, String, String)> = rows("\n## Actions\n")
        .iter()
        .flat_map(|row| names(row[1]).into_iter().map(|name| (row[0].replace('`', ""), name.into(), row[2].into())))
        .collect();
    let served: BTreeSet<_> = all()
        .filter(|action| !is_refused(action))
        .map(|action| (action.module.to_owned(), action.name.to_owned(), cell(action)))
        .collect();
    let (absent, other): (Vec<_>, Vec<_>) =
        (served.difference(&listed).collect(), listed.difference(&served).collect());
    assert!(absent.is_empty() && other.is_empty(), "not on the page: {absent:#?}\nonly on the page: {other:#?}");
    let list: BTreeSet<&str> = rows("\n## Lists\n").iter().flat_map(|row| names(row[0])).collect();
    let window: BTreeSet<&str> =
        WINDOW.iter().flat_map(|one| [one.name].into_iter().chain(one.aliases.iter().copied())).collect();
    assert_eq!(list, window);
}

#[test]
fn refused_actions_and_their_reasons_are_those_of_the_page() {
    let listed: BTreeSet<(String, &str, &str)> = rows("\n## Refused actions\n")
        .iter()
        .flat_map(|row| names(row[1]).into_iter().map(|name| (row[0].replace('`', ""), name, row[2])))
        .collect();
    let refused: BTreeSet<_> = all()
        .filter_map(|action| match action.work {
            Work::Refuse(reason) => Some((action.module.to_owned(), action.name, reason)),
            _ => None,
        })
        .collect();
    assert_eq!(listed, refused);
}

#[test]
fn every_result_has_its_fields_on_the_page() {
    let listed: BTreeSet<String> =
        rows("\n## Fields\n").iter().flat_map(|row| names(row[0])).map(str::to_ascii_lowercase).collect();
    for action in all().filter(|action| matches!(action.work, Work::Read(_))) {
        assert!(listed.contains(&action.name.to_ascii_lowercase()), "{} {}", action.module, action.name);
    }
}

#[test]
fn names_are_unambiguous() {
    let mut actions = BTreeSet::new();
    for action in all() {
        assert!(actions.insert((action.module, action.name.to_ascii_lowercase())), "{} twice", action.name);
        assert!(action.module.bytes().all(|byte| byte.is_ascii_lowercase()), "{}", action.module);
        let mut taken: BTreeSet<String> = OF_EVERY_ACTION.iter().map(|name| (*name).to_owned()).collect();
        taken.extend(["module".to_owned(), "action".to_owned()]);
        for parameter in parameters(action.parameters) {
            for name in [parameter.name].iter().chain(parameter.aliases) {
                assert!(taken.insert(name.to_ascii_lowercase()), "{}: {name} twice", action.name);
            }
        }
    }
}

/// A call reads every parameter that its action takes, and no other.
#[test]
fn calls_read_what_their_actions_take() {
    for action in all() {
        let Work::Call(call) = &action.work else { continue };
        let read = call.arguments.iter().flat_map(|argument| match argument {
            Argument::Text(name) | Argument::Quantity(name) | Argument::Block(name) => vec![*name],
            Argument::IsFull => vec!["boolean"],
            Argument::CallObject => super::super::proxy::CALL.to_vec(),
        });
        let read: BTreeSet<&str> = read.chain(["id"]).collect();
        let effective = parameters(action.parameters).filter(|one| one.presence != Presence::WithoutEffect);
        let taken: BTreeSet<&str> = effective.map(|parameter| parameter.name).chain(["id"]).collect();
        assert_eq!(taken, read, "{}", action.name);
    }
}

#[test]
fn the_description_has_the_parameters_of_all_actions() {
    let mut taken: BTreeSet<&str> = ["module", "action", "apikey", "chainid"].into();
    for parameter in all().flat_map(|action| parameters(action.parameters)) {
        taken.extend([parameter.name].iter().chain(parameter.aliases));
    }
    let document: serde_json::Value = serde_json::from_str(DESCRIPTION).expect("JSON");
    for path in ["/api", "/v2/api"] {
        let parameters = document["paths"][path]["parameters"].as_array().expect("parameters of both methods");
        let described: BTreeSet<&str> = parameters
            .iter()
            .map(|parameter| {
                let reference = parameter["$ref"].as_str().map(|reference| reference.trim_start_matches('#'));
                let parameter = reference.map_or(Some(parameter), |pointer| document.pointer(pointer));
                parameter.and_then(|parameter| parameter["name"].as_str()).expect("a name")
            })
            .collect();
        assert_eq!(described, taken, "{path}");
    }
}
