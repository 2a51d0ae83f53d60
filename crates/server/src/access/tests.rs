#![allow(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

use super::*;
use checkrein_engine::clock::SystemClock;

fn access() -> (Access, Token, Token, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let (approver, viewer) = (Token::random().unwrap(), Token::random().unwrap());
    let visits = Visits::new(folder.path().join("access.jsonl"));
    (Access::new(&approver, &viewer, visits, Arc::new(SystemClock)), approver, viewer, folder)
}

fn request(method: &str, path: &str, headers: &[(&str, &str)]) -> Request {
    let mut request = Request::builder().method(method).uri(path);
    if !headers.iter().any(|(name, _)| *name == "host") {
        request = request.header("host", "127.0.0.1:8080");
    }
    headers
        .iter()
        .fold(request, |request, (name, value)| request.header(*name, *value))
        .body(Body::empty())
        .unwrap()
}

#[test]
fn keys_open_and_nothing_else_does() {
    let (access, approver, viewer, _folder) = access();
    let approver = format!("Bearer {}", approver.as_str());
    let viewer = format!("bearer {}", viewer.as_str());
    let judge = |method: &str, path: &str, headers: &[(&str, &str)]| {
        access.judge(&request(method, path, headers)).map(|visitor| visitor.map(|one| one.role))
    };
    assert_eq!(judge("GET", "/healthz", &[]), Ok(None));
    assert_eq!(judge("GET", "/metrics", &[]), Err(Refusal::NoKey));
    assert_eq!(judge("GET", "/metrics", &[("authorization", "Bearer x")]), Err(Refusal::WrongKey));
    assert_eq!(judge("GET", "/metrics", &[("authorization", "x")]), Err(Refusal::WrongKey));
    assert_eq!(judge("GET", "/v1/sessions", &[("authorization", &viewer)]), Ok(Some(Role::Viewer)));
    assert_eq!(judge("POST", "/v1/check", &[("authorization", &viewer)]), Ok(Some(Role::Viewer)));
    assert_eq!(judge("POST", "/v1/halt", &[("authorization", &viewer)]), Err(Refusal::Role));
    assert_eq!(judge("POST", "/v1/halt", &[("authorization", &approver)]), Ok(Some(Role::Approver)));
}

#[test]
fn pages_of_others_are_kept_out() {
    let (access, approver, _, _folder) = access();
    let key = format!("Bearer {}", approver.as_str());
    let judge = |headers: &[(&str, &str)]| {
        let mut all = vec![("authorization", key.as_str())];
        all.extend(headers);
        access.judge(&request("GET", "/v1/sessions", &all)).err()
    };
    for host in [
        "evil.example",
        "evil.example:80",
        "127.0.0.1.evil.example",
        "",
        "10.0.0.1",
        "localhost.evil.example",
    ] {
        assert_eq!(judge(&[("host", host)]), Some(Refusal::Host), "{host}");
    }
    for host in ["localhost", "localhost:1", "127.0.0.1:8080", "[::1]:8080", "127.0.0.2:1"] {
        assert_eq!(judge(&[("host", host)]), None, "{host}");
    }
    for origin in ["https://evil.example", "null", "http://127.0.0.1:9999", "http://localhost:8080"] {
        assert_eq!(judge(&[("origin", origin)]), Some(Refusal::Origin), "{origin}");
    }
    assert_eq!(judge(&[("origin", "http://127.0.0.1:8080")]), None);
    assert_eq!(judge(&[("sec-fetch-site", "cross-site")]), Some(Refusal::Origin));
    assert_eq!(judge(&[("sec-fetch-site", "same-site")]), Some(Refusal::Origin));
}

