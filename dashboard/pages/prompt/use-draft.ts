import { useSessionStorage } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import type { Prompt, PromptVersion } from '../../../src/client/index.ts';
import { versionQuery } from '../../data/prompts/prompts.ts';
import {
  blankDraft,
  type Draft,
  draftAfterSave,
  draftFromVersion,
  draftToStore,
  hasSameContent,
} from './draft.ts';

export interface DraftState {
  /** Undefined until its base version is loaded. */
  readonly draft: Draft | undefined;
  readonly base: PromptVersion | undefined;
  /** Whether the content differs from the base version. */
  readonly changed: boolean;
  readonly error: unknown;
  edit(change: Partial<Draft>): void;
  discard(): void;
  /** Call after saving `sent`: later edits become a draft based on `version`. Returns whether there are any. */
  saved(sent: Draft, version: PromptVersion): boolean;
  /** Reloads the base version. */
  retry(): void;
}

/**
 * The draft of a prompt, kept in session storage until saved or discarded. `from` is the base of a new draft, by
 * default the latest version; an existing draft keeps its base.
 */
export function useDraft(prompt: Prompt, from?: string): DraftState {
  const key = `cueline-draft-${prompt.promptId}`;
  const [stored, store, discard] = useSessionStorage<Draft | null>({
    key,
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
  const initial = base ? draftFromVersion(base) : baseId === null ? blankDraft : undefined;
  // A draft stored by an earlier release lacks the newer fields.
  const draft = initial && (stored ? { ...blankDraft, ...stored } : initial);
  const update = (next: Draft | null) => (next === null ? discard() : store(next));
  return {
    draft,
    base,
    changed: draft !== undefined && initial !== undefined && !hasSameContent(draft, initial),
    error: version.error,
    edit: (change) => draft && update(draftToStore({ ...draft, ...change }, initial)),
    discard,
    saved: (sent, { promptVersionId }) => {
      // Read from storage, because this closure dates from when the version was sent.
      const now = JSON.parse(sessionStorage.getItem(key) ?? 'null') as Draft | null;
      const rest = draftAfterSave(now, sent, promptVersionId);
      update(rest);
      return rest !== null;
    },
    retry: () => void version.refetch(),
  };
}
