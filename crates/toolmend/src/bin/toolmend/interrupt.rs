//! Ctrl-C and `kill`: the line that is being written is finished first.

/// Ends the process at an interrupt, once the answers that are being written are whole; at a
/// second one, at once.
#[cfg(unix)]
#[allow(clippy::exit, reason = "an interrupt ends the process, wherever it is")]
pub(crate) fn install() -> std::io::Result<()> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;

    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    std::thread::Builder::new().spawn(move || {
        let mut signals = signals.forever();
        if let Some(signal) = signals.next() {
            std::thread::spawn(move || {
                // Answers are written in one piece under this lock.
                let _whole = std::io::stdout().lock();
                std::process::exit(128 + signal);
            });
        }
        if let Some(signal) = signals.next() {
            std::process::exit(128 + signal);
        }
    })?;
    Ok(())
}

/// Elsewhere the system ends the process.
#[cfg(not(unix))]
pub(crate) fn install() -> std::io::Result<()> {
    Ok(())
}
