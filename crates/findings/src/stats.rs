//! What a rank counts of what it watches, for `commsan run --stats`: the table of all counters, for
//! the rank that counts, the report that sums up, and the documentation.
//!
//! A counter has a key of words joined by dots, by which records, `report.json` and the
//! documentation name it. Calls are counted by their names: their keys are those below
//! [`MPI_CALLS`] and [`CUDA_CALLS`], then the group of the call, then its name.

/// Where the keys of MPI calls begin.
pub const MPI_CALLS: &str = "mpi.calls";
/// Where the keys of CUDA calls begin.
pub const CUDA_CALLS: &str = "cuda.calls";

/// What a counter counts in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Events or objects.
    Count,
    /// Bytes.
    Bytes,
}

/// What a run has of a counter that each rank has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Total {
    /// The sum over all ranks.
    Sum,
    /// The largest of all ranks, of what is a peak already.
    Largest,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The key.
    pub key: &'static str,
    /// What the key's section is called where users see it.
    pub section: &'static str,
    /// What it is called there.
    pub label: &'static str,
    /// What it counts in.
    pub unit: Unit,
    /// How ranks are summed up.
    pub total: Total,
    /// What exactly is counted.
    pub meaning: &'static str,
}

macro_rules! counters {
    ($($prefix:literal, $section:literal {
        $($name:ident = $key:literal, $label:literal, $unit:ident, $total:ident, $meaning:literal;)*
    })*) => {
        /// A counter of a rank.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Counter {
            $($(#[doc = $meaning] $name,)*)*
        }

        /// The table, a row for each [`Counter`], in the same order.
        pub const TABLE: &[Row] = &[$($(Row {
            key: concat!($prefix, ".", $key),
            section: $section,
            label: $label,
            unit: Unit::$unit,
            total: Total::$total,
            meaning: $meaning,
        },)*)*];

        /// All counters.
        pub const ALL: &[Counter] = &[$($(Counter::$name,)*)*];
    };
}

counters! {
    "mpi.operations", "MPI operations" {
        Sends = "sends.started", "sends", Count, Sum,
            "Messages whose sending a call has started, persistent and partitioned requests at each start; a combined send and receive is one of each";
        SendsNonblocking = "sends.nonblocking", "sends that a request completes", Count, Sum,
            "Those of them that a request completes";
        SendsBytes = "sends.bytes", "bytes of their buffers", Bytes, Sum,
            "Bytes of their buffers, without gaps of the datatype";
        Receives = "receives.started", "receives", Count, Sum,
            "Receives that a call has started, as for sends";
        ReceivesNonblocking = "receives.nonblocking", "receives that a request completes", Count, Sum,
            "Those of them that a request completes";
        ReceivesBytes = "receives.bytes", "bytes of their buffers", Bytes, Sum,
            "Bytes of their buffers, which messages may fill in part";
        Collectives = "collectives.started", "collectives", Count, Sum,
            "Collective operations of chapters 6 and 8, without those that make communicators";
        CollectivesNonblocking = "collectives.nonblocking", "collectives that a request completes", Count, Sum,
            "Those of them that a request completes";
        CollectivesBytes = "collectives.bytes", "bytes of their buffers", Bytes, Sum,
            "Bytes of the rank's own buffers that they read, and of those that they write";
        Puts = "puts.started", "puts", Count, Sum,
            "`MPI_Put` and `MPI_Rput`";
        PutsNonblocking = "puts.nonblocking", "puts that a request completes", Count, Sum,
            "Those of them that a request completes";
        PutsBytes = "puts.bytes", "bytes of their origin buffers", Bytes, Sum,
            "Bytes of their origin buffers";
        Gets = "gets.started", "gets", Count, Sum,
            "`MPI_Get` and `MPI_Rget`";
        GetsNonblocking = "gets.nonblocking", "gets that a request completes", Count, Sum,
            "Those of them that a request completes";
        GetsBytes = "gets.bytes", "bytes of their origin buffers", Bytes, Sum,
            "Bytes of their origin buffers";
        Accumulates = "accumulates.started", "accumulates", Count, Sum,
            "All one-sided operations with a reduction, and `MPI_Compare_and_swap`";
        AccumulatesNonblocking = "accumulates.nonblocking", "accumulates that a request completes", Count, Sum,
            "Those of them that a request completes";
        AccumulatesBytes = "accumulates.bytes", "bytes of their origin and result buffers", Bytes, Sum,
            "Bytes of their origin and result buffers";
        FileReads = "file_reads.started", "reads of files", Count, Sum,
            "Calls that read from a file";
        FileReadsNonblocking = "file_reads.nonblocking", "reads that a request or an end call completes", Count, Sum,
            "Those of them that a request completes, or the second call of a split collective";
        FileReadsBytes = "file_reads.bytes", "bytes of their buffers", Bytes, Sum,
            "Bytes of their buffers";
        FileWrites = "file_writes.started", "writes of files", Count, Sum,
            "Calls that write to a file";
        FileWritesNonblocking = "file_writes.nonblocking", "writes that a request or an end call completes", Count, Sum,
            "Those of them that a request completes, or the second call of a split collective";
        FileWritesBytes = "file_writes.bytes", "bytes of their buffers", Bytes, Sum,
            "Bytes of their buffers";
    }
    "mpi.windows", "windows" {
        Windows = "created", "windows", Count, Sum,
            "Windows that were made, each counted by all of its ranks";
        WindowBytes = "bytes", "bytes exposed", Bytes, Sum,
            "Bytes that the rank has exposed when making windows, and by `MPI_Win_attach`";
    }
    "mpi.epochs", "epochs" {
        FenceEpochs = "fence", "fence", Count, Sum,
            "`MPI_Win_fence` without `MPI_MODE_NOSUCCEED`: each may begin an access and an exposure epoch";
        AccessEpochs = "access", "access (MPI_Win_start)", Count, Sum,
            "`MPI_Win_start`";
        ExposureEpochs = "exposure", "exposure (MPI_Win_post)", Count, Sum,
            "`MPI_Win_post`";
        LockEpochs = "lock", "lock", Count, Sum,
            "`MPI_Win_lock`";
        LockAllEpochs = "lock_all", "lock of all ranks", Count, Sum,
            "`MPI_Win_lock_all`";
    }
    "mpi.threads", "MPI calls by thread context" {
        CallsAlone = "alone", "by the only thread", Count, Sum,
            "MPI calls while the rank has one thread and no parallel region is open";
        CallsBeside = "beside", "outside of regions, beside other threads", Count, Sum,
            "MPI calls outside of such regions, while others of the program's own threads may run, or a region of one thread is open";
        CallsInRegions = "region", "in parallel regions", Count, Sum,
            "MPI calls in a parallel region of OpenMP with several threads, `master` and `single` included";
        CallsInNested = "nested", "in nested parallel regions", Count, Sum,
            "MPI calls in a parallel region of several threads that lies in another such region";
    }
    "cuda.streams", "CUDA streams and events" {
        StreamsCreated = "created", "streams created", Count, Sum,
            "Streams that the program has created, or a library, if work was put into it";
        StreamsUsed = "used", "streams used", Count, Sum,
            "Streams in which there was work, default streams included";
        Events = "events", "events recorded", Count, Sum,
            "Events that were recorded, each once";
        EventRecords = "records", "records of events", Count, Sum,
            "Calls that record an event";
        EventWaits = "waits", "waits of streams for events", Count, Sum,
            "Calls that make a stream wait for an event";
        HostFunctions = "host_functions", "functions of the host in streams", Count, Sum,
            "Functions of the host that were put into streams";
    }
    "cuda.synchronisations", "CUDA synchronisation of the host" {
        DeviceSynchronisations = "device", "with devices", Count, Sum,
            "`cudaDeviceSynchronize`, also by its older name";
        StreamSynchronisations = "stream", "with streams", Count, Sum,
            "`cudaStreamSynchronize`";
        EventSynchronisations = "event", "with events", Count, Sum,
            "`cudaEventSynchronize`";
        Queries = "queries", "queries", Count, Sum,
            "`cudaStreamQuery` and `cudaEventQuery`, whatever they return";
        WaitingCopies = "copies", "copies and sets that the host waits for", Count, Sum,
            "Copies and sets that are complete when their call returns";
    }
    "cuda.kernels", "CUDA kernels" {
        Kernels = "launched", "launched", Count, Sum,
            "Kernels that calls have put into a stream, or into a graph that is captured there";
        KernelsUnknown = "unknown", "of which no PTX is known", Count, Sum,
            "Those of them that have no PTX: they may access any memory";
        Graphs = "graphs", "launches of graphs", Count, Sum,
            "Launches of graphs";
        KernelsInGraphs = "in_graphs", "kernels in launched graphs", Count, Sum,
            "Kernels of the graphs that were launched, at each launch";
    }
    "cuda.copies", "CUDA copies" {
        CopiesToDevice = "host_to_device.count", "from the host to devices", Count, Sum,
            "Copies from memory of the host, page-locked or not, to memory of a device";
        CopiesToDeviceBytes = "host_to_device.bytes", "bytes from the host to devices", Bytes, Sum,
            "Their bytes";
        CopiesToHost = "device_to_host.count", "from devices to the host", Count, Sum,
            "Copies from memory of a device to memory of the host";
        CopiesToHostBytes = "device_to_host.bytes", "bytes from devices to the host", Bytes, Sum,
            "Their bytes";
        CopiesOnDevice = "device_to_device.count", "within devices", Count, Sum,
            "Copies from memory of a device to memory of the same one";
        CopiesOnDeviceBytes = "device_to_device.bytes", "bytes within devices", Bytes, Sum,
            "Their bytes";
        CopiesOnHost = "host_to_host.count", "within the host", Count, Sum,
            "Copies from memory of the host to memory of the host";
        CopiesOnHostBytes = "host_to_host.bytes", "bytes within the host", Bytes, Sum,
            "Their bytes";
        CopiesToPeer = "peer.count", "between devices", Count, Sum,
            "Copies from memory of a device to memory of another one";
        CopiesToPeerBytes = "peer.bytes", "bytes between devices", Bytes, Sum,
            "Their bytes";
        CopiesManaged = "managed.count", "from or to managed memory", Count, Sum,
            "Copies with managed memory on either side";
        CopiesManagedBytes = "managed.bytes", "bytes from or to managed memory", Bytes, Sum,
            "Their bytes";
    }
    "cuda.memory", "CUDA memory" {
        Memsets = "sets.count", "sets", Count, Sum,
            "Calls that set bytes";
        MemsetsBytes = "sets.bytes", "bytes set", Bytes, Sum,
            "Their bytes";
        AllocationsDevice = "device.count", "allocations of device memory", Count, Sum,
            "Allocations of memory of a device";
        AllocationsDeviceBytes = "device.bytes", "bytes of device memory", Bytes, Sum,
            "Their bytes, freed or not";
        AllocationsManaged = "managed.count", "allocations of managed memory", Count, Sum,
            "Allocations of managed memory";
        AllocationsManagedBytes = "managed.bytes", "bytes of managed memory", Bytes, Sum,
            "Their bytes, freed or not";
        AllocationsPinned = "pinned.count", "allocations of page-locked memory", Count, Sum,
            "Allocations of page-locked memory of the host, and registrations of its memory";
        AllocationsPinnedBytes = "pinned.bytes", "bytes of page-locked memory", Bytes, Sum,
            "Their bytes, freed or not";
    }
    "cuda.ranges", "memory that work of streams uses" {
        RangesRead = "read.count", "ranges read", Count, Sum,
            "Ranges of memory that kernels, copies and other work of streams read, those that they may read included, without what they also write; several accesses of a kernel may be joined to one";
        RangesReadBytes = "read.bytes", "bytes read", Bytes, Sum,
            "Their bytes, each once a range; of those that cannot be told, the whole allocation, and nothing where work may read any memory";
        RangesWritten = "written.count", "ranges written", Count, Sum,
            "Ranges of memory that work of streams writes or may write";
        RangesWrittenBytes = "written.bytes", "bytes written", Bytes, Sum,
            "Their bytes, as for those that are read";
    }
    "accesses", "accesses of the host" {
        Checked = "checked.count", "checked", Count, Sum,
            "Loads, stores, calls of libc, and loops at their entry that the inline filter did not pass, so that the runtime was called";
        CheckedBytes = "checked.bytes", "bytes checked", Bytes, Sum,
            "Their bytes; of a loop, what it goes through";
        Noted = "noted.count", "noted in shadow memory", Count, Sum,
            "Accesses to exposed memory for which the runtime has made a record; further ones from the same place in the same segment are added inline and not counted";
        NotedBytes = "noted.bytes", "bytes noted", Bytes, Sum,
            "Their bytes";
        Atomics = "atomics.count", "atomic accesses and fences", Count, Sum,
            "Atomic accesses, fences and volatile writes that were reported, as there were several threads or shared windows";
    }
    "threads", "threads" {
        Threads = "created", "threads created", Count, Sum,
            "Threads that the program has created by POSIX or C11; those of OpenMP and of libraries are not among them";
        Regions = "regions", "parallel regions", Count, Sum,
            "Parallel regions of OpenMP";
        Tasks = "tasks", "tasks", Count, Sum,
            "Explicit tasks of OpenMP";
    }
    "memory", "memory" {
        LivePeak = "live_ranges", "live ranges at most", Count, Largest,
            "Ranges of memory in which accesses are looked up, of pending operations above all, at most, looked at before and after each call";
        MarkedPages = "marked_pages", "pages marked at most", Count, Largest,
            "Pages of 4 KiB that the page filter marks since something may be pending there, looked at when live ranges become more";
        ExposedPages = "exposed_pages", "pages exposed at most", Count, Largest,
            "Pages of 4 KiB whose accesses are noted in shadow memory, looked at at the same times";
        HeapBytes = "heap_bytes", "heap of commsan's runtime", Bytes, Largest,
            "Memory that commsan's runtime has mapped for its heap, looked at when counts are written; tables that are mapped each by itself, as those of shadow memory, are not part of it";
        PeakBytes = "peak_rss_bytes", "memory of the process at most", Bytes, Largest,
            "The largest resident set of the process, commsan's memory included (`VmHWM`)";
    }
    "modules", "executables and libraries" {
        ModulesInstrumented = "instrumented", "compiled by commsan", Count, Largest,
            "Executables and libraries of the process that `commsan cc` has compiled";
        ModulesLoaded = "loaded", "loaded", Count, Largest,
            "Executables and libraries in the process";
    }
}

impl Counter {
    /// Its row of the table.
    pub fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }
}

