import type { CallSettings } from '../../core/agent/call-settings.ts';

/** Forms of a prompt, as in `request-form.ts`. */
export type PromptForm = 'systemFirst' | 'system' | 'joined';

/**
 * Requests in the form that a model accepts. Models of one API differ in the parameters that they reject, and only their
 * errors tell. On such an error the call is sent again in the other form, once for each rejected setting, and the form
 * is remembered for the model.
 *
 * - `maxTokens`: `max_completion_tokens` instead of `max_tokens`, or the reverse
 * - `temperature`, `topP` and other settings: left out
 * - `field …`: a field of the body that comes from `providerOptions` or from the AI SDK: left out with this value. Another version
 *   may send another value
 * - `developer`: the role `system` instead
 * - `systemFirst`: later system texts are moved to the beginning
 * - `system`: the system text begins the first message of the user instead
 * - `joined`: adjacent messages of one role are joined
 * - a schema for the output: asked for by a text instead. Remembered for the schema, because its form may be the reason
 * - `chat`: chat completions instead of the Responses API
 * - `responses`: the reverse, for servers without chat completions
 * - `streamOptions`: left out, so that a stream may end without a usage
 * - `unstreamed`: a whole response instead of a stream
 * - `streamed`: a stream, though nobody reads along
 *
 * What a provider says about the reasoning of earlier turns (`reasoning-form.ts`) holds for one call and is not remembered.
 */
export type RequestForm = Set<Adjustment>;

export type Adjustment =
  | (Setting | PromptForm | FormatAdjustment | FieldAdjustment)
  | ('chat' | 'responses' | 'streamed' | ReasoningForm);

export type FormatAdjustment = `format ${string}`;

export type FieldAdjustment = `field ${string}`;

export type Setting = 'maxTokens' | AdjustableSetting | 'developer' | StreamSetting;

type StreamSetting = 'streamOptions' | 'unstreamed';

export type AdjustableSetting =
  | 'temperature'
  | 'topP'
  | Exclude<keyof CallSettings, 'providerOptions'>;

/**
 * Forms of a conversation whose earlier reasoning is not known, or means nothing to the model that is called now. Providers say so
 * for this conversation only, so that the model does not remember them.
 *
 * - `unreasoned`: reasoning and signatures are left out, because they are of another model, or the server does not know the field
 * - `emptyReasoning`: an empty `reasoning_content` where there is none (DeepSeek, Moonshot)
 * - `unsigned`: the signature that Google documents for calls without one
 * - `thinkingOff`: the model does not reason in this call (Anthropic, Bedrock)
 */
export type ReasoningForm = 'unreasoned' | 'emptyReasoning' | 'unsigned' | 'thinkingOff';
