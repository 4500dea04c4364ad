//! Pictures that a graph names by a file of its project or by an address, as parts of a message.

use std::path::{Component, Path};

use serde_json::{Value as Json, json};

use super::ModelError;
use crate::base::files;

/// Largest picture file.
const MAX_PICTURE: u64 = 20 * 1024 * 1024;
/// Most pictures of one request.
pub(crate) const MAX_PICTURES: usize = 64;

/// Loads a picture as a part of a message; `name` is a path in the graph's folder or an address.
///
/// `root` bounds the files: the project's folder. Reads the disk.
pub(crate) fn part(folder: Option<&Path>, root: Option<&Path>, name: &str) -> Result<Json, ModelError> {
    let bad = |cause: String| ModelError::BadPicture {
        name: name.chars().take(200).collect(),
        cause,
    };
    if ["http://", "https://", "data:"]
        .iter()
        .any(|scheme| name.starts_with(scheme))
    {
        return Ok(json!({"type": "image_url", "image_url": {"url": name}}));
    }
    let folder =
        folder.ok_or_else(|| bad("the graph is not saved yet, so it has no folder. Save it first".into()))?;
    let relative = Path::new(name);
    let plain = relative.components().all(|part| {
        matches!(
            part,
            Component::Normal(_) | Component::CurDir | Component::ParentDir
        )
    });
    let outside = || bad("it is outside of the project. Name a file inside it".into());
    if !plain || name.contains('\\') {
        return Err(outside());
    }
    let unreadable = |e: std::io::Error| bad(format!("the file cannot be read ({e})"));
    let file = folder.join(relative).canonicalize().map_err(unreadable)?;
    let root = root.unwrap_or(folder).canonicalize().map_err(unreadable)?;
    if !file.starts_with(&root) {
        return Err(outside());
    }
    let bytes = files::read_bytes(&file, MAX_PICTURE).map_err(unreadable)?;
    let mime = mime(&bytes).ok_or_else(|| bad("it is no PNG, JPEG, GIF or WebP picture".into()))?;
    Ok(json!({"type": "image", "mime_type": mime, "base64": base64(&bytes)}))
}

/// Detects the type by the first bytes; the file name proves nothing.
fn mime(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

fn base64(bytes: &[u8]) -> String {
    const SIGNS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let bits = three
            .iter()
            .fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte))
            << (8 * (3 - three.len()));
        for place in 0..4 {
            text.push(match place <= three.len() {
                true => char::from(SIGNS[(bits >> (18 - 6 * place) & 63) as usize]),
                false => '=',
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_as_text() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn only_pictures_of_the_project_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("project/graphs");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("a.png"), b"\x89PNG rest").unwrap();
        std::fs::write(dir.path().join("project/b.gif"), b"GIF89a").unwrap();
        std::fs::write(folder.join("key.png"), b"-----BEGIN KEY").unwrap();
        std::fs::write(dir.path().join("secret.png"), b"\x89PNG").unwrap();
        let root = dir.path().join("project");
        let read = |name: &str| part(Some(&folder), Some(&root), name);
        assert_eq!(
            read("a.png").unwrap(),
            json!({"type": "image", "mime_type": "image/png", "base64": "iVBORyByZXN0"})
        );
        assert_eq!(read("../b.gif").unwrap()["mime_type"], "image/gif");
        assert_eq!(
            read("https://x.org/a.png").unwrap()["image_url"]["url"],
            "https://x.org/a.png"
        );
        #[cfg(unix)]
        std::os::unix::fs::symlink(dir.path().join("secret.png"), folder.join("link.png")).unwrap();
        for (name, cause) in [
            ("../../secret.png", "outside"),
            ("/etc/passwd", "outside"),
            #[cfg(unix)]
            ("link.png", "outside"),
            ("key.png", "no PNG"),
            ("none.png", "cannot be read"),
            (".", "it is no regular file"),
            ("..\\b.gif", "outside"),
        ] {
            let text = read(name).unwrap_err().to_string();
            assert!(text.contains(cause), "{name}: {text}");
        }
        assert!(
            part(None, None, "a.png")
                .unwrap_err()
                .to_string()
                .contains("Save it")
        );
    }
}
