import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { dirname, join } from 'node:path';

/** Writes a report to `out/`, which git ignores, and replaces an earlier one. */
export function writeOutput(name: string, text: string): void {
  const path = join(import.meta.dirname, '../out', name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${text.trimEnd()}\n`);
}

export function describeMachine(): string {
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB of memory`;
  return `${cpus().length} cores (${cpus()[0]?.model.trim()}), ${memory}, Linux ${release()}.`;
}
