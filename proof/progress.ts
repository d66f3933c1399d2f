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
export const sources = digestOf('src', 'proof', 'test/harness', 'harness/fake-provider.ts');

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

/** Of files and of all those below folders, relative to the root. */
function digestOf(...paths: string[]): string {
  const root = join(import.meta.dirname, '..');
  const hash = createHash('sha256');
  for (const path of paths.flatMap((one) => (one.endsWith('.ts') ? one : filesBelow(root, one)))) {
    hash
      .update(path)
      .update('\0')
      .update(readFileSync(join(root, path)))
      .update('\0');
  }
  return hash.digest('hex').slice(0, 16);
}

function filesBelow(root: string, folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .toSorted()
    .map((name) => join(folder, name));
}
