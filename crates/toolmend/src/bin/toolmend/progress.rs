//! A line of progress for a person who does not see the answers pass by.

use std::io::{self, IsTerminal};

use indicatif::{ProgressBar, ProgressStyle};

/// Shown only where standard error is a terminal and standard output is not.
pub(crate) fn bar() -> ProgressBar {
    if !io::stderr().is_terminal() || io::stdout().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new_spinner();
    let style = ProgressStyle::with_template("{spinner} {human_pos} lines, {per_sec}, {elapsed}");
    if let Ok(style) = style {
        bar.set_style(style);
    }
    bar
}
