/**
 * Answers of the profile's API. Generated from crates/profile/src/api/ by `make bless`: change
 * them there. Identifiers are positions in the arrays of `/api/run`; intervals of places and bins
 * include both ends.
 */

/** Traffic of one kind: position in `Run.kinds`, transfers, bytes. */
export type KindTotal = [kind: number, count: number, bytes: number];

/** Waits of one state: position in `Waiting.states`, how many, seconds. */
export type StateTotal = [state: number, count: number, seconds: number];

/** Bytes from an object's beginning that were touched equally often. */
export type Extent = [start: number, bytes: number, count: number];

/**
 * A call in a timeline: `names` and classes by number; it waits from its beginning: 1 for a
 * message, 2 in a collective.
 */
export type Slice = [begin: number, end: number, of: number, name: number, waits: number, wait: number];

/**
 * Bins of a timeline whose calls are too short to be shown: thousandths in calls and waiting,
 * calls, of these folded.
 */
export type Coarse = [
  bin: number,
  bins: number,
  of: number,
  busy: number,
  waiting: number,
  wait: number,
  count: number,
  folded: number,
];

/** Who does what to an object. */
export type Accessor = {
  /** Where the data goes to or comes from; of collectives with all others, the place itself. */
  place: number,
  /** Position in `kinds`. */
  kind: number,
  /** The call or instruction. */
  call: string,
  /** Its line. */
  file: number | null,
  /** The line there. */
  line: number | null,
  /** Whether the object is read or written. */
  direction: Direction,
  /** How often. */
  count: number,
  /** Bytes of all. */
  bytes: number,
  /** Which bytes of the object. */
  extents: Extent[],
};

/** Transfers and their bytes. */
export type Amount = {
  /** Transfers. */
  count: number,
  /** Their bytes. */
  bytes: number,
};

/** What time is divided into. */
export type Bins = {
  /** How many. */
  bins: number,
  /** How long each is. */
  width_seconds: number,
};

/** Neighbouring places, taken together. */
export type Block = {
  /** `rank 3`, `ranks 0-15`, a node's name. */
  label: string,
  /** First place. */
  first: number,
  /** Last place. */
  last: number,
};

/** What of the path is in a call at a line, or leads to it. */
export type CallOnPath = {
  /** The call; `commsan` of its own work; none after the last call, and between calls that were
   * folded when they were recorded. */
  call: string | null,
  /** Its file. */
  file: number | null,
  /** The line there. */
  line: number | null,
  /** Seconds in the call. */
  inside: number,
  /** Seconds outside of calls, since the call before, or since the path came to the thread. */
  before: number,
};

/** Time in some of the calls. */
export type CallSeries = {
  /** A call's, place's or node's name; `others`. */
  label: string,
  /** Seconds in each bin. */
  seconds: Array<number>,
};

/** Time in calls of a line, of all ranks. */
export type CallTime = {
  /** The call. */
  call: string,
  /** Its file. */
  file: number | null,
  /** The line there. */
  line: number | null,
  /** How many calls. */
  count: number,
  /** Seconds in all of them. */
  seconds: number,
};

/** Something named in both runs. */
export type Change = {
  /** Its name. */
  name: string,
  /** In the other run. */
  before: Amount,
  /** In this one. */
  after: Amount,
};

/** Time in communication. */
export type Communication = {
  /** Time in calls, of the ranks' time in all, 0 to 1. */
  share_of_time: number,
  /** Of each rank. */
  by_rank: Array<RankTime>,
  /** By call and line, those with most time first. */
  calls: Array<CallTime>,
  /** Those that are left out, with least time. */
  more: number,
};

/** Two runs side by side: this one is after, the other before. */
export type Comparison = {
  /** The other run. */
  other: OtherRun,
  /** Totals, by name of the kind. */
  kinds: Array<Change>,
  /** Pairs of places, by their names. */
  pairs: Array<PairChange>,
  /** Lines, as `file:line`. */
  lines: Array<Change>,
  /** Objects, by name. */
  objects: Array<Change>,
  /** Time in calls, by call and line. */
  calls: Array<TimeChange>,
  /** How many more pairs, lines, objects and calls differ, by less than those that are listed. */
  more: [number, number, number, number],
};

