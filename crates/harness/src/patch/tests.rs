//! Tests of patches.

use super::*;

const DOCUMENT: &str = r#"{ "a" : 1e400, "list": [1, 2.50 ,3], "x/y": {"~": "é\u00e9"} , "z":0}"#;

fn apply(patch: &str) -> Result<String, PatchError> {
    Patch::from_json(patch)?.apply(DOCUMENT)
}

#[test]
fn each_operation_keeps_every_other_byte() {
    for (patch, want) in [
        (
            r#"[{"op":"replace","path":"/z","value":null}]"#,
            DOCUMENT.replace(r#""z":0"#, r#""z":null"#),
        ),
        (
            r#"[{"op":"add","path":"/z","value":[1]}]"#,
            DOCUMENT.replace(r#""z":0"#, r#""z":[1]"#),
        ),
        (
            r#"[{"op":"add","path":"/new~0","value":"v"}]"#,
            DOCUMENT.replace("0}", r#"0,"new~":"v"}"#),
        ),
        (
            r#"[{"op":"add","path":"/list/1","value":9}]"#,
            DOCUMENT.replace("2.50", "9,2.50"),
        ),
        (
            r#"[{"op":"add","path":"/list/-","value":9}]"#,
            DOCUMENT.replace(",3]", ",3,9]"),
        ),
        (
            r#"[{"op":"add","path":"/list/3","value":9}]"#,
            DOCUMENT.replace(",3]", ",3,9]"),
        ),
        (
            r#"[{"op":"remove","path":"/a"}]"#,
            DOCUMENT.replace(r#" "a" : 1e400,"#, ""),
        ),
        (
            r#"[{"op":"remove","path":"/list/0"}]"#,
            DOCUMENT.replace("[1,", "["),
        ),
        (
            r#"[{"op":"remove","path":"/list/2"}]"#,
            DOCUMENT.replace(" ,3]", "]"),
        ),
        (
            r#"[{"op":"remove","path":"/z"}]"#,
            DOCUMENT.replace(r#" , "z":0"#, ""),
        ),
        (
            r#"[{"op":"remove","path":"/x~1y/~0"}]"#,
            DOCUMENT.replace(r#""~": "é\u00e9""#, ""),
        ),
        (
            r#"[{"op":"copy","from":"/a","path":"/z"}]"#,
            DOCUMENT.replace(r#""z":0"#, r#""z":1e400"#),
        ),
        (
            r#"[{"op":"move","from":"/list/1","path":"/z"}]"#,
            DOCUMENT
                .replace(", 2.50 ,3", " ,3")
                .replace(r#""z":0"#, r#""z":2.50"#),
        ),
        (
            r#"[{"op":"move","from":"/z","path":"/z"}]"#,
            DOCUMENT.to_owned(),
        ),
        (
            r#"[{"op":"test","path":"/list","value":[1.0,2.5,3]}]"#,
            DOCUMENT.to_owned(),
        ),
    ] {
        assert_eq!(apply(patch), Ok(want), "{patch}");
    }
}

#[test]
fn operations_follow_one_another_and_fail_as_a_whole() {
    let patch = r#"[{"op":"remove","path":"/list/0"},{"op":"remove","path":"/list/0"},{"op":"remove","path":"/list/0"},{"op":"add","path":"/list/0","value":7}]"#;
    assert!(apply(patch).unwrap().contains(r#""list": [7]"#));
    let fails = r#"[{"op":"remove","path":"/z"},{"op":"test","path":"/a","value":2}]"#;
    assert_eq!(apply(fails), Err(PatchError::Test("/a".into())));
}

#[test]
fn hostile_paths_reach_nothing() {
    for path in [
        "",
        "z",
        "#/z",
        "/~",
        "/~2",
        "/x~1y/~2",
        "/list/01",
        "/list/+1",
        "/list/-1",
        "/list/1e0",
        "/list/4",
        "/list/18446744073709551616",
        "/list/",
        "/list/length",
        "/z/0",
        "/z/-",
        "/nothing/there",
        "/list/-/0",
        "/../a",
        "/__proto__/x",
    ] {
        for op in ["add", "replace", "remove", "test"] {
            let patch = serde_json::json!([{"op": op, "path": path, "value": 1}]).to_string();
            let error = apply(&patch).unwrap_err();
            assert!(
                matches!(error, PatchError::Pointer(_) | PatchError::Missing(_)),
                "{op} {path}: {error}"
            );
        }
    }
    for (patch, want) in [
        (
            r#"[{"op":"move","from":"/list","path":"/list/0"}]"#,
            PatchError::IntoItself("/list".into()),
        ),
        (
            r#"[{"op":"replace","path":"/q","value":1}]"#,
            PatchError::Missing("/q".into()),
        ),
        (
            r#"[{"op":"copy","from":"/list/3","path":"/z"}]"#,
            PatchError::Missing("/list/3".into()),
        ),
    ] {
        assert_eq!(apply(patch), Err(want));
    }
}

#[test]
fn what_is_no_patch_is_refused() {
    for patch in [
        "",
        "{}",
        "[1]",
        "[{}]",
        r#"[{"op":"add","path":"/a"}]"#,
        r#"[{"op":"drop","path":"/a"}]"#,
        r#"[{"op":"move","path":"/a"}]"#,
        r#"[{"op":"add","value":1}]"#,
        r#"[{"op":"add","path":1,"value":1}]"#,
    ] {
        assert!(Patch::from_json(patch).is_err(), "{patch}");
    }
    let patch = Patch::new([Operation::Replace {
        path: "/z".into(),
        value: "1,\"b\":2".into(),
    }]);
    assert_eq!(patch.apply(DOCUMENT), Err(PatchError::Value("/z".into())));
    let none = Patch::new([]);
    assert_eq!(none.apply("{\"a\":"), Err(PatchError::Base));
    assert_eq!(none.apply("{}"), Ok("{}".into()));
    let twice = Patch::from_json(r#"[{"op":"remove","path":"/a"}]"#).unwrap();
    assert_eq!(
        twice.apply(r#"{"a":1,"a":2}"#),
        Err(PatchError::Missing("/a".into()))
    );
}

#[test]
fn a_patch_that_grows_without_end_is_stopped() {
    let copy = Operation::Copy {
        from: "/list".into(),
        path: "/list/0".into(),
    };
    let patch = Patch::new(vec![copy; Patch::MOST_OPERATIONS]);
    assert_eq!(patch.apply(DOCUMENT), Err(PatchError::TooLarge));
    let many = Patch::new(vec![
        Operation::Remove { path: "/a".into() };
        Patch::MOST_OPERATIONS + 1
    ]);
    assert_eq!(many.apply(DOCUMENT), Err(PatchError::TooLarge));
}

#[test]
fn it_is_written_as_it_is_read() {
    let patch =
        r#"[{"op":"add","path":"/\"","value":[1e400]},{"op":"move","path":"/a","from":"/z"}]"#;
    assert_eq!(Patch::from_json(patch).unwrap().to_string(), patch);
}
