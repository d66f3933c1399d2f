import { readdirSync, readFileSync } from 'node:fs';

/** Resource usage of processes, from /proc. */

/** Clock ticks per second in /proc, the same on every Linux that Node supports. */
const ticksPerSecond = 100;

/** User and system time of a process and its ended children, in microseconds; 0 if it has ended. */
export function cpuMicros(pid: number): number {
  const fields = statOf(pid);
  if (!fields) return 0;
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return (ticks * 1_000_000) / ticksPerSecond;
}

/** A process and its descendants: for PostgreSQL, the postmaster and its backends. */
export function familyOf(pid: number): number[] {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => [Number(name), Number(statOf(Number(name))?.[1])] as const);
  const family = [pid];
  for (const one of family) {
    for (const [child, parent] of parents) if (parent === one) family.push(child);
  }
  return family;
}

export function parentOf(pid: number): number {
  return Number(statOf(pid)?.[1]);
}

/** Resident memory in bytes. */
export function residentBytes(pid: number): number {
  return kilobytes(`/proc/${pid}/status`, 'VmRSS') * 1_024;
}

/** Proportional memory in bytes: shared pages are divided among the processes that share them. */
export function proportionalBytes(pid: number): number {
  return kilobytes(`/proc/${pid}/smaps_rollup`, 'Pss') * 1_024;
}

/** The bytes that a process has read from files and connections. */
export function readBytes(pid: number): number {
  const text = readOrNull(`/proc/${pid}/io`) ?? '';
  return Number(/^rchar: (\d+)$/m.exec(text)?.[1] ?? 0);
}

/** The fields from the third on: the second one, the name, may contain spaces. */
function statOf(pid: number): string[] | null {
  const text = readOrNull(`/proc/${pid}/stat`);
  return text === null ? null : text.slice(text.lastIndexOf(')') + 2).split(' ');
}

function kilobytes(file: string, name: string): number {
  const text = readOrNull(file) ?? '';
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0);
}

function readOrNull(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
