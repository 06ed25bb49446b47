//! Knows that a result may be impossible, and how that is written: `{"not_computed": "<reason>"}`.
//! Must not know any statistic.
//! Start at `Computed`.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{DeserializeSeed, Error, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

const REASON_KEY: &str = "not_computed";

/// Says why a result does not exist, as a lower-case fragment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotComputed(pub String);

impl NotComputed {
    /// Makes a reason.
    pub fn because(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

impl fmt::Display for NotComputed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Passes on a number that JSON can hold.
///
/// # Errors
/// An infinity or NaN, which finite scores give only beyond the range of floating point.
pub fn finite(value: f64) -> Result<f64, NotComputed> {
    if value.is_finite() {
        Ok(value)
    } else {
        Err(NotComputed::because(
            "the scores are too large for floating point",
        ))
    }
}

/// Holds a result, or the reason why there is none. JSON: the result itself, or `{"not_computed": "<reason>"}`.
#[derive(Debug, Clone, PartialEq)]
pub enum Computed<T> {
    /// The result.
    Value(T),
    /// Why it cannot exist.
    NotComputed(NotComputed),
}

impl<T> Computed<T> {
    /// Makes the absent result with its reason.
    pub fn absent(reason: impl Into<String>) -> Self {
        Self::NotComputed(NotComputed::because(reason))
    }

    /// Gives the result, if there is one.
    pub fn value(&self) -> Option<&T> {
        match self {
            Self::Value(value) => Some(value),
            Self::NotComputed(_) => None,
        }
    }

    /// Gives the reason why there is no result, if there is none.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Value(_) => None,
            Self::NotComputed(reason) => Some(&reason.0),
        }
    }

    /// Applies a function to the result, and keeps the reason otherwise.
    pub fn map<U>(self, function: impl FnOnce(T) -> U) -> Computed<U> {
        match self {
            Self::Value(value) => Computed::Value(function(value)),
            Self::NotComputed(reason) => Computed::NotComputed(reason),
        }
    }

    /// Borrows the result, or copies the reason, for use with `?`.
    ///
    /// # Errors
    /// The reason why there is no result.
    pub fn as_result(&self) -> Result<&T, NotComputed> {
        match self {
            Self::Value(value) => Ok(value),
            Self::NotComputed(reason) => Err(reason.clone()),
        }
    }
}

impl<T> From<Result<T, NotComputed>> for Computed<T> {
    fn from(result: Result<T, NotComputed>) -> Self {
        match result {
            Ok(value) => Self::Value(value),
            Err(reason) => Self::NotComputed(reason),
        }
    }
}

impl<T: Serialize> Serialize for Computed<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Value(value) => value.serialize(serializer),
            Self::NotComputed(reason) => {
                let mut map = serializer.serialize_map(Some(1))?;
                map.serialize_entry(REASON_KEY, &reason.0)?;
                map.end()
            }
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Computed<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ComputedVisitor(PhantomData))
    }
}

struct ComputedVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ComputedVisitor<T> {
    type Value = Computed<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a result or {\"not_computed\": reason}")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Self::Value, E> {
        T::deserialize(value.into_deserializer()).map(Computed::Value)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Self::Value, E> {
        T::deserialize(value.into_deserializer()).map(Computed::Value)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Self::Value, E> {
        T::deserialize(value.into_deserializer()).map(Computed::Value)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Self::Value, E> {
        T::deserialize(value.into_deserializer()).map(Computed::Value)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Self::Value, E> {
        T::deserialize(value.into_deserializer()).map(Computed::Value)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, access: A) -> Result<Self::Value, A::Error> {
        T::deserialize(SeqAccessDeserializer::new(access)).map(Computed::Value)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let first: Option<String> = access.next_key()?;
        if first.as_deref() == Some(REASON_KEY) {
            let reason: String = access.next_value()?;
            return match access.next_key::<String>()? {
                None => Ok(Computed::absent(reason)),
                Some(key) => Err(A::Error::custom(format!("{key} beside {REASON_KEY}"))),
            };
        }
        let whole = FirstKeyAgain { first, access };
        T::deserialize(MapAccessDeserializer::new(whole)).map(Computed::Value)
    }
}

/// Hands out a key that was already read, then the rest of the map.
struct FirstKeyAgain<A> {
    first: Option<String>,
    access: A,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for FirstKeyAgain<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Self::Error> {
        match self.first.take() {
            Some(key) => seed.deserialize(key.into_deserializer()).map(Some),
            None => self.access.next_key_seed(seed),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, Self::Error> {
        self.access.next_value_seed(seed)
    }
}

#[cfg(test)]
mod tests {
    use super::Computed;
    use crate::estimate::PValue;

    #[test]
    fn a_reason_and_a_value_survive_json() {
        let absent: Computed<f64> = Computed::absent("one method only");
        let text = serde_json::to_string(&absent).unwrap();
        assert_eq!(text, r#"{"not_computed":"one method only"}"#);
        assert_eq!(
            serde_json::from_str::<Computed<f64>>(&text).unwrap(),
            absent
        );
        let number: Computed<f64> = Computed::Value(0.25);
        let text = serde_json::to_string(&number).unwrap();
        assert_eq!(text, "0.25");
        assert_eq!(
            serde_json::from_str::<Computed<f64>>(&text).unwrap(),
            number
        );
        let p = Computed::Value(PValue::exact(3, 924));
        let text = serde_json::to_string(&p).unwrap();
        assert_eq!(serde_json::from_str::<Computed<PValue>>(&text).unwrap(), p);
    }
}
