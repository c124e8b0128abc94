//! Permission codes, how a requirement is matched, and the default roles. Specification, sections 2.4 and 4.2.

use std::marker::PhantomData;

/// A requirement on a caller, written as a type in a handler's signature: at least one of the codes must be held.
pub trait Requirement: Send + Sync + 'static {
    /// The codes, OR between them; a pattern `module.*` stands for every code of the module.
    fn any_of() -> Vec<&'static str>;

    /// Whether a user who must change their PIN first is let through.
    const BEFORE_PIN_CHANGE: bool = false;

    /// Whether a user who must set up a second factor first is let through.
    const BEFORE_FACTOR: bool = false;

    /// Whether headquarters wants the second factor to have been shown lately; see [`Fresh`].
    const FRESH: bool = false;

    /// Whether a user is let through who sits at a device that is not enrolled, where all must be.
    const AT_STRANGE_DEVICES: bool = Self::BEFORE_PIN_CHANGE;
}

/// `P`, at a device that is not enrolled as well: for what leads to one that is, and nothing else.
pub struct Enrolling<P>(PhantomData<fn() -> P>);
impl<P: Requirement> Requirement for Enrolling<P> {
    fn any_of() -> Vec<&'static str> {
        P::any_of()
    }

    const BEFORE_PIN_CHANGE: bool = P::BEFORE_PIN_CHANGE;
    const AT_STRANGE_DEVICES: bool = true;
}

/// Signed in is enough.
pub struct SignedIn;
impl Requirement for SignedIn {
    fn any_of() -> Vec<&'static str> {
        Vec::new()
    }
}

/// Signed in is enough, even with a PIN that must be changed first: for what leads out of that state, and nothing else.
pub struct SignedInAnyPin;
impl Requirement for SignedInAnyPin {
    fn any_of() -> Vec<&'static str> {
        Vec::new()
    }

    const BEFORE_PIN_CHANGE: bool = true;
    const BEFORE_FACTOR: bool = true;
}

/// Signed in is enough, even before a second factor is set up that one must have: for what sets it up.
pub struct SignedInAnyFactor;
impl Requirement for SignedInAnyFactor {
    fn any_of() -> Vec<&'static str> {
        Vec::new()
    }

    const BEFORE_FACTOR: bool = true;
}

/// `P`, and at headquarters the second factor (the PIN of whoever has none) was shown in the last minutes: for what gives
/// rights, tokens and sign-ins away.
pub struct Fresh<P>(PhantomData<fn() -> P>);
impl<P: Requirement> Requirement for Fresh<P> {
    fn any_of() -> Vec<&'static str> {
        P::any_of()
    }

    const BEFORE_PIN_CHANGE: bool = P::BEFORE_PIN_CHANGE;
    const BEFORE_FACTOR: bool = P::BEFORE_FACTOR;
    const FRESH: bool = true;
}

macro_rules! either {
    ($($name:ident),+) => {
        impl<$($name: Requirement),+> Requirement for ($($name,)+) {
            fn any_of() -> Vec<&'static str> {
                let mut codes = Vec::new();
                $(codes.extend($name::any_of());)+
                codes
            }
        }
    };
}
either!(A, B);
either!(A, B, C);

/// Any code of the module `M`: the pattern `module.*`.
pub struct Any<M>(PhantomData<fn() -> M>);

/// A module of permissions.
pub trait Module: 'static {
    /// What matches each of its codes.
    const PATTERN: &str;
}

impl<M: Module> Requirement for Any<M> {
    fn any_of() -> Vec<&'static str> {
        vec![M::PATTERN]
    }
}

macro_rules! modules {
    ($($name:ident = $pattern:literal,)+) => {
        /// Every module's pattern.
        pub const PATTERNS: &[&str] = &[$($pattern),+];

        /// One type for each module, for [`Any`].
        pub mod module {
            $(
                #[doc = concat!("The codes that `", $pattern, "` matches.")]
                pub struct $name;
                impl super::Module for $name {
                    const PATTERN: &str = $pattern;
                }
            )+
        }
    };
}

