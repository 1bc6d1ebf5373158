//! Little-endian values in a byte buffer: the alphabet of the journal, the plan and the control socket.
//!
//! Decoding never panics and never allocates more than the input is long, whatever the bytes say.

/// What decoding can find wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The bytes end before the value does.
    #[error("ends too early")]
    Short,
    /// Bytes are left over after the last value.
    #[error("has bytes left over")]
    Long,
    /// A tag, length or text that no version of this format writes.
    #[error("holds a value that is not known")]
    Unknown,
}

/// Appends values to a buffer.
#[derive(Debug, Default)]
pub struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    /// An empty buffer.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What was written.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// One byte.
    pub fn u8(&mut self, v: u8) -> &mut Self {
        self.bytes.push(v);
        self
    }

    /// Two bytes.
    pub fn u16(&mut self, v: u16) -> &mut Self {
        self.bytes.extend_from_slice(&v.to_le_bytes());
        self
    }

    /// Four bytes.
    pub fn u32(&mut self, v: u32) -> &mut Self {
        self.bytes.extend_from_slice(&v.to_le_bytes());
        self
    }

    /// Four bytes, signed.
    pub fn i32(&mut self, v: i32) -> &mut Self {
        self.bytes.extend_from_slice(&v.to_le_bytes());
        self
    }

    /// Eight bytes.
    pub fn u64(&mut self, v: u64) -> &mut Self {
        self.bytes.extend_from_slice(&v.to_le_bytes());
        self
    }

    /// A length and that many bytes.
    pub fn bytes(&mut self, v: &[u8]) -> &mut Self {
        self.u32(u32::try_from(v.len()).unwrap_or(u32::MAX));
        self.bytes.extend_from_slice(v);
        self
    }

    /// Text as UTF-8 bytes.
    pub fn text(&mut self, v: &str) -> &mut Self {
        self.bytes(v.as_bytes())
    }

    /// A count and that many byte strings.
    pub fn list<'a>(&mut self, items: impl ExactSizeIterator<Item = &'a [u8]>) -> &mut Self {
        self.u32(u32::try_from(items.len()).unwrap_or(u32::MAX));
        for item in items {
            self.bytes(item);
        }
        self
    }

    /// A present-or-absent mark, and the number if present.
    pub fn maybe_u64(&mut self, v: Option<u64>) -> &mut Self {
        match v {
            Some(v) => self.u8(1).u64(v),
            None => self.u8(0),
        }
    }
}

/// Takes values from the front of a buffer.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Reads from the start of `bytes`.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    fn take(&mut self, n: usize) -> Result<&'a [u8], DecodeError> {
        let (head, rest) = self.rest.split_at_checked(n).ok_or(DecodeError::Short)?;
        self.rest = rest;
        Ok(head)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        self.take(N)?.try_into().map_err(|_| DecodeError::Short)
    }

    /// One byte.
    pub fn u8(&mut self) -> Result<u8, DecodeError> {
        Ok(self.array::<1>()?[0])
    }

    /// Two bytes.
    pub fn u16(&mut self) -> Result<u16, DecodeError> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    /// Four bytes.
    pub fn u32(&mut self) -> Result<u32, DecodeError> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    /// Four bytes, signed.
    pub fn i32(&mut self) -> Result<i32, DecodeError> {
        Ok(i32::from_le_bytes(self.array()?))
    }

    /// Eight bytes.
    pub fn u64(&mut self) -> Result<u64, DecodeError> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// Sixteen raw bytes.
    pub fn sixteen(&mut self) -> Result<[u8; 16], DecodeError> {
        self.array()
    }

    /// A length and that many bytes.
    pub fn bytes(&mut self) -> Result<&'a [u8], DecodeError> {
        let len = self.u32()?;
        self.take(usize::try_from(len).map_err(|_| DecodeError::Short)?)
    }

    /// Text; bytes that are not UTF-8 are an error, since wharf never writes such text.
    pub fn text(&mut self) -> Result<String, DecodeError> {
        let bytes = self.bytes()?;
        String::from_utf8(bytes.to_vec()).map_err(|_| DecodeError::Unknown)
    }

    /// A count and that many byte strings.
    pub fn list(&mut self) -> Result<Vec<Vec<u8>>, DecodeError> {
        let count = self.u32()?;
        let mut items = Vec::new();
        for _ in 0..count {
            items.push(self.bytes()?.to_vec());
        }
        Ok(items)
    }

    /// A number that may be absent.
    pub fn maybe_u64(&mut self) -> Result<Option<u64>, DecodeError> {
        match self.u8()? {
            0 => Ok(None),
            1 => Ok(Some(self.u64()?)),
            _ => Err(DecodeError::Unknown),
        }
    }

    /// Text that records of earlier versions end without; absent means empty.
    pub fn late_text(&mut self) -> Result<String, DecodeError> {
        if self.rest.is_empty() { Ok(String::new()) } else { self.text() }
    }

    /// Ends the reading: nothing may be left.
    pub fn done(self) -> Result<(), DecodeError> {
        if self.rest.is_empty() { Ok(()) } else { Err(DecodeError::Long) }
    }
}