#[test]
fn a_link_works_once_and_its_cookie_needs_an_origin_to_change_something() {
    let (access, _, _, folder) = access();
    let link = access.link().unwrap();
    let key = link.strip_prefix(OPEN).unwrap();
    let cookie = format!("other=1; {COOKIE}={}", access.redeem(key, "").unwrap());
    assert!(access.redeem(key, "").is_none() && access.redeem("", "").is_none());
    let judge = |method: &str, headers: &[(&str, &str)]| {
        let mut all = vec![("cookie", cookie.as_str())];
        all.extend(headers);
        access.judge(&request(method, "/v1/sessions/x/halt", &all)).err()
    };
    assert_eq!(judge("GET", &[]), None);
    assert_eq!(judge("POST", &[]), Some(Refusal::Origin));
    assert_eq!(judge("POST", &[("origin", "http://127.0.0.1:8080")]), None);
    access.visits.write();
    let told = std::fs::read_to_string(folder.path().join("access.jsonl")).unwrap();
    assert!(told.contains("one-time link") && !told.contains(key), "{told}");
}

#[test]
fn wrong_keys_wait_and_the_right_one_does_not() {
    let (access, approver, _, _folder) = access();
    let refusal = |key: &str| {
        access.judge(&request("GET", "/v1/sessions", &[("authorization", &format!("Bearer {key}"))])).err()
    };
    let wrong: Vec<_> = (0..25).map(|round| refusal(&round.to_string())).collect();
    assert_eq!(wrong[0], Some(Refusal::WrongKey));
    assert_eq!(wrong[24], Some(Refusal::TooMany));
    assert_eq!(refusal(approver.as_str()), None);
}

#[test]
fn a_cookie_outlives_the_server_and_not_its_key() {
    let (access, approver, viewer, folder) = access();
    let link = access.link().unwrap();
    let cookie = access.redeem(link.strip_prefix(OPEN).unwrap(), "").unwrap();
    let another = |approver: &Token| {
        let visits = Visits::new(folder.path().join("access.jsonl"));
        Access::new(approver, &viewer, visits, Arc::new(SystemClock))
    };
    let opens = |access: &Access, cookie: &str| {
        let cookie = format!("{COOKIE}={cookie}");
        access.judge(&request("GET", "/", &[("cookie", &cookie)])).is_ok()
    };
    assert!(opens(&access, &cookie) && opens(&another(&approver), &cookie));
    assert!(!opens(&another(&Token::random().unwrap()), &cookie));
    // What is said in it is signed, and it ends.
    let (given, signature) = cookie.rsplit_once('.').unwrap();
    let (name, since) = given.rsplit_once('.').unwrap();
    let since: u64 = since.parse().unwrap();
    assert!(!opens(&access, &format!("{name}.{}.{signature}", since + 1)));
    assert!(!opens(&access, given) && !opens(&access, ""));
    assert!(access.is_given(&cookie, since + STAY - 1) && !access.is_given(&cookie, since + STAY));
}

#[test]
fn a_login_ends_for_who_ends_it_and_for_nobody_else() {
    let (access, approver, viewer, folder) = access();
    let cookie = || {
        let link = access.link().unwrap();
        format!("{COOKIE}={}", access.redeem(link.strip_prefix(OPEN).unwrap(), "").unwrap())
    };
    let (one, other) = (cookie(), cookie());
    let origin = ("origin", "http://127.0.0.1:8080");
    let judge = |access: &Access, method: &str, path: &str, cookie: &str| {
        access.judge(&request(method, path, &[("cookie", cookie), origin])).map(Option::unwrap)
    };
    let visitor = judge(&access, "POST", LOGOUT, &one).unwrap();
    assert!(access.is_still_in(&visitor));
    access.log_out(&visitor).unwrap();
    assert!(!access.is_still_in(&visitor), "a stream that is open ends");
    assert!(judge(&access, "GET", "/", &one).is_err() && judge(&access, "GET", "/", &other).is_ok());
    let next = Access::new(
        &approver,
        &viewer,
        Visits::new(folder.path().join("access.jsonl")),
        Arc::new(SystemClock),
    );
    assert!(judge(&next, "GET", "/", &one).is_err() && judge(&next, "GET", "/", &other).is_ok());
    // Who only looks may go too, and a key of a program has no login to end.
    let key = format!("Bearer {}", viewer.as_str());
    let program = access.judge(&request("POST", LOGOUT, &[("authorization", &key)])).unwrap().unwrap();
    access.log_out(&program).unwrap();
    assert!(access.judge(&request("GET", "/v1/sessions", &[("authorization", &key)])).is_ok());
}
