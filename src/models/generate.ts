import type { ToolCall } from '../core/agent/messages.ts';
import type { AnswerDetails, Cost, Emit, Usage } from '../core/model/model-port.ts';
import { storable } from '../core/storable-text.ts';
import type { Adjustment } from './port/adjustment.ts';
import type { Answer, Counts, Model, ReadableModel } from './port/model.ts';
import {
  type Asked,
  instructionOf,
  type PreparedCall,
  prepareCall,
} from './request/call-options.ts';
import { toolCallsOf } from './request/prompt-messages.ts';
import { inAcceptedForm, settingsLeftOut } from './request/request-form.ts';
import { providerMessageOf } from './request/restore-message.ts';
import { type Finish, isFiltered, readFinish } from './response/finish-reason.ts';
import { LiveText } from './response/live-text.ts';
import { statedCost } from './response/prices.ts';
import { type Rated, ratedOf } from './response/rated-tokens.ts';
import { requestResponse } from './response/request-response.ts';
import { rawUsage, readTextAndDetails } from './response/response-details.ts';
import { usageOf } from './response/usage.ts';

export interface Generated extends Finish {
  readonly text: string;
  /** `null` if the provider reported no valid counts. */
  readonly usage: Usage | null;
  /** Empty if no tool was offered. */
  readonly toolCalls: readonly ToolCall[];
  /** Settings that the AI SDK or the model did not accept, by their Cueline names. */
  readonly settingsNotApplied: readonly string[];
  readonly details: AnswerDetails;
  /** What the provider says that the call costs; null if it does not. */
  readonly statedCost: Cost | null;
  readonly rated: Rated;
}

/**
 * One request, one complete response, whose text and reasoning are emitted.
 *
 * Streamed only if the call asks for it: without a reader, a stream would only add failure cases. Usage is exact in a
 * complete response, while some compatible servers leave it out of a stream. `stream-request.ts` joins the events of a
 * stream, so that both are read in the same way. TCP keep-alive keeps the connection alive.
 *
 * The model is called through its specification, not through `generateText`, whose retries, telemetry and tool loop
 * would all have to be turned off, and which takes 2.7 times the CPU time (197 instead of 74 µs per call).
 */
export async function generate(
  model: ReadableModel,
  call: Asked,
  signal: AbortSignal,
  emit: Emit = () => {},
): Promise<Generated> {
  const prepared = prepareCall(model, call, signal);
  const live = new LiveText(emit, isRewritten(model, call), model.count);
  const isStreamed = () => call.stream || model.form.has('streamed');
  const { answer: received, sent } = await inAcceptedForm(model.form, prepared, async (options) =>
    requestResponse(isStreamed() ? await model.streaming(live) : model, options),
  );
  const { answer: response, lost } = received;
  const { text: whole, details: read } = readTextAndDetails(response, { isStreamed: isStreamed() });
  const instruction = instructionOf(model, call);
  // PostgreSQL stores no NUL in a text, and a lone surrogate is not a character.
  const given = storable(whole);
  const refusalText = read.refusalText ?? (isFiltered(response) ? given.trim() || null : null);
  const details = { ...read, refusalText, ...(instruction !== null && { instruction }) };
  // A refusal is no text.
  const isRefusal = refusalText !== null;
  const text = isRefusal ? given : live.end(given, details.reasoningText);
  // A call of a tool that nobody offered is no answer.
  const toolCalls = call.tools ? toolCallsOf(response) : [];
  const message = toolCalls.length > 0 && providerMessageOf(model.name, response, text);
  const isCounted = !lost.some((path) => path.startsWith('usage'));
  const counts = isCounted ? usageOf(counted(model, response)) : null;
  // A prompt has tokens: a server that reports zeros does not count.
  const isZero = counts?.inputTokens === 0 && counts.outputTokens === 0;
  const usage = isZero ? null : counts;
  return {
    text,
    toolCalls,
    ...readFinish(response, { text, details, toolCalls }),
    settingsNotApplied: notApplied(sent, prepared, response),
    usage,
    details: { ...details, ...(message && { message }) },
    statedCost: statedCost(rawUsage(response)),
    rated: ratedOf(response, usage?.cacheReadTokens ?? 0),
  };
}

/** Whether the AI SDK may take the text from elsewhere than the texts of the response, such as from a tool call. */
function isRewritten({ kind }: Model, { responseFormat }: Asked): boolean {
  return responseFormat !== undefined && ['anthropic', 'google', 'bedrock'].includes(kind);
}

/** Includes settings that the AI SDK leaves out itself, such as the temperature of OpenAI's reasoning models. */
function notApplied(
  form: ReadonlySet<Adjustment>,
  call: PreparedCall,
  { warnings, request }: Answer,
): string[] {
  const unsupported = warnings.flatMap((each) =>
    each.type === 'unsupported' ? (settingNames.get(each.feature) ?? []) : [],
  );
  // The package for OpenAI leaves it out without a warning where the model does not reason.
  const unreasoned = call.reasons && !reasoning.test(textOf(request?.body));
  return [
    ...new Set([
      ...settingsLeftOut(form, call, request?.body),
      ...call.unsent,
      ...unsupported,
      ...(unreasoned ? ['reasoningEffort'] : []),
    ]),
  ].sort();
}

/** The names of fields that ask for reasoning. In a text of a prompt, the quotes are escaped. */
const reasoning = /"(reasoning|thinking|think|effort)\w*":/;

function textOf(body: unknown): string {
  return typeof body === 'string' ? body : JSON.stringify(body ?? '');
}

const settingNames: ReadonlyMap<string, string> = new Map([
  ['temperature', 'temperature'],
  ['topP', 'topP'],
  ['maxOutputTokens', 'maxTokens'],
  ['topK', 'topK'],
  ['seed', 'seed'],
  ['presencePenalty', 'presencePenalty'],
  ['frequencyPenalty', 'frequencyPenalty'],
  ['stopSequences', 'stop'],
  ['reasoning', 'reasoningEffort'],
  ['reasoningEffort', 'reasoningEffort'],
  ['serviceTier', 'serviceTier'],
  ['toolChoice', 'toolChoice'],
  ['tools', 'tools'],
  ['cacheControl breakpoint limit', 'cachePrompt'],
  ['cache_control on non-cacheable context', 'cachePrompt'],
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
