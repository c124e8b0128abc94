//! What headquarters tells of what is wrong: alerts, the hooks that hear of them, and posts on their way. `docs/operations.md`,
//! "Alerts by webhook".

pub mod deliveries;
pub mod found;
pub mod hooks;
mod states;

pub use states::{ENDED, FIRING, Found, Noted, forget, is_news, note};
