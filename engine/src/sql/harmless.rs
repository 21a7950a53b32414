//! Settings that a reader may give in the text of a statement; knows no values.
//!
//! The engine applies what a sub-query's SETTINGS say without a look at `readonly`, so a text may hold only what is
//! listed here: names that change how an answer is worked out or written, and those that hold a statement to less.

/// Names, in the order of what they are about.
const NAMES: [&str; 86] = [
    // The reader's limits: `ReaderLimits` refuses more than they are.
    "max_execution_time",
    "max_memory_usage",
    "max_temporary_data_on_disk_size_for_query",
    "max_rows_to_read",
    "max_bytes_to_read",
    "max_result_rows",
    "max_result_bytes",
    "max_threads",
    // Limits that a statement has not unless it asks for them.
    "limit",
    "offset",
    "max_rows_to_group_by",
    "max_rows_to_sort",
    "max_bytes_to_sort",
    "max_rows_in_distinct",
    "max_bytes_in_distinct",
    "max_rows_in_join",
    "max_bytes_in_join",
    "max_rows_in_set",
    "max_bytes_in_set",
    "result_overflow_mode",
    "read_overflow_mode",
    "group_by_overflow_mode",
    "sort_overflow_mode",
    "distinct_overflow_mode",
    "join_overflow_mode",
    "set_overflow_mode",
    // When to go on in temporary files, which are limited.
    "max_bytes_before_external_group_by",
    "max_bytes_before_external_sort",
    "max_bytes_before_external_join",
    "max_bytes_ratio_before_external_group_by",
    "max_bytes_ratio_before_external_sort",
    "max_bytes_ratio_before_external_join",
    // What a statement means.
    "final",
    "extremes",
    "totals_mode",
    "totals_auto_threshold",
    "union_default_mode",
    "except_default_mode",
    "intersect_default_mode",
    "transform_null_in",
    "join_algorithm",
    "join_use_nulls",
    "join_default_strictness",
    "join_any_take_last_row",
    "any_join_distinct_right_table_keys",
    "group_by_use_nulls",
    "aggregate_functions_null_for_empty",
    "empty_result_for_aggregation_by_empty_set",
    "count_distinct_implementation",
    "enable_positional_arguments",
    "enable_order_by_all",
    "prefer_column_name_to_alias",
    "asterisk_include_alias_columns",
    "asterisk_include_materialized_columns",
    "cast_keep_nullable",
    "decimal_check_overflow",
    "short_circuit_function_evaluation",
    "session_timezone",
    "describe_compact_output",
    "describe_include_subcolumns",
    "describe_include_virtual_columns",
    // How it is worked out.
    "max_block_size",
    "preferred_block_size_bytes",
    "preferred_max_column_in_block_size_bytes",
    "group_by_two_level_threshold",
    "group_by_two_level_threshold_bytes",
    "compile_expressions",
    "compile_aggregate_expressions",
    "compile_sort_description",
    "read_in_order_use_buffering",
    "do_not_merge_across_partitions_select_final",
    "use_skip_indexes",
    "use_skip_indexes_if_final",
    "use_query_condition_cache",
    "use_primary_key",
    "use_partition_pruning",
    "use_uncompressed_cache",
    "force_primary_key",
    "force_index_by_date",
    "force_data_skipping_indices",
    "ignore_data_skipping_indices",
    // How it is written.
    "date_time_output_format",
    "interval_output_format",
    "bool_true_representation",
    "bool_false_representation",
    "print_pretty_type_names",
];

/// Beginnings of names that are all of one kind: how plans are made, and how formats write.
const BEGINNINGS: [&str; 6] =
    ["optimize_", "query_plan_", "output_format_", "format_csv_", "format_tsv_", "format_custom_"];

/// Beginnings of names among them that say how long a plan may be looked for, which no limit ends, and what names a
/// file.
const EXCEPT: [&str; 3] = ["query_plan_optimize_join_order", "query_plan_max_", "output_format_schema"];

/// Whether a reader may give the setting `name` in the text of a statement.
#[must_use]
pub fn is_harmless(name: &str) -> bool {
    let begins = |beginning: &&str| name.starts_with(beginning);
    NAMES.contains(&name) || (BEGINNINGS.iter().any(begins) && !EXCEPT.iter().any(begins))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_of_a_harmless_kind_is_harmless() {
        for name in ["max_threads", "output_format_json_quote_64bit_integers", "optimize_read_in_order"] {
            assert!(is_harmless(name), "{name}");
        }
        for name in ["readonly", "output_format_schema", "query_plan_optimize_join_order_limit", "Max_threads", ""] {
            assert!(!is_harmless(name), "{name}");
        }
    }
}
