//! The fixes of a repaired call, rendered when they are read.

use std::fmt;
use std::sync::OnceLock;

use crate::fix::Fix;

/// Renders the fixes of a call.
type Render<'a> = dyn Fn() -> Vec<Fix> + Send + Sync + 'a;

/// The fixes of a repaired call.
#[derive(Clone, Default)]
pub struct Fixes<'a> {
    rendered: OnceLock<Vec<Fix>>,
    marker: std::marker::PhantomData<&'a ()>,
}
impl Fixes<'_> {
    /// x
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Fix> {
        self.rendered
            .get()
            .map(Vec::as_slice)
            .unwrap_or_default()
            .iter()
    }
    /// x
    pub fn into_owned(self) -> Fixes<'static> {
        Fixes {
            rendered: self.rendered,
            marker: std::marker::PhantomData,
        }
    }
}
impl fmt::Debug for Fixes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
