//! What a printer does when cash moves in a drawer: it opens the drawer that is plugged into it, and prints a slip.

use tillkeep_model::paper::{MovementSlip, ReportBody};
use tillkeep_model::words::{CashMovementKind, PrintState, ReportKind};
use tillkeep_model::{JsonText, ids};
use tillkeep_storage::entity::{cash_movement, print_job, register_session};

use super::report::paper;
use super::settings::Printer;
use crate::act::{Acting, Stopped};
use crate::memory::Shop;

/// Opens the drawer for `movement` once the transaction is committed. Where the register prints by itself, a slip of what moved
/// comes out with it. `user` and `approver` are the names on it.
pub(crate) async fn queue_drawer(
    tx: &mut Acting<'_>,
    shop: &Shop,
    session: &register_session::Model,
    movement: &cash_movement::Model,
    (user, approver): (&str, Option<&str>),
) -> Result<(), Stopped> {
    let Some(printer) = shop.register(session.register_id).and_then(Printer::of) else { return Ok(()) };
    let has_slip = printer.automatic && movement.kind != CashMovementKind::NoSale;
    if !printer.opens_drawer && !has_slip {
        return Ok(());
    }
    let now = tx.now();
    let slip = || MovementSlip {
        id: movement.id,
        r#type: movement.kind.clone(),
        amount: movement.amount,
        reason: movement.reason.clone(),
        register_code: session.register_code.clone(),
        session_number: Some(session.session_number),
        user_name: user.to_owned(),
        approver_name: approver.map(str::to_owned),
        at: movement.at,
    };
    let content = if has_slip {
        Some(JsonText::new(&paper(shop.own()?, now, None, ReportBody::Movement(Box::new(slip())))))
    } else {
        None
    };
    let job = print_job::Model {
        id: ids::beside(movement.id, ids::named(&format!("print:drawer:{}", movement.id))),
        created_at: now,
        updated_at: now,
        register_id: session.register_id,
        kind: if has_slip { ReportKind::Movement } else { ReportKind::Drawer }.into(),
        state: PrintState::Waiting.into(),
        opens_drawer: printer.opens_drawer,
        requested_by: Some(movement.user_id),
        content,
        ..print_job::Model::default()
    };
    tx.insert(&job).await?;
    tx.prints();
    Ok(())
}
