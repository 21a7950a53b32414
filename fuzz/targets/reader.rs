//! Any text as a reader's statement, as far as the sandbox reads it itself: it is taken apart without a panic, and what makes a
//! statement refused is not taken back by anything that follows it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use trawl_engine::sql::insert::scan_insert;
use trawl_engine::sql::lexer::Lexer;
use trawl_engine::sql::reader::{check_setting, check_statement, level};
use trawl_engine::sql::statement::{Statement, parse};

/// Each is refused, whatever stands behind it.
const REFUSED: [&str; 4] = [
    "SELECT file('x') ",
    "SELECT 1 FROM (SELECT 1 SETTINGS readonly = 0) ",
    "SELECT * FROM `/etc/passwd` ",
    "DESCRIBE TABLE url('x') ",
];

fuzz_target!(|text: &[u8]| {
    let mut end = 0;
    for token in Lexer::new(text) {
        assert!(token.start >= end && token.end() > token.start && token.end() <= text.len());
        end = token.end();
    }
    if let Ok(Statement::Read(read)) = parse(text, &[]) {
        assert!(read.body.len() + read.tail.len() <= text.len());
    }
    let _ = scan_insert(text, true);
    let _ = scan_insert(text, false);
    let parameters = [("t".to_owned(), String::from_utf8_lossy(text).into_owned())];
    let _ = check_statement(text, &parameters, None);
    let _ = check_setting(&parameters[0].1, "0", None);
    assert!(level(text) == "1" || !text.contains(&b'(') || Lexer::new(text).all(|token| !token.is_symbol(b'(')));
    for refused in REFUSED {
        let whole = [refused.as_bytes(), text].concat();
        assert!(check_statement(&whole, &[], None).is_err(), "{}", String::from_utf8_lossy(&whole));
    }
});
