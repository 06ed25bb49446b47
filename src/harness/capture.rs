//! Knows how to keep the beginning and the end of a stream in fixed memory, and to count the rest.
//! Must not know where the bytes come from.
//! Start at `Capture`.

use super::{Execution, Exit};

/// The first and the last bytes of a stream.
#[derive(Debug)]
pub(super) struct Capture {
    head: Vec<u8>,
    tail: Vec<u8>,
    /// Where the oldest byte of a full tail lies.
    oldest: usize,
    head_cap: usize,
    tail_cap: usize,
    total: u64,
}

impl Capture {
    /// Keeps at most `cap` bytes, half from the beginning and half from the end.
    pub(super) fn new(cap: usize) -> Self {
        Self::with_caps(cap - cap / 2, cap / 2)
    }

    /// Keeps the last `cap` bytes only.
    pub(super) fn tail(cap: usize) -> Self {
        Self::with_caps(0, cap)
    }

    fn with_caps(head_cap: usize, tail_cap: usize) -> Self {
        Self {
            head: Vec::new(),
            tail: Vec::new(),
            oldest: 0,
            head_cap,
            tail_cap,
            total: 0,
        }
    }

    /// Takes the next bytes of the stream.
    pub(super) fn push(&mut self, mut bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let to_head = bytes.len().min(self.head_cap - self.head.len());
        self.head.extend_from_slice(&bytes[..to_head]);
        bytes = &bytes[to_head..];
        if bytes.len() >= self.tail_cap {
            self.oldest = 0;
            self.tail.clear();
            self.tail
                .extend_from_slice(&bytes[bytes.len() - self.tail_cap..]);
            return;
        }
        let to_fill = bytes.len().min(self.tail_cap - self.tail.len());
        self.tail.extend_from_slice(&bytes[..to_fill]);
        bytes = &bytes[to_fill..];
        while !bytes.is_empty() {
            let run = bytes.len().min(self.tail_cap - self.oldest);
            self.tail[self.oldest..self.oldest + run].copy_from_slice(&bytes[..run]);
            self.oldest = (self.oldest + run) % self.tail_cap;
            bytes = &bytes[run..];
        }
    }

    /// All bytes that passed.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// Bytes that were dropped between head and tail.
    pub(super) fn elided(&self) -> u64 {
        self.total - (self.head.len() + self.tail.len()) as u64
    }

    /// Head and tail, joined.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut all = Vec::with_capacity(self.head.len() + self.tail.len());
        all.extend_from_slice(&self.head);
        all.extend_from_slice(&self.tail[self.oldest..]);
        all.extend_from_slice(&self.tail[..self.oldest]);
        all
    }
}

/// Both streams of a command and their order of arrival.
#[derive(Debug)]
pub(super) struct Streams {
    stdout: Capture,
    stderr: Capture,
    merged: Capture,
}

impl Streams {
    /// Keeps at most `cap` bytes of each view.
    pub(super) fn new(cap: usize) -> Self {
        Self {
            stdout: Capture::new(cap),
            stderr: Capture::new(cap),
            merged: Capture::new(cap),
        }
    }

    /// Takes bytes of standard output.
    pub(super) fn stdout(&mut self, bytes: &[u8]) {
        self.stdout.push(bytes);
        self.merged.push(bytes);
    }

    /// Takes bytes of standard error.
    pub(super) fn stderr(&mut self, bytes: &[u8]) {
        self.stderr.push(bytes);
        self.merged.push(bytes);
    }

    /// What the command did, once its end is known.
    pub(super) fn execution(&self, exit: Exit, seconds: f64) -> Execution {
        Execution {
            exit,
            stdout: self.stdout.bytes(),
            stderr: self.stderr.bytes(),
            merged: self.merged.bytes(),
            bytes_total: self.merged.total(),
            bytes_elided: self.merged.elided(),
            seconds,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn head_and_tail_are_those_of_the_whole_stream(
            chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..20),
            cap in 0usize..50,
        ) {
            let mut capture = Capture::new(cap);
            for chunk in &chunks {
                capture.push(chunk);
            }
            let whole = chunks.concat();
            prop_assert_eq!(capture.total(), whole.len() as u64);
            let kept = capture.bytes();
            prop_assert_eq!(kept.len(), whole.len().min(cap));
            prop_assert_eq!(capture.elided(), (whole.len() - kept.len()) as u64);
            if whole.len() > cap {
                let head = cap - cap / 2;
                prop_assert_eq!(&kept[..head], &whole[..head]);
                prop_assert_eq!(&kept[head..], &whole[whole.len() - cap / 2..]);
            } else {
                prop_assert_eq!(kept, whole);
            }
        }
    }
}
