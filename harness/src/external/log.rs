//! Reading the replay server's log: what really reached it.

use std::{
    fs::File,
    io::{self, Read as _, Seek as _, SeekFrom},
    path::PathBuf,
};

use crate::replay_server::Reached;

/// Bytes of a log that are read at a time; more in one call is no use to anybody.
const MAX_READ: u64 = 16 << 20;

/// Reads a log from where it was left, call by call.
pub(crate) struct LogReader {
    path: PathBuf,
    file: Option<File>,
    offset: u64,
}

impl LogReader {
    /// A reader of a file that may not exist yet.
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, file: None, offset: 0 }
    }

    /// The calls logged since it was last asked.
    ///
    /// # Errors
    /// A file that cannot be read, a line that is no call, far too many calls at once.
    pub(crate) fn take(&mut self) -> io::Result<Vec<Reached>> {
        if self.file.is_none() {
            self.file = match File::open(&self.path) {
                Ok(file) => Some(file),
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
                Err(error) => return Err(error),
            };
        }
        let Some(file) = &mut self.file else { return Ok(Vec::new()) };
        file.seek(SeekFrom::Start(self.offset))?;
        let mut text = Vec::new();
        if file.take(MAX_READ).read_to_end(&mut text)? as u64 == MAX_READ {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "16 MiB of calls at once"));
        }
        // A line is written in one go, so what has no end yet is being written.
        let whole = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        self.offset += whole as u64;
        let lines = text[..whole].split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        lines.map(|line| serde_json::from_slice(line).map_err(io::Error::from)).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::{fs::OpenOptions, io::Write as _};

    use serde_json::Map;

    use super::*;
    use crate::replay_server::CallLog;

    fn call(tool: &str) -> Reached {
        Reached { server: "git".into(), tool: tool.into(), arguments: Map::new(), valid: true }
    }

    #[test]
    fn a_reader_gets_each_call_once_and_no_half_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calls.jsonl");
        let mut reader = LogReader::new(path.clone());
        assert_eq!(reader.take().unwrap(), []);
        let (mut one, mut other) = (CallLog::to(&path).unwrap(), CallLog::to(&path).unwrap());
        one.write(&call("a")).unwrap();
        other.write(&call("b")).unwrap();
        assert_eq!(reader.take().unwrap(), [call("a"), call("b")]);
        assert_eq!(reader.take().unwrap(), []);
        let mut raw = OpenOptions::new().append(true).open(&path).unwrap();
        let line = serde_json::to_string(&call("c")).unwrap() + "\n";
        raw.write_all(&line.as_bytes()[..20]).unwrap();
        assert_eq!(reader.take().unwrap(), []);
        raw.write_all(&line.as_bytes()[20..]).unwrap();
        assert_eq!(reader.take().unwrap(), [call("c")]);
    }
}
