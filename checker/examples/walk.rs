//! tmp
use fencepost_model::catalogue::AnyScenario;
use fencepost_model::with_scenario;
fn main() {
    let file = std::env::args().nth(1).unwrap();
    let n: usize = std::env::args().nth(2).unwrap().parse().unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    let s = AnyScenario::from_toml(&text, &file).unwrap();
    with_scenario!(&s, sc => {

        let mut x = 12345u64; let mut en = vec![]; let mut seen = std::collections::HashSet::new(); let mut best=(0usize,None); let mut w = sc.start();
        for _ in 0..n { w = sc.start(); sc.normalise(&mut w); for i in 0..200 { sc.enabled(&w, &mut en); if en.is_empty() { break; }
            x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let a = en[(x >> 33) as usize % en.len()];
            sc.step(&mut w, &a); sc.normalise(&mut w); let t = format!("{w:?}"); let l = t.len(); if l > best.0 { best = (l, Some(w.clone())); println!("{i} {l}"); } seen.insert(t); } }
        let w = best.1.unwrap();
        println!("size {} seen {}\n{:#?}", std::mem::size_of_val(&w), seen.len(), w);
    });
}
