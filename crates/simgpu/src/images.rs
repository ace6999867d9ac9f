//! CUDA arrays, texture objects and surface objects.
//!
//! The texels of an array lie row after row, without gaps, in memory of its device that the program
//! has no address of. Destroyed objects stay valid while anything is pending: kernels that begin
//! later may have been launched before.

use crate::abi::{ChannelFormatDesc, Extent, ResourceDesc, TextureDesc};
use crate::copy::{self, Place};
use crate::error::{Error, Result};
use commsan_simt::{Channel, Surface, Texels, Texture};
use rustc_hash::FxHashMap;
use std::ffi::c_int;
use std::sync::Arc;

/// A CUDA array.
#[derive(Clone, Debug)]
pub struct Array {
    /// Address of its texels.
    pub start: usize,
    /// Its device.
    pub device: usize,
    /// The format of its texels.
    pub format: ChannelFormatDesc,
    /// Its extent as the program gave it: 0 for a dimension that it lacks.
    pub extent: Extent,
    /// Its flags.
    pub flags: u32,
    /// Size of a texel, in bytes.
    pub element: usize,
}

/// An object, and the descriptors that it was created from.
#[derive(Clone, Debug)]
struct Object<T> {
    shown: Arc<T>,
    resource: ResourceDesc,
    sampling: Option<TextureDesc>,
    destroyed: bool,
}

/// All arrays and objects, by handle.
#[derive(Debug, Default)]
pub struct Images {
    arrays: FxHashMap<usize, Array>,
    textures: FxHashMap<u64, Object<Texture>>,
    surfaces: FxHashMap<u64, Object<Surface>>,
}

/// Texels of a format at an address, with the number of them in each dimension and the distances of
/// rows and slices.
pub fn texels(
    format: &ChannelFormatDesc,
    start: usize,
    extent: [usize; 3],
    pitch: usize,
    slice: usize,
) -> Result<Texels> {
    let (channels, width) = format.channels().ok_or(Error::INVALID_CHANNEL_DESCRIPTOR)?;
    Ok(Texels {
        start: start as u64,
        extent: extent.map(|size| size.max(1) as u64),
        pitch: pitch as u64,
        slice: slice as u64,
        channels: channels as u64,
        width: width as u64,
        kind: kind(format.f)?,
    })
}

/// The channel type of a `cudaChannelFormatKind`.
fn kind(kind: c_int) -> Result<Channel> {
    match kind {
        0 => Ok(Channel::Signed),
        1 => Ok(Channel::Unsigned),
        2 => Ok(Channel::Float),
        _ => Err(Error::INVALID_CHANNEL_DESCRIPTOR),
    }
}

/// Size of a texel of a format, in bytes.
pub fn element(format: &ChannelFormatDesc) -> Result<usize> {
    let (channels, width) = format.channels().ok_or(Error::INVALID_CHANNEL_DESCRIPTOR)?;
    kind(format.f)?;
    match (format.f, width) {
        (2, 1) => Err(Error::INVALID_CHANNEL_DESCRIPTOR),
        _ => Ok(channels * width),
    }
}

impl Array {
    /// Number of texels in each dimension, at least 1.
    pub fn sizes(&self) -> [usize; 3] {
        let Extent { width, height, depth } = self.extent;
        [width, height.max(1), depth.max(1)]
    }

    /// Distance between rows, in bytes.
    pub fn pitch(&self) -> usize {
        self.extent.width * self.element
    }

    /// Distance between slices, in bytes.
    pub fn slice(&self) -> usize {
        self.pitch() * self.sizes()[1]
    }

    /// The array's texels.
    pub fn texels(&self) -> Result<Texels> {
        texels(&self.format, self.start, self.sizes(), self.pitch(), self.slice())
    }

    /// The box of an extent that begins at x bytes in row y of slice z.
    pub fn place(&self, [x, y, z]: [usize; 3], extent: copy::Extent) -> Result<Place> {
        let [_, height, depth] = self.sizes();
        let fits = |at: usize, size: usize, room: usize| {
            at.checked_add(size).is_some_and(|end| end <= room)
        };
        let inside = fits(x, extent.width, self.pitch())
            && fits(y, extent.height, height)
            && fits(z, extent.depth, depth);
        if !inside {
            return Err(Error::INVALID_VALUE);
        }
        let start = self.start + x + y * self.pitch() + z * self.slice();
        Ok(Place { start, pitch: self.pitch(), slice: self.slice() })
    }
}

impl Images {
    /// Adds an array.
    pub fn add_array(&mut self, handle: usize, array: Array) {
        self.arrays.insert(handle, array);
    }

    /// The array of a handle.
    pub fn array(&self, handle: usize) -> Result<&Array> {
        self.arrays.get(&handle).ok_or(Error::INVALID_RESOURCE_HANDLE)
    }

    /// Removes an array.
    pub fn remove_array(&mut self, handle: usize) -> Option<Array> {
        self.arrays.remove(&handle)
    }

    /// Removes all arrays of a device, whose memory is gone.
    pub fn forget_device(&mut self, device: usize) {
        self.arrays.retain(|_, array| array.device != device);
    }

    /// Adds a texture.
    pub fn add_texture(
        &mut self,
        handle: u64,
        texture: Texture,
        resource: ResourceDesc,
        sampling: TextureDesc,
    ) {
        let (shown, sampling) = (Arc::new(texture), Some(sampling));
        self.textures.insert(handle, Object { shown, resource, sampling, destroyed: false });
    }

    /// Adds a surface.
    pub fn add_surface(&mut self, handle: u64, surface: Surface, resource: ResourceDesc) {
        let shown = Arc::new(surface);
        self.surfaces.insert(handle, Object { shown, resource, sampling: None, destroyed: false });
    }

    /// The texture of a handle, as kernels see it.
    pub fn texture(&self, handle: u64) -> Option<Arc<Texture>> {
        Some(Arc::clone(&self.textures.get(&handle)?.shown))
    }

    /// The surface of a handle, as kernels see it.
    pub fn surface(&self, handle: u64) -> Option<Arc<Surface>> {
        Some(Arc::clone(&self.surfaces.get(&handle)?.shown))
    }

    /// The descriptors that a texture was created from.
    pub fn made_of(&self, handle: u64) -> Result<(ResourceDesc, TextureDesc)> {
        let made = self.textures.get(&handle).filter(|object| !object.destroyed);
        let made = made.and_then(|object| Some((object.resource, object.sampling?)));
        made.ok_or(Error::INVALID_VALUE)
    }

    /// The descriptor that a surface was created from.
    pub fn surface_made_of(&self, handle: u64) -> Result<ResourceDesc> {
        let made = self.surfaces.get(&handle).filter(|object| !object.destroyed);
        made.map(|object| object.resource).ok_or(Error::INVALID_VALUE)
    }

    /// Destroys a texture or a surface; destroyed objects are dropped once nothing is `pending`.
    pub fn destroy(&mut self, handle: u64, texture: bool, pending: bool) {
        fn destroy<T>(objects: &mut FxHashMap<u64, Object<T>>, handle: u64, pending: bool) {
            if let Some(object) = objects.get_mut(&handle) {
                object.destroyed = true;
            }
            if !pending {
                objects.retain(|_, object| !object.destroyed);
            }
        }
        match texture {
            true => destroy(&mut self.textures, handle, pending),
            false => destroy(&mut self.surfaces, handle, pending),
        }
    }
}
