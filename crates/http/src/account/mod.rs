//! What a person does about their own sign-in, and others about it: signing in, tokens, sessions, PINs, locks.

pub mod answers;
pub mod locks;
pub mod own;
pub mod refresh;
pub mod sessions;
pub mod sign_in;

use tillkeep_model::ErrorCode;
use tillkeep_model::permission::Requirement;

use crate::auth::HasAuth;
use crate::routes::Routes;

/// The routes of signing in and of what follows from it.
pub fn routes<S>(routes: Routes<S>) -> Routes<S>
where
    S: HasAuth + Clone + 'static,
{
    use ErrorCode::{
        ChangeAtHeadquarters, Escalation, HqUnreachable, InvalidCredentials, InvalidToken, PinLoginOff, PinNotAllowed,
        SecondFactorRequired, SecondFactorStale, SessionReplaced, StoreNotFound, StoreNotReady, TokenReused,
        TooManyAttempts, TooManyRequests, WrongStore, WrongTerminal,
    };
    routes
        .open("POST", "/auth/login", sign_in::login)
        .about("Sign in with a name and a PIN.")
        .fails(&[InvalidCredentials, SecondFactorRequired, StoreNotReady, TooManyAttempts, TooManyRequests])
        .open("POST", "/auth/pin-login", sign_in::pin_login)
        .about("Sign in at a till with a PIN alone.")
        .fails(&[InvalidCredentials, StoreNotFound, StoreNotReady, WrongStore, WrongTerminal, PinLoginOff])
        .fails(&[TooManyAttempts, TooManyRequests])
        .open("POST", "/auth/refresh", refresh::refresh)
        .about("Get new tokens for a refresh token, which is replaced at each use: keep the one of the newest answer.")
        .fails(&[InvalidToken, SessionReplaced, TokenReused])
        .get("/auth/me", own::me)
        .about("Who is signed in, with the permissions of this moment.")
        .post("/auth/logout", own::logout)
        .about("End the session of this token.")
        .post("/auth/change-pin", own::change_pin)
        .about("Change the own PIN; a store asks headquarters, which wants the second factor of whoever has one to have been shown lately.")
        .fails(&[ChangeAtHeadquarters, HqUnreachable, InvalidCredentials, PinNotAllowed, SecondFactorStale])
        .fails(&[TooManyAttempts, TooManyRequests])
        .get("/auth/sessions", sessions::own)
        .about("The own sessions at this server.")
        .delete("/auth/sessions/{id}", sessions::end_own)
        .about("End one of the own sessions.")
        .get("/users/{id}/sessions", sessions::of_user)
        .about("The sessions of a user at this server.")
        .delete("/users/{id}/sessions/{sessionId}", sessions::end_of_user)
        .about("End a session of a user who holds no more than the caller.")
        .fails(&[Escalation])
}

/// The routes about what is blocked, for whoever holds one of the codes of `P`.
pub fn locks<S, P>(routes: Routes<S>) -> Routes<S>
where
    S: HasAuth + Clone + 'static,
    P: Requirement,
{
    use ErrorCode::{NotFound, Scope, SelfDeactivation, TooManyAttempts};
    routes
        .get("/auth/locks", locks::locks::<P>)
        .about("What is blocked now after wrong PINs.")
        .post("/auth/unlock", locks::unlock::<P>)
        .about("Lift what is blocked after wrong PINs.")
        .fails(&[NotFound, Scope, SelfDeactivation, TooManyAttempts])
}
