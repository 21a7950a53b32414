//! Any bytes as the body of a JSON-RPC request: the answer is JSON, an array for a batch, and carries the ids it should.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use serde_json::value::RawValue;
use trawl::rpc::fuzzed;

fuzz_target!(|text: &[u8]| {
    let answer = fuzzed::answer(text);
    let answer: Box<RawValue> = serde_json::from_slice(&answer).expect("the answer is JSON");
    let calls: Option<Box<RawValue>> = serde_json::from_slice(text).ok();
    match calls.as_ref().filter(|calls| calls.get().starts_with('[')) {
        Some(calls) => {
            let calls: Vec<&RawValue> = serde_json::from_str(calls.get()).expect("a list");
            let answers: Vec<&RawValue> = serde_json::from_str(answer.get()).expect("a list");
            assert_eq!(calls.len(), answers.len());
            calls.iter().zip(answers).for_each(|(call, answer)| check(Some(call), answer));
        }
        None => check(calls.as_deref(), &answer),
    }
});

/// The members of an object as they stand; `None` where a name occurs twice or it is none.
#[derive(Debug, Default)]
struct Members<'a>(std::collections::BTreeMap<String, &'a RawValue>);

impl<'a> Members<'a> {
    fn of(text: &'a RawValue) -> Option<Self> {
        serde_json::from_str(text.get()).ok().map(Self)
    }

    fn get(&self, name: &str) -> Option<&'a str> {
        self.0.get(name).map(|value| value.get())
    }
}

/// An answer to a call: version, id, and either a result or an error with a code and a text.
fn check(call: Option<&RawValue>, answer: &RawValue) {
    let found = Members::of(answer).expect("an answer is an object");
    assert_eq!(found.get("jsonrpc"), Some("\"2.0\""));
    let id = found.get("id").expect("an id");
    let error = found.get("error").map(|error| serde_json::from_str::<Value>(error).expect("an error"));
    if let Some(error) = &error {
        assert!(error["code"].as_i64().is_some_and(|code| code < 0), "{error}");
        assert!(error["message"].as_str().is_some_and(|text| !text.is_empty()), "{error}");
    }
    assert_eq!(error.is_none(), found.get("result").is_some(), "a result or an error: {}", answer.get());
    let sent = call.and_then(Members::of);
    match sent.as_ref().and_then(|call| call.get("id")) {
        // The one case in which an id is made up.
        None => assert!(error.is_some() && (id == "null" || id == "0"), "{}", answer.get()),
        Some(sent) => assert!(id == sent || (error.is_some() && id == "null"), "{} to {sent}", answer.get()),
    }
}
