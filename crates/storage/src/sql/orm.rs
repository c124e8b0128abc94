//! What the servers have of the ORM: statements that are built by types, and nothing that takes SQL as text. A statement of own
//! text is a function of this crate; tests have [`crate::raw`].

pub use sea_orm::{
    ActiveModelTrait, ActiveValue, ColumnTrait, ColumnType, Condition, DbErr, EntityName, EntityTrait, FromQueryResult,
    IdenStatic, IntoActiveModel, Iterable, JoinType, ModelTrait, Order, PaginatorTrait, PrimaryKeyToColumn,
    QueryFilter, QueryOrder, QuerySelect, QueryTrait, RelationDef, Select, Value,
};

/// A connection or a transaction that a statement of the ORM is given. `SeaORM`'s trait of this name also runs whatever it is
/// handed: those methods stand here a second time, so that the compiler finds two of each and takes neither.
pub trait ConnectionTrait: sea_orm::ConnectionTrait {
    fn execute_raw(&self, _: Never) {}
    fn execute(&self, _: Never) {}
    fn execute_unprepared(&self, _: Never) {}
    fn query_one_raw(&self, _: Never) {}
    fn query_one(&self, _: Never) {}
    fn query_all_raw(&self, _: Never) {}
    fn query_all(&self, _: Never) {}
}

impl<C: sea_orm::ConnectionTrait> ConnectionTrait for C {}

/// Of this there is no value.
pub enum Never {}

pub mod sea_query {
    use sea_orm::sea_query;
    pub use sea_query::{
        Alias, CaseStatement, ExprTrait, IntoCondition, LockBehavior, LockType, NullOrdering, OnConflict, Query,
        SelectStatement, UnionType, ValueType,
    };

    /// The beginnings of an expression; the type of this name in `SeaQuery` would take text as well.
    pub enum Expr {}

    impl Expr {
        pub fn value(value: impl Into<sea_query::Expr>) -> sea_query::Expr {
            sea_query::Expr::value(value)
        }

        pub fn col(column: impl sea_query::IntoColumnRef) -> sea_query::Expr {
            sea_query::Expr::col(column)
        }

        pub fn exists(select: SelectStatement) -> sea_query::Expr {
            sea_query::Expr::exists(select)
        }

        pub fn case(which: impl IntoCondition, then: impl Into<sea_query::Expr>) -> CaseStatement {
            sea_query::Expr::case(which, then)
        }
    }
}
