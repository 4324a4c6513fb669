//! The `privet` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    privet_cli::main(std::env::args_os())
}
