/**
 * A message of an assistant with calls of tools, as its provider sent it. Many providers refuse the results of the tools without
 * the reasoning and the signatures that came with the calls, so these are kept with the execution and sent back in the next
 * turn. Only `provider` knows what is in it.
 */
export interface ProviderMessage {
  /** The provider in `provider/model`. Its signatures mean nothing to others. */
  readonly provider: string;
  /** Text, reasoning and calls, in their order: the parts of an answer by the specification of the AI SDK. */
  readonly content: readonly unknown[];
  /** What a chat completion has beside its text and its calls; left out by other APIs. */
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** A longer message is not kept: providers measure reasoning in thousands of tokens. */
export const providerMessageCharsMax = 1_048_576;
/** What one call takes of the messages of earlier turns, newest first. */
export const earlierMessagesCharsMax = 16_777_216;
/** How long a message is found by its conversation. */
export const toolLoopDays = 30;

/** A part of the reasoning in a message, as clients send it. */
export interface SuppliedReasoning {
  /** The reasoning, or its summary. */
  readonly text?: string;
  /** A signature, or reasoning that only its provider can read. */
  readonly encrypted?: string;
  /** The provider's id of it. */
  readonly id?: string;
}

/** The reasoning in a message as callers see it and may send it back: a part for each item of its provider. */
export function reasoningOf({ content }: ProviderMessage): SuppliedReasoning[] {
  const parts: SuppliedReasoning[] = [];
  for (const { type, text, providerMetadata } of content as readonly ReasoningPart[]) {
    if (type !== 'reasoning') continue;
    const metadata = Object.assign({}, ...Object.values(providerMetadata ?? {}));
    const { itemId: id, reasoningEncryptedContent, signature, thoughtSignature } = metadata;
    const encrypted = reasoningEncryptedContent ?? signature ?? thoughtSignature;
    const part = { text, ...(encrypted && { encrypted }), ...(id && { id }) };
    const last = parts.at(-1);
    // Each part of a summary repeats its item.
    if (id && last?.id === id)
      parts.splice(-1, 1, { ...last, ...part, text: `${last?.text}\n\n${text}` });
    else parts.push(part);
  }
  return parts.filter((part) => part.text !== '' || part.encrypted !== undefined);
}

interface ReasoningPart {
  readonly type: string;
  readonly text: string;
  readonly providerMetadata?: Readonly<Record<string, Readonly<Record<string, string | null>>>>;
}
