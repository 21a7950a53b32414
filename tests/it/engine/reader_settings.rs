//! Settings in the statements of a reader: harmless ones work in any of them, and nothing lifts a limit, by whatever
//! spelling.

use std::sync::OnceLock;

use anyhow::ensure;
use url::form_urlencoded;
use xtask::http::{self, Answer};

use crate::env;

/// An engine with a reader of 20 s, 200 MB, 3 threads and 1,000 rows.
fn engine() -> &'static str {
    static ENGINE: OnceLock<String> = OnceLock::new();
    ENGINE.get_or_init(|| {
        let folder = env::directory().expect("a folder").keep();
        let user = ["--reader-user", "ana", "--reader-password", "secret", "--reader-databases", "default"];
        let limits = ["--reader-timeout", "20s", "--reader-memory", "200MB", "--reader-threads", "3"];
        let result = ["--reader-result-rows", "1000", "--reader-result-bytes", "1MB"];
        let server = env::start_engine(&folder, 0, &[&user[..], &limits, &result].concat()).expect("the engine starts");
        let url = server.url.clone();
        env::keep(server);
        url
    })
}

fn as_reader(sql: &str, fields: &[(&str, &str)]) -> anyhow::Result<Answer> {
    let fields = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
    http::post(&http::agent(), &format!("{}/?user=ana&password=secret&{fields}", engine()), sql.as_bytes())
}

#[test]
fn harmless_ones_work_in_any_statement() -> anyhow::Result<()> {
    let blocks = "uniqExact(blockNumber())";
    for (sql, expected) in [
        (format!("SELECT {blocks} > 3 FROM numbers(100) SETTINGS max_block_size = 10"), "1\n"),
        (format!("(SELECT {blocks} > 3 FROM numbers(100) SETTINGS max_block_size = 10)"), "1\n"),
        (format!("SELECT {blocks} > 3 FROM numbers(100) FORMAT CSV SETTINGS max_block_size = 10;"), "1\n"),
        (format!("SELECT {blocks} > 3 FROM numbers(100)/**/sEtTiNgS/**/`max_block_size`=10 -- x"), "1\n"),
        (format!("SELECT {blocks} > 3 FROM numbers(100) SETTINGS \"max_block_size\" = '10'"), "1\n"),
        (
            format!(
                "SELECT {blocks} > 3 FROM numbers(100) SETTINGS extremes = 0 FORMAT TSV SETTINGS max_block_size = 10"
            ),
            "1\n",
        ),
        (
            format!(
                "SELECT {blocks} > 3 FROM (SELECT * FROM numbers(100) SETTINGS max_threads = 2) SETTINGS max_block_size = 10"
            ),
            "1\n",
        ),
        ("SELECT getSetting('max_threads') SETTINGS max_threads = 2".into(), "2\n"),
        (
            "SELECT getSetting('max_execution_time') SETTINGS max_execution_time = 5, max_memory_usage = 1000000"
                .into(),
            "5\n",
        ),
        ("SELECT sum(number) FROM numbers(10) SETTINGS limit = 5, final = true".into(), "45\n"),
        ("SELECT count() FROM (SELECT number FROM numbers(10) SETTINGS limit = 4)".into(), "4\n"),
        (
            "SELECT toDateTime(0, 'UTC') FORMAT TSV SETTINGS date_time_output_format = 'iso'".into(),
            "1970-01-01T00:00:00Z\n",
        ),
        (
            "SELECT (1) AS a FORMAT JSONEachRow SETTINGS output_format_json_quote_64bit_integers = 1".into(),
            "{\"a\":1}\n",
        ),
        ("SELECT if(1, NULL, 1) FORMAT CSV SETTINGS format_csv_null_representation = 'it''s'".into(), "it's\n"),
        (
            "WITH x AS (SELECT 1 AS a SETTINGS max_block_size = 10) SELECT count() FROM x SETTINGS max_threads = 1"
                .into(),
            "1\n",
        ),
        ("DESCRIBE (SELECT count() AS a) SETTINGS describe_compact_output = 1".into(), "a\tUInt64\n"),
        ("SELECT count() FROM numbers(1) UNION DISTINCT (SELECT 1 SETTINGS max_block_size = 10)".into(), "1\n"),
        ("SELECT count() AS settings FROM numbers(1) SETTINGS max_block_size = 10".into(), "1\n"),
    ] {
        let answer = as_reader(&sql, &[])?;
        ensure!(answer.status == 200 && answer.text() == expected, "{sql}: {} {}", answer.status, answer.text());
    }
    let explained = as_reader("EXPLAIN SELECT count() FROM numbers(10) SETTINGS max_block_size = 3", &[])?;
    ensure!(explained.status == 200, "{}", explained.text());
    Ok(())
}

