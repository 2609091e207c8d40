//! The tutorial builds the lease from nothing: its listings, one after the other, are the files that are compiled.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The listings of each file, in the order of the page: blocks of code behind a line that names the file.
fn listings(page: &str) -> BTreeMap<&str, Vec<&str>> {
    let mut listings: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for part in page.split("\n`model/services/lease/").skip(1) {
        let Some((file, rest)) = part.split_once("`:\n\n```") else { continue };
        let block = rest.split_once('\n').and_then(|(_, code)| code.split_once("\n```")).expect("a block ends");
        listings.entry(file).or_default().push(block.0);
    }
    listings
}

#[test]
fn the_listings_of_the_tutorial_are_the_files_of_the_lease() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("reports/docs/a-service.md")).expect("the page is there");
    let listings = listings(&page);
    assert_eq!(listings.len(), 10, "{:?}", listings.keys());
    for (file, blocks) in listings {
        let text = fs::read_to_string(root.join("model/services/lease").join(file)).expect("the file is there");
        let mut rest = text.as_str();
        for block in &blocks {
            rest = rest.trim_start_matches('\n');
            let next = rest.strip_prefix(block);
            rest = next.unwrap_or_else(|| panic!("{file}: the page has\n{block}\nand the file goes on with\n{rest}"));
        }
        assert_eq!(rest.trim(), "", "{file}: the page leaves this out");
    }
}
