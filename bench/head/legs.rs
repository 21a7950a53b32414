//! What is measured, part by part.

mod attack;
mod cost;
mod delay;
mod disk;
mod lists;
mod load;
mod routes;

pub use attack::measure as attack;
pub use cost::{idle, measure as cost};
pub use delay::measure as delay;
pub use disk::measure as disk;
pub use lists::measure as lists;
pub use load::{measure as load, soak};
pub use routes::{measure as routes, merged};
