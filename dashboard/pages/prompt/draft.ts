import type { PromptVersion, PromptVersionInput } from '../../../src/client/index.ts';
import type { ModelSettings } from '../../data/agents/model-settings.ts';

/** An unsaved version. */
export interface Draft extends ModelSettings {
  /** The version it is based on; null for the first version. */
  readonly baseId: string | null;
  readonly system: string;
  readonly user: string;
  readonly label: string;
  readonly notes: string;
  readonly responseFormat: PromptVersion['responseFormat'];
  readonly variableSchemas: Readonly<Record<string, unknown>>;
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
  responseFormat: null,
  variableSchemas: {},
};

export function draftFromVersion(version: PromptVersion): Draft {
  const { promptVersionId, system, user, model, temperature, maxTokens, topP } = version;
  const settings = { model, temperature, maxTokens, topP };
  const { responseFormat, variableSchemas } = version;
  return {
    ...{ ...blankDraft, ...settings, baseId: promptVersionId, system: system ?? '', user },
    responseFormat,
    variableSchemas,
  };
}

/** The API input that creates a version from the draft. */
export function toVersionInput(draft: Draft): PromptVersionInput {
  const { system, user, model, temperature, maxTokens, topP, label, notes } = draft;
  return {
    system: system === '' ? null : system,
    user,
    model,
    temperature,
    maxTokens,
    topP,
    notes: notes === '' ? null : notes,
    responseFormat: draft.responseFormat,
    variableSchemas: draft.variableSchemas,
    ...(label !== '' && { label }),
  };
}

/** Whether both have the same content, ignoring label and notes. */
export function hasSameContent(one: Draft, other: Draft): boolean {
  return (['system', 'user', 'model', 'temperature', 'maxTokens', 'topP'] as const).every(
    (name) => one[name] === other[name],
  );
}

/**
 * The draft to store; null if it equals its version. Storing it nevertheless would pin this window to that version when
 * a newer one is saved elsewhere.
 */
export function draftToStore(draft: Draft, initial: Draft): Draft | null {
  const isUnchanged = hasSameContent(draft, initial) && draft.label === '' && draft.notes === '';
  return isUnchanged ? null : draft;
}

/** The draft after saving `sent`: edits made meanwhile stay, based on the saved version. */
export function draftAfterSave(now: Draft | null, sent: Draft, savedId: string): Draft | null {
  if (now === null) return null;
  const rest = {
    ...now,
    baseId: savedId,
    label: now.label === sent.label ? '' : now.label,
    notes: now.notes === sent.notes ? '' : now.notes,
  };
  return draftToStore(rest, sent);
}