/// The text counts more than a parameter, and neither more than the limits.
#[test]
fn order_is_read_without_buffers_by_default() -> anyhow::Result<()> {
    let sql = "SELECT getSetting('read_in_order_use_buffering')";
    ensure!(as_reader(sql, &[])?.text() == "false\n", "{:?}", as_reader(sql, &[])?.text());
    for (sql, fields) in [
        (format!("{sql} SETTINGS read_in_order_use_buffering = 1"), vec![]),
        (sql.into(), vec![("read_in_order_use_buffering", "1")]),
    ] {
        let answer = as_reader(&sql, &fields)?.text();
        ensure!(answer == "true\n", "{sql} {fields:?}: {answer}");
    }
    Ok(())
}

#[test]
fn limits_are_lowered_and_never_raised() -> anyhow::Result<()> {
    let get = |name: &str| format!("SELECT toUInt64(getSetting('{name}'))");
    for (name, most) in [
        ("max_execution_time", "20"),
        ("max_memory_usage", "200000000"),
        ("max_threads", "3"),
        ("max_result_rows", "1000"),
        ("max_result_bytes", "1000000"),
    ] {
        for beyond in ["0", "100000000000", "-1", "1e18", "'0'", "DEFAULT", "{a:UInt64}", "2.5", "true", "NULL"] {
            let clause = format!("SETTINGS {name} = {beyond}");
            for sql in [
                format!("{} {clause}", get(name)),
                format!("SELECT * FROM ({} {clause})", get(name)),
                format!("({} {clause})", get(name)),
                format!("{} {clause} UNION ALL SELECT 1", get(name)),
                format!("SELECT 1 UNION ALL {} {clause}", get(name)),
                format!("WITH x AS ({} {clause}) SELECT * FROM x", get(name)),
                format!("{} SETTINGS max_block_size = 10, {name} = {beyond}", get(name)),
                format!("{} SETTINGS max_block_size = 10/*, */,/* = 1 */`{name}` = {beyond}", get(name)),
                format!("{} FORMAT TSV {clause}", get(name)),
                format!("EXPLAIN {} {clause}", get(name)),
                format!("SELECT * FROM view({} {clause})", get(name)),
                format!("SELECT * FROM viewIfPermitted({} {clause} ELSE null('a UInt8'))", get(name)),
                format!("SELECT ({} {clause})", get(name)),
                format!("SELECT 1 IN ({} {clause})", get(name)),
                format!("{} {clause} SETTINGS {name} = 1", get(name)),
            ] {
                let answer = as_reader(&sql, &[("param_a", "0")])?;
                let code = answer.header("x-clickhouse-exception-code");
                ensure!(["452", "62", "497"].contains(&code), "{sql}: {code} {}", answer.text());
            }
        }
        for (given, in_text, expected) in [("0", "", most), ("99999999999", "", most), ("1", "", "1"), ("0", "2", "2")]
        {
            let clause = if in_text.is_empty() { String::new() } else { format!(" SETTINGS {name} = {in_text}") };
            let answer = as_reader(
                &format!("{}{clause} FORMAT TSV SETTINGS max_block_size = 100", get(name)),
                &[(name, given)],
            )?;
            let is_lowered = answer.text().trim_end() == expected
                || ["241", "396"].contains(&answer.header("x-clickhouse-exception-code"));
            ensure!(is_lowered, "{name} = {given}, {in_text}: {}", answer.text());
        }
    }
    Ok(())
}