/** The chain of activity that determines when the run ends, and what it consists of. */
export type CriticalPath = {
  /** When it begins. */
  begin: number,
  /** When it ends. */
  end: number,
  /** How often it goes from one thread to another. */
  changes: number,
  /** By rank, that with most of it first. */
  by_place: Array<PlaceOnPath>,
  /** By call and line, that with most of it first. */
  by_call: Array<CallOnPath>,
  /** Calls and lines that are left out. */
  more_calls: number,
  /** Its longest parts, in the order of time. */
  parts: Array<PathPart>,
  /** Parts that are left out. */
  more_parts: number,
  /** What was left out, or is not exact. */
  notes: Array<string>,
};

/** What was allocated at one place of the program, or a variable. */
export type DataObject = {
  /** Its position. */
  id: number,
  /** The variable's, if that is certain, else `FUNCTION:LINE`. */
  name: string,
  /** `heap`, `global`, `stack`, `device`, `managed`, `pinned`, `window`, `unknown`. */
  memory: string,
  /** Places that it lies at. */
  place_count: number,
  /** Size of the largest; 0 if unknown. */
  bytes: number,
  /** How many there were. */
  allocations: number,
  /** Where it was allocated. */
  file: number | null,
  /** The line there. */
  line: number | null,
  /** Its traffic. */
  by_kind: KindTotal[],
  /** Call path of the allocation, innermost first. */
  stack: Array<Frame>,
};

/** What is done to data. */
export type Direction = "read" | "write";

/** A call, or several that are folded. */
export type EventDetail = {
  /** Whose. */
  lane: number,
  /** When it begins; of folded ones, the first. */
  begin: number,
  /** When it ends; of folded ones, the last. */
  end: number,
  /** What it is. */
  class: number,
  /** The call, the region's name, or `commsan`. */
  call: string,
  /** Its file. */
  file: number | null,
  /** The line there. */
  line: number | null,
  /** Its call path, a position in the answer's. */
  stack: number | null,
  /** How many these are, if they are folded. */
  folded: number | null,
  /** Nanoseconds in it, or in all of them. */
  time: number,
  /** Bytes at this end. */
  bytes: number,
  /** Messages that it sends, receives or completes; the first. */
  messages: Array<MessageEnd>,
  /** Those that are left out. */
  more: number,
  /** Members of the collective's communicator. */
  members: number | null,
  /** Whether it waits, and for whom. */
  wait: LongWait | null,
};

/** A message from one row to another. */
export type EventMessage = {
  /** Row that sends. */
  source: number,
  /** Row that receives. */
  target: number,
  /** When the send begins. */
  begin: number,
  /** When it has been received. */
  end: number,
  /** Its bytes. */
  bytes: number,
};

/** A row. */
export type EventRow = {
  /** First and last lane. */
  lanes: [number, number],
  /** Calls one by one, if this is one lane. */
  slices: Slice[],
  /** Others. */
  coarse: Coarse[],
  /** Regions of the program, if this is one lane: (begin, end, name). */
  regions: [begin: number, end: number, name: number][],
};

/** The figure. */
export type EventsDetail = {
  /** Beginning of the time. */
  from: number,
  /** Its end. */
  to: number,
  /** Bins that it is divided into. */
  bins: number,
  /** Calls and regions that slices name. */
  names: Array<string>,
  /** Lanes, or several together, from the first to the last. */
  rows: Array<EventRow>,
  /** Messages whose ends are both in rows: the longest. */
  messages: Array<EventMessage>,
  /** Those that are left out. */
  more_messages: number,
  /** Collectives all of whose members are known: the longest. */
  meetings: Array<Meeting>,
  /** Those that are left out, being shorter. */
  more_meetings: number,
  /** The longest waits in these lanes. */
  waits: Array<LongWait>,
  /** The critical path in these rows, in the order of time: (row, begin, end).
   * Parts of a row that are less than a bin apart are one. */
  path: [row: number, begin: number, end: number][],
};

/** A source file with its traffic. */
export type FileDetail = {
  /** As the debug information names it. */
  path: string,
  /** What it holds. */
  text: string | null,
  /** Why there is no text, and what to do. */
  why_missing?: string | null,
  /** Lines with traffic or time in calls, ascending. */
  lines: Array<FileLine>,
};

/** A line's traffic. */
export type FileLine = {
  /** Counted from 1. */
  line: number,
  /** Transfers. */
  count: number,
  /** Their bytes. */
  bytes: number,
  /** Seconds in its calls, of all ranks. */
  seconds: number,
  /** These amounts by kind. */
  by_kind: KindTotal[],
  /** What is moved. */
  objects: Array<number>,
  /** By which calls. */
  calls: Array<string>,
};

