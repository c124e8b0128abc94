//! Every way a request can fail, as one list: the code on the wire and its HTTP status.

macro_rules! error_codes {
    ($($name:ident = $status:literal $code:literal,)+) => {
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
        }
    };
}

error_codes! {
    BadRequest = 400 "bad_request",
    UnreadableJson = 400 "unreadable_json",
    UnknownEntityType = 400 "unknown_entity_type",
    TooManyEnvelopes = 400 "too_many_envelopes",
    Unauthorized = 401 "unauthorized",
    InvalidCredentials = 401 "invalid_credentials",
    WrongPin = 401 "wrong_pin",
    InvalidToken = 401 "invalid_token",
    TokenReused = 401 "token_reused",
    Forbidden = 403 "forbidden",
    Scope = 403 "scope",
    WrongStore = 403 "wrong_store",
    Escalation = 403 "escalation",
    MustChangePin = 403 "must_change_pin",
    ApprovalRequired = 403 "approval_required",
    ApproverLacksPermission = 403 "approver_lacks_permission",
    FloatNotDefault = 403 "float_not_default",
    CreditLimitExceeded = 403 "credit_limit_exceeded",
    NotFound = 404 "not_found",
    StoreNotFound = 404 "store_not_found",
    ProductNotFound = 404 "product_not_found",
    SaleNotFound = 404 "sale_not_found",
    NoOpenSession = 404 "no_open_session",
    RegisterUnknown = 404 "register_unknown",
    MethodNotAllowed = 405 "method_not_allowed",
    RequestTimeout = 408 "request_timeout",
    Conflict = 409 "conflict",
    VersionConflict = 409 "version_conflict",
    DuplicateCode = 409 "duplicate_code",
    DuplicateSku = 409 "duplicate_sku",
    DuplicateBarcode = 409 "duplicate_barcode",
    Duplicate = 409 "duplicate",
    PossibleDuplicate = 409 "possible_duplicate",
    UsernameTaken = 409 "username_taken",
    LastAdmin = 409 "last_admin",
    SelfDeactivation = 409 "self",
    SystemRole = 409 "system_role",
    InUse = 409 "in_use",
    CodeLocked = 409 "code_locked",
    CurrencyLocked = 409 "currency_locked",
    KindLocked = 409 "kind_locked",
    SecondCashTender = 409 "second_cash_tender",
    LastCashTender = 409 "last_cash_tender",
    AlreadyProvisioned = 409 "already_provisioned",
    PendingData = 409 "pending_data",
    NotFailed = 409 "not_failed",
    EpochChanged = 409 "epoch_changed",
    CursorAhead = 409 "cursor_ahead",
    OwnedByHq = 409 "owned_by_hq",
    OwnedByStore = 409 "owned_by_store",
    IdReused = 409 "id_reused",
    AlreadyDone = 409 "already_done",
    InProgress = 409 "in_progress",
    SessionAlreadyOpen = 409 "session_already_open",
    SessionOpen = 409 "session_open",
    SessionClosed = 409 "session_closed",
    SessionTooOld = 409 "session_too_old",
    NotOwnSession = 403 "not_own_session",
    VarianceNotAccepted = 409 "variance_not_accepted",
    ProductInactive = 409 "product_inactive",
    InsufficientStock = 409 "insufficient_stock",
    NegativeStock = 409 "negative_stock",
    TotalMismatch = 409 "total_mismatch",
    StoreNotReady = 503 "store_not_ready",
    PayloadTooLarge = 413 "payload_too_large",
    UpgradeRequired = 426 "upgrade_required",
    UnsupportedMediaType = 415 "unsupported_media_type",
    Validation = 422 "validation",
    UnknownParameter = 422 "unknown_parameter",
    IdempotencyKeyReused = 422 "idempotency_key_reused",
    FirstRateCompound = 422 "first_rate_compound",
    TooManyRates = 422 "too_many",
    UnknownPermission = 422 "unknown_permission",
    PinNotAllowed = 422 "pin_not_allowed",
    ReasonReserved = 422 "reason_reserved",
    TenderRule = 422 "tender_rule",
    NeedsValueLedger = 422 "needs_value_ledger",
    Underpaid = 422 "underpaid",
    BelowMinPrice = 422 "below_min_price",
    BadCheckDigit = 422 "bad_check_digit",
    NotSupportedYet = 422 "not_supported_yet",
    TooManyAttempts = 429 "too_many_attempts",
    PinLocked = 429 "pin_locked",
    TooManyRequests = 429 "too_many_requests",
    Internal = 500 "internal",
    Unavailable = 503 "unavailable",
    HqUnreachable = 503 "hq_unreachable",
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_unique() {
        let mut codes: Vec<_> = ErrorCode::ALL.iter().map(|code| code.as_str()).collect();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), ErrorCode::ALL.len());
    }
}
