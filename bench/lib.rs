//! Nothing: the measurements are the benches of this package.
