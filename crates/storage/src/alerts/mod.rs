//! What headquarters tells other programs: alerts, the hooks that hear of them, and posts on their way (`docs/operations.md`, "Alerts by
//! webhook"); and sales, to their receivers (`docs/integrate.md`, "Sales by webhook").

pub mod deliveries;
pub mod found;
pub mod hooks;
pub mod receivers;
pub mod sales;
mod states;

pub use states::{ENDED, FIRING, Found, Noted, forget, is_firing, is_news, note};
