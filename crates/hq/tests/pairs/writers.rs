//! Everything that writes at headquarters: what is sent, on a chain of its own.

use serde_json::{Value as Json, json};

use super::fixture::Fixture;

/// A request.
pub struct Ask {
    pub method: &'static str,
    pub path: String,
    pub body: Option<Json>,
    pub pushed: bool,
}

pub struct Writer {
    /// The route, and what of it this is.
    pub route: (&'static str, &'static str),
    pub what: &'static str,
    pub ask: fn(&Fixture) -> (String, Json),
}

impl Writer {
    pub fn name(&self) -> String {
        format!("{} {} {}", self.route.0, self.route.1, self.what)
    }

    pub fn asks(&self, of: &Fixture) -> Ask {
        let (path, body) = (self.ask)(of);
        let pushed = self.route.1 == "/sync/push";
        let body = if pushed { json!({"envelopes": body}) } else { body };
        Ask { method: self.route.0, path, body: (!body.is_null()).then_some(body), pushed }
    }
}

/// Routes that write and are not among [`WRITERS`], each with the reason.
pub const APART: &[(&str, &str, &str)] = &[
    ("POST", "/taxes/preview", "it computes, and writes nothing"),
    ("POST", "/specials/preview", "it computes, and writes nothing"),
    (
        "POST",
        "/auth/login",
        "the attempt counters and a session of its own; `attempts` of the storage tests tries them at once",
    ),
    ("POST", "/auth/pin-login", "as POST /auth/login"),
    ("POST", "/auth/logout", "the caller's own session"),
    ("POST", "/auth/refresh", "the caller's own session"),
    ("POST", "/users/{id}/pin", "one PIN at a time (`Turn::Pin`), which `pins` of the back office tries at once"),
    ("POST", "/auth/change-pin", "as POST /users/{id}/pin, for the caller"),
    ("POST", "/sync/change-pin", "as POST /auth/change-pin, for a user at a store"),
    (
        "POST",
        "/sync/sign-in",
        "the attempt counters, as POST /auth/login, and look-ups that are the same whoever makes them",
    ),
    ("POST", "/stores/{id}/allow-pin-key", "a few columns of one row, to what they are set by whoever comes last"),
    (
        "PATCH",
        "/chain",
        "one row of settings, which is locked first; `chain` of the back office sends two changes at once",
    ),
    (
        "PATCH",
        "/accounting/accounts",
        "one row of settings, which is locked first; `journal` of the back office sends two changes at once",
    ),
    ("POST", "/alert-hooks", "a row of its own, which no unique key keeps apart from others"),
    (
        "PATCH",
        "/alert-hooks/{id}",
        "one row, which is locked first; of two changes the second one says which version it is of",
    ),
    ("DELETE", "/alert-hooks/{id}", "as PATCH /alert-hooks/{id}"),
    ("POST", "/alert-hooks/{id}/rotate-secret", "as PATCH /alert-hooks/{id}"),
    ("POST", "/alert-hooks/{id}/test", "columns of one row that say what came of the last post"),
    ("POST", "/auth/unlock", "the attempt counters alone"),
    (
        "POST",
        "/auth/confirm",
        "the caller's own session; `factors` of the back office shows one code to two servers at once",
    ),
    ("POST", "/auth/factors/totp", "a row of its own, which expires"),
    ("POST", "/auth/factors/passkeys", "a row of its own, which expires"),
    ("POST", "/auth/factors/totp/{id}", "the caller's own row is locked first"),
    ("POST", "/auth/factors/passkeys/{id}", "the caller's own row is locked first"),
    ("POST", "/auth/factors/recovery-codes", "the caller's own row is locked first"),
    ("DELETE", "/auth/factors/{id}", "the caller's own row is locked first"),
    ("DELETE", "/users/{id}/factors", "the user's row is locked first"),
    ("DELETE", "/auth/sessions/{id}", "one row, by its id"),
    ("DELETE", "/users/{id}/sessions/{sessionId}", "one row, by its id"),
    ("DELETE", "/users/{id}/sessions", "a column of one row that nothing else writes but the end of an account"),
    ("POST", "/sync/handshake", "the row of the asking store, one at a time"),
    (
        "POST",
        "/sync/sales/{id}/claims",
        "the row of the sale is locked first, as a refund that is pushed does; `claims` of the storage tests asks sixteen times at once",
    ),
    ("DELETE", "/sync/sales/{id}/claims/{refundId}", "the claim of the asking store, by its id"),
    ("DELETE", "/refund-claims/{id}", "one row, by its id"),
    (
        "PUT",
        "/products/{id}/picture",
        "a column of one row, which is locked first, and rows by their hash; `pictures` of the back office sends eight at once",
    ),
    ("DELETE", "/products/{id}/picture", "as PUT /products/{id}/picture"),
    (
        "POST",
        "/sync/errors/{id}/renumber",
        "retries one entry, as POST /sync/retry/{id} does; `several` tries two servers at once",
    ),
    ("POST", "/sync/retry-all", "retries one after the other, as POST /sync/retry/{id} does, for the whole chain"),
];

