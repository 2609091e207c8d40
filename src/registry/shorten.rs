//! A TOML file without what it need not say. Nothing here knows a default: a line is left out if the rest still means the same.

use toml::Table;

/// Leaves out tables and lines for as long as the rest means the same.
pub(crate) fn shorten(text: &str, means_the_same: &dyn Fn(&str) -> bool) -> String {
    let mut parts = parts(text);
    // Whole tables first: what stands inside one may need the others that stand there.
    for is_whole in [true, false] {
        let mut place = 0;
        while let Some(part) = parts.get(place) {
            let end = match (part.is_header(), is_whole) {
                (true, true) => parts[place + 1..].iter().position(Part::is_header).map(|more| place + 1 + more),
                _ => Some(place + 1),
            };
            let end = end.unwrap_or(parts.len());
            let rest = [&parts[..place], &parts[end..]].concat();
            if means_the_same(&join(&rest)) {
                parts = rest;
            } else {
                place += 1;
            }
        }
    }
    join(&parts)
}

/// A header, or a key with its value, which may take several lines.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Part(String);

impl Part {
    fn is_header(&self) -> bool {
        self.0.starts_with('[')
    }
}

fn parts(text: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut open = String::new();
    for line in text.lines().filter(|line| !line.is_empty()) {
        open += line;
        open.push('\n');
        if open.parse::<Table>().is_ok() {
            parts.push(Part(std::mem::take(&mut open)));
        }
    }
    parts
}

fn join(parts: &[Part]) -> String {
    let mut text = String::new();
    for part in parts {
        if part.is_header() && !text.is_empty() {
            text.push('\n');
        }
        text += &part.0;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_tables_are_left_out_while_the_rest_means_the_same() {
        let text = "name = \"x\"\nrounds = 1\nclients = 3\n\n[budget]\nlosses = 0\n\n[service]\nttl = 2\n\n[service.a]\nb = 0\n";
        let meaning = |text: &str| {
            let table: Table = text.parse().expect("TOML");
            let number = |table: Option<&Table>, key: &str, or| {
                table.and_then(|table| table.get(key)?.as_integer()).unwrap_or(or)
            };
            let inner = |key: &str| table.get(key).and_then(toml::Value::as_table);
            let name = table.get("name").map(ToString::to_string);
            let top = (number(Some(&table), "rounds", 1), number(Some(&table), "clients", 2));
            let has_a = inner("service").is_some_and(|service| service.contains_key("a"));
            (name, top, number(inner("budget"), "losses", 0), number(inner("service"), "ttl", 1), has_a)
        };
        let short = shorten(text, &|other| meaning(other) == meaning(text));
        assert_eq!(short, "name = \"x\"\nclients = 3\n\n[service]\nttl = 2\n\n[service.a]\n");
    }

    #[test]
    fn a_value_of_several_lines_is_one_part() {
        let text = "story = \"\"\"\none\n\"\"\"\nlist = [\n  1,\n]\nlast = 1\n";
        assert_eq!(parts(text).len(), 3);
        assert_eq!(shorten(text, &|other| other.contains("last")), "last = 1\n");
    }
}
