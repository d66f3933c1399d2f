import { join } from 'node:path';
import { bundlePackages } from './bundle-packages.ts';

/** The environment that processes of tests inherit: the search path and the settings for a fast start. */
export function inherited(path = process.env.PATH ?? ''): Record<string, string> {
  const { NODE_COMPILE_CACHE, NODE_OPTIONS } = process.env;
  return {
    PATH: path,
    ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }),
    ...(NODE_OPTIONS && { NODE_OPTIONS }),
  };
}

/** Speeds up the start of later processes with a compile cache and bundled packages. */
export async function prepareFastStarts(): Promise<void> {
  const { env } = process;
  env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, '../node_modules/.cache/compiled');
  env.NODE_OPTIONS = [env.NODE_OPTIONS, await bundlePackages()].filter(Boolean).join(' ');
}
