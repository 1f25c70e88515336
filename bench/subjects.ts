import { type Child, freePort, type Launch, start, startFlags } from "./child.ts";

/** What is measured: the program, and the two references beside it. */
export type SubjectName = "bare" | "plain" | "holdfast";

export const SUBJECTS: readonly SubjectName[] = ["bare", "plain", "holdfast"];

export interface SubjectSetup {
  sinkPort: number;
  /** Folder of this run alone; stores are made in it. */
  folder: string;
  port?: number;
  /** Further settings of the program. */
  env?: Readonly<Record<string, string>>;
  /** Further flags of the runtime, for profiles of the program. */
  flags?: readonly string[];
  /** The plain reading accepts only and leaves its queue alone. */
  hold?: boolean;
}

/** Where the program under test keeps its store. */
export const storePath = (folder: string) => `${folder}/relay.db`;

/** Starts a subject that takes posts at `/hook/bench` and delivers them to the sink. */
export function startSubject(name: SubjectName, setup: SubjectSetup): Promise<Child> {
  return start(launchOf(name, setup));
}

/** How a subject is started. */
export function launchOf(name: SubjectName, setup: SubjectSetup): Launch {
  const port = setup.port ?? freePort();
  if (name === "holdfast") return holdfast(setup, port);
  if (name === "bare") {
    return { args: ["bench/programs/bare.ts", `${port}`], port, flags: ["--no-prompt", "-A"] };
  }
  const target = `http://127.0.0.1:${setup.sinkPort}/in`;
  const mode = setup.hold ? "hold" : "deliver";
  return {
    args: ["bench/programs/plain.ts", `${port}`, `${setup.folder}/plain.db`, target, mode],
    port,
    flags: ["--no-prompt", "-A"],
  };
}

function holdfast({ sinkPort, folder, env, flags = [] }: SubjectSetup, port: number): Launch {
  const endpoint = { id: "bench", targetUrl: `http://127.0.0.1:${sinkPort}/in` };
  return {
    args: ["main.ts"],
    port,
    flags: [...startFlags(), ...flags],
    cwd: folder,
    env: {
      HOST: "127.0.0.1",
      PORT: `${port}`,
      KV_PATH: storePath(folder),
      ENDPOINTS: JSON.stringify([endpoint]),
      ALLOW_PRIVATE_TARGETS: "127.0.0.1",
      ...env,
    },
  };
}
