import type { PromptVersion, PromptVersionInput } from '../../../src/client/index.ts';
import type { ModelSettings } from '../../data/agents/model-settings.ts';
import {
  fromField,
  isBlank,
  type MessageField,
  templateOf,
  toField,
} from '../../data/prompts/messages.ts';
import {
  readResponseFormat,
  readSchemas,
  schemaProblem,
  schemasProblem,
  schemasText,
  schemaText,
} from '../../data/prompts/schemas.ts';
import { variablesOf } from '../../data/prompts/templates.ts';
import { extrasText, readExtras } from '../../data/prompts/version-extras.ts';

/** An unsaved version. */
export interface Draft extends ModelSettings {
  /** The version it is based on; null for the first version. */
  readonly baseId: string | null;
  readonly system: string;
  readonly user: string;
  /** Instead of `system` and `user`; null for the short form. */
  readonly messages: readonly MessageField[] | null;
  /** Tools and rarer settings, as JSON text. */
  readonly extras: string;
  readonly label: string;
  readonly notes: string;
  /** The JSON schema of the output as text; empty for text output. */
  readonly outputSchema: string;
  /** The JSON schemas of variables by name, as text. */
  readonly schemas: string;
}

export const blankDraft: Draft = {
  baseId: null,
  system: '',
  user: '',
  messages: null,
  extras: '',
  label: '',
  notes: '',
  model: null,
  temperature: null,
  maxTokens: null,
  topP: null,
  outputSchema: '',
  schemas: '',
};

export function draftFromVersion(version: PromptVersion): Draft {
  const { promptVersionId, system, user, model, temperature, maxTokens, topP } = version;
  const settings = { model, temperature, maxTokens, topP };
  return {
    ...{ ...blankDraft, ...settings, baseId: promptVersionId },
    system: system ?? '',
    user: user ?? '',
    messages: version.messages?.map(toField) ?? null,
    extras: extrasText(version),
    outputSchema: schemaText(version.responseFormat),
    schemas: schemasText(version.variableSchemas),
  };
}

/** The API input that creates a version from the draft. */
export function toVersionInput(draft: Draft): PromptVersionInput {
  const { system, user, model, temperature, maxTokens, topP, label, notes } = draft;
  const extras = readExtras(draft.extras);
  return {
    ...(draft.messages
      ? { messages: draft.messages.map(fromField) }
      : { system: system === '' ? null : system, user }),
    ...(typeof extras === 'object' && extras),
    model,
    temperature,
    maxTokens,
    topP,
    notes: notes === '' ? null : notes,
    responseFormat: readResponseFormat(draft.outputSchema),
    variableSchemas: readSchemas(draft.schemas),
    ...(label !== '' && { label }),
  };
}

/** Why the draft cannot be saved; null if it can. */
export function draftProblem(draft: Draft): string | null {
  const { user, messages } = draft;
  const problem = readExtras(draft.extras);
  if (typeof problem === 'string') return problem;
  const names = variablesOf(templatesOf(draft)).map(({ name }) => name);
  const wrong = schemaProblem(draft.outputSchema) ?? schemasProblem(draft.schemas, names);
  if (wrong !== null) return wrong;
  if (messages === null) return user === '' ? 'The user template is empty.' : null;
  if (messages.length === 0) return 'There are no messages.';
  return messages.some(isBlank) ? 'A message is empty.' : null;
}

/** The templates of the draft, where variables are looked for. */
export function templatesOf({ system, user, messages }: Draft) {
  if (!messages) return { system, user };
  return { system: '', user: messages.map(templateOf).join('\n') };
}

/** Whether both have the same content, ignoring label and notes. */
export function hasSameContent(one: Draft, other: Draft): boolean {
  const names = [
    ...(['system', 'user', 'extras', 'outputSchema', 'schemas'] as const),
    ...(['model', 'temperature', 'maxTokens', 'topP'] as const),
  ];
  return (
    names.every((name) => one[name] === other[name]) &&
    JSON.stringify(one.messages) === JSON.stringify(other.messages)
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

/** The same as the short form; null if the messages are more than that. */
export function shortForm(
  messages: readonly MessageField[],
): Pick<Draft, 'system' | 'user'> | null {
  const [first, second] = messages;
  if (messages.some(({ parts }) => parts)) return null;
  if (messages.length === 1 && first?.role === 'user') return { system: '', user: first.text };
  const isShort = messages.length === 2 && first?.role === 'system' && second?.role === 'user';
  return isShort ? { system: first.text, user: second.text } : null;
}
