//! stub
use crate::ExpectedParameters;
use crate::schema::Tree;
pub(crate) fn expected_parameters(_: &Tree) -> ExpectedParameters {
    ExpectedParameters::default()
}
