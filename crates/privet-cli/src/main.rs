//! The `privet` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    privet_node::cli::main(std::env::args_os())
}
