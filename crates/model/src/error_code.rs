//! Every way a request can fail, as one list: the code on the wire, its HTTP status, and what a client may make of it.

/// The two answers of a row, in words.
macro_rules! answer {
    (never) => {
        false
    };
    (later) => {
        true
    };
    (nothing) => {
        false
    };
    (perhaps) => {
        true
    };
}

macro_rules! error_codes {
    ($($name:ident = $status:literal $code:literal $retry:ident $happened:ident,)+) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum ErrorCode { $($name),+ }

        impl ErrorCode {
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// The `code` of the answer.
            #[must_use]
            pub const fn as_str(self) -> &'static str { match self { $(Self::$name => $code),+ } }

            /// The HTTP status of the answer.
            #[must_use]
            pub const fn status(self) -> u16 { match self { $(Self::$name => $status),+ } }

            /// Whether the same request may go through later, without a change to it or to what it is about.
            #[must_use]
            pub const fn may_be_retried(self) -> bool { match self { $(Self::$name => answer!($retry)),+ } }

            /// Whether what was asked for may have been done all the same, now or by an earlier request.
            #[must_use]
            pub const fn may_have_happened(self) -> bool { match self { $(Self::$name => answer!($happened)),+ } }
        }
    };
}

// In alphabetical order: the code; its status and its name on the wire; when the same request may be sent again (`never`,
// `later`); what was done of it (`nothing`, `perhaps`).
error_codes! {
    AlreadyClosed = 409 "already_closed" never nothing,
    AlreadyDone = 409 "already_done" never perhaps,
    AlreadyProvisioned = 409 "already_provisioned" never nothing,
    AlreadyResumed = 409 "already_resumed" never nothing,
    AlreadyVoided = 409 "already_voided" never nothing,
    ApprovalRequired = 403 "approval_required" never nothing,
    ApproverLacksPermission = 403 "approver_lacks_permission" never nothing,
    BadCheckDigit = 422 "bad_check_digit" never nothing,
    BadRequest = 400 "bad_request" never nothing,
    BelowMinPrice = 422 "below_min_price" never nothing,
    CartSold = 409 "cart_sold" never nothing,
    ChangeAtHeadquarters = 403 "change_at_headquarters" never nothing,
    CodeLocked = 409 "code_locked" never nothing,
    CodeTaken = 409 "code_taken" never nothing,
    Conflict = 409 "conflict" never nothing,
    CreditLimitExceeded = 403 "credit_limit_exceeded" never nothing,
    CurrencyLocked = 409 "currency_locked" never nothing,
    CursorAhead = 409 "cursor_ahead" never nothing,
    DeviceUnknown = 401 "device_unknown" never nothing,
    DiscountLimitExceeded = 403 "discount_limit_exceeded" never nothing,
    DocumentTooLarge = 422 "document_too_large" never nothing,
    Duplicate = 409 "duplicate" never nothing,
    DuplicateBarcode = 409 "duplicate_barcode" never nothing,
    DuplicateCode = 409 "duplicate_code" never nothing,
    DuplicateSku = 409 "duplicate_sku" never nothing,
    EpochChanged = 409 "epoch_changed" never nothing,
    Escalation = 403 "escalation" never nothing,
    FirstRateCompound = 422 "first_rate_compound" never nothing,
    FloatNotDefault = 403 "float_not_default" never nothing,
    Forbidden = 403 "forbidden" never nothing,
    HasRefunds = 409 "has_refunds" never nothing,
    HistoryChanged = 409 "history_changed" never nothing,
    HqUnreachable = 503 "hq_unreachable" later perhaps,
    IdReused = 409 "id_reused" never nothing,
    IdempotencyKeyReused = 422 "idempotency_key_reused" never nothing,
    InProgress = 409 "in_progress" later perhaps,
    InUse = 409 "in_use" never nothing,
    IncompleteBody = 400 "incomplete_body" later nothing,
    InsufficientStock = 409 "insufficient_stock" never nothing,
    Internal = 500 "internal" never perhaps,
    InvalidCredentials = 401 "invalid_credentials" never nothing,
    InvalidToken = 401 "invalid_token" never nothing,
    KindLocked = 409 "kind_locked" never nothing,
    LastAdmin = 409 "last_admin" never nothing,
    LastCashTender = 409 "last_cash_tender" never nothing,
    MethodNotAllowed = 405 "method_not_allowed" never nothing,
    MustChangePin = 403 "must_change_pin" never nothing,
    NeedsValueLedger = 422 "needs_value_ledger" never nothing,
    NegativeStock = 409 "negative_stock" never nothing,
    NoExchangeTender = 409 "no_exchange_tender" never nothing,
    NoOpenSession = 404 "no_open_session" never nothing,
    NotANumber = 409 "not_a_number" never nothing,
    NotCounted = 409 "not_counted" never nothing,
    NotFailed = 409 "not_failed" never nothing,
    NotFound = 404 "not_found" never nothing,
    NotOwed = 409 "not_owed" never nothing,
    NotOwnSession = 403 "not_own_session" never nothing,
    NotRefundable = 409 "not_refundable" never nothing,
    NotReturnable = 409 "not_returnable" never nothing,
    NotSupportedYet = 422 "not_supported_yet" never nothing,
    NothingToReport = 409 "nothing_to_report" never nothing,
    NumbersUnknown = 503 "numbers_unknown" later nothing,
    OverRefund = 409 "over_refund" never nothing,
    OwnedByHq = 409 "owned_by_hq" never nothing,
    OwnedByStore = 409 "owned_by_store" never nothing,
    ParkedCartsOpen = 409 "parked_carts_open" never nothing,
    ParkedLimit = 409 "parked_limit" never nothing,
    PartOfExchange = 409 "part_of_exchange" never nothing,
    PayloadNotKept = 409 "payload_not_kept" never nothing,
    PayloadTooLarge = 413 "payload_too_large" never nothing,
    PendingData = 409 "pending_data" never nothing,
    PinIsGenerated = 422 "pin_is_generated" never nothing,
    PinLocked = 429 "pin_locked" later nothing,
    PinLoginOff = 403 "pin_login_off" never nothing,
    PinNotAllowed = 422 "pin_not_allowed" never nothing,
    PossibleDuplicate = 409 "possible_duplicate" never nothing,
    PrinterUnknown = 409 "printer_unknown" never nothing,
    ProductInactive = 409 "product_inactive" never nothing,
    ProductNotFound = 404 "product_not_found" never nothing,
    ReasonReserved = 422 "reason_reserved" never nothing,
    RefundAmountMismatch = 422 "refund_amount_mismatch" never nothing,
    RefundWindowPassed = 409 "refund_window_passed" never nothing,
    RegisterUnknown = 404 "register_unknown" never nothing,
    RequestTimeout = 408 "request_timeout" later nothing,
    SaleNotFound = 404 "sale_not_found" never nothing,
    SaleVoided = 409 "sale_voided" never nothing,
    Scope = 403 "scope" never nothing,
    SecondCashTender = 409 "second_cash_tender" never nothing,
    SecondFactorMissing = 403 "second_factor_missing" never nothing,
    SecondFactorRequired = 401 "second_factor_required" never nothing,
    SecondFactorStale = 403 "second_factor_stale" never nothing,
    SelfDeactivation = 409 "self" never nothing,
    SessionAlreadyOpen = 409 "session_already_open" never nothing,
    SessionClosed = 409 "session_closed" never nothing,
    SessionOpen = 409 "session_open" never nothing,
    SessionReplaced = 401 "session_replaced" never nothing,
    SessionTooOld = 409 "session_too_old" never nothing,
    StoreNotFound = 404 "store_not_found" never nothing,
    StoreNotReady = 503 "store_not_ready" later nothing,
    StoreRunsElsewhere = 409 "store_runs_elsewhere" never nothing,
    SystemRole = 409 "system_role" never nothing,
    TenderMissing = 422 "tender_missing" never nothing,
    TenderNotRefundable = 409 "tender_not_refundable" never nothing,
    TenderNotVoidable = 409 "tender_not_voidable" never nothing,
    TenderRule = 422 "tender_rule" never nothing,
    TokenReused = 401 "token_reused" never nothing,
    TooManyAttempts = 429 "too_many_attempts" later nothing,
    TooManyEnvelopes = 400 "too_many_envelopes" never nothing,
    TooManyMovements = 409 "too_many_movements" never nothing,
    TooManyRates = 422 "too_many" never nothing,
    TooManyRequests = 429 "too_many_requests" later nothing,
    TotalMismatch = 409 "total_mismatch" never nothing,
    Unauthorized = 401 "unauthorized" never nothing,
    Unavailable = 503 "unavailable" later perhaps,
    Underpaid = 422 "underpaid" never nothing,
    UnknownEntityType = 400 "unknown_entity_type" never nothing,
    UnknownParameter = 422 "unknown_parameter" never nothing,
    UnknownPermission = 422 "unknown_permission" never nothing,
    UnlinkedRefundDisabled = 403 "unlinked_refund_disabled" never nothing,
    UnreadableJson = 400 "unreadable_json" never nothing,
    UnsupportedMediaType = 415 "unsupported_media_type" never nothing,
    UpgradeRequired = 426 "upgrade_required" never nothing,
    UsernameTaken = 409 "username_taken" never nothing,
    Validation = 422 "validation" never nothing,
    VarianceNotAccepted = 409 "variance_not_accepted" never nothing,
    VersionConflict = 409 "version_conflict" never nothing,
    WrongPin = 401 "wrong_pin" never nothing,
    WrongStore = 403 "wrong_store" never nothing,
    WrongTerminal = 403 "wrong_terminal" never nothing,
}

