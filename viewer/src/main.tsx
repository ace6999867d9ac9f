/** Opens the run and shows it. */

import { render } from "preact";
import { App } from "./app";
import { address, NoAnswer, openAnswers } from "./api/answers";
import type { Comparison, Run } from "./api/types";
import "./style.css";

/** Version of the answers that this page understands: `profile::api::VERSION`. */
const VERSION = 1;

async function open(root: HTMLElement): Promise<void> {
  const answers = await openAnswers();
  const run = (await answers.get(address("run"))) as Run;
  if (run.version !== VERSION) {
    throw new NoAnswer(
      `This page reads version ${VERSION} of commsan's answers, not ${run.version}. Reload it, or build commsan as a whole.`,
    );
  }
  const comparison = (await answers.get(address("compare"))) as Comparison | null;
  render(<App answers={answers} run={run} comparison={comparison} />, root);
}

// The token came as a cookie, too; in the address it would be copied along with links.
if (new URLSearchParams(location.search).has("token"))
  history.replaceState(null, "", location.pathname + location.hash);

const root = document.getElementById("app");
if (root !== null) {
  open(root).catch((error: unknown) => {
    const why = error instanceof NoAnswer ? error.message : `The run cannot be shown: ${String(error)}`;
    render(
      <div class="empty" role="alert">
        {why}
      </div>,
      root,
    );
  });
}
