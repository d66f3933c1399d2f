import type { CallBody, ParsedBody } from '../../core/agent/conversation.ts';
import type { FreeBytes } from '../../core/byte-shares.ts';
import { type Compute, inlineCharsMax, JobTooLarge } from '../../core/compute.ts';
import type { ApiDeps } from '../../features/api-deps.ts';
import type { CallBytes } from '../../http/request/body.ts';
import type { CallRequest } from './call-request.ts';
import { findItems, type ItemsReader } from './find-items.ts';
import {
  notRead,
  type OpenAiApi,
  type ReadCall,
  type RefusedRead,
  readCall,
  readCallJob,
  readModel,
  refused,
  type SentCall,
} from './read-call.ts';
import { ParameterError } from './read-parameters.ts';
import { charsOf } from './read-responses.ts';

/** A call, or what is refused instead of it. */
export type Sent = RefusedRead | ReadableCall;

export interface ReadableCall {
  readonly kind: 'call';
  /** As far as its body alone tells. */
  readonly call: CallRequest;
  readonly body: CallBody;
  /** With the items that it refers to, once its body is parsed. */
  whole(): CallRequest;
  /** Must be called once the call is admitted or refused. */
  free(): void;
}

/** A key that has ended is refused by admission, which records the refusal; its body is not read for that. */
export async function readSent(
  deps: ApiDeps,
  { raw, api, ...reader }: { raw: CallBytes; api: OpenAiApi } & ItemsReader,
): Promise<Sent> {
  if (raw.kind === 'none') return refused({ kind: 'malformed', message: 'The body is missing.' });
  if (raw.kind !== 'text' && raw.kind !== 'bytes') return refused(raw);
  const { caller } = reader;
  if (caller.ended) return raw.kind === 'text' ? readModel(raw.text) : refused(notRead);
  const sent = raw.kind === 'text' ? raw.text : raw.bytes;
  const source = { api, sent, items: null };
  try {
    const read = await readWith(deps.compute, caller.workspaceId, source);
    if (read.kind === 'refused') return read;
    const { call, references } = read;
    if (references.length > 0) return referringCall(deps, reader, source, read);
    const body = call.conversation;
    return { kind: 'call', call, body, whole: () => call, free() {} };
  } catch (error) {
    if (!(error instanceof JobTooLarge)) throw error;
    return refused({ kind: 'too-large', message: error.message });
  }
}

/** The items are looked up when admission asks for the body, after the checks that come before it. */
function referringCall(
  deps: ApiDeps,
  reader: ItemsReader,
  source: SentCall,
  { call, references }: Extract<ReadCall, { kind: 'call' }>,
): ReadableCall {
  let whole = call;
  let free: FreeBytes = () => {};
  const parse = async (workspaceId: string): Promise<ParsedBody> => {
    const found = await findItems(deps, reader, references).catch(orRefusal);
    if (found instanceof ParameterError) return found.body;
    free = found.free;
    const read = await readWith(deps.compute, workspaceId, { ...source, items: found.items });
    if (read.kind === 'refused') return read.body;
    whole = read.call;
    return whole.conversation;
  };
  const { chars } = call.conversation;
  const body = { kind: 'unparsed', chars, readsRecords: true, parse } as const;
  return { kind: 'call', call, body, whole: () => whole, free: () => free() };
}

async function readWith(compute: Compute, workspaceId: string, call: SentCall): Promise<ReadCall> {
  const chars = call.sent.length + charsOf(call.items);
  if (chars <= inlineCharsMax) return readCall(call);
  return compute.run(workspaceId, readCallJob, call, chars);
}

function orRefusal(error: unknown): ParameterError {
  if (error instanceof ParameterError) return error;
  throw error;
}
