import { readdirSync, readFileSync } from 'node:fs';

/** What processes have used, as Linux counts it. */

/** Clock ticks a second in /proc, the same on every Linux that Node runs on. */
const ticksPerSecond = 100;

/** User and system time of a process and of its children that have ended, in microseconds; 0 where it is gone. */
export function cpuMicros(pid: number): number {
  const fields = statOf(pid);
  if (!fields) return 0;
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return (ticks * 1_000_000) / ticksPerSecond;
}

/** A process and all that it has started: PostgreSQL is its postmaster with the backends. */
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

/** Memory in bytes, with what is shared divided among those who share it: what backends of one server add up to. */
export function proportionalBytes(pid: number): number {
  return kilobytes(`/proc/${pid}/smaps_rollup`, 'Pss') * 1_024;
}

/** What a process has read of its files and connections, in bytes. */
export function readBytes(pid: number): number {
  const text = readOrNull(`/proc/${pid}/io`) ?? '';
  return Number(/^rchar: (\d+)$/m.exec(text)?.[1] ?? 0);
}

/** The fields from the third on: the second, the name, may hold blanks. */
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
