import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Found } from './claim.ts';

/** What a full proof has done so far: a line for each part, in a file that is not committed. */

interface Part {
  readonly rounds: number;
  readonly found: Found;
}

const file = join(import.meta.dirname, '.progress.jsonl');

export function kept(name: string): Part[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Part & { name: string })
    .filter((part) => part.name === name);
}

export function keep(name: string, part: Part): void {
  appendFileSync(file, `${JSON.stringify({ name, ...part })}\n`);
}
