import type { Draft } from './draft.ts';

/** What an import reads from. */
export interface PromptfooSource {
  readonly draft: Draft;
  readonly folder: string;
  readonly signal: AbortSignal;
}
