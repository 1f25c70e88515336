/// <reference lib="dom" />
import { useEffect, useRef, useState } from "preact/hooks";

/** Whether a view follows what happens, was told not to, or has lost the relay. */
export type Link = "off" | "live" | "paused" | "lost";

export interface Live<T> {
  value: T;
  link: Link;
  /** Moves on so that relative times stay true. */
  nowMs: number;
  toggle(): void;
}

/** However much happens, a view is read again at most so often. */
const GAP_MS = 1_000;
const TICK_MS = 5_000;
const TYPES = ["accepted", "attempt", "settled", "lane"];

/** What an event tells of; enough to see whether a view has to change. */
export interface Told {
  endpoint: string;
  deliveryId?: string;
}

interface Options<T> {
  read: () => Promise<T>;
  concerns?: (told: Told) => boolean;
}

/**
 * Shows a value that the server rendered and reads it again when something happens that
 * concerns it. A hidden page listens to nothing: browsers allow few connections to one host.
 */
export function useLive<T>(initial: T, nowMs: number, { read, concerns }: Options<T>): Live<T> {
  const [value, setValue] = useState(initial);
  const [link, setLink] = useState<Link>("off");
  const [paused, setPaused] = useState(false);
  const clock = useNow(nowMs);
  const latest = useRef({ read, concerns });
  latest.current = { read, concerns };

  useEffect(() => {
    if (paused) return setLink("paused");
    let timer: ReturnType<typeof setTimeout> | undefined;
    let source: EventSource | undefined;
    let ended = false;
    const refresh = async () => {
      timer = undefined;
      try {
        const next = await latest.current.read();
        if (!ended) setValue(next);
      } catch {
        if (!ended) setLink("lost");
      }
    };
    const soon = () => timer ??= setTimeout(refresh, GAP_MS);
    const onEvent = (event: MessageEvent<string>) => {
      if (latest.current.concerns?.(JSON.parse(event.data)) ?? true) soon();
    };
    const follow = () => {
      source?.close();
      source = undefined;
      if (document.hidden) return;
      source = new EventSource("/api/v1/events");
      source.onopen = () => {
        setLink("live");
        soon();
      };
      source.onerror = () => setLink("lost");
      for (const type of TYPES) source.addEventListener(type, onEvent);
    };
    follow();
    document.addEventListener("visibilitychange", follow);
    return () => {
      ended = true;
      clearTimeout(timer);
      source?.close();
      document.removeEventListener("visibilitychange", follow);
    };
  }, [paused]);

  return { value, link, nowMs: clock, toggle: () => setPaused(!paused) };
}

/** The present, from the server's clock at first and then as time goes by here. */
export function useNow(initialMs: number): number {
  const [nowMs, setNowMs] = useState(initialMs);
  useEffect(() => {
    const sinceMs = performance.now();
    const timer = setInterval(() => setNowMs(initialMs + performance.now() - sinceMs), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return nowMs;
}

/** Reads JSON of our own API; a lost session leads to the sign-in page. */
export async function readJson<T>(path: string): Promise<T> {
  const response = await fetch(path, { headers: { accept: "application/json" } });
  if (response.status === 401) location.reload();
  if (!response.ok) throw new Error(`cannot read ${path}: status is ${response.status}`);
  return await response.json();
}

const TEXTS: Record<Link, string> = {
  off: "",
  live: "Live",
  paused: "Paused",
  lost: "Reconnecting",
};

/** Says whether the view is live, and stops or starts it. Nothing without JavaScript. */
export function LiveSwitch({ link, toggle }: Pick<Live<unknown>, "link" | "toggle">) {
  if (link === "off") return null;
  return (
    <button type="button" class={`live ${link}`} aria-pressed={link !== "paused"} onClick={toggle}>
      <span class="dot" aria-hidden="true" />
      {TEXTS[link]}
    </button>
  );
}
