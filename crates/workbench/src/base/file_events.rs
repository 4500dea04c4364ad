//! Events of the file system: that a file may be another one now, and never what happened to it.
//!
//! A path leads to other content when any name on its way is given to something else: the file is written or replaced, a
//! folder above is moved, a link is changed. So every folder is watched in which a name of the path is looked up. Where the
//! system reports nothing (a network folder, too many watches), the caller has to look by itself.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use notify::event::{AccessKind, AccessMode, EventKind};
use notify::{Event, RecursiveMode, Watcher};
use tokio::sync::Notify;

/// Links of one path that are followed; the system itself follows no more.
const MAX_LINKS: usize = 40;
/// How often watching begins again while folders come and go.
const MAX_TRIES: usize = 4;
/// Elsewhere the system watches whole trees: the folders far above would report everything on the disk.
const EVERY_FOLDER: bool = cfg!(any(target_os = "linux", target_os = "android"));

type Handler = Box<dyn FnMut(notify::Result<Event>) + Send>;
/// Creates a watcher that calls the handler.
pub(crate) type MakeWatcher = fn(Handler) -> notify::Result<Box<dyn Watcher + Send>>;

/// Creates the watcher of this system.
pub(crate) fn of_system(handler: Handler) -> notify::Result<Box<dyn Watcher + Send>> {
    // What links lead to is watched by its own path.
    let config = notify::Config::default().with_follow_symlinks(false);
    notify::RecommendedWatcher::new(handler, config).map(|watcher| Box::new(watcher) as _)
}

/// Folders and names that decide what files hold.
#[derive(Clone, Debug, Default, PartialEq)]
struct Routes {
    /// Folders in which names are looked up.
    folders: BTreeSet<PathBuf>,
    /// Those in which the files themselves are.
    holders: BTreeSet<PathBuf>,
    /// Paths that are looked up there.
    names: BTreeSet<PathBuf>,
}

/// Puts the components of a path in front of what is still to be looked up (the next one last).
fn push_components(rest: &mut Vec<OsString>, path: &Path) {
    rest.extend(path.components().rev().map(|part| part.as_os_str().to_owned()));
}

impl Routes {
    fn of(files: &[PathBuf]) -> Self {
        let mut routes = Self::default();
        for file in files {
            routes.add(file);
        }
        routes
    }

    fn add(&mut self, file: &Path) {
        let mut rest = Vec::new();
        push_components(&mut rest, file);
        let (mut here, mut links) = (PathBuf::new(), 0);
        while let Some(part) = rest.pop() {
            match Path::new(&part).components().next() {
                Some(Component::Normal(name)) => {
                    let entry = here.join(name);
                    let led = std::fs::read_link(&entry);
                    let is_missing = (led.as_ref())
                        .is_err_and(|e| matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory));
                    let is_last = rest.is_empty() || is_missing;
                    if EVERY_FOLDER || is_last || led.is_ok() {
                        self.folders.insert(here.clone());
                        self.names.insert(entry.clone());
                    }
                    match led {
                        Ok(target) if links < MAX_LINKS => {
                            links += 1;
                            push_components(&mut rest, &target);
                            continue;
                        }
                        _ if is_last => {
                            self.holders.insert(here);
                            return;
                        }
                        _ => here = entry,
                    }
                }
                Some(Component::ParentDir) => drop(here.pop()),
                Some(Component::CurDir) | None => {}
                // Joining a root replaces what was there.
                Some(root) => here = here.join(root),
            }
        }
    }

    /// Returns whether an event may be about one of the files.
    fn concern(&self, event: &Event) -> bool {
        let is_read = match event.kind {
            EventKind::Access(AccessKind::Close(AccessMode::Write)) => false,
            EventKind::Access(_) => true,
            _ => false,
        };
        if is_read {
            return false;
        }
        // Elsewhere one name is written in several ways.
        !EVERY_FOLDER
            || event.need_rescan()
            || event.paths.is_empty()
            || (event.paths.iter()).any(|path| self.names.contains(path) || self.folders.contains(path))
    }

    /// Returns whether after an event a folder may not be watched any more.
    fn may_end(&self, event: &Event) -> bool {
        event.need_rescan() || event.paths.iter().any(|path| self.folders.contains(path))
    }
}

