//! Configuration files as commands get them: precedence, lists, and what is refused.

use clap::{Arg, ArgAction, value_parser};

use super::*;

fn command() -> Command {
    let own = Command::new("trawl-test").args([
        Arg::new("listen").long("listen").env("TRAWL_NO_SUCH_VARIABLE").default_value("1"),
        Arg::new("clickhouse_url").long("clickhouse-url"),
        Arg::new("only").long("only").action(ArgAction::SetTrue),
    ]);
    let limit = Arg::new("limit").long("limit").value_parser(value_parser!(u64));
    let urls = Arg::new("rpc_url").long("rpc-url").value_delimiter(',').required(true).num_args(1..);
    own.subcommand(Command::new("load").args([limit, urls]))
}

fn applied(text: &str) -> Result<ConfiguredCommand, String> {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), text).expect("written");
    apply(command(), "api", file.path()).map_err(|error| error.to_string())
}

#[test]
fn flags_win_over_a_file_which_wins_over_defaults() {
    let text = "[clickhouse]\nurl = 'http://db'\n[api]\nlisten = 7\nonly = true\n[engine]\nanything = 1\n";
    let ConfiguredCommand { command, flags } = applied(text).expect("a configuration");
    assert_eq!(flags.into_iter().collect::<Vec<_>>(), ["clickhouse-url", "listen", "only"]);
    let get = |arguments: &[&str]| {
        let matches = command.clone().get_matches_from([&["trawl-test"], arguments].concat());
        let text = |id: &str| matches.get_one::<String>(id).cloned().unwrap_or_default();
        (text("listen"), text("clickhouse_url"), matches.get_flag("only"))
    };
    assert_eq!(get(&[]), ("7".into(), "http://db".into(), true));
    assert_eq!(get(&["--listen", "9"]), ("9".into(), "http://db".into(), true));
}

#[test]
fn settings_of_subcommands_may_be_lists_and_may_be_required() {
    let ConfiguredCommand { command, .. } =
        applied("[api]\nrpc-url = ['http://a', 'http://b']\nlimit = 5\n").expect("good");
    let matches = command.get_matches_from(["trawl-test", "load"]);
    let (_, of_load) = matches.subcommand().expect("load");
    let urls: Vec<&str> = of_load.get_many::<String>("rpc_url").expect("urls").map(String::as_str).collect();
    assert_eq!((urls, of_load.get_one("limit")), (vec!["http://a", "http://b"], Some(&5_u64)));
}

#[test]
fn what_is_no_setting_is_refused_by_its_name() {
    for (text, reason) in [
        ("[api]\nlisten_on = 1\n", "`api.listen_on`: there is no flag --listen_on"),
        ("[clickhouse]\npasword = 'x'\n", "there is no flag --clickhouse-pasword"),
        ("listen = 1\n", "has `listen`: it may have the tables clickhouse, api, ingest, engine"),
        ("[apis]\n", "has `apis`"),
        ("[api]\nlisten = { a = 1 }\n", "to a table"),
        ("[api]\nconfig-file = 'other.toml'\n", "there is no flag --config-file"),
        ("[api\n", "is no TOML"),
    ] {
        let error = applied(text).expect_err(text);
        assert!(error.contains(reason), "{error}");
    }
    let missing = apply(command(), "api", Path::new("/nowhere/trawl.toml")).expect_err("no file");
    assert!(missing.to_string().contains("cannot be read"), "{missing}");
}

#[test]
fn the_file_is_that_of_the_flag() {
    let of = |arguments: &[&str]| file_of(&arguments.iter().map(OsString::from).collect::<Vec<_>>());
    assert_eq!(of(&["trawl-api", "--config-file", "a.toml"]), Some("a.toml".into()));
    assert_eq!(of(&["trawl-api", "load", "--config-file=b.toml"]), Some("b.toml".into()));
    assert_eq!(of(&["trawl-api", "--config-file"]), None);
}
