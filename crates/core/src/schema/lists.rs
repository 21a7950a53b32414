//! Rows within rows: the lists that typed transactions carry.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, StructArray};
use arrow::datatypes::{DataType, Field, Fields};

use super::Column;
use crate::primitives::{Address, B256, Bytes, U256};

/// Declares a struct that a column stores as a named tuple.
macro_rules! tuple_column {
    ($(#[$meta:meta])* pub struct $Name:ident / $View:ident / $Builder:ident {
        $($(#[$field_meta:meta])* $name:ident: $type:ty,)*
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $Name {
            $($(#[$field_meta])* pub $name: $type,)*
        }

        #[doc = concat!("Columns of [`", stringify!($Name), "`].")]
        #[derive(Debug)]
        pub struct $View<'a> {
            $($name: <$type as Column>::View<'a>,)*
        }

        #[doc = concat!("Collects values of [`", stringify!($Name), "`].")]
        #[derive(Debug, Default)]
        pub struct $Builder {
            $($name: <$type as Column>::Builder,)*
        }

        impl $Name {
            fn fields() -> Fields {
                vec![$(Field::new(stringify!($name), <$type as Column>::arrow_type(), <$type as Column>::is_nullable())),*].into()
            }
        }

        impl Column for $Name {
            type Builder = $Builder;
            type View<'a> = $View<'a>;
            type Item<'a> = $Name;

            fn clickhouse_type() -> String {
                let fields = [$(format!("{} {}", stringify!($name), <$type as Column>::clickhouse_type())),*];
                format!("Tuple({})", fields.join(", "))
            }
            fn arrow_type() -> DataType {
                DataType::Struct(Self::fields())
            }
            fn append(builder: &mut Self::Builder, value: Self) {
                $(<$type as Column>::append(&mut builder.$name, value.$name);)*
            }
            fn append_default(builder: &mut Self::Builder) {
                $(<$type as Column>::append_default(&mut builder.$name);)*
            }
            fn finish(builder: Self::Builder) -> ArrayRef {
                Arc::new(StructArray::new(Self::fields(), vec![$(<$type as Column>::finish(builder.$name)),*], None))
            }
            fn view(array: &dyn Array) -> Option<Self::View<'_>> {
                let fields = array.as_struct_opt()?;
                Some($View { $($name: <$type as Column>::view(fields.column_by_name(stringify!($name))?.as_ref())?,)* })
            }
            fn get<'a>(view: &Self::View<'a>, row: usize) -> Self::Item<'a> {
                $Name { $($name: <$type as Column>::own(<$type as Column>::get(&view.$name, row)),)* }
            }
            fn own(item: Self::Item<'_>) -> Self {
                item
            }
        }
    };
}

tuple_column! {
    /// One contract of an EIP-2930 access list.
    pub struct AccessListItem / AccessListView / AccessListBuilder {
        /// Account whose access is announced.
        address: Address,
        /// Slots of the account whose access is announced; 32 bytes each.
        storage_keys: Vec<B256>,
    }
}

tuple_column! {
    /// One EIP-7702 authorization.
    pub struct Authorization / AuthorizationView / AuthorizationBuilder {
        /// Chain it is for; 0 for any.
        chain_id: U256,
        /// Code to delegate to.
        address: Address,
        /// Nonce of the authority.
        nonce: u64,
        /// Parity of the y coordinate of the signature's point: 0 or 1.
        y_parity: u8,
        /// `r` of the signature on secp256k1.
        r: U256,
        /// `s` of the signature on secp256k1.
        s: U256,
    }
}

tuple_column! {
    /// A check that applies to a block and could not run.
    pub struct NotCheckable / NotCheckableView / NotCheckableBuilder {
        /// Name of the check.
        check: String,
        /// Why it could not run.
        reason: String,
    }
}

tuple_column! {
    /// Consecutive blocks of one branch in the hot tables.
    pub struct Segment / SegmentView / SegmentBuilder {
        /// First block, inclusive.
        first_block: u64,
        /// Last block, inclusive.
        last_block: u64,
        /// The generation of the rows: it grows each time a height is written again.
        generation: u64,
        /// The parts that each of the blocks has, as in `ingest_commits`.
        parts: Vec<String>,
    }
}

tuple_column! {
    /// A block with the rows of all its tables, as in `hot_rows`.
    pub struct PackedBlock / PackedBlockView / PackedBlockBuilder {
        /// Which writing of its height it is.
        generation: u64,
        /// Height of the block.
        block_number: u64,
        /// The rows, as [`super::packed::pack`] writes them.
        rows: Bytes,
    }
}

tuple_column! {
    /// How many rows of a table belong to a range of blocks.
    pub struct TableRows / TableRowsView / TableRowsBuilder {
        /// Name of the table.
        name: String,
        /// Rows of the whole range.
        rows: u64,
    }
}

tuple_column! {
    /// A commit that another replaces.
    pub struct ReplacedCommit / ReplacedCommitView / ReplacedCommitBuilder {
        /// Its first block.
        first_block: u64,
        /// Its last block, inclusive.
        last_block: u64,
        /// The run that wrote it.
        run: String,
    }
}

tuple_column! {
    /// Something that is wrong with following.
    pub struct ReportedProblem / ReportedProblemView / ReportedProblemBuilder {
        /// Its kind, as metrics name it.
        kind: String,
        /// The problem in words, for operators.
        detail: String,
        /// How long it had been so.
        age_ms: u64,
    }
}

tuple_column! {
    /// A payment for making a block.
    pub struct Reward / RewardView / RewardBuilder {
        /// `block` for its maker, `uncle` for the maker of one of its uncles.
        kind: String,
        /// Account that receives the amount.
        receiver: Address,
        /// Amount in wei.
        amount: U256,
    }
}
