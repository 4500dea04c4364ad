//! Where the window was, so that it opens there again.

use std::fs;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use superstep_workbench::default_data_dir;
use tauri::{PhysicalPosition, PhysicalSize, WebviewWindow, Window};

/// In physical pixels.
#[derive(Debug, Serialize, Deserialize)]
struct Place {
    x: i32,
    y: i32,
    width: u32,
    height: u32,
    maximized: bool,
}

fn file() -> Option<PathBuf> {
    Some(default_data_dir()?.join("window.json"))
}

/// Notes where the window is. A place that cannot be written is no reason to keep the window open.
pub(crate) fn remember(window: &Window) {
    let place = || -> Option<Place> {
        let (position, size) = (window.outer_position().ok()?, window.inner_size().ok()?);
        let maximized = window.is_maximized().ok()?;
        Some(Place {
            x: position.x,
            y: position.y,
            width: size.width,
            height: size.height,
            maximized,
        })
    };
    if let (Some(place), Some(file)) = (place(), file())
        && let Ok(text) = serde_json::to_vec(&place)
        && let Err(error) = fs::write(&file, text)
    {
        tracing::warn!(%error, "the window's place was not noted");
    }
}

/// Puts the window where it was, if that is still on a screen.
pub(crate) fn restore(window: &WebviewWindow) {
    let noted = file()
        .and_then(|file| fs::read(file).ok())
        .and_then(|text| serde_json::from_slice::<Place>(&text).ok());
    let Some(place) = noted.filter(|place| place.width >= 400 && place.height >= 300) else {
        return;
    };
    let middle = (
        place.x.saturating_add((place.width / 2) as i32),
        place.y.saturating_add((place.height / 2) as i32),
    );
    let on_screen = window
        .available_monitors()
        .unwrap_or_default()
        .iter()
        .any(|monitor| {
            let (at, size) = (monitor.position(), monitor.size());
            (at.x..at.x.saturating_add(size.width as i32)).contains(&middle.0)
                && (at.y..at.y.saturating_add(size.height as i32)).contains(&middle.1)
        });
    if !on_screen {
        return;
    }
    // A window manager may refuse; the window then stays where it put it.
    let _ = window.set_size(PhysicalSize::new(place.width, place.height));
    let _ = window.set_position(PhysicalPosition::new(place.x, place.y));
    if place.maximized {
        let _ = window.maximize();
    }
}
