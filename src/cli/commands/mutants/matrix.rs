//! The kill matrix as text: a row for each layer, one for each mutant, and the survivors with their reasons.

use fencepost::model::mutation::Layer;

use super::{COLUMNS, MutantOutcome};

/// A row for each layer: how many of its mutants are noticed by what; and a row for each mutant below.
pub fn of(fates: &[MutantOutcome]) -> String {
    let head: String = COLUMNS.iter().map(|column| format!("{column:>9}")).collect();
    let mut text = format!("{:18}{:>8}{head}\n", "layer", "mutants");
    let row = |name: &str, fates: &[&MutantOutcome]| {
        let count = |place| fates.iter().filter(|fate| fate.column() == place).count();
        let cells =
            (0..COLUMNS.len()).map(count).map(|count| if count == 0 { "·".to_owned() } else { count.to_string() });
        let cells: String = cells.map(|cell| format!("{cell:>9}")).collect();
        format!("{name:18}{:>8}{cells}\n", fates.len())
    };
    let of_layer = |layer: Layer| fates.iter().filter(|fate| fate.mutation.layer() == layer).collect::<Vec<_>>();
    let mut layers: Vec<Layer> = fates.iter().map(|fate| fate.mutation.layer()).collect();
    layers.dedup();
    for layer in layers {
        text += &row(layer.name, &of_layer(layer));
    }
    text += &row("all", &fates.iter().collect::<Vec<_>>());
    text.push('\n');
    for fate in fates {
        text += &format!("{:30}{}", format!("{:?}", fate.mutation), fate.noticed);
        text += &fate.refuted.map_or(String::new(), |rule| format!("; recorded answers are impossible by {rule}"));
        text.push('\n');
    }
    text.push('\n');
    text
}

/// The mutants that nothing notices, each with its reason; and those of which that is not expected.
pub fn survivors(fates: &[MutantOutcome]) -> String {
    let mut text = String::new();
    for fate in fates.iter().filter(|fate| !fate.is_noticed() || !fate.is_as_expected()) {
        let MutantOutcome { mutation, noticed, .. } = fate;
        text += &match (fate.is_noticed(), mutation.survives()) {
            (false, Some(reason)) => format!("{mutation:?} survives: {reason}\n"),
            (false, None) => format!("{mutation:?} SURVIVES WITHOUT A REASON ({noticed}): {}\n", mutation.about()),
            (true, reason) => {
                format!("{mutation:?} IS NOTICED ({noticed}), AND SHOULD NOT BE: {}\n", reason.unwrap_or(""))
            }
        };
    }
    if text.is_empty() { text } else { format!("{text}\n") }
}

/// How many are noticed, and how many were left out because they had survived for a reason.
pub fn total(fates: &[MutantOutcome], left_out: usize) -> String {
    let noticed = fates.iter().filter(|fate| fate.is_noticed()).count();
    let (count, share) = (fates.len(), noticed * 100 / fates.len().max(1));
    let left_out = match left_out {
        0 => String::new(),
        n => format!("; {n} that survived for a reason are left out"),
    };
    format!("{count} mutants: {noticed} are noticed, {share} %{left_out}\n")
}