/// Pairs that ended otherwise than in turn before they were mended.
pub const ONCE_WRONG: &[[&str; 2]] = &[
    ["POST /departments below drinks", "POST /departments below drinks"],
    ["POST /departments below drinks", "DELETE /departments/{id} drinks"],
    ["POST /departments below drinks", "DELETE /tax-groups/{id} reduced"],
    ["PATCH /departments/{id} drinks below food", "DELETE /tax-groups/{id} reduced"],
    ["PATCH /departments/{id} drinks below food", "PATCH /departments/{id} food below drinks"],
    ["PATCH /departments/{id} food below drinks", "DELETE /departments/{id} drinks"],
    ["DELETE /departments/{id} drinks", "POST /products cake"],
    ["DELETE /departments/{id} drinks", "PATCH /products/{id} elsewhere"],
    ["PATCH /tax-rates/{id} county off", "PUT /tax-groups/{id}/rates county first"],
    ["PATCH /tax-rates/{id} county off", "POST /tax-groups county first"],
    ["DELETE /tax-rates/{id} county", "POST /tax-groups county first"],
    ["DELETE /tax-rates/{id} county", "PUT /tax-groups/{id}/rates county first"],
    ["DELETE /tax-groups/{id} reduced", "POST /products cake"],
    ["DELETE /tax-groups/{id} reduced", "PATCH /products/{id} elsewhere"],
    ["PATCH /products/{id} floor", "DELETE /products/{id} tea"],
    ["DELETE /customers/{id} ada", "POST /sync/push sales"],
    ["POST /users ute", "PATCH /users/{id} names"],
    ["POST /users ute", "DELETE /roles/{id} buyer"],
    ["POST /users/{id}/roles buyer", "DELETE /roles/{id} buyer"],
];

// What each sends is said here alone; that every route and every pushed type has one is asked by the table of routes and the
// registry (`every_route_that_writes_is_among_the_writers_or_apart_with_a_reason`).
macro_rules! writers {
    ($( $method:literal $path:literal $what:literal: |$of:ident| $ask:expr; )*) => {
        pub const WRITERS: &[Writer] =
            &[$( Writer { route: ($method, $path), what: $what, ask: |$of: &Fixture| $ask } ),*];
    };
}

const NONE: Json = Json::Null;

