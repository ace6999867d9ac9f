//! Writes fatbins: the container in which compilers embed PTX, as the registration functions take
//! it.
//!
//! The format is documented where it is read, in `commsan-ptx`; this writes one uncompressed image.

const MAGIC: u32 = 0xBA55_ED50;
const HEADER: usize = 16;
const IMAGE_HEADER: usize = 64;
const WRAPPER_MAGIC: u32 = 0x4662_43B1;
/// 64-bit code, for Linux.
const FLAGS: u64 = 0x11;

/// The argument of `__cudaRegisterFatBinary`.
#[derive(Debug)]
#[repr(C)]
pub struct Wrapper {
    magic: u32,
    version: u32,
    fatbin: *const u8,
    unused: usize,
}

impl Wrapper {
    /// The wrapper of a static fatbin.
    pub fn of(fatbin: &'static [u64]) -> Wrapper {
        Wrapper { magic: WRAPPER_MAGIC, version: 1, fatbin: fatbin.as_ptr().cast(), unused: 0 }
    }
}

/// A fatbin of one PTX text, in 8-byte words for alignment.
pub fn with_ptx(text: &str, architecture: u32, version: (u16, u16)) -> Vec<u64> {
    let payload = (text.len() + 1).next_multiple_of(8);
    let mut bytes = Vec::with_capacity(HEADER + IMAGE_HEADER + payload);
    let mut put = |field: &[u8]| bytes.extend_from_slice(field);
    put(&MAGIC.to_le_bytes());
    put(&1_u16.to_le_bytes());
    put(&(HEADER as u16).to_le_bytes());
    put(&((IMAGE_HEADER + payload) as u64).to_le_bytes());
    put(&1_u16.to_le_bytes()); // PTX
    put(&0x0101_u16.to_le_bytes());
    put(&(IMAGE_HEADER as u32).to_le_bytes());
    put(&(payload as u64).to_le_bytes());
    put(&[0; 8]); // not compressed; no options
    put(&version.1.to_le_bytes());
    put(&version.0.to_le_bytes());
    put(&architecture.to_le_bytes());
    put(&[0; 8]); // no name
    put(&FLAGS.to_le_bytes());
    put(&[0; 16]);
    put(text.as_bytes());
    bytes.resize(HEADER + IMAGE_HEADER + payload, 0);
    let words = bytes.chunks_exact(8);
    words.map(|word| u64::from_le_bytes(std::array::from_fn(|at| word[at]))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use commsan_ptx::fatbin;

    #[test]
    fn what_was_put_in_is_read() {
        let text = ".version 8.3\n.target sm_90\n.address_size 64\n";
        let words = with_ptx(text, 90, (8, 3)).leak();
        let wrapper = Wrapper::of(words);
        // SAFETY: a wrapper of a static fatbin.
        let found = unsafe { fatbin::embedded((&raw const wrapper).cast()) }.expect("a wrapper");
        let images = fatbin::read(found[0]).expect("a fatbin");
        assert_eq!(fatbin::ptx_for(&images, 90).expect("PTX").trim_end_matches('\0'), text);
    }
}
