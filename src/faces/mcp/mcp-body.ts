import { computeJob, inlineCharsMax } from '../../core/compute.ts';
import { isObject } from '../../core/is-object.ts';
import { compact, elements, hasMoreNames, members } from '../../core/json.ts';
import { decodeUtf8 } from '../../core/utf8.ts';
import { bodyBytesMax, bodyNamesMax } from '../../http/contract/contract-limits.ts';

/** The body of a request over MCP. */
export interface McpBody {
  /** For the library, in which the arguments of calls are empty: they may be long. Undefined for malformed JSON. */
  readonly parsed: unknown;
  /** The arguments of calls as compact JSON objects, with numbers and the order of names as sent; by the text of the request's id. */
  readonly callArguments: Map<string, string>;
  /** Without these arguments. */
  readonly chars: number;
}

/** Null if what is beside the arguments of calls is too long. */
export function readMcpBody(sent: string | Uint8Array): McpBody | null {
  const text = typeof sent === 'string' ? sent : decodeUtf8(sent);
  const parsed = text === null ? undefined : parse(text);
  if (text === null || parsed === undefined) return { parsed, callArguments: new Map(), chars: 0 };
  const callArguments = readArguments(compact(text));
  for (const { method, params } of messagesOf(parsed)) {
    if (method === 'tools/call' && isObject(params) && isObject(argumentsIn(params.arguments))) {
      params.arguments = {};
    }
  }
  const chars = callArguments.values().reduce((left, { length }) => left - length, text.length);
  const isLong = text.length > inlineCharsMax && isTooLong(JSON.stringify(parsed));
  return isLong ? null : { parsed, callArguments, chars: Math.max(0, chars) };
}

function isTooLong(beside: string): boolean {
  return beside.length > bodyBytesMax || hasMoreNames(beside, bodyNamesMax);
}

export const readMcpBodyJob = computeJob(import.meta.url, readMcpBody);

/** The arguments of the call with this id; `{}` if it has none. They are kept no longer. */
export function takeArguments({ callArguments }: McpBody, requestId: unknown): string {
  const id = JSON.stringify(requestId);
  const sent = callArguments.get(id) ?? '{}';
  callArguments.delete(id);
  return sent;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function readArguments(text: string): Map<string, string> {
  const messages = text.startsWith('[') ? elements(text) : [text];
  const found = new Map<string, string>();
  for (const message of messages) {
    if (!message.startsWith('{')) continue;
    const id = memberOf(message, 'id');
    const params = memberOf(message, 'params');
    const sent = params?.startsWith('{') ? memberOf(params, 'arguments') : undefined;
    const given = sent?.startsWith('"') ? compactObject(JSON.parse(sent)) : sent;
    if (id !== undefined && given?.startsWith('{')) found.set(canonicalId(id), given);
  }
  return found;
}

/** Some clients send `null` for no arguments, or the arguments as text. The library takes only objects. */
function argumentsIn(given: unknown): unknown {
  if (given === null) return {};
  return typeof given === 'string' ? parse(given) : given;
}

/** The object in a text as compact JSON; undefined if there is none. */
function compactObject(text: string): string | undefined {
  return isObject(parse(text)) ? compact(text) : undefined;
}

/** An event stream as one JSON, for a client that reads no streams: the responses without the progress before them. */
export async function asJson(response: Response, body: unknown): Promise<Response> {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return response;
  const messages = [...(await response.text()).matchAll(/^data: ?(.+)$/gm)]
    .map(([, data = '']) => JSON.parse(data))
    .filter(({ method }) => method === undefined);
  return Response.json(Array.isArray(body) ? messages : (messages[0] ?? null), {
    status: response.status,
  });
}

/** The last of the members with this name, as `JSON.parse` takes it. */
function memberOf(object: string, name: string): string | undefined {
  return members(object).findLast((member) => member.name === name)?.text;
}

function canonicalId(id: string): string {
  return JSON.stringify(JSON.parse(id));
}

/** The messages of a parsed body; a body without any gives none. */
export function messagesOf(body: unknown): McpMessage[] {
  return [body].flat().filter((one): one is McpMessage => typeof one === 'object' && one !== null);
}

export interface McpMessage {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: {
    readonly name?: unknown;
    arguments?: unknown;
    readonly requestId?: unknown;
    readonly _meta?: Readonly<Record<string, unknown>>;
  };
}
