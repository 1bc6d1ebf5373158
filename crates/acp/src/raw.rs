//! JSON that is read in parts and written back as it was.
//!
//! A message that passes through must keep what nobody here understands: unknown members, their order, numbers that no
//! machine type holds, members that are named twice. So an object is a list of members whose values are text, and only
//! the values that are replaced are ever written anew. Nothing here knows what a message means.
//!
//! Only the level that was opened is respaced when it is written back, and only there are names written in their
//! shortest form; every value below it keeps its bytes.

use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use std::borrow::Cow;
use std::fmt;

/// An object, one level deep.
#[derive(Debug, Clone, Default)]
pub(crate) struct RawObject<'a> {
    members: Vec<(String, Cow<'a, RawValue>)>,
}

impl<'a> RawObject<'a> {
    /// A text as an object; `None` if it is anything else.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// A value as an object; `None` if it is anything else.
    pub(crate) fn of(value: &'a RawValue) -> Option<Self> {
        Self::parse(value.get())
    }

    /// The value of a member. Of several with one name the last counts, as in almost every parser.
    pub(crate) fn get(&self, name: &str) -> Option<&RawValue> {
        let found = self.members.iter().rfind(|(member, _)| member == name);
        found.map(|(_, value)| value.as_ref())
    }

    /// A member as a type; `None` if it is missing or something else.
    pub(crate) fn read<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        read(self.get(name)?)
    }

    /// A member as an object; `None` if it is missing or something else.
    pub(crate) fn object(&self, name: &str) -> Option<RawObject<'_>> {
        RawObject::of(self.get(name)?)
    }

    /// Gives a member a value: in its place if there is one, else at the end.
    pub(crate) fn set(&mut self, name: &str, value: Box<RawValue>) {
        match self.members.iter_mut().rfind(|(member, _)| member == name) {
            Some((_, old)) => *old = Cow::Owned(value),
            None => self.members.push((name.to_owned(), Cow::Owned(value))),
        }
    }

    /// Takes every member of that name away.
    pub(crate) fn remove(&mut self, name: &str) {
        self.members.retain(|(member, _)| member != name);
    }

    /// The members in their order, duplicates included.
    pub(crate) fn members(&self) -> impl Iterator<Item = (&str, &RawValue)> {
        self.members.iter().map(|(name, value)| (name.as_str(), value.as_ref()))
    }

    /// The object as JSON: every value that was not set is byte for byte what was read.
    pub(crate) fn to_raw(&self) -> Box<RawValue> {
        let mut text = String::from("{");
        for (index, (name, value)) in self.members.iter().enumerate() {
            text.push_str(if index == 0 { "" } else { "," });
            text.push_str(raw(name).get());
            text.push(':');
            text.push_str(value.get());
        }
        text.push('}');
        assemble(text)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for RawObject<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = RawObject<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
                let mut members = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, &'de RawValue>()? {
                    members.push((name, Cow::Borrowed(value)));
                }
                Ok(RawObject { members })
            }
        }
        deserializer.deserialize_map(Members)
    }
}

/// The items of an array as they were written; `None` if it is anything else.
pub(crate) fn items(value: &RawValue) -> Option<Vec<&RawValue>> {
    serde_json::from_str(value.get()).ok()
}

/// Items as an array, each byte for byte.
pub(crate) fn array<'a>(items: impl IntoIterator<Item = &'a RawValue>) -> Box<RawValue> {
    let mut text = String::from("[");
    for (index, item) in items.into_iter().enumerate() {
        text.push_str(if index == 0 { "" } else { "," });
        text.push_str(item.get());
    }
    text.push(']');
    assemble(text)
}

/// Members as an object, in that order.
pub(crate) fn object<const N: usize>(members: [(&str, Box<RawValue>); N]) -> Box<RawValue> {
    let members = members.map(|(name, value)| (name.to_owned(), Cow::Owned(value)));
    RawObject { members: members.into() }.to_raw()
}

/// A value as a type; `None` if it is something else.
pub(crate) fn read<T: DeserializeOwned>(value: &RawValue) -> Option<T> {
    serde_json::from_str(value.get()).ok()
}

/// Anything as JSON. What cannot be written, a map with keys that are no text, becomes null.
pub(crate) fn raw(value: &(impl Serialize + ?Sized)) -> Box<RawValue> {
    to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// Text put together from JSON values. It is checked once more, because a wrong byte here would cost the connection.
fn assemble(text: String) -> Box<RawValue> {
    RawValue::from_string(text).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ODD: &str = r#"{ "id" : 123456789012345678901234567890 ,"a":1e400,
        "n\u0061me":"caf\u00e9\/", "a" : {"x" :[ 1 , 2]},"":null}"#;

    #[test]
    fn values_keep_their_bytes_and_members_their_order() {
        let object = RawObject::parse(ODD).unwrap();
        let written = object.to_raw();
        let expected = concat!(
            r#"{"id":123456789012345678901234567890,"a":1e400,"#,
            r#""name":"caf\u00e9\/","a":{"x" :[ 1 , 2]},"":null}"#
        );
        assert_eq!(written.get(), expected);
    }

    #[test]
    fn of_members_with_one_name_the_last_is_read_and_replaced() {
        let mut object = RawObject::parse(r#"{"a":1,"b":2,"a":3}"#).unwrap();
        assert_eq!(object.read::<u8>("a"), Some(3));
        object.set("a", raw("new"));
        object.set("c", raw(&[true]));
        assert_eq!(object.to_raw().get(), r#"{"a":1,"b":2,"a":"new","c":[true]}"#);
        object.remove("a");
        assert_eq!(object.to_raw().get(), r#"{"b":2,"c":[true]}"#);
        assert!(object.get("a").is_none());
    }

    #[test]
    fn only_an_object_is_an_object_and_only_an_array_an_array() {
        for text in ["", "null", "[]", "1", "\"{}\"", "{", "{}}", "{\"a\":}", "{\"a\":1,}"] {
            assert!(RawObject::parse(text).is_none(), "{text}");
        }
        assert!(items(RawObject::default().to_raw().as_ref()).is_none());
        assert_eq!(RawObject::parse(" {} ").unwrap().members().count(), 0);
    }

    #[test]
    fn nested_values_are_opened_one_level_at_a_time() {
        let object = RawObject::parse(r#"{"a":{"b":[ {"c" : 1}, 2.50 ]},"s":"t"}"#).unwrap();
        let inner = object.object("a").unwrap();
        let list = items(inner.get("b").unwrap()).unwrap();
        assert_eq!(array(list).get(), r#"[{"c" : 1},2.50]"#);
        assert!(object.object("s").is_none() && object.object("none").is_none());
        assert_eq!(object.read::<String>("s").as_deref(), Some("t"));
    }

    proptest! {
        #[test]
        fn any_text_is_refused_or_comes_back_with_the_same_meaning(text in "[\\[\\]{}:,\"a0 \\\\u-]{0,24}") {
            if let Some(object) = RawObject::parse(&text) {
                let before: serde_json::Value = serde_json::from_str(&text).unwrap();
                let after: serde_json::Value = read(&object.to_raw()).unwrap();
                prop_assert_eq!(before, after);
            }
        }
    }
}
