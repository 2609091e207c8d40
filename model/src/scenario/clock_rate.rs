//! A bound on the rate of clocks, as a bound on how far they fall behind.

use super::{Drift, Scenario, SettingError};
use crate::service::{Service, Settings as _};
use crate::time::Ticks;
use crate::units::PartsPerMillion;

const PATH: &str = "clocks.rate";

impl<P: Service> Scenario<P> {
    /// The clock of each client is slower than the servers' by at most this rate. Over the longest span that the settings compare, this adds
    /// up to [`Clocks::skew`](super::Clocks::skew), which is rounded up to whole slips; the budget of slips is what all clients together
    /// need for it. A larger skew that the scenario has already stays, and so does a budget of slips.
    ///
    /// # Errors
    /// A tick has no length, nothing has a duration, or there would be more slips than a budget can have.
    pub fn with_clock_rate(mut self, rate: PartsPerMillion) -> Result<Self, SettingError> {
        let skew = self.skew_of(rate)?;
        self.clocks.rate = Some(rate);
        self.clocks.drift = Drift::SlowClients;
        self.clocks.skew = self.clocks.skew.max(skew);
        if self.budget.slips == 0 && skew > Ticks::ZERO {
            let slips = self.clocks.skew.count() / self.clocks.step.count() * i64::from(self.clients);
            self.budget.slips = u8::try_from(slips).map_err(|_| {
                let message = format!("this takes {slips} slips of the clocks of all clients together: write a longer `clocks.step`, or a tick");
                SettingError::at(PATH, message)
            })?;
        }
        Ok(self)
    }

    /// How far a clock of this rate falls behind over the longest span that is compared: in ticks, rounded up to whole slips.
    fn skew_of(&self, rate: PartsPerMillion) -> Result<Ticks, SettingError> {
        let wrong = |message: &str| Err(SettingError::at(PATH, message.to_owned()));
        let Some(tick) = self.tick else {
            return wrong(
                "a rate needs durations with units: write them as \"15s\", or `tick = \"500ms\"` beside `clients`",
            );
        };
        let Some(span) = tick.times(self.service.longest().count()) else {
            return wrong("the settings compare too long a span");
        };
        let step = self.clocks.step.count();
        if step <= 0 {
            return wrong("`clocks.step` is at least 1 tick");
        }
        let ticks = rate.of(span).nanoseconds().div_euclid(tick.nanoseconds());
        let is_whole = rate.of(span).in_ticks_of(tick).is_some();
        let ticks = if is_whole { ticks } else { ticks + 1 };
        Ok(Ticks::new((ticks + step - 1) / step * step))
    }

    /// Refuses a skew that is less than a rate adds up to.
    pub(super) fn validate_clock_rate(&self) -> Result<(), SettingError> {
        let Some(rate) = self.clocks.rate else { return Ok(()) };
        let needed = self.skew_of(rate)?;
        if self.clocks.skew < needed {
            let message = format!(
                "{rate} over the longest span that is compared adds up to {needed}: `clocks.skew` is {}",
                self.clocks.skew
            );
            return Err(SettingError::at("clocks.skew", message));
        }
        if self.clocks.drift != Drift::SlowClients {
            let message = "a rate is one of slow clients: write `drift = \"slow-clients\"`, or leave `drift` out";
            return Err(SettingError::at(PATH, message.to_owned()));
        }
        Ok(())
    }

    /// What a bound on rates adds up to, as a sentence.
    pub(crate) fn told_clock_rate(&self, rate: PartsPerMillion) -> Option<String> {
        let span = self.tick?.times(self.service.longest().count())?;
        Some(format!(
            "clients' clocks are slower than the servers' by at most {rate}: that is {} over {span}, the longest span that is compared, rounded up to {} in all, {} at a time",
            rate.of(span),
            self.clocks.skew,
            self.clocks.step
        ))
    }
}
