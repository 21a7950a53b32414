//! Parameters that Erigon's `trace_` methods have behind those of Parity (Erigon, `rpc/jsonrpc/trace_api.go`).

use serde_json::Value;

use super::params::invalid;
use crate::error::Problem;

/// A parameter that may be absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TraceOption {
    /// Whether a sender need not have the coins that it sends, beside frames that were recorded: they are of
    /// transactions whose senders had them.
    GasBailOut,
    /// The same beside a run: in Erigon a sender then keeps what it sends, which the changes of the state show.
    GasBailOutOfRun,
    /// Options of Erigon's tracer, which change what is traced.
    TraceConfig,
}

/// Those of methods that tell of recorded frames.
pub(crate) const OF_RECORDS: [TraceOption; 2] = [TraceOption::GasBailOut, TraceOption::TraceConfig];
/// Those of methods that run transactions of blocks again.
pub(crate) const OF_RUNS: [TraceOption; 2] = [TraceOption::GasBailOutOfRun, TraceOption::TraceConfig];

impl TraceOption {
    /// Accepts a value without effect.
    ///
    /// # Errors
    ///
    /// For any other.
    pub fn check(self, given: &Value) -> Result<(), Problem> {
        match (self, given) {
            (_, Value::Null) | (Self::GasBailOut, Value::Bool(_)) | (Self::GasBailOutOfRun, Value::Bool(false)) => {
                Ok(())
            }
            (Self::TraceConfig, Value::Object(options)) if options.values().all(Value::is_null) => Ok(()),
            (Self::GasBailOutOfRun, Value::Bool(true)) => {
                Err(invalid("gasBailOut is not supported by this method: send false or null, or leave it out"))
            }
            (Self::GasBailOut | Self::GasBailOutOfRun, _) => {
                Err(invalid("Invalid gasBailOut: true, false or null is expected"))
            }
            (Self::TraceConfig, _) => Err(invalid(
                "options of the tracer are not supported by this method: leave out traceConfig, or send null",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_changes_an_answer_is_refused() {
        for (option, value) in [
            (TraceOption::GasBailOut, json!(true)),
            (TraceOption::GasBailOut, json!(false)),
            (TraceOption::GasBailOut, json!(null)),
            (TraceOption::GasBailOutOfRun, json!(false)),
            (TraceOption::TraceConfig, json!(null)),
            (TraceOption::TraceConfig, json!({})),
            (TraceOption::TraceConfig, json!({"tracer": null})),
        ] {
            assert_eq!(option.check(&value), Ok(()), "{value}");
        }
        for (option, value) in [
            (TraceOption::GasBailOut, json!("true")),
            (TraceOption::GasBailOut, json!({})),
            (TraceOption::GasBailOutOfRun, json!(true)),
            (TraceOption::GasBailOutOfRun, json!(0)),
            (TraceOption::TraceConfig, json!({"noRefunds": true})),
            (TraceOption::TraceConfig, json!([])),
            (TraceOption::TraceConfig, json!(false)),
        ] {
            assert!(matches!(option.check(&value), Err(Problem::InvalidParams(_))), "{value}");
        }
    }
}
