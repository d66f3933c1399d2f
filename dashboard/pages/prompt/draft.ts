import { useSessionStorage } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import type { Prompt, PromptVersion, PromptVersionInput } from '../../../src/client/index.ts';
import { type ModelSettings, noModelSettings } from '../../data/models.ts';
import { versionQuery } from '../../data/prompts.ts';

/** A version that is being written. Kept in the browser's window until it is saved or discarded, whatever page is shown. */
export interface Draft extends ModelSettings {
  /** The version that it began with; null where the prompt had none. */
  readonly baseId: string | null;
  readonly system: string;
  readonly user: string;
  readonly label: string;
  readonly notes: string;
}

export interface DraftState {
  /** Undefined until the version is read that it begins with. */
  readonly draft: Draft | undefined;
  readonly base: PromptVersion | undefined;
  /** Whether it says anything else than its version. */
  readonly changed: boolean;
  readonly error: unknown;
  edit(change: Partial<Draft>): void;
  discard(): void;
}

/** `from`: the version that a new draft begins with; the latest unless given. One that was begun stays what it is. */
export function useDraft(prompt: Prompt, from?: string): DraftState {
  const [stored, store, discard] = useSessionStorage<Draft | null>({
    key: `cueline-draft-${prompt.promptId}`,
    defaultValue: null,
    getInitialValueInEffect: false,
  });
  const latestId = prompt.latestVersion?.promptVersionId ?? null;
  const baseId = stored ? stored.baseId : (from ?? latestId);
  const version = useQuery({
    ...versionQuery(prompt.promptId, baseId ?? ''),
    enabled: baseId !== null,
  });
  const base = baseId === null ? undefined : version.data;
  const begun = base ? draftOf(base) : baseId === null ? blank : undefined;
  const draft = begun && (stored ?? begun);
  return {
    draft,
    base,
    changed: draft !== undefined && begun !== undefined && !saysTheSame(draft, begun),
    error: version.error,
    edit: (change) => draft && store({ ...draft, ...change }),
    discard,
  };
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

const blank: Draft = {
  baseId: null,
  system: '',
  user: '',
  label: '',
  notes: '',
  ...noModelSettings,
};

function draftOf(version: PromptVersion): Draft {
  const { promptVersionId, system, user, model, temperature, maxTokens, topP } = version;
  const settings = { model, temperature, maxTokens, topP };
  return { ...blank, ...settings, baseId: promptVersionId, system: system ?? '', user };
}

function saysTheSame(one: Draft, other: Draft): boolean {
  return (['system', 'user', 'model', 'temperature', 'maxTokens', 'topP'] as const).every(
    (name) => one[name] === other[name],
  );
}
