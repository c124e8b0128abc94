//! What `--help` of a server says of its settings.

use super::{DEFAULT, VARIABLES};

/// Settings that are in no file: secrets, and what is said once.
const IN_ENVIRONMENT: &[(&str, &str, &str)] = &[
    ("hq", "ADMIN_USERNAME", "name of the administrator that the first start makes (admin)"),
    ("hq", "ADMIN_PIN", "its PIN; or ADMIN_PIN_FILE"),
    ("hq", "APP_ENV", "production refuses demo data"),
    ("hq", "TILLKEEP_SYNC_KEY", "keys that sign sync tokens; or TILLKEEP_SYNC_KEY_FILE"),
    ("hq", "TILLKEEP_PIN_KEY_FILE", "the key of the PINs"),
    ("store", "SYNC_TOKEN", "the token of this store, from headquarters; or SYNC_TOKEN_FILE"),
    ("", "ALLOW_INSECURE_HQ", "1: plain HTTP between store and headquarters, which is not this machine"),
    ("", "TILLKEEP_JWT_KEY", "keys that sign access tokens; or TILLKEEP_JWT_KEY_FILE"),
    ("", "RUST_LOG", "error, warn, info, debug, trace or off; part=level for one part of the program (info)"),
];

/// Every setting of a server for its `--help`, with its default and its variable.
pub fn help(section: &str) -> String {
    let mut lines = vec![format!("Settings: key in the section [{section}] of a file, default, variable")];
    let mut table = String::new();
    for line in DEFAULT.lines() {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            name.clone_into(&mut table);
        } else if let Some((key, default)) = line.trim_start_matches("# ").split_once(" = ")
            && key.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
        {
            let key = format!("{table}.{key}");
            let Some(name) = key.strip_prefix(section).and_then(|name| name.strip_prefix('.')) else { continue };
            let variable =
                VARIABLES.iter().find(|(_, keys)| keys.contains(&key.as_str())).map_or("", |(name, _)| *name);
            lines.push(format!("  {name:<30} {default:<20} {variable}").trim_end().to_owned());
        }
    }
    lines.push("\nIn the environment alone".to_owned());
    let beside = IN_ENVIRONMENT.iter().filter(|(of, ..)| of.is_empty() || *of == section);
    lines.extend(beside.map(|(_, name, about)| format!("  {name:<30} {about}")));
    lines.push(
        "\n`tillkeep config default` tells what each is for; a flag wins over a variable, and that over the file."
            .to_owned(),
    );
    lines.join("\n")
}
