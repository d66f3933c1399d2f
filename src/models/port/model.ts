import type { OpenAICompatibleProvider } from '@ai-sdk/openai-compatible';
import type { Usage } from '../../core/model/model-port.ts';
import type { ProviderKind } from '../../core/model/provider.ts';
import type { RequestForm } from './adjustment.ts';

/** A language model of the AI SDK, by the specification that its provider packages share. */
export type LanguageModel = ReturnType<OpenAICompatibleProvider['languageModel']>;
export type CallOptions = Parameters<LanguageModel['doGenerate']>[0];

export interface Model {
  readonly kind: ProviderKind;
  /** The provider's own name, by which compatible servers get their options. */
  readonly name: string;
  readonly language: LanguageModel;
  readonly providerOptions?: CallOptions['providerOptions'];
  /** Reads the provider's own usage, because the AI SDK reports a missing count as 0. */
  readonly count?: (usage: unknown) => Counts;
  /** Whether the Responses API is tried if there are no chat completions. */
  readonly mayRespond?: boolean;
  /** What the model rejected so far. */
  readonly form: RequestForm;
}

/** A model, and how the same model reads a response that was already received. */
export interface ReadableModel extends Model {
  readonly readResponse: (
    response: Response,
    options: CallOptions,
    /** The form in which it was received, if that is another one. */
    form?: RequestForm,
  ) => Promise<Answer>;
  /** The same model, which receives its response as a stream and passes it on. */
  readonly streaming: (live: Live) => Promise<ReadableModel>;
}

export type Answer = Awaited<ReturnType<LanguageModel['doGenerate']>>;

/** The counts of a provider; `undefined` if it gave no number. */
export type Counts = { readonly [K in keyof Usage]: number | undefined };

/** Who reads along while a response arrives. */
export interface Live {
  text(delta: string): void;
  reasoning(delta: string): void;
  /** The usage so far, or a part of it, in the provider's own form. */
  usage(raw: Readonly<Record<string, unknown>>): void;
}
