/**
 * Answers of the profile's API, as `profile::api` serialises them. Identifiers are positions in the
 * arrays of `/api/run`; intervals of places and bins include both ends.
 */

/** Traffic of one kind: position in `Run.kinds`, transfers, bytes. */
export type KindTotal = [kind: number, count: number, bytes: number];

export interface Frame {
  function: string;
  file: number | null;
  line: number | null;
}

export type PlaceKind = "rank" | "device" | "file" | "unknown";

export interface Place {
  id: number;
  name: string;
  kind: PlaceKind;
  /** Position in `Run.nodes`. */
  node: number;
}

export interface Node {
  name: string;
  places: [first: number, last: number];
}

export interface SourceFile {
  id: number;
  path: string;
  count: number;
  bytes: number;
  by_kind: KindTotal[];
  found: boolean;
  changed: boolean;
}

export interface DataObject {
  id: number;
  name: string;
  memory: string;
  place_count: number;
  /** Size of the largest allocation. */
  bytes: number;
  allocations: number;
  file: number | null;
  line: number | null;
  by_kind: KindTotal[];
  stack: Frame[];
}

export interface FindingSide {
  /** What happens there. */
  label: string;
  path: string | null;
  /** Its number, if anything is moved in it. */
  file: number | null;
  line: number | null;
}

export interface Finding {
  code: string;
  title: string;
  message: string;
  places: number[];
  file: number | null;
  line: number | null;
  object: number | null;
  /** Its sides, the one where the problem is first. */
  sides: FindingSide[];
  /** Why these are not ordered. */
  why: string;
  help: string;
}

export interface CallTime {
  place: number;
  /** Seconds spent in communication calls. */
  seconds: number;
  /** Seconds spent outside of them. */
  busy: number;
}

export interface Run {
  version: number;
  name: string;
  command: string[];
  /** Seconds since 1970. */
  began: number;
  seconds: number;
  places: Place[];
  nodes: Node[];
  kinds: string[];
  totals: { kind: number; count: number; bytes: number }[];
  regions: string[];
  calls: { share_of_time: number; by_rank: CallTime[] };
  files: SourceFile[];
  objects: DataObject[];
  notes: string[];
  findings: Finding[];
  /** Whether any rank was checked. */
  checked: boolean;
  timeline: { bins: number; width_seconds: number };
  complete: boolean;
}

/** A block of places that one row or column of a matrix stands for. */
export interface Block {
  label: string;
  first: number;
  last: number;
}

export interface Matrix {
  rows: Block[];
  cols: Block[];
  cells: [row: number, col: number, traffic: KindTotal[]][];
}

/** Bytes from an object's beginning that were touched equally often. */
export type Extent = [start: number, bytes: number, count: number];

export interface Accessor {
  place: number;
  kind: number;
  call: string;
  file: number | null;
  line: number | null;
  direction: "read" | "write";
  count: number;
  bytes: number;
  extents: Extent[];
}

export interface ObjectPlace {
  place: number;
  bytes: number;
  /** Of the first allocation there; 0 if unknown. */
  address: number;
  accessors: Accessor[];
}

export interface ObjectAnswer {
  object: DataObject;
  places: ObjectPlace[];
  /** How many accesses are left out, the smallest. */
  more: number;
  /** Guessed size of an element, in bytes. */
  element: number;
  /** Suggested shapes, outermost dimension first. */
  shapes: [number, number][];
}

export interface FileLine {
  line: number;
  count: number;
  bytes: number;
  by_kind: KindTotal[];
  objects: number[];
  calls: string[];
}

export interface FileAnswer {
  path: string;
  text: string | null;
  why_missing?: string | null;
  lines: FileLine[];
}

export interface Transfer {
  source: number;
  target: number;
  kind: number;
  call: string;
  object: number | null;
  target_object: number | null;
  count: number;
  bytes: number;
}

export interface LineAnswer {
  transfers: Transfer[];
  /** How many transfers are left out, the smallest. */
  more: number;
  stacks: Frame[][];
}

export interface PlaceAnswer {
  objects: { object: number; kind: number; direction: "read" | "write"; count: number; bytes: number }[];
  instructions: { call: string; count: number; bytes: number }[];
  lines: { file: number; line: number; call: string; count: number; bytes: number }[];
  peers: { place: number; direction: "read" | "write"; kind: number; count: number; bytes: number }[];
}

export interface Series {
  label: string;
  counts: number[];
  bytes: number[];
}

export interface TimelineAnswer {
  width_seconds: number;
  series: Series[];
  /** Seconds that all ranks together spent in communication calls, by bin. */
  waiting: number[];
}

export interface Amount {
  count: number;
  bytes: number;
}

/** Something that both runs have a name for. */
export interface Change {
  name: string;
  before: Amount;
  after: Amount;
}

export interface PairChange {
  source: string;
  target: string;
  kind: string;
  before: Amount;
  after: Amount;
}

/** This run, after, and another one, before. */
export interface Comparison {
  other: { name: string; command: string[]; seconds: number; ranks: number };
  kinds: Change[];
  pairs: PairChange[];
  lines: Change[];
  objects: Change[];
  /** How many more differ, by less than those that are listed. */
  more: [pairs: number, lines: number, objects: number];
}