/** What checking has found. */
export type Finding = {
  /** `CS-BUF-01` */
  code: string,
  /** How bad it is. */
  severity: Severity,
  /** In a few words. */
  title: string,
  /** In a sentence. */
  message: string,
  /** Ranks that take part. */
  places: Array<number>,
  /** Where the problem is. */
  file: number | null,
  /** The line there. */
  line: number | null,
  /** The only object that is moved by the line of one of its sides. */
  object: number | null,
  /** Its sides, the one where the problem is first. */
  sides: Array<FindingSide>,
  /** Why its sides are not ordered. */
  why: string,
  /** What to do about it. */
  help: string,
  /** When each rank has found it first, by time; of what is concluded after the run, when it
   * happened, as far as that is known. */
  moments: Array<FindingMoment>,
};

/** When a rank has found something, or done what it is about. */
export type FindingMoment = {
  /** The rank's place. */
  place: number,
  /** Number of its thread. */
  thread: number,
  /** Nanoseconds from the beginning of the run. */
  time: number,
  /** What happened then. */
  what: MomentOf,
};

/** A place in the program that takes part in a finding. */
export type FindingSide = {
  /** What happens there. */
  label: string,
  /** Path of the source file. */
  path: string | null,
  /** Its number, if it is one of the run's. */
  file: number | null,
  /** The line there. */
  line: number | null,
};

/** A frame of a call path. */
export type Frame = {
  /** Its name; of code without symbols its module and offset. */
  function: string,
  /** Position of its file. */
  file: number | null,
  /** The line there. */
  line: number | null,
  /** Whether that is in a header of C++'s library, or such. */
  library: boolean,
};

/** Events one by one. */
export type Happened = {
  /** The longest, in the order of time. */
  events: Array<EventDetail>,
  /** Those that are left out. */
  more: number,
  /** Call paths, innermost first. */
  stacks: Array<Array<Frame>>,
};

/** A thread. */
export type LaneOf = {
  /** Its rank's place. */
  place: number,
  /** Its number, if the rank has several. */
  thread: number | null,
};

/** Threads that have recorded events. */
export type Lanes = {
  /** By rank and thread. */
  lanes: Array<LaneOf>,
  /** What calls are, by the numbers in [`Slice`] and [`Coarse`]. */
  classes: Array<string>,
  /** How long the run is. */
  until: number,
  /** Calls in all, folded ones as well. */
  events: number,
  /** What was folded, left out, or is not exact. */
  notes: Array<string>,
};

/** A line at which a rank is late. */
export type LateCall = {
  /** `late sender`, `wait at barrier`, … */
  kind: string,
  /** Who is late. */
  place: number,
  /** Its call. */
  call: string,
  /** The file of that. */
  file: number | null,
  /** The line there. */
  line: number | null,
  /** The call that waits, mostly. */
  waiting_call: string,
  /** The file of that. */
  waiting_file: number | null,
  /** The line there. */
  waiting_line: number | null,
  /** How many ranks wait. */
  ranks: number,
  /** How often. */
  count: number,
  /** Seconds, of all of them. */
  seconds: number,
  /** Of the longest wait. */
  longest_seconds: number,
  /** When that begins, from the beginning of the run. */
  longest_start: number,
};

/** A line in detail. */
export type LineDetail = {
  /** Largest first. */
  transfers: Array<LineTransfer>,
  /** Transfers that are left out, the smallest. */
  more: number,
  /** Call paths that lead there, innermost first. */
  stacks: Array<Array<Frame>>,
};

/** Transfers of a line between two places. */
export type LineTransfer = {
  /** From. */
  source: number,
  /** To. */
  target: number,
  /** Position in `kinds`. */
  kind: number,
  /** The call. */
  call: string,
  /** What is read. */
  object: number | null,
  /** What is written. */
  target_object: number | null,
  /** How many. */
  count: number,
  /** Their bytes. */
  bytes: number,
};

/** A wait, and for whom. */
export type LongWait = {
  /** Who waits. */
  lane: number,
  /** When the call begins. */
  begin: number,
  /** Until when it waits. */
  end: number,
  /** `late sender`, … */
  kind: string,
  /** Who is late. */
  place: number,
  /** Its call. */
  call: string,
  /** The file of that. */
  file: number | null,
  /** The line there. */
  line: number | null,
};

