/** What Linux knows of a process; see proc(5). */

/** USER_HZ, which is 100 on all platforms that Deno supports. */
const TICKS_PER_SECOND = 100;

/** CPU time a process has used so far, all its threads, in milliseconds. */
export function cpuMs(pid: number): number {
  const stat = Deno.readTextFileSync(`/proc/${pid}/stat`);
  // The command's name, in parentheses, may hold spaces; utime and stime are fields 14 and 15.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 1_000 / TICKS_PER_SECOND;
}

/** CPU time the whole machine has used so far, in milliseconds. */
export function machineCpuMs(): number {
  const [user, nice, system, _idle, _iowait, irq, softirq] = Deno.readTextFileSync("/proc/stat")
    .split("\n", 1)[0].split(/\s+/).slice(1).map(Number);
  return (user + nice + system + irq + softirq) * 1_000 / TICKS_PER_SECOND;
}

/** Resident memory now, in MiB. */
export const rssMiB = (pid: number) => statusKiB(pid, "VmRSS") / 1024;

/** The most that was ever resident, in MiB. */
export const peakRssMiB = (pid: number) => statusKiB(pid, "VmHWM") / 1024;

function statusKiB(pid: number, field: string): number {
  const status = Deno.readTextFileSync(`/proc/${pid}/status`);
  return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1]);
}

/** One line about the machine, as tables need it beside them. */
export function machine(): string {
  const cpu = /model name\s*: (.*)/.exec(Deno.readTextFileSync("/proc/cpuinfo"))?.[1];
  const memoryGiB = Math.round(Deno.systemMemoryInfo().total / 2 ** 30);
  const load = Deno.loadavg()[0].toFixed(1);
  return `${navigator.hardwareConcurrency} cores (${cpu}), ${memoryGiB} GiB, Deno ${Deno.version.deno}, load ${load}`;
}
