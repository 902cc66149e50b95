use proptest::prelude::*;
use serde_json::json;

use super::*;

fn object(value: &Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

fn matchers(value: &Value) -> Matchers {
    serde_json::from_value(value.clone()).unwrap()
}

/// Compares and tells the first difference, `right` if there is none.
fn verdict(gold: &Value, call: &Value, by: &Value, schema: &Value) -> String {
    match compare(&object(gold), &object(call), &matchers(by), schema) {
        Ok(()) => "right".into(),
        Err(mismatch) => mismatch.to_string(),
    }
}

#[test]
fn defaults_may_be_left_out_or_spelled_out_and_nothing_else_may_be_added() {
    let schema = json!({"properties": {
        "repo": {"type": "string"}, "max": {"default": 10}, "since": {"default": null}, "opts": {"$ref": "#/$defs/opts"}
    }, "$defs": {"opts": {"properties": {"dry": {"default": false}, "n": {"default": 3}}}}});
    let gold = json!({"repo": "a", "opts": {"n": 4}});
    for call in [
        json!({"repo": "a", "opts": {"n": 4}}),
        json!({"opts": {"dry": false, "n": 4.0}, "max": 10, "repo": "a"}),
        json!({"repo": "a", "opts": {"n": 4}, "since": null, "max": 10.0}),
    ] {
        assert_eq!(verdict(&gold, &call, &json!({}), &schema), "right", "{call}");
    }
    for (call, why) in [
        (json!({"repo": "a", "opts": {"n": 4}, "max": 11}), "max is not asked for"),
        (json!({"repo": "a", "opts": {"n": 4, "dry": true}}), "opts.dry is not asked for"),
        (json!({"repo": "a", "opts": {"n": 4}, "page": 1}), "page is not asked for"),
        (json!({"repo": "a"}), "opts is missing"),
        (json!({"repo": "a", "opts": {}}), "opts.n is missing"),
        (json!({"repo": "A", "opts": {"n": 4}}), "repo has another value"),
        (json!({"repo": "a", "opts": {"n": 4}, "since": "null"}), "since is not asked for"),
    ] {
        assert_eq!(verdict(&gold, &call, &json!({}), &schema), why, "{call}");
    }
    // The gold may spell a default out as well.
    assert_eq!(verdict(&json!({"repo": "a", "max": 10}), &json!({"repo": "a"}), &json!({}), &schema), "right");
}

#[test]
fn defaults_inside_array_elements_count_too() {
    let schema = json!({"properties": {"edits": {"items": {"anyOf": [{"properties": {"flag": {"default": false}}}]}}}});
    let gold = json!({"edits": [{"a": 1}]});
    assert_eq!(verdict(&gold, &json!({"edits": [{"a": 1, "flag": false}]}), &json!({}), &schema), "right");
    assert_eq!(
        verdict(&gold, &json!({"edits": [{"a": 1, "flag": true}]}), &json!({}), &schema),
        "edits[0].flag is not asked for"
    );
}

#[test]
fn allowed_arguments_take_their_values_only() {
    let by = json!({"state": {"allow": ["open"]}, "flag": {"allow": [false], "by": "scalar"}});
    let verdict = |call: Value| verdict(&json!({"q": "x"}), &call, &by, &json!({}));
    assert_eq!(verdict(json!({"q": "x"})), "right");
    assert_eq!(verdict(json!({"q": "x", "state": "open", "flag": "false"})), "right");
    assert_eq!(verdict(json!({"q": "x", "state": "all"})), "state is not asked for");
    assert_eq!(verdict(json!({"q": "x", "flag": true})), "flag is not asked for");
}

#[test]
fn sets_ignore_order_and_keep_multiplicity() {
    let by = json!({"files": "set", "files[]": "path", "entities": "set", "entities[].observations": "set"});
    let verdict = |gold: Value, call: Value| verdict(&gold, &call, &by, &json!({}));
    assert_eq!(verdict(json!({"files": ["a", "b/c"]}), json!({"files": ["./b//c", "a/"]})), "right");
    assert_eq!(
        verdict(json!({"files": ["a", "a", "b"]}), json!({"files": ["a", "b", "b"]})),
        "files[1] has another value"
    );
    assert_eq!(verdict(json!({"files": ["a"]}), json!({"files": ["a", "a"]})), "files has another number of elements");
    let entity = |name: &str, observations: [&str; 2]| json!({"name": name, "observations": observations});
    assert_eq!(
        verdict(
            json!({"entities": [entity("x", ["1", "2"]), entity("y", ["3", "4"])]}),
            json!({"entities": [entity("y", ["4", "3"]), entity("x", ["2", "1"])]})
        ),
        "right"
    );
    assert_eq!(
        verdict(
            json!({"entities": [entity("x", ["1", "2"]), entity("y", ["3", "4"])]}),
            json!({"entities": [entity("x", ["3", "4"]), entity("y", ["1", "2"])]})
        ),
        "entities[0] has another value"
    );
}

#[test]
fn without_a_set_matcher_order_counts() {
    assert_eq!(verdict(&json!({"a": [1, 2]}), &json!({"a": [2, 1]}), &json!({}), &json!({})), "a[0] has another value");
}

#[test]
fn scalars_match_as_value_or_as_text() {
    let by = json!({"a": "scalar"});
    for (gold, call, right) in [
        (json!(true), json!("true"), true),
        (json!("3"), json!(3), true),
        (json!(3), json!(3.0), true),
        (json!("x"), json!("x"), true),
        (json!(true), json!("True"), false),
        (json!(3), json!("3.0"), false),
        (json!(1), json!(true), false),
        (json!("null"), json!(null), false),
    ] {
        let verdict = verdict(&json!({"a": gold}), &json!({"a": call}), &by, &json!({}));
        assert_eq!(verdict == "right", right, "{gold} {call}");
    }
}

#[test]
fn any_of_widens_the_gold() {
    let by = json!({"a": {"any-of": [1, "one"]}});
    for (call, right) in
        [(json!(2), true), (json!(1.0), true), (json!("one"), true), (json!("two"), false), (json!([1]), false)]
    {
        assert_eq!(verdict(&json!({"a": 2}), &json!({"a": call}), &by, &json!({})) == "right", right, "{call}");
    }
}

#[test]
fn a_set_of_values_with_alternatives_is_matched_as_a_whole() {
    // "b" fits both golds, "a" only the first: a greedy assignment would fail.
    let by = json!({"x": "set", "x[]": {"any-of": ["b"]}});
    assert_eq!(verdict(&json!({"x": ["a", "c"]}), &json!({"x": ["b", "a"]}), &by, &json!({})), "right");
}

#[test]
fn cyclic_references_end() {
    let schema = json!({"properties": {"a": {"$ref": "#/properties/a"}}, "allOf": [{"$ref": "#"}]});
    assert_eq!(verdict(&json!({"a": 1}), &json!({"b": 1}), &json!({}), &schema), "a is missing");
    assert_eq!(verdict(&json!({}), &json!({"b": 1}), &json!({}), &schema), "b is not asked for");
}

#[test]
fn matchers_are_written_as_words_and_read_back() {
    let value =
        json!({"a": "path", "b[].c": {"any-of": [1]}, "d": {"allow": ["x"]}, "e": {"allow": [1], "by": "scalar"}});
    assert_eq!(serde_json::to_value(matchers(&value)).unwrap(), value);
    for (wrong, part) in [
        (json!({"a": "pth"}), "unknown matcher"),
        (json!({"a": {"any": []}}), "not a matcher"),
        (json!({"a[": "set"}), "argument path"),
        (json!({"a": 1}), "not a matcher"),
    ] {
        assert!(serde_json::from_value::<Matchers>(wrong).unwrap_err().to_string().contains(part));
    }
}

fn json_value() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-c/. *:]{0,6}".prop_map(Value::from),
    ];
    scalar.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(("[ab]", inner), 0..3)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn any_matcher() -> impl Strategy<Value = Matcher> {
    let words = prop::sample::select(WORDS.map(|(_, matcher)| matcher).to_vec());
    prop_oneof![words, prop::collection::vec(json_value(), 0..3).prop_map(Matcher::AnyOf)]
}

