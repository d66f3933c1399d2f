import type { AnswerDetails, Cost, ModelCall, Usage } from '../core/model/model-port.ts';
import { storable } from '../core/storable-text.ts';
import { type Finish, readFinish } from './finish-reason.ts';
import type { Answer, CallOptions, Model, ReadableModel } from './language-model.ts';
import { statedCost } from './prices.ts';
import { rawUsage, readAnswer } from './read-answer.ts';
import { requestResponse } from './read-response.ts';
import { type Counts, usageOf } from './usage.ts';

export interface Generated extends Finish {
  readonly text: string;
  /** `null` if the provider reported no valid counts. */
  readonly usage: Usage | null;
  readonly details: AnswerDetails;
  /** What the provider says that the call costs; null if it does not. */
  readonly statedCost: Cost | null;
}

/**
 * One request, one complete response.
 *
 * Not streamed: nobody reads along, so a stream would only add failure cases. Usage is exact in a complete response,
 * while many compatible servers leave it out of a stream. A truncated response is invalid JSON and never passes for a
 * short one. Where a server streams unasked, `read-response.ts` joins the events. TCP keep-alive keeps the connection alive.
 *
 * The model is called through its specification, not through `generateText`, whose retries, telemetry and tool loop
 * would all have to be turned off, and which takes 2.7 times the CPU time (197 instead of 74 µs per call).
 */
export async function generate(
  model: ReadableModel,
  call: Pick<ModelCall, 'system' | 'user' | 'temperature' | 'maxTokens' | 'topP'>,
  signal: AbortSignal,
): Promise<Generated> {
  const { system, user, temperature, maxTokens, topP } = call;
  const options: CallOptions = {
    prompt: [
      ...(system === null ? [] : [{ role: 'system' as const, content: system }]),
      { role: 'user', content: [{ type: 'text', text: user }] },
    ],
    ...(temperature === null ? {} : { temperature }),
    ...(maxTokens === null ? {} : { maxOutputTokens: maxTokens }),
    ...(topP === null ? {} : { topP }),
    ...(model.providerOptions ? { providerOptions: model.providerOptions } : {}),
    abortSignal: signal,
  };
  const { answer: response, lost } = await requestResponse(model, options);
  const { text: whole, details } = readAnswer(response);
  // PostgreSQL stores no NUL in a text, and a lone surrogate is not a character.
  const text = storable(whole);
  const isCounted = !lost.some((path) => path.startsWith('usage'));
  const counts = isCounted ? usageOf(counted(model, response)) : null;
  // A prompt has tokens: a server that reports zeros does not count.
  const isZero = counts?.inputTokens === 0 && counts.outputTokens === 0;
  const usage = isZero ? null : counts;
  return {
    text,
    ...readFinish(response, text, details),
    usage,
    details,
    statedCost: statedCost(rawUsage(response)),
  };
}

function counted({ count }: Model, answer: Answer): Counts {
  if (count) return count(rawUsage(answer));
  const { inputTokens, outputTokens } = answer.usage;
  return {
    inputTokens: inputTokens.total,
    outputTokens: outputTokens.total,
    cacheReadTokens: inputTokens.cacheRead ?? 0,
    cacheWriteTokens: inputTokens.cacheWrite ?? 0,
  };
}
