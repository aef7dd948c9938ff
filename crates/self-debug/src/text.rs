//! Excerpts of texts.

/// A text, or its two ends where it has more than `most` characters.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let end = most / 4;
    let start = most - end;
    let head: String = text.chars().take(start).collect();
    let tail: String = text.chars().skip(count - end).collect();
    let left_out = count - most;
    format!("{head} … ({left_out} characters are not shown) … {tail}")
}
