//! Names the commit of the program.

fn main() {
    trawl_commit::set_variable();
}
