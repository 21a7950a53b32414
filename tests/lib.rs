//! Nothing: the integration tests are the test program `it` of this package.
