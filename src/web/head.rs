//! Title and description of a page, for readers without scripts: search engines, previews of links, bookmarks.

/// The page with a title and a description of its own: what the path is about, and the name of the chain.
pub(super) fn with_title(page: &str, path: &str, chain: Option<&str>) -> String {
    let (subject, chain) = (subject(path), chain.map(escaped));
    let about = match (subject.as_deref(), chain.as_deref()) {
        (Some(subject), Some(chain)) => format!("{subject} of {chain} in Trawl, an explorer that reads ClickHouse"),
        (Some(subject), None) => format!("{subject} in Trawl, an explorer of an EVM chain that reads ClickHouse"),
        (None, Some(chain)) => {
            format!("Blocks, transactions, logs and calls of {chain} in Trawl, read from ClickHouse")
        }
        (None, None) => return page.to_owned(),
    };
    let title: Vec<&str> = [subject.as_deref(), chain.as_deref(), Some("Trawl")].into_iter().flatten().collect();
    let page = page.replacen("<title>Trawl</title>", &format!("<title>{}</title>", title.join(" · ")), 1);
    let Some((before, rest)) = page.split_once(DESCRIPTION) else { return page };
    let after = rest.split_once('"').map_or("", |(_, after)| after);
    format!("{before}{DESCRIPTION}{about}\"{after}")
}

/// What precedes the description in the page.
const DESCRIPTION: &str = "<meta name=\"description\" content=\"";

/// Pages with one subject, by their path.
const SUBJECTS: [(&str, &str); 16] = [
    ("accounts", "Accounts"),
    ("blocks", "Blocks"),
    ("charts", "Charts"),
    ("gas", "Gas prices"),
    ("internal-txs", "Internal transactions"),
    ("names", "Private names"),
    ("ops", "User operations"),
    ("scan", "Scan"),
    ("search", "Search"),
    ("sql", "SQL"),
    ("status", "Status"),
    ("token-transfers", "Token transfers"),
    ("tokens", "Tokens"),
    ("tools", "Tools"),
    ("txs", "Transactions"),
    ("withdrawals", "Withdrawals"),
];

/// What a path is about. Of the path itself it has digits alone, so that nothing else comes into the page.
fn subject(path: &str) -> Option<String> {
    let mut words = path.split('/').skip(1);
    let (noun, id) = (words.next()?, words.next());
    let Some(id) = id.filter(|id| !id.is_empty()) else {
        return SUBJECTS.iter().find(|(word, _)| *word == noun).map(|(_, subject)| (*subject).to_owned());
    };
    let (kind, digits) = match noun {
        "block" if id.len() <= 20 && id.bytes().all(|byte| byte.is_ascii_digit()) => {
            return Some(format!("Block {id}"));
        }
        "block" => ("Block", 64),
        "tx" => ("Transaction", 64),
        "op" => ("User operation", 64),
        "address" => ("Address", 40),
        "token" => ("Token", 40),
        _ => return None,
    };
    let hex = id.strip_prefix("0x")?;
    let is_hash = hex.len() == digits && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then(|| format!("{kind} 0x{}…{}", &hex[..6], &hex[digits - 6..]))
}

/// Text as it may stand in an element and in a quoted attribute.
fn escaped(text: &str) -> String {
    let entity = |letter| match letter {
        '&' => "&amp;".to_owned(),
        '<' => "&lt;".to_owned(),
        '>' => "&gt;".to_owned(),
        '"' => "&quot;".to_owned(),
        letter => String::from(letter),
    };
    text.chars().map(entity).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "<meta name=\"description\" content=\"Trawl\">\n<title>Trawl</title><body>";

    fn title(path: &str, chain: Option<&str>) -> String {
        let page = with_title(PAGE, path, chain);
        page.split_once("<title>").and_then(|(_, rest)| rest.split_once("</title>")).expect("a title").0.to_owned()
    }

    #[test]
    fn a_page_has_the_title_of_its_subject_and_chain() {
        let hash = format!("/tx/0x{}", "ab".repeat(32));
        assert_eq!(title("/", None), "Trawl");
        assert_eq!(title("/", Some("Ethereum")), "Ethereum · Trawl");
        assert_eq!(title("/block/12", Some("Ethereum")), "Block 12 · Ethereum · Trawl");
        assert_eq!(title(&hash, Some("Base")), "Transaction 0xababab…ababab · Base · Trawl");
        assert_eq!(title(&format!("{hash}/logs"), None), "Transaction 0xababab…ababab · Trawl");
        assert_eq!(title("/withdrawals", Some("Ethereum")), "Withdrawals · Ethereum · Trawl");
        let page = with_title(PAGE, "/gas", Some("Base"));
        let expected = "content=\"Gas prices of Base in Trawl, an explorer that reads ClickHouse\">\n<title>";
        assert!(page.contains(expected) && page.ends_with("<body>"), "{page}");
    }

    #[test]
    fn nothing_of_a_path_or_a_name_becomes_markup() {
        for path in ["/block/<b>", "/tx/0x\"><script>", "/token/0x12", "/nowhere/12", "/address/0x\u{e9}"] {
            assert_eq!(title(path, None), "Trawl", "{path}");
        }
        assert_eq!(title("/", Some("<b>\"&")), "&lt;b&gt;&quot;&amp; · Trawl");
    }
}
