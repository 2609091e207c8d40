//! The record and the beliefs on one line of time, as text.

use super::{Clients, Kind, seconds};

/// How many characters wide the line of time is.
const WIDTH: usize = 72;

/// Draws who held each lock (`#` for certain, `-` possibly), who took itself for the holder (`=`), and writes that came too late (`!`).
pub fn picture(clients: &Clients) -> String {
    let Some(start) = clients.tenures.iter().map(|tenure| tenure.began.0).min() else {
        return "Nobody acquired a lock.\n".to_owned();
    };
    let ends = clients.tenures.iter().flat_map(|tenure| [tenure.began.1, tenure.ended.1.unwrap_or(tenure.began.1)]);
    let beliefs = clients.beliefs.iter().map(|belief| belief.until);
    let end = ends.chain(beliefs).max().unwrap_or(start).max(start + 1);
    let column = |at: i64| {
        let share = i128::from(at.clamp(start, end) - start) * (WIDTH as i128 - 1) / i128::from(end - start);
        usize::try_from(share).unwrap_or(0)
    };
    let mut text = String::new();
    for (place, (tenure, belief)) in clients.tenures.iter().zip(&clients.beliefs).enumerate() {
        let mut record = [' '; WIDTH];
        let last = tenure.ended.1.unwrap_or(end);
        record[column(tenure.began.0)..=column(last)].fill('-');
        if let Some((from, until)) = tenure.certain() {
            record[column(from)..=column(until.min(end))].fill('#');
        }
        let mut mind = [' '; WIDTH];
        mind[column(belief.from)..=column(belief.until)].fill('=');
        for finding in &clients.findings {
            if matches!(finding.kind, Kind::LateWrite(of, _) if of == place) {
                mind[column(finding.during.0)] = '!';
            }
        }
        let line = |name: &str, what: &[char; WIDTH]| format!("{name:<26} |{}|\n", what.iter().collect::<String>());
        text += &line(&format!("`{}` record: {}", tenure.key, tenure.who()), &record);
        text += &line("    takes itself for holder", &mind);
    }
    let (from, to) = (seconds(start), seconds(end));
    text += &format!("{:<26}  {from}{to:>width$}\n", "", width = WIDTH - from.len());
    text += "# held for certain   - held possibly   = takes itself for the holder   ! writes too late\n";
    text
}
