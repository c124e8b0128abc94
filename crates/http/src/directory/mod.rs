//! What both servers show of the people, stores, specials and reasons of the chain: headquarters its own rows, a store its copy. Writing
//! them is for headquarters alone.

pub mod audit_log;
pub mod customers;
pub mod explain;
pub mod lists;
pub mod products;
pub mod reasons;
pub mod roles;
pub mod sales_reps;
pub mod specials;
pub mod stores;
pub mod taxes;
pub mod users;

use tillkeep_model::ErrorCode;

use crate::auth::HasAuth;
use crate::routes::Routes;

/// The reading routes.
pub fn routes<S>(routes: Routes<S>) -> Routes<S>
where
    S: HasAuth + Clone + 'static,
{
    routes
        .get("/stores", stores::list)
        .about("List stores: those the caller sees, or all of them in short form for who sends goods.")
        .get("/users", users::list)
        .about("List users, a page at a time.")
        .get("/users/{id}", users::get)
        .about("One user with their roles.")
        .get("/users/{id}/roles", users::assignments)
        .about("The roles of a user, and where they count.")
        .get("/roles", roles::list)
        .about("List roles with what they hold.")
        .get("/roles/{id}", roles::get)
        .about("One role with what it holds.")
        .get("/permissions", roles::permissions)
        .about("All permissions, by module.")
        .get("/permissions/explain", explain::explain)
        .about("Why a user may or may not: the roles and assignments that decide.")
        .fails(&[ErrorCode::NotFound])
        .post("/taxes/preview", taxes::preview)
        .about("What the rates of a tax group make of a price.")
        .get("/reasons", reasons::list)
        .about("List reasons, for what they are given.")
        .get("/sales-reps", sales_reps::list)
        .about("List sales representatives, a page at a time.")
        .get("/sales-reps/{id}", sales_reps::get)
        .about("One sales representative, by its id.")
        .get("/specials", specials::list)
        .about("List specials; with `at` those that are in force then.")
        .get("/specials/active", specials::active)
        .about("The specials in force in a store, by its clock.")
}
