//! Metadata that contracts may return.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

/// The members that an answer has of a URI.
fn members(uri: &str, id: Option<U256>) -> Value {
    let mut writer = JsonWriter::new();
    writer.object(|item| IdMetadata::write(IdMetadata::of_uri(uri, id).as_ref(), item));
    serde_json::from_slice(&writer.into_bytes()).expect("JSON")
}

fn metadata(json: &str) -> Value {
    members(&format!("data:application/json,{json}"), None)["metadata"].clone()
}

fn none() -> Value {
    json!({"metadata": null, "image_url": null, "media_type": null, "animation_url": null, "external_app_url": null})
}

#[test]
fn three_forms_of_uris_are_read() {
    let expected = json!({"name": "Thing #1 50%", "n": [1, -2.5, true, null]});
    for uri in [
        r#"data:application/json,{"name":"Thing #1 50%","n":[1,-2.5,true,null]}"#,
        r#"DATA:Application/JSON;utf8, {"name" : "Thing #1 50%", "n": [1, -2.5, true, null] } "#,
        "data:application/json;charset=utf-8,%7B%22name%22%3A%22Thing%20%231%2050%25%22%2C%22n%22%3A%5B\
         1,-2.5,true,null%5D%7D",
        "data:application/json;base64,eyJuYW1lIjoiVGhpbmcgIzEgNTAlIiwibiI6WzEsLTIuNSx0cnVlLG51bGxdfQ==",
    ] {
        assert_eq!(members(uri, None)["metadata"], expected, "{uri}");
    }
    // An escape that would end the text early is none.
    assert_eq!(metadata(r#"{"image":"data:image/svg+xml,%22"}"#), json!({"image": "data:image/svg+xml,%22"}));
}

#[test]
fn other_uris_and_other_json_have_no_metadata() {
    for uri in [
        "",
        "ipfs://Qm/1.json",
        "https://example.org/1",
        r#"{"name":"no URI"}"#,
        r#"data:text/html,{"name":"a page"}"#,
        r#"data:,{"name":"text"}"#,
        "data:image/svg+xml;base64,PHN2Zy8+",
        "data:application/json,",
        "data:application/json,[]",
        "data:application/json,7",
        "data:application/json,null",
        r#"data:application/json,"text""#,
        r#"data:application/json,{"a":1"#,
        r#"data:application/json,{"a":1}{"#,
        r#"data:application/json,{"a":01}"#,
        r#"data:application/json,{"a":"\ud800"}"#,
        "data:application/json,%7B%22a%22:%22%ff%22%7D",
        "data:application/json;base64,eyJhIjoifQ==",
        r#"data:application/json;base64,{"a":1}"#,
    ] {
        assert_eq!(members(uri, None), none(), "{uri}");
    }
}

#[test]
fn pictures_and_links_are_texts_that_run_nothing() {
    let svg = "data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9ImFsZXJ0KDEpIi8+";
    for (json, image, kind) in [
        (json!({"image": svg}), json!(svg), json!("image/svg+xml")),
        (json!({"image_url": "ipfs://Qm/1.png", "image": svg}), json!("ipfs://Qm/1.png"), json!(null)),
        (json!({"image_url": {"a": 1}, "image": "HTTPS://e.org/<b>"}), json!("HTTPS://e.org/<b>"), json!(null)),
        (json!({"image": "data:IMAGE/PNG,"}), json!("data:IMAGE/PNG,"), json!("image/png")),
        (json!({"image": "data:text/html,<script>alert(1)</script>"}), json!(null), json!(null)),
        (json!({"image": "data:image/<b>,"}), json!(null), json!(null)),
        (json!({"image": "javascript:alert(1)"}), json!(null), json!(null)),
        (json!({"image": " https://e.org/"}), json!(null), json!(null)),
        (json!({"image": 7, "image_url": ""}), json!(null), json!(null)),
    ] {
        let uri = format!("data:application/json,{json}");
        let found = members(&uri, None);
        assert_eq!((&found["image_url"], &found["media_type"]), (&image, &kind), "{uri}");
        assert_eq!(found["metadata"], json, "{uri}");
    }
    let found = members(r#"data:application/json,{"animation_url":"ar://x","external_url":"http://e.org"}"#, None);
    assert_eq!((&found["animation_url"], &found["external_app_url"]), (&json!("ar://x"), &json!("http://e.org")));
    for wrong in ["javascript:alert(1)", "data:text/html,x", "ftp://e.org", "//e.org", "JAVASCRIPT://e.org/%0aalert(1)"]
    {
        let json = json!({"animation_url": wrong, "external_url": wrong});
        let found = members(&format!("data:application/json,{json}"), None);
        assert!(found["animation_url"].is_null() && found["external_app_url"].is_null(), "{found}");
    }
}

#[test]
fn numbers_that_clients_would_change_are_texts() {
    assert_eq!(
        metadata(r#"{"a":[0,-0.5,123456789012345,1234567890123456,1e400,-1E-7,0.1234567890123456]}"#),
        json!({"a": [0, -0.5, 123_456_789_012_345_u64, "1234567890123456", "1e400", "-1E-7", "0.1234567890123456"]})
    );
    let long = "9".repeat(30_000);
    assert_eq!(metadata(&format!(r#"{{"a":-{long}}}"#)), json!({"a": format!("-{long}")}));
}

#[test]
fn names_differ_and_texts_are_escaped() {
    let written = IdMetadata::of_uri(
        r#"data:application/json,{"\"<\u0000>\\":"\u202e</script>\u2028","a":1,"\u0061":2,"b":{"c":1,"c":[]}}"#,
        None,
    );
    let written = String::from_utf8(written.expect("metadata").json).expect("text");
    assert_eq!(written, "{\"\\\"<\\u0000>\\\\\":\"\u{202e}</script>\u{2028}\",\"a\":2,\"b\":{\"c\":[]}}");
}

#[test]
fn depth_and_length_have_bounds() {
    let nested = |depth: usize| format!(r#"{{"a":{}{}}}"#, "[".repeat(depth), "]".repeat(depth));
    assert!(metadata(&nested(MAX_DEPTH - 1)).is_object());
    let objects = |depth: usize| format!("{}1{}", r#"{"a":"#.repeat(depth), "}".repeat(depth));
    assert!(metadata(&objects(MAX_DEPTH)).is_object());
    for deep in [nested(MAX_DEPTH), nested(30_000), objects(MAX_DEPTH + 1), objects(9_000)] {
        assert!(metadata(&deep).is_null(), "{}", deep.len());
    }
    let start = "data:application/json,";
    let padded = |length: usize| format!("{start}{{}}{}", " ".repeat(length - start.len() - 2));
    assert_eq!(members(&padded(MAX_URI_BYTES), None)["metadata"], json!({}));
    assert!(members(&padded(MAX_URI_BYTES + 1), None)["metadata"].is_null());
}

#[test]
fn the_id_stands_in_metadata_of_erc_1155() {
    let hex = format!("{}ff", "0".repeat(62));
    let uri = r#"data:application/json,{"name":"{id}","image":"ipfs://x/{id}.png"}"#;
    let found = members(uri, Some(U256::from(255)));
    assert_eq!(found["metadata"]["name"], hex);
    assert_eq!(found["image_url"], format!("ipfs://x/{hex}.png"));
    assert_eq!(members(uri, None)["metadata"]["name"], "{id}");
    let many = format!(r#"data:application/json,{{"a":"{}"}}"#, "{id}".repeat(2000));
    assert!(members(&many, Some(U256::MAX))["metadata"].is_null(), "it grows beyond the bound");
}

proptest! {
    #[test]
    fn any_text_gives_an_object_or_none(text in "[\\[\\]{}\",:0-9a-z%\\\\ \u{202e}-]{0,200}", base64 in any::<bool>()) {
        let kind = if base64 { ";base64" } else { "" };
        for json in [text.clone(), format!("{{\"image\":\"{text}\"}}"), format!("{{\"a\":{text}}}")] {
            let found = members(&format!("data:application/json{kind},{json}"), Some(U256::MAX));
            prop_assert!(found["metadata"].is_null() || found["metadata"].is_object());
        }
    }
}
