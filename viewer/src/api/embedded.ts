/** Answers inside the page: what `commsan export --html` writes. */

import { type Answers, NoAnswer } from "./answers";
import { cut, cutWaits, type Span } from "./cut";
import type { Matrix, WaitMatrix } from "./types";

/** Answers by their address. */
export type Archive = Record<string, unknown>;

async function unpack(text: string): Promise<Archive> {
  const packed = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text()) as Archive;
}

function span(text: string | null): Span | null {
  const [first, last] = (text ?? "").split("-").map(Number);
  return first === undefined || last === undefined ? null : [first, last];
}

/** Blocks of the matrices of objects and lines that exports hold. */
const COARSE = "32";

/**
 * The answer to `address`, or undefined. Part of a matrix that is in the archive as a whole is cut
 * out of it; an export does not resolve blocks of places further than it was made for.
 */
function find(archive: Archive, address: string): unknown {
  const exact = archive[address];
  if (exact !== undefined) return exact;
  const [path = "", query = ""] = address.split("?");
  // Of the whole run, as finely as the export was made.
  if (path === "/api/events") return archive[path];
  if (path !== "/api/matrix" && path !== "/api/waits") return undefined;
  const parameters = new URLSearchParams(query);
  const rows = span(parameters.get("rows"));
  const cols = span(parameters.get("cols"));
  for (const name of ["rows", "cols", "max"]) parameters.delete(name);
  const spelled = () => {
    parameters.sort();
    const rest = parameters.toString();
    return rest === "" ? path : `${path}?${rest}`;
  };
  let whole = archive[spelled()];
  if (whole === undefined) {
    parameters.set("max", COARSE);
    whole = archive[spelled()];
  }
  if (whole === undefined) return undefined;
  return path === "/api/waits" ? cutWaits(whole as WaitMatrix, rows, cols) : cut(whole as Matrix, rows, cols);
}

/** The answer to `address`. */
export function lookUp(archive: Archive, address: string): unknown {
  const found = find(archive, address);
  if (found !== undefined) return found;
  throw new NoAnswer(`${NOT_HELD}. Open the run itself with \`commsan view\` to see it.`);
}

/** Whether there is an answer to `address`. */
export function holds(archive: Archive, address: string): boolean {
  return find(archive, address) !== undefined;
}

/** Why something cannot be selected. */
export const NOT_HELD = "This export does not hold that detail";

/** The archive in `page`, if this page is an export. */
export async function embeddedAnswers(page: Document): Promise<Answers | null> {
  const element = page.getElementById("commsan-answers");
  if (element === null) return null;
  const archive = await unpack(element.textContent?.trim() ?? "");
  return {
    get: async (address) => lookUp(archive, address),
    holds: (address) => holds(archive, address),
  };
}
