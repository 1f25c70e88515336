/// <reference lib="dom" />
import { useEffect, useState } from "preact/hooks";

/** Text to paste elsewhere, with a button where the browser can copy. */
export function Copy({ text, label }: { text: string; label: string }) {
  const [can, setCan] = useState(false);
  const [done, setDone] = useState(false);
  useEffect(() => setCan(navigator.clipboard !== undefined), []);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setDone(true);
  };
  return (
    <div class="copy">
      <pre tabIndex={0} role="region" aria-label={label}>{text}</pre>
      {can && <button type="button" onClick={copy}>{done ? "Copied" : "Copy"}</button>}
    </div>
  );
}
