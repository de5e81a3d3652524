//! Messages of D-Bus, as far as a name's owner needs them ("D-Bus Specification", message
//! protocol).

use std::io;

pub(super) const NOT_A_MESSAGE: &str = "it does not speak D-Bus";

/// No message that was asked for is longer; the limit of D-Bus itself is 128 MiB.
const MESSAGE_BYTES: usize = 1 << 20;
const FIXED_BYTES: usize = 16;

/// Codes of header fields.
const PATH: u8 = 1;
const INTERFACE: u8 = 2;
const MEMBER: u8 = 3;
const REPLY_SERIAL: u8 = 5;
const DESTINATION: u8 = 6;
const SIGNATURE: u8 = 8;

/// What a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Reply,
    Error,
    Signal,
    Other,
}

/// A message of the bus.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) kind: Kind,
    pub(super) member: String,
    /// Serial of the call that it answers.
    pub(super) reply_to: Option<u32>,
    is_little: bool,
    body: Vec<u8>,
}

/// A call of a method of the bus itself, with one text or nothing.
pub(super) fn call(serial: u32, member: &str, argument: Option<&str>) -> Vec<u8> {
    let mut body = Vec::new();
    if let Some(argument) = argument {
        put_text(&mut body, argument);
    }
    let mut bytes = vec![b'l', 1, 0, 1];
    bytes.extend(length(&body));
    bytes.extend(serial.to_le_bytes());
    let mut fields = Vec::new();
    put_field(&mut fields, PATH, b'o', "/org/freedesktop/DBus");
    put_field(&mut fields, INTERFACE, b's', "org.freedesktop.DBus");
    put_field(&mut fields, MEMBER, b's', member);
    put_field(&mut fields, DESTINATION, b's', "org.freedesktop.DBus");
    if argument.is_some() {
        pad(&mut fields, 8);
        fields.extend([SIGNATURE, 1, b'g', 0, 1, b's', 0]);
    }
    bytes.extend(length(&fields));
    bytes.extend(fields);
    pad(&mut bytes, 8);
    bytes.extend(body);
    bytes
}

fn put_field(fields: &mut Vec<u8>, code: u8, kind: u8, value: &str) {
    // The fields begin at byte 16, so what is aligned in them is aligned in the message.
    pad(fields, 8);
    fields.extend([code, 1, kind, 0]);
    put_text(fields, value);
}

fn put_text(bytes: &mut Vec<u8>, text: &str) {
    pad(bytes, 4);
    bytes.extend(length(text.as_bytes()));
    bytes.extend(text.as_bytes());
    bytes.push(0);
}

fn pad(bytes: &mut Vec<u8>, alignment: usize) {
    bytes.resize(bytes.len().next_multiple_of(alignment), 0);
}

fn length(bytes: &[u8]) -> [u8; 4] {
    u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes()
}

impl Message {
    /// Takes the first message from the bytes that were read; `None` if it is not whole yet.
    ///
    /// # Errors
    ///
    /// If they are no message.
    pub(super) fn take(bytes: &mut Vec<u8>) -> io::Result<Option<Self>> {
        let wrong = || io::Error::other(NOT_A_MESSAGE);
        let Some(fixed) = bytes.first_chunk::<FIXED_BYTES>() else {
            return Ok(None);
        };
        let is_little = match fixed[0] {
            b'l' => true,
            b'B' => false,
            _ => return Err(wrong()),
        };
        let number = |at| Reader::new(fixed, is_little).at(at).number();
        let body_bytes = number(4).ok_or_else(wrong)?;
        let field_bytes = number(12).ok_or_else(wrong)?;
        let (body_bytes, field_bytes) = (size(body_bytes), size(field_bytes));
        if body_bytes > MESSAGE_BYTES || field_bytes > MESSAGE_BYTES {
            return Err(wrong());
        }
        let body_start = (FIXED_BYTES + field_bytes).next_multiple_of(8);
        if bytes.len() < body_start + body_bytes {
            return Ok(None);
        }
        let kind = match fixed[1] {
            2 => Kind::Reply,
            3 => Kind::Error,
            4 => Kind::Signal,
            _ => Kind::Other,
        };
        let whole: Vec<u8> = bytes.drain(..body_start + body_bytes).collect();
        let fields = whole.get(..FIXED_BYTES + field_bytes).ok_or_else(wrong)?;
        let mut message = Self {
            kind,
            member: String::new(),
            reply_to: None,
            is_little,
            body: whole.get(body_start..).unwrap_or_default().to_vec(),
        };
        message.read_fields(fields).ok_or_else(wrong)?;
        Ok(Some(message))
    }