/** The longest of several waits. */
export type LongestWait = {
  /** Who waits: place. */
  place: number,
  /** For whom: place. */
  late: number,
  /** When it begins, in nanoseconds from the beginning of the run. */
  begin: number,
  /** When it ends. */
  end: number,
  /** The lane of the thread that waits, unless there are so many waits that only their sums are
   * known. */
  lane: number | null,
};

/** Sources × targets. */
export type Matrix = {
  /** Sources. */
  rows: Array<Block>,
  /** Targets. */
  cols: Array<Block>,
  /** (row, column, what), by row and column; empty ones are left out. */
  cells: [row: number, column: number, KindTotal[]][],
  /** (row, column, seconds) in calls of a rank that name one other rank; not known by object or
   * region. */
  times: [row: number, column: number, seconds: number][] | null,
};

/** A collective. */
export type Meeting = {
  /** Runs of rows that members are in. */
  rows: Array<[number, number]>,
  /** When the first enters. */
  begin: number,
  /** When the last enters. */
  met: number,
  /** When the last leaves. */
  end: number,
  /** How many they are. */
  members: number,
  /** The place that enters last. */
  last: number,
};

/** A message at one end. */
export type MessageEnd = {
  /** The other end's place. */
  peer: number,
  /** Whether it goes there. */
  sent: boolean,
  /** Its tag. */
  tag: number,
  /** Its bytes, if they are known here. */
  bytes: number | null,
  /** Whether another call has begun it. */
  completes: boolean,
  /** When the other end begins to send, or has received, if that is known. */
  other: number | null,
};

/** What happens at the moment of a finding. */
export type MomentOf = "found" | "called" | "stuck";

/** A function. */
export type NamedFunction = {
  /** Its name. */
  name: string,
  /** Its file. */
  file: number,
  /** The first line of it that is in a call path. */
  line: number,
};

/** Functions, lines and calls of the program. */
export type Names = {
  /** Names of calls. */
  calls: Array<string>,
  /** Functions in call paths. */
  functions: Array<NamedFunction>,
  /** Lines at which calls are made, by file and line. */
  lines: [file: number, line: number, function: number | null, calls: number[]][],
  /** Lines that are left out. */
  more_lines: number,
};

/** A host with its places. */
export type Node = {
  /** Host name. */
  name: string,
  /** First and last place. */
  places: [number, number],
};

/** An object at one place. */
export type ObjectAt = {
  /** The place. */
  place: number,
  /** The largest there. */
  bytes: number,
  /** Address of the first there. */
  address: number,
  /** What is done to it. */
  accessors: Array<Accessor>,
};

/** An object in detail. */
export type ObjectDetail = {
  /** What [`Run`](super::Run) says of it. */
  object: DataObject,
  /** At each of its places. */
  places: Array<ObjectAt>,
  /** Accesses that are left out, the smallest. */
  more: number,
  /** Size of an element, guessed. */
  element: number,
  /** Rows and columns that it may have, the likeliest first. */
  shapes: Array<[number, number]>,
};

/** What a comparison says of the other run. */
export type OtherRun = {
  /** Of its run directory. */
  name: string,
  /** How it was started. */
  command: Array<string>,
  /** How long it took. */
  seconds: number,
  /** Its ranks. */
  ranks: number,
};

/** A pair of places in both runs. */
export type PairChange = {
  /** From. */
  source: string,
  /** To. */
  target: string,
  /** Name of the kind. */
  kind: string,
  /** In the other run. */
  before: Amount,
  /** In this one. */
  after: Amount,
};

/** A part of the path in one thread. */
export type PathPart = {
  /** The thread's lane. */
  lane: number,
  /** When the path comes to it. */
  begin: number,
  /** When it leaves. */
  end: number,
};

/** Another place's share. */
export type Peer = {
  /** The other end. */
  place: number,
  /** Whether this place reads from there, or writes there. */
  direction: Direction,
  /** Position in `kinds`. */
  kind: number,
  /** Transfers. */
  count: number,
  /** Their bytes. */
  bytes: number,
};

/** A small chart: what is unusual among others of its kind. */
export type Picture = {
  /** What is compared. */
  title: string,
  /** What values are. */
  unit: PictureUnit,
  /** Names and values; where there are many, neighbours are joined, and the largest counts. */
  bars: [name: string, value: number][],
  /** The one that is unusual, if it is one of them. */
  marked: number | null,
  /** The mean of all values. */
  mean: number,
};

