//! Medians, and how they compare.

use crate::side::Contender;
use std::time::Duration;

/// Times of all contenders.
#[derive(Debug)]
pub(crate) struct Figures(Vec<Vec<Duration>>);

impl Figures {
    pub(crate) fn for_each(contenders: &[Contender]) -> Self {
        Self(contenders.iter().map(|_| Vec::new()).collect())
    }

    pub(crate) fn add(&mut self, contender: usize, time: Duration) {
        self.0[contender].push(time);
    }

    /// Ratios are to `wharf mcp`, which is what an agent has, or else to the first.
    pub(crate) fn print(&self, title: &str, contenders: &[Contender], more: impl Fn(usize) -> String) {
        println!("\n{title}");
        let ours = contenders.iter().position(|contender| contender.name == "wharf mcp").unwrap_or(0);
        let to = percentile(&self.0[ours], 50).as_secs_f64();
        for (at, contender) in contenders.iter().enumerate() {
            let (median, high) = (percentile(&self.0[at], 50), percentile(&self.0[at], 90));
            print!("  {:<34} {:>13} median {:>13} of 9 in 10", contender.name, ms(median), ms(high));
            println!("   {:>8.2}× {}{}", median.as_secs_f64() / to, contenders[ours].name, more(at));
        }
    }
}

/// The time that so many in a hundred do not exceed.
fn percentile(times: &[Duration], percent: usize) -> Duration {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    let at = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
    sorted.get(at).copied().unwrap_or_default()
}

/// In milliseconds with three decimals.
pub(crate) fn ms(time: Duration) -> String {
    format!("{:.3} ms", time.as_secs_f64() * 1e3)
}
