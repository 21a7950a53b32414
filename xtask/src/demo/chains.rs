//! The chains of the demo: what they are called, and where their bundled blocks are.

/// A chain that the demo shows.
#[derive(Debug)]
pub struct Chain {
    /// Its name, as the API and the page have it.
    pub name: &'static str,
    /// The symbol of its coin, as they have it.
    pub coin: &'static str,
    /// Its id (EIP-155).
    pub id: u64,
    /// The database that it is loaded into.
    pub database: &'static str,
    /// Files of `tests/fixtures`, one block a line.
    pub dumps: &'static [&'static str],
    /// A block whose receipts are in a file of their own.
    pub parts: Option<BlockParts>,
}

/// Files of `tests/fixtures` with a block apart from its receipts.
#[derive(Debug)]
pub struct BlockParts {
    /// Blocks, among them the one of the receipts.
    pub blocks: &'static str,
    /// The receipts of one of them.
    pub receipts: &'static str,
}

/// The chains with real blocks in this repository (`tests/fixtures/README.md`): a database and an API each, in the
/// order of their ports.
pub const BUNDLED: &[Chain] = &[
    Chain { name: "Ethereum", coin: "ETH", id: 1, database: "trawl", dumps: &["mainnet/chain.ndjson.gz"], parts: None },
    Chain {
        name: "OP Mainnet",
        coin: "ETH",
        id: 10,
        database: "trawl_optimism",
        dumps: &["chains/optimism-10.ndjson"],
        parts: Some(BlockParts {
            blocks: "chains/prestates/blocks-without-receipts-10.ndjson.gz",
            receipts: "chains/prestates/receipts-109279675.json.gz",
        }),
    },
    Chain {
        name: "Arbitrum Sepolia",
        coin: "ETH",
        id: 421_614,
        database: "trawl_arbitrum_sepolia",
        dumps: &["chains/arbitrum-421614.ndjson", "chains/arbitrum-without-receipts-421614.ndjson"],
        parts: None,
    },
    Chain {
        name: "Polygon",
        coin: "POL",
        id: 137,
        database: "trawl_polygon",
        dumps: &["chains/polygon-137.ndjson"],
        parts: None,
    },
    Chain {
        name: "Gnosis",
        coin: "xDAI",
        id: 100,
        database: "trawl_gnosis",
        dumps: &["chains/gnosis-100.ndjson"],
        parts: None,
    },
    Chain {
        name: "Scroll",
        coin: "ETH",
        id: 534_352,
        database: "trawl_scroll",
        dumps: &["chains/scroll-534352.ndjson"],
        parts: None,
    },
];

/// The chain that the scenario makes on a node.
pub const SCENARIO: Chain =
    Chain { name: "anvil-hardhat", coin: "coins", id: 31_337, database: "trawl", dumps: &[], parts: None };

/// The same chain, which goes on beside the bundled ones.
pub const LIVE: Chain = Chain { name: "Live chain (anvil)", coin: "ETH", database: "trawl_live", ..SCENARIO };
