import { createHash } from 'node:crypto';
import { canonical } from '../json.ts';

/** Servers of tools that the service executes: what an owner declares, and its limits. */

export const toolServerKinds = ['http', 'mcp', 'callback'] as const;
export type ToolServerKind = (typeof toolServerKinds)[number];

/** `current` for a declared tool. The others are what a check of a server that lists its own tools finds. */
export const toolStates = ['current', 'new', 'changed', 'gone'] as const;
export type ToolState = (typeof toolStates)[number];

/** Of a workspace. */
export const toolServersMax = 50;
/** Of a server. */
export const serverToolsMax = 100;
/** Of the tools of a server as JSON, and of those of a version. */
export const definitionsCharsMax = 262_144;
export const serverHeadersMax = 20;
export const toolTimeoutMsMin = 1_000;
export const toolTimeoutMsMax = 300_000;
export const toolTimeoutMsDefault = 30_000;
/** Requests in flight to a server, of one process. */
export const toolConcurrencyMax = 200;
export const toolConcurrencyDefault = 20;
export const toolPathMax = 1_000;

/**
 * The URL of the built-in server, which answers each call with its arguments: for demos, and for agents whose tools have no server yet.
 * Nothing leaves the process, so the outbound guard has no exception for it.
 */
export const echoServerURL = 'cueline:echo';

/** Whether calls of a server with this URL leave the process. */
export function isOutbound(url: string | null): url is string {
  return url !== null && url !== echoServerURL;
}

/** Bytes of a result that the model sees. */
export const resultLimitMin = 1_024;
export const resultLimitMax = 65_536;
export const resultLimitDefault = 16_384;

/** A tool as its server describes it. */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  /** A JSON Schema of an object. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** Where it is below the URL of its server, which is not part of what a model sees. */
  readonly path?: string;
}

/** Of what a model sees: lower-case hex SHA-256 of its canonical JSON. */
export function definitionDigest({ name, description, inputSchema }: ToolDefinition): string {
  const text = canonical(JSON.stringify({ name, description, inputSchema }));
  return createHash('sha256').update(text).digest('hex');
}

/**
 * The address of a tool: the server's URL with the path as it is written. Null if a URL would mean something else by it, such as a
 * place outside of the server's path (`..`), a query or a fragment.
 */
export function toolURL(serverURL: string, path: string): string | null {
  const server = new URL(serverURL);
  if (path === '') return server.href;
  const text = server.href.replace(/\/$/, '') + path;
  const url = URL.parse(text);
  if (!path.startsWith('/') || url?.href !== text || /[?#]/.test(path)) return null;
  return text;
}
