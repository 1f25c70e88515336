import type { Endpoint } from "../endpoint.ts";
import type { Scheme, Source } from "../signature_scheme.ts";
import { NAMED_SCHEMES } from "../signature_scheme.ts";
import type { IdSource } from "./identity.ts";
import type { Preset } from "./preset.ts";
import { presetOf } from "./presets.ts";

/** Where GitHub and many that follow it put an HMAC of the body. */
const DEFAULT_SIGNATURE_HEADER = "x-hub-signature-256";
const DEFAULT_ID_HEADERS = ["idempotency-key", "webhook-id", "x-request-id", "x-event-id"];

/** The endpoint's sender as one row: its preset, or one made of its own settings. */
export function rowOf(endpoint: Endpoint): Preset {
  const preset = endpoint.provider === undefined ? undefined : presetOf(endpoint.provider);
  const row = preset ?? customRow(endpoint);
  const schemes = endpoint.timestampToleranceMs === undefined
    ? row.schemes
    : row.schemes.map((scheme) => withTolerance(scheme, endpoint.timestampToleranceMs as number));
  return preset === undefined ? { ...row, schemes } : { ...row, schemes, id: ownId(endpoint, row) };
}

/** The endpoint's own headers and path, each in place of the preset's. */
function ownId({ idHeaders, idPath }: Endpoint, row: Preset): readonly IdSource[] {
  if (idHeaders === undefined && idPath === undefined) return row.id;
  const inHead = (source: IdSource) => typeof source === "string" && source.startsWith("header:");
  return [
    ...(idHeaders === undefined ? row.id.filter(inHead) : idSources(idHeaders, undefined)),
    ...(idPath === undefined ? row.id.filter((one) => !inHead(one)) : idSources([], idPath)),
  ];
}

function customRow(endpoint: Endpoint): Preset {
  return {
    name: "custom",
    title: "Custom",
    setup: "",
    schemes: [customScheme(endpoint)],
    id: idSources(endpoint.idHeaders ?? DEFAULT_ID_HEADERS, endpoint.idPath),
    fallback: {},
    acceptStatus: 202,
  };
}

function customScheme(endpoint: Endpoint): Scheme {
  const scheme = endpoint.signatureScheme ?? NAMED_SCHEMES["hmac-sha256-hex"];
  const header = endpoint.signatureHeader?.toLowerCase();
  if (scheme.type === "basic") return { ...scheme, header: header ?? "authorization" };
  const from: readonly Source[] = [`header:${header ?? DEFAULT_SIGNATURE_HEADER}`];
  if (scheme.type === "token") return { ...scheme, from };
  return { ...scheme, signature: scheme.signature ?? from };
}

function idSources(headers: readonly string[], path: string | undefined): IdSource[] {
  const sources: IdSource[] = headers.map((name) => `header:${name}` as const);
  return path === undefined ? sources : [...sources, `path:${path}`];
}

/** Replaces the tolerance of signed times; schemes without a time stay as they are. */
export function withTolerance(scheme: Scheme, toleranceMs: number): Scheme {
  if (scheme.type === "signature" && scheme.timestamp !== undefined) {
    return { ...scheme, timestamp: { ...scheme.timestamp, toleranceMs } };
  }
  return scheme.type === "jwt" && scheme.issuedWithinMs !== undefined
    ? { ...scheme, issuedWithinMs: toleranceMs }
    : scheme;
}
