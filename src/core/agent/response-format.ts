import { computeJob } from '../compute.ts';
import { depth, jsonDepthMax } from '../json.ts';
import { oneJsonIn, wholeJson } from '../json-in-text.ts';
import { findMismatch } from '../schema/schema-validator.ts';
import type { ToolCall } from './messages.ts';

/** What an output must be: JSON that matches a schema. A version sets it, an agent may override it. */
export interface ResponseFormat {
  readonly type: 'json';
  readonly schema: Readonly<Record<string, unknown>>;
}

/** With its fields in one order, so that equal formats have equal texts. */
export function responseFormatOf(given: ResponseFormat | null | undefined): ResponseFormat | null {
  return given ? { type: given.type, schema: given.schema } : null;
}

/** The JSON of an output as compact text with the numbers as written, or why it does not match. */
export type OutputJson =
  | { readonly kind: 'json'; readonly json: string }
  | { readonly kind: 'mismatch'; readonly problem: string };

/** The output of a model, and the schema it must match as JSON text. */
export interface OutputToRead {
  readonly workspaceId: string;
  readonly schema: string;
  readonly output: string;
  /** `length` if the output was cut off */
  readonly finishReason: string;
}

/**
 * Reads the output of a model. JSON is found as references of workflows find it: the whole text apart from one code fence,
 * else the one object or array in it. What a model writes around it is no reason to pay for another answer.
 */
export function readOutputJson({
  workspaceId,
  schema,
  output,
  finishReason,
}: OutputToRead): OutputJson {
  const json = wholeJson(output) ?? jsonWithin(output);
  if (json === null) return { kind: 'mismatch', problem: `it is not JSON${cutOff(finishReason)}` };
  const mismatch = findMismatch({ workspaceId, schema }, json);
  if (mismatch === null) return { kind: 'json', json };
  const { path, message } = mismatch;
  const place = path === '' ? 'the value' : path.slice(0, placeCharsMax);
  return { kind: 'mismatch', problem: `${place} ${message}` };
}

/** Why an answer whose call of a tool has arguments that are no JSON object is not accepted. */
export function argumentsMismatch(
  { name, arguments: given }: Pick<ToolCall, 'name' | 'arguments'>,
  finishReason: string,
): string {
  const problem = argumentsProblem(String(given));
  return `${badArguments} ${JSON.stringify(name)} are ${problem}${cutOff(finishReason)}.`;
}

function argumentsProblem(given: string): string {
  // Some models write the object as a JSON text once more, and so does the join of a stream with what is no JSON.
  const whole = parsed(given);
  const text = typeof whole === 'string' ? whole : given;
  const value = parsed(text);
  if (value === undefined || typeof value === 'string') return 'not JSON';
  if (depth(text) > jsonDepthMax) return `nested deeper than ${jsonDepthMax} levels`;
  return 'JSON, but not an object';
}

/** Undefined if it is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const badArguments = 'The output does not match its schema: the arguments of the call of the tool';

function cutOff(finishReason: string): string {
  return finishReason === 'length' ? ': cut off at the token limit' : '';
}

export const readOutputJob = computeJob(import.meta.url, readOutputJson);

/**
 * The message that tells a model why its answer was not accepted.
 * @param problem a sentence
 */
export function correctionText(problem: string): string {
  const advice = problem.startsWith(badArguments)
    ? 'Call it again, with arguments that are one JSON object.'
    : 'Answer again, with nothing but JSON that matches the schema.';
  return `Your previous answer was not accepted. ${problem} ${advice}`;
}

const placeCharsMax = 200;

function jsonWithin(output: string): string | null {
  const found = oneJsonIn(output);
  return found.kind === 'json' ? found.json : null;
}
