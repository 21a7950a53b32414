//! Licences that sources name by their SPDX identifier (<https://spdx.org/licenses>), by the names that explorers use.

/// A licence that explorers know.
pub(super) struct Licence {
    /// Beginning of its SPDX identifier.
    spdx: &'static str,
    /// Its name in Blockscout's answers.
    pub blockscout: &'static str,
    /// Its name in Etherscan's answers.
    pub etherscan: &'static str,
}

/// Licences that both explorers know; they do not distinguish `-only` from `-or-later`.
const LICENCES: [Licence; 14] = [
    Licence { spdx: "UNLICENSED", blockscout: "none", etherscan: "None" },
    Licence { spdx: "Unlicense", blockscout: "unlicense", etherscan: "Unlicense" },
    Licence { spdx: "MIT", blockscout: "mit", etherscan: "MIT" },
    Licence { spdx: "GPL-2.0", blockscout: "gnu_gpl_v2", etherscan: "GNU GPLv2" },
    Licence { spdx: "GPL-3.0", blockscout: "gnu_gpl_v3", etherscan: "GNU GPLv3" },
    Licence { spdx: "LGPL-2.1", blockscout: "gnu_lgpl_v2_1", etherscan: "GNU LGPLv2.1" },
    Licence { spdx: "LGPL-3.0", blockscout: "gnu_lgpl_v3", etherscan: "GNU LGPLv3" },
    Licence { spdx: "BSD-2-Clause", blockscout: "bsd_2_clause", etherscan: "BSD-2-Clause" },
    Licence { spdx: "BSD-3-Clause", blockscout: "bsd_3_clause", etherscan: "BSD-3-Clause" },
    Licence { spdx: "MPL-2.0", blockscout: "mpl_2_0", etherscan: "MPL-2.0" },
    Licence { spdx: "OSL-3.0", blockscout: "osl_3_0", etherscan: "OSL-3.0" },
    Licence { spdx: "Apache-2.0", blockscout: "apache_2_0", etherscan: "Apache-2.0" },
    Licence { spdx: "AGPL-3.0", blockscout: "gnu_agpl_v3", etherscan: "GNU AGPLv3" },
    Licence { spdx: "BUSL-1.1", blockscout: "bsl_1_1", etherscan: "BSL 1.1" },
];

/// The licence that a source names, if it is one of those.
pub(super) fn of(source: &str) -> Option<&'static Licence> {
    let (_, rest) = source.split_once("SPDX-License-Identifier:")?;
    let identifier = rest.lines().next()?.trim().split([' ', '*', '\t']).next()?;
    let identifier = identifier.trim_end_matches("-only").trim_end_matches("-or-later").trim_end_matches('+');
    LICENCES.iter().find(|licence| licence.spdx == identifier)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_licence_is_read_from_the_line_that_names_it() {
        let name = |source: &str| of(source).map(|licence| licence.blockscout);
        assert_eq!(name("// SPDX-License-Identifier: MIT\npragma solidity ^0.8.0;"), Some("mit"));
        assert_eq!(name("/* SPDX-License-Identifier: GPL-3.0-or-later */"), Some("gnu_gpl_v3"));
        assert_eq!(name("// SPDX-License-Identifier: UNLICENSED"), Some("none"));
        assert_eq!(name("// SPDX-License-Identifier: MIT OR Apache-2.0"), Some("mit"));
        assert_eq!(name("contract C {}"), None);
        assert_eq!(name("// SPDX-License-Identifier: CC0-1.0"), None);
    }
}
