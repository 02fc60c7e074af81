// SPDX-License-Identifier: MIT OR Apache-2.0
//! The one place that knows how src/bindings.rs is made from gsort.h.

use bindgen::callbacks::{IntKind, ParseCallbacks};
use std::path::Path;

/// Gives macros the types that the functions take and turns the header's comments into Markdown.
#[derive(Debug)]
struct Translate;

impl ParseCallbacks for Translate {
    fn int_macro(&self, name: &str, _value: i64) -> Option<IntKind> {
        let is_status = name == "GSORT_OK" || name.starts_with("GSORT_ERROR_");
        Some(if is_status { IntKind::I32 } else { IntKind::U32 })
    }

    fn process_comment(&self, comment: &str) -> Option<String> {
        // The comment that opens a group ends up in front of the one of the group's first item.
        let own = comment.rsplit_once("/**").map_or(comment, |(_group, own)| own);
        let text = own.lines().map(markdown_line).collect::<Vec<_>>().join("\n");
        Some(format!(" {}", text.trim()))
    }
}

fn markdown_line(line: &str) -> String {
    let line = line.trim().trim_start_matches("< ");
    let line = if let Some(rest) = line.strip_prefix("@param ") {
        let (name, text) = rest.split_once(' ').unwrap_or((rest, ""));
        format!("\n`{name}`: {text}")
    } else if let Some(rest) = line.strip_prefix("@return ") {
        format!("\nReturns {rest}")
    } else {
        line.to_string()
    };
    line.split(' ').map(markdown_word).collect::<Vec<_>>().join(" ")
}

/// Doxygen's `#NAME` becomes Markdown's code.
fn markdown_word(word: &str) -> String {
    let Some(start) = word.find("#GSORT_") else { return word.to_string() };
    let (before, name) = (&word[..start], &word[start + 1..]);
    let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(name.len());
    format!("{before}`{}`{}", &name[..end], &name[end..])
}

/// Writes the bindings of `header` to `output`.
pub fn generate(header: &Path, output: &Path) -> Result<(), String> {
    println!("cargo:rerun-if-changed={}", header.display());
    let bindings = bindgen::Builder::default()
        .header(header.to_string_lossy())
        .clang_args(["-x", "c", "-std=c99"])
        .allowlist_item("gsort_.*|gsort|GSORT_.*")
        .blocklist_item("GSORT_H|GSORT_API")
        .rust_target(bindgen::RustTarget::stable(77, 0).map_err(|error| error.to_string())?)
        .rust_edition(bindgen::RustEdition::Edition2021)
        .use_core()
        .generate_comments(true)
        .merge_extern_blocks(true)
        .layout_tests(true)
        .disable_header_comment()
        .raw_line("// SPDX-License-Identifier: MIT OR Apache-2.0")
        .raw_line("// Made from include/gsort.h by build/generate.rs; `check-bindings --update` makes it anew.")
        .formatter(bindgen::Formatter::Prettyplease)
        .parse_callbacks(Box::new(Translate))
        .generate()
        .map_err(|error| format!("the bindings could not be generated from {}: {error}", header.display()))?;
    bindings
        .write_to_file(output)
        .map_err(|error| format!("the bindings could not be written to {}: {error}", output.display()))
}
