//! The command `evalxrl`.

use std::process::ExitCode;

fn main() -> ExitCode {
    evalxrl::cli::main()
}
