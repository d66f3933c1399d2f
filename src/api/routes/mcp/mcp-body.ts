import { isObject } from '../../../core/is-object.ts';
import { compact, elements, members } from '../../../core/json.ts';

/** What a body says beyond its JSON value: the arguments of calls, with numbers and the order of names as sent. */

/** The arguments of a call by the id of its request, as compact JSON text; `{}` if it has none. */
export function argumentsReader(text: string): (requestId: unknown) => string {
  let read: ReadonlyMap<string, string> | null = null;
  return (requestId) => {
    read ??= readArguments(compact(text));
    return read.get(JSON.stringify(requestId)) ?? '{}';
  };
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

/** The object in a text as compact JSON; undefined if there is none. */
function compactObject(text: string): string | undefined {
  try {
    return isObject(JSON.parse(text)) ? compact(text) : undefined;
  } catch {
    return undefined;
  }
}

/** The parsed body with objects where a client sent `null` for no arguments, or the arguments as text. The library takes only objects. */
export function withArguments(body: unknown): unknown {
  for (const { params } of messagesOf(body)) {
    if (!isObject(params)) continue;
    const given = params.arguments;
    if (given === null) params.arguments = {};
    else if (typeof given === 'string' && compactObject(given))
      params.arguments = JSON.parse(given);
  }
  return body;
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