/** What the values of a picture are. */
export type PictureUnit = "nanoseconds" | "bytes" | "count";

/** Where data is. */
export type Place = {
  /** Its position. */
  id: number,
  /** `rank 0`, `gpu 1`, a path. */
  name: string,
  /** What it is. */
  kind: PlaceKind,
  /** Position of its node. */
  node: number,
};

/** A call's share. */
export type PlaceCall = {
  /** The call or instruction. */
  call: string,
  /** Transfers. */
  count: number,
  /** Their bytes. */
  bytes: number,
};

/** What a place moves to and from others. */
export type PlaceDetail = {
  /** What lies elsewhere and is read or written from here, and what is read and written here. */
  objects: Array<PlaceObject>,
  /** By call or instruction. */
  instructions: Array<PlaceCall>,
  /** By line. */
  lines: Array<PlaceLine>,
  /** By the other end. */
  peers: Array<Peer>,
  /** Of a rank: time in its calls, by what they name. */
  times: Array<PlaceTime>,
  /** Entries that are left out of each of these lists, the smallest. */
  more: [number, number, number, number, number],
};

/** What a place is. */
export type PlaceKind = "rank" | "device" | "file" | "unknown";

/** A line's share. */
export type PlaceLine = {
  /** Position of the file. */
  file: number,
  /** The line there. */
  line: number,
  /** The call or instruction. */
  call: string,
  /** Transfers. */
  count: number,
  /** Their bytes. */
  bytes: number,
};

/** An object's share of a place's traffic. */
export type PlaceObject = {
  /** The object. */
  object: number,
  /** Position in `kinds`. */
  kind: number,
  /** Whether it is read or written. */
  direction: Direction,
  /** Transfers. */
  count: number,
  /** Their bytes. */
  bytes: number,
};

/** What of the path is in a rank. */
export type PlaceOnPath = {
  /** The rank's place. */
  place: number,
  /** Seconds in calls. */
  calls: number,
  /** Seconds outside of calls. */
  own: number,
};

/** Time in calls of a rank that name the same. */
export type PlaceTime = {
  /** The call. */
  call: string,
  /** Its file. */
  file: number | null,
  /** The line there. */
  line: number | null,
  /** The only other end that it names. */
  peer: number | null,
  /** Ranks of the communicator that it names, in words. */
  communicator: string | null,
  /** How many calls. */
  count: number,
  /** Seconds in all of them. */
  seconds: number,
  /** Seconds in the longest. */
  longest_seconds: number,
};

/** A rank's time. */
export type RankTime = {
  /** The rank's place. */
  place: number,
  /** Seconds in calls. */
  seconds: number,
  /** Seconds outside of them. */
  busy: number,
};

/** All that has a name in a run, and its totals. */
export type Run = {
  /** [`VERSION`](super::VERSION) */
  version: number,
  /** Of the run directory. */
  name: string,
  /** After `commsan profile --`. */
  command: Array<string>,
  /** Seconds since 1970. */
  began: number,
  /** From the first rank's beginning to the last one's end. */
  seconds: number,
  /** Node by node: ranks, then devices; then files, then the unknown place. */
  places: Array<Place>,
  /** Hosts, in the order of their first ranks; then `files`, `unknown`. */
  nodes: Array<Node>,
  /** Those that occur. */
  kinds: Array<string>,
  /** Of each kind. */
  totals: Array<Total>,
  /** Named by the program. */
  regions: Array<string>,
  /** Time in communication. */
  calls: Communication,
  /** Who waits for whom, if events were recorded. */
  waiting: Waiting | null,
  /** What is unusual: at most three, that first which costs most. */
  unusual: Array<Unusual>,
  /** Sources, by path. */
  files: Array<SourceFile>,
  /** Those with most traffic first. */
  objects: Array<DataObject>,
  /** What alone was asked for, and counts: `objects u, v`; everything if empty. */
  only: Array<string>,
  /** What the user should know. */
  notes: Array<string>,
  /** What checking has found in the same run. */
  findings: Array<Finding>,
  /** Whether any rank was checked. */
  checked: boolean,
  /** What time is divided into. */
  timeline: Bins,
  /** Whether the file of every rank is complete. */
  complete: boolean,
};