impl ErrorCode {
    /// The code of this name on the wire, unless it is one of a newer release.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.as_str() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(wanted: impl Fn(ErrorCode) -> bool) -> Vec<&'static str> {
        ErrorCode::ALL.iter().copied().filter(|code| wanted(*code)).map(ErrorCode::as_str).collect()
    }

    #[test]
    fn every_code_is_unique_and_read_back_from_its_name() {
        let mut codes = names(|_| true);
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), ErrorCode::ALL.len());
        assert!(ErrorCode::ALL.iter().all(|code| ErrorCode::parse(code.as_str()) == Some(*code)));
        assert_eq!(ErrorCode::parse("of_a_newer_release"), None);
    }

    #[test]
    fn the_codes_stand_in_alphabetical_order() {
        let listed: Vec<String> = ErrorCode::ALL.iter().map(|code| format!("{code:?}")).collect();
        assert!(listed.is_sorted(), "{listed:?}");
    }

    #[test]
    fn what_passes_by_itself_may_be_sent_again_and_nothing_else() {
        let later = [
            "hq_unreachable",
            "in_progress",
            "incomplete_body",
            "numbers_unknown",
            "pin_locked",
            "request_timeout",
            "store_not_ready",
            "too_many_attempts",
            "too_many_requests",
            "unavailable",
        ];
        assert_eq!(names(ErrorCode::may_be_retried), later);
    }

    #[test]
    fn what_a_server_did_not_finish_or_did_before_may_have_happened_and_nothing_else() {
        let perhaps = ["already_done", "hq_unreachable", "in_progress", "internal", "unavailable"];
        assert_eq!(names(ErrorCode::may_have_happened), perhaps);
    }

    #[test]
    fn a_refusal_that_passes_by_itself_has_a_status_that_says_so() {
        for code in ErrorCode::ALL.iter().filter(|code| code.may_be_retried()) {
            let says_so = matches!(code.status(), 408 | 429 | 503);
            let of_its_own = matches!(code, ErrorCode::InProgress | ErrorCode::IncompleteBody);
            assert!(says_so || of_its_own, "{code:?}");
        }
    }
}
