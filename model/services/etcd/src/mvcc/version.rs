//! Versions of etcd 3: where their answers differ.

use std::fmt;
use std::str::FromStr;

/// A version of etcd 3, for what its API answers. Tried at real servers are 3.4.23, 3.5.1, 3.5.16 and 3.5.30; in between, the change logs and
/// the pull requests decide, and where these do not say it, a change counts from the first of them that has it. Later versions are taken for 3.5.30.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct EtcdVersion {
    minor: u32,
    patch: u32,
}

impl Default for EtcdVersion {
    /// 3.4.23, which the rules are about where they name no version.
    fn default() -> Self {
        EtcdVersion { minor: 4, patch: 23 }
    }
}

impl fmt::Display for EtcdVersion {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "3.{}.{}", self.minor, self.patch)
    }
}

impl FromStr for EtcdVersion {
    type Err = String;

    /// Reads `3.5.16`, and builds of it as servers state them: `v3.5.16`, `3.5.16+git`.
    fn from_str(text: &str) -> Result<Self, String> {
        let plain = text.trim_start_matches('v').split(['-', '+']).next().unwrap_or_default();
        let numbers: Vec<Option<u32>> = plain.split('.').map(|part| part.parse().ok()).collect();
        match numbers[..] {
            [Some(3), Some(minor @ 4..), Some(patch)] => Ok(EtcdVersion { minor, patch }),
            _ => Err(format!("`{text}`: a version of etcd from 3.4 on is wanted, like 3.5.16")),
        }
    }
}

impl EtcdVersion {
    /// The version that the cluster states, whose patches are not counted.
    pub fn of_cluster(self) -> Self {
        EtcdVersion { patch: 0, ..self }
    }

    /// Whether the gateway answers with the status 412 that a lease exists, and not with 400 (E-GEN-7).
    pub fn has_status_412(self) -> bool {
        self.minor == 4
    }

    /// Whether the gateway writes the message of a refusal as `error`, too; since 3.5 that is up to who has built it (E-GEN-7).
    pub fn repeats_messages(self) -> bool {
        self.minor == 4
    }

    /// Whether `Lock` reads its own key after a wait, and fails if it is gone (E-CC-12).
    pub fn lock_reads_own_key(self) -> bool {
        self.minor >= 5
    }

    /// Whether progress is told to a stream only if all of its watches have been told all (E-W-6).
    pub fn progress_waits(self) -> bool {
        self.is_since(25, 8)
    }

    /// Whether a watch is told a deletion at exactly the compacted revision (E-W-5). In 3.4 since its pull requests 18455 and 18475.
    pub fn keeps_compacted_deletes(self) -> bool {
        self.is_since(34, 16)
    }

    /// Whether a watch is refused that begins below revision 0 (E-W-2).
    pub fn refuses_start_below_zero(self) -> bool {
        self.is_since(38, 30)
    }

    /// Whether a watch that begins at a revision to come has something to be told yet (E-W-6).
    pub fn future_watch_is_behind(self) -> bool {
        self.is_since(38, 30)
    }

    fn is_since(self, of_3_4: u32, of_3_5: u32) -> bool {
        match self.minor {
            4 => self.patch >= of_3_4,
            5 => self.patch >= of_3_5,
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::EtcdVersion;

    #[test]
    fn a_version_is_read_from_what_servers_state() {
        for (text, read) in
            [("3.4.23", "3.4.23"), ("v3.5.16", "3.5.16"), ("3.6.0-rc.1", "3.6.0"), ("3.5.1+git", "3.5.1")]
        {
            assert_eq!(text.parse::<EtcdVersion>().map(|version| version.to_string()).as_deref(), Ok(read));
        }
        for text in ["", "3", "3.4", "3.3.25", "2.3.8", "4.0.0", "3.4.23.1", "3.x.1", "etcd"] {
            let why = text.parse::<EtcdVersion>().expect_err(text);
            assert!(why.contains("from 3.4 on"), "{why}");
        }
    }

    #[test]
    fn what_differs_differs_from_a_version_on() {
        let all = ["3.4.23", "3.4.25", "3.4.34", "3.4.38", "3.5.1", "3.5.8", "3.5.16", "3.5.30", "3.6.0"];
        let seen = all.map(|text| {
            let version: EtcdVersion = text.parse().expect("a version");
            let differences = [
                version.lock_reads_own_key(),
                version.progress_waits(),
                version.keeps_compacted_deletes(),
                version.refuses_start_below_zero(),
                version.future_watch_is_behind(),
            ];
            differences.map(u8::from)
        });
        let none = [0; 5];
        let of_3_4 = [none, [0, 1, 0, 0, 0], [0, 1, 1, 0, 0], [0, 1, 1, 1, 1]];
        let of_3_5 = [[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [1, 1, 1, 0, 0], [1; 5], [1; 5]];
        assert_eq!((&seen[..4], &seen[4..]), (&of_3_4[..], &of_3_5[..]));
    }
}
