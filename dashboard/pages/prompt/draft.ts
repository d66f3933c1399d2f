import type { PromptVersion, PromptVersionInput } from '../../../src/client/index.ts';
import type { ModelSettings } from '../../data/agents/model-settings.ts';

/** A version that is being written. */
export interface Draft extends ModelSettings {
  /** The version that it began with; null where the prompt had none. */
  readonly baseId: string | null;
  readonly system: string;
  readonly user: string;
  readonly label: string;
  readonly notes: string;
}

export const blankDraft: Draft = {
  baseId: null,
  system: '',
  user: '',
  label: '',
  notes: '',
  model: null,
  temperature: null,
  maxTokens: null,
  topP: null,
};

export function draftOf(version: PromptVersion): Draft {
  const { promptVersionId, system, user, model, temperature, maxTokens, topP } = version;
  const settings = { model, temperature, maxTokens, topP };
  return { ...blankDraft, ...settings, baseId: promptVersionId, system: system ?? '', user };
}

/** What makes a version of it. */
export function inputOf(draft: Draft): PromptVersionInput {
  const { system, user, model, temperature, maxTokens, topP, label, notes } = draft;
  return {
    system: system === '' ? null : system,
    user,
    model,
    temperature,
    maxTokens,
    topP,
    notes: notes === '' ? null : notes,
    ...(label !== '' && { label }),
  };
}

/** Whether both would make versions that say the same. */
export function saysTheSame(one: Draft, other: Draft): boolean {
  return (['system', 'user', 'model', 'temperature', 'maxTokens', 'topP'] as const).every(
    (name) => one[name] === other[name],
  );
}

/**
 * What is kept of a draft, null where there is nothing to keep: what says no more than its version would hold this
 * window to that version when a later one is saved elsewhere.
 */
export function worthKeeping(draft: Draft, begun: Draft): Draft | null {
  const isBegun = saysTheSame(draft, begun) && draft.label === '' && draft.notes === '';
  return isBegun ? null : draft;
}

/** What is left of a draft once a version was made of what it was: all that was typed while that was under way. */
export function afterSaving(now: Draft | null, sent: Draft, savedId: string): Draft | null {
  if (now === null) return null;
  const rest = {
    ...now,
    baseId: savedId,
    label: now.label === sent.label ? '' : now.label,
    notes: now.notes === sent.notes ? '' : now.notes,
  };
  return worthKeeping(rest, sent);
}
