// SPDX-License-Identifier: MIT OR Apache-2.0
//! Finds libgsort (GSORT_DIR, then pkg-config, then the vendored build) and, on request, regenerates the bindings.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

#[cfg(feature = "bindgen")]
#[path = "build/generate.rs"]
mod generate;

/// The library that is linked: with the feature `static` the archive, otherwise the shared one.
const LIBRARY: &str = if cfg!(feature = "static") { "libgsort.a" } else { "libgsort.so" };

/// What the archive needs beside libc: its inside is C++ and may have the CUDA runtime in it.
const LIBRARIES_OF_ARCHIVE: [&str; 5] = ["stdc++", "m", "pthread", "dl", "rt"];

/// Where the library and, if known, its header lie.
struct Found {
    lib_dir: PathBuf,
    include_dir: Option<PathBuf>,
}

fn main() {
    for name in [
        "GSORT_DIR",
        "GSORT_CUDA",
        "PKG_CONFIG",
        "PKG_CONFIG_PATH",
        "PKG_CONFIG_LIBDIR",
        "DOCS_RS",
        "GSORT_BINDINGS_COPY",
    ] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=build");

    // docs.rs has no library to link with and needs none.
    let found = if env::var_os("DOCS_RS").is_some() { None } else { Some(find().unwrap_or_else(|text| fail(&text))) };
    if let Some(found) = &found {
        link(found);
    }

    #[cfg(feature = "bindgen")]
    {
        let header = header(found.as_ref()).unwrap_or_else(|| {
            fail(
                "gsort.h was not found, and the feature `bindgen` needs it: set GSORT_DIR to a folder with \
                 include/gsort.h, or build without that feature",
            )
        });
        let generated = out_dir().join("bindings.rs");
        generate::generate(&header, &generated).unwrap_or_else(|text| fail(&text));
        // For the script check-bindings, which compares with the committed ones.
        if let Some(copy) = env::var_os("GSORT_BINDINGS_COPY") {
            std::fs::copy(&generated, copy).unwrap_or_else(|error| fail(&format!("GSORT_BINDINGS_COPY: {error}")));
        }
    }
}

fn fail(text: &str) -> ! {
    eprintln!("\nerror: {text}\n");
    std::process::exit(1);
}

fn out_dir() -> PathBuf {
    PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"))
}

/// The sources of the library: those of the repository around this crate, or the copy of them in a packed crate.
fn sources() -> Result<PathBuf, String> {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let is_source = |root: &PathBuf| root.join("include/gsort.h").is_file() && root.join("CMakeLists.txt").is_file();
    let candidates = [crate_folder.join("../../.."), crate_folder.join("vendor")];
    candidates.iter().filter_map(|root| root.canonicalize().ok()).find(is_source).ok_or_else(|| {
        format!(
            "the feature `vendored` builds the library from the sources in {}, which are not there; set GSORT_DIR",
            crate_folder.join("vendor").display()
        )
    })
}

fn find() -> Result<Found, String> {
    if let Some(dir) = env::var_os("GSORT_DIR").filter(|dir| !dir.is_empty()) {
        // Naming a folder is an order: a library found elsewhere would be the wrong one.
        return find_in(Path::new(&dir)).ok_or_else(|| {
            format!(
                "no {LIBRARY} in GSORT_DIR={} (looked there and in {}); set it to the prefix gsort was installed \
                 into or to the folder it was built in, as an absolute path",
                Path::new(&dir).display(),
                lib_folders().join(", ")
            )
        });
    }
    let pkg_config_says = match find_by_pkg_config() {
        Ok(found) => return Ok(found),
        Err(text) => text,
    };
    if cfg!(feature = "vendored") {
        return build_vendored();
    }
    Err(format!(
        "the gsort library was not found. Do one of these:\n  \
         - set GSORT_DIR to the prefix gsort was installed into, or to the folder it was built in;\n  \
         - make pkg-config find gsort.pc, by PKG_CONFIG_PATH for example ({pkg_config_says});\n  \
         - enable the feature `vendored`, which builds the library with CMake from the sources in the crate."
    ))
}

/// Folders below a prefix or a build folder in which the library may lie.
fn lib_folders() -> Vec<String> {
    let arch = env::var("CARGO_CFG_TARGET_ARCH").unwrap_or_default();
    vec!["lib".into(), "lib64".into(), format!("lib/{arch}-linux-gnu")]
}

fn find_in(dir: &Path) -> Option<Found> {
    let mut candidates = vec![dir.to_path_buf()];
    candidates.extend(lib_folders().iter().map(|folder| dir.join(folder)));
    let lib_dir = candidates.into_iter().find(|lib_dir| lib_dir.join(LIBRARY).is_file())?;
    let include_dir = Some(dir.join("include")).filter(|include| include.join("gsort.h").is_file());
    Some(Found { lib_dir: lib_dir.canonicalize().ok()?, include_dir })
}

fn find_by_pkg_config() -> Result<Found, String> {
    if env::var("HOST").ok() != env::var("TARGET").ok() && env::var_os("PKG_CONFIG").is_none() {
        return Err("when cross compiling, PKG_CONFIG must name the target's pkg-config".into());
    }
    let lib_dir = PathBuf::from(pkg_config(&["--variable=libdir"])?);
    if !lib_dir.join(LIBRARY).is_file() {
        return Err(format!("pkg-config names {}, where there is no {LIBRARY}", lib_dir.display()));
    }
    let include_dir = pkg_config(&["--variable=includedir"]).ok().map(PathBuf::from);
    Ok(Found { lib_dir, include_dir })
}

