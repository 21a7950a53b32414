//! The traces that clients request: geth's options with the name of a tracer, and the trace types of Parity.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::error::Problem;
use crate::http::values::{invalid, member};
use crate::rpc::protocol::params::value;
use trawl_evm::replay::{TraceType, Tracer};

/// Tracers of geth that are served, besides the one without a name.
const SERVED: &str = "callTracer, flatCallTracer, prestateTracer, 4byteTracer, noopTracer or muxTracer of these";
/// Longest name that is repeated in a refusal.
const MAX_NAME: usize = 40;

/// The options of geth's traces. Programs in Go that send geth's own types write their names in capitals.
const OPTIONS: [&str; 10] = [
    "tracer",
    "tracerConfig",
    "enableMemory",
    "disableMemory",
    "disableStack",
    "disableStorage",
    "enableReturnData",
    "disableReturnData",
    "debug",
    "limit",
];
/// The options of its tracers.
const TRACER_OPTIONS: [&str; 7] = [
    "onlyTopCall",
    "withLog",
    "convertParityErrors",
    "includePrecompiles",
    "diffMode",
    "disableCode",
    "disableStorage",
];

/// The options of geth's traces. `timeout` and `reexec` have no effect: `--call-timeout` holds.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct GethOptions {
    tracer: Option<String>,
    tracer_config: Value,
    #[serde(skip)]
    all: Value,
}

impl GethOptions {
    /// Reads the options of a parameter that may be absent.
    ///
    /// # Errors
    ///
    /// When they are no object.
    pub fn read(param: Option<&RawValue>) -> Result<Self, Problem> {
        Self::of(param.map(value))
    }

    /// Reads options that may be absent.
    ///
    /// # Errors
    ///
    /// When they are no object, or ask for other rules than those of the block.
    pub fn of(options: Option<Value>) -> Result<Self, Problem> {
        let given = match options.unwrap_or_default() {
            Value::Null => Map::default(),
            Value::Object(given) => given,
            _ => return Err(invalid("Invalid options: an object is expected")),
        };
        if member(&given, "overrides").is_some() {
            return Err(invalid("the option `overrides` is not supported: a trace has the rules of its block"));
        }
        let all = named(&given, &OPTIONS);
        let options: Self = read(all.clone(), "options")?;
        Ok(Self { all, ..options })
    }

    /// The tracer that they name; that of steps without a name.
    ///
    /// # Errors
    ///
    /// When it is not served, or its options have wrong values.
    pub fn tracer(self) -> Result<Tracer, Problem> {
        match self.tracer.as_deref().unwrap_or_default() {
            "" => Ok(Tracer::Steps(read(self.all, "options")?)),
            "muxTracer" => several(self.tracer_config),
            name => one(name, self.tracer_config),
        }
    }
}

/// The tracer of a name, with its options.
fn one(name: &str, config: Value) -> Result<Tracer, Problem> {
    let config = match config {
        Value::Null => Value::Object(Map::default()),
        Value::Object(given) if member(&given, "includeEmpty").is_some_and(|value| *value != false) => {
            return Err(invalid("the option `includeEmpty` is not supported: leave it out"));
        }
        Value::Object(given) => named(&given, &TRACER_OPTIONS),
        _ => return Err(invalid("Invalid tracerConfig: an object is expected")),
    };
    Ok(match name {
        "callTracer" => Tracer::Calls(read(config, "tracerConfig")?),
        "flatCallTracer" => Tracer::FlatCalls(read(config, "tracerConfig")?),
        "prestateTracer" => Tracer::State(read(config, "tracerConfig")?),
        "4byteTracer" => Tracer::Selectors,
        "noopTracer" => Tracer::Nothing,
        other => {
            let name: String = other.chars().take(MAX_NAME).collect();
            return Err(invalid(&format!("Invalid tracer: {name} is not supported; use {SERVED}")));
        }
    })
}

/// The tracers that the options of `muxTracer` name, each with its own options; none of them is a `muxTracer`.
fn several(config: Value) -> Result<Tracer, Problem> {
    let Value::Object(named) = config else {
        return Err(invalid("Invalid tracerConfig: muxTracer needs an object that names tracers"));
    };
    let tracers = named.into_iter().map(|(name, config)| Ok((name.clone(), one(&name, config)?)));
    Ok(Tracer::Several(tracers.collect::<Result<_, Problem>>()?))
}

/// The members of an object that have these names in any letter case, as geth reads them, spelled so.
fn named(given: &Map<String, Value>, names: &[&str]) -> Value {
    let found = names.iter().filter_map(|name| Some(((*name).to_owned(), member(given, name)?.clone())));
    Value::Object(found.collect())
}

/// A tracer of the kinds `trace`, `stateDiff` and `vmTrace` of Parity.
///
/// # Errors
///
/// When the parameter is no list of them.
pub(crate) fn parity_tracer(kinds: Value) -> Result<Tracer, Problem> {
    let kinds: Vec<TraceType> = read(kinds, "trace types")?;
    Ok(Tracer::Parity(kinds.into_iter().collect()))
}

fn read<T: DeserializeOwned>(value: Value, what: &str) -> Result<T, Problem> {
    serde_json::from_value(value).map_err(|error| invalid(&format!("Invalid {what}: {error}")))
}
