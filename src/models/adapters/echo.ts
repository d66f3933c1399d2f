import { setImmediate as immediate, setTimeout as wait } from 'node:timers/promises';
import { textOf } from '../../core/agent/content.ts';
import type { Message, ToolCall } from '../../core/agent/messages.ts';
import type { ExecutionErrorCode } from '../../core/failure.ts';
import { groupEnd } from '../../core/json-in-text.ts';
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
 * - `tools`: calls of tools, `lookup:{"id":7},refund:{}`, instead of a response; repeated, one for each turn
 *
 * It calls tools only if some are offered, and then also others: models do so. Turns count from the last message of the user,
 * so that it answers once all its calls have results. `&`, `+`, `%` and blanks in arguments are percent-encoded.
 *
 * A stream has up to twenty pieces of about equal length, and the delay lies between them.
 */
export async function echo(
  model: string,
  call: EchoCall,
  signal: AbortSignal,
  emit: Emit,
): Promise<Omit<ModelResponse, 'text'>> {
  const { system, user, messages, stream } = call;
  const { delay, fail, tokens, turns } = parse(model);
  const toolCalls = callsOf(turns, call);
  const answer = toolCalls.length > 0 ? '' : user;
  const pieces = stream && !fail ? piecesOf(answer) : [answer];
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
      outputTokens: tokens ?? tokensOf(toolCalls.length > 0 ? JSON.stringify(toolCalls) : answer),
    },
    finishReason: toolCalls.length > 0 ? 'tool-calls' : 'stop',
    cost: { ...noCost, source: 'table' },
    ...(toolCalls.length > 0 && { toolCalls }),
  };
}

type EchoCall = Pick<ModelCall, 'system' | 'user' | 'messages' | 'stream' | 'tools' | 'toolChoice'>;

/** The calls of this turn, whose ids are unique within the conversation. */
function callsOf(turns: readonly Turn[], call: EchoCall): ToolCall[] {
  const { messages = [], tools = [], toolChoice } = call;
  if (tools.length === 0 || toolChoice === 'none') return [];
  const question = messages.findLastIndex(({ role }) => role === 'user');
  const turn = messages.slice(question + 1).filter((one) => madeBy(one).length > 0).length;
  const made = messages.flatMap(madeBy).length;
  return (turns[turn] ?? []).map((one, index) => ({ id: `call_${made + index + 1}`, ...one }));
}

function madeBy(message: Message): readonly ToolCall[] {
  return (message.role === 'assistant' && message.toolCalls) || [];
}

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

type Turn = readonly Omit<ToolCall, 'id'>[];

interface Shape {
  delay: number;
  fail: ExecutionErrorCode | null;
  tokens: number | null;
  /** The calls of each turn. */
  turns: Turn[];
}

function parse(model: string): Shape {
  const [, name, query = ''] = /^([^?]*)\??(.*)$/s.exec(model) ?? [];
  if (name !== 'echo') throw unknown(`unknown model cueline/${name}, only cueline/echo exists`);
  const shape: Shape = { delay: 0, fail: null, tokens: null, turns: [] };
  const seen = new Set<string>();
  for (const [key, value] of new URLSearchParams(query)) {
    if (seen.has(key) && key !== 'tools') throw unknown(`${key} is given twice`);
    seen.add(key);
    if (key === 'delay') shape.delay = whole(key, value, delayMsMax);
    else if (key === 'tokens') shape.tokens = whole(key, value, tokensMax);
    else if (key === 'fail') shape.fail = failureOf(value);
    else if (key === 'tools') shape.turns.push(turnOf(value));
    else throw unknown(`the parameters are delay, fail, tokens and tools, not ${key}`);
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

/** Reads `NAME:{…},NAME:{…}`. */
function turnOf(value: string): Turn {
  const calls: Omit<ToolCall, 'id'>[] = [];
  for (let at = 0; at <= value.length; ) {
    const [name = ''] = /^[\w-]{1,64}(?=:\{)/.exec(value.slice(at)) ?? [];
    const start = at + name.length + 1;
    const end = name === '' ? -1 : groupEnd(value, start);
    const given = end < 0 ? null : objectOf(value.slice(start, end));
    if (given === null || !['', ','].includes(value.charAt(end))) throw unknown(toolsForm);
    calls.push({ name, arguments: given });
    at = end + 1;
  }
  return calls;
}

function objectOf(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}

const toolsForm =
  'tools is NAME:{…} with arguments in JSON, further calls of the turn follow a comma, and "&", "+", "%" and blanks are percent-encoded';

function unknown(why: string): ModelFailure {
  return new ModelFailure('MODEL_NOT_FOUND', `cueline/echo: ${why}.`);
}

function tokensOf(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / bytesPerToken);
}
