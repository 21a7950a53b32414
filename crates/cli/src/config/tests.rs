//! Configuration files as commands get them: sections, lists, and what is refused.

use super::*;

fn command() -> Command {
    let flag = |name: &'static str, variable: &'static str| Arg::new(name).long(name).env(variable);
    let own = Command::new("trawl-test").args([
        flag("listen", "TRAWL_TEST_LISTEN"),
        flag("clickhouse-url", "TRAWL_TEST_URL"),
        flag("only", "TRAWL_TEST_ONLY").action(ArgAction::SetTrue),
        flag("with-more", "TRAWL_TEST_WITH_MORE").action(ArgAction::SetTrue),
        Arg::new("without").long("without"),
    ]);
    let urls = flag("rpc-url", "TRAWL_TEST_RPC_URL").value_delimiter(',').required(true).num_args(1..);
    own.subcommands(
        ["load", "follow"].map(|name| Command::new(name).args([urls.clone(), flag("limit", "TRAWL_TEST_LIMIT")])),
    )
}

fn settings_of(text: &str, section: &str) -> Result<Vec<(String, String, String)>, String> {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), text).expect("written");
    let found = settings(&command(), section, file.path()).map_err(|error| error.to_string())?;
    let parts = |of: Setting| (of.flag, of.variable.to_string_lossy().into_owned(), of.value);
    Ok(found.into_iter().map(parts).collect())
}

fn setting(flag: &str, variable: &str, value: &str) -> (String, String, String) {
    (flag.into(), variable.into(), value.into())
}

#[test]
fn a_program_reads_its_table_and_that_of_clickhouse() {
    let text =
        "[clickhouse]\nurl = 'http://db'\n[api]\nlisten = 7\nonly = true\nwith-more = false\n[engine]\nlisten = 1\n";
    let expected = [
        setting("listen", "TRAWL_TEST_LISTEN", "7"),
        setting("only", "TRAWL_TEST_ONLY", "true"),
        setting("clickhouse-url", "TRAWL_TEST_URL", "http://db"),
    ];
    assert_eq!(settings_of(text, "api").expect("good"), expected);
    assert_eq!(settings_of(text, "engine").expect("good"), [setting("listen", "TRAWL_TEST_LISTEN", "1")]);
}

#[test]
fn flags_of_subcommands_may_be_lists() {
    let text = "[api]\nrpc-url = ['http://a', 'http://b']\nlimit = 5\n";
    let expected =
        [setting("limit", "TRAWL_TEST_LIMIT", "5"), setting("rpc-url", "TRAWL_TEST_RPC_URL", "http://a,http://b")];
    assert_eq!(settings_of(text, "api").expect("good"), expected);
}

#[test]
fn what_is_no_setting_is_refused_by_its_name() {
    for (text, reason) in [
        ("[api]\nlisten_on = 1\n", "`api.listen_on`: there is no flag --listen_on"),
        ("[api]\nwithout = 'logs'\n", "there is no flag --without with an environment variable"),
        ("[clickhouse]\npasword = 'x'\n", "there is no flag --clickhouse-pasword"),
        (
            "listen = 1\n",
            "has `listen` at the top level, where only these tables are allowed: clickhouse, api, ingest, engine",
        ),
        ("[apis]\n", "has `apis`"),
        ("[api]\nlisten = { a = 1 }\n", "a value of type table"),
        ("[api]\nlisten = [1, 2]\n", "a value of type array"),
        ("[api]\nconfig-file = 'other.toml'\n", "there is no flag --config-file"),
        ("[api\n", "is not valid TOML"),
    ] {
        let error = settings_of(text, "api").expect_err(text);
        assert!(error.contains(reason), "{error}");
    }
    let missing = settings(&command(), "api", Path::new("/nowhere/trawl.toml")).expect_err("no file");
    assert!(missing.to_string().contains("cannot be read"), "{missing}");
}

#[test]
fn the_file_is_that_of_the_flag() {
    let of = |arguments: &[&str]| file_of(&arguments.iter().map(OsString::from).collect::<Vec<_>>());
    assert_eq!(of(&["trawl-api", "--config-file", "a.toml"]), Some("a.toml".into()));
    assert_eq!(of(&["trawl-api", "load", "--config-file=b.toml"]), Some("b.toml".into()));
    assert_eq!(of(&["trawl-api", "--config-file"]), None);
}
