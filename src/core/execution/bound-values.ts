import type { Labels } from '../labels.ts';

/** The value in a call that `bind` of a tool names: `user`, `session`, or `metadata.` and a name. Null if the call has none. */
export function boundValue(path: string, labels: Labels | null): string | null {
  if (path === 'user' || path === 'session') return labels?.[path] ?? null;
  const metadata: Readonly<Record<string, string>> = JSON.parse(labels?.metadata ?? '{}');
  const name = path.slice('metadata.'.length);
  return Object.hasOwn(metadata, name) ? (metadata[name] ?? null) : null;
}

/** Those of these paths that a call has no value for. */
export function missingValues(paths: readonly string[], labels: Labels | null): string[] {
  return paths.filter((path) => boundValue(path, labels) === null);
}
