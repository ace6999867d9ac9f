//! Texture and surface objects.

use crate::abi::{ChannelFormatDesc, ResourceDesc, TextureDesc};
use crate::api::entry::{In, Out, unsupported};
use crate::device::limits::{TEXTURE_ALIGNMENT, TEXTURE_LINEAR};
use crate::error::{Error, Result};
use crate::images::{element, texels};
use crate::runtime::{Session, State};
use commsan_simt::{Channel, Outside, Surface, Texels, Texture};
use std::ffi::{c_int, c_void};

/// Values of `cudaResourceType`.
const ARRAY: c_int = 0;
const LINEAR: c_int = 2;
const PITCHED: c_int = 3;

calls! {
    fn cudaCreateTextureObject in (session)(
        object: Out<u64>,
        resource: In<ResourceDesc>,
        sampling: In<TextureDesc>,
        view: In<c_void>,
    ) {
        session.current()?;
        let (resource, sampling) = (resource.get()?, sampling.get()?);
        if !view.is_null() || sampling.sRGB != 0 {
            unsupported("a texture object with a resource view or of sRGB");
            return Err(Error::NOT_SUPPORTED);
        }
        let texture = texture(session, &resource, &sampling)?;
        let handle = session.new_handle() as u64;
        object.put(handle)?;
        session.images.add_texture(handle, texture, resource, sampling);
        Ok(())
    }

    fn cudaDestroyTextureObject in (session)(object: u64) {
        destroy(session, object, true)
    }

    fn cudaGetTextureObjectResourceDesc in (session)(resource: Out<ResourceDesc>, object: u64) {
        resource.put(session.images.made_of(object)?.0)
    }

    fn cudaGetTextureObjectTextureDesc in (session)(sampling: Out<TextureDesc>, object: u64) {
        sampling.put(session.images.made_of(object)?.1)
    }

    fn cudaCreateSurfaceObject in (session)(object: Out<u64>, resource: In<ResourceDesc>) {
        session.current()?;
        let resource = resource.get()?;
        if resource.resType != ARRAY {
            return Err(Error::INVALID_VALUE);
        }
        // Hardware takes arrays that were made without `cudaArraySurfaceLoadStore`, too.
        let array = session.images.array(resource.res[0])?;
        let surface = Surface { texels: array.texels()? };
        let handle = session.new_handle() as u64;
        object.put(handle)?;
        session.images.add_surface(handle, surface, resource);
        Ok(())
    }

    fn cudaDestroySurfaceObject in (session)(object: u64) {
        destroy(session, object, false)
    }

    fn cudaGetSurfaceObjectResourceDesc in (session)(resource: Out<ResourceDesc>, object: u64) {
        resource.put(session.images.surface_made_of(object)?)
    }

    fn cudaDeviceGetTexture1DLinearMaxWidth in (session)(
        width: Out<usize>,
        format: In<ChannelFormatDesc>,
        device: c_int,
    ) {
        session.device_number(device)?;
        element(&format.get()?)?;
        width.put(TEXTURE_LINEAR)
    }
}

fn destroy(session: &mut Session, object: u64, texture: bool) -> Result {
    session.current()?;
    let pending = !session.order.is_idle();
    session.images.destroy(object, texture, pending);
    Ok(())
}

/// The address mode of a `cudaTextureAddressMode`.
fn outside(mode: c_int, relative: bool) -> Result<Outside> {
    match mode {
        0 if relative => Ok(Outside::Repeated),
        2 if relative => Ok(Outside::Mirrored),
        // Without normalised coordinates, wrap and mirror act like clamp.
        0..=2 => Ok(Outside::Nearest),
        3 => Ok(Outside::Border),
        _ => Err(Error::INVALID_VALUE),
    }
}

fn texture(state: &State, resource: &ResourceDesc, sampling: &TextureDesc) -> Result<Texture> {
    let (linear, normalised) = match (sampling.filterMode, sampling.readMode) {
        (filter @ 0..=1, read @ 0..=1) => (filter == 1, read == 1),
        _ => return Err(Error::INVALID_VALUE),
    };
    let relative = sampling.normalizedCoords != 0;
    let modes = sampling.addressMode;
    let mut texture = Texture {
        texels: memory(state, resource)?,
        outside: [Outside::Nearest; 3],
        border: sampling.borderColor,
        linear,
        normalised,
        relative,
    };
    for (to, mode) in texture.outside.iter_mut().zip(modes) {
        *to = outside(mode, relative)?;
    }
    let Texels { kind, width, .. } = texture.texels;
    if normalised && kind != Channel::Float && width == 4 {
        return Err(Error::INVALID_NORM_SETTING);
    }
    if linear && !normalised && kind != Channel::Float {
        return Err(Error::INVALID_FILTER_SETTING);
    }
    if resource.resType == LINEAR {
        if linear || relative {
            return Err(Error::INVALID_VALUE);
        }
        // Linear memory reads zero outside, whatever the mode.
        (texture.outside, texture.border) = ([Outside::Border; 3], [0.0; 4]);
    }
    Ok(texture)
}

/// The texels of a resource.
fn memory(state: &State, resource: &ResourceDesc) -> Result<Texels> {
    let res = resource.res;
    let halves = |word: usize| [word as u32 as c_int, (word >> 32) as c_int];
    let ([x, y], [z, w], [f, _]) = (halves(res[1]), halves(res[2]), halves(res[3]));
    let format = ChannelFormatDesc { x, y, z, w, f };
    let (extent, pitch) = match resource.resType {
        ARRAY => return state.images.array(res[0])?.texels(),
        LINEAR => ([res[4] / element(&format)?, 1, 1], 0),
        PITCHED => ([res[4], res[5], 1], res[6]),
        _ => {
            unsupported("a texture object of a mipmapped array");
            return Err(Error::NOT_SUPPORTED);
        }
    };
    let row = extent[0].checked_mul(element(&format)?).ok_or(Error::INVALID_VALUE)?;
    let rows = pitch.checked_mul(extent[1].saturating_sub(1));
    let size = rows.and_then(|rows| rows.checked_add(row)).ok_or(Error::INVALID_VALUE)?;
    // The beginning of an allocation satisfies the hardware's alignment.
    let begins = state.memory.find(res[0]).is_some_and(|found| found.range.start == res[0]);
    let fits = begins || res[0].is_multiple_of(TEXTURE_ALIGNMENT);
    let fits = fits && res[0] != 0 && size != 0;
    let fits = fits && (extent[1] == 1 || pitch >= row);
    if !fits || !state.memory.is_whole(res[0], size) {
        return Err(Error::INVALID_VALUE);
    }
    texels(&format, res[0], extent, pitch, 0)
}