fn pkg_config(arguments: &[&str]) -> Result<String, String> {
    let program = env::var_os("PKG_CONFIG").unwrap_or_else(|| "pkg-config".into());
    let output = Command::new(&program)
        .arg("--print-errors")
        .args(arguments)
        .arg("gsort >= 1.0")
        .output()
        .map_err(|error| format!("{} could not be run: {error}", Path::new(&program).display()))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).split_whitespace().collect::<Vec<_>>().join(" ");
    match (output.status.success(), text(&output.stdout)) {
        (true, value) if !value.is_empty() => Ok(value),
        (true, _) => Err("gsort.pc does not say where the library is".into()),
        (false, _) => Err(format!("it said: {}", text(&output.stderr))),
    }
}

fn build_vendored() -> Result<Found, String> {
    let root = sources()?;
    for part in ["CMakeLists.txt", "cmake", "include", "src"] {
        println!("cargo:rerun-if-changed={}", root.join(part).display());
    }
    let build = out_dir().join("cmake");
    let cuda = env::var("GSORT_CUDA").unwrap_or_else(|_| "AUTO".into());
    let mut configure = Command::new("cmake");
    configure.arg("-S").arg(&root).arg("-B").arg(&build);
    configure.args(["-DCMAKE_BUILD_TYPE=Release", &format!("-DGSORT_CUDA={cuda}")]);
    configure
        .args(["TESTS", "TOOLS", "EXAMPLES", "BENCH", "INSTALL", "WERROR"].map(|name| format!("-DGSORT_{name}=OFF")));
    run(&mut configure)?;
    let target = if cfg!(feature = "static") { "gsort_static" } else { "gsort" };
    let jobs = env::var("NUM_JOBS").unwrap_or_else(|_| "1".into());
    run(Command::new("cmake").arg("--build").arg(&build).args(["--target", target, "--parallel", &jobs]))?;
    let found = find_in(&build).ok_or_else(|| format!("CMake left no {LIBRARY} in {}", build.display()))?;
    Ok(Found { include_dir: Some(root.join("include")), ..found })
}

fn run(command: &mut Command) -> Result<(), String> {
    let shown = format!("{command:?}");
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("the vendored build failed ({status}): {shown}")),
        Err(error) => Err(format!("the vendored build needs CMake, which could not be run ({error}): {shown}")),
    }
}

/// Tells cargo and the crates that depend on this one where the library is.
fn link(found: &Found) {
    println!("cargo:rerun-if-changed={}", found.lib_dir.join(LIBRARY).display());
    if cfg!(feature = "static") {
        println!("cargo:rustc-link-search=native={}", found.lib_dir.display());
        println!("cargo:rustc-link-lib=static=gsort");
        for library in LIBRARIES_OF_ARCHIVE {
            println!("cargo:rustc-link-lib=dylib={library}");
        }
    } else {
        link_dynamically(found);
    }
    println!("cargo:lib_dir={}", found.lib_dir.display());
    if let Some(include_dir) = &found.include_dir {
        println!("cargo:include={}", include_dir.display());
    }
}

fn link_dynamically(found: &Found) {
    println!("cargo:rustc-link-lib=dylib=gsort");
    // Cargo puts folders below OUT_DIR, and no others, on the loader's path of `cargo run` and `cargo test`: links made
    // there let programs, tests and doc tests start without LD_LIBRARY_PATH.
    match mirror(&found.lib_dir, &out_dir().join("lib")) {
        Ok(mirrored) => println!("cargo:rustc-link-search=native={}", mirrored.display()),
        Err(error) => println!("cargo:warning=set LD_LIBRARY_PATH to run programs: links to libgsort: {error}"),
    }
    println!("cargo:rustc-link-search=native={}", found.lib_dir.display());
    // A crate that depends on this one reads it as DEP_GSORT_RPATH.
    println!("cargo:rpath={}", found.lib_dir.display());
}

#[cfg(unix)]
fn mirror(from: &Path, to: &Path) -> std::io::Result<PathBuf> {
    if to.exists() {
        std::fs::remove_dir_all(to)?;
    }
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with("libgsort.so") {
            std::os::unix::fs::symlink(entry.path(), to.join(entry.file_name()))?;
        }
    }
    Ok(to.to_path_buf())
}

#[cfg(not(unix))]
fn mirror(_from: &Path, _to: &Path) -> std::io::Result<PathBuf> {
    Err(std::io::Error::new(std::io::ErrorKind::Unsupported, "not on this system"))
}

#[cfg(feature = "bindgen")]
fn header(found: Option<&Found>) -> Option<PathBuf> {
    let mut folders: Vec<PathBuf> = found.and_then(|found| found.include_dir.clone()).into_iter().collect();
    folders.extend(env::var_os("GSORT_DIR").map(|dir| PathBuf::from(dir).join("include")));
    folders.extend(sources().map(|root| root.join("include")));
    folders.into_iter().map(|folder| folder.join("gsort.h")).find(|header| header.is_file())
}
