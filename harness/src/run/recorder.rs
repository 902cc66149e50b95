//! The listener that writes a record, in the order in which it is told.

use bench_results::record::{Opened, RecordError, RecordWriter, Settled};

use super::{
    events::{Event, Listener},
    trace::EpisodeTrace,
};

/// Writes what an offline run leaves behind. Nothing is reserved and nothing billed: the model is in this process.
pub struct Recorder {
    writer: RecordWriter,
    attempts: u64,
    episodes: u64,
}

impl Recorder {
    /// Starts a record in an empty folder.
    pub fn create(folder: &std::path::Path) -> Result<Self, RecordError> {
        Ok(Self { writer: RecordWriter::create(folder)?, attempts: 0, episodes: 0 })
    }

    /// The writer, for manifest, inputs and certificate.
    pub fn writer(&mut self) -> &mut RecordWriter {
        &mut self.writer
    }

    /// Attempts and episodes written so far.
    pub fn counts(&self) -> (u64, u64) {
        (self.attempts, self.episodes)
    }

    fn episode(&mut self, trace: &EpisodeTrace) -> Result<(), RecordError> {
        for attempt in &trace.attempts {
            let surface = attempt.surface.digest();
            if !self.writer.has_surface(surface) {
                self.writer.surface(surface, &attempt.surface.bytes())?;
            }
            let n = self.attempts;
            self.writer.open_attempt(&Opened {
                n,
                draw: attempt.draw.clone(),
                attempt: 1,
                reserve: 0,
                request: attempt.request.clone(),
                surface: surface.clone(),
            })?;
            self.writer.settle(&Settled {
                n,
                status: None,
                request_id: None,
                model: Some(attempt.model.clone()),
                usage: attempt.usage,
                billed: 0,
                ms: None,
                error: None,
                response: Some(attempt.response.clone()),
            })?;
            self.attempts += 1;
        }
        self.writer.episode(&trace.record)?;
        self.episodes += 1;
        Ok(())
    }
}

impl Listener for Recorder {
    fn on(&mut self, event: &Event<'_>) -> anyhow::Result<()> {
        match event {
            Event::Started { .. } => {}
            Event::Episode(trace) => self.episode(trace)?,
            Event::Finished { .. } => self.writer.flush()?,
        }
        Ok(())
    }
}
