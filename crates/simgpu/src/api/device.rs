//! Device management: enumeration, the current device, attributes and limits.

use crate::abi::{DeviceProp12, DeviceProp13};
use crate::api::entry::{In, Out, unsupported};
use crate::device::{self, attribute, limits};
use crate::error::{Error, Result};
use crate::memory::Kind;
use crate::runtime::Session;
use crate::thread;
use std::ffi::{c_char, c_int, c_uint};

/// The supported flags, `cudaDeviceMask`.
const FLAGS: c_uint = 0xff;

/// The versions that the runtimes report.
const VERSION_12: c_int = 12090;
const VERSION_13: c_int = 13050;

calls! {
    fn cudaGetDeviceCount in (session)(count: Out<c_int>) {
        let devices = session.devices.len();
        count.put(devices as c_int)?;
        if devices == 0 { Err(Error::NO_DEVICE) } else { Ok(()) }
    }

    fn cudaSetDevice in (session)(device: c_int) {
        let device = session.device_number(device)?;
        thread::set_device(device);
        session.usable(device)
    }

    fn cudaInitDevice in (session)(device: c_int, _device_flags: c_uint, _flags: c_uint) {
        let device = session.device_number(device)?;
        session.usable(device)
    }

    fn cudaGetDevice in (session)(device: Out<c_int>) {
        if session.devices.is_empty() {
            return Err(Error::NO_DEVICE);
        }
        device.put(thread::device() as c_int)
    }

    fn cudaChooseDevice in (session)(device: Out<c_int>, _properties: usize) {
        // All devices are alike.
        session.device_number(0)?;
        device.put(0)
    }

    fn cudaSetValidDevices in (session)(devices: In<c_int>, count: c_int) {
        let count = usize::try_from(count).map_err(|_| Error::INVALID_VALUE)?;
        for device in devices.all(count)? {
            session.device_number(device)?;
        }
        Ok(())
    }

    fn cudaSetDeviceFlags in (session)(flags: c_uint) {
        let device = session.current()?;
        if flags & !FLAGS != 0 {
            return Err(Error::INVALID_VALUE);
        }
        session.devices[device].flags = flags;
        Ok(())
    }

    fn cudaGetDeviceFlags in (session)(flags: Out<c_uint>) {
        let device = session.current()?;
        flags.put(session.devices[device].flags)
    }

    fn cudaDeviceGetAttribute in (session)(value: Out<c_int>, number: c_uint, device: c_int) {
        let device = session.device_number(device)?;
        value.put(attribute(number, device)?)
    }

    fn cudaGetDeviceProperties_v2 in (session)(properties: Out<DeviceProp12>, device: c_int) {
        properties.put(properties_12(session.device_number(device)?)?)
    }

    fn commsan_13_cudaGetDeviceProperties in (session)(
        properties: Out<DeviceProp13>,
        device: c_int,
    ) {
        properties.put(properties_13(session.device_number(device)?)?)
    }

    fn cudaDeviceSynchronize in (session)() {
        session.forbid_unsafe()?;
        let device = session.current()?;
        session.wait_for_device(device)
    }

    fn cudaThreadSynchronize in (session)() {
        session.forbid_unsafe()?;
        let device = session.current()?;
        session.wait_for_device(device)
    }

    fn cudaDeviceReset in (session)() {
        reset(session)
    }

    fn cudaThreadExit in (session)() {
        reset(session)
    }

    fn cudaDeviceGetLimit in (session)(value: Out<usize>, limit: c_uint) {
        let device = session.current()?;
        value.put(session.devices[device].limit(limit)?)
    }

    fn cudaDeviceSetLimit in (session)(limit: c_uint, value: usize) {
        let device = session.current()?;
        session.devices[device].set_limit(limit, value)
    }

    fn cudaDeviceGetCacheConfig in (session)(config: Out<c_int>) {
        session.current()?;
        config.put(0)
    }

    fn cudaDeviceSetCacheConfig in (session)(config: c_int) {
        session.current()?;
        if (0..=3).contains(&config) { Ok(()) } else { Err(Error::INVALID_VALUE) }
    }

    fn cudaDeviceGetSharedMemConfig in (session)(config: Out<c_int>) {
        session.current()?;
        config.put(1)
    }

    fn cudaDeviceSetSharedMemConfig in (session)(config: c_int) {
        session.current()?;
        if (0..=2).contains(&config) { Ok(()) } else { Err(Error::INVALID_VALUE) }
    }

    fn cudaDeviceGetStreamPriorityRange in (session)(least: Out<c_int>, greatest: Out<c_int>) {
        session.current()?;
        greatest.put_if_wanted(limits::PRIORITIES.0);
        least.put_if_wanted(limits::PRIORITIES.1);
        Ok(())
    }

    fn cudaDeviceGetPCIBusId in (session)(text: Out<c_char>, length: c_int, device: c_int) {
        let id = bus_id(session.device_number(device)?);
        if text.is_null() || usize::try_from(length).is_ok_and(|length| length <= id.len()) {
            return Err(Error::INVALID_VALUE);
        }
        text.put_all(id.bytes().chain([0]).map(|byte| byte as c_char));
        Ok(())
    }

    fn cudaDeviceGetByPCIBusId in (session)(device: Out<c_int>, text: In<c_char>) {
        let text = text.text()?;
        let found = (0..session.devices.len()).find(|&device| {
            // Domain and function are optional.
            let id = bus_id(device);
            id.eq_ignore_ascii_case(&text) || id[5..10].eq_ignore_ascii_case(&text)
        });
        device.put(found.ok_or(Error::INVALID_VALUE)? as c_int)
    }

    fn cudaMemGetInfo in (session)(free: Out<usize>, total: Out<usize>) {
        let device = session.current()?;
        let info = session.memory.info(device);
        free.put(info.0)?;
        total.put(info.1)
    }

    fn cudaDeviceFlushGPUDirectRDMAWrites in (session)(_target: c_int, _scope: c_int) {
        // Memory is the host's, so remote writes are visible already.
        session.current().map(drop)
    }

    fn cudaCtxResetPersistingL2Cache in (session)() {
        session.current().map(drop)
    }

    fn cudaProfilerStart in (session)() {
        session.current().map(drop)
    }

    fn cudaProfilerStop in (session)() {
        session.current().map(drop)
    }

    fn commsan_12_cudaRuntimeGetVersion in (_)(version: Out<c_int>) {
        version.put(VERSION_12)
    }

    fn commsan_12_cudaDriverGetVersion in (_)(version: Out<c_int>) {
        version.put(VERSION_12)
    }

    fn commsan_13_cudaRuntimeGetVersion in (_)(version: Out<c_int>) {
        version.put(VERSION_13)
    }

    fn commsan_13_cudaDriverGetVersion in (_)(version: Out<c_int>) {
        version.put(VERSION_13)
    }

    fn cudaGetDriverEntryPoint, cudaGetDriverEntryPoint_ptsz in (_)(
        symbol: In<c_char>,
        function: Out<usize>,
        _flags: u64,
        status: Out<c_int>,
    ) {
        no_driver(symbol, function, status)
    }

    fn cudaGetDriverEntryPointByVersion, cudaGetDriverEntryPointByVersion_ptsz in (_)(
        symbol: In<c_char>,
        function: Out<usize>,
        _version: c_uint,
        _flags: u64,
        status: Out<c_int>,
    ) {
        no_driver(symbol, function, status)
    }
}

