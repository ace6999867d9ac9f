/** The keyboard map, on top of everything. */

import { useEffect, useRef } from "preact/hooks";
import { KEYS } from "./keys";

export function Help({ onClose }: { onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const element = dialog.current;
    if (element !== null && !element.open) element.showModal();
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby="help-title"
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && dialog.current?.close()}
    >
      <div class="help">
        <header>
          <h2 id="help-title">Keyboard</h2>
          <span class="spring" />
          <button type="button" onClick={() => dialog.current?.close()}>
            Close
          </button>
        </header>
        <div class="keys">
          {KEYS.map(([where, keys]) => (
            <section key={where}>
              <h3>{where}</h3>
              <dl>
                {keys.map(([key, what]) => [
                  <dt key={key}>
                    <kbd>{key}</kbd>
                  </dt>,
                  <dd key={`${key} what`}>{what}</dd>,
                ])}
              </dl>
            </section>
          ))}
        </div>
        <p class="muted">
          The address of the page holds all that is shown: bookmark it, or send it to somebody who opens the same run.
          Numbers are rounded; hovering shows every digit, and tables are saved with every digit as CSV.
        </p>
      </div>
    </dialog>
  );
}
