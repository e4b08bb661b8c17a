//! The list of tests that cannot run on a served store is true.

use std::path::Path;

const LIST: &str = include_str!("not_served.txt");

/// The tests that are left out, or modules of them, each with its reason.
fn listed() -> Vec<(&'static str, &'static str)> {
    let lines = LIST.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| line.split_once(' ').unwrap_or_else(|| panic!("without a reason: {line}"))).collect()
}

#[test]
fn each_test_that_is_left_out_exists_and_has_a_reason() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/core");
    for (name, reason) in listed() {
        assert!(!reason.trim().is_empty(), "{name}");
        let (path, test) = name.rsplit_once("::").unwrap();
        let file = path.replace("::", "/");
        let sources =
            [format!("{file}.rs"), format!("{file}/mod.rs")].map(|file| std::fs::read_to_string(folder.join(file)));
        let source = sources.into_iter().flatten().next().unwrap_or_else(|| panic!("there is no {file}.rs"));
        assert!(test.is_empty() || source.contains(&format!("fn {test}(")), "{name}");
    }
}

#[test]
fn at_most_sixty_tests_of_a_single_server_are_left_out() {
    let single = listed().into_iter().filter(|(name, _)| !name.ends_with("::"));
    assert!(single.count() <= 60);
}
