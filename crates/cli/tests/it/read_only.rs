//! A disk that is read-only: what only reads works there, and what writes says so and leaves everything as it was.

use crate::{Done, User, example};

/// Exit code of the script that finds no disk to mount.
const NO_DISK: i32 = 99;
/// Makes the working folder a disk that is read-only, for this command alone.
const MOUNT: &str = "{ mount --bind \"$PWD\" \"$PWD\" && mount -o remount,bind,ro \"$PWD\"; } || exit 99; cd \"$PWD\"; exec \"$0\" \"$@\"";

/// Calls the program with the user's folder on such a disk; `None` where this user may mount none.
fn read_only(user: &User, args: &[&str]) -> Option<Done> {
    let around = ["unshare", "--map-root-user", "--mount", "sh", "-c", MOUNT];
    let done = user.through(&around, args);
    let refused = done.err.starts_with("unshare:");
    if done.code == NO_DISK || refused {
        println!("skipped: a read-only disk cannot be mounted here");
        return None;
    }
    Some(done)
}

#[test]
fn what_only_reads_works_on_a_disk_that_is_read_only() {
    let user = User::new();
    for db in ["", "sqlite:own.db", "file:own"] {
        let with_db = |args: &[&'static str]| {
            let mut args = args.to_vec();
            if !db.is_empty() {
                args.extend(["--db", db]);
            }
            args
        };
        let counter = example("counter");
        for thread in ["t", "u"] {
            let mut run = vec!["run", &counter, "--example", "1", "--thread", thread];
            run.extend(with_db(&[]));
            user.expect(0, &run);
        }
        let commands: [&[&str]; 14] = [
            &["threads", "list", "--json"],
            &["threads", "show", "t", "--json"],
            &["threads", "waiting"],
            &["threads", "verify"],
            &["threads", "export", "t"],
            &["state", "t"],
            &["state", "t", "--json"],
            &["history", "t"],
            &["why", "t", "count"],
            &["explain", "t"],
            &["trace", "t", "--json"],
            &["effects", "t@1"],
            &["diff", "t@2", "u"],
            &["find", "--where", "state.count == 3"],
        ];
        for command in commands {
            let command = with_db(command);
            let wanted = user.call(&command);
            let Some(done) = read_only(&user, &command) else {
                return;
            };
            assert_eq!(
                (done.code, &done.out),
                (wanted.code, &wanted.out),
                "{command:?}: {}",
                done.err
            );
        }
        let changes: [&[&str]; 6] = [
            &["run", &counter, "--example", "1", "--thread", "new"],
            &["run", &counter, "--example", "1", "--thread", "t"],
            &["update", "t", "--values", "{\"count\": 1}"],
            &["delete", "t", "--yes"],
            &["threads", "copy", "t", "trial"],
            &["store", "put", "notes", "one", "{}"],
        ];
        for change in changes {
            let mut command = change.to_vec();
            command.extend(with_db(&[]));
            let Some(done) = read_only(&user, &command) else {
                return;
            };
            assert!(![0, 2].contains(&done.code), "{command:?}: {}", done.out);
            assert!(done.err.contains("read-only"), "{command:?}: {}", done.err);
            for misleading in ["gone on", "deleted or", "ulimit", "permissions"] {
                assert!(!done.err.contains(misleading), "{command:?}: {}", done.err);
            }
        }
        let list = user.expect(0, &with_db(&["threads", "list", "--json"]));
        assert_eq!(list.json().as_array().map(Vec::len), Some(2), "{}", list.out);
    }
}

#[test]
fn where_no_data_folder_can_be_made_nothing_was_run_yet() {
    let user = User::new();
    let Some(list) = read_only(&user, &["threads", "list", "--json"]) else {
        return;
    };
    assert_eq!((list.code, list.out.trim()), (0, "[]"), "{}", list.err);
    let counter = example("counter");
    let attempts: [&[&str]; 2] = [&["run", &counter, "--example", "1"], &["serve", "--port", "0"]];
    for attempt in attempts {
        let Some(done) = read_only(&user, attempt) else {
            return;
        };
        assert_eq!(done.code, 1, "{attempt:?}: {}", done.err);
        assert!(
            done.err.contains("Read-only file system"),
            "{attempt:?}: {}",
            done.err
        );
    }
}

#[test]
fn a_server_says_that_its_data_folder_is_on_a_read_only_disk() {
    let user = User::new();
    user.expect(0, &["run", &example("counter"), "--example", "1"]);
    std::fs::create_dir_all(user.dir.path().join("data/graphs")).unwrap();
    let Some(done) = read_only(&user, &["serve", "--port", "0"]) else {
        return;
    };
    assert_eq!(done.code, 1, "{}", done.err);
    assert!(
        done.err.contains("workbench.db") && done.err.contains("Read-only file system"),
        "{}",
        done.err
    );
    assert!(done.err.contains("on a disk that is writable"), "{}", done.err);
}