proptest! {
    #[test]
    fn every_gold_matches_itself(a in json_value(), at_top in any_matcher(), at_items in any_matcher(), at_key in any_matcher()) {
        let gold = object(&json!({"x": a}));
        let matchers = Matchers::new(BTreeMap::from([("x".into(), at_top), ("x[]".into(), at_items), ("x[].a".into(), at_key)])).unwrap();
        prop_assert_eq!(compare(&gold, &gold, &matchers, &json!({})), Ok(()));
    }

    #[test]
    fn a_set_matches_each_of_its_orders(items in prop::collection::vec(json_value(), 0..6), turn in 0usize..6, by in any_matcher()) {
        let mut turned = items.clone();
        if !turned.is_empty() {
            let turn = turn % turned.len();
            turned.rotate_left(turn);
            turned.swap(0, turn);
        }
        let matchers = Matchers::new(BTreeMap::from([("x".into(), Matcher::Set), ("x[]".into(), by)])).unwrap();
        let (gold, call) = (object(&json!({"x": items})), object(&json!({"x": turned})));
        prop_assert_eq!(compare(&gold, &call, &matchers, &json!({})), Ok(()));
    }

    #[test]
    fn string_equivalences_are_symmetric(a in "[a/.*\r\n \":T0-9]{0,8}", b in "[a/.*\r\n \":T0-9]{0,8}") {
        for equal in [path_equal, glob_equal, text_equal, query_equal, nocase_equal, instant_equal, clock_equal] {
            prop_assert!(equal(&a, &a));
            prop_assert_eq!(equal(&a, &b), equal(&b, &a));
        }
    }
}
