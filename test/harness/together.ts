import { globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

/**
 * Files of tests that share processes, because to start one takes as long as many a file. Each can be run by itself as
 * well: what it opens it closes, and the environment is put back as it was.
 */

const root = join(import.meta.dirname, '..');

/** Into how many parts the files of a folder are shared out: each is a process, and has a file `together-N.test.ts`. */
export const parts = {
  api: 5,
  core: 1,
  dashboard: 4,
  flow: 2,
  provider: 1,
  store: 1,
  workflow: 1,
} as const;

export type SharedFolder = keyof typeof parts;

/** The files of one part, one after the other. */
export function testTogether(folder: SharedFolder, part: number): void {
  for (const file of filesOf(folder, part)) {
    // Each of its tests has a time limit of its own.
    test(file, { timeout: Number.POSITIVE_INFINITY }, async (context) => {
      const environment = { ...process.env };
      context.after(() => {
        for (const name of Object.keys(process.env)) {
          if (!(name in environment)) delete process.env[name];
        }
        Object.assign(process.env, environment);
      });
      // What a file declares while it is loaded becomes a part of this test, and ends with it.
      await import(join(root, folder, file));
    });
  }
}

/** Below `test/FOLDER`; `part` counts from 1. The files of one folder in it, as of an endpoint, stay together. */
export function filesOf(folder: SharedFolder, part: number): string[] {
  const files = globSync('**/*.test.ts', { cwd: join(root, folder) })
    .filter((file) => !file.startsWith('together-'))
    .toSorted();
  const placeOf = (file: string) => (file.includes('/') ? dirname(file) : file);
  const places = [...new Set(files.map(placeOf))];
  return files.filter((file) => places.indexOf(placeOf(file)) % parts[folder] === part - 1);
}
