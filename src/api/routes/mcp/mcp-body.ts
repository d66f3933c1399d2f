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
    const given = params?.startsWith('{') ? memberOf(params, 'arguments') : undefined;
    if (id !== undefined && given?.startsWith('{')) found.set(canonicalId(id), given);
  }
  return found;
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
    readonly requestId?: unknown;
    readonly _meta?: Readonly<Record<string, unknown>>;
  };
}
