//! What is taken from people is judged like what is given to them: no user takes what they do not hold, where they hold
//! it.

use serde_json::{Value as Json, json};
use tillkeep_hq::testing::Databases as _;
use tillkeep_model::ids;
use tillkeep_model::permission::DEFAULT_ROLES;
use tillkeep_storage::entity::{role, role_permission, session, user, user_store_role};
use tillkeep_storage::sea_orm::{EntityTrait, QueryOrder};
use uuid::Uuid;

use super::kit::{Kit, Person};

/// Every right over people and roles, and none over anything else.
const KEEPER: &[&str] =
    &["users.view", "users.create", "users.edit", "users.manage_roles", "roles.view", "roles.manage"];

struct Scene {
    kit: Kit,
    admin: Person,
    here: Uuid,
}

/// A user with that role.
struct Holder {
    person: Person,
    assignment: Uuid,
}

/// A request that takes something.
type Taking = (&'static str, String, Option<Json>);

impl Scene {
    async fn set() -> Self {
        let kit = Kit::new().await;
        let admin = kit.admin().await;
        let here = kit.store("S01").await;
        kit.role(&admin, "keeper", KEEPER).await;
        // It holds what a keeper does not.
        kit.role(&admin, "power", &["tenders.manage", "taxes.manage"]).await;
        Self { kit, admin, here }
    }

    async fn holder(&self, name: &str, store: Option<Uuid>) -> Holder {
        let person = self.kit.person(name, &[("power", store)]).await;
        let rows = user_store_role::Entity::find().all(self.kit.hq.db().reader()).await.expect("a read");
        let assignment = rows.iter().find(|row| row.user_id == person.id).expect("an assignment").id;
        Holder { person, assignment }
    }

    /// Each way to take something from `holder`, and from everybody with a role of the same content.
    async fn ways(&self, holder: &Holder, name: &str) -> Vec<Taking> {
        let spare = self.kit.role(&self.admin, &format!("spare_{name}"), &["tenders.manage"]).await;
        let user = format!("/users/{}", holder.person.id);
        let sessions = session::Entity::find().all(self.kit.hq.db().reader()).await.expect("a read");
        let of_holder = sessions.iter().find(|row| row.user_id == holder.person.id).expect("a session").id;
        vec![
            ("DELETE", format!("{user}/sessions/{of_holder}"), None),
            ("PATCH", user.clone(), Some(json!({"isActive": false}))),
            ("POST", format!("{user}/deactivate"), Some(json!({}))),
            ("PUT", format!("/roles/{spare}/permissions"), Some(json!({"permissions": []}))),
            ("DELETE", format!("/roles/{spare}"), None),
            ("DELETE", format!("{user}/roles/{}", holder.assignment), None),
            ("DELETE", user, None),
        ]
    }

    /// All that may be taken from anybody.
    async fn all(&self) -> String {
        let conn = self.kit.hq.db().reader();
        let users = user::Entity::find().order_by_asc(user::Column::Id).all(conn).await.expect("a read");
        let assigned = user_store_role::Entity::find().order_by_asc(user_store_role::Column::Id);
        let assigned = assigned.all(conn).await.expect("a read");
        let roles = role::Entity::find().order_by_asc(role::Column::Id).all(conn).await.expect("a read");
        let held = role_permission::Entity::find()
            .order_by_asc(role_permission::Column::RoleId)
            .order_by_asc(role_permission::Column::PermissionId);
        let held = held.all(conn).await.expect("a read");
        let sessions = session::Entity::find().order_by_asc(session::Column::Id).all(conn).await.expect("a read");
        format!("{users:?} {assigned:?} {roles:?} {held:?} {sessions:?}")
    }

    async fn refused(&self, caller: &Person, ways: &[Taking], statuses: &[u16]) {
        let before = self.all().await;
        for (method, path, body) in ways {
            let got = self.kit.call(caller, method, path, body.clone()).await;
            assert!(statuses.contains(&got.status), "{method} {path}: {} {}", got.status, got.text);
            if statuses == [403] {
                got.refused(403, "escalation");
                assert!(got.body["missing"].to_string().contains("tenders.manage"), "{}", got.text);
            }
            assert_eq!(self.all().await, before, "{method} {path}");
        }
    }
}

#[tokio::test]
async fn who_does_not_hold_it_takes_it_from_no_user_in_any_way() {
    let scene = Scene::set().await;
    let holder = scene.holder("holly", None).await;
    let keeper = scene.kit.person("kim", &[("keeper", None)]).await;
    let ways = scene.ways(&holder, "one").await;
    scene.refused(&keeper, &ways, &[403]).await;
    // Holding it in one store is not holding it everywhere.
    let local = scene.kit.person("loc", &[("keeper", None), ("power", Some(scene.here))]).await;
    scene.refused(&local, &ways, &[403]).await;
}

#[tokio::test]
async fn who_holds_it_takes_it_in_each_way() {
    let scene = Scene::set().await;
    let equal = scene.kit.person("eve", &[("keeper", None), ("power", None)]).await;
    for way in 0..7 {
        let name = format!("holder{way}");
        let holder = scene.holder(&name, None).await;
        let (method, path, body) = scene.ways(&holder, &name).await.swap_remove(way);
        let got = scene.kit.call(&equal, method, &path, body).await;
        assert!([200, 204].contains(&got.status), "{method} {path}: {} {}", got.status, got.text);
    }
}

#[tokio::test]
async fn who_keeps_the_people_of_one_store_takes_there_and_nowhere_else() {
    let scene = Scene::set().await;
    let there = scene.kit.store("S02").await;
    let local = scene.kit.person("lou", &[("keeper", Some(scene.here)), ("power", Some(scene.here))]).await;
    for (name, store) in [("everywhere", None), ("elsewhere", Some(there))] {
        let holder = scene.holder(name, store).await;
        scene.refused(&local, &scene.ways(&holder, name).await, &[403, 404]).await;
    }
    // Without the role itself, not even there.
    let holder = scene.holder("here", Some(scene.here)).await;
    let path = format!("/users/{}/roles/{}", holder.person.id, holder.assignment);
    let lesser = scene.kit.person("les", &[("keeper", Some(scene.here))]).await;
    scene.kit.delete(&lesser, &path).await.refused(403, "escalation");
    scene.kit.delete(&local, &path).await.is(204);
}

#[tokio::test]
async fn only_an_administrator_removes_one_or_empties_the_role_of_the_cashiers() {
    let scene = Scene::set().await;
    let keeper = scene.kit.person("kim", &[("keeper", None)]).await;
    let second = scene.kit.person("ada", &[("administrator", None)]).await;
    let rows = user_store_role::Entity::find().all(scene.kit.hq.db().reader()).await.expect("a read");
    let assignment = rows.iter().find(|row| row.user_id == second.id).expect("an assignment").id;
    let before = scene.all().await;
    let path = format!("/users/{}/roles/{assignment}", second.id);
    scene.kit.delete(&keeper, &path).await.refused(403, "escalation");
    let cashier = format!("/roles/{}/permissions", ids::role("cashier"));
    let codes: Vec<&str> =
        DEFAULT_ROLES.iter().find(|role| role.code == "cashier").expect("the role").codes().collect();
    let emptied = scene.kit.put(&keeper, &cashier, json!({"permissions": []})).await;
    emptied.refused(403, "escalation");
    assert_eq!(emptied.body["missing"].as_array().map(Vec::len), Some(codes.len()));
    scene.kit.put(&keeper, &cashier, json!({"permissions": &codes[1..]})).await.refused(403, "escalation");
    assert_eq!(scene.all().await, before);
    // What stays in the role is not for them to judge.
    let mut more = codes.clone();
    more.push("roles.view");
    scene.kit.put(&keeper, &cashier, json!({"permissions": more})).await.is(200);
    scene.kit.put(&scene.admin, &cashier, json!({"permissions": codes})).await.is(200);
    scene.kit.delete(&scene.admin, &path).await.is(204);
}
