import { globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

/**
 * Files of tests that share processes, because to load the service takes as long as most of them. Each can be run by
 * itself as well, and each still has a service and a database of its own.
 */

const root = join(import.meta.dirname, '..');

/** Over how many processes the files of a folder are spread: each has a file `together-N.test.ts`. */
export const processes = {
  api: 5,
  core: 1,
  dashboard: 4,
  flow: 2,
  provider: 1,
  store: 1,
  workflow: 1,
} as const;

export type SharedFolder = keyof typeof processes;

/** The files of one process, one after the other. */
export function testTogether(folder: SharedFolder, process: number): void {
  for (const file of filesOf(folder, process)) {
    // What a file declares while it is loaded becomes a part of this test, and ends with it.
    test(file, async () => void (await import(join(root, folder, file))));
  }
}

/** Below `test/FOLDER`; `process` counts from 1. Those of one folder in it, as of an endpoint, stay together. */
export function filesOf(folder: SharedFolder, process: number): string[] {
  const files = globSync('**/*.test.ts', { cwd: join(root, folder) })
    .filter((file) => !file.startsWith('together-'))
    .toSorted();
  const placeOf = (file: string) => (file.includes('/') ? dirname(file) : file);
  const places = [...new Set(files.map(placeOf))];
  return files.filter((file) => places.indexOf(placeOf(file)) % processes[folder] === process - 1);
}
