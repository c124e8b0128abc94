//! Departments and products: five things in four variants for each of ten departments, a deposit, and a product that is named at
//! the till.

use serde_json::json;
use tillkeep_model::{Cost, Instant, JsonText, Money, Qty, ids, rdiv};
use tillkeep_storage::entity::{department, product};
use tillkeep_storage::registry;
use uuid::Uuid;

use super::columns::text;
use super::supply;
use super::taxes::Group;

/// One department with what it sells.
struct Department {
    code: &'static str,
    name: &'static str,
    color: &'static str,
    tax: Group,
    /// Percent of the price.
    margin: i64,
    /// Name and price in cents of the first thing.
    bases: [(&'static str, i64); 5],
    /// Name and price as percent of the base price.
    variants: [(&'static str, i64); 4],
}

const DEPARTMENTS: [Department; 10] = [
    Department {
        code: "GROC",
        name: "Grocery",
        color: "#8a6d3b",
        tax: Group::Food,
        margin: 28,
        bases: [("Rice", 249), ("Pasta", 179), ("Olive Oil", 899), ("Tomato Sauce", 229), ("Black Beans", 149)],
        variants: [("500 g", 100), ("1 kg", 185), ("Organic 500 g", 145), ("Family", 340)],
    },
    Department {
        code: "PROD",
        name: "Produce",
        color: "#4c8c3a",
        tax: Group::Food,
        margin: 38,
        bases: [("Apples", 349), ("Bananas", 179), ("Carrots", 199), ("Tomatoes", 429), ("Potatoes", 159)],
        variants: [("Loose", 100), ("Organic", 145), ("Local", 125), ("Premium", 165)],
    },
    Department {
        code: "DAIRY",
        name: "Dairy",
        color: "#5b9bd5",
        tax: Group::Food,
        margin: 25,
        bases: [("Milk", 129), ("Yogurt", 99), ("Butter", 349), ("Cheddar", 449), ("Cream", 219)],
        variants: [("Small", 100), ("Large", 180), ("Light", 105), ("Organic", 150)],
    },
    Department {
        code: "BAKE",
        name: "Bakery",
        color: "#c98f4e",
        tax: Group::Food,
        margin: 55,
        bases: [("White Bread", 299), ("Rye Bread", 379), ("Croissant", 189), ("Bagel", 129), ("Muffin", 229)],
        variants: [("Single", 100), ("2 Pack", 185), ("4 Pack", 340), ("Whole Grain", 125)],
    },
    Department {
        code: "BEV",
        name: "Beverages",
        color: "#b5485d",
        tax: Group::Standard,
        margin: 32,
        bases: [
            ("Cola", 129),
            ("Orange Juice", 249),
            ("Sparkling Water", 109),
            ("Iced Tea", 179),
            ("Coffee Beans", 699),
        ],
        variants: [("Can", 100), ("Bottle", 150), ("6 Pack", 360), ("Zero", 105)],
    },
    Department {
        code: "SNACK",
        name: "Snacks",
        color: "#d9a441",
        tax: Group::Standard,
        margin: 36,
        bases: [("Potato Chips", 229), ("Pretzels", 199), ("Chocolate Bar", 179), ("Trail Mix", 449), ("Cookies", 299)],
        variants: [("Small", 100), ("Large", 175), ("Spicy", 110), ("Party", 290)],
    },
    Department {
        code: "HOME",
        name: "Household",
        color: "#6f7f8f",
        tax: Group::Standard,
        margin: 34,
        bases: [("Dish Soap", 279), ("Paper Towels", 599), ("Trash Bags", 649), ("Sponges", 249), ("Candles", 499)],
        variants: [("Basic", 100), ("Value", 160), ("Eco", 135), ("Scented", 120)],
    },
    Department {
        code: "CARE",
        name: "Personal Care",
        color: "#a06cb4",
        tax: Group::Standard,
        margin: 42,
        bases: [("Shampoo", 499), ("Toothpaste", 299), ("Soap Bar", 149), ("Hand Cream", 399), ("Razor", 699)],
        variants: [("Travel", 55), ("Regular", 100), ("Family", 170), ("Sensitive", 125)],
    },
    Department {
        code: "ELEC",
        name: "Electronics",
        color: "#3f4b5b",
        tax: Group::Standard,
        margin: 30,
        bases: [
            ("AA Batteries", 499),
            ("USB Cable", 799),
            ("Light Bulb", 399),
            ("Earbuds", 1499),
            ("Power Strip", 1299),
        ],
        variants: [("Basic", 100), ("Plus", 140), ("Pro", 200), ("2 Pack", 185)],
    },
    Department {
        code: "CAFE",
        name: "Cafe",
        color: "#7b4b2a",
        tax: Group::Cafe,
        margin: 64,
        bases: [("Espresso", 249), ("Latte", 399), ("Sandwich", 699), ("Soup", 499), ("Salad", 799)],
        variants: [("Small", 100), ("Medium", 125), ("Large", 150), ("Vegan", 115)],
    },
];

/// Sells with no tax at all.
const UNTAXED: &str = "CARE-0204";
/// Sell so fast that no opening stock reaches their reorder point.
const ALWAYS_SHORT: [&str; 3] = ["GROC-0201", "DAIRY-0101", "BEV-0101"];
/// Has codes of packs: six for less than six of them, and a case at the price of its cans.
const IN_PACKS: &str = "BEV-0101";
const DEPOSIT: &str = "BEV-DEPOSIT";
/// What is not in the catalogue is sold as this.
const SUNDRIES: &str = "HOME-SUNDRIES";
/// Printed in front of every barcode; free for a shop's own use.
const BARCODE_PREFIX: &str = "299";
/// Number inside scale labels of the product before the first weighed one.
const PLU_BASE: usize = 4000;

pub fn department_id(code: &str) -> Uuid {
    ids::named(&format!("department:{code}"))
}

pub fn product_id(sku: &str) -> Uuid {
    ids::named(&format!("product:{sku}"))
}

pub fn departments(at: Instant) -> Vec<department::Model> {
    let row = |(sort_order, department): (i32, &Department)| department::Model {
        id: department_id(department.code),
        created_at: at,
        updated_at: at,
        code: department.code.to_owned(),
        name: department.name.to_owned(),
        default_tax_group_id: Some(department.tax.id()),
        sort_order,
        color: text(department.color),
        is_active: true,
        ..department::Model::default()
    };
    (1..).zip(&DEPARTMENTS).map(row).collect()
}

pub fn products(at: Instant) -> Vec<product::Model> {
    let mut rows = Vec::new();
    for (number, department) in (1..).zip(&DEPARTMENTS) {
        for (base, thing) in (1..).zip(department.bases) {
            for (variant, kind) in (1..).zip(department.variants) {
                rows.push(product(at, department, [number, base, variant], thing, kind));
            }
        }
    }
    rows.extend([deposit(at), sundries(at)]);
    rows
}

/// Sold with each bottle, never alone and never cheaper.
fn deposit(at: Instant) -> product::Model {
    product::Model {
        department_id: department_id("BEV"),
        tax_group_id: Group::None.id(),
        product_type: "deposit".to_owned(),
        price: Money(29),
        cost: Cost(Money(29)),
        ..further(at, DEPOSIT, "Bottle deposit", "9001")
    }
}

fn sundries(at: Instant) -> product::Model {
    product::Model {
        department_id: department_id("HOME"),
        tax_group_id: Group::Standard.id(),
        product_type: "standard".to_owned(),
        is_open_price: true,
        named_at_till: true,
        allow_discount: true,
        ..further(at, SUNDRIES, "Sundries", "9101")
    }
}

/// What has no stock and no supplier.
fn further(at: Instant, sku: &str, name: &str, number: &str) -> product::Model {
    product::Model {
        id: product_id(sku),
        sku: sku.to_owned(),
        sku_folded: registry::fold(sku),
        created_at: at,
        updated_at: at,
        barcode: Some(ean13(&format!("{BARCODE_PREFIX}00{number}000"))),
        name: name.to_owned(),
        unit_of_measure: "ea".to_owned(),
        is_returnable: true,
        is_active: true,
        ..product::Model::default()
    }
}

fn product(
    at: Instant,
    department: &Department,
    [number, base, variant]: [usize; 3],
    (thing, base_price): (&str, i64),
    (kind, percent): (&str, i64),
) -> product::Model {
    let sku = format!("{}-{base:02}{variant:02}", department.code);
    let name = format!("{thing} {kind}");
    let weighed = department.code == "PROD";
    let is_drink = department.code == "BEV" && thing != "Coffee Beans";
    // A cafe makes what it sells.
    let track_stock = department.code != "CAFE";
    let price = up_to_nine(percent_of(base_price, percent));
    let always_short = ALWAYS_SHORT.contains(&sku.as_str());
    let reorder = |usual, short| {
        Qty::pieces(if !track_stock {
            0
        } else if always_short {
            short
        } else {
            usual
        })
    };
    product::Model {
        id: product_id(&sku),
        sku_folded: registry::fold(&sku),
        created_at: at,
        updated_at: at,
        barcode: Some(ean13(&format!("{BARCODE_PREFIX}{number:02}{base:02}{variant:02}000"))),
        plu: weighed.then(|| format!("{:05}", PLU_BASE + (base - 1) * department.variants.len() + variant)),
        short_name: Some(name.chars().take(24).collect::<String>().trim_end().to_owned()),
        name,
        department_id: department_id(department.code),
        tax_group_id: if sku == UNTAXED { Group::None } else { department.tax }.id(),
        default_supplier_id: supply::of_department(department.code).map(supply::supplier_id),
        product_type: "standard".to_owned(),
        unit_of_measure: if weighed { "kg" } else { "ea" }.to_owned(),
        quantity_decimals: if weighed { 3 } else { 0 },
        is_weighed: weighed,
        price: Money(price),
        cost: Cost(Money(percent_of(price, 100 - department.margin))),
        allow_discount: true,
        is_returnable: true,
        track_stock,
        reorder_point: reorder(12, 250),
        reorder_quantity: reorder(24, 300),
        is_active: true,
        packs: if sku == IN_PACKS { packs() } else { JsonText::default() },
        charge_product_id: (is_drink && kind == "Bottle").then(|| product_id(DEPOSIT)),
        sku,
        ..product::Model::default()
    }
}

/// Codes of several cans at once.
fn packs() -> JsonText {
    let code = |number: &str| ean13(&format!("{BARCODE_PREFIX}050101{number}"));
    JsonText(json!([
        {"code": code("006"), "quantity": 6, "price": 699},
        {"code": code("024"), "quantity": 24},
    ]))
}

/// `percent` of `cents`, rounded half away from zero.
pub fn percent_of(cents: i64, percent: i64) -> i64 {
    Money::from_wide(rdiv(i128::from(cents) * i128::from(percent), 100)).0
}

/// The next price that ends in 9 cents, `cents` itself when it does.
pub const fn up_to_nine(cents: i64) -> i64 {
    cents + (9 - cents).rem_euclid(10)
}

/// Twelve digits with their check digit.
fn ean13(digits: &str) -> String {
    let weighted =
        digits.bytes().zip([1, 3].into_iter().cycle()).map(|(digit, weight)| u32::from(digit - b'0') * weight);
    format!("{digits}{}", (10 - weighted.sum::<u32>() % 10) % 10)
}
