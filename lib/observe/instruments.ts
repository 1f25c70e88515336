import type { Family, Labels, Sample } from "./exposition.ts";

/** Separates label values in a series' key; no label value of ours contains it. */
const SEPARATOR = "\u0000";

/** Counts, one series for each set of label values. */
export class Counter<Label extends string> {
  readonly #name: string;
  readonly #help: string;
  readonly #labels: readonly Label[];
  readonly #series = new Map<string, { values: readonly string[]; n: number }>();

  constructor(name: string, help: string, labels: readonly Label[]) {
    this.#name = name;
    this.#help = help;
    this.#labels = labels;
    // A series that cannot be missed later is there from the start.
    if (labels.length === 0) this.#series.set("", { values: [], n: 0 });
  }

  /** Adds one to the series of these label values, given in the order of the labels. */
  add(...values: string[]): void {
    const key = values.join(SEPARATOR);
    const series = this.#series.get(key);
    if (series === undefined) this.#series.set(key, { values, n: 1 });
    else series.n++;
  }

  family(): Family {
    const samples = Array.from(
      this.#series.values(),
      ({ values, n }) => ({ labels: labelled(this.#labels, values), value: n }),
    );
    return { name: this.#name, help: this.#help, type: "counter", samples };
  }
}

/** Times in buckets, one histogram for each value of one label. */
export class Histogram {
  readonly #name: string;
  readonly #help: string;
  readonly #label: string;
  readonly #boundsS: readonly number[];
  readonly #series = new Map<string, { counts: number[]; sumMs: number; n: number }>();

  /** `boundsS` are the upper ends of the buckets in seconds, rising. */
  constructor(name: string, help: string, label: string, boundsS: readonly number[]) {
    this.#name = name;
    this.#help = help;
    this.#label = label;
    this.#boundsS = boundsS;
  }

  record(value: string, ms: number): void {
    let series = this.#series.get(value);
    if (series === undefined) {
      series = { counts: this.#boundsS.map(() => 0), sumMs: 0, n: 0 };
      this.#series.set(value, series);
    }
    const seconds = ms / 1_000;
    series.n++;
    series.sumMs += ms;
    const bucket = this.#boundsS.findIndex((bound) => seconds <= bound);
    if (bucket >= 0) series.counts[bucket]++;
  }

  family(): Family {
    const samples = Array.from(this.#series, ([value, series]) => this.#samples(value, series));
    return { name: this.#name, help: this.#help, type: "histogram", samples: samples.flat() };
  }

  /** Buckets are cumulative in the text, not in memory. */
  #samples(value: string, { counts, sumMs, n }: { counts: number[]; sumMs: number; n: number }) {
    const labels = { [this.#label]: value };
    let below = 0;
    const buckets = this.#boundsS.map((bound, index): Sample => {
      below += counts[index];
      return { suffix: "_bucket", labels: { ...labels, le: String(bound) }, value: below };
    });
    return [
      ...buckets,
      { suffix: "_bucket", labels: { ...labels, le: "+Inf" }, value: n },
      { suffix: "_sum", labels, value: sumMs / 1_000 },
      { suffix: "_count", labels, value: n },
    ] satisfies Sample[];
  }
}

function labelled(names: readonly string[], values: readonly string[]): Labels {
  return Object.fromEntries(names.map((name, index) => [name, values[index]]));
}
