import type { CallSettings } from '../../core/agent/call-settings.ts';
import type { ReasoningForm } from '../port/adjustment.ts';
import type { CallOptions } from '../port/model.ts';
import { chatFieldsOf } from './restore-message.ts';

type Prompt = CallOptions['prompt'];
type Message = Prompt[number];
type AssistantMessage = Extract<Message, { role: 'assistant' }>;

export function isReasoningForm(adjustment: string): adjustment is ReasoningForm {
  return ['unreasoned', 'emptyReasoning', 'unsigned', 'thinkingOff'].includes(adjustment);
}

export function inReasoningForm(prompt: Prompt, form: ReadonlySet<unknown>): Prompt {
  const isBare = form.has('unreasoned') || form.has('thinkingOff');
  return prompt.map((message) => {
    if (message.role !== 'assistant') return message;
    const bare = isBare ? withoutReasoning(message) : message;
    const filled = form.has('emptyReasoning') ? withEmptyReasoning(bare) : bare;
    return form.has('unsigned') ? withPlaceholder(filled) : filled;
  });
}

function withoutReasoning({ role, content }: AssistantMessage): AssistantMessage {
  const parts = content.flatMap((part) => {
    if (part.type === 'reasoning') return [];
    const { providerOptions: _, ...bare } = part;
    return [bare as typeof part];
  });
  return { role, content: parts };
}

function withEmptyReasoning(message: AssistantMessage): AssistantMessage {
  const fields = chatFieldsOf(message);
  const isKnown =
    'reasoning_content' in fields || message.content.some(({ type }) => type === 'reasoning');
  if (isKnown) return message;
  // Another server may have named it otherwise.
  const text = typeof fields.reasoning === 'string' ? fields.reasoning : '';
  return withFields(message, { ...fields, reasoning_content: text });
}

/** Of calls in parallel, Google signs the first one. */
function withPlaceholder(message: AssistantMessage): AssistantMessage {
  const first = message.content.findIndex(({ type }) => type === 'tool-call');
  const isSigned = message.content.some(
    (part) => part.type === 'tool-call' && /signature/i.test(JSON.stringify(part.providerOptions)),
  );
  if (first < 0 || isSigned) return message;
  const content = message.content.map((part, index) => {
    if (index !== first) return part;
    const fields = { ...chatFieldsOf(part), ...signedExtra };
    return withFields(part, fields, { google: { thoughtSignature: placeholder } });
  });
  return { ...message, content };
}

/** https://ai.google.dev/gemini-api/docs/thought-signatures */
const placeholder = 'skip_thought_signature_validator';
const signedExtra = { extra_content: { google: { thought_signature: placeholder } } };

function withFields<T extends object>(value: T, fields: object, more: object = {}): T {
  return { ...value, providerOptions: { openaiCompatible: fields, ...more } };
}

/** What helps against an objection to the reasoning of earlier turns; null for any other text, or if nothing helps. */
export function rejectedReasoning(
  text: string,
  prompt: Prompt,
  sent: ReadonlySet<unknown>,
): ReasoningForm | null {
  const messages = prompt.filter((message) => message.role === 'assistant');
  if (messages.length === 0) return null;
  return formsFor(text, messages).find((form) => !sent.has(form)) ?? null;
}

function formsFor(text: string, messages: readonly AssistantMessage[]): ReasoningForm[] {
  const hasReasoning = messages.some(
    (message) =>
      message.providerOptions ||
      message.content.some((part) => part.type === 'reasoning' || part.providerOptions),
  );
  if (wantsThinking.test(text)) return ['thinkingOff'];
  if (wantsField.test(text)) return ['emptyReasoning', 'thinkingOff'];
  if (wantsSignature.test(text)) return ['unsigned'];
  const isRefused = hasReasoning && (refused.test(text) || namesField(text, messages));
  return isRefused ? ['unreasoned'] : [];
}

const wantsThinking =
  /expected\W{1,3}(redacted_)?thinking\b.{0,40}found|must start with a thinking block|thinking blocks? (is|are|was|were) (required|missing)/i;

const wantsField =
  /\breasoning_content\b.{0,40}(must be|is missing|is required|not found|passed back)|(missing|requires?|needs?|without)\b.{0,30}\breasoning_content\b/i;

const wantsSignature =
  /(missing|requires?|needs?|without|no)\b.{0,30}\bthought_?\s?signature|\bthought_?\s?signature.{0,40}(is|are) (missing|required|not (found|set|provided|present))/i;

/** Reasoning of another model or account, or that was changed. */
const refused =
  /(invalid|corrupt(ed)?|not valid|malformed|unable to verify)\b.{0,30}\bsignature|signature\b.{0,60}\b(invalid|not valid|corrupt\w*|mismatch|verif\w+)|encrypted[_ ]content\b.{0,80}(not|invalid)|invalid_encrypted_content|thinking\W{1,3}.{0,40}blocks?.{0,80}cannot be modified|without its required following item/i;

/** Whether a server objects to a field that a message has beside its text and calls. */
function namesField(text: string, messages: readonly AssistantMessage[]): boolean {
  const names = messages.flatMap((message) => [
    ...Object.keys(chatFieldsOf(message)),
    ...message.content.flatMap((part) => Object.keys(chatFieldsOf(part))),
    ...(message.content.some(({ type }) => type === 'reasoning') ? ['reasoning_content'] : []),
  ]);
  const isOfMessage = /\b(messages?|assistant)\b/i.test(text);
  return isOfMessage && names.some((name) => text.split(/\W+/).includes(name));
}

/** The settings of a call in which the model must not reason. */
export function withoutThinking(settings: CallSettings): CallSettings {
  const { providerOptions = {} } = settings;
  const others = Object.entries(providerOptions).map(([name, options]) => [
    name,
    Object.fromEntries(
      Object.entries(options).filter(([field]) => !/think|reason|effort/i.test(field)),
    ),
  ]);
  return {
    ...settings,
    reasoningEffort: 'none',
    ...(others.length > 0 && { providerOptions: Object.fromEntries(others) }),
  };
}
