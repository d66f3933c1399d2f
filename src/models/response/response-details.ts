import type { AnswerDetails } from '../../core/model/model-port.ts';
import type { Answer } from '../port/model.ts';
import { textOf } from './repair-response.ts';

/**
 * What a response says, from its parts as the AI SDK reads them and from the fields that it does not: reasoning beside
 * a chat completion and in `<think>` blocks, a refusal, ids, the name of the model.
 */
export function readTextAndDetails(
  answer: Answer,
  { isStreamed }: { readonly isStreamed: boolean },
): { text: string; details: AnswerDetails } {
  const { content, response } = answer;
  const body = fieldsOf(response?.body);
  const refusal = refusalOf(answer, body);
  const whole = content.map((part) => (part.type === 'text' ? part.text : '')).join('');
  const parts = content.map((part) => (part.type === 'reasoning' ? part.text : '')).join('');
  const beside = parts || reasoningBeside(body);
  // A stream has passed on what precedes the tag as text.
  const mayOnlyEnd = !isStreamed && beside === '';
  const { thoughts, text } = (mayOnlyEnd && splitAtEnd(whole)) || splitThoughts(whole);
  const reasoning = `${beside}${thoughts}`;
  return {
    text,
    details: {
      reasoningText: reasoning.trim() === '' ? null : reasoning,
      reasoningTokens: reasoningTokensOf(rawUsage(answer)),
      modelAnswered: nameOf(body.model, body.modelVersion, response?.modelId),
      providerRequestId: headerId(response?.headers) ?? nameOf(body.id, body.responseId),
      refusalText: refusal,
      providerFinishReason: finishWord(answer, body),
    },
  };
}

/** What the AI SDK passes on, and where it does not: the status of a response, the reason of a blocked prompt, Ollama's own word. */
function finishWord({ finishReason }: Answer, body: Fields): string | null {
  const { done_reason: own } = firstOf(body.choices);
  const { blockReason } = fieldsOf(body.promptFeedback);
  const status = body.object === 'response' ? body.status : null;
  return nameOf(own, finishReason.raw, blockReason, status);
}

/** The usage as the provider wrote it. The AI SDK's copy lacks the fields that it does not know. */
export function rawUsage({ response, usage }: Answer): unknown {
  const { usage: given, usageMetadata } = fieldsOf(response?.body);
  return given ?? usageMetadata ?? usage.raw;
}

/** The id of the request in the response that this error describes. */
export function requestIdOf(error: unknown): string | null {
  const { responseHeaders, responseBody, cause } = fieldsOf(error);
  const id = headerId(responseHeaders) ?? bodyId(responseBody);
  return id === null && fieldsOf(cause).responseHeaders ? requestIdOf(cause) : id;
}

type Fields = Record<string, unknown>;

const nameCharsMax = 200;

function headerId(headers: unknown): string | null {
  const given = fieldsOf(headers);
  return nameOf(given['x-request-id'], given['request-id'], given['x-amzn-requestid']);
}

function bodyId(body: unknown): string | null {
  if (typeof body !== 'string' || !body.startsWith('{')) return null;
  try {
    const { id, request_id: requestId } = fieldsOf(JSON.parse(body));
    return nameOf(id, requestId);
  } catch {
    return null;
  }
}

/** The first of these that is a text. */
function nameOf(...names: readonly unknown[]): string | null {
  const name = names.find((each) => typeof each === 'string' && each.trim() !== '');
  return name === undefined ? null : printable(String(name)).slice(0, nameCharsMax);
}

/** PostgreSQL stores no NUL, and names have no control characters. */
function printable(text: string): string {
  return text.toWellFormed().replace(/\p{Cc}/gu, '');
}

const block = /^\s*<think>([\s\S]*?)(?:<\/think>|$)/;
const closing = /^[ \t]*<\/think>[ \t]*$/m;

/**
 * Splits off the `<think>` blocks with which a text begins. Elsewhere the tag may be part of the answer. A block
 * without an end was cut off, so nothing follows it.
 */
function splitThoughts(whole: string): { thoughts: string; text: string } {
  let text = whole;
  let thoughts = '';
  for (let found = block.exec(text); found; found = block.exec(text)) {
    thoughts += found[1]?.trim() ?? '';
    text = text.slice(found[0].length);
  }
  return { thoughts, text: text === whole ? whole : text.trimStart() };
}

/**
 * The template of some models contains the beginning of the block, so their text has only its end, on a line of its own.
 * Null without such a line, or if it is part of an example.
 */
function splitAtEnd(whole: string): { thoughts: string; text: string } | null {
  const ended = closing.exec(whole);
  if (!ended) return null;
  const before = whole.slice(0, ended.index);
  const isInFence = before.split('```').length % 2 === 0;
  if (isInFence || before.includes('<think>')) return null;
  return {
    thoughts: before.trim(),
    text: whole.slice(ended.index + ended[0].length).trimStart(),
  };
}

/** Servers of chat completions send it under either name. */
function reasoningBeside(body: Fields): string {
  const { message } = firstOf(body.choices);
  const { reasoning_content: content, reasoning, reasoning_details: details } = fieldsOf(message);
  return textOf(content ?? reasoning ?? details);
}

function reasoningTokensOf(usage: unknown): number | null {
  const given = fieldsOf(usage);
  const details = {
    ...fieldsOf(given.completion_tokens_details),
    ...fieldsOf(given.output_tokens_details),
  };
  const count = details.reasoning_tokens ?? given.reasoning_tokens ?? given.thoughtsTokenCount;
  return Number.isInteger(count) && Number(count) >= 0 && Number(count) <= countMax
    ? Number(count)
    : null;
}

/** As for all counts, see `usage.ts`. */
const countMax = 100_000_000;

/** A refusal of chat completions, of the Responses API, of Anthropic, or the text of a guardrail of Bedrock. */
function refusalOf({ content, finishReason }: Answer, body: Fields): string | null {
  const { refusal } = fieldsOf(firstOf(body.choices).message);
  if (typeof refusal === 'string' && refusal !== '') return refusal;
  const parts = listOf(body.output).flatMap((item) => listOf(item.content));
  const refused = parts.filter(({ type }) => type === 'refusal').map((part) => part.refusal);
  if (refused.length > 0) return refused.join('');
  const { explanation } = fieldsOf(body.stop_details);
  if (finishReason.raw === 'refusal' && typeof explanation === 'string') return explanation;
  if (finishReason.raw !== 'guardrail_intervened') return null;
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('') || null;
}

function firstOf(list: unknown): Fields {
  return fieldsOf(Array.isArray(list) ? list[0] : null);
}

function listOf(value: unknown): Fields[] {
  return Array.isArray(value) ? value.map(fieldsOf) : [];
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}
