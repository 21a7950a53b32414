//! Objects and lists as JSON and JavaScript write them, wherever they stand in a text: keys without quotes, three kinds
//! of quotes, commas at the end, comments.

use serde_json::{Map, Value};

/// The objects and lists of a text that are nothing but literals, the outermost ones.
pub fn literals(text: &str) -> Vec<Value> {
    let bytes = text.as_bytes();
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(next) = bytes[at..].iter().position(|byte| matches!(byte, b'{' | b'[')) {
        at += next;
        let mut reader = Literal { bytes, at };
        match reader.value(0) {
            Some(value) => {
                found.push(value);
                at = reader.at;
            }
            None => at += 1,
        }
    }
    found
}

/// Deepest nesting of objects and lists.
const MAX_DEPTH: usize = 64;

struct Literal<'t> {
    bytes: &'t [u8],
    at: usize,
}

impl Literal<'_> {
    fn value(&mut self, depth: usize) -> Option<Value> {
        self.blank();
        match self.bytes.get(self.at)? {
            _ if depth > MAX_DEPTH => None,
            b'{' => self.object(depth),
            b'[' => self.list(depth),
            b'"' | b'\'' | b'`' => self.quoted().map(Value::String),
            _ => match self.word()? {
                "true" | "!0" => Some(Value::Bool(true)),
                "false" | "!1" => Some(Value::Bool(false)),
                "null" | "undefined" => Some(Value::Null),
                word => word.bytes().next()?.is_ascii_digit().then(|| Value::String(word.into())),
            },
        }
    }

    fn object(&mut self, depth: usize) -> Option<Value> {
        let mut object = Map::new();
        self.at += 1;
        while !self.ends(b'}')? {
            let key = match self.bytes.get(self.at)? {
                b'"' | b'\'' => self.quoted()?,
                _ => self.word()?.to_owned(),
            };
            self.skip(b':')?;
            object.insert(key, self.value(depth + 1)?);
            self.comma(b'}')?;
        }
        Some(Value::Object(object))
    }

    fn list(&mut self, depth: usize) -> Option<Value> {
        let mut list = Vec::new();
        self.at += 1;
        while !self.ends(b']')? {
            list.push(self.value(depth + 1)?);
            self.comma(b']')?;
        }
        Some(Value::Array(list))
    }

    /// Whether the object or list is over; then it is left.
    fn ends(&mut self, end: u8) -> Option<bool> {
        self.blank();
        let is_over = *self.bytes.get(self.at)? == end;
        self.at += usize::from(is_over);
        Some(is_over)
    }

    fn comma(&mut self, end: u8) -> Option<()> {
        self.blank();
        let byte = *self.bytes.get(self.at)?;
        self.at += usize::from(byte == b',');
        (byte == b',' || byte == end).then_some(())
    }

    fn skip(&mut self, byte: u8) -> Option<()> {
        self.blank();
        let is_there = *self.bytes.get(self.at)? == byte;
        self.at += usize::from(is_there);
        is_there.then_some(())
    }

    fn word(&mut self) -> Option<&str> {
        let rest = &self.bytes[self.at..];
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_$.!-".contains(byte);
        let length = rest.iter().position(|byte| !is_part(byte))?;
        self.at += length;
        (length > 0).then(|| std::str::from_utf8(&rest[..length]).ok())?
    }

    /// A text without escapes but those of quotes: names and types have none.
    fn quoted(&mut self) -> Option<String> {
        let quote = self.bytes[self.at];
        let (start, mut end) = (self.at + 1, self.at + 1);
        while *self.bytes.get(end)? != quote {
            if self.bytes[end] == b'\n' && quote != b'`' {
                return None;
            }
            end += if self.bytes[end] == b'\\' { 2 } else { 1 };
        }
        self.at = end + 1;
        Some(String::from_utf8_lossy(&self.bytes[start..end]).into_owned())
    }

    /// Spaces and comments.
    fn blank(&mut self) {
        loop {
            let rest = &self.bytes[self.at.min(self.bytes.len())..];
            let length = match rest {
                [byte, ..] if byte.is_ascii_whitespace() => 1,
                [b'/', b'/', ..] => rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len()),
                [b'/', b'*', ..] => {
                    rest.windows(2).skip(2).position(|pair| pair == b"*/").map_or(rest.len(), |at| at + 4)
                }
                _ => return,
            };
            self.at += length;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn literals_are_found_wherever_they_stand() {
        let text = r#"const abi = [{ type: 'function', "name": "f", inputs: [], payable: !1, /* it is */ n: 1e3, },] as const;
            if (x) { return {a: b, c: [{type: `event`}]} }"#;
        let object = json!({"type": "function", "name": "f", "inputs": [], "payable": false, "n": "1e3"});
        assert_eq!(literals(text), [json!([object]), json!([{"type": "event"}])]);
        for broken in ["{", "[1", "{a:", "['", "{a 1}", "[1 2]", "/*"] {
            assert_eq!(literals(broken), Vec::<Value>::new(), "{broken}");
        }
    }
}
