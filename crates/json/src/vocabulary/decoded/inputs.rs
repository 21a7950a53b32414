//! Decoded inputs: the function that a transaction called, and the values of its parameters.

use alloy_dyn_abi::{DynSolType, DynSolValue, Specifier as _};
use alloy_json_abi::Param;

use super::super::packages;
use super::{cost, without_text, write_value};
use crate::JsonWriter;
use trawl_core::primitives::abi::KnownFunction;

/// Bytes of a selector.
const SELECTOR: usize = 4;

/// The input as a call of the function, as a JSON object; `None` if it does not fit.
#[must_use]
pub fn decoded_input(known: &KnownFunction, input: &[u8]) -> Option<Vec<u8>> {
    let (selector, body) = input.split_at_checked(SELECTOR)?;
    if known.function.selector() != *selector {
        return None;
    }
    let values = values(known, body)?;
    let mut writer = JsonWriter::new();
    write(&mut writer, known, &values);
    Some(writer.into_bytes())
}

/// What a call of a function returned, as a JSON array of name, type and value: by the results that an ABI declares,
/// or by `results`, a function whose parameters they are. `None` if nothing is declared, or it does not fit.
#[must_use]
pub fn decoded_output(results: &[Param], output: &[u8]) -> Option<Vec<u8>> {
    let resolved = results.iter().map(|result| Some((result, result.resolve().ok()?)));
    let (results, types): (Vec<&Param>, Vec<DynSolType>) = resolved.collect::<Option<Vec<_>>>()?.into_iter().unzip();
    let without: Vec<DynSolType> = types.iter().map(without_text).collect();
    if types.is_empty() || !cost::is_honest(&without, output) {
        return None;
    }
    let DynSolValue::Tuple(values) = DynSolType::Tuple(without).abi_decode_params(output).ok()? else { return None };
    let mut writer = JsonWriter::new();
    writer.array(|items| {
        for ((result, ty), value) in results.iter().zip(&types).zip(&values) {
            items.item().object(|item| {
                item.key("name").string(&result.name);
                item.key("type").string(&result.selector_type());
                write_value(item.key("value"), ty, value);
            });
        }
    });
    Some(writer.into_bytes())
}

/// The only function of packages that an input is a call of. Of the selector alone, the only one that has it.
pub(crate) fn function_of(input: &[u8]) -> Option<&'static KnownFunction> {
    let (selector, body) = input.split_first_chunk::<SELECTOR>()?;
    if body.is_empty() {
        return packages::function(*selector);
    }
    packages::only(packages::functions(*selector).iter().filter(|known| values(known, body).is_some()))
}

/// Bytes behind the parameters are left alone, as contracts do: some callers append marks of their own.
fn values(known: &KnownFunction, body: &[u8]) -> Option<Vec<DynSolValue>> {
    let types: Vec<DynSolType> = known.types.iter().map(without_text).collect();
    if types.is_empty() {
        return Some(Vec::new());
    }
    if !cost::is_honest(&types, body) {
        return None;
    }
    match DynSolType::Tuple(types).abi_decode_params(body).ok()? {
        DynSolValue::Tuple(values) => Some(values),
        _ => None,
    }
}

fn write(writer: &mut JsonWriter, known: &KnownFunction, values: &[DynSolValue]) {
    let names: Vec<(String, String)> = known
        .function
        .inputs
        .iter()
        .enumerate()
        .map(|(position, input)| {
            let name = if input.name.is_empty() { format!("arg{position}") } else { input.name.clone() };
            (name, input.selector_type().into_owned())
        })
        .collect();
    let inputs: Vec<String> = names.iter().map(|(name, type_name)| format!("{type_name} {name}")).collect();
    writer.object(|decoded| {
        decoded.key("method_call").string(&format!("{}({})", known.function.name, inputs.join(", ")));
        decoded.key("method_id").hex(known.function.selector().as_slice());
        decoded.key("parameters").array(|parameters| {
            for ((name, type_name), (ty, value)) in names.iter().zip(known.types.iter().zip(values)) {
                parameters.item().object(|parameter| {
                    parameter.key("name").string(name);
                    parameter.key("type").string(type_name);
                    write_value(parameter.key("value"), ty, value);
                });
            }
        });
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn decoded(text: &str, input: &[u8]) -> Value {
        let known = KnownFunction::parse(text).expect("a function");
        decoded_input(&known, input).map_or(Value::Null, |text| serde_json::from_slice(&text).expect("valid JSON"))
    }

    #[test]
    fn an_output_has_the_results_that_fit() {
        let results = |text: &str| KnownFunction::parse(text).expect("a function").function.inputs;
        let output = |text: &str, data: &[u8]| {
            decoded_output(&results(text), data).map(|text| String::from_utf8(text).expect("text"))
        };
        let mut word = [0; 32];
        word[31] = 7;
        assert_eq!(output("results(uint256)", &word).as_deref(), Some(r#"[{"name":"","type":"uint256","value":"7"}]"#));
        assert_eq!(output("results(uint256)", &[]), None);
        assert_eq!(output("results(string)", &word), None);
        assert_eq!(output("results()", &word), None);
    }

    #[test]
    fn a_call_has_its_parameters_with_names_and_types() {
        let mut input = const_hex::decode("a9059cbb").expect("hex");
        input.extend([0; 12]);
        input.extend([0xab; 20]);
        input.extend([0; 31]);
        input.push(7);
        let expected = json!({
            "method_call": "transfer(address to, uint256 arg1)", "method_id": "0xa9059cbb",
            "parameters": [
                {"name": "to", "type": "address", "value": "0xABaBaBaBABabABabAbAbABAbABabababaBaBABaB"},
                {"name": "arg1", "type": "uint256", "value": "7"},
            ],
        });
        assert_eq!(decoded("transfer(address to, uint256)", &input), expected);
        input.extend(b"mark");
        assert_eq!(decoded("transfer(address to, uint256)", &input), expected);
        assert_eq!(decoded("transfer(address to, uint256)", &input[..40]), Value::Null);
        assert_eq!(decoded("approve(address to, uint256)", &input), Value::Null);
    }

    #[test]
    fn a_function_of_packages_is_the_one_that_fits() {
        let name = |input: &[u8]| function_of(input).map(|known| known.function.name.as_str());
        let call = [&[0x2e, 0x1a, 0x7d, 0x4d][..], &[0; 32]].concat();
        assert_eq!((name(&call), name(&call[..4])), (Some("withdraw"), Some("withdraw")));
        // Too short for its number.
        assert_eq!((name(&call[..20]), name(&call[..3])), (None, None));
    }

    proptest! {
        #[test]
        fn hostile_inputs_are_never_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let text = "f(string, bytes[], (uint8, string)[2][], int24)";
            let selector = KnownFunction::parse(text).expect("a function").function.selector();
            decoded(text, &[selector.as_slice(), &bytes].concat());
        }
    }
}
