import { globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

/**
 * Each endpoint has a folder of files, each of which can be run by itself. Together they share a few processes, because
 * to load the service takes as long as most of them; each still has a service and a database of its own.
 */

const folder = join(import.meta.dirname, '../api');
export const parts = 5;

/** The files of every fifth endpoint, one after the other: `part` counts from 1. */
export function testEndpoints(part: number): void {
  for (const file of filesOf(part)) {
    // What a file declares while it is loaded becomes a part of this test, and ends with it.
    test(file, async () => void (await import(join(folder, file))));
  }
}

/** Below `test/api`. */
export function filesOf(part: number): string[] {
  const files = globSync('*/**/*.test.ts', { cwd: folder }).toSorted();
  const endpoints = [...new Set(files.map(dirname))];
  return files.filter((file) => endpoints.indexOf(dirname(file)) % parts === part - 1);
}
