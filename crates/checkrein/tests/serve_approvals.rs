//! Calls that wait in a real hook and are answered through the server.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod serve_support;
mod support;

use serde_json::json;
use serve_support::Serving;
use support::waiting::{CALL, answer_of, asks, unattended};
use support::{decision, reason};

/// The name of the one question that waits, as the API tells it.
fn waiting(server: &Serving) -> String {
    let is_waiting = |answer: &serve_support::Http| {
        answer.json()["items"].as_array().unwrap().iter().any(|one| one["state"] == "pending")
    };
    let all = server.until("/v1/approvals", is_waiting).json();
    let one = all["items"].as_array().unwrap().iter().find(|one| one["state"] == "pending").unwrap().clone();
    one["id"].as_str().unwrap().to_owned()
}

#[test]
fn a_call_waits_and_is_answered_by_api_and_by_button() {
    let environment = unattended("");
    let server = Serving::start(&environment);

    let hook = asks(&environment, "s", "one", CALL);
    let id = waiting(&server);
    let viewer = std::fs::read_to_string(environment.state().join("server/checkrein-view.token")).unwrap();
    let viewer = format!("Bearer {viewer}");
    let refused = server.form(&format!("/v1/approvals/{id}/allow"), "", &[("Authorization", &viewer)]);
    assert_eq!(refused.status, 403, "{}", refused.body);
    let given = server.post(&format!("/v1/approvals/{id}/allow"), &json!({ "for": "once" }));
    assert_eq!((given.status, &given.json()["result"]["went_on"]), (200, &json!(true)), "{}", given.body);
    let by = &given.json()["result"]["approval"]["answered_by"];
    assert_eq!(by["source"], "api", "{by}");
    assert_eq!(decision(&answer_of(hook)), Some("allow"));
    // It counts once.
    assert_eq!(server.post(&format!("/v1/approvals/{id}/allow"), &json!({})).status, 422);

    let hook = asks(&environment, "t", "two", CALL);
    let id = waiting(&server);
    let opened = server.get(server.open.strip_prefix(&server.url).unwrap(), &[]);
    let cookie = opened.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    let page = server.get("/approvals", &[("Cookie", &cookie)]);
    assert!(page.body.contains("rm ../diary.md") && page.body.contains("Refuse"), "{}", page.body);
    let headers = [("Cookie", cookie.as_str()), ("Origin", "http://localhost")];
    let path = format!("/v1/approvals/{id}/deny");
    let done = server.form(&path, "message=keep+the+diary&then=%2Fapprovals", &headers);
    assert_eq!((done.status, done.header("location").as_deref()), (303, Some("/approvals")), "{}", done.body);
    let told = answer_of(hook);
    assert_eq!(decision(&told), Some("deny"));
    assert!(reason(&told).contains("keep the diary"), "{told}");
    assert!(environment.home().join("diary.md").exists());
}