#[test]
fn others_are_refused_wherever_they_stand() -> anyhow::Result<()> {
    for setting in [
        "readonly = 0",
        "timeout_overflow_mode = 'break'",
        "compatibility = '20.1'",
        "allow_introspection_functions = 1",
        "log_comment = 'x'",
        "user_files_path = '/'",
        "output_format_schema = '/x'",
        "input_format_record_errors_file_path = 'x'",
        "replace_running_query = 1",
        "use_query_cache = 1",
        "s3_allow_server_credentials_in_user_queries = 1",
        "SQL_x = 1",
        "merge_tree.max_parts_in_total = 1",
    ] {
        for sql in [
            "SELECT count() FROM numbers(1) SETTINGS X",
            "SELECT dummy FROM system.one SETTINGS X",
            "SELECT * FROM (SELECT dummy FROM system.one SETTINGS X)",
            "SELECT * FROM (SELECT * FROM (SELECT dummy FROM system.one SETTINGS max_block_size = 1, X))",
            "SELECT 1 SETTINGS X UNION ALL SELECT 2",
            "SELECT 1 UNION ALL SELECT 2 SETTINGS X",
            "SELECT 1 INTERSECT (SELECT 2 SETTINGS max_threads = 1, X)",
            "SELECT 1 FORMAT CSV SETTINGS X",
            "SELECT 1 SETTINGS max_threads = 1 FORMAT CSV SETTINGS max_block_size = 1, X",
            "WITH x AS (SELECT 1 SETTINGS X) SELECT * FROM x SETTINGS max_threads = 1",
            "SELECT 1 /* SETTINGS a = 1 */ SETTINGS/**/max_threads = 1 -- , \n , X",
            "SELECT 1 # SETTINGS\nSETTINGS X",
            "SELECT 1 \u{a0}SETTINGS\u{3000}X",
            "DESCRIBE TABLE system.one SETTINGS X",
            "SHOW TABLES SETTINGS X",
            "EXPLAIN PLAN SELECT (1) SETTINGS X",
            "EXPLAIN SYNTAX SELECT 1 SETTINGS X",
            "SELECT * FROM view(SELECT 1 SETTINGS X)",
            "SELECT arrayJoin((SELECT [1] SETTINGS X)) SETTINGS max_threads = 1",
        ] {
            let sql = sql.replace('X', setting);
            let answer = as_reader(&sql, &[])?;
            let code = answer.header("x-clickhouse-exception-code");
            // 62: not a statement to the engine.
            ensure!(answer.status >= 400 && ["164", "62"].contains(&code), "{sql}: {code} {}", answer.text());
        }
    }
    let refusal = as_reader("SELECT 1 SETTINGS timeout_overflow_mode = 'break'", &[])?.text();
    ensure!(
        refusal.contains("'timeout_overflow_mode'") && refusal.contains("as a parameter of the request"),
        "{refusal}"
    );
    for (name, value) in [
        ("compatibility", "20.1"),
        ("replace_running_query", "1"),
        ("os_thread_priority", "-20"),
        ("os_threads_nice_value_query", "-20"),
        ("reserve_memory", "1000000000"),
        ("apply_settings_from_server", "0"),
    ] {
        let answer = as_reader("SELECT 1", &[(name, value)])?;
        ensure!(answer.header("x-clickhouse-exception-code") == "164", "{name}: {}", answer.text());
    }
    Ok(())
}

/// What a statement of a reader uses ends at its limits, also where its settings say that it should go on.
#[test]
fn a_result_has_a_size() -> anyhow::Result<()> {
    let wide = as_reader("SELECT repeat(toString(number), 100000) FROM numbers(100)", &[("wait_end_of_query", "1")])?;
    ensure!(wide.header("x-clickhouse-exception-code") == "396", "{} {}", wide.status, wide.body.len());
    let long = as_reader("SELECT number FROM numbers(5000)", &[("wait_end_of_query", "1")])?;
    ensure!(long.header("x-clickhouse-exception-code") == "396", "{}", long.status);
    let cut = as_reader(
        "SELECT number FROM numbers(5000) SETTINGS result_overflow_mode = 'break', max_result_rows = 10, max_block_size = 10",
        &[],
    )?;
    ensure!(cut.status == 200 && cut.text().lines().count() <= 20, "{}", cut.text());
    Ok(())
}

/// Some names are harmless by their beginning: a library that brings one that names a file or a server has to be looked
/// at.
#[test]
fn no_setting_of_a_harmless_kind_reaches_out() -> anyhow::Result<()> {
    let kinds = "^(optimize_|query_plan_|output_format_|format_csv_|format_tsv_|format_custom_)";
    let reaches = "file|url|path|schema|command|disk|host|server|table_filters|query_cache";
    let sql = format!(
        "SELECT name FROM system.settings WHERE match(name, '{kinds}') AND match(name, '{reaches}') ORDER BY name"
    );
    let found = http::post(&http::agent(), engine(), sql.as_bytes())?.text();
    // Counting rows of files needs a file; rows in a file are of the answer itself; the schema is refused.
    let known = "optimize_count_from_files\noutput_format_avro_rows_in_file\noutput_format_schema\n";
    ensure!(found == known, "{found}");
    Ok(())
}
