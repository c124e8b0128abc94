//! What both servers promise to whoever calls them, route by route: the tests walk the route tables, so that a new route
//! is tried without a word here.

mod kit;

mod costs;
mod deeds;
mod forgeries;
mod kinds;
mod matrix;
mod once;
mod openapi;
mod pattern;
mod requests;
mod scope;
mod sweep;
