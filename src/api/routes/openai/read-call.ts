import type { FastifyRequest } from 'fastify';
import type { CallBody, Conversation } from '../../../core/agent/conversation.ts';
import { requireResponseFormat } from '../../../core/agent/response-format.ts';
import { CallFailure } from '../../../core/failure.ts';
import { isObject } from '../../../core/is-object.ts';
import { depth, isStorable, jsonDepthMax } from '../../../core/json.ts';
import { readBody } from '../../http/request/body.ts';
import { invalidValue, ParameterError, type Parameters, requireKnown } from './read-parameters.ts';

/** A call of an agent as a client of the OpenAI API sends it. */
export interface CallRequest {
  /** The identifier, slug or an alias of the agent. */
  readonly model: string;
  /** Likewise, from the prompt of the call: it must be the same agent. Null or left out if it names none. */
  readonly promptAgent?: string | null;
  readonly conversation: Conversation;
  readonly isStream: boolean;
  readonly isBackground: boolean;
  /** As sent, to be echoed; null or left out if there is none. */
  readonly prompt?: Parameters | null;
  /** Whether a stream of chat ends with the usage. */
  readonly includesUsage?: boolean;
}

/** The call, or a body that admission refuses. A refused body names no agent that could be called. */
export type ReadCall =
  | { readonly kind: 'call'; readonly call: CallRequest }
  | { readonly kind: 'refused'; readonly model: string | null; readonly body: CallBody };

/** Errors are values, because admission checks limits first. */
export async function readCall(
  request: FastifyRequest,
  read: (parameters: Parameters, text: string) => CallRequest,
): Promise<ReadCall> {
  const [parameter] = Object.keys(request.query as object);
  const raw = await readBody(request);
  if (raw.kind === 'none') return refused({ kind: 'malformed', message: 'The body is missing.' });
  if (raw.kind !== 'text') return refused(raw);
  let parameters: unknown;
  try {
    parameters = JSON.parse(raw.text);
  } catch {
    return refused({ kind: 'malformed', message: 'The body is not valid JSON.' });
  }
  const { model } = isObject(parameters) ? parameters : {};
  const named = typeof model === 'string' ? model : null;
  try {
    if (parameter !== undefined) requireKnown({ [parameter]: true }, []);
    return { kind: 'call', call: checked(read(asObject(parameters, raw.text), raw.text)) };
  } catch (error) {
    if (error instanceof ParameterError) return refused(error.body, named);
    throw error;
  }
}

function refused(body: CallBody, model: string | null = null): ReadCall {
  return { kind: 'refused', model, body };
}

function asObject(parameters: unknown, text: string): Parameters {
  if (!isObject(parameters)) {
    throw new ParameterError('invalid_type', null, 'The body must be a JSON object.');
  }
  if (!isStorable(text)) {
    const message = 'The body contains a NUL or a lone surrogate, which cannot be stored.';
    throw new ParameterError('invalid_value', null, message);
  }
  if (depth(text) > jsonDepthMax) {
    const message = `The body is nested deeper than ${jsonDepthMax} levels.`;
    throw new ParameterError('invalid_value', null, message);
  }
  return parameters;
}

function checked(call: CallRequest): CallRequest {
  const { responseFormat, names } = call.conversation;
  try {
    requireResponseFormat(names.responseFormat, responseFormat);
  } catch (error) {
    if (!(error instanceof CallFailure)) throw error;
    throw invalidValue(names.responseFormat, `is not valid: ${error.message}`);
  }
  return call;
}