modules! {
    Pos = "pos.*",
    Inventory = "inventory.*",
    Transfers = "transfers.*",
    Reports = "reports.*",
    Products = "products.*",
    Users = "users.*",
    Stores = "stores.*",
    SalesReps = "sales_reps.*",
    PurchaseOrders = "purchase_orders.*",
    Worksheets = "worksheets.*",
    StorePrices = "store_prices.*",
    Suppliers = "suppliers.*",
    Taxes = "taxes.*",
    Tenders = "tenders.*",
    Specials = "specials.*",
    Customers = "customers.*",
    Registers = "registers.*",
    Roles = "roles.*",
}

/// Codes of the specification that no route and no handler asks for yet: a role that holds one may do nothing more by it.
pub const NOT_IN_USE: &[&str] = &[
    "inventory.count",
    "transfers.view",
    "transfers.send",
    "transfers.receive",
    "transfers.approve",
    "reports.sales_by_rep",
    "reports.cashier_performance",
    "reports.discount_analysis",
    "purchase_orders.create",
    "purchase_orders.edit",
    "purchase_orders.approve",
    "purchase_orders.receive",
    "purchase_orders.delete",
    "worksheets.view",
    "worksheets.create",
    "worksheets.submit",
    "worksheets.approve",
    "worksheets.apply",
    "worksheets.delete",
    "suppliers.create",
    "suppliers.edit",
    "suppliers.delete",
];

macro_rules! permissions {
    ($($name:ident = $code:literal,)+) => {
        /// Every permission code, in the order of the specification.
        pub const ALL: &[&str] = &[$($code),+];

        /// One type for each code, to be named in a handler's signature.
        pub mod code {
            $(
                #[doc = concat!("Requires `", $code, "`.")]
                pub struct $name;
                impl $name {
                    pub const CODE: &'static str = $code;
                }
                impl super::Requirement for $name {
                    fn any_of() -> Vec<&'static str> { vec![Self::CODE] }
                }
            )+
        }
    };
}

permissions! {
    PosSell = "pos.sell",
    PosRefund = "pos.refund",
    PosVoid = "pos.void",
    PosDiscount = "pos.discount",
    PosDiscountOverrideMax = "pos.discount.override_max",
    PosPriceOverride = "pos.price.override",
    PosParkCart = "pos.park_cart",
    InventoryView = "inventory.view",
    InventoryAdjust = "inventory.adjust",
    InventoryCount = "inventory.count",
    TransfersView = "transfers.view",
    TransfersCreate = "transfers.create",
    TransfersSend = "transfers.send",
    TransfersReceive = "transfers.receive",
    TransfersApprove = "transfers.approve",
    ReportsXReport = "reports.x_report",
    ReportsZReport = "reports.z_report",
    ReportsZzReport = "reports.zz_report",
    ReportsViewLocal = "reports.view_local",
    ReportsViewGlobal = "reports.view_global",
    ReportsProductPerformance = "reports.product_performance",
    ReportsSalesByRep = "reports.sales_by_rep",
    ReportsProfitMargin = "reports.profit_margin",
    ReportsCashierPerformance = "reports.cashier_performance",
    ReportsDiscountAnalysis = "reports.discount_analysis",
    ProductsView = "products.view",
    ProductsCreate = "products.create",
    ProductsEdit = "products.edit",
    ProductsDelete = "products.delete",
    UsersView = "users.view",
    UsersCreate = "users.create",
    UsersEdit = "users.edit",
    UsersManageRoles = "users.manage_roles",
    StoresView = "stores.view",
    StoresCreate = "stores.create",
    StoresEdit = "stores.edit",
    StoresProvision = "stores.provision",
    SalesRepsView = "sales_reps.view",
    SalesRepsCreate = "sales_reps.create",
    SalesRepsEdit = "sales_reps.edit",
    SalesRepsDelete = "sales_reps.delete",
    PurchaseOrdersView = "purchase_orders.view",
    PurchaseOrdersCreate = "purchase_orders.create",
    PurchaseOrdersEdit = "purchase_orders.edit",
    PurchaseOrdersApprove = "purchase_orders.approve",
    PurchaseOrdersReceive = "purchase_orders.receive",
    PurchaseOrdersDelete = "purchase_orders.delete",
    WorksheetsView = "worksheets.view",
    WorksheetsCreate = "worksheets.create",
    WorksheetsSubmit = "worksheets.submit",
    WorksheetsApprove = "worksheets.approve",
    WorksheetsApply = "worksheets.apply",
    WorksheetsDelete = "worksheets.delete",
    StorePricesView = "store_prices.view",
    StorePricesManage = "store_prices.manage",
    SuppliersView = "suppliers.view",
    SuppliersCreate = "suppliers.create",
    SuppliersEdit = "suppliers.edit",
    SuppliersDelete = "suppliers.delete",
    TaxesView = "taxes.view",
    TaxesManage = "taxes.manage",
    TendersView = "tenders.view",
    TendersManage = "tenders.manage",
    SpecialsView = "specials.view",
    SpecialsManage = "specials.manage",
    CustomersView = "customers.view",
    CustomersCreate = "customers.create",
    CustomersEdit = "customers.edit",
    RegistersView = "registers.view",
    RegistersOpen = "registers.open",
    RegistersClose = "registers.close",
    RolesView = "roles.view",
    RolesManage = "roles.manage",
}

