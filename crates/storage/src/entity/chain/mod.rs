//! What a chain is set up with, and its customers.

pub mod customer;
pub mod department;
pub mod device;
#[cfg(feature = "next-release")]
pub mod loyalty_tier;
pub mod new_customers;
pub mod product;
pub mod product_barcode;
pub mod product_picture;
pub mod product_special;
pub mod product_supplier;
pub mod reason;
pub mod register;
pub mod sales_rep;
pub mod store;
pub mod store_product;
pub mod supplier;
pub mod tax_group;
pub mod tax_group_rate;
pub mod tax_rate;
pub mod tender;
