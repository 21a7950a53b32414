//! The integration tests: everything over HTTP against the real engine, started here and ended by process id.

mod chains;
mod clients;
mod described;
mod dice;
mod engine;
mod env;
mod golden;
mod hostile;
mod ingest;
mod kept;
mod labels;
mod pages;
mod plans;
mod rpc;
mod scan;
mod scenario;
mod schema;
mod service;
mod tidy;
mod topics;

use libtest_mimic::{Arguments, Trial};

fn main() {
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    trials.extend(tidy::trials());
    trials.extend(topics::trials());
    trials.extend(schema::trials());
    trials.extend(golden::trials());
    trials.extend(rpc::trials());
    trials.extend(scan::trials());
    trials.extend(hostile::trials());
    trials.extend(service::trials());
    trials.extend(service::prices::trials());
    trials.extend(plans::trials());
    trials.extend(ingest::trials());
    trials.extend(labels::trials());
    trials.extend(engine::trials());
    trials.extend(clients::trials());
    trials.extend(described::trials());
    trials.extend(kept::trials());
    trials.extend(pages::trials());
    let conclusion = libtest_mimic::run(&arguments, trials);
    env::end_servers();
    conclusion.exit();
}

/// A test from a function that may fail.
fn trial(name: impl Into<String>, test: impl FnOnce() -> anyhow::Result<()> + Send + 'static) -> Trial {
    Trial::test(name, move || {
        let outcome = test();
        env::drop_own();
        outcome.map_err(|error| format!("{error:?}").into())
    })
}
