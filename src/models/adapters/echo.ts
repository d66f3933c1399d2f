import { setImmediate as immediate, setTimeout as wait } from 'node:timers/promises';
import { textOf } from '../../core/agent/content.ts';
import type { ExecutionErrorCode } from '../../core/failure.ts';
import {
  type Emit,
  type ModelCall,
  ModelFailure,
  type ModelResponse,
  noCost,
  noUsage,
} from '../../core/model/model-port.ts';

/**
 * `cueline/echo`: built in, offline, deterministic, free. It returns the user prompt, for demos, tests and benchmarks.
 *
 * A token is four UTF-8 bytes, rounded up: input counts all messages together, output the response.
 * `cueline/echo?delay=250&fail=PROVIDER_ERROR&tokens=40` configures it:
 * - `delay`: milliseconds before it responds or fails, 0 to 3,600,000
 * - `fail`: an error code that a model call can fail with, instead of a response
 * - `tokens`: the output tokens that it reports, 0 to 1,000,000,000
 *
 * A stream has up to twenty pieces of about equal length, and the delay lies between them.
 */
export async function echo(
  model: string,
  { system, user, messages, stream }: EchoCall,
  signal: AbortSignal,
  emit: Emit,
): Promise<Omit<ModelResponse, 'text'>> {
  const { delay, fail, tokens } = parse(model);
  const pieces = stream && !fail ? piecesOf(user) : [user];
  for (const text of pieces) {
    if (delay > 0) await wait(delay / pieces.length, undefined, { signal });
    if (fail) throw new ModelFailure(fail, `cueline/echo was asked to fail with ${fail}.`);
    if (text !== '') emit({ type: 'text', text });
    if (text.length > longPiece) await immediate();
  }
  const sent = messages?.map(({ content }) => textOf(content)).join('') ?? (system ?? '') + user;
  return {
    usage: {
      ...noUsage,
      inputTokens: tokensOf(sent),
      outputTokens: tokens ?? tokensOf(user),
    },
    finishReason: 'stop',
    cost: { ...noCost, source: 'table' },
  };
}

type EchoCall = Pick<ModelCall, 'system' | 'user' | 'messages' | 'stream'>;

/** Of whole characters: a text of megabytes is not split into these. */
function piecesOf(text: string): string[] {
  const length = Math.max(1, Math.ceil(text.length / piecesMax));
  const pieces: string[] = [];
  for (let start = 0; start < text.length; ) {
    const end = Math.min(text.length, start + length);
    const isSplit = isLeading(text.charCodeAt(end - 1)) && end < text.length;
    pieces.push(text.slice(start, isSplit ? end + 1 : end));
    start = isSplit ? end + 1 : end;
  }
  return pieces.length > 0 ? pieces : [text];
}

/** Of a surrogate pair. */
function isLeading(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

const piecesMax = 20;
/** Providers do not send megabytes at once. */
const longPiece = 16_384;
const delayMsMax = 3_600_000;
const tokensMax = 1_000_000_000;
const bytesPerToken = 4;

const failures: ReadonlySet<ExecutionErrorCode> = new Set<ExecutionErrorCode>([
  'MODEL_TIMEOUT',
  'MODEL_NOT_FOUND',
  'PROVIDER_NOT_CONFIGURED',
  'PROVIDER_AUTH',
  'PROVIDER_RATE_LIMITED',
  'PROVIDER_QUOTA',
  'PROVIDER_ERROR',
  'CONTEXT_LENGTH',
  'CONTENT_FILTERED',
]);

interface Shape {
  delay: number;
  fail: ExecutionErrorCode | null;
  tokens: number | null;
}

function parse(model: string): Shape {
  const [name, query = '', ...more] = model.split('?');
  if (name !== 'echo') throw unknown(`unknown model cueline/${name}, only cueline/echo exists`);
  const shape: Shape = { delay: 0, fail: null, tokens: null };
  const seen = new Set<string>();
  if (more.length > 0) throw unknown('a query has one question mark');
  for (const [key, value] of new URLSearchParams(query)) {
    if (seen.has(key)) throw unknown(`${key} is given twice`);
    seen.add(key);
    if (key === 'delay') shape.delay = whole(key, value, delayMsMax);
    else if (key === 'tokens') shape.tokens = whole(key, value, tokensMax);
    else if (key === 'fail') shape.fail = failureOf(value);
    else throw unknown(`the parameters are delay, fail and tokens, not ${key}`);
  }
  return shape;
}

function whole(key: string, value: string, max: number): number {
  if (!/^\d{1,10}$/.test(value) || Number(value) > max) {
    throw unknown(`${key} is a whole number from 0 to ${max}`);
  }
  return Number(value);
}

function failureOf(value: string): ExecutionErrorCode {
  const code = [...failures].find((each) => each === value);
  if (!code) throw unknown(`fail is one of ${[...failures].join(', ')}`);
  return code;
}

function unknown(why: string): ModelFailure {
  return new ModelFailure('MODEL_NOT_FOUND', `cueline/echo: ${why}.`);
}

function tokensOf(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / bytesPerToken);
}
