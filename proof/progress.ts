import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Found } from './claim.ts';

/**
 * What a full proof has done so far: a line for each part, in a file that is not committed. It counts only for the very
 * sources that it was made with.
 */

interface Part {
  readonly rounds: number;
  readonly found: Found;
}

const file = join(import.meta.dirname, '.progress.jsonl');
/** A digest of all that a proof is made with. */
export const sources = digestOf('src', 'proof', join('test', 'harness'));

export function kept(name: string): Part[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Part & { name: string; sources: string })
    .filter((part) => part.name === name && part.sources === sources);
}

export function keep(name: string, part: Part): void {
  appendFileSync(file, `${JSON.stringify({ name, sources, ...part })}\n`);
}

function digestOf(...folders: string[]): string {
  const hash = createHash('sha256');
  for (const folder of folders) {
    const path = join(import.meta.dirname, '..', folder);
    const names = readdirSync(path, { recursive: true, encoding: 'utf8' }).toSorted();
    for (const name of names.filter((one) => one.endsWith('.ts'))) {
      hash
        .update(name)
        .update('\0')
        .update(readFileSync(join(path, name)))
        .update('\0');
    }
  }
  return hash.digest('hex').slice(0, 16);
}
