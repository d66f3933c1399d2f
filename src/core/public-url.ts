/** The path at which a proxy publishes the server, such as `/cueline`; empty at the root of its host. */
export function basePathOf(publicUrl: string | null): string {
  return publicUrl === null ? '' : new URL(publicUrl).pathname.replace(/\/$/, '');
}

/** First path segments of the dashboard's pages. */
export const pageSegments = [
  'analytics',
  'agents',
  'prompts',
  'workflows',
  'history',
  'keys',
  'settings',
  'no-workspace',
  'sign-in',
  'invitations',
] as const;

/** First path segments that are never pages. */
export const serviceSegments = [
  '.well-known',
  'api',
  'assets',
  'docs',
  'healthz',
  'mcp',
  'metrics',
  'openapi.json',
  'readyz',
] as const;

/**
 * Whether a path can be the base path. The server accepts requests with and without it, so its first segment must not be
 * one of the server's own.
 */
export function isBasePath(path: string): boolean {
  const [first = ''] = path.slice(1).split('/');
  const isOwn = [...pageSegments, ...serviceSegments].some((segment) => segment === first);
  return /^(\/[A-Za-z0-9._~-]+)*$/.test(path) && !isOwn;
}
