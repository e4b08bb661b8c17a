//! Finds the name that somebody may have meant.

/// One letter in so many may be wrong.
const WRONG: usize = 3;

/// Advice behind an unknown name: the nearest, else all.
#[must_use]
pub fn hint(word: &str, names: &[&str]) -> String {
    let near = near(word, names);
    match near.is_empty() {
        true => format!("; there are {}", list(names, "and")),
        false => format!("; did you mean {}?", list(&near, "or")),
    }
}

/// The names that are nearest to the word, if they are near.
#[must_use]
pub fn near<'a>(word: &str, names: &[&'a str]) -> Vec<&'a str> {
    let word = word.to_ascii_lowercase();
    let distance = |name: &str| {
        let name = name.to_ascii_lowercase();
        let is_beginning = !word.is_empty() && name.starts_with(&word);
        if is_beginning { 0 } else { strsim::levenshtein(&word, &name) }
    };
    let least = names.iter().map(|name| distance(name)).min().unwrap_or(usize::MAX);
    let is_near = least <= (word.len() / WRONG).max(1);
    names.iter().copied().filter(|name| is_near && distance(name) == least).collect()
}

fn list(names: &[&str], word: &str) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
    match quoted.split_last() {
        Some((last, before)) if !before.is_empty() => format!("{} {word} {last}", before.join(", ")),
        _ => quoted.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_what_is_near_else_all() {
        let names = ["maxAttempts", "prefix", "ttr"];
        assert_eq!(hint("max_attempts", &names), "; did you mean 'maxAttempts'?");
        assert_eq!(hint("PREFIX", &names), "; did you mean 'prefix'?");
        assert_eq!(hint("prefx", &names), "; did you mean 'prefix'?");
        assert_eq!(hint("max", &names), "; did you mean 'maxAttempts'?");
        for far in ["", "spin", "\u{fffd}"] {
            assert_eq!(hint(far, &names), "; there are 'maxAttempts', 'prefix' and 'ttr'", "{far}");
        }
        assert_eq!(hint("kay", &["key", "day"]), "; did you mean 'key' or 'day'?");
    }
}
