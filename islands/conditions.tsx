import { countUpTo, Time } from "./format.tsx";
import type { StatusView } from "./views.ts";

type Condition = StatusView["conditions"][number];

/** Conditions whose count is deliveries that wait at their endpoint. */
const WAITING: ReadonlySet<string> = new Set([
  "oldest_pending_age",
  "breaker_open",
  "endpoint_disabled",
  "endpoint_paused",
  "endpoint_removed",
]);

interface Props {
  conditions: readonly Condition[];
  /** A count that has come so far means "at least". */
  countedUpTo: number;
  nowMs: number;
}

/** What needs attention, the gravest first: what and where, how many, since when, what to do. */
export function Conditions({ conditions, countedUpTo, nowMs }: Props) {
  if (conditions.length === 0) return <p class="calm">Nothing needs attention.</p>;
  return (
    <ul class="conditions" aria-label="What needs attention">
      {conditions.map((condition) => {
        const { type, severity, since, subject, detail } = condition;
        return (
          <li key={`${type} ${subject}`} class={severity}>
            <b>{severity}</b>
            <span>
              <a href="/docs/guide/operating#conditions" title="What it means, and what to do">
                <code>{type}</code>
              </a>{" "}
              <Subject {...condition} /> {detail}
            </span>
            <Held {...condition} countedUpTo={countedUpTo} />
            <Time at={since} nowMs={nowMs} />
          </li>
        );
      })}
    </ul>
  );
}

/** The endpoint's name, leading to where something can be done about it. */
function Subject({ type, subject }: Condition) {
  if (subject === undefined) return null;
  // There is no page of an endpoint that left the configuration.
  if (type === "endpoint_removed") return <strong>{subject}</strong>;
  const isHook = type === "watchdog_failing" || type === "app_config_drift";
  return (
    <a href={isHook ? "/admin/github" : `/admin/endpoints/${subject}`}>
      <strong>{subject}</strong>
    </a>
  );
}

/** How many deliveries are concerned, leading to them; of other conditions nothing. */
function Held({ type, subject, count, countedUpTo }: Condition & { countedUpTo: number }) {
  if (subject === undefined || count === 0) return null;
  const many = countUpTo(count, countedUpTo);
  if (type === "dead_letters") {
    return <a href={`/admin/dead-letters?endpoint=${subject}`}>{many} dead</a>;
  }
  if (!WAITING.has(type)) return null;
  return <a href={`/admin/deliveries?endpoint=${subject}&state=pending`}>{many} waiting</a>;
}
