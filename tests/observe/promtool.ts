/** A checker of Prometheus' text format, as strict as its own tool is. */

export interface Series {
  name: string;
  labels: Record<string, string>;
  value: number;
}

export interface Checked {
  series: Series[];
  faults: string[];
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\\\|\\"|\\n)*)"(?:,|$)/y;
const TYPES = new Set(["counter", "gauge", "histogram"]);
const HISTOGRAM_SUFFIX = /_(bucket|sum|count)$/;

/** Reads a text and says all that is wrong with it. */
export function check(text: string): Checked {
  const faults: string[] = [];
  if (!text.endsWith("\n")) faults.push("the last line does not end");
  const types = new Map<string, string>();
  const helped = new Set<string>();
  const order: string[] = [];
  const series: Series[] = [];
  for (const line of text.split("\n").filter((line) => line !== "")) {
    const meta = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line);
    if (meta !== null) faults.push(...metaFaults(meta, types, helped));
    else {
      const one = parseSample(line);
      if (one === undefined) faults.push(`not a sample: ${line}`);
      else {
        series.push(one);
        const family = familyOf(one.name, types);
        if (order.at(-1) !== family) order.push(family);
      }
    }
  }
  faults.push(...duplicates(order).map((name) => `${name} stands in two places`));
  faults.push(...duplicates(series.map(keyOf)).map((key) => `${key} is there twice`));
  for (const [name, type] of types) faults.push(...familyFaults(name, type, series, helped));
  const untyped = order.filter((name) => !types.has(name));
  faults.push(...untyped.map((name) => `${name} has no TYPE`));
  return { series, faults };
}

function metaFaults(
  [line, kind, name, rest]: RegExpExecArray,
  types: Map<string, string>,
  helped: Set<string>,
): string[] {
  const known = kind === "HELP" ? helped : types;
  const again = known.has(name) ? [`${name} has two ${kind} lines`] : [];
  if (kind === "HELP") helped.add(name);
  else types.set(name, rest);
  const badType = kind === "TYPE" && !TYPES.has(rest) ? [`unknown type: ${line}`] : [];
  return [...again, ...badType, ...NAME.test(name) ? [] : [`bad name: ${line}`]];
}

function parseSample(line: string): Series | undefined {
  const [, name, labelText = "", value] = SAMPLE.exec(line) ?? [];
  if (name === undefined) return undefined;
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  while (LABEL.lastIndex < labelText.length) {
    const label = LABEL.exec(labelText);
    if (label === null || label[1] in labels) return undefined;
    labels[label[1]] = label[2];
  }
  const number = value === "+Inf" ? Infinity : Number(value);
  return Number.isNaN(number) && value !== "NaN" ? undefined : { name, labels, value: number };
}

function familyOf(name: string, types: Map<string, string>): string {
  const base = name.replace(HISTOGRAM_SUFFIX, "");
  return types.get(base) === "histogram" ? base : name;
}

function familyFaults(
  name: string,
  type: string,
  series: readonly Series[],
  helped: Set<string>,
): string[] {
  const faults = helped.has(name) ? [] : [`${name} has no HELP`];
  const mine = series.filter((one) => one.name.replace(HISTOGRAM_SUFFIX, "") === name);
  if (type === "histogram") return [...faults, ...histogramFaults(name, mine)];
  if ((type === "counter") !== name.endsWith("_total")) faults.push(`${name} is a ${type}`);
  const negative = type === "counter" && mine.some(({ value }) => !(value >= 0));
  return negative ? [...faults, `${name} counts down`] : faults;
}

function histogramFaults(name: string, mine: readonly Series[]): string[] {
  const groups = Map.groupBy(mine, ({ labels: { le: _, ...rest } }) => JSON.stringify(rest));
  return [...groups].flatMap(([labels, group]) => {
    const valueOf = (suffix: string) => group.find((one) => one.name === name + suffix)?.value;
    const buckets = group.filter((one) => one.name === `${name}_bucket`)
      .map(({ labels, value }) => ({ le: labels.le === "+Inf" ? Infinity : +labels.le, value }));
    const rising = buckets.every((bucket, index) =>
      index === 0 || (bucket.le > buckets[index - 1].le && bucket.value >= buckets[index - 1].value)
    );
    const last = buckets.at(-1);
    return [
      ...rising ? [] : [`${name}${labels}: buckets do not rise`],
      ...last?.le === Infinity && last.value === valueOf("_count")
        ? []
        : [`${name}${labels}: the last bucket is not all`],
      ...valueOf("_sum") === undefined ? [`${name}${labels}: no sum`] : [],
    ];
  });
}

const keyOf = ({ name, labels }: Series) => `${name}${JSON.stringify(Object.entries(labels))}`;

const duplicates = (names: readonly string[]) =>
  names.filter((name, index) => names.indexOf(name) !== index);