/// Whether holding `held` satisfies `required`: equality, or a pattern ending in `.*` and its prefix with the dot, so
/// that `stores.*` does not match `store_prices.view`.
#[must_use]
pub fn matches(required: &str, held: &str) -> bool {
    match required.strip_suffix('*') {
        Some(prefix) if prefix.ends_with('.') => held.starts_with(prefix),
        _ => required == held,
    }
}

/// Whether one of the `held` codes satisfies one of the `required` ones; an empty requirement is satisfied.
pub fn satisfied<'a>(required: &[&str], mut held: impl Iterator<Item = &'a str>) -> bool {
    required.is_empty() || held.any(|code| required.iter().any(|wanted| matches(wanted, code)))
}

/// A role that every installation has.
pub struct DefaultRole {
    pub code: &'static str,
    pub name: &'static str,
    pub description: &'static str,
    /// Codes and `module.*` patterns.
    pub grants: &'static [&'static str],
}

/// Code of the role that holds everything, later codes included.
pub const ADMINISTRATOR: &str = "administrator";

/// The three seeded roles with exactly the sets of the specification, 2.4; "local reports" are all report codes but
/// the global view.
pub const DEFAULT_ROLES: &[DefaultRole] = &[
    DefaultRole {
        code: ADMINISTRATOR,
        name: "Administrator",
        description: "Everything, later permissions included",
        grants: ALL,
    },
    DefaultRole {
        code: CASHIER,
        name: "Cashier",
        description: "Sells at a till",
        grants: &["pos.sell", "pos.discount", "reports.x_report", "inventory.view"],
    },
    DefaultRole {
        code: STORE_MANAGER,
        name: "Store Manager",
        description: "Runs a store: selling, stock, transfers, local reports",
        grants: &[
            "pos.*",
            "inventory.*",
            "transfers.*",
            "reports.x_report",
            "reports.z_report",
            "reports.zz_report",
            "reports.view_local",
            "reports.product_performance",
            "reports.sales_by_rep",
            "reports.profit_margin",
            "reports.cashier_performance",
            "reports.discount_analysis",
        ],
    },
];

impl DefaultRole {
    /// The codes of this role, patterns resolved.
    pub fn codes(&self) -> impl Iterator<Item = &'static str> {
        ALL.iter().copied().filter(|code| satisfied(self.grants, std::iter::once(*code)))
    }
}

/// Code of the role that runs one store.
pub const STORE_MANAGER: &str = "store_manager";

/// Code of the role that sells at a till.
pub const CASHIER: &str = "cashier";

/// Whether `code` is for more than working at a till: the default Cashier does not hold it. `docs/security.md`.
#[must_use]
pub fn is_beyond_a_till(code: &str) -> bool {
    is_beyond(CASHIER, code)
}

