//! Knows how to read lines of bounded length from a process, safely under cancellation.
//! Must not know what the lines say.
//! Start at `Lines::next`.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};

use super::capture::Capture;

/// What a stream gave.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A line without its end.
    Whole(Vec<u8>),
    /// A line longer than allowed; the stream is of no further use.
    TooLong,
    /// The stream has ended; a last line without an end is dropped.
    End,
}

/// The lines of a stream.
pub(super) struct Lines {
    reader: BufReader<Pin<Box<dyn AsyncRead + Send>>>,
    partial: Vec<u8>,
    longest: usize,
}

impl Lines {
    /// Lines of at most `longest` bytes, their end included.
    pub(super) fn new(reader: Pin<Box<dyn AsyncRead + Send>>, longest: usize) -> Self {
        Self {
            reader: BufReader::new(reader),
            partial: Vec::new(),
            longest,
        }
    }

    /// The next line. Nothing is lost when the future is dropped half-way.
    pub(super) async fn next(&mut self) -> Line {
        loop {
            let Ok(available) = self.reader.fill_buf().await else {
                return Line::End;
            };
            if available.is_empty() {
                return Line::End;
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(available.len(), |end| end + 1);
            if self.partial.len() + taken > self.longest {
                return Line::TooLong;
            }
            self.partial.extend_from_slice(&available[..taken]);
            self.reader.consume(taken);
            if end.is_some() {
                let mut line = std::mem::take(&mut self.partial);
                line.pop();
                return Line::Whole(line);
            }
        }
    }
}

/// The last bytes of a stream that is drained in the background.
#[derive(Debug, Clone)]
pub(super) struct Tail(Arc<Mutex<Capture>>);

impl Tail {
    /// Drains a stream to its end, keeping the last `cap` bytes; each piece is shown to `watch` first.
    pub(super) fn drain(
        mut reader: Pin<Box<dyn AsyncRead + Send>>,
        cap: usize,
        mut watch: impl FnMut(&[u8]) + Send + 'static,
    ) -> Self {
        let tail = Self(Arc::new(Mutex::new(Capture::tail(cap))));
        let kept = tail.clone();
        tokio::spawn(async move {
            let mut buffer = vec![0; 16 * 1024];
            while let Ok(count) = reader.read(&mut buffer).await {
                if count == 0 {
                    break;
                }
                watch(&buffer[..count]);
                kept.0
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(&buffer[..count]);
            }
        });
        tail
    }

    /// What is kept so far, decoded with replacement.
    pub(super) fn text(&self) -> String {
        let bytes = self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .bytes();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncWriteExt;

    #[tokio::test]
    async fn a_line_survives_a_reader_that_gave_up_half_way() {
        let (mut writer, reader) = tokio::io::duplex(64);
        let mut lines = Lines::new(Box::pin(reader), 64);
        writer.write_all(b"hal").await.unwrap();
        tokio::select! {
            biased;
            _ = lines.next() => unreachable!("the line has not ended"),
            () = tokio::task::yield_now() => {}
        }
        writer.write_all(b"f\nnext\nrest").await.unwrap();
        drop(writer);
        assert_eq!(lines.next().await, Line::Whole(b"half".to_vec()));
        assert_eq!(lines.next().await, Line::Whole(b"next".to_vec()));
        assert_eq!(lines.next().await, Line::End);
    }

    #[tokio::test]
    async fn a_line_beyond_the_bound_is_not_collected() {
        let mut lines = Lines::new(Box::pin(&b"12345678\n"[..]), 8);
        assert_eq!(lines.next().await, Line::TooLong);
    }
}
