import {
  type CallSettings,
  callSettingNames,
  callSettingsOf,
} from '../../core/agent/call-settings.ts';
import { correctionText } from '../../core/agent/response-format.ts';
import type { ModelCall } from '../../core/model/model-port.ts';
import type { Adjustment } from '../port/adjustment.ts';
import type { CallOptions, Model } from '../port/model.ts';
import { jsonRequest } from './json-format.ts';
import { inOrder } from './message-order.ts';
import { promptOf, toolOptions } from './prompt-messages.ts';
import { providerOptionsOf, sendsTopK, withCacheMarks } from './provider-options.ts';
import { inReasoningForm, withoutThinking } from './reasoning-form.ts';
import { type AdjustableCall, formatAdjustment } from './request-form.ts';

/** A call in the AI SDK's form. */

export type Asked = Pick<
  ModelCall,
  | ('system' | 'user' | 'messages' | 'tools' | 'toolChoice')
  | ('temperature' | 'maxTokens' | 'topP' | 'settings' | 'responseFormat' | 'correction')
  | 'stream'
>;

export interface PreparedCall extends AdjustableCall {
  /** Settings of this call that its provider kind has no way to send, by their Cueline names. */
  readonly unsent: readonly string[];
  /** Whether the call asks for reasoning. */
  readonly reasons: boolean;
}

export function prepareCall(model: Model, call: Asked, signal: AbortSignal): PreparedCall {
  const { temperature, topP, settings = {}, responseFormat: format = null } = call;
  const given = { temperature, topP, ...settings };
  const adjustable = (['temperature', 'topP', ...callSettingNames] as const).flatMap((name) =>
    name !== 'providerOptions' && (given[name] ?? null) !== null
      ? [[name, given[name]] as const]
      : [],
  );
  return {
    adjustable: new Map(adjustable),
    hasOptions: settings.providerOptions !== undefined,
    unsent: providerOptionsOf(model, settings, []).unsent,
    format: format && jsonRequest(model, format, false).option ? formatAdjustment(format) : null,
    mayRespond: model.mayRespond ?? false,
    streams: call.stream ?? false,
    reasons: (settings.reasoningEffort ?? 'none') !== 'none',
    optionsIn: (form) => ({ ...optionsIn(model, call, form), abortSignal: signal }),
  };
}

function optionsIn(model: Model, call: Asked, form: ReadonlySet<Adjustment>): CallOptions {
  const { temperature, maxTokens, topP } = call;
  const given = call.settings ?? {};
  const wanted = form.has('thinkingOff') ? withoutThinking(given) : given;
  const settings = callSettingsOf(
    Object.fromEntries(Object.entries(wanted).filter(([name]) => !form.has(name as Adjustment))),
  );
  const json = jsonRequestOf(model, call, form);
  const asked = [...promptOf(call, model), ...correctionOf(call)];
  const whole = json?.text ? withInstruction(asked, json.text) : asked;
  const prompt = inOrder(inReasoningForm(whole, form), form);
  const { options } = providerOptionsOf(model, settings, prompt, json?.packageOptions);
  return {
    prompt: settings.cachePrompt ? withCacheMarks(prompt) : prompt,
    ...(temperature !== null && !form.has('temperature') && { temperature }),
    ...(maxTokens !== null && { maxOutputTokens: maxTokens }),
    ...(topP !== null && !form.has('topP') && { topP }),
    ...standardOptions(model, settings),
    ...toolOptions(call.tools, call.toolChoice),
    ...(json?.option && { responseFormat: json.option }),
    ...(options && { providerOptions: options }),
  };
}

function jsonRequestOf(model: Model, call: Asked, form: ReadonlySet<Adjustment>) {
  const { responseFormat: format } = call;
  return format && jsonRequest(model, format, form.has(formatAdjustment(format)));
}

/** The text that asks for JSON in a call of this form; null if none does. */
export function instructionOf(model: Model, call: Asked): string | null {
  return jsonRequestOf(model, call, model.form)?.text ?? null;
}

/** Tells the model why its previous answer was not accepted. That answer itself is not repeated. */
function correctionOf({ correction }: Asked): CallOptions['prompt'] {
  if (correction === undefined) return [];
  return [{ role: 'user', content: [{ type: 'text', text: correctionText(correction) }] }];
}

/** The settings for which the specification has an option. */
function standardOptions({ kind }: Model, settings: CallSettings): Partial<CallOptions> {
  const { reasoningEffort, stop, seed, topK, presencePenalty, frequencyPenalty } = settings;
  return {
    ...(reasoningEffort !== undefined && { reasoning: reasoningEffort }),
    ...(stop !== undefined && { stopSequences: [stop].flat() }),
    ...(seed !== undefined && { seed }),
    ...(topK !== undefined && sendsTopK(kind) && { topK }),
    ...(presencePenalty !== undefined && { presencePenalty }),
    ...(frequencyPenalty !== undefined && { frequencyPenalty }),
  };
}

/** The text as the end of the system messages. */
function withInstruction(prompt: CallOptions['prompt'], text: string): CallOptions['prompt'] {
  const last = prompt.findLastIndex(({ role }) => role === 'system');
  if (last < 0) return [{ role: 'system', content: text }, ...prompt];
  return prompt.map((message, index) =>
    index === last && message.role === 'system'
      ? { ...message, content: `${message.content}\n\n${text}` }
      : message,
  );
}