    fn read_fields(&mut self, bytes: &[u8]) -> Option<()> {
        let mut reader = Reader::new(bytes, self.is_little).at(FIXED_BYTES);
        loop {
            reader.align(8);
            if reader.is_at_end() {
                return Some(());
            }
            let code = reader.byte()?;
            // A variant: its signature, here always of one letter, then its value.
            let (len, kind, _end) = (reader.byte()?, reader.byte()?, reader.byte()?);
            match (len, kind) {
                (1, b's' | b'o') => {
                    let text = reader.text()?;
                    if code == MEMBER {
                        self.member = text;
                    }
                }
                (1, b'u') => {
                    let number = reader.number()?;
                    if code == REPLY_SERIAL {
                        self.reply_to = Some(number);
                    }
                }
                (1, b'g') => {
                    let len = usize::from(reader.byte()?);
                    reader.skip(len + 1);
                }
                _ => return None,
            }
        }
    }

    /// The texts that the body begins with.
    pub(super) fn texts(&self) -> Vec<String> {
        let mut reader = Reader::new(&self.body, self.is_little);
        std::iter::from_fn(|| reader.text()).collect()
    }

    /// The yes or no that the body is.
    pub(super) fn flag(&self) -> Option<bool> {
        let number = Reader::new(&self.body, self.is_little).number()?;
        Some(number != 0)
    }
}

/// Values one after the other.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    is_little: bool,
}

impl<'a> Reader<'a> {
    fn new(bytes: &'a [u8], is_little: bool) -> Self {
        Self {
            bytes,
            at: 0,
            is_little,
        }
    }

    fn at(mut self, at: usize) -> Self {
        self.at = at;
        self
    }

    fn is_at_end(&self) -> bool {
        self.at >= self.bytes.len()
    }

    fn align(&mut self, alignment: usize) {
        self.at = self.at.next_multiple_of(alignment);
    }

    fn skip(&mut self, len: usize) {
        self.at = self.at.saturating_add(len);
    }

    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let taken = self.bytes.get(self.at..self.at.checked_add(len)?)?;
        self.at += len;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    fn number(&mut self) -> Option<u32> {
        self.align(4);
        let bytes: [u8; 4] = self.take(4)?.try_into().ok()?;
        let little = u32::from_le_bytes(bytes);
        Some(if self.is_little {
            little
        } else {
            little.swap_bytes()
        })
    }

    fn text(&mut self) -> Option<String> {
        let len = size(self.number()?);
        let text = String::from_utf8(self.take(len)?.to_vec()).ok()?;
        self.skip(1);
        Some(text)
    }
}

fn size(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A signal of three texts.
    fn signal() -> Vec<u8> {
        let mut body = Vec::new();
        for text in ["org.example.App", "", ":1.7"] {
            put_text(&mut body, text);
        }
        let mut fields = Vec::new();
        put_field(&mut fields, MEMBER, b's', "NameOwnerChanged");
        pad(&mut fields, 8);
        fields.extend([REPLY_SERIAL, 1, b'u', 0, 3, 0, 0, 0]);
        pad(&mut fields, 8);
        fields.extend([SIGNATURE, 1, b'g', 0, 3, b's', b's', b's', 0]);
        let mut bytes = vec![b'l', 4, 1, 1];
        bytes.extend(length(&body));
        bytes.extend([9, 0, 0, 0]);
        bytes.extend(length(&fields));
        bytes.extend(fields);
        pad(&mut bytes, 8);
        bytes.extend(body);
        bytes
    }

    #[test]
    fn messages_are_taken_when_they_are_whole() {
        let whole = signal();
        for len in 0..whole.len() {
            let mut bytes = whole[..len].to_vec();
            assert!(Message::take(&mut bytes).unwrap().is_none(), "{len}");
            assert_eq!(bytes.len(), len);
        }
        let mut bytes = [&whole[..], &whole[..5]].concat();
        let message = Message::take(&mut bytes).unwrap().unwrap();
        assert_eq!((message.kind, message.reply_to), (Kind::Signal, Some(3)));
        assert_eq!(message.member, "NameOwnerChanged");
        assert_eq!(message.texts(), ["org.example.App", "", ":1.7"]);
        assert_eq!(bytes.len(), 5);
    }

    #[test]
    fn a_call_is_a_message() {
        for argument in [None, Some("a"), Some("org.example.App")] {
            let mut bytes = call(3, "NameHasOwner", argument);
            let message = Message::take(&mut bytes).unwrap().unwrap();
            assert_eq!((message.kind, bytes.len()), (Kind::Other, 0));
            assert_eq!(message.member, "NameHasOwner");
            assert_eq!(message.texts(), argument.into_iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn any_bytes_are_a_message_or_none() {
        let whole = signal();
        for at in 0..whole.len() {
            for value in [0, 1, 0x7f, 0xff, b'B'] {
                let mut bytes = whole.clone();
                bytes[at] = value;
                if let Ok(Some(message)) = Message::take(&mut bytes) {
                    let _ = (message.texts(), message.flag());
                }
            }
        }
        assert!(Message::take(&mut b"HTTP/1.1 400 Bad Request".to_vec()).is_err());
    }
}
