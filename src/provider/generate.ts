import type { AnswerDetails, Cost, ModelCall, Usage } from '../core/model/model-port.ts';
import { storable } from '../core/storable-text.ts';
import { type Finish, readFinish } from './finish-reason.ts';
import type { Answer, CallOptions, Model, ReadableModel } from './language-model.ts';
import { statedCost } from './prices.ts';
import { rawUsage, readAnswer } from './read-answer.ts';
import { requestResponse } from './read-response.ts';
import { inAcceptedForm, settingsLeftOut } from './request-form.ts';
import { type Counts, usageOf } from './usage.ts';

export interface Generated extends Finish {
  readonly text: string;
  /** `null` if the provider reported no valid counts. */
  readonly usage: Usage | null;
  /** Settings that the AI SDK or the model did not accept, by their Cueline names. */
  readonly settingsNotApplied: readonly string[];
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
    // Providers reject empty texts, so they are left out.
    prompt: [
      ...(isEmpty(system) ? [] : [{ role: 'system' as const, content: system }]),
      ...(isEmpty(user)
        ? []
        : [{ role: 'user' as const, content: [{ type: 'text' as const, text: user }] }]),
    ],
    ...(temperature === null ? {} : { temperature }),
    ...(maxTokens === null ? {} : { maxOutputTokens: maxTokens }),
    ...(topP === null ? {} : { topP }),
    ...(model.providerOptions ? { providerOptions: model.providerOptions } : {}),
    abortSignal: signal,
  };
  const { answer: response, lost } = await inAcceptedForm(model.form, options, (adjusted) =>
    requestResponse(model, adjusted),
  );
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
    settingsNotApplied: notApplied(model, options, response.warnings),
    usage,
    details,
    statedCost: statedCost(rawUsage(response)),
  };
}

function isEmpty(text: string | null): text is null {
  return text === null || text.trim() === '';
}

/** Includes settings that the AI SDK leaves out itself, such as the temperature of OpenAI's reasoning models. */
function notApplied(model: Model, options: CallOptions, warnings: Answer['warnings']): string[] {
  const unsupported = warnings.flatMap((each) =>
    each.type === 'unsupported' ? (settingNames.get(each.feature) ?? []) : [],
  );
  return [...new Set([...settingsLeftOut(model.form, options), ...unsupported])].sort();
}

const settingNames: ReadonlyMap<string, string> = new Map([
  ['temperature', 'temperature'],
  ['topP', 'topP'],
  ['maxOutputTokens', 'maxTokens'],
]);

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
