//! Manual pages and completions of shells, made of the flags.

use std::fs;
use std::io;
use std::path::Path;

use clap::Command;
use clap_complete::{Shell, generate_to};

/// Folders below `share` where shells look for completions.
const SHELLS: [(Shell, &str); 3] = [
    (Shell::Bash, "bash-completion/completions"),
    (Shell::Zsh, "zsh/site-functions"),
    (Shell::Fish, "fish/vendor_completions.d"),
];

/// Writes them below `folder` as packages have them below `/usr/share`.
///
/// # Errors
///
/// If a file cannot be written.
pub fn write(command: &Command, folder: &Path) -> io::Result<()> {
    let mut command = command.clone();
    let name = command.get_name().to_owned();
    let pages = folder.join("man/man1");
    fs::create_dir_all(&pages)?;
    clap_mangen::generate_to(command.clone(), &pages)?;
    for (shell, of_shell) in SHELLS {
        let completions = folder.join(of_shell);
        fs::create_dir_all(&completions)?;
        let written = generate_to(shell, &mut command, &name, &completions)?;
        if shell == Shell::Bash {
            // Bash looks for the name of the program.
            fs::rename(written, completions.join(&name))?;
        }
    }
    Ok(())
}
