//! Knows what a report promises, checked on made-up runs.
//! Must not know a real run.
//! Start at `synthetic::Shape`.

mod account;
mod csv_file;
mod localisation;
mod page;
mod promises;
mod store;
mod summary;
mod synthetic;