/// A set of files that is watched.
struct Watching {
    routes: Routes,
    /// A folder was moved, removed or made again.
    is_stale: Arc<AtomicBool>,
    hears_all: bool,
    /// Its events end with it.
    _watcher: Option<Box<dyn Watcher + Send>>,
}

/// Events of a set of files.
pub(crate) struct FileEvents {
    make: MakeWatcher,
    wake: Arc<Notify>,
    watching: Option<Watching>,
}

impl fmt::Debug for FileEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let routes = self.watching.as_ref().map(|watching| &watching.routes);
        f.debug_struct("FileEvents").field("routes", &routes).finish()
    }
}

impl FileEvents {
    /// Creates events that wake the waiting task, and watch nothing yet.
    pub(crate) fn new(make: MakeWatcher, wake: Arc<Notify>) -> Self {
        Self {
            make,
            wake,
            watching: None,
        }
    }

    /// Watches these files from now on, and no others. Returns whether the system reports every change; where it does not,
    /// they are to be looked at again and again. May wait for the disk.
    pub(crate) fn follow(&mut self, files: &[PathBuf]) -> bool {
        for _ in 0..MAX_TRIES {
            let routes = Routes::of(files);
            if routes.folders.is_empty() {
                self.watching = None;
                return true;
            }
            // What was changed while watching began leads elsewhere now.
            if let Some(watching) = &self.watching
                && watching.routes == routes
                && !watching.is_stale.load(Ordering::Acquire)
            {
                return watching.hears_all;
            }
            let heard_all = self.watching.as_ref().is_none_or(|watching| watching.hears_all);
            self.watching = Some(self.watch(routes, heard_all));
        }
        false
    }

    /// Begins to watch. What is watched until now is watched until this has begun.
    fn watch(&self, routes: Routes, heard_all: bool) -> Watching {
        let is_stale = Arc::new(AtomicBool::new(false));
        let (of_handler, stale, wake) = (routes.clone(), is_stale.clone(), self.wake.clone());
        let made = (self.make)(Box::new(move |event| {
            match &event {
                Ok(event) if !of_handler.concern(event) => return,
                Ok(event) if !of_handler.may_end(event) => {}
                _ => stale.store(true, Ordering::Release),
            }
            wake.notify_one();
        }));
        let mut failed = None;
        let watcher = match made {
            Ok(mut watcher) => {
                for folder in &routes.folders {
                    let Err(error) = watcher.watch(folder, RecursiveMode::NonRecursive) else {
                        continue;
                    };
                    match kind_of(&error) {
                        ErrorKind::NotFound => is_stale.store(true, Ordering::Release),
                        // Who may not list a folder hears nothing of it; what it holds is watched.
                        ErrorKind::PermissionDenied if !routes.holders.contains(folder) => {}
                        _ => failed = Some(error),
                    }
                }
                Some(watcher)
            }
            Err(error) => {
                failed = Some(error);
                None
            }
        };
        let hears_all = failed.is_none() && !routes.holders.iter().any(|folder| is_remote(folder));
        if let Some(error) = failed
            && heard_all
        {
            tracing::warn!(%error, "the system does not tell of changed files: they are looked at each second");
        }
        Watching {
            routes,
            is_stale,
            hears_all,
            _watcher: watcher,
        }
    }
}

fn kind_of(error: &notify::Error) -> ErrorKind {
    match &error.kind {
        notify::ErrorKind::PathNotFound => ErrorKind::NotFound,
        notify::ErrorKind::Io(error) => error.kind(),
        _ => ErrorKind::Other,
    }
}

/// Returns whether other machines may write into a folder, which this system does not report.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn is_remote(folder: &Path) -> bool {
    /// NFS, SMB and CIFS, FUSE (as sshfs), 9P, AFS, Coda, Ceph, Lustre, GPFS, OCFS2, GFS2, and folders of the host of a
    /// virtual machine.
    const REMOTE: [u32; 17] = [
        0x6969,
        0x517B,
        0xFF53_4D42,
        0xFE53_4D42,
        0x6573_5546,
        0x0102_1997,
        0x5346_414F,
        0x6B41_4653,
        0x7375_7245,
        0x00C3_6400,
        0x0BD0_0BD0,
        0x4750_4653,
        0x7461_636F,
        0x0116_1970,
        0x786F_4256,
        0x7C7C_6673,
        0xBACB_ACBC,
    ];
    rustix::fs::statfs(folder).is_ok_and(|facts| REMOTE.contains(&(facts.f_type as u32)))
}

