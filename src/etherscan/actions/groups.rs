//! Parameters that several actions take.

use super::super::params::parameter::{Kind, Parameter};

/// The words of a `sort`.
pub(super) const ORDERS: Kind = Kind::Word(&["asc", "desc"]);

pub(super) const ADDRESS: &[Parameter] = &[Parameter::required("address", Kind::Address)];
pub(super) const CONTRACT: &[Parameter] = &[Parameter::required("contractaddress", Kind::Address)];
pub(super) const TAG: &[Parameter] = &[Parameter::optional("tag", Kind::Tag)];
pub(super) const HEIGHT: &[Parameter] = &[Parameter::required("blockno", Kind::Number)];
pub(super) const TRANSACTION: &[Parameter] = &[Parameter::required("txhash", Kind::Hash)];

/// Which rows of a list.
pub(super) const PAGE: &[Parameter] =
    &[Parameter::optional("page", Kind::Number), Parameter::optional("offset", Kind::Number)];

/// Which blocks of a list, in what order, and which rows.
pub(super) const WINDOW: &[Parameter] = &[
    Parameter::optional("startblock", Kind::Height).or(&["start_block"]),
    Parameter::optional("endblock", Kind::Height).or(&["end_block"]),
    Parameter::optional("start_timestamp", Kind::Number).or(&["starttimestamp"]),
    Parameter::optional("end_timestamp", Kind::Number).or(&["endtimestamp"]),
    Parameter::optional("sort", ORDERS),
    Parameter::optional("page", Kind::Number),
    Parameter::optional("offset", Kind::Number),
];
