//! A bound on the rate of clocks, as a bound on how far they fall behind.

use super::{Drift, Scenario, SettingError};
use crate::service::{Service, Settings as _};
use crate::time::Ticks;
use crate::units::PartsPerMillion;

const PATH: &str = "clocks.rate";

impl<P: Service> Scenario<P> {
    /// The clock of each client is slower than the servers' by at most this rate. Over the longest span that the settings compare, this adds
    /// up to [`Clocks::skew`](super::Clocks::skew), rounded up to whole slips; the budget of slips is what all clients together need for it.
    /// A larger skew and a larger budget that the scenario has already stay.
    ///
    /// # Errors
    /// A tick has no length, or there would be more slips than a budget can have.
    pub fn with_clock_rate(mut self, rate: PartsPerMillion) -> Result<Self, SettingError> {
        self.clocks.skew = self.clocks.skew.max(self.skew_of(rate)?);
        self.clocks.rate = Some(rate);
        self.clocks.drift = Drift::SlowClients;
        let slips = self.clocks.skew.count() / self.clocks.step.count() * i64::from(self.clients);
        let slips = u8::try_from(slips).map_err(|_| {
            let message = format!("this takes {slips} slips of the clocks of all clients together: write a longer `clocks.step`, or a tick");
            SettingError::at(PATH, message)
        })?;
        self.budget.slips = self.budget.slips.max(slips);
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

    /// Where the bound on how far clocks fall behind comes from, for the sentence that tells it.
    pub(crate) fn told_clock_rate(&self) -> Option<String> {
        let rate = self.clocks.rate?;
        let span = self.tick?.times(self.service.longest().count())?;
        Some(format!(" ({rate} over {span}, the longest span that is compared, is {})", rate.of(span)))
    }
}
