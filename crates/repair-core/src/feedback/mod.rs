//! stub
use crate::ExpectedParameters;
use crate::schema::Tree;
pub(crate) fn expected_parameters(_: &Tree) -> ExpectedParameters {
    ExpectedParameters::default()
}
impl crate::Rejected {
    /// stub
    pub fn feedback(&self) -> String {
        self.detail.clone()
    }
}
impl crate::Repaired<'_> {
    /// stub
    pub fn note(&self) -> String {
        String::new()
    }
}