/** Totals of part of a run: of some of the time, of a region. */
export type Selection = {
  /** Of each kind. */
  totals: Array<Total>,
  /** Objects with most traffic first, and their traffic. */
  objects: [object: number, KindTotal[]][],
  /** Time in communication; it is not known by region. */
  calls: Communication,
};

/** One of them. */
export type Series = {
  /** A kind's, place's or node's name; `others`. */
  label: string,
  /** Transfers in each bin. */
  counts: Array<number>,
  /** Their bytes. */
  bytes: Array<number>,
};

/** How bad a finding is. */
export type Severity = "warning" | "error";

/** A source file. */
export type SourceFile = {
  /** Its position. */
  id: number,
  /** As the debug information names it. */
  path: string,
  /** Transfers. */
  count: number,
  /** Their bytes. */
  bytes: number,
  /** Seconds in calls, of all ranks. */
  seconds: number,
  /** These amounts by kind. */
  by_kind: KindTotal[],
  /** Whether it can be read. */
  found: boolean,
  /** Whether it is newer than the run. */
  changed: boolean,
};

/** Calls of a line in both runs, of all ranks: how many, and seconds in them. */
export type TimeChange = {
  /** The call. */
  call: string,
  /** `file:line`, if it is known. */
  line: string,
  /** In the other run. */
  before: [number, number],
  /** In this one. */
  after: [number, number],
};

/** What happened when. */
export type TimelineDetail = {
  /** How long a bin is. */
  width_seconds: number,
  /** Largest first, but kinds in their order. */
  series: Array<Series>,
  /** Seconds in calls, of all ranks, or of the one asked for. */
  waiting: Array<number>,
  /** These by call, or by the place or node that calls; those with most time first. */
  calls: Array<CallSeries>,
};

/** What has been moved in all. */
export type Total = {
  /** Position in `kinds`. */
  kind: number,
  /** Transfers. */
  count: number,
  /** Their bytes. */
  bytes: number,
};

/** Something unusual. */
export type Unusual = {
  /** What it is, in a sentence. */
  text: string,
  /** By what it shows. */
  evidence: string,
  /** What people do about it. */
  advice: string,
  /** The file that it is about. */
  file: number | null,
  /** The line there. */
  line: number | null,
  /** The place that it is about. */
  place: number | null,
  /** The object that it is about. */
  object: number | null,
  /** When it was worst: nanoseconds from the beginning of the run, as events have them. */
  when: [number, number] | null,
  /** How it compares with others. */
  picture: Picture,
};

/** A line at which ranks wait, and the line that they wait for. */
export type WaitLine = {
  /** Position in [`Waiting::states`]. */
  state: number,
  /** The call that waits. */
  call: string,
  /** Its file. */
  file: number | null,
  /** The line there. */
  line: number | null,
  /** The call that is late. */
  late_call: string,
  /** Its file. */
  late_file: number | null,
  /** The line there. */
  late_line: number | null,
  /** Pairs of ranks that do so. */
  pairs: number,
  /** How often. */
  count: number,
  /** Seconds in all of these waits. */
  seconds: number,
  /** The longest of them. */
  longest: LongestWait,
};

/** Lines at which some ranks wait for others, those first that cost most. */
export type WaitLines = {
  /** Those with most time. */
  lines: Array<WaitLine>,
  /** Those that are left out. */
  more: number,
};

/** Who waits × for whom. What is on the diagonal is a rank's own fault: it receives in the wrong
 * order. */
export type WaitMatrix = {
  /** Ranks that wait. */
  rows: Array<Block>,
  /** Ranks that they wait for. */
  cols: Array<Block>,
  /** (row, column, what), by row and column; empty ones are left out. */
  cells: [row: number, column: number, StateTotal[]][],
};

/** What the waits of a state cost. */
export type WaitState = {
  /** Its name. */
  name: string,
  /** How many waits. */
  count: number,
  /** Seconds in all of them. */
  seconds: number,
};

/** Time that ranks wait for others, found by comparing both ends. */
export type Waiting = {
  /** Seconds, of all ranks. */
  seconds: number,
  /** Wait states that occur, and what they cost: `late sender`, `wait at barrier`, … */
  states: Array<WaitState>,
  /** Of each rank with events: its place, seconds. */
  by_rank: [place: number, seconds: number][],
  /** Calls that others wait for, by rank and line; those first that cost most. */
  late: Array<LateCall>,
  /** Those that are left out, which cost least. */
  more: number,
  /** Messages and collectives that were compared. */
  compared: number,
};
