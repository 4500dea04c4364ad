//! The desktop host: a window around the workbench, and nothing that could run without one.
//!
//! Two commands carry everything: `rpc` for the workbench's commands, `subscribe` for its events. Native file dialogs
//! come from the dialog plugin and are called by the interface itself.

mod place;
#[cfg(target_os = "linux")]
mod renderer;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::Mutex;
use superstep_workbench::wire::{EventBatch, Json, Problem};
use superstep_workbench::{Options, ShowAddress, Workbench, default_data_dir, show_address};
use tauri::async_runtime::{self, JoinHandle};
use tauri::ipc::Channel;
use tauri::{AppHandle, Manager, State, WebviewWindow, Window, WindowEvent};
use tokio::sync::watch;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// What the commands share.
struct Host {
    options: Result<Options, Problem>,
    /// The workbench, once it is open. A window opens in any case and shows why the workbench does not; every command
    /// tries again, so that putting the cause right is enough.
    workbench: watch::Sender<Option<Arc<Workbench>>>,
    opening: tokio::sync::Mutex<()>,
    /// The events of each window go to its newest subscriber; a page that was loaded again leaves none behind.
    streams: Mutex<HashMap<String, JoinHandle<()>>>,
}

impl Host {
    fn new(options: Result<Options, Problem>) -> Self {
        let workbench = watch::Sender::new(None);
        Host {
            options,
            workbench,
            opening: tokio::sync::Mutex::default(),
            streams: Mutex::default(),
        }
    }

    async fn workbench(&self) -> Result<Arc<Workbench>, Problem> {
        let open = || self.workbench.borrow().clone();
        if let Some(workbench) = open() {
            return Ok(workbench);
        }
        let _opening = self.opening.lock().await;
        if let Some(workbench) = open() {
            return Ok(workbench);
        }
        match Workbench::open(self.options.clone()?).await {
            Ok(workbench) => {
                self.workbench.send_replace(Some(workbench.clone()));
                Ok(workbench)
            }
            Err(problem) => {
                tracing::error!(%problem, remedy = problem.remedy, "the workbench could not be opened");
                Err(problem)
            }
        }
    }
}

#[tauri::command]
async fn rpc(host: State<'_, Host>, command: String, request: Json) -> Result<Json, Problem> {
    host.workbench().await?.call(&command, request).await
}

#[tauri::command]
fn subscribe(host: State<'_, Host>, window: WebviewWindow, channel: Channel<EventBatch>) {
    // Listening begins now when the workbench is open, so that what the next command does is not missed.
    let open = host
        .workbench
        .borrow()
        .as_ref()
        .map(|workbench| workbench.subscribe());
    let mut opened = host.workbench.subscribe();
    let stream = async_runtime::spawn(async move {
        let mut subscription = match open {
            Some(subscription) => subscription,
            None => match opened.wait_for(Option::is_some).await.as_deref() {
                Ok(Some(workbench)) => workbench.subscribe(),
                _ => return,
            },
        };
        while let Some(batch) = subscription.next().await {
            if channel.send(batch).is_err() {
                break;
            }
        }
    });
    let mut streams = host.streams.lock();
    if let Some(old) = streams.insert(window.label().to_owned(), stream) {
        old.abort();
    }
}

/// The examples: in the repository while developing, else beside the program.
fn examples_dir(app: &AppHandle) -> Option<PathBuf> {
    let repository = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("graphs");
    if cfg!(debug_assertions) && repository.is_dir() {
        return Some(repository);
    }
    app.path()
        .resource_dir()
        .ok()
        .map(|dir| dir.join("graphs"))
        .filter(|dir| dir.is_dir())
}

fn options(app: &AppHandle) -> Result<Options, Problem> {
    let data_dir = default_data_dir().ok_or_else(|| {
        Problem::new("no-data-folder", "There is no home folder to keep data in.")
            .remedy("Set SUPERSTEP_DATA to a folder and start again.")
    })?;
    Ok(Options::new(data_dir)
        .examples_dir(examples_dir(app))
        .browser(ShowAddress(show_address)))
}

/// Closing keeps what is not saved before the window goes.
fn on_window_event(window: &Window, event: &WindowEvent) {
    let WindowEvent::CloseRequested { api, .. } = event else {
        return;
    };
    api.prevent_close();
    let workbench = window.state::<Host>().workbench.borrow().clone();
    // A data folder that could not be opened, as that of a newer release, stays as it is.
    if workbench.is_some() {
        place::remember(window);
    }
    let window = window.clone();
    async_runtime::spawn(async move {
        if let Some(workbench) = workbench {
            workbench.shutdown().await;
        }
        if let Err(error) = window.destroy() {
            tracing::error!(%error, "the window did not close");
            window.app_handle().exit(1);
        }
    });
}

/// Opens the window and runs until it is closed.
pub fn run() {
    #[cfg(target_os = "linux")]
    renderer::choose();
    tracing_subscriber::registry()
        .with(superstep_workbench::log("warn"))
        .init();
    let built = tauri::Builder::default()
        .plugin(tauri_plugin_dialog::init())
        .invoke_handler(tauri::generate_handler![rpc, subscribe])
        .setup(|app| {
            let host = Host::new(options(app.handle()));
            // Before the page asks for it, so that its first event is not missed.
            let _ = async_runtime::block_on(host.workbench());
            app.manage(host);
            if let Some(window) = app.get_webview_window("main") {
                place::restore(&window);
                window.show()?;
            }
            Ok(())
        })
        .on_window_event(on_window_event)
        .build(tauri::generate_context!());
    match built {
        Ok(app) => app.run(|_, _| {}),
        Err(error) => {
            tracing::error!(%error, "the window could not be opened");
            std::process::exit(1);
        }
    }
}
