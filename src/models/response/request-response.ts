import { statedError } from '../failure/provider-error.ts';
import { UnreadableResponse } from '../failure/unreadable-response.ts';
import type { RequestForm } from '../port/adjustment.ts';
import type { Answer, CallOptions, ReadableModel } from '../port/model.ts';
import { readLeniently } from './lenient-json.ts';
import { type Issue, repairCompletion, repairFields } from './repair-response.ts';

/**
 * Requests a response and reads it. A response was paid for, so it is not discarded because of how it is written: if
 * the AI SDK rejects it, it is repaired and read again, without another request.
 */
export async function requestResponse(
  model: ReadableModel,
  options: CallOptions,
): Promise<ReceivedAnswer> {
  try {
    const answer = await model.language.doGenerate(options);
    return (await readSkippedContent(model, options, answer)) ?? { answer, lost: [] };
  } catch (error) {
    const received = receivedResponse(error);
    if (!received) throw error;
    return readRepaired(model, options, received, error);
  }
}

export interface ReceivedAnswer {
  readonly answer: Answer;
  /** Paths of the fields whose value could not be read. */
  readonly lost: readonly string[];
}

interface Received {
  readonly body: unknown;
  readonly headers: Record<string, string>;
}

/** Each round repairs what the one before revealed. */
const roundsMax = 5;

async function readRepaired(
  model: ReadableModel,
  options: CallOptions,
  { body: given, headers }: Received,
  error: unknown,
): Promise<ReceivedAnswer> {
  // An error is not an answer.
  if (given !== undefined && isError(given)) throw error;
  if (typeof given !== 'object' || given === null) throw new UnreadableResponse(null, error);
  const body = repairCompletion(given);
  const isResponses = (given as { object?: unknown }).object === 'response';
  const form: RequestForm = isResponses ? new Set([...model.form, 'responses']) : model.form;
  const lost = issuesOf(error).map((issue) => issue.path.join('.'));
  const unreadable: string[] = [];
  for (let round = 0; round < roundsMax; round++) {
    try {
      const response = new Response(JSON.stringify(body), { headers: jsonHeaders(headers) });
      const answer = await model.readResponse(response, options, form);
      if (unreadable.length > 0 && !hasContent(answer)) break;
      return { answer, lost: unreadable };
    } catch (again) {
      const issues = issuesOf(again);
      if (issues.length === 0) break;
      unreadable.push(...repairFields(body, issues));
    }
  }
  throw new UnreadableResponse(unreadable[0] ?? lost[0] ?? 'choices', error);
}

/** The answer with the parts of a content that the AI SDK skips without an error; `null` if there are none. */
async function readSkippedContent(
  model: ReadableModel,
  options: CallOptions,
  answer: Answer,
): Promise<ReceivedAnswer | null> {
  if (hasContent(answer)) return null;
  const { body, headers = {} } = answer.response ?? {};
  const repaired = repairCompletion(body) as { choices?: { message: { content: string } }[] };
  if (repaired === body || !repaired.choices?.[0]?.message.content) return null;
  const response = new Response(JSON.stringify(repaired), { headers: jsonHeaders(headers) });
  return { answer: await model.readResponse(response, options), lost: [] };
}

/** The response that the AI SDK could not read, with a success status; `null` for any other error. */
function receivedResponse(error: unknown): Received | null {
  const { name, statusCode, responseHeaders, responseBody, data } = error as ReadError;
  // This one has the response already parsed.
  if (name === 'AI_InvalidResponseDataError') return { body: data, headers: {} };
  if (typeof responseBody !== 'string' || !statusCode || statusCode >= 300) return null;
  return { body: readLeniently(responseBody), headers: responseHeaders ?? {} };
}

/** Each provider package has its own copy of the error classes. */
interface ReadError {
  readonly name?: string;
  readonly statusCode?: number;
  readonly responseHeaders?: Record<string, string>;
  readonly responseBody?: unknown;
  readonly data?: unknown;
}

function issuesOf(error: unknown, depth = 0): readonly Issue[] {
  const { issues, cause } = Object(error) as { issues?: unknown; cause?: unknown };
  if (Array.isArray(issues)) return issues as Issue[];
  return cause === undefined || depth > 5 ? [] : issuesOf(cause, depth + 1);
}

function isError(body: unknown): boolean {
  const fields = Object(body) as Record<string, unknown> & { choices?: unknown[] };
  return Boolean(fields.error || statedError(fields)) && !fields.choices?.length;
}

function hasContent({ content }: Answer): boolean {
  return content.some(
    (part) => part.type === 'tool-call' || (part.type === 'text' && part.text !== ''),
  );
}

/** Length and type are those of the body as it was sent. */
function jsonHeaders(headers: Record<string, string>): Record<string, string> {
  const { 'content-length': _, 'transfer-encoding': __, ...rest } = headers;
  return { ...rest, 'content-type': 'application/json' };
}
