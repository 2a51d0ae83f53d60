#![allow(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

use super::*;

/// Each address of the router stands in the description and the reverse: both are made of one table, and this holds them against it.
#[test]
fn the_description_has_every_address_with_its_parts() {
    let document = document();
    let paths = document["paths"].as_object().unwrap();
    for route in ROUTES {
        let method = if route.verb == Verb::Get { "get" } else { "post" };
        let operation = &paths[route.path][method];
        assert!(operation["summary"].is_string(), "{}", route.path);
        let named: Vec<&str> = operation["parameters"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["name"].as_str().unwrap())
            .collect();
        for part in route.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')) {
            assert!(named.contains(&part), "{} {part}", route.path);
        }
        assert!(route.query.iter().all(|(name, _)| named.contains(name)), "{}", route.path);
    }
    let operations: usize = paths.values().map(|one| one.as_object().unwrap().len()).sum();
    assert_eq!(operations, ROUTES.len() + 4);
    // What is referred to is there.
    let text = document.to_string();
    for reference in text.split("\"$ref\":\"#").skip(1).map(|rest| rest.split('"').next().unwrap()) {
        assert!(document.pointer(reference).is_some(), "{reference}");
    }
    let mut ids: Vec<&str> =
        text.split("\"operationId\":\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), operations);
}

#[test]
fn forms_lead_back_to_our_pages_alone() {
    for (then, place) in [
        ("/x?y=1", "/x?y=1"),
        ("//evil.example", "/"),
        ("https://evil.example", "/"),
        ("/\\evil", "/"),
        ("/\t/evil.example", "/"),
        ("/\n/evil.example", "/"),
        ("/ö", "/"),
    ] {
        assert_eq!(back(then).headers()[header::LOCATION], place);
    }
}

#[test]
fn fields_that_nobody_knows_are_refused() {
    let route = ROUTES.iter().find(|route| route.path == "/v1/halt").unwrap();
    let read = |body: &str| {
        called(route, HashMap::new(), HashMap::new(), &HeaderMap::new(), body.as_bytes())
            .map(|(call, _)| call.body)
    };
    assert_eq!(read("{\"reason\":\"x\"}").unwrap()["reason"], "x");
    assert!(read("").unwrap().is_empty());
    for wrong in ["{\"resaon\":\"x\"}", "[]", "{", "x"] {
        assert!(read(wrong).is_err(), "{wrong}");
    }
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
    let (call, then) =
        called(route, HashMap::new(), HashMap::new(), &headers, b"reason=a+b%26&then=%2F").unwrap();
    assert_eq!((call.body["reason"].as_str(), then.as_deref()), (Some("a b&"), Some("/")));
}
