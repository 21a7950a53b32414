//! Contracts that say what a test wants: code that answers calls by their selectors, and logs what it is told to while
//! it is created. Put together from opcodes, so that nothing has to be compiled.

/// What a contract answers to a call.
#[derive(Clone, Copy)]
pub enum Answer<'a> {
    /// Returns these words, as the ABI encodes them.
    Words(&'a [&'a str]),
    /// The value of a slot of its storage.
    Slot(u8),
    /// Runs until its gas is used up.
    Endless,
    /// Nothing: the word behind the selector becomes the value of a slot.
    Sets(u8),
}

/// A word of 64 digits.
pub fn word(digits: &str) -> String {
    format!("{:0>64}", digits.trim_start_matches("0x"))
}

/// Stores words in memory, from its beginning on.
fn stores(words: &[&str]) -> String {
    words.iter().enumerate().map(|(position, value)| format!("7f{}61{:04x}52", word(value), position * 32)).collect()
}

/// Emits a log with these topics, and these words as its data.
pub fn logs(topics: &[&str], words: &[&str]) -> String {
    let pushed: String = topics.iter().rev().map(|topic| format!("7f{}", word(topic))).collect();
    format!("{}{pushed}61{:04x}6000a{}", stores(words), words.len() * 32, topics.len())
}

/// Sets a slot.
pub fn sets(slot: &str, value: &str) -> String {
    format!("7f{}7f{}55", word(value), word(slot))
}

/// Runtime that answers calls by their selectors, and does something with any other.
pub fn answers(all: &[(&str, Answer<'_>)], otherwise: &str) -> String {
    // The selector, and its comparison with each.
    let mut tests = String::from("60003560e01c");
    let start = tests.len() / 2 + 11 * all.len() + otherwise.len() / 2;
    let mut bodies = String::new();
    for (selector, answer) in all {
        tests.push_str(&format!("8063{selector}1461{:04x}57", start + bodies.len() / 2));
        bodies.push_str(&match answer {
            Answer::Words(words) => format!("5b{}61{:04x}6000f3", stores(words), words.len() * 32),
            Answer::Slot(slot) => format!("5b60{slot:02x}5460005260206000f3"),
            Answer::Endless => format!("5b61{:04x}56", start + bodies.len() / 2),
            Answer::Sets(slot) => format!("5b60043560{slot:02x}5500"),
        });
    }
    format!("{tests}{otherwise}{bodies}")
}

/// Words that are text as the ABI encodes a `string`.
pub fn text(text: &str) -> Vec<String> {
    let digits: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
    let chunks = digits.as_bytes().chunks(64).map(|chunk| format!("{:0<64}", String::from_utf8_lossy(chunk)));
    ["20".to_owned(), format!("{:x}", text.len())].into_iter().chain(chunks).collect()
}

/// Runtime that returns a `string` of so many bytes: a beginning of at most 32, and spaces.
pub fn returns_spaces(beginning: &str, length: usize) -> String {
    let word = |text: &str| text.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
    let spaces = word(&" ".repeat(32));
    // MCOPY doubles them from one word to 4,096.
    let copies: String =
        (0..12).map(|power| 32_u32 << power).map(|size| format!("62{size:06x}604062{:06x}5e", 0x40 + size)).collect();
    let whole = 0x40 + length.next_multiple_of(32);
    format!(
        "602060005262{length:06x}6020527f{spaces}604052{copies}7f{}60405262{whole:06x}6000f3",
        word(&format!("{beginning:<32}"))
    )
}

/// Reverts without data.
pub const REVERTS: &str = "60006000fd";

/// Runs the code of the contract that a slot names, with the same input, and returns what it returns.
pub fn delegates(slot: &str) -> String {
    format!("366000600037600060003660007f{}545af43d600060003e3d6000f3", word(slot))
}

/// Code that does something first and then leaves a runtime.
pub fn creation(first: &str, runtime: &str) -> String {
    let (size, offset) = (runtime.len() / 2, first.len() / 2 + 13);
    format!("0x{first}61{size:04x}8061{offset:04x}6000396000f3{runtime}")
}
