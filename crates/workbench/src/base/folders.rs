//! The user's data folder, the same for the window, the server and the command line.

use std::ffi::OsString;
use std::path::PathBuf;

/// Returns `$SUPERSTEP_DATA`, or `superstep` in the place where this system keeps such data; `None` when there is no
/// home.
pub fn default_data_dir() -> Option<PathBuf> {
    data_dir(|name| std::env::var_os(name).filter(|value| !value.is_empty()))
}

fn data_dir(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    if let Some(dir) = variable("SUPERSTEP_DATA") {
        return Some(dir.into());
    }
    let base = if cfg!(target_os = "macos") {
        PathBuf::from(variable("HOME")?).join("Library/Application Support")
    } else if cfg!(windows) {
        variable("APPDATA")?.into()
    } else {
        // A relative path is to be ignored, says the XDG specification.
        match variable("XDG_DATA_HOME")
            .map(PathBuf::from)
            .filter(|dir| dir.is_absolute())
        {
            Some(dir) => dir,
            None => PathBuf::from(variable("HOME")?).join(".local/share"),
        }
    };
    Some(base.join("superstep"))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_folder_follows_the_environment() {
        let with = |pairs: &'static [(&'static str, &'static str)]| {
            data_dir(|name| {
                pairs
                    .iter()
                    .find(|(known, _)| *known == name)
                    .map(|(_, value)| (*value).into())
            })
        };
        assert_eq!(
            with(&[("SUPERSTEP_DATA", "/d"), ("HOME", "/h")]).unwrap(),
            PathBuf::from("/d")
        );
        assert_eq!(
            with(&[("XDG_DATA_HOME", "/x"), ("HOME", "/h")]).unwrap(),
            PathBuf::from("/x/superstep")
        );
        assert_eq!(
            with(&[("XDG_DATA_HOME", "x"), ("HOME", "/h")]).unwrap(),
            PathBuf::from("/h/.local/share/superstep")
        );
        assert_eq!(with(&[]), None);
    }

    #[test]
    fn the_folder_of_this_process_is_that_of_its_environment() {
        let of_process = data_dir(|name| std::env::var_os(name).filter(|value| !value.is_empty()));
        assert_eq!(default_data_dir(), of_process);
    }
}
