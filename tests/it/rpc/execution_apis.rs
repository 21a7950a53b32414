//! The specification's own transcripts, a test each; `rpc::every_transcript_is_listed` holds the list complete.

#![expect(non_snake_case, reason = "methods are called so")]

listed! {
    crate::rpc::recorded;
    eth_blockNumber {
        simple_test
    }
    eth_chainId {
        get_chain_id
    }
    eth_syncing {
        check_syncing
    }
    eth_getLogs {
        contract_addr
        filter_error_fully_future_block_range
        filter_error_future_block_range
        filter_error_future_block_to_latest
        filter_error_invalid_blockHash_and_range
        filter_with_blockHash
        filter_with_blockHash_and_topics
        topic_exact_match
        topic_null_wildcard
    }
    eth_getBlockByNumber {
        get_block_cancun_fork
        get_block_london_fork
        get_block_merge_fork
        get_block_notfound
        get_block_prague_fork
        get_finalized
        get_genesis
        get_latest
        get_safe
    }
    eth_getBlockByHash {
        get_block_by_hash
        get_block_by_notfound_hash
    }
    eth_getBlockTransactionCountByNumber {
        get_genesis
    }
    eth_getBlockTransactionCountByHash {
        get_block_n
        get_genesis
    }
    eth_getBlockReceipts {
        get_block_receipts_0
        get_block_receipts_empty
        get_block_receipts_future
        get_block_receipts_latest
        get_block_receipts_n
        get_block_receipts_not_found
    }
    eth_getTransactionByHash {
        get_blob_tx
        get_dynamic_fee
        get_empty_tx
        get_legacy_create
        get_legacy_input
        get_legacy_tx
        get_notfound_tx
        get_setcode_tx
    }
    eth_getTransactionByBlockHashAndIndex {
        get_block_n
    }
    eth_getTransactionReceipt {
        get_access_list
        get_dynamic_fee
        get_empty_tx
        get_legacy_contract
        get_legacy_receipt
        get_notfound_tx
        get_setcode_tx
    }
    eth_getBalance {
        get_balance_block_number_object
        get_balance_blockhash
        get_balance_default_block
        get_balance_unknown_account
    }
    eth_getTransactionCount {
        get_nonce
        get_nonce_default_block
        get_nonce_eip7702_account
        get_nonce_unknown_account
    }
    eth_getCode {
        get_code_default_block
        get_code_eip7702_delegation
        get_code_unknown_account
    }
    eth_getStorageAt {
        get_storage
        get_storage_default_block
        get_storage_invalid_key_too_large
        get_storage_unknown_account
    }
    eth_call {
        call_blob_fee_without_hashes
        call_callenv
        call_contract
        call_eip7702_delegation
        call_fork_inactive_access_list
        call_fork_inactive_authorization_list
        call_fork_inactive_blob_fee
        call_fork_inactive_blob_hashes
        call_fork_inactive_fee_fields_zero
        call_gas_price_before_london
        call_omitted_block
        call_revert_abi_error
        call_revert_abi_panic
        call_type_access_list_before_berlin
        call_type_legacy_with_access_list
        call_type_legacy_with_fee_fields
        call_type_unknown
        call_unfunded_sender
    }
    eth_estimateGas {
        estimate_call_abi_error
        estimate_fork_inactive_blob_fee
        estimate_simple_transfer
        estimate_successful_call
        estimate_unfunded_sender
        estimate_with_eip4844
        estimate_with_eip7702
    }
    eth_createAccessList {
        create_al_abi_revert
        create_al_contract
        create_al_fork_inactive
        create_al_unfunded_sender
        create_al_value_transfer
    }
    debug_traceTransaction {
        trace_contract_call
        trace_legacy_transfer
        trace_unknown_tx
    }
    debug_traceBlockByNumber {
        trace_block_invalid_number
        trace_genesis
    }
    debug_traceBlockByHash {
        trace_block_not_found
        trace_genesis
    }
    eth_config {
        get_config
    }
    eth_capabilities {
        get_capabilities
    }
    eth_blobBaseFee {
        get_current_blobfee
    }
    eth_getStorageValues {
        get_storage_values_empty_request
        get_storage_values_unknown_account
    }
    txpool_contentFrom {
        get_content_from_address
    }
    debug_getRawHeader {
        get_invalid_number
    }
    debug_getRawBlock {
        get_block_n
        get_invalid_number
    }
    debug_getRawReceipts {
        get_block_n
        get_genesis
        get_invalid_number
    }
    debug_getRawTransaction {
        get_invalid_hash
        get_notfound_tx
    }
    eth_simulateV1 {
        ethSimulate_basefee_too_low_with_validation_38012
        ethSimulate_basefee_too_low_without_validation_38012
        ethSimulate_block_num_order_38020
        ethSimulate_block_override_reflected_in_contract_simple
        ethSimulate_block_timestamp_auto_increment
        ethSimulate_block_timestamp_non_increment
        ethSimulate_block_timestamps_incrementing
        ethSimulate_check_that_nonce_increases
        ethSimulate_contract_calls_itself
        ethSimulate_empty_ethSimulate
        ethSimulate_empty_with_block_num_set_plus1
        ethSimulate_eth_send_should_not_produce_logs_on_revert
        ethSimulate_eth_send_should_produce_logs
        ethSimulate_extcodehash_existing_contract
        ethSimulate_extcodehash_override
        ethSimulate_gas_fees_and_value_error_38014_with_validation
        ethSimulate_move_ecrecover_and_call
        ethSimulate_move_to_address_itself_reference_38022
        ethSimulate_move_two_non_precompiles_accounts_to_same
        ethSimulate_only_from_to_transaction
        ethSimulate_overflow_nonce_validation
        ethSimulate_override_all_in_BlockStateCalls
        ethSimulate_override_code_replaced_by_create
        ethSimulate_override_code_replaced_by_delegation
        ethSimulate_override_delegation_replaced_by_redelegation
        ethSimulate_override_ecrecover
        ethSimulate_override_empties_contract_keeps_storage
        ethSimulate_override_empties_delegated_account_keeps_storage
        ethSimulate_override_empty_account_exists
        ethSimulate_override_empty_account_exists_across_blocks
        ethSimulate_override_precompile_code_without_move
        ethSimulate_override_state_clears_existing_storage
        ethSimulate_override_storage_slots
        ethSimulate_run_gas_spending
        ethSimulate_run_out_of_gas_in_block_38015
        ethSimulate_send_eth_and_delegate_call_to_eoa
        ethSimulate_send_eth_and_delegate_call_to_payble_contract
        ethSimulate_simple
        ethSimulate_simple_more_params_validate
        ethSimulate_simple_no_funds_with_validation_without_nonces
        ethSimulate_simple_state_diff
        ethSimulate_simple_validation_fulltx
        ethSimulate_simple_with_validation_no_funds
        ethSimulate_transaction_too_high_nonce
        ethSimulate_transfer_over_BlockStateCalls
        ethSimulate_try_to_move_non_precompile
    }
}
