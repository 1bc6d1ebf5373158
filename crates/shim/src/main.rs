//! The shim program: one terminal, one process. Started by wharf, never by hand.

fn main() -> std::process::ExitCode {
    wharf_shim::main()
}
