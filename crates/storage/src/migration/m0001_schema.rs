//! The first schema.

use super::step::Change;
use super::table::{NewTable, On};

pub(super) const CHANGES: &[Change] = &[
    Change::CreateTable(NewTable {
        name: "stores",
        on: On::Both,
        columns: "id uuid!, created_at ts, updated_at ts, deleted_at ts?, sync_version big, code text, name text, \
            legal_name text?, tax_registration_no text?, address_line1 text?, address_line2 text?, city text?, \
            region text?, postal_code text?, country_code text, phone text?, email text?, timezone text, \
            currency_code text, currency_exponent small, locale text, is_active bool, provisioned_at ts?, \
            first_seen_at ts?, sync_token_version int, prices_include_tax bool, tax_rounding text, \
            cash_rounding_increment int, cash_rounding_mode text, business_day_start text, max_session_hours int, \
            max_line_discount_bps bps, max_cart_discount_bps bps, allow_negative_stock bool, blind_close bool, \
            cash_variance_limit money, refund_window_days int?, allow_unlinked_refunds bool, \
            refund_to_original_tender bool, unlinked_refund_limit money, default_float money, \
            four_eyes_documents bool, scale_barcode_rules json, receipt_header text?, receipt_footer text?",
        natural_keys: &["code"],
        ..NewTable::EMPTY
    }),
    Change::CreateTable(NewTable {
        name: "departments",
        on: On::Both,
        columns: "id uuid!, created_at ts, updated_at ts, deleted_at ts?, sync_version big, code text, name text, \
            parent_id uuid? >departments, default_tax_group_id uuid?, max_discount_bps bps?, sort_order int, \
            color text?, is_active bool",
        natural_keys: &["code"],
        ..NewTable::EMPTY
    }),
    Change::CreateTable(NewTable {
        name: "tax_rates",
        on: On::Both,
        columns: "id uuid!, created_at ts, updated_at ts, deleted_at ts?, sync_version big, code text, name text, \
            receipt_label text?, rate_ppm ppm, authority text?, is_active bool",
        natural_keys: &["code"],
        ..NewTable::EMPTY
    }),
    Change::CreateTable(NewTable {
        name: "tax_groups",
        on: On::Both,
        columns: "id uuid!, created_at ts, updated_at ts, deleted_at ts?, sync_version big, code text, name text, \
            price_mode text, is_default bool, is_active bool",
        natural_keys: &["code"],
        ..NewTable::EMPTY
    }),
    Change::CreateTable(NewTable {
        name: "tax_group_rates",
        on: On::Both,
        columns: "id uuid!, created_at ts, updated_at ts, deleted_at ts?, sync_version big, \
            tax_group_id uuid >tax_groups, tax_rate_id uuid >tax_rates, store_id uuid? >stores, sequence int, \
            is_compound bool",
        natural_keys: &["tax_group_id, tax_rate_id, store_id?"],
        ..NewTable::EMPTY
    }),
    Change::CreateTable(NewTable {
        name: "suppliers",
        on: On::Both,
        columns: "id uuid!, created_at ts, updated_at ts, deleted_at ts?, sync_version big, code text, name text, \
            contact_name text?, email text?, phone text?, address_line1 text?, address_line2 text?, city text?, \
            region text?, postal_code text?, country_code text?, account_number text?, tax_id text?, \
            currency_code text, payment_terms_days int, lead_time_days int, min_order_amount money, notes text?, \
            is_active bool",
        natural_keys: &["code"],
        ..NewTable::EMPTY
    }),
    Change::CreateTable(NewTable {
        name: "tenders",
        on: On::Both,
        columns: "id uuid!, created_at ts, updated_at ts, deleted_at ts?, sync_version big, code text, name text, \
            kind text, opens_drawer bool, counts_in_close bool, allows_change bool, requires_reference bool, \
            is_refundable bool, is_voidable bool, requires_customer bool, min_amount money?, max_amount money?, \
            sort_order int, is_active bool",
        natural_keys: &["code"],
        ..NewTable::EMPTY
    }),
    Change::CreateTable(NewTable {
        name: "products",
        on: On::Both,
        columns: "id uuid!, created_at ts, updated_at ts, deleted_at ts?, sync_version big, sku text, sku_folded text, barcode text?, \
            barcodes json, plu text?, name text, short_name text?, description text?, \
            department_id uuid >departments, tax_group_id uuid >tax_groups, default_supplier_id uuid? >suppliers, \
            product_type text, unit_of_measure text, quantity_decimals small, is_weighed bool, price money, \
            cost money, min_price money?, is_open_price bool, allow_discount bool, max_discount_bps bps?, \
            is_returnable bool, track_stock bool, age_restriction small?, reorder_point qty, \
            reorder_quantity qty, brand text?, image_url text?, tags json, is_active bool",
        natural_keys: &["sku_folded", "plu"],
        indexes: &["department_id", "tax_group_id"],
        ..NewTable::EMPTY
    }),
    Change::CreateTable(NewTable {
        name: "users",
        on: On::Both,
        columns: "id uuid!, created_at ts, updated_at ts, deleted_at ts?, sync_version big, username text, \
            username_folded text, display_name text, employee_code text?, email text?, phone text?, \
            pin_hash text?, pin_lookup text?, pin_changed_at ts?, must_change_pin bool, is_active bool, \
            last_login_at ts?",
        natural_keys: &["username_folded", "employee_code"],
        indexes: &["pin_lookup"],
        ..NewTable::EMPTY
    }),
    Change::CreateTable(NewTable {
        name: "roles",
        on: On::Both,
        columns: "id uuid!, created_at ts, updated_at ts, deleted_at ts?, sync_version big, code text, name text, \
            description text?, is_system bool",
        natural_keys: &["code"],
        ..NewTable::EMPTY
    }),
    Change::CreateTable(NewTable {
        name: "permissions",
        on: On::Both,
        columns: "id uuid!, code text, module text, action text, description text?, created_at ts, updated_at ts",
        natural_keys: &["code*"],
        ..NewTable::EMPTY
    }),
    Change::CreateTable(NewTable {
        name: "role_permissions",
        on: On::Both,
        columns: "role_id uuid! >roles, permission_id uuid! >permissions",
        ..NewTable::EMPTY
    }),
    Change::CreateTable(NewTable {
        name: "user_store_roles",
        on: On::Both,
        columns: "id uuid!, created_at ts, updated_at ts, deleted_at ts?, sync_version big, user_id uuid >users, \
            role_id uuid >roles, store_id uuid? >stores",
        natural_keys: &["user_id, role_id, store_id?"],
        indexes: &["user_id"],
        ..NewTable::EMPTY
    }),
    Change::CreateTable(NewTable {
        name: "customers",
        on: On::Both,
        columns: "id uuid!, created_at ts, updated_at ts, deleted_at ts?, sync_version big, customer_number text, \
            first_name text?, last_name text?, company_name text?, email text?, email_folded text?, phone text?, \
            phone_digits text?, \
            address_line1 text?, address_line2 text?, city text?, region text?, postal_code text?, \
            country_code text?, birth_date text?, notes text?, marketing_opt_in bool, tax_exempt bool, \
            tax_exempt_number text?, credit_limit money, account_balance money, origin_store_id uuid?, \
            merged_into_id uuid?, is_active bool, synced bool, flags json",
        natural_keys: &["customer_number"],
        indexes: &["email", "email_folded", "phone_digits", "origin_store_id"],
        ..NewTable::EMPTY
    }),
    Change::CreateTable(NewTable {
        name: "product_suppliers",
        on: On::Both,
        columns: "id uuid!, created_at ts, updated_at ts, deleted_at ts?, sync_version big, product_id uuid >products, \
            supplier_id uuid >suppliers, supplier_sku text?, cost money, case_pack_quantity qty, \
            min_order_quantity qty, lead_time_days int?, is_primary bool, last_cost money?, last_ordered_at ts?",
        natural_keys: &["product_id, supplier_id"],
        ..NewTable::EMPTY
    }),
    Change::CreateTable(NewTable {
        name: "product_specials",
        on: On::Both,
        columns: "id uuid!, created_at ts, updated_at ts, deleted_at ts?, sync_version big, code text, name text, \
            product_id uuid? >products, department_id uuid? >departments, store_id uuid? >stores, \
            mix_group text?, type text, percent_bps bps?, amount money?, fixed_price money?, buy_quantity int?, \
            get_quantity int?, get_discount_bps bps?, bundle_quantity int?, bundle_price money?, \
            max_per_sale int?, start_date text?, end_date text?, days_of_week int, start_time text?, \
            end_time text?, priority int, is_stackable bool, requires_customer bool, is_active bool",
        natural_keys: &["code"],
        indexes: &["product_id"],
        ..NewTable::EMPTY
    }),
    Change::CreateTable(NewTable {
        name: "sales_reps",
        on: On::Both,
        columns: "id uuid!, created_at ts, updated_at ts, deleted_at ts?, sync_version big, code text, name text, \
            user_id uuid? >users, store_id uuid? >stores, email text?, phone text?, commission_bps bps, \
            commission_basis text, is_active bool",
        natural_keys: &["code"],
        ..NewTable::EMPTY
    }),
    Change::CreateTable(NewTable {
        name: "store_product_dynamic",
        on: On::Both,
        columns: "id uuid!, created_at ts, updated_at ts, deleted_at ts?, sync_version big, store_id uuid, \
            product_id uuid, price money, has_price_override bool, cost money, reorder_point qty, \
            reorder_quantity qty, max_quantity qty?, is_stocked bool, bin_location text?, quantity qty, \
            average_cost money?, last_sold_at ts?, last_received_at ts?, last_counted_at ts?, last_synced_at ts?",
        conflict_keys: &["store_id, product_id"],
        indexes: &["product_id"],
        ..NewTable::EMPTY
    }),
    Change::CreateTable(NewTable {
        name: "purchase_orders",
        on: On::Both,
        columns: "id uuid!, created_at ts, updated_at ts, deleted_at ts?, sync_version big, po_number text, \
            store_id uuid, supplier_id uuid, origin text, status text, order_date text?, expected_date text?, \
            currency_code text, subtotal_amount money, freight_amount money, tax_amount money, \
            total_amount money, created_by uuid?, submitted_by uuid?, submitted_at ts?, approved_by uuid?, \
            approved_at ts?, ordered_at ts?, sent_via text?, closed_by uuid?, closed_at ts?, \
            rejected_reason text?, cancelled_reason text?, conflict_note text?, notes text?, receipts json, \
            last_supplier_document text?, synced bool, flags json",
        natural_keys: &["po_number"],
        indexes: &["store_id"],
        ..NewTable::EMPTY
    }),
    Change::CreateTable(NewTable {
        name: "purchase_order_items",
        on: On::Both,
        columns: "id uuid!, created_at ts, updated_at ts, deleted_at ts?, sync_version big, purchase_order_id uuid, \
            store_id uuid, line_no int, product_id uuid, description text, supplier_sku text?, \
            ordered_quantity qty, received_quantity qty, cancelled_quantity qty, unit_cost money, \
            line_amount money, received_cost money?, synced bool",
        indexes: &["purchase_order_id", "store_id"],
        ..NewTable::EMPTY
    }),
    Change::CreateTable(NewTable {
        name: "transfers",
        on: On::Both,
        columns: "id uuid!, created_at ts, updated_at ts, deleted_at ts?, store_id uuid, sync_version big, \
            transfer_number text, from_store_id uuid, to_store_id uuid, status text, requested_by uuid?, \
            requested_at ts?, approved_by uuid?, approved_at ts?, rejected_reason text?, cancelled_reason text?, \
            note text?, sent_by uuid?, sent_at ts?, carrier text?, tracking_number text?, received_by uuid?, \
            received_at ts?, receipts json, synced bool, last_envelope_at ts?, flags json",
        natural_keys: &["transfer_number"],
        indexes: &["from_store_id", "to_store_id"],
        ..NewTable::EMPTY
    }),
    Change::CreateTable(NewTable {
        name: "transfer_items",
        on: On::Both,
        columns: "id uuid!, transfer_id uuid >>transfers, line_no int, product_id uuid, sku text, product_name text, \
            requested_quantity qty, approved_quantity qty?, sent_quantity qty?, received_quantity qty, \
            damaged_quantity qty, unit_cost money?",
        indexes: &["transfer_id"],
        ..NewTable::EMPTY
    }),
    Change::CreateTable(NewTable {
        name: "sales",
        on: On::Both,
        columns: "id uuid!, store_id uuid, created_at ts, updated_at ts, receipt_number text, register_id uuid, \
            register_code text, register_session_id uuid, sale_type text, status text, business_date text, \
            started_at ts, completed_at ts, cashier_user_id uuid, cashier_name text, sales_rep_id uuid?, \
            customer_id uuid?, customer_name text?, original_sale_id uuid?, original_receipt_number text?, \
            exchange_group_id uuid?, currency_code text, tax_rounding text, tax_exempt bool, list_amount money, \
            special_discount money, line_discount money, cart_discount money, net_amount money, tax_amount money, \
            total_amount money, cash_rounding money, change_amount money, cost_amount money, \
            refunded_amount money, tax_lines json, cart_discount_type text?, cart_discount_value big?, \
            cart_discount_reason text?, approvals json, voided_at ts?, voided_by uuid?, void_reason text?, \
            reprint_count int, note text?, synced bool, received_at ts?, last_envelope_at ts?, flags json",
        indexes: &[
            "store_id, register_code, receipt_number",
            "store_id, receipt_number",
            "register_session_id",
            "business_date, store_id",
            "customer_id",
        ],
        ..NewTable::EMPTY
    }),
    Change::CreateTable(NewTable {
        name: "sale_items",
        on: On::Both,
        columns: "id uuid!, sale_id uuid >>sales, line_no int, product_id uuid, sku text, barcode text?, \
            product_name text, department_id uuid?, unit_of_measure text, quantity qty, regular_price money, \
            unit_price money, price_source text, price_includes_tax bool, list_amount money, \
            special_discount money, line_discount money, cart_discount money, special_details json, \
            line_discount_type text?, line_discount_value big?, discount_reason text?, net_amount money, \
            tax_amount money, total_amount money, tax_group_id uuid?, tax_details json, unit_cost money?, \
            cost_amount money, override_reason text?, override_approved_by uuid?, discount_approved_by uuid?, \
            sales_rep_id uuid?, original_sale_item_id uuid?, refunded_quantity qty, restock bool?, \
            return_reason text?, age_confirmed bool?",
        indexes: &["sale_id", "product_id"],
        ..NewTable::EMPTY
    }),
    Change::CreateTable(NewTable {
        name: "sale_payments",
        on: On::Both,
        columns: "id uuid!, sale_id uuid >>sales, line_no int, tender_id uuid?, tender_code text, tender_kind text, \
            amount money, tendered_amount money?, change_amount money, is_change bool, reference text?, \
            card_brand text?, card_last4 text?, external_id text?, status text",
        indexes: &["sale_id"],
        ..NewTable::EMPTY
    }),
    Change::CreateTable(NewTable {
        name: "inventory_adjustments",
        on: On::Both,
        columns: "id uuid!, store_id uuid, created_at ts, updated_at ts, product_id uuid, reason text, \
            quantity_change qty, quantity_before qty, quantity_after qty, unit_cost money?, reference_type text?, \
            reference_id uuid?, reference_line_id uuid?, user_id uuid?, user_name text?, note text?, \
            business_date text, occurred_at ts, synced bool, received_at ts?, last_envelope_at ts?, flags json",
        indexes: &["product_id", "store_id"],
        ..NewTable::EMPTY
    }),
    Change::CreateTable(NewTable {
        name: "register_sessions",
        on: On::Both,
        columns: "id uuid!, store_id uuid, created_at ts, updated_at ts, register_id uuid, register_code text, \
            session_number int, status text, business_date text, opened_by uuid, opened_at ts, \
            opening_float money, opening_denominations json?, counted_by uuid?, counted_at ts?, counts json?, \
            closed_by uuid?, closed_at ts?, forced bool, close_note text?, expected_cash money?, \
            counted_cash money?, cash_variance money?, cash_movements json, no_sale_count int, totals json?, \
            first_receipt_number text?, last_receipt_number text?, sale_count int?, running_total money?, \
            zz_number int?, synced bool, received_at ts?, last_envelope_at ts?, flags json",
        indexes: &["store_id, register_code, session_number", "register_id, status", "store_id, business_date"],
        ..NewTable::EMPTY
    }),
    Change::CreateTable(NewTable {
        name: "stock_movements",
        on: On::Both,
        columns: "id uuid!, store_id uuid, product_id uuid, movement_type text, quantity_change qty, \
            quantity_after qty?, source_id uuid, source_line_id uuid, business_date text, occurred_at ts, \
            created_at ts",
        conflict_keys: &["source_line_id, movement_type"],
        indexes: &["store_id, product_id"],
        ..NewTable::EMPTY
    }),
    Change::CreateTable(NewTable {
        name: "product_barcodes",
        on: On::Both,
        columns: "code text!, normal text, product_id uuid",
        natural_keys: &["normal*"],
        indexes: &["product_id"],
        ..NewTable::EMPTY
    }),
    Change::CreateTable(NewTable {
        name: "registers",
        on: On::Store,
        columns: "id uuid!, code text, name text, terminal_id text, default_float money?, is_active bool, \
            last_seen_at ts?, created_at ts, updated_at ts",
        conflict_keys: &["code", "terminal_id"],
        ..NewTable::EMPTY
    }),
    Change::CreateTable(NewTable {
        name: "approvals",
        on: On::Store,
        columns: "id uuid!, created_at ts, permission text, approver_user_id uuid, requester_user_id uuid, \
            terminal_id text, reason text, context_hash text, token_hash text, expires_at ts, used_at ts?, \
            used_by_id uuid?",
        conflict_keys: &["token_hash"],
        ..NewTable::EMPTY
    }),
    Change::CreateTable(NewTable {
        name: "account_charges",
        on: On::Store,
        columns: "sale_id uuid!, customer_id uuid, amount money",
        indexes: &["customer_id"],
        ..NewTable::EMPTY
    }),
    Change::CreateTable(NewTable {
        name: "number_series",
        on: On::Both,
        columns: "name text!, last_value big",
        ..NewTable::EMPTY
    }),
    Change::CreateTable(NewTable {
        name: "sequences",
        on: On::Store,
        columns: "entity_type text!, last_version big, last_pulled_at ts?, reloading bool",
        ..NewTable::EMPTY
    }),
    Change::CreateTable(NewTable {
        name: "sync_outbox",
        on: On::Store,
        columns: "seq big!, node_epoch text, entity_type text, entity_id uuid, depends_on uuid?, action text, \
            payload text, timestamp ts, attempts int, last_error text?, created_at ts, last_attempt_at ts?, \
            dead_lettered_at ts?",
        indexes: &["entity_type, entity_id, seq"],
        ..NewTable::EMPTY
    }),
    Change::CreateTable(NewTable {
        name: "sync_outbox_sent",
        on: On::Store,
        columns: "seq big!, node_epoch text, entity_type text, entity_id uuid, depends_on uuid?, action text, \
            payload text, timestamp ts, attempts int, last_error text?, created_at ts, last_attempt_at ts?, \
            dead_lettered_at ts?, sent_at ts",
        indexes: &["sent_at", "node_epoch, seq"],
        ..NewTable::EMPTY
    }),
    Change::CreateTable(NewTable {
        name: "sync_marks",
        on: On::Hq,
        columns: "id uuid!, at ts",
        indexes: &["at"],
        ..NewTable::EMPTY
    }),
    Change::CreateTable(NewTable {
        name: "sync_counters",
        on: On::Hq,
        columns: "entity_type text!, scope uuid!, value big",
        ..NewTable::EMPTY
    }),
    Change::CreateTable(NewTable {
        name: "sync_status",
        on: On::Hq,
        columns: "store_id uuid!, entity_type text!, direction text!, last_success_at ts?, last_error_at ts?, \
            last_error text?, pending_count int, total_pushed big, total_pulled big, last_since_version big",
        ..NewTable::EMPTY
    }),
    Change::CreateTable(NewTable {
        name: "sync_log",
        on: On::Hq,
        columns: "id uuid!, store_id uuid, direction text, entity_type text, entity_id text, action text, status text, \
            code text?, error text?, warning text?, envelope text?, hash text, envelope_at ts?, seq big?, \
            node_epoch text?, retry_count int, first_seen_at ts, last_seen_at ts, resolved_by uuid?, \
            resolved_at ts?, note text?, to_acknowledge bool, told_in text",
        indexes: &[
            "store_id, entity_id",
            "store_id, first_seen_at",
            "status, store_id",
            "store_id, node_epoch, seq",
            "store_id, last_seen_at WHERE warning IS NOT NULL",
            "store_id, seq WHERE to_acknowledge",
        ],
        ..NewTable::EMPTY
    }),
    Change::CreateTable(NewTable {
        name: "store_nodes",
        on: On::Hq,
        columns: "store_id uuid!, node_epoch text, ticket text, last_ticket text, last_seq big, store_version text, \
            fingerprints text, told_fingerprints text, other_installation_at ts?, \
            clock_offset_ms big?, outbox_pending big, dead_lettered big, oldest_pending_at ts?, outbox_at ts?, \
            handshake_at ts?, last_seen_at ts?, ended_because text?, connection_at ts?",
        ..NewTable::EMPTY
    }),
    Change::CreateTable(NewTable {
        name: "refresh_token_families",
        on: On::Both,
        columns: "id uuid!, user_id uuid, store_id uuid?, terminal_id text?, current_jti_hash text?, \
            previous_jti_hash text?, rotated_at ts?, issued_at ts, pin_changed_at ts?, \
            expires_at ts, revoked_at ts?, reason text?",
        indexes: &["user_id", "expires_at"],
        ..NewTable::EMPTY
    }),
    Change::CreateTable(NewTable {
        name: "idempotency_keys",
        on: On::Both,
        columns: "id text!, route text, request_hash text, status small?, answer text?, created_at ts, expires_at ts",
        indexes: &["expires_at"],
        ..NewTable::EMPTY
    }),
    Change::CreateTable(NewTable {
        name: "pin_attempts",
        on: On::Both,
        columns: "id uuid!, kind text, subject text, store_id uuid?, user_id uuid?, day ts, wrong_today int, \
            in_a_row int, minute_at ts, in_minute int, blocked_until ts?, announced bool",
        indexes: &["day", "blocked_until"],
        ..NewTable::EMPTY
    }),
    Change::CreateTable(NewTable {
        name: "audit_log",
        on: On::Both,
        columns: "seq big!, at ts, user_id uuid?, approver_id uuid?, terminal_id text?, action text, entity_type text?, \
            entity_id text?, details json, previous_hash text, hash text",
        indexes: &["at", "user_id, seq"],
        append_only: true,
        ..NewTable::EMPTY
    }),
    Change::CreateTable(NewTable {
        name: "sync_state",
        on: On::Both,
        columns: "key text!, value text",
        ..NewTable::EMPTY
    }),
];
