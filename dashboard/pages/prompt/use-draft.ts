import { useSessionStorage } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import type { Prompt, PromptVersion } from '../../../src/client/index.ts';
import { versionQuery } from '../../data/prompts/prompts.ts';
import {
  afterSaving,
  blankDraft,
  type Draft,
  draftOf,
  saysTheSame,
  worthKeeping,
} from './draft.ts';

export interface DraftState {
  /** Undefined until the version is read that it begins with. */
  readonly draft: Draft | undefined;
  readonly base: PromptVersion | undefined;
  /** Whether it says anything else than its version. */
  readonly changed: boolean;
  readonly error: unknown;
  edit(change: Partial<Draft>): void;
  discard(): void;
  /** A version was made of what it was; what was typed since then goes on from that version. */
  saved(sent: Draft, version: PromptVersion): void;
  /** Reads the version again that it begins with. */
  retry(): void;
}

/**
 * Kept in the browser's window until it is saved or discarded, whatever page is shown. `from`: the version that a new
 * draft begins with; the latest unless given. One that was begun stays what it is.
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
  const begun = base ? draftOf(base) : baseId === null ? blankDraft : undefined;
  const draft = begun && (stored ?? begun);
  const keep = (next: Draft | null) => (next === null ? discard() : store(next));
  return {
    draft,
    base,
    changed: draft !== undefined && begun !== undefined && !saysTheSame(draft, begun),
    error: version.error,
    edit: (change) => draft && keep(worthKeeping({ ...draft, ...change }, begun)),
    discard,
    saved: (sent, { promptVersionId }) => {
      // As it is now: this was made when the version was sent.
      const now = JSON.parse(sessionStorage.getItem(key) ?? 'null') as Draft | null;
      keep(afterSaving(now, sent, promptVersionId));
    },
    retry: () => void version.refetch(),
  };
}
