/** Where answers come from: the server that gave us this page, or the page itself in an HTML
 * export. */

import { embeddedAnswers } from "./embedded";

/** An answer that could not be had, in words for the user. */
export class NoAnswer extends Error {}

export interface Answers {
  /** The answer to an address as `address()` makes it. */
  get(address: string): Promise<unknown>;
  /** Whether there is one: exports hold but some. */
  holds(address: string): boolean;
}

type Parameter = string | number | null | undefined;

/**
 * The one way to spell a question: parameters in alphabetical order, absent ones left out. An
 * export finds its answers by this spelling.
 */
export function address(path: string, parameters: Record<string, Parameter> = {}): string {
  const query = Object.entries(parameters)
    .filter(([, value]) => value !== null && value !== undefined && value !== "")
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
    .join("&");
  return query === "" ? `/api/${path}` : `/api/${path}?${query}`;
}

/** Asks the server. The token arrived as a cookie with the page. */
const server: Answers = {
  holds: () => true,
  async get(address) {
    const response = await fetch(address.slice(1), { headers: { accept: "application/json" } }).catch(() => {
      throw new NoAnswer("The server does not answer. Is `commsan view` still running?");
    });
    const body = (await response.json().catch(() => null)) as { error?: string } | null;
    if (!response.ok) {
      throw new NoAnswer(body?.error ?? `The server answers with status ${response.status}.`);
    }
    return body;
  },
};

/** Remembers the latest answers of `source`: going back and forth asks nothing twice. */
export function remembering(source: Answers, most = 256): Answers {
  const known = new Map<string, Promise<unknown>>();
  return {
    holds: (address) => source.holds(address),
    get(address) {
      const answer = known.get(address) ?? source.get(address);
      known.delete(address);
      known.set(address, answer);
      answer.catch(() => known.delete(address));
      if (known.size > most) known.delete(known.keys().next().value!);
      return answer;
    },
  };
}

/** Those of this page. */
export async function openAnswers(): Promise<Answers> {
  return remembering((await embeddedAnswers(document)) ?? server);
}
