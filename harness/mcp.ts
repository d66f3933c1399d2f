import { request as httpRequest } from 'node:http';
import type { Service } from './service.ts';

/** Sends messages of the Model Context Protocol as bytes, as a client of either era would. */

export interface McpOptions {
  readonly key?: string;
  /** `/mcp` by default. */
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Of the client; only in the era without a handshake. */
  readonly capabilities?: object;
  readonly id?: string | number;
}

export interface McpResponse {
  readonly status: number;
  readonly headers: Headers;
  /** The last message, which answers the request. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field
  readonly body: any;
  /** The messages before it. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field
  readonly notifications: any[];
}

type Target = Pick<Service, 'url'>;
type Params = Readonly<Record<string, unknown>> & { readonly _meta?: object };

export const modernRevision = '2026-07-28';
const tasksExtension = 'io.modelcontextprotocol/tasks';

/** What a request of the revision without a handshake consists of. */
export function modernRequest(method: string, params: Params = {}, options: McpOptions = {}) {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': modernRevision,
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': options.capabilities ?? {},
    ...params._meta,
  };
  const name = params.name ?? params.taskId;
  const headers: Record<string, string> = {
    'mcp-protocol-version': modernRevision,
    'mcp-method': method,
    ...(name !== undefined && { 'mcp-name': String(name) }),
    ...options.headers,
  };
  const message = {
    jsonrpc: '2.0',
    id: options.id ?? 1,
    method,
    params: { ...params, _meta: meta },
  };
  return { message, headers };
}

export function modern(
  target: Target,
  method: string,
  params: Params = {},
  options: McpOptions = {},
): Promise<McpResponse> {
  const { message, headers } = modernRequest(method, params, options);
  return post(target, message, { ...options, headers });
}

export const withTasks = { capabilities: { extensions: { [tasksExtension]: {} } } };

export function legacy(
  target: Target,
  method: string,
  params: Params = {},
  options: McpOptions & { readonly revision?: string } = {},
): Promise<McpResponse> {
  const { revision = '2025-11-25', id = 1 } = options;
  const headers = {
    ...(method !== 'initialize' && { 'mcp-protocol-version': revision }),
    ...options.headers,
  };
  return post(target, { jsonrpc: '2.0', id, method, params }, { ...options, headers });
}

/** Sends any body. */
export async function post(
  { url }: Target,
  body: unknown,
  { key, path = '/mcp', headers = {} }: McpOptions,
): Promise<McpResponse> {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const messages = messagesIn(await response.text());
  return {
    status: response.status,
    headers: response.headers,
    body: messages.at(-1) ?? null,
    notifications: messages.slice(0, -1),
  };
}

/** Of a stream of events or a JSON body. */
export function messagesIn(text: string): unknown[] {
  if (text === '') return [];
  if (text.startsWith('{') || text.startsWith('[')) return [JSON.parse(text)];
  const data = [...text.matchAll(/^data: (.+)$/gm)];
  return data.map(([, json = '']) => JSON.parse(json));
}

/** A request whose response is open, and can be closed. */
export interface OpenRequest {
  /** Resolves with the first message about progress. */
  readonly accepted: Promise<string>;
  /** The whole response, once it has ended. */
  readonly whole: Promise<string>;
  /** Closes the connection. */
  close(): void;
}

/** Calls a tool and asks for progress, without waiting for the result. */
export function openCall(
  { url }: Target,
  message: object,
  headers: Readonly<Record<string, string>>,
): OpenRequest {
  const request = httpRequest(`${url}/mcp`, {
    method: 'POST',
    agent: false,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
  });
  const whole = Promise.withResolvers<string>();
  const accepted = new Promise<string>((resolve, reject) => {
    request.on('error', reject);
    request.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('error', () => {});
      response.on('data', (chunk: string) => {
        text += chunk;
        const progress = /"message":"(Accepted as [^"]+)"/.exec(text);
        if (progress?.[1]) resolve(progress[1]);
      });
      response.on('end', () => whole.resolve(text));
    });
  });
  accepted.catch(() => {});
  request.end(JSON.stringify(message));
  return { accepted, whole: whole.promise, close: () => void request.destroy() };
}
