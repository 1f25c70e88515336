import { count } from "./format.tsx";
import type { SeriesView } from "./views.ts";

const HEIGHT = 100;
const SLOT = 10;
const BAR = 7;

/** Accepted as a line, delivered and dead as bars, over the last hour or day. */
export function Chart({ series, span }: { series: SeriesView; span: "hour" | "day" }) {
  const { accepted, delivered, dead } = series;
  const most = Math.max(4, ...accepted, ...delivered.map((n, index) => n + dead[index]));
  const y = (n: number) => (n / most) * HEIGHT;
  const line = accepted.map((n, index) => `${index * SLOT + SLOT / 2},${HEIGHT - y(n)}`).join(" ");
  return (
    <figure class="chart">
      <div class="plot">
        <span class="most" aria-hidden="true">{count(most)}</span>
        <svg
          viewBox={`0 0 ${accepted.length * SLOT} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`In the last ${span}: ${count(sum(accepted))} accepted, ${
            count(sum(delivered))
          } delivered, ${count(sum(dead))} dead`}
        >
          <path class="grid" d={`M0 .5H${accepted.length * SLOT}M0 50H${accepted.length * SLOT}`} />
          {delivered.map((n, index) => (
            <g key={index}>
              <rect
                class="delivered"
                x={index * SLOT + (SLOT - BAR) / 2}
                y={HEIGHT - y(n)}
                width={BAR}
                height={y(n)}
              />
              <rect
                class="dead"
                x={index * SLOT + (SLOT - BAR) / 2}
                y={HEIGHT - y(n) - y(dead[index])}
                width={BAR}
                height={y(dead[index])}
              />
            </g>
          ))}
          <polyline class="accepted" points={line} />
        </svg>
      </div>
      <div class="axis" aria-hidden="true">
        <span>{span === "hour" ? "60 min ago" : "24 h ago"}</span>
        <span>now</span>
      </div>
      <figcaption>
        <Legend name="accepted" n={sum(accepted)} />
        <Legend name="delivered" n={sum(delivered)} />
        <Legend name="dead" n={sum(dead)} />
      </figcaption>
    </figure>
  );
}

function Legend({ name, n }: { name: string; n: number }) {
  return (
    <span class="legend">
      <span class={`swatch ${name}`} aria-hidden="true" />
      {name} <b>{count(n)}</b>
    </span>
  );
}

const sum = (numbers: number[]) => numbers.reduce((total, n) => total + n, 0);