/// For programs built with CUDA 11, whose properties have another layout: refuses.
#[unsafe(no_mangle)]
extern "C" fn commsan_12_cudaGetDeviceProperties() -> c_int {
    unsupported("cudaGetDeviceProperties of CUDA 11")
}

/// Reports that a driver function was not found: there is no driver.
fn no_driver(symbol: In<c_char>, function: Out<usize>, status: Out<c_int>) -> Result {
    /// `cudaDriverEntryPointSymbolNotFound`.
    const NOT_FOUND: c_int = 1;
    let symbol = symbol.text()?;
    eprintln!("commsan: simulated GPU: no driver API, and so no {symbol}");
    function.put(0)?;
    status.put_if_wanted(NOT_FOUND);
    Err(Error::SYMBOL_NOT_FOUND)
}

/// Resets the current device: destroys everything that the program created on it.
fn reset(session: &mut Session) -> Result {
    let device = session.current()?;
    session.wait_for_device(device)?;
    for start in session.memory.starts(device, |found| found.kind == Kind::Registered) {
        // The program has pointers to managed variables, which must stay valid.
        if !session.modules.is_managed(start) {
            session.release(start);
        }
    }
    session.images.forget_device(device);
    session.modules.forget_device(device);
    for handle in session.streams.handles_of(device) {
        crate::api::stream::destroy(session, handle)?;
    }
    session.events.remove_of(device);
    session.devices[device].peers.clear();
    session.devices[device].flags = 0;
    Ok(())
}

