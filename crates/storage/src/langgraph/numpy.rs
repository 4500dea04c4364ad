//! Arrays of numpy: shape and kind, and the numbers of small ones.

use superstep::Value;
use superstep::value::List;

use super::classes::of_class;
use super::msgpack;

/// Numbers of an array that are shown; of more only shape and kind.
const MAX_NUMBERS: usize = 1000;

/// Shows `[dtype, shape, order, buffer]`.
pub(super) fn shown(payload: &[u8]) -> Result<Value, String> {
    let parts = msgpack::items(payload)?;
    let [dtype, shape, order, buffer] = &parts[..] else {
        return Err("an array without its shape".to_owned());
    };
    let dtype = msgpack::text(dtype).ok_or("an array without its kind")?;
    let shape = msgpack::decode(shape)?;
    let buffer = bytes_of(buffer).ok_or("an array without its numbers")?;
    let mut entries = vec![
        ("dtype", Value::from(dtype)),
        ("shape", shape),
        ("order", msgpack::decode(order)?),
        ("length", Value::from(buffer.len())),
    ];
    if let Some(numbers) = numbers(dtype, buffer) {
        entries.push(("values", Value::Array(numbers)));
    }
    Ok(of_class("numpy.ndarray", entries))
}

fn bytes_of(encoded: &[u8]) -> Option<&[u8]> {
    let header = match encoded.first()? {
        0xc4 => 2,
        0xc5 => 3,
        0xc6 => 5,
        _ => return None,
    };
    encoded.get(header..)
}

/// Reads numbers in the order in which they are stored.
fn numbers(dtype: &str, buffer: &[u8]) -> Option<List> {
    let (order, kind) = dtype.split_at_checked(1)?;
    let size: usize = kind.get(1..)?.parse().ok()?;
    if size == 0 || size > 8 || buffer.len() / size > MAX_NUMBERS {
        return None;
    }
    let mut list = List::new();
    for item in buffer.chunks_exact(size) {
        let mut wide = [0; 8];
        // The number as an unsigned one, the most significant byte first.
        for (place, byte) in item.iter().enumerate() {
            let at = if order == ">" { size - 1 - place } else { place };
            wide[7 - at] = *byte;
        }
        let unsigned = u64::from_be_bytes(wide);
        let shift = 64 - 8 * u32::try_from(size).ok()?;
        list.push(match (kind.as_bytes()[0], size) {
            (b'b', 1) => (unsigned != 0).into(),
            (b'u', _) => unsigned.into(),
            (b'i', _) => ((unsigned << shift).cast_signed() >> shift).into(),
            (b'f', 8) => f64::from_bits(unsigned).into(),
            (b'f', 4) => f64::from(f32::from_bits(u32::try_from(unsigned).ok()?)).into(),
            _ => return None,
        });
    }
    Some(list)
}

#[cfg(test)]
mod tests {
    use superstep::json;

    use super::*;

    #[test]
    fn numbers_of_small_arrays_are_shown() {
        let list = |dtype: &str, bytes: &[u8]| numbers(dtype, bytes).map(Value::Array);
        assert_eq!(list("<i2", &[1, 0, 0xff, 0xff]), Some(json!([1, -1])));
        assert_eq!(list(">u2", &[0, 1, 1, 0]), Some(json!([1, 256])));
        assert_eq!(list("<f8", &1.5_f64.to_le_bytes()), Some(json!([1.5])));
        assert_eq!(list("<f4", &0.5_f32.to_le_bytes()), Some(json!([0.5])));
        assert_eq!(list("|b1", &[1, 0]), Some(json!([true, false])));
        for other in ["<c16", "<U3", "O", "", "é", "<i0"] {
            assert_eq!(list(other, &[0; 16]), None, "{other}");
        }
        assert_eq!(list("<i8", &[0; 8 * 1001]), None, "a large one is its shape");
    }
}
