import { useQueryClient } from '@tanstack/react-query';
import type {
  Prompt,
  PromptInput,
  PromptPatch,
  PromptVersionInput,
} from '../../../src/client/index.ts';
import type { Action } from '../../kit/resource.ts';
import { cueline } from '../client/client.ts';
import { useSingleFlight } from '../client/use-single-flight.ts';
import { versionQuery } from './prompts.ts';

const stale = [['prompts']];

export const createPrompt: Action<PromptInput, Prompt> = {
  run: (prompt) => cueline.prompts.create(prompt),
  ...{ saved: 'Prompt created', stale: [['prompts', 'list']] },
};

export function useCreateVersion(promptId: string) {
  const queries = useQueryClient();
  return useSingleFlight({
    mutationFn: (version: PromptVersionInput) => cueline.versions.create(promptId, version),
    onSuccess: (version) => {
      queries.setQueryData(versionQuery(promptId, version.promptVersionId).queryKey, version);
      return queries.invalidateQueries({ queryKey: ['prompts'] });
    },
  });
}

export const changePrompt = (promptId: string): Action<PromptPatch, Prompt> => ({
  ...{ run: (patch) => cueline.prompts.update(promptId, patch), saved: 'Saved', stale },
});

export const archivePrompt = (
  promptId: string,
  verb: 'archive' | 'restore',
): Action<void, Prompt> => ({
  ...{ run: () => cueline.prompts[verb](promptId), saved: 'Saved', stale },
});
