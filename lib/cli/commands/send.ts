import { InvalidArgumentError } from "commander";
import { examples } from "../examples.ts";
import { refusal } from "../client.ts";
import type { AddCommand, Session } from "../session.ts";
import { safe } from "../text.ts";

interface Options {
  header: [string, string][];
  method: string;
  path: string;
  type?: string;
  eventId?: string;
}

export const addSend: AddCommand = (program, session) => {
  program.command("send")
    .argument("<endpoint>", "its id")
    .argument("[file]", "the body; standard input where it is - or absent", "-")
    .description("post a file to an endpoint as a test event, as a sender would")
    .option("-H, --header <line>", "a header, 'name: value'; may be given often", addHeader, [])
    .option("-X, --method <method>", "the request's method", "POST")
    .option("--path <rest>", "what follows the endpoint: /rest?query", "")
    .option("--type <media-type>", "content type; by the file's name where absent", headerValue)
    .option("--event-id <id>", "sent as idempotency-key: a repeat is a duplicate", headerValue)
    .addHelpText(
      "after",
      examples(
        "send demo event.json",
        "send github push.json -H 'x-github-event: push' -H 'x-github-delivery: 1'",
        "send demo - --event-id e1 < event.json",
      ),
    )
    .action(async (endpoint: string, file: string, options: Options) => {
      await send(session(), endpoint, file, options);
    });
};

const addHeader = (line: string, lines: [string, string][]) => [...lines, headerLine(line)];

/** The option `--header`. */
export function headerLine(line: string): [string, string] {
  const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+):\s*(.*)$/s.exec(line) ?? [];
  if (name === undefined) throw new InvalidArgumentError("It is not of the form 'name: value'.");
  return [name, headerValue(value)];
}

/** The options `--type` and `--event-id`: field values go out as Latin-1. */
export function headerValue(text: string): string {
  if (/^[\t\x20-\x7e\x80-\xff]*$/.test(text)) return text;
  throw new InvalidArgumentError("It has characters that a header cannot hold.");
}

async function send(
  { io, client, out }: Session,
  endpoint: string,
  file: string,
  { header, method, path, type = typeOf(file), eventId }: Options,
): Promise<void> {
  const body = file === "-" ? await io.readInput() : await io.readFile(file);
  const headers = new Headers({ "content-type": type });
  if (eventId !== undefined) headers.set("idempotency-key", eventId);
  for (const [name, value] of header) headers.set(name, value);
  const target = `/hook/${encodeURIComponent(endpoint)}${path}`;
  const response = await client.fetch(target, { method, headers, body });
  if (!response.ok) throw await refusal(response);
  await response.body?.cancel();
  const told = {
    status: response.headers.get("holdfast-status"),
    deliveryId: response.headers.get("holdfast-delivery-id"),
    eventId: response.headers.get("holdfast-event-id"),
  };
  if (out.json) out.value(told);
  else out.text(`${safe(`${told.status} ${told.deliveryId} (event ${told.eventId})`)}\n`);
}

function typeOf(file: string): string {
  return /\.(json|-)$/.test(`.${file}`) ? "application/json" : "application/octet-stream";
}