/// The row with this key; `None` for calls, and for counters of another version.
pub fn row(key: &str) -> Option<&'static Row> {
    TABLE.iter().find(|row| row.key == key)
}

/// How ranks are summed up in the counter with this key.
pub fn total(key: &str) -> Total {
    row(key).map_or(Total::Sum, |row| row.total)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn keys_are_paths_and_differ() {
        let mut keys = HashSet::new();
        for (counter, entry) in ALL.iter().zip(TABLE) {
            assert_eq!(counter.row().key, entry.key);
            assert!(keys.insert(entry.key), "{}", entry.key);
            let is_word = |word: &str| {
                !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c == '_')
            };
            assert!(entry.key.split('.').count() > 1 && entry.key.split('.').all(is_word));
            // A key that leads on would be a number and an object in JSON.
            let below = format!("{}.", entry.key);
            assert!(!TABLE.iter().any(|other| other.key.starts_with(&below)), "{}", entry.key);
        }
        assert_eq!(ALL.len(), TABLE.len());
    }

    #[test]
    fn a_peak_of_several_ranks_is_the_largest() {
        assert_eq!(total("memory.live_ranges"), Total::Largest);
        assert_eq!(total("mpi.operations.sends.started"), Total::Sum);
        assert_eq!(total("mpi.calls.collective.MPI_Bcast"), Total::Sum);
    }
}
