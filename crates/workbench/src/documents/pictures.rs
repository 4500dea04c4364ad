//! Drawings of graphs as files. The interface draws them; only a host can write where a person chose.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::Workbench;
use crate::base::blocking;
use crate::base::files::{self, Staged};
use crate::wire::{PictureSaved, Problem, SavePicture};
use superstep_document::text;

/// The first bytes of every PNG file.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

/// Says whether the bytes are a picture of the kind that the file's name promises.
fn is_picture(path: &Path, bytes: &[u8]) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    match ending.map(str::to_ascii_lowercase).as_deref() {
        Some("png") => bytes.starts_with(PNG),
        Some("svg") => std::str::from_utf8(bytes).is_ok_and(|text| text.starts_with("<svg ")),
        _ => false,
    }
}

impl Workbench {
    pub(crate) async fn picture_save(
        self: &Arc<Self>,
        request: SavePicture,
    ) -> Result<PictureSaved, Problem> {
        let path = files::absolute(&request.path)?;
        blocking(move || {
            let bytes = STANDARD
                .decode(&request.content)
                .ok()
                .filter(|bytes| is_picture(&path, bytes))
                .ok_or_else(|| {
                    Problem::invalid(text!(
                        "{path} would not be an SVG or PNG picture.",
                        path = path.display().to_string()
                    ))
                    .remedy(text!(
                        "Choose a file name that ends in .svg or .png, as the picture does."
                    ))
                })?;
            let wrong = |error: &std::io::Error| Problem::file(text!("write"), &path, error);
            let mut staged = Staged::begin(&path).map_err(|error| wrong(&error))?;
            staged.file.write_all(&bytes).map_err(|error| wrong(&error))?;
            staged.finish().map_err(|error| wrong(&error))?;
            Ok(PictureSaved {
                path: path.to_string_lossy().into_owned(),
            })
        })
        .await?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_holds_the_picture_that_its_name_promises() {
        let png = b"\x89PNG\r\n\x1a\nrest";
        let svg = b"<svg xmlns=\"http://www.w3.org/2000/svg\"/>";
        assert!(is_picture(Path::new("a.png"), png));
        assert!(is_picture(Path::new("a.SVG"), svg));
        assert!(
            !is_picture(Path::new("a.svg"), png),
            "a PNG under the name of an SVG"
        );
        assert!(
            !is_picture(Path::new("a.png"), svg),
            "an SVG under the name of a PNG"
        );
        assert!(!is_picture(Path::new(".bashrc"), b"<svg "), "no picture's name");
        assert!(!is_picture(Path::new("a.svg"), b"<script>"), "no SVG");
    }
}
