import { isObject } from '../../core/is-object.ts';
import { credentialHeader, hasExtras } from '../../core/model/request-extras.ts';
import type { Connection } from '../connection/provider-connection.ts';

/** The same `fetch`, with the headers, query parameters and body fields that the provider's settings add. */
export function extendRequests(
  fetch: typeof globalThis.fetch,
  connection: Connection,
): typeof fetch {
  const { apiKey, organization, project } = connection;
  if (apiKey && !organization && !project && !hasExtras(connection)) return fetch;
  return (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input);
    for (const [name, value] of Object.entries(connection.query)) url.searchParams.set(name, value);
    const headers = extendHeaders(new Headers(init.headers), connection);
    const body = extendBody(init.body, connection.bodyExtra);
    return fetch(url.href, { ...init, headers, ...(body != null && { body }) });
  };
}

function extendHeaders(headers: Headers, connection: Connection): Record<string, string> {
  const { kind, apiKey, organization, project } = connection;
  // A provider package sends an empty key without one.
  if (!apiKey) headers.delete(credentialHeader(kind));
  if (organization) headers.set('openai-organization', organization);
  if (project) headers.set('openai-project', project);
  for (const [name, value] of Object.entries(connection.headers)) headers.set(name, value);
  return Object.fromEntries(headers);
}

function extendBody(
  body: RequestInit['body'],
  extra: Readonly<Record<string, unknown>>,
): RequestInit['body'] {
  if (typeof body !== 'string' || Object.keys(extra).length === 0) return body;
  return JSON.stringify(merge(JSON.parse(body), extra));
}

/** Objects are merged field by field; any other value replaces the one before. */
export function merge(target: unknown, extra: unknown): unknown {
  if (!isObject(target) || !isObject(extra)) return extra;
  const merged = Object.entries(extra).map(([name, value]) => [
    name,
    Object.hasOwn(target, name) ? merge(target[name], value) : value,
  ]);
  return { ...target, ...Object.fromEntries(merged) };
}
