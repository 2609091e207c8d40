//! The plans of a torture as JUnit XML, which build servers show: a case for each plan.

use std::fmt::Write;

/// A plan that was tried, and what it broke.
pub struct Case {
    pub plan: String,
    pub broken: Option<String>,
}

/// The plans as XML. A torture that was stopped early is an error, for the plans that were left may break something.
pub fn junit(cases: &[Case], is_cut: bool) -> String {
    let failures = cases.iter().filter(|case| case.broken.is_some()).count();
    let counts = format!(
        "tests=\"{}\" failures=\"{failures}\" errors=\"{}\"",
        cases.len() + usize::from(is_cut),
        u8::from(is_cut)
    );
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"fencepost\" {counts}>\n  <testsuite name=\"torture\" {counts}>\n"
    );
    for Case { plan, broken } in cases {
        let name = escape(plan.trim_end());
        let _ = write!(xml, "    <testcase classname=\"torture\" name=\"{name}\"");
        match broken {
            None => xml += "/>\n",
            Some(why) => {
                let why = escape(why);
                let _ = writeln!(xml, ">\n      <failure message=\"{why}\">{name}</failure>\n    </testcase>");
            }
        }
    }
    if is_cut {
        xml += "    <testcase classname=\"torture\" name=\"all plans\">\n      <error message=\"stopped before every plan was tried\"/>\n    </testcase>\n";
    }
    xml + "  </testsuite>\n</testsuites>\n"
}

/// Text within an attribute or an element. Control characters, which XML has not, become spaces.
fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\n' => escaped += "; ",
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_plan_is_a_failure_and_an_early_stop_an_error() {
        let case = |plan: &str, broken: Option<&str>| Case { plan: plan.to_owned(), broken: broken.map(str::to_owned) };
        let cases = [
            case("on PUT /v1/kv/a #1: lose-answer\n", None),
            case("on GET /v1/kv/a #1: status 500 \"No cluster leader\"\non GET /v1/kv/b #1: reset\n", Some("a < b")),
        ];
        let xml = junit(&cases, false);
        assert!(xml.contains("tests=\"2\" failures=\"1\" errors=\"0\""), "{xml}");
        assert!(xml.contains("name=\"on PUT /v1/kv/a #1: lose-answer\"/>"), "{xml}");
        assert!(xml.contains("&quot;No cluster leader&quot;; on GET"), "{xml}");
        assert!(xml.contains("<failure message=\"a &lt; b\">"), "{xml}");
        let xml = junit(&cases[..1], true);
        assert!(xml.contains("tests=\"2\" failures=\"0\" errors=\"1\"") && xml.contains("stopped before"), "{xml}");
    }
}