fn bus_id(device: usize) -> String {
    format!("0000:{:02X}:00.0", device + 1)
}

/// Fills the fields that both layouts of the properties have.
macro_rules! properties {
    ($ty:ident, $device:expr) => {{
        let value = |number| attribute(number, $device);
        let size = |number| attribute(number, $device).map(|value| value as usize);
        let mut properties = $ty::zero();
        for (to, byte) in properties.name.iter_mut().zip(device::NAME.bytes()) {
            *to = byte as c_char;
        }
        properties.uuid = *b"commsan-sim-gpu\0";
        properties.uuid[15] = $device as u8;
        properties.totalGlobalMem = device::MEMORY;
        properties.sharedMemPerBlock = size(8)?;
        properties.regsPerBlock = value(12)?;
        properties.warpSize = value(10)?;
        properties.memPitch = size(11)?;
        properties.maxThreadsPerBlock = value(1)?;
        properties.maxThreadsDim = [value(2)?, value(3)?, value(4)?];
        properties.maxGridSize = [value(5)?, value(6)?, value(7)?];
        properties.totalConstMem = size(9)?;
        properties.major = value(75)?;
        properties.minor = value(76)?;
        properties.textureAlignment = size(14)?;
        properties.texturePitchAlignment = size(51)?;
        properties.multiProcessorCount = value(16)?;
        properties.canMapHostMemory = value(19)?;
        properties.maxTexture1D = value(21)?;
        properties.maxTexture2D = [value(22)?, value(23)?];
        properties.maxTexture2DLinear = [value(70)?, value(71)?, value(72)?];
        properties.maxTexture2DGather = [value(45)?, value(46)?];
        properties.maxTexture3D = [value(24)?, value(25)?, value(26)?];
        properties.maxTexture1DLayered = [value(42)?, value(43)?];
        properties.maxTexture2DLayered = [value(27)?, value(28)?, value(29)?];
        properties.maxSurface1D = value(55)?;
        properties.maxSurface2D = [value(56)?, value(57)?];
        properties.maxSurface3D = [value(58)?, value(59)?, value(60)?];
        properties.maxSurface1DLayered = [value(61)?, value(62)?];
        properties.maxSurface2DLayered = [value(63)?, value(64)?, value(65)?];
        properties.surfaceAlignment = size(30)?;
        properties.concurrentKernels = value(31)?;
        properties.pciBusID = value(33)?;
        properties.asyncEngineCount = value(40)?;
        properties.unifiedAddressing = value(41)?;
        properties.memoryBusWidth = value(37)?;
        properties.l2CacheSize = value(38)?;
        properties.maxThreadsPerMultiProcessor = value(39)?;
        properties.streamPrioritiesSupported = value(78)?;
        properties.globalL1CacheSupported = value(79)?;
        properties.localL1CacheSupported = value(80)?;
        properties.sharedMemPerMultiprocessor = size(81)?;
        properties.regsPerMultiprocessor = value(82)?;
        properties.managedMemory = value(83)?;
        properties.hostNativeAtomicSupported = value(86)?;
        properties.concurrentManagedAccess = value(89)?;
        properties.computePreemptionSupported = value(90)?;
        properties.canUseHostPointerForRegisteredMem = value(91)?;
        properties.cooperativeLaunch = value(95)?;
        properties.sharedMemPerBlockOptin = size(97)?;
        properties.maxBlocksPerMultiProcessor = value(106)?;
        properties.reservedSharedMemPerBlock = size(111)?;
        properties.hostRegisterSupported = value(99)?;
        properties.memoryPoolsSupported = value(115)?;
        properties.ipcEventSupported = value(125)?;
        properties
    }};
}

fn properties_12(device: usize) -> Result<DeviceProp12> {
    let mut properties = properties!(DeviceProp12, device);
    properties.maxTexture1DLinear = attribute(69, device)?;
    properties.clockRate = attribute(13, device)?;
    properties.deviceOverlap = attribute(15, device)?;
    properties.memoryClockRate = attribute(36, device)?;
    properties.singleToDoublePrecisionPerfRatio = attribute(87, device)?;
    Ok(properties)
}

fn properties_13(device: usize) -> Result<DeviceProp13> {
    let mut properties = properties!(DeviceProp13, device);
    properties.hostNumaId = attribute(134, device)?;
    Ok(properties)
}