fn is_beyond(role: &str, code: &str) -> bool {
    let role = DEFAULT_ROLES.iter().find(|known| known.code == role);
    role.is_none_or(|role| !satisfied(role.grants, std::iter::once(code)))
}

/// Whether `code` is for more than running one store: the default Store Manager does not hold it. `docs/security.md`.
#[must_use]
pub fn is_beyond_a_store(code: &str) -> bool {
    is_beyond(STORE_MANAGER, code)
}

/// `products` of `products.view`.
#[must_use]
pub fn module_of(code: &str) -> &str {
    code.split_once('.').map_or(code, |(module, _)| module)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_code_is_there_twice() {
        let mut codes = ALL.to_vec();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), ALL.len());
    }

    #[test]
    fn each_module_has_a_type_with_a_pattern_of_its_codes_and_no_others() {
        let mut modules: Vec<&str> = ALL.iter().map(|code| module_of(code)).collect();
        modules.dedup();
        assert_eq!(PATTERNS.iter().map(|pattern| module_of(pattern)).collect::<Vec<_>>(), modules);
        for pattern in PATTERNS {
            let matched = ALL.iter().filter(|code| matches(pattern, code));
            assert!(matched.eq(ALL.iter().filter(|code| module_of(code) == module_of(pattern))), "{pattern}");
        }
        assert_eq!(Any::<module::Products>::any_of(), ["products.*"]);
        assert_eq!(<(Any<module::Stores>, code::PosSell)>::any_of(), ["stores.*", "pos.sell"]);
    }

    #[test]
    fn the_default_roles_hold_exactly_the_sets_of_the_specification() {
        let sizes: Vec<_> = DEFAULT_ROLES.iter().map(|role| (role.code, role.codes().count())).collect();
        assert_eq!(sizes, [("administrator", ALL.len()), ("cashier", 4), ("store_manager", 7 + 3 + 5 + 9)]);
        assert!(!DEFAULT_ROLES[2].codes().any(|code| code == "reports.view_global"));
    }

    #[test]
    fn what_the_default_store_manager_lacks_is_beyond_a_store() {
        assert!(ALL.iter().filter(|code| !is_beyond_a_store(code)).copied().eq(DEFAULT_ROLES[2].codes()));
        assert!(is_beyond_a_store("users.edit") && is_beyond_a_store("no.such_code"));
    }

    #[test]
    fn what_is_to_be_fresh_asks_for_what_it_is_around_and_lets_the_same_people_through() {
        type Own = Fresh<SignedInAnyFactor>;
        assert_eq!(Fresh::<code::UsersEdit>::any_of(), ["users.edit"]);
        let of = |fresh: bool, pin: bool, factor: bool| (fresh, pin, factor);
        assert_eq!(of(Own::FRESH, Own::BEFORE_PIN_CHANGE, Own::BEFORE_FACTOR), (true, false, true));
        assert_eq!(of(SignedIn::FRESH, SignedIn::BEFORE_PIN_CHANGE, SignedIn::BEFORE_FACTOR), (false, false, false));
    }

    #[test]
    fn every_case_that_the_web_client_is_held_against_holds_here() {
        #[derive(serde::Deserialize)]
        struct Case {
            required: Vec<String>,
            held: Vec<String>,
            satisfied: bool,
            why: String,
        }
        let cases: Vec<Case> =
            serde_json::from_str(include_str!("../tests/data/permissions.json")).expect("readable cases");
        for Case { required, held, satisfied: expected, why } in cases {
            let required: Vec<&str> = required.iter().map(String::as_str).collect();
            let found = satisfied(&required, held.iter().map(String::as_str));
            assert_eq!(found, expected, "{why}: {required:?} against {held:?}");
        }
    }

    #[test]
    fn the_dot_counts_in_a_pattern() {
        assert!(matches("stores.*", "stores.view"));
        assert!(!matches("stores.*", "store_prices.view"));
        assert!(!matches("pos.discount", "pos.discount.override_max"));
        assert!(matches("pos.discount.*", "pos.discount.override_max"));
        assert!(!matches("*", "stores.view"));
        assert!(!matches("pos*", "pos.sell"));
    }
}