#[cfg(target_os = "macos")]
fn is_remote(folder: &Path) -> bool {
    /// `MNT_LOCAL`
    const LOCAL: u32 = 0x1000;
    rustix::fs::statfs(folder).is_ok_and(|facts| facts.f_flags & LOCAL == 0)
}

#[cfg(windows)]
fn is_remote(folder: &Path) -> bool {
    use std::path::Prefix;
    matches!(
        folder.components().next(),
        Some(Component::Prefix(prefix)) if matches!(prefix.kind(), Prefix::UNC(..) | Prefix::VerbatimUNC(..))
    )
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "macos", windows)))]
fn is_remote(_: &Path) -> bool {
    true
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs;
    use std::time::Duration;

    use futures::FutureExt as _;
    use notify::event::{CreateKind, DataChange, ModifyKind};
    use notify::{Config, EventHandler, WatcherKind};
    use parking_lot::Mutex;

    use super::*;

    /// A system with as many watches as it has folders to spare.
    #[derive(Debug, Default)]
    struct Full(usize);

    impl Watcher for Full {
        fn new<F: EventHandler>(_: F, _: Config) -> notify::Result<Self> {
            Ok(Self::default())
        }
        fn watch(&mut self, folder: &Path, _: RecursiveMode) -> notify::Result<()> {
            self.0 += 1;
            match self.0 {
                ..=2 => Ok(()),
                _ => Err(notify::Error::new(notify::ErrorKind::MaxFilesWatch).add_path(folder.into())),
            }
        }
        fn unwatch(&mut self, _: &Path) -> notify::Result<()> {
            Ok(())
        }
        fn kind() -> WatcherKind {
            WatcherKind::NullWatcher
        }
    }

    async fn woken(wake: &Notify) {
        let woken = tokio::time::timeout(Duration::from_secs(120), wake.notified());
        woken.await.expect("the change is heard");
    }

    /// Waits until the path holds this text, and looks only when something was heard.
    async fn heard(events: &mut FileEvents, wake: &Notify, path: &Path, text: Option<&str>) {
        loop {
            woken(wake).await;
            events.follow(&[path.to_owned()]);
            if fs::read_to_string(path).ok().as_deref() == text {
                return;
            }
        }
    }

    #[test]
    fn a_route_has_every_folder_in_which_a_name_is_looked_up() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for folder in ["real/deep", "links"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        fs::write(root.join("real/deep/graph.json"), "").unwrap();
        std::os::unix::fs::symlink("../real", root.join("links/way")).unwrap();
        let path = root.join("links/way/deep/graph.json");
        let routes = Routes::of(std::slice::from_ref(&path));
        for folder in ["", "links", "real", "real/deep"] {
            assert!(
                routes.folders.contains(&root.join(folder)) || folder.is_empty(),
                "{folder}"
            );
        }
        assert!(routes.folders.contains(Path::new("/")));
        assert_eq!(routes.holders, BTreeSet::from([root.join("real/deep")]));
        assert!(routes.names.contains(&root.join("links/way")));
        assert!(routes.names.contains(&root.join("real/deep/graph.json")));

        // A link to itself leads nowhere, and a folder that is missing is waited for.
        std::os::unix::fs::symlink("round", root.join("round")).unwrap();
        assert!(
            Routes::of(&[root.join("round/graph.json")])
                .folders
                .contains(&root)
        );
        let missing = Routes::of(&[root.join("none/deep/graph.json")]);
        assert_eq!(missing.holders, BTreeSet::from([root.clone()]));
        assert!(missing.names.contains(&root.join("none")));
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn whatever_gives_a_path_another_content_is_heard() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let at = |path: &str| root.join(path);
        fs::create_dir_all(at("above/project")).unwrap();
        let path = at("above/project/graph.json");
        fs::write(&path, "first").unwrap();
        let wake = Arc::new(Notify::new());
        let mut events = FileEvents::new(of_system, wake.clone());
        events.follow(&[path.clone()]);

        fs::write(&path, "in place").unwrap();
        heard(&mut events, &wake, &path, Some("in place")).await;
        fs::write(at("above/project/.new"), "renamed").unwrap();
        fs::rename(at("above/project/.new"), &path).unwrap();
        heard(&mut events, &wake, &path, Some("renamed")).await;
        fs::remove_file(&path).unwrap();
        heard(&mut events, &wake, &path, None).await;
        fs::write(&path, "again").unwrap();
        heard(&mut events, &wake, &path, Some("again")).await;

        for (from, to) in [("above/project", "above/away"), ("above", "far")] {
            fs::rename(at(from), at(to)).unwrap();
            heard(&mut events, &wake, &path, None).await;
            fs::rename(at(to), at(from)).unwrap();
            heard(&mut events, &wake, &path, Some("again")).await;
            fs::write(&path, "after").unwrap();
            heard(&mut events, &wake, &path, Some("after")).await;
            fs::write(&path, "again").unwrap();
            heard(&mut events, &wake, &path, Some("again")).await;
        }
        fs::remove_dir_all(at("above")).unwrap();
        heard(&mut events, &wake, &path, None).await;
        fs::create_dir_all(at("above/project")).unwrap();
        fs::write(&path, "anew").unwrap();
        heard(&mut events, &wake, &path, Some("anew")).await;

        // The file becomes a link, which leads to another file then; that one is written.
        for (name, text) in [("one.json", "one"), ("two.json", "two")] {
            fs::write(at(name), text).unwrap();
        }
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink(at("one.json"), &path).unwrap();
        heard(&mut events, &wake, &path, Some("one")).await;
        std::os::unix::fs::symlink(at("two.json"), at("next")).unwrap();
        fs::rename(at("next"), &path).unwrap();
        heard(&mut events, &wake, &path, Some("two")).await;
        fs::write(at("two.json"), "two again").unwrap();
        heard(&mut events, &wake, &path, Some("two again")).await;
    }

    #[test]
    fn a_system_that_does_not_tell_of_everything_is_looked_at() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("graph.json");
        let wake = Arc::new(Notify::new());
        let full: MakeWatcher = |_| Ok(Box::new(Full::default()));
        assert!(!FileEvents::new(full, wake.clone()).follow(&[path.clone()]));
        let none: MakeWatcher = |_| Err(notify::Error::io(std::io::Error::other("too many open files")));
        let mut events = FileEvents::new(none, wake);
        assert!(!events.follow(&[path]));
        assert!(events.follow(&[]), "of nothing there is nothing to tell");
    }

    #[test]
    fn only_what_may_change_a_file_wakes_and_many_events_wake_once() {
        static HANDLER: Mutex<Option<Handler>> = Mutex::new(None);
        let kept: MakeWatcher = |handler| {
            *HANDLER.lock() = Some(handler);
            Ok(Box::new(notify::NullWatcher))
        };
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().canonicalize().unwrap().join("graph.json");
        fs::write(&path, "").unwrap();
        let wake = Arc::new(Notify::new());
        let mut events = FileEvents::new(kept, wake.clone());
        assert!(events.follow(&[path.clone()]));
        let tell = |event: notify::Result<Event>| HANDLER.lock().as_mut().unwrap()(event);
        let is_woken = || wake.notified().now_or_never().is_some();

        let opened = EventKind::Access(AccessKind::Open(AccessMode::Any));
        tell(Ok(Event::new(opened).add_path(path.clone())));
        let made = EventKind::Create(CreateKind::File);
        tell(Ok(Event::new(made).add_path(path.with_file_name("other.json"))));
        assert!(!is_woken());

        let written = EventKind::Modify(ModifyKind::Data(DataChange::Any));
        for _ in 0..10_000 {
            tell(Ok(Event::new(written).add_path(path.clone())));
        }
        assert!(is_woken());
        assert!(!is_woken(), "ten thousand events are one reason to look");
        assert!(events.follow(&[path.clone()]));

        // Events that were lost are a reason, too, and then everything is watched again.
        tell(Ok(
            Event::new(EventKind::Other).set_flag(notify::event::Flag::Rescan)
        ));
        assert!(is_woken());
        assert!(events.watching.as_ref().unwrap().is_stale.load(Ordering::Acquire));
        assert!(events.follow(&[path]));
        assert!(!events.watching.as_ref().unwrap().is_stale.load(Ordering::Acquire));
        tell(Err(notify::Error::generic("broken")));
        assert!(is_woken());
    }
}
