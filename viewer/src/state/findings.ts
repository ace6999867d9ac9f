/** Where findings are in the source. */

import type { Finding } from "../api/types";

/** The lines of a file that take part in a finding, each once. */
export function linesIn(finding: Finding, file: number): number[] {
  const lines = finding.sides.filter((side) => side.file === file && side.line !== null).map((side) => side.line!);
  return [...new Set(lines)];
}
