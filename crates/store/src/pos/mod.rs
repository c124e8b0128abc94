//! What a till asks of its store server.
