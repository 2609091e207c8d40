//! ShedLock's statements as SqlStatementsSource.java and PostgresSqlServerTimeStatementsSource.java of lukas-krecan/ShedLock@2495b140 have them.

use super::sequence::{ClientTime, RowStatement};

/// CURRENT_TIMESTAMP in microseconds.
pub const NOW: &str = "(extract(epoch FROM timezone('utc', CURRENT_TIMESTAMP)) * 1000000)::bigint";

/// A statement of a session; `at` says what a time of a client is, in microseconds.
pub fn text(table: &str, session: usize, statement: RowStatement, at: impl Fn(ClientTime) -> i64) -> String {
    let (me, now) = (format!("'client {}'", session + 1), "timezone('utc', CURRENT_TIMESTAMP)");
    let span = |length: i64| format!("cast('{length} microseconds' AS interval)");
    let time = |client: ClientTime| format!("timestamp 'epoch' + interval '1 microsecond' * {}", at(client));
    let update = |at_most: i64| {
        format!(
            "SET lock_until = {now} + {0}, locked_at = {now}, locked_by = {me} WHERE {table}.name = 'task' AND \
             {table}.lock_until <= {now}",
            span(at_most)
        )
    };
    match statement {
        RowStatement::InsertByDatabase { at_most } => format!(
            "INSERT INTO {table}(name, lock_until, locked_at, locked_by) VALUES('task', {now} + {}, {now}, {me}) \
             ON CONFLICT (name) DO UPDATE {}",
            span(at_most),
            update(at_most)
        ),
        RowStatement::UpdateByDatabase { at_most } => format!("UPDATE {table} {}", update(at_most)),
        RowStatement::InsertByClient { now, until } => format!(
            "INSERT INTO {table}(name, lock_until, locked_at, locked_by) VALUES('task', {}, {}, {me})",
            time(until),
            time(now)
        ),
        RowStatement::UpdateByClient { now, until } => format!(
            "UPDATE {table} SET lock_until = {}, locked_at = {1}, locked_by = {me} WHERE name = 'task' AND lock_until <= {1}",
            time(until),
            time(now)
        ),
        RowStatement::Extend { at_most } => format!(
            "UPDATE {table} SET lock_until = {now} + {} WHERE name = 'task' AND locked_by = {me} AND lock_until > {now}",
            span(at_most)
        ),
        RowStatement::UnlockByDatabase { at_least } => format!(
            "UPDATE {table} SET lock_until = CASE WHEN locked_at + {0} > {now} THEN locked_at + {0} ELSE {now} END \
             WHERE name = 'task' AND locked_by = {me}",
            span(at_least)
        ),
        RowStatement::UnlockByClient { until } => {
            format!("UPDATE {table} SET lock_until = {} WHERE name = 'task' AND locked_by = {me}", time(until))
        }
    }
}
