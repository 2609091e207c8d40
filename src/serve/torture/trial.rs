//! One run of a test: a stand-in, the test's process, and how both end.

use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::tested::TestedServer;
use crate::faults::FaultPlan;
use crate::http::StandInRun;
use crate::settings::Settings;

/// How a run is made.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Which server the test talks to.
    pub server: TestedServer,
    /// What the stand-in is started with; the plan in it is replaced.
    pub settings: Settings,
    /// The test: a program and its arguments.
    pub command: Vec<String>,
    /// How long it may take.
    pub patience: Duration,
    /// Whether it may write to stdout and stderr.
    pub is_heard: bool,
}

/// What came of a run.
#[derive(Clone, Debug)]
pub struct Tried {
    /// What the stand-in has seen.
    pub run: StandInRun,
    /// How the test ended.
    pub ended: Ended,
}

/// How a test ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ended {
    /// With status 0.
    Well,
    /// Otherwise.
    Failed(String),
    /// It did not, and was killed.
    Hung,
}

impl Trial {
    /// Makes one. The test finds the stand-in by `CONSUL_HTTP_ADDR` or `ETCD_HTTP_ADDR`, the address of a named client by the same variable with `_NAME`,
    /// and what it may say of itself under `FENCEPOST_URL`.
    ///
    /// # Errors
    /// There is no port, or no such program.
    pub fn run(&self, plan: &FaultPlan) -> Result<Tried, String> {
        let settings = Settings { plan: plan.clone(), lists_requests: true, ..self.settings.clone() };
        let server = self.server.start(settings).map_err(|error| error.to_string())?;
        let Some((program, arguments)) = self.command.split_first() else { return Err("no command".to_owned()) };
        let mut command = Command::new(program);
        let address = server.address().to_string();
        command
            .args(arguments)
            .env(self.server.variable(), &address)
            .env("FENCEPOST_URL", format!("http://{address}/fencepost"))
            .stdin(Stdio::null());
        for (name, address) in &server.addresses().clients {
            command.env(self.variable(name), address.to_string());
        }
        if !self.is_heard {
            command.stdout(Stdio::null()).stderr(Stdio::null());
        }
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let child = command.spawn().map_err(|error| format!("{program}: {error}"))?;
        let ended = self.wait(child).map_err(|error| error.to_string())?;
        Ok(Tried { run: server.stop(), ended })
    }

    /// The variable with the address of a client: `CONSUL_HTTP_ADDR_WORKER_1` for `worker-1`.
    fn variable(&self, client: &str) -> String {
        let upper = client.to_uppercase();
        let name: String = upper.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        format!("{}_{name}", self.server.variable())
    }

    fn wait(&self, mut child: Child) -> std::io::Result<Ended> {
        let began = Instant::now();
        let mut pause = Duration::from_micros(200);
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(ended(status));
            }
            if began.elapsed() >= self.patience {
                kill(&mut child)?;
                child.wait()?;
                return Ok(Ended::Hung);
            }
            sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(5));
        }
    }
}

fn ended(status: ExitStatus) -> Ended {
    match status.success() {
        true => Ended::Well,
        false => Ended::Failed(status.to_string()),
    }
}

/// Ends a test and what it has started: they are a process group of their own.
fn kill(child: &mut Child) -> std::io::Result<()> {
    if cfg!(unix) {
        let group = format!("-{}", child.id());
        let killed = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
        if killed.is_ok_and(|status| status.success()) {
            return Ok(());
        }
    }
    child.kill()
}
