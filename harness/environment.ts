import { join } from 'node:path';
import { bundlePackages } from './bundle-packages.ts';

/** What a process that a test starts inherits of the environment: the search path and what makes starts fast. */
export function inherited(path = process.env.PATH ?? ''): Record<string, string> {
  const { NODE_COMPILE_CACHE, NODE_OPTIONS } = process.env;
  return {
    PATH: path,
    ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }),
    ...(NODE_OPTIONS && { NODE_OPTIONS }),
  };
}

/** Makes starts fast for the processes that are started from now on: with compiled code from a cache, and bundles. */
export async function prepareFastStarts(): Promise<void> {
  const { env } = process;
  env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, '../node_modules/.cache/compiled');
  env.NODE_OPTIONS = [env.NODE_OPTIONS, await bundlePackages()].filter(Boolean).join(' ');
}