writers! {
    "POST" "/departments" "below drinks": |f| ("/departments".into(), json!({"id": f.id("bread"), "code": f.text("bread"), "name": "Bread", "parentId": f.id("drinks"), "defaultTaxGroupId": f.id("reduced")}));
    "PATCH" "/departments/{id}" "drinks below food": |f| (format!("/departments/{}", f.id("drinks")), json!({"parentId": f.id("food"), "defaultTaxGroupId": f.id("reduced")}));
    "PATCH" "/departments/{id}" "food below drinks": |f| (format!("/departments/{}", f.id("food")), json!({"parentId": f.id("drinks")}));
    "PATCH" "/departments/{id}" "a code": |f| (format!("/departments/{}", f.id("drinks")), json!({"code": f.text("bread")}));
    "DELETE" "/departments/{id}" "drinks": |f| (format!("/departments/{}", f.id("drinks")), NONE);
    "POST" "/tax-rates" "new": |f| ("/tax-rates".into(), json!({"code": f.text("new"), "name": "New", "ratePpm": 5}));
    "PATCH" "/tax-rates/{id}" "county off": |f| (format!("/tax-rates/{}", f.id("county")), json!({"isActive": false}));
    "PATCH" "/tax-rates/{id}" "a code": |f| (format!("/tax-rates/{}", f.id("luxury")), json!({"code": f.text("new"), "ratePpm": 9}));
    "DELETE" "/tax-rates/{id}" "county": |f| (format!("/tax-rates/{}", f.id("county")), NONE);
    "POST" "/tax-groups" "county first": |f| ("/tax-groups".into(), json!({"id": f.id("special"), "code": f.text("special"), "name": "Special", "priceMode": "exclusive", "isDefault": true, "rates": [
        {"taxRateId": f.id("county"), "sequence": 1}, {"taxRateId": f.id("luxury"), "sequence": 2, "isCompound": true}]}));
    "PATCH" "/tax-groups/{id}" "reduced is the default": |f| (format!("/tax-groups/{}", f.id("reduced")), json!({"isDefault": true}));
    "PATCH" "/tax-groups/{id}" "standard is the default": |f| (format!("/tax-groups/{}", f.id("standard")), json!({"isDefault": true}));
    "PUT" "/tax-groups/{id}/rates" "county first": |f| (format!("/tax-groups/{}/rates", f.id("reduced")), json!([
        {"taxRateId": f.id("county"), "sequence": 1}, {"taxRateId": f.id("luxury"), "sequence": 2, "isCompound": true}]));
    "PUT" "/tax-groups/{id}/rates" "luxury alone": |f| (format!("/tax-groups/{}/rates", f.id("reduced")), json!([{"taxRateId": f.id("luxury"), "sequence": 1}]));
    "DELETE" "/tax-groups/{id}" "reduced": |f| (format!("/tax-groups/{}", f.id("reduced")), NONE);
    "POST" "/products" "cake": |f| ("/products".into(), json!({"id": f.id("cake"), "sku": f.text("cake"), "name": "Cake", "price": 900, "departmentId": f.id("drinks"), "taxGroupId": f.id("reduced"), "barcode": f.text("milkbar")}));
    "PATCH" "/products/{id}" "elsewhere": |f| (format!("/products/{}", f.id("tea")), json!({"departmentId": f.id("drinks"), "taxGroupId": f.id("reduced"), "barcode": f.text("milkbar")}));
    "PATCH" "/products/{id}" "price": |f| (format!("/products/{}", f.id("tea")), json!({"price": 1100, "cost": 600}));
    "PATCH" "/products/{id}" "floor": |f| (format!("/products/{}", f.id("tea")), json!({"minPrice": 950, "trackStock": false}));
    "DELETE" "/products/{id}" "tea": |f| (format!("/products/{}", f.id("tea")), NONE);
    "PATCH" "/products/{id}" "a charge": |f| (format!("/products/{}", f.id("tea")), json!({"chargeProductId": f.id("deposit")}));
    "PATCH" "/products/{id}" "deposit off": |f| (format!("/products/{}", f.id("deposit")), json!({"isActive": false}));
    "PATCH" "/products/{id}" "a pack": |f| (format!("/products/{}", f.id("deposit")), json!({"packs": [{"code": f.text("milkbar"), "quantity": 6}]}));
    "POST" "/products/{id}/restore" "gone": |f| (format!("/products/{}/restore", f.id("gone")), NONE);
    "PUT" "/store-prices/{storeId}/{productId}" "price": |f| (format!("/store-prices/{}/{}", f.id("shop"), f.id("tea")), json!({"price": 930}));
    "PUT" "/store-prices/{storeId}/{productId}" "level": |f| (format!("/store-prices/{}/{}", f.id("shop"), f.id("tea")), json!({"reorderPoint": 7}));
    "DELETE" "/store-prices/{storeId}/{productId}" "back": |f| (format!("/store-prices/{}/{}", f.id("shop"), f.id("tea")), NONE);
    "POST" "/products/import" "elsewhere": |f| ("/products/import".into(), json!(format!("sku,name,departmentCode,taxGroupCode,barcode\n{},Leaves,{},{},{}\n", f.text("tea"), f.text("drinks"), f.text("reduced"), f.text("milkbar"))));
    "POST" "/customers/import" "ada": |f| ("/customers/import".into(), json!(format!("customerNumber,firstName,email\n{},Adele,{}\n", f.text("C1"), f.text("bob@example.org"))));
    "POST" "/store-prices/import" "level": |f| ("/store-prices/import".into(), json!(format!("storeCode,sku,reorderPoint\n{},{},8\n", f.text("S"), f.text("tea"))));
    "POST" "/specials" "of the group": |f| ("/specials".into(), json!({"id": f.id("second offer"), "code": f.text("second"), "name": "Second", "productId": f.id("tea"), "mixGroup": f.text("mix"), "type": "multi_buy", "bundleQuantity": 3, "bundlePrice": 2500}));
    "PATCH" "/specials/{id}" "another price": |f| (format!("/specials/{}", f.id("offer")), json!({"bundlePrice": 2400, "departmentId": f.id("drinks")}));
    "POST" "/specials/{id}/deactivate" "offer": |f| (format!("/specials/{}/deactivate", f.id("offer")), NONE);
    "DELETE" "/specials/{id}" "offer": |f| (format!("/specials/{}", f.id("offer")), NONE);
    "POST" "/sales-reps" "rob": |f| ("/sales-reps".into(), json!({"id": f.id("rob"), "code": f.text("R2"), "name": "Rob", "storeId": f.id("shop"), "userId": f.id("uma")}));
    "PATCH" "/sales-reps/{id}" "a code": |f| (format!("/sales-reps/{}", f.id("rita")), json!({"code": f.text("R2"), "userId": f.id("uma")}));
    "DELETE" "/sales-reps/{id}" "rita": |f| (format!("/sales-reps/{}", f.id("rita")), NONE);
    "POST" "/reasons" "market": |f| ("/reasons".into(), json!({"id": f.id("market"), "code": f.text("market"), "name": "Market", "kind": "discount"}));
    "PATCH" "/reasons/{id}" "a code": |f| (format!("/reasons/{}", f.id("fair")), json!({"code": f.text("market"), "needsNote": true}));
    "DELETE" "/reasons/{id}" "fair": |f| (format!("/reasons/{}", f.id("fair")), NONE);
    "POST" "/customers" "bob": |f| ("/customers".into(), json!({"id": f.id("bob"), "firstName": "Bob", "email": f.text("bob@example.org")}));
    "PATCH" "/customers/{id}" "ada": |f| (format!("/customers/{}", f.id("ada")), json!({"lastName": "L", "email": f.text("bob@example.org")}));
    "DELETE" "/customers/{id}" "ada": |f| (format!("/customers/{}", f.id("ada")), NONE);
    "POST" "/users" "ute": |f| ("/users".into(), json!({"id": f.id("ute"), "username": f.text("ute"), "displayName": "Ute", "employeeCode": f.text("E"), "assignments": [{"roleId": f.id("buyer"), "storeId": f.id("shop")}]}));
    "PATCH" "/users/{id}" "names": |f| (format!("/users/{}", f.id("uma")), json!({"username": f.text("ute"), "employeeCode": f.text("E")}));
    "POST" "/users/{id}/activate" "is active": |f| (format!("/users/{}/activate", f.id("uma")), NONE);
    "POST" "/users/{id}/deactivate" "uma": |f| (format!("/users/{}/deactivate", f.id("uma")), NONE);
    "DELETE" "/users/{id}" "uma": |f| (format!("/users/{}", f.id("uma")), NONE);
    "POST" "/users/{id}/roles" "buyer": |f| (format!("/users/{}/roles", f.id("uma")), json!({"roleId": f.id("buyer"), "storeId": f.id("shop")}));
    "DELETE" "/users/{id}/roles/{assignmentId}" "clerk": |f| (format!("/users/{}/roles/{}", f.id("uma"), f.id("assignment")), NONE);
    "POST" "/roles" "seller": |f| ("/roles".into(), json!({"id": f.id("seller"), "code": f.text("seller").to_lowercase(), "name": "Seller", "permissions": ["products.view"]}));
    "PATCH" "/roles/{id}" "a name": |f| (format!("/roles/{}", f.id("buyer")), json!({"name": "Purchaser"}));
    "PUT" "/roles/{id}/permissions" "customers": |f| (format!("/roles/{}/permissions", f.id("buyer")), json!({"permissions": ["customers.view"]}));
    "PUT" "/roles/{id}/permissions" "nothing": |f| (format!("/roles/{}/permissions", f.id("buyer")), json!({"permissions": []}));
    "DELETE" "/roles/{id}" "buyer": |f| (format!("/roles/{}", f.id("buyer")), NONE);
    "POST" "/stores" "new": |f| ("/stores".into(), json!({"id": f.id("new shop"), "code": f.text("N"), "name": "New", "timezone": "UTC"}));
    "PATCH" "/stores/{id}" "currency": |f| (format!("/stores/{}", f.id("shop")), json!({"currencyCode": "EUR"}));
    "POST" "/stores/{id}/activate" "is active": |f| (format!("/stores/{}/activate", f.id("shop")), NONE);
    "POST" "/stores/{id}/deactivate" "shop": |f| (format!("/stores/{}/deactivate", f.id("shop")), json!({"force": true}));
    "POST" "/stores/{id}/provision" "shop": |f| (format!("/stores/{}/provision", f.id("shop")), json!({}));
    "POST" "/stores/{id}/revoke-token" "shop": |f| (format!("/stores/{}/revoke-token", f.id("shop")), json!({}));
    "POST" "/tenders" "voucher": |f| ("/tenders".into(), json!({"id": f.id("voucher"), "code": f.text("V"), "name": "Voucher", "kind": "card"}));
    "PATCH" "/tenders/{id}" "a code": |f| (format!("/tenders/{}", f.id("card")), json!({"code": f.text("V")}));
    "DELETE" "/tenders/{id}" "card": |f| (format!("/tenders/{}", f.id("card")), NONE);
    "POST" "/sync/retry/{id}" "orphan": |f| (format!("/sync/retry/{}", f.failed), json!({}));
    "POST" "/sync/resolve/{id}" "orphan": |f| (format!("/sync/resolve/{}", f.failed), json!({"note": "settled"}));
    "POST" "/sync/push" "customers": |f| ("/sync/push".into(), json!([f.envelope("customers", "ada", "update", json!({"customerNumber": f.text("C1"), "firstName": "Adele", "email": f.text("bob@example.org")}))]));
    "POST" "/sync/push" "register_sessions": |f| ("/sync/push".into(), json!([f.envelope("register_sessions", "drawer", "create", json!({"registerCode": "01", "sessionNumber": 7, "status": "open", "openedAt": "2026-11-20T12:00:00Z"}))]));
    "POST" "/sync/push" "purchase_orders": |f| ("/sync/push".into(), json!([f.envelope("purchase_orders", "order", "create", json!({"poNumber": f.text("PO"), "supplierId": f.id("tea"), "status": "draft", "currencyCode": "USD"}))]));
    "POST" "/sync/push" "purchase_order_items": |f| ("/sync/push".into(), json!([f.envelope("purchase_orders", "order", "create", json!({"poNumber": f.text("PO"), "supplierId": f.id("tea"), "status": "draft", "currencyCode": "USD"})), f.envelope("purchase_order_items", "position", "create", json!({"purchaseOrderId": f.id("order"), "productId": f.id("tea"), "orderedQuantity": 3}))]));
    "POST" "/sync/push" "transfers": |f| ("/sync/push".into(), json!([f.envelope("transfers", "transfer", "create", json!({"transferNumber": f.text("T"), "fromStoreId": f.id("shop"), "toStoreId": f.id("new shop"), "status": "draft", "transferItems": [{"id": f.id("line"), "lineNo": 1, "productId": f.id("tea"), "requestedQuantity": 2}]}))]));
    "POST" "/sync/push" "sales": |f| ("/sync/push".into(), json!([f.envelope("sales", "sale", "create", sale(f, "line", "payment", "R1"))]));
    "POST" "/sync/push" "sales once more": |f| ("/sync/push".into(), json!([f.envelope("sales", "second sale", "create", sale(f, "second line", "second payment", "R2"))]));
    "POST" "/sync/push" "inventory_adjustments": |f| ("/sync/push".into(), json!([f.envelope("inventory_adjustments", "count", "create", json!({"productId": f.id("tea"), "reason": "received", "quantityChange": 4, "unitCost": 480, "businessDate": "2026-11-20", "occurredAt": "2026-11-20T12:00:00Z"}))]));
}

/// Two pieces of tea, on the account of Ada.
fn sale(f: &Fixture, line: &str, payment: &str, receipt: &str) -> Json {
    json!({
        "receiptNumber": f.text(receipt), "registerCode": "01", "saleType": "sale", "status": "completed",
        "businessDate": "2026-11-20", "startedAt": "2026-11-20T12:00:00Z", "completedAt": "2026-11-20T12:00:00Z",
        "updatedAt": "2026-11-20T12:00:00Z", "netAmount": 2000, "taxAmount": 0, "totalAmount": 2000, "customerId": f.id("ada"),
        "saleItems": [{"id": f.id(line), "lineNo": 1, "productId": f.id("tea"), "quantity": 2, "unitPrice": 1000,
                       "listAmount": 2000, "netAmount": 2000, "totalAmount": 2000}],
        "salePayments": [{"id": f.id(payment), "lineNo": 1, "tenderCode": "ACCOUNT", "tenderKind": "on_account",
                          "amount": 2000, "status": "captured"}],
    })
}
