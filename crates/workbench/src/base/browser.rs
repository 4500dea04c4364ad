//! The person's browser, which hosts that have one open.

/// Way to show an address in the person's browser.
#[derive(Clone, Copy, Debug)]
pub struct ShowAddress(
    /// The way to do it.
    pub fn(&str) -> std::io::Result<()>,
);

/// Shows an address in the browser of the person who sits at this computer.
pub fn show_address(address: &str) -> std::io::Result<()> {
    open::that_detached(address)
}
