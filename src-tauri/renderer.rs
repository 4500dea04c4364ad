//! How the web view draws on Linux: with the graphics card where there is one, else in main memory.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

/// WebKitGTK's variable; anything but `0` makes it draw in main memory.
const VARIABLE: &str = "WEBKIT_DISABLE_DMABUF_RENDERER";
/// Folder of the devices that draw.
const DEVICES: &str = "/dev/dri";

/// Chooses how the web view draws, unless the person has set the variable. Must run before there is a second thread: it
/// writes the environment.
///
/// Without a graphics card WebKitGTK uses OpenGL all the same, emulated by the processor, which takes two to three times as
/// long for a frame as drawing in main memory does (`./dev bench window`), and on some machines shows nothing.
pub(crate) fn choose() {
    if std::env::var_os(VARIABLE).is_none() && !has_graphics_card(Path::new(DEVICES)) {
        // It fails for names that no variable can have, and without memory.
        let _ = glib::setenv(VARIABLE, "1", false);
    }
}

/// Returns whether one of the devices can render; those that only show pictures are named otherwise.
fn has_graphics_card(devices: &Path) -> bool {
    let renders = |name: &OsStr| name.as_encoded_bytes().starts_with(b"renderD");
    fs::read_dir(devices).is_ok_and(|devices| devices.flatten().any(|device| renders(&device.file_name())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_renders_is_a_graphics_card() {
        let folder = std::env::temp_dir().join(format!("superstep-devices-{}", std::process::id()));
        assert!(!has_graphics_card(&folder), "there is no folder of devices");
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join("card0"), "").expect("a device");
        assert!(!has_graphics_card(&folder), "card0 only shows");
        fs::write(folder.join("renderD128"), "").expect("a device");
        assert!(has_graphics_card(&folder));
        let _ = fs::remove_dir_all(&folder);
    }
}
